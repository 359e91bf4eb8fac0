"""Run-seconds never leak: 500 jobs of mixed fates, a kill -9 of slurmctld among them, and every
GrpTRESRunMins is 0 afterwards; while they run it is what squeue's time left says."""
import random
import signal
import threading
import time

import pytest

import mfcommon
from ccrcluster import ClusterError, Nodes

ACCOUNTS = {"phys": {"Fairshare": 60}, "exp": {"parent": "phys", "users": ["games", "man"]},
            "ml": {"Fairshare": 40, "users": ["lp", "mail"]}}
JOBS = 500
# What still is there so long after the kill is cancelled: slurmctld was killed before it sent the
# job to its node, or the node had its "resume" before the "suspend"; that lasts till the limit.
LEFT_AFTER = 60


@pytest.fixture(scope="module")
def cluster():
    c = mfcommon.cluster("ccr", ACCOUNTS, nodes=[Nodes(count=4, cpus=64, mem=64000, gpus="a100:8")])
    with c:
        c.run("sacctmgr", "-i", "add", "qos", "odd", "UsageFactor=0.3")
        c.run("sacctmgr", "-i", "modify", "account", "phys,exp,ml", "set", "qos=normal,odd")
        yield c


def quietly(c, *args):
    """A command on a job that may have ended meanwhile."""
    c.run("scontrol", *args, check=False)


# Each is called with a job that runs, or ran a moment ago.
FATES = {
    "done": lambda c, job: None,
    "failed": lambda c, job: None,  # its script exits with 3
    "cancelled": lambda c, job: c.run("scancel", job, check=False),
    "requeued": lambda c, job: quietly(c, "requeue", job),
    "resized": lambda c, job: quietly(c, "update", f"JobId={job}", "NumNodes=1"),
    "suspended": lambda c, job: (quietly(c, "suspend", job), quietly(c, "resume", job)),
    "cancelled_while_suspended": lambda c, job: (quietly(c, "suspend", job),
                                                 c.run("scancel", job, check=False)),
    "more_time": lambda c, job: quietly(c, "update", f"JobId={job}", "TimeLimit=+30"),
    "less_time": lambda c, job: quietly(c, "update", f"JobId={job}", "TimeLimit=2"),
    "more_time_while_suspended": lambda c, job: (
        quietly(c, "suspend", job), quietly(c, "update", f"JobId={job}", "TimeLimit=+30"),
        quietly(c, "resume", job)),
    "other_factor": lambda c, job: c.run("sacctmgr", "-i", "modify", "qos", "odd", "set",
                                         f"UsageFactor={random.choice((0.3, 0.7, 1.5))}",
                                         check=False),
}


def submit(c, index, fate):
    user, account = (("games", "exp"), ("man", "exp"), ("lp", "ml"), ("mail", "ml"))[index % 4]
    script = "sleep 3; exit 3" if fate == "failed" else f"sleep {3 + index % 5}"
    options = {"nodes": 2} if fate == "resized" else {"gres": "gpu:1"} if index % 7 == 0 else {}
    return str(c.sbatch(script, user=user, account=account, ntasks=2, mem=100, time=7,
                        qos="odd" if index % 3 == 0 else "normal",
                        array="0-4" if index % 5 == 1 else None, **options))


def submit_all(c, chosen):
    """At least JOBS jobs, in arrays of five and alone; enters {job id: fate} as it goes."""
    fates, count, index = list(FATES), 0, 0
    while count < JOBS:
        fate = fates[index % len(fates)]
        chosen[submit(c, index, fate)] = fate
        count += 5 if index % 5 == 1 else 1
        index += 1


def left_of_running(c):
    """CPU-minutes that the running jobs' limits leave, by squeue; UsageFactor 1 alone."""
    out = c.run("squeue", "-h", "-t", "R", "-q", "normal", "-o", "%C|%L").stdout
    total = 0
    for line in out.splitlines():
        cpus, left = line.split("|")
        parts = [int(x) for x in left.replace("-", ":").split(":") if x.isdigit()]
        if parts:
            total += int(cpus) * sum(p * 60 ** i for i, p in enumerate(reversed(parts))) / 60
    return total


def test_run_minutes_are_those_of_the_running_jobs(cluster):
    c = cluster
    jobs = [c.sbatch("sleep 100", user="games", account="exp", ntasks=n, time=60, qos="normal")
            for n in (1, 8, 16)]
    for job in jobs:
        c.wait_state(job)
    c.update(JobId=jobs[1], TimeLimit=33)

    def agree():
        mine = mfcommon.run_minutes(c)
        return abs(mine.get("qos normal cpu", 0) - left_of_running(c)) <= 2 and \
            mine.get("phys/ cpu") == mine.get("exp/games cpu") and mine.get("phys/ cpu")
    c.wait_for(agree, 30, what=lambda: f"{mfcommon.run_minutes(c)}, {left_of_running(c)}")
    c.run("scancel", *map(str, jobs))
    c.wait_for(lambda: not mfcommon.run_minutes(c), 30, what=lambda: str(mfcommon.run_minutes(c)))


def test_500_jobs_of_mixed_fates_leave_nothing(cluster):
    c = cluster
    met = set()
    chosen = {}
    submitting = threading.Thread(target=submit_all, args=(c, chosen))
    submitting.start()
    killed = None
    while submitting.is_alive() or c.squeue("-t", "PD,R,S"):
        try:
            running = c.run("squeue", "-h", "-t", "R", "-o", "%F").stdout.split()
        except ClusterError:
            continue
        for job in running:
            fate = chosen.get(job)
            if fate and job not in met:
                met.add(job)
                FATES[fate](c, job)
        if not submitting.is_alive() and not killed:
            for job in c.run("squeue", "-h", "-t", "PD,R", "-o", "%A").stdout.split():
                try:  # it may end before it is marked
                    c.wait_saved(job)
                    break
                except ClusterError:
                    continue
            assert c.kill9_slurmctld() == -signal.SIGKILL
            c.start_slurmctld()
            killed = time.time()
        if killed and time.time() > killed + LEFT_AFTER:
            lost = c.run("squeue", "-h", "-t", "PD,R,S", "-o", "%i").stdout.split()
            assert len(lost) < JOBS / 5, f"{lost} do not end"
            c.run("scancel", *lost, check=False)
            killed = time.time()
    assert killed
    lacking = set(FATES) - {"done", "failed"} - {chosen[job] for job in met}
    assert len(lacking) <= 2, f"no job met {lacking}"
    c.wait_for(lambda: not c.squeue(), 60, what="an empty queue")
    c.wait_for(lambda: not mfcommon.run_minutes(c), 30,
               what=lambda: f"no run-minutes: {mfcommon.run_minutes(c)}")
    assert len(c.jobs()) >= JOBS
