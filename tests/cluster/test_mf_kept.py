"""A cycle asks only those jobs anew that may have changed (src/priority/kept.c). Whatever changes,
what it leaves is what a cycle finds that asks them all: DebugFlags=Priority makes it do that."""
import json
import os
import re
import time

import pytest

import mfcommon
from ccrcluster import Nodes

ACCOUNTS = {"phys": {"Fairshare": 60}, "exp": {"parent": "phys", "users": ["games", "man"]},
            "ml": {"Fairshare": 40, "users": ["lp", "mail", "games"]}}
PARTITIONS = {"p": "Nodes=ALL Default=YES State=UP PriorityJobFactor=10",
              "q": "Nodes=ALL State=UP PriorityJobFactor=30",
              "r": "Nodes=n1 State=UP PriorityJobFactor=20 PriorityTier=2"}
CONF = {
    "PriorityWeightPartition": 10000, "PriorityWeightQOS": 20000, "PriorityWeightJobSize": 30000,
    "PriorityWeightTRES": "CPU=1000,Mem=2000,GRES/gpu=3000", "PriorityMaxAge": "7-0",
    "SlurmctldDebug": "debug", "SchedulerParameters": "enable_user_top,bf_interval=3600",
    "AccountingStorageEnforce": "associations,limits,qos",
}
POLICIES = {
    "multifactor": {"version": 1, "preset": "multifactor"},
    "ccr": {"version": 1, "preset": "ccr", "policy": {"qos": "qos_factor + qos_usage / 100",
                                                      "partition": "partition_factor",
                                                      "jobsize": "nodes + ngpus + ncpus / 8"},
            "groups": {"phys": {"target": 70, "financial": 2}, "ml": {"target": 30}}},
}
# A second of waiting makes a point; what running jobs use moves a group by percents.
WEIGHTS = {"multifactor": {"PriorityWeightAge": 7 * 86400},
           "ccr": {"PriorityWeightAge": 60, "PriorityWeightFairshare": 1, "PriorityWeightQOS": 200}}
COLUMNS = "%i|%r|%Y|%A|%B|%F|%J|%P|%Q|%S|%N|%T"
GOES_ON = 20  # points that a job may gain between two looks; every other change is more
SCORED = r"priority/ccr: (\d+) jobs scored anew, (\d+) as they were"


@pytest.fixture(scope="module", params=POLICIES)
def queue(request):
    """A cluster and its pending jobs, in the order in which they were submitted."""
    c = mfcommon.cluster("ccr", ACCOUNTS, conf={**CONF, **WEIGHTS[request.param]},
                         policy=POLICIES[request.param],
                         partitions=PARTITIONS, nodes=[Nodes(count=4, cpus=16, mem=64000,
                                                             gpus="a100:4")])
    with c:
        for name, priority in (("high", 50), ("low", 5)):
            c.run("sacctmgr", "-i", "add", "qos", name, f"priority={priority}")
        c.run("sacctmgr", "-i", "modify", "account", "phys,exp,ml", "set", "qos=normal,high,low")
        for user, account in (("games", "exp"), ("lp", "ml")):
            c.wait_state(c.sbatch("sleep 36000", user=user, account=account, nodes=2,
                                  exclusive=True, time=900))
        jobs = [submit(c, i) for i in range(40)]
        seen(c, len(jobs))
        yield c, jobs


def submit(c, i):
    user, account = (("games", "exp"), ("man", "exp"), ("lp", "ml"), ("mail", "ml"),
                     ("games", "ml"))[i % 5]
    return c.sbatch("sleep 600", user=user, account=account, ntasks=1 + i % 7, mem=100 + i,
                    nice=i % 3, time=60 + i, qos=("normal", "high", "low")[i % 3],
                    partition=("p", "q", "p,q", "p,q,r")[i % 4],
                    gres="gpu:1" if i % 6 == 0 else None, array="0-9" if i % 8 == 5 else None)


def seen(c, count):
    c.wait_for(lambda: len({row[0] for row in shown(c)}) >= count, what=f"{count} jobs in sprio")


def shown(c):
    out = c.run("sprio", "-h", "-o", COLUMNS).stdout
    return {tuple(cell.strip() for cell in line.split("|")) for line in out.splitlines()}


def cycles(c, count):
    state = f"{c.root}/state/priority_last_decay_ran"
    for _ in range(count):
        before = os.stat(state).st_mtime_ns
        c.wait_for(lambda: os.stat(state).st_mtime_ns != before, what="a cycle", every=0.05,
                   daemon="slurmctld")


def last_count(c):
    """(scored anew, as they were) of the last cycle that is in the log."""
    return tuple(int(n) for n in re.search(SCORED, c.log_grep(SCORED)[-1]).groups())


def settled(c):
    """Waits for a cycle that found jobs as they were, after whatever has changed."""
    cycles(c, 2)
    c.wait_for(lambda: last_count(c)[1] > 0 and last_count(c)[0] < 5, what="a cycle over a queue "
               "as it was", daemon="slurmctld")


def same(row, other):
    """AGE, FAIRSHARE and a QOS's usage, and with them the priority, go on between two looks; another
    column may be a point off, as they are rounded to add up."""
    moves, rounded = (2, 3, 5, 8), (4, 6, 7)
    return all(a == b or i in moves and abs(int(b) - int(a)) <= GOES_ON
               or i in rounded and abs(int(b) - int(a)) <= 1
               for i, (a, b) in enumerate(zip(row, other)))


def compare(c):
    kept = {row[:2]: row for row in shown(c)}
    squeue = priorities(c)
    c.run("scontrol", "setdebugflags", "+Priority")
    cycles(c, 2)
    fresh, fresh_squeue = {row[:2]: row for row in shown(c)}, priorities(c)
    c.run("scontrol", "setdebugflags", "-Priority")
    # a released job comes into sprio when the scheduler has seen it; none may be lost
    assert len(kept) > 30 and set(kept) <= set(fresh)
    wrong = [(row, fresh[key]) for key, row in sorted(kept.items()) if not same(row, fresh[key])]
    assert not wrong, "\n".join(f"{'|'.join(a)} but anew {'|'.join(b)}" for a, b in wrong[:5])
    assert set(squeue) == set(fresh_squeue)
    assert [job for job in squeue if abs(fresh_squeue[job] - squeue[job]) > GOES_ON] == []


def priorities(c):
    """squeue's, of jobs in one partition: else it is that of the one that was tried last."""
    out = c.run("squeue", "-h", "-r", "-t", "PD", "-o", "%i %Q %P").stdout
    return {job: int(priority) for job, priority, partition in map(str.split, out.splitlines())
            if "," not in partition}


def jobs_updated(c, jobs):
    """One job each."""
    changes = ["Nice=500", "QOS=low", "Partition=q", "Partition=p,r", "Partition=q,r,p",
               "TimeLimit=7", "NumCPUs=9", "MinMemoryNode=5000", "Account=ml", "Priority=4711",
               "SiteFactor=77", "StartTime=now+2hours", "Gres=gpu:3", "NumNodes=3", "Nice=-20"]
    for job, change in zip(jobs, changes):
        done = c.run("scontrol", "update", f"JobId={job}", change, check=False)
        assert done.returncode == 0 or change in ("Account=ml", "Gres=gpu:3"), (change, done)


def jobs_held_and_released(c, jobs):
    c.run("scontrol", "hold", jobs[16], jobs[17])
    cycles(c, 2)
    c.run("scontrol", "release", jobs[17])
    c.run("scontrol", "top", jobs[20])


def array_taken_apart(c, jobs):
    array = jobs[21]
    c.run("scontrol", "update", f"JobId={array}_[2-4]", "Nice=33")
    c.run("scancel", f"{array}_7")


def queue_with_gaps(c, jobs):
    c.run("scancel", *[str(j) for j in jobs[24:36:2]])
    jobs.append(submit(c, 40))
    jobs.append(submit(c, 41))


def a_job_starts_and_returns(c, jobs):
    running = c.run("squeue", "-h", "-t", "R", "-S", "i", "-o", "%i").stdout.split()
    c.run("scontrol", "requeue", running[0])
    cycles(c, 2)


def shares_and_priorities(c, jobs):
    c.run("sacctmgr", "-i", "modify", "account", "ml", "set", "fairshare=3", "priority=9")
    c.run("sacctmgr", "-i", "modify", "user", "man", "set", "priority=5", "fairshare=20")
    c.run("sacctmgr", "-i", "modify", "qos", "low", "set", "priority=80")


def partitions(c, jobs):
    c.run("scontrol", "update", "PartitionName=q", "PriorityJobFactor=90")
    c.run("scontrol", "create", "PartitionName=s", "Nodes=n2", "PriorityJobFactor=400")
    c.run("scontrol", "update", "PartitionName=p", "PriorityTier=5")


def nodes(c, jobs):
    c.run("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=test")


def another_policy(c, jobs):
    with open(c.policy_path) as text:
        policy = json.load(text)
    policy.setdefault("policy", {})["jobsize"] = "3 * nodes + ntasks"
    c.write_policy(policy)
    cycles(c, 2)
    assert len(c.log_grep("now using policy")) == 1


def weights(c, jobs):
    c.conf["PriorityWeightJobSize"] = 12345
    c.write_conf()
    c.reconfigure()


def user_gone(c, jobs):
    c.run("sacctmgr", "-i", "delete", "user", "mail", "account=ml", check=False)


CHANGES = [jobs_updated, jobs_held_and_released, array_taken_apart, queue_with_gaps,
           a_job_starts_and_returns, shares_and_priorities, partitions, nodes, weights, user_gone,
           another_policy]


def test_a_queue_as_it_was_is_not_asked_and_its_age_goes_on(queue):
    c, _ = queue
    settled(c)

    def ages():
        """By row; and when, at the latest and at the earliest."""
        begun = time.time()
        rows = {row[:2]: int(row[3]) for row in shown(c)}
        return rows, begun, time.time()
    first, begun, _ = ages()
    cycles(c, 4)
    later, _, ended = ages()
    assert last_count(c)[1] > 30 and last_count(c)[0] < 5, last_count(c)
    # (one that the scheduler has not seen has no age yet)
    gains = [later[key] - age for key, age in first.items() if age and key in later]
    assert len(gains) > 30
    assert 2 <= min(gains) and max(gains) <= ended - begun + 3, gains


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_what_is_kept_is_what_would_be_found(queue, change):
    c, jobs = queue
    settled(c)
    change(c, jobs)
    cycles(c, 2)
    compare(c)
