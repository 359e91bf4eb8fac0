"""No booking is delayed on a real cluster: a random mix of jobs on 16 nodes, run to its end.

Limits are kept (a job runs almost as long as it may), over-estimated, or absent. The first jobs keep
theirs, so that what is booked behind them starts hardly before it was promised. slurmctld's own
log, a line a decision, has what each job was promised first; its StartTime has what came of it. A
promise is off only when a job that ranks above was submitted after it.
CCR_RANDOM_JOBS and CCR_RANDOM_SEED choose another mix."""
import os
import random
import re
import time

from gate import Nodes, gate_cluster

JOBS = int(os.environ.get("CCR_RANDOM_JOBS", "320"))
KEPT = 50  # they fill the machine
SEED = int(os.environ.get("CCR_RANDOM_SEED", "1"))
# Between a job's end and the next start: the end's messages, slurmctld's next cycle, a busy machine.
# A start that is late by that may push one that is booked behind it as far, half a minute at the most
# (core/planner.h, CCR_LATE_MAX).
SLACK = 30 * float(os.environ.get("CCR_PATIENCE", "1"))


def random_job(rng, kept):
    """(seconds that it runs, sbatch options)"""
    limit = 1 if kept else rng.choice([1, 1, 2, 3, 5])
    kind = rng.random()
    kept = kept or (kind < 0.1 and limit == 1)
    runs = rng.randint(42, 48) if kept else rng.randint(1, 8)
    options = {"time": "UNLIMITED" if kind > 0.95 and not kept else limit}
    shape = rng.random()
    if shape < 0.2:
        options.update(ntasks=rng.choice([1, 2, 4, 8]), cpus_per_task=rng.choice([1, 2, 4]))
    elif shape < 0.3:
        options.update(gpus=rng.choice([2, 4, 6, 8]))
    elif shape < 0.4:
        options.update(nodes=rng.choice([2, 3, 4]), exclusive=True)
    elif shape < 0.6:
        options.update(nodes=rng.choice([1, 2, 4]), gpus_per_node=rng.choice([2, 3, 4]))
    else:
        options.update(gres=f"gpu:{rng.choice([1, 1, 1, 2, 3])}",
                       cpus_per_task=rng.choice([1, 2, 4, 8]))
    if rng.random() < 0.1:
        options["priority"] = rng.randint(1, 2000000000) * 2  # admins may: a rank out of turn
    return runs, options


def moment(text):
    return time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def seconds(limit):
    days, _, clock = limit.rpartition("-")
    hours, minutes, rest = map(int, clock.split(":"))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest


def promises(log):
    """{job: (when the first booking was made, for when)}"""
    first = {}
    for at, job, seconds in re.findall(
            r"^\[(\S+)\] \S* ?slurm-ccr: JobId=(\d+) is booked in (-?\d+) s", log, re.M):
        first.setdefault(int(job), (moment(at), moment(at) + int(seconds)))
    return first


def test_no_booked_job_starts_late(tmp_path):
    rng = random.Random(SEED)
    cluster = gate_cluster(nodes=[Nodes(count=16, cpus=16, gpus="a100:4")])
    with cluster as c:
        jobs = {}
        for i in range(JOBS):
            runs, options = random_job(rng, i < KEPT)
            jobs[c.sbatch(f"sleep {runs}", **options)] = (runs, options)
            if i > JOBS // 2:
                time.sleep(rng.random() * 0.2)
        c.wait_for(lambda: not c.squeue(), timeout=900, every=2, what="an empty queue")
        records = {int(j["JobId"]): j for j in c.jobs()}
        log = c.log()
        first = promises(log)
        assert not c.log_grep("decides alone")

    assert len(records) == JOBS
    assert {j["JobState"] for j in records.values()} == {"COMPLETED"}
    assert len(first) >= 10, "the queue never filled: nothing was tried"
    late, slips = [], []
    for job, (made, start) in first.items():
        slip = moment(records[job]["StartTime"]) - start
        slips.append(slip)
        rank = int(records[job]["Priority"])
        overtaken = [k for k, j in records.items() if int(j["Priority"]) > rank and
                     moment(j["SubmitTime"]) >= made]
        # A busy machine ends jobs late: who is there after his time breaks promises, too.
        outlived = [k for k, j in records.items() if j["TimeLimit"] != "UNLIMITED" and
                    made <= moment(j["StartTime"]) + seconds(j["TimeLimit"]) < moment(j["EndTime"])
                    and moment(j["StartTime"]) + seconds(j["TimeLimit"]) <= start + slip]
        if slip > SLACK and not overtaken and not outlived:
            said = re.findall(rf"^.*JobId={job}\b.*$", log, re.M)
            late.append((job, slip))
            print(f"JobId={job} {jobs[job]}, {records[job]}", *said, sep="\n")
    print(f"{len(first)} of {JOBS} jobs were booked; starts after the first promise: "
          f"latest {max(slips):.0f} s, median {sorted(slips)[len(slips) // 2]:.0f} s")
    assert not late, late
