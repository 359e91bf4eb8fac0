"""sccr against running daemons: what it says is what squeue, sprio and slurmctld's plan say."""
import json
import os

import pytest

from ccrcluster import Cluster, Nodes

pytestmark = pytest.mark.every_slurm

POLICY = {"version": 1, "preset": "ccr", "tiers": {"gold": 4.0}, "default_group": "rest",
          "groups": {"b": {"target": 25, "tier": "gold"}, "c": {"target": "50-"},
                     "rest": {"target": 25}},
          "backfill": {"depth": 1}}
CONF = {"PriorityWeightAge": 1, "PriorityWeightFairshare": 500, "PriorityWeightJobSize": 16,
        "PriorityWeightAssoc": 800, "PriorityParameters": "ccr_calc_seconds=1",
        "SchedulerParameters": "bf_min_prio_reserve=4294967295,batch_sched_delay=1,sched_interval=2"}
PARTS = {"p": "Nodes=ALL Default=YES State=UP MaxTime=INFINITE", "q": "Nodes=ALL State=UP",
         "off": "Nodes=ALL State=DOWN"}


@pytest.fixture(scope="module")
def session():
    c = Cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")], priority_type="priority/ccr",
                plugins=["priority", "select"], policy=POLICY, conf=CONF, partitions=PARTS)
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    yield session
    session.clear()


def sccr(c, *args, check=True, **more):
    return c.run(os.path.join(c.build, "src", "sccr", "sccr"), *args, check=check, **more)


def explain(c, job, *args, **more):
    return json.loads(sccr(c, "explain", "--json", *args, str(job), **more).stdout)


def test_the_total_is_squeues_number_and_the_terms_add_up(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off", nodes=2, nice=7)

    def agree():
        x = explain(c, job)[0]
        shown = int(c.run("squeue", "-h", "-j", job, "-o", "%Q").stdout)
        points = sum(col["points"] for col in x["columns"].values())
        return x["priority"] == shown == points - x["nice"]
    c.wait_for(agree, 15, what="explain, squeue and the terms to agree")
    x = explain(c, job)[0]
    assert x["group"] == "b" and x["target"] == 25 and x["financial"] == 4
    assert x["columns"]["jobsize"] == {"factor": 2, "weight": 16, "points": 32}


def test_rank_and_who_is_ahead(cluster):
    c = cluster
    low = c.sbatch("true", user="games", account="b", partition="off", nice=100)
    high = c.sbatch("true", user="man", account="b", partition="off")
    c.wait_for(lambda: explain(c, low)[0]["rank"] == 2, what="a rank")
    x = explain(c, low)[0]
    assert x["ahead"] == [str(high)] and x["of"] == 2
    assert explain(c, high)[0]["ahead"] == []


def test_booked_and_would_delay_with_a_limit_that_fits(cluster):
    c = cluster
    full = [c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodes=1, time=60)]
    half = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:3", nodes=1, time=30)
    for j in (*full, half):
        c.wait_state(j)
    top = c.sbatch("sleep 30", user="games", account="b", gres="gpu:4", nodes=1, time=60,
                   nice=-1000)
    c.wait_for(lambda: explain(c, top)[0]["plan"] == "booked", what="a booking")
    long_one = c.sbatch("sleep 30", user="lp", account="rest", gres="gpu:1", nodes=1, time=120)
    c.wait_for(lambda: explain(c, long_one)[0]["plan"] == "would_delay", what="a refusal")
    x, b = explain(c, long_one)[0], explain(c, top)[0]
    assert x["would_delay"] == top and x["booked"] == b["booked"]
    said = sccr(c, "explain", long_one).stdout
    minutes = int(said.split("time limit of at most ")[1].split()[0])
    assert 25 <= minutes <= 30
    # tested, not guessed: with that limit it starts, one that is longer does not
    c.update(JobId=long_one, TimeLimit=minutes + 5)
    c.reconfigure()
    c.wait_for(lambda: explain(c, long_one)[0]["plan"] == "would_delay", what="still refused")
    c.update(JobId=long_one, TimeLimit=minutes)
    c.wait_state(long_one)


def test_limits_holds_and_jobs_that_run_or_are_not_there(cluster):
    c = cluster
    held = c.sbatch("true", user="games", account="b", hold=True)
    later = c.sbatch("true", user="games", account="b", begin="now+1hour")
    runs = c.sbatch("sleep 100", user="games", account="b")
    array = c.sbatch("true", user="games", account="b", partition="off", array="1-9")
    c.wait_state(runs)
    c.wait_for(lambda: explain(c, later)[0]["plan"] == "limit", what="BeginTime")
    assert explain(c, held)[0]["plan"] == "limit"
    assert "scontrol release" in sccr(c, "explain", held).stdout
    assert explain(c, runs)[0]["state"] == "RUNNING"
    assert explain(c, f"{array}_3")[0]["job"].startswith(f"{array}_")
    gone = sccr(c, "explain", 99999, check=False)
    assert gone.returncode == 1 and "there is no job 99999" in gone.stderr
    assert sccr(c, "explain", "12; ls", check=False).returncode == 2
    assert sccr(c, "explain", check=False).returncode == 2


def test_a_job_of_two_partitions_is_explained_in_each(cluster):
    c = cluster
    block = c.sbatch("sleep 300", user="man", account="rest", nodes=2, exclusive=True, time=60)
    c.wait_state(block)
    job = c.sbatch("true", user="games", account="b", partition="p,q")
    c.wait_for(lambda: {x["partition"] for x in explain(c, job)} == {"p", "q"},
               what="both partitions")


def test_usage_of_groups(cluster):
    c = cluster
    job = c.sbatch("sleep 3", user="games", account="c", gres="gpu:4", nodes=1)
    c.wait_state(job, "COMPLETED")
    c.wait_for(lambda: {g["group"]: g for g in json.loads(sccr(c, "usage", "--json").stdout)
                        ["groups"]}["c"]["usage"] > 0, what="usage of c")
    text = sccr(c, "usage", "--users").stdout
    assert "games" in text and "above its target" in text and " * " in text
    assert "\033" not in text  # no escape codes in a pipe
    for bad in (["--ledger", "/nonexistent"], ["--policy", "/nonexistent"]):
        assert sccr(c, "usage", *bad, check=False).returncode == 1
    assert sccr(c, "usage", "two", "words", check=False).returncode == 2


def test_check_knows_the_weights_of_slurm_conf(cluster):
    c = cluster
    said = sccr(c, "check", c.policy_path).stdout
    assert "JOBSIZE            16  nodes" in said and "AGE                 1" in said
    assert "slurm-ccr's own ledger (slurm.conf names no database)" in said


def test_a_priority_set_by_hand_is_said_and_no_usage_is_made_of_it(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off")
    c.update(JobId=job, Priority=7)
    assert explain(c, job)[0]["by_hand"] is True
    assert "set by hand" in sccr(c, "explain", job).stdout


def test_names_of_users_making_hurt_nobody(cluster):
    c = cluster
    odd = c.sbatch("true", user="games", account="x\ny|z", partition="off",
                   job_name="\033[31mred|bar")
    behind = c.sbatch("true", user="man", account="rest", partition="off", nice=5000)
    c.wait_for(lambda: explain(c, odd)[0]["priority"] > 0, what="a score")
    for job in (odd, behind):
        said = sccr(c, "explain", job).stdout
        assert "\033" not in said and f"Job {job} " in said
    assert str(odd) in explain(c, behind)[0]["ahead"]
    assert explain(c, odd)[0]["name"] == "?[31mred|bar"
    c.run("scancel", odd, behind)
    c.wait_for(lambda: not c.run("squeue", "-h", "-o", "%i").stdout.split(), what="an empty queue")
