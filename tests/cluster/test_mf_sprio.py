"""sprio between two cycles. Its columns come from what the last cycle knew of each job (kept.c), as
long as nothing has happened to the job since: whatever has, they add up to squeue's priority."""
import concurrent.futures
import os
import time

import pytest

import mfcommon
from ccrcluster import Nodes
from test_mf_kept import ACCOUNTS, CONF, PARTITIONS, POLICIES, submit

CYCLE_S = 4  # long enough for a change and two looks
PER_SECOND = 1000  # points of waiting: columns of an older cycle are far off
COLUMNS = ("id", "partition", "priority", "site", "age", "assoc", "fairshare", "jobsize", "part",
           "qos", "nice", "tres")
FORMAT = "%i|%r|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T"


@pytest.fixture(scope="module", params=POLICIES)
def queue(request):
    """A cluster and the jobs that wait on it, by the order of their submission."""
    age = {"multifactor": 7 * 86400 * PER_SECOND, "ccr": 60 * PER_SECOND}[request.param]
    c = mfcommon.cluster("ccr", ACCOUNTS, conf={**CONF, "PriorityWeightAge": age},
                         policy=POLICIES[request.param], partitions=PARTITIONS,
                         nodes=[Nodes(count=4, cpus=16, mem=64000, gpus="a100:4")])
    c.ctld_env = mfcommon.fast_cycle(1000 * CYCLE_S)
    with c:
        for name, priority in (("high", 50), ("low", 5)):
            c.run("sacctmgr", "-i", "add", "qos", name, f"priority={priority}")
        c.run("sacctmgr", "-i", "modify", "account", "phys,exp,ml", "set", "qos=normal,high,low")
        for user, account in (("games", "exp"), ("lp", "ml")):
            c.wait_state(c.sbatch("sleep 36000", user=user, account=account, nodes=2,
                                  exclusive=True, time=900))
        jobs = [submit(c, i) for i in range(130)]
        c.wait_for(lambda: len({row["id"] for row in shown(c)}) >= len(jobs), 60,
                   what="a queue that is seen")
        yield c, jobs


def shown(c):
    out = c.run("sprio", "-h", "-o", FORMAT).stdout
    return [dict(zip(COLUMNS, (cell.strip() for cell in line.split("|"))))
            for line in out.splitlines()]


def last_cycle(c):
    return os.stat(f"{c.root}/state/priority_last_decay_ran").st_mtime_ns


def next_cycle(c):
    before = last_cycle(c)
    c.wait_for(lambda: last_cycle(c) != before, 30, what="a cycle", every=0.05,
               daemon="slurmctld")


def squeue(c):
    """{job id: priority} of what waits."""
    out = c.run("squeue", "-h", "-t", "PD", "-o", "%A %Q").stdout
    return {job: int(priority) for job, priority in map(str.split, out.splitlines())}


def between_cycles(c, change, of=None):
    """sprio's rows and squeue's priorities right after the change, no cycle having come since."""
    for _ in range(10):
        next_cycle(c)
        at = last_cycle(c)
        if change:
            change()
        rows, queue = shown(c), squeue(c)
        if last_cycle(c) == at:
            return rows, queue
        # it is a change all the same; what follows looks at an older one
    raise AssertionError("a cycle came in between, ten times")


def add_up(rows, queue):
    """Each job's priority is that of one of its rows, and that the sum of its columns."""
    of = {}
    for row in rows:
        total = sum(float(row[k]) for k in COLUMNS[3:10]) - float(row["nice"]) \
            + sum(float(t.split("=")[1]) for t in row["tres"].split(",") if "=" in t)
        assert abs(total - int(row["priority"])) <= 8, row  # sprio rounds each of them
        of.setdefault(row["id"], []).append(int(row["priority"]))
    wrong = {job: (queue[job], of[job]) for job in of if job in queue
             and min(abs(queue[job] - p) for p in of[job]) > 1}
    assert not wrong, wrong
    return of


def row_of(rows, job):
    return [row for row in rows if row["id"] == str(job)]


def test_nothing_has_happened(queue):
    c, jobs = queue
    for _ in range(3):
        rows, priorities = between_cycles(c, None)
        assert len(add_up(rows, priorities)) >= len(jobs)


def test_updates_show_at_once(queue):
    c, jobs = queue
    before = {row["id"]: row for row in shown(c) if "," not in row["partition"]}

    def change():
        for job, what in ((0, "Nice=500"), (1, "QOS=low"), (4, "Partition=q"), (5, "SiteFactor=77"),
                          (6, "Partition=p,r"), (8, "TimeLimit=7"), (9, "NumCPUs=9")):
            c.run("scontrol", "update", f"JobId={jobs[job]}", what)
    rows, priorities = between_cycles(c, change)
    add_up(rows, priorities)
    assert row_of(rows, jobs[0])[0]["nice"] == "500"
    assert row_of(rows, jobs[1])[0]["qos"] != before[str(jobs[1])]["qos"]
    assert [row["partition"] for row in row_of(rows, jobs[4])] == ["q"]
    assert sorted(row["partition"] for row in row_of(rows, jobs[6])) == ["p", "r"]


def test_tasks_taken_out_of_an_array(queue):
    c, jobs = queue
    array = jobs[13]

    def change():
        c.run("scontrol", "update", f"JobId={array}_3", "Nice=44")
        c.run("scontrol", "update", f"JobId={array}_[5-6]", "Nice=45")
    rows, priorities = between_cycles(c, change)
    add_up(rows, priorities)
    assert row_of(rows, array), "the rest of the array, which has a new record"
    assert len([row for row in rows if row["nice"] in ("44", "45")]) >= 3
    next_cycle(c)
    add_up(*between_cycles(c, None))


def test_jobs_held_released_and_at_the_top(queue):
    c, jobs = queue
    c.run("scontrol", "hold", jobs[16], jobs[17])
    next_cycle(c)

    def change():
        c.run("scontrol", "release", jobs[17])
        c.run("scontrol", "top", jobs[20])
    rows, priorities = between_cycles(c, change)
    add_up(rows, priorities)
    assert priorities[str(jobs[16])] == 0 and not row_of(rows, jobs[16])


def test_jobs_that_are_gone_and_new_ones(queue):
    """More in a row than a walk looks ahead in the table."""
    c, jobs = queue

    def change():
        c.run("scancel", *[str(job) for job in jobs[30:110]])
        jobs.append(submit(c, 131))
    rows, priorities = between_cycles(c, change)
    add_up(rows, priorities)
    assert not row_of(rows, jobs[50]) and row_of(rows, jobs[120])
    c.wait_for(lambda: row_of(shown(c), jobs[-1]), what="the new job in sprio")
    add_up(*between_cycles(c, None))


def test_a_job_that_ran_and_returns(queue):
    c, jobs = queue
    running = c.run("squeue", "-h", "-t", "R", "-S", "i", "-o", "%A").stdout.split()[0]
    add_up(*between_cycles(c, lambda: c.run("scontrol", "requeue", running)))
    next_cycle(c)
    add_up(*between_cycles(c, None))


def test_partitions_that_change(queue):
    c, jobs = queue

    def change():
        c.run("scontrol", "update", "PartitionName=q", "PriorityJobFactor=90")
        c.run("scontrol", "create", "PartitionName=s", "Nodes=n2", "PriorityJobFactor=400")
    rows, _ = between_cycles(c, change)
    assert {row["partition"] for row in rows} >= {"p", "q", "r"}
    next_cycle(c)
    add_up(*between_cycles(c, None))
    c.run("scontrol", "delete", "PartitionName=s")
    c.run("sprio", "-h")


def test_many_at_a_time(queue):
    """sprio reads what cycles write: several at once, with updates and array tasks in between."""
    c, jobs = queue
    end, array = time.time() + 3 * CYCLE_S, jobs[21]

    def ask():
        return min(c.run("sprio", "-h", "-o", "%i").stdout.count("\n") for _ in range(30))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        askers = [pool.submit(ask) for _ in range(4)]
        update_while(c, jobs, array, end)
        assert all(asker.result(120) > 60 for asker in askers)
    next_cycle(c)
    add_up(*between_cycles(c, None))


def update_while(c, jobs, array, end):
    for task in range(10):
        c.run("scontrol", "update", f"JobId={array}_{task}", f"Nice={task}", check=False)
        c.run("scontrol", "update", f"JobId={jobs[2]}", f"Nice={task}")
        time.sleep(max(0, end - time.time()) / 10)
