"""Eligible time as PBS has it, on running daemons: what accrues, what does not, what it survives."""
import json
import os
import time

import pytest

from ccrcluster import Nodes
from policies import at_least, ccr_cluster, eligible, eligible_states, stopped

# AGE is the eligible time in seconds.
POLICY = {"version": 1, "base": 0, "policy": {"age": "eligible_time"}}
WEIGHTS = {"PriorityWeightAge": 1, "PriorityWeightJobSize": 0, "PriorityWeightFairshare": 0}


@pytest.fixture(scope="module")
def session():
    c = ccr_cluster("aqua", policy=POLICY, nodes=[Nodes(count=1, cpus=4)], conf=WEIGHTS)
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    session.wait_state(session.sbatch("sleep 600", user="root", exclusive=True))
    yield session
    session.clear()


def test_it_accrues_with_the_clock_while_resources_lack(cluster):
    c = cluster
    first, second = (c.sbatch("true", user="games", cpus_per_task=4) for _ in range(2))
    c.wait_for(lambda: {c.job(first)["Reason"], c.job(second)["Reason"]} == {"Resources", "Priority"})
    began, was = time.time(), at_least(c, first, 1)
    at_least(c, second, 3)
    time.sleep(2)
    assert eligible(c, first) - was == pytest.approx(time.time() - began, abs=2.2)
    assert c.job(first)["Priority"] == str(eligible(c, first)) or eligible(c, first) > was


def test_a_hold_stops_it_and_a_release_goes_on(cluster):
    c = cluster
    job = c.sbatch("true", user="games", cpus_per_task=4)
    at_least(c, job, 3)
    c.run("scontrol", "hold", job)
    before = stopped(c, job)
    c.run("scontrol", "release", job)
    shown = c.wait_for(lambda: eligible(c, job), what="the released job")
    assert before <= shown <= before + 3
    at_least(c, job, before + 3)


def test_dependency_begin_time_and_hold_at_submission_accrue_nothing(cluster):
    c = cluster
    held = c.sbatch("true", user="games", hold=True)
    after = c.sbatch("true", user="games", dependency=f"afterany:{held}")
    later = c.sbatch("true", user="games", begin="now+1hour")
    waits = c.sbatch("true", user="games", cpus_per_task=4)
    at_least(c, waits, 4)
    # sprio does not list them, but their priority is the eligible time (1 where that is 0).
    assert [c.job(j)["Priority"] for j in (after, later)] == ["1", "1"]
    assert [stopped(c, j, 0) for j in (held, after, later)] == [0, 0, 0]
    c.run("scontrol", "release", held)
    c.update(JobId=later, StartTime="now")
    for job in (held, later):
        shown = c.wait_for(lambda: eligible(c, job), what="a job that accrues")
        assert shown <= 3
    # The predecessor goes: only then does it begin.
    c.run("scancel", held)
    assert c.wait_for(lambda: eligible(c, after), what="the dependent job") <= 3


def test_an_array_task_limit_is_a_run_limit(cluster):
    c = cluster
    c.run("scancel", *[j["job"] for j in c.squeue()])
    array = c.sbatch("sleep 600", user="games", array="1-3%1")
    c.wait_for(lambda: any(j["JobState"] == "RUNNING" for j in c.jobs(array)))
    c.wait_for(lambda: any(j["Reason"] == "JobArrayTaskLimit" for j in c.jobs(array)))
    assert stopped(c, array) <= 4


def test_it_survives_restart_kill_and_reconfigure(cluster):
    c = cluster
    job = c.sbatch("true", user="games", cpus_per_task=4)
    held = c.sbatch("true", user="games", cpus_per_task=4)
    at_least(c, held, 3)
    c.run("scontrol", "hold", held)
    kept = stopped(c, held, 0)
    for again in ("restart", "kill", "reconfigure"):
        was = eligible(c, job)
        if again == "reconfigure":
            c.reconfigure()
        else:
            if again == "kill":
                c.wait_saved(job)
                c.kill9_slurmctld()
            else:
                c.stop_slurmctld()
            c.start_slurmctld()
        now = c.wait_for(lambda: eligible(c, job), what="the job again")
        assert was <= now <= was + 20
        assert eligible_states(c)[held] == [kept, 0]
    at_least(c, job, now + 2)


def test_it_survives_a_requeue_and_tasks_inherit_it(cluster):
    c = cluster
    blocker = int(c.squeue()[0]["job"])
    array = c.sbatch("sleep 600", user="games", array="1-2", cpus_per_task=4)
    at_least(c, array, 4)
    waited = eligible_states(c)[array][0]
    c.run("scancel", blocker)
    task = c.wait_for(lambda: next((j for j in c.jobs(array) if j["JobState"] == "RUNNING"), None))
    number = int(task["JobId"])
    assert number != array
    child = stopped(c, number)  # running does not accrue
    assert waited - 1 <= child <= waited + 5
    c.run("scontrol", "requeue", f"{array}_{task['ArrayTaskId']}")
    c.wait_for(lambda: c.job(f"{array}_{task['ArrayTaskId']}")["JobState"] == "PENDING", 60)
    assert child <= eligible_states(c)[number][0] <= child + 4
    assert c.job(f"{array}_{task['ArrayTaskId']}")["Priority"] != "1"


def test_a_damaged_state_is_set_aside_and_slurmctld_goes_on(cluster):
    c = cluster
    job = c.sbatch("true", user="games", cpus_per_task=4)
    at_least(c, job, 2)
    c.stop_slurmctld()
    with open(f"{c.root}/state/ccr_eligible.json", "w") as out:
        out.write('{"version": 1, "jobs": [[1,')
    c.start_slurmctld()
    # What is known then is since when it has been eligible.
    at_least(c, job, 3)
    assert c.log_grep("eligible times: .*ccr_eligible.json:1:")
    with open(f"{c.root}/state/ccr_eligible.json.damaged") as text:
        assert text.read().endswith("[[1,")


def test_explain_tells_it(cluster):
    c = cluster
    job = c.sbatch("true", user="games", cpus_per_task=4)
    at_least(c, job, 3)
    sccr = os.path.join(c.build, "src", "sccr", "sccr")
    said = json.loads(c.run(sccr, "explain", "--json", job).stdout)[0]
    assert abs(said["eligible_time"] - eligible(c, job)) <= 5
    assert "eligible for 0:00:" in c.run(sccr, "explain", job).stdout
