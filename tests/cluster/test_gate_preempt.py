"""Jobs that start when others have made way: what is free already is kept for them meanwhile, so that
nobody is preempted for nothing."""
import re

import pytest

from gate import gate_cluster, sdiag, start_time, wait_booked

pytestmark = pytest.mark.every_slurm

# Goes when it is killed and not before.
STUBBORN = "#!/bin/bash\ntrap '' TERM CONT\nfor i in $(seq 200); do sleep 1; done"


def preempting(mode, low="", high="", **conf):
    """Three nodes of 8 CPUs and 2 GPUs; jobs in hi preempt those in lo."""
    return gate_cluster(
        nodes=3, cpus=8, gpus="a100:2",
        conf={"PreemptType": "preempt/partition_prio", "PreemptMode": mode, **conf},
        partitions={"lo": f"Nodes=ALL Default=YES PriorityTier=1 MaxTime=INFINITE {low}",
                    "hi": f"Nodes=ALL PriorityTier=5 MaxTime=INFINITE {high}"})


def a_node(c, part, time, script="sleep 9999", **kwargs):
    """Submits a job that takes the GPUs of a node."""
    return c.sbatch(script, gres="gpu:2", time=time, partition=part, **kwargs)


def waits_for_three(c, low_time=60, low_script="sleep 9999"):
    """n1 has a job of hi and the others jobs of lo, of which more wait, and a job of hi waits for all
    three nodes: (that of n1, those of lo, the one that waits)."""
    first = a_node(c, "hi", 30, nodelist="n1")
    c.wait_state(first)
    low = [a_node(c, "lo", low_time, low_script) for _ in range(12)]
    c.wait_for(lambda: c.states(*low).count("RUNNING") == 2, what="two nodes of lo")
    top = c.sbatch("sleep 9999", nodes=3, gpus_per_node=2, time=2, partition="hi")
    wait_booked(c, top)
    return first, low, top


def begun_between(c, job):
    """Jobs that slurmctld began between the job's first "may start" and its start."""
    lines = c.log().splitlines()
    first = next(i for i, line in enumerate(lines) if f"JobId={job} may start" in line)
    begun = []
    for line in lines[first:]:
        found = re.search(r"(?:Allocate|Started) JobId=(\d+)", line)
        if found and found.group(1) == str(job):
            return begun
        if found:
            begun.append(found.group(1))
    raise AssertionError(f"job {job} has not begun")


def preempted(c):
    return [int(j["JobId"]) for j in c.jobs() if int(j["Restarts"]) or j["JobState"] == "PREEMPTED"]


@pytest.mark.parametrize("mode, grace", [("REQUEUE", 0), ("CANCEL", 3)])
def test_nobody_takes_what_a_preemptor_waits_for(mode, grace):
    with preempting(mode, low=f"GraceTime={grace}", KillWait=4) as c:
        first, low, top = waits_for_three(c, low_script=STUBBORN)
        # It counts on those of lo making way.
        assert 60 * 28 < start_time(c, top) <= 60 * 30
        c.run("scancel", first)
        c.wait_for(lambda: c.log_grep(f"JobId={top} may start"), what="room for it")
        wait_booked(c, top)
        assert c.job(top)["JobState"] != "PENDING" or start_time(c, top) <= 30
        c.wait_state(top, timeout=60)
        assert not begun_between(c, top)
        assert sorted(preempted(c)) == sorted(low[:2])
        assert not c.log_grep("decides alone")


def test_a_preemptor_is_booked_behind_those_it_cannot_preempt():
    with preempting("REQUEUE", KillWait=2) as c:
        first, low, top = waits_for_three(c)
        booked = start_time(c, top)
        assert 60 * 28 < booked <= 60 * 30
        # Lower jobs that could preempt as well may not pass it, but who ends before.
        late = a_node(c, "hi", 60)
        wait_booked(c, late)
        assert start_time(c, late) > booked
        short = a_node(c, "hi", 5)
        c.wait_state(short)
        assert c.states(late, top) == ["PENDING"] * 2
        assert len(preempted(c)) == 1
        c.run("scancel", first, short)
        c.wait_state(top, timeout=60)
        assert c.job(late)["JobState"] == "PENDING"
        assert len(preempted(c)) <= 3
        assert c.states(*low).count("RUNNING") == 0


@pytest.mark.parametrize("change", ["hold", "ExcNodeList=n1", "Partition=lo"])
def test_a_claim_ends_with_its_job(change):
    """The job that others make way for is held or may not go there any more: it keeps nobody from
    anything."""
    with preempting("CANCEL", low="GraceTime=120") as c:
        first, low, top = waits_for_three(c, low_script=STUBBORN)
        c.run("scancel", first)
        c.wait_for(lambda: c.log_grep(f"JobId={top} may start"), what="room for it")
        cycles = sdiag(c)["Total cycles"]
        c.wait_for(lambda: sdiag(c)["Total cycles"] >= cycles + 2, what="two cycles")
        assert c.states(*low).count("RUNNING") == 2
        # (with its grace time and KillWait)
        assert 60 < start_time(c, top) <= 160
        assert c.log_grep(f"JobId={low[2]} waits: it would delay job {top}")
        if change == "hold":
            c.run("scontrol", "hold", top)
        else:
            key, value = change.split("=")
            c.update(JobId=top, **{key: value})
        c.wait_for(lambda: c.states(*low).count("RUNNING") == 3, what="n1 for another")


def test_suspended_jobs_stay_where_they_are():
    """Nobody waits where jobs take turns on a node: such a preemptor begins at once."""
    with preempting("SUSPEND,GANG", low="OverSubscribe=FORCE:1",
                    high="OverSubscribe=FORCE:1 PreemptMode=OFF", SchedulerTimeSlice=5) as c:
        low = [c.sbatch("sleep 9999", cpus_per_task=8, time=60, partition="lo") for _ in range(3)]
        c.wait_for(lambda: c.states(*low).count("RUNNING") == 3)
        high = c.sbatch("sleep 9999", nodes=3, cpus_per_task=8, time=60, partition="hi")
        c.wait_state(high)
        c.wait_for(lambda: c.states(*low) == ["SUSPENDED"] * 3,
                   what=lambda: f"suspended: {c.states(*low)}")
        assert not c.log_grep("are preempted, in|decides alone")
