"""The plugin's own ledger, no database: counted while jobs run, kept over restarts, charged by weight."""
import glob
import os
import json
import time

import pytest

from ccrcluster import Cluster, Nodes

POLICY = {"version": 1, "preset": "ccr", "default_group": "rest",
          "groups": {"a": {"target": 40}, "b": {"target": 40}, "rest": {"target": 20}}}
CONF = {"PriorityWeightFairshare": 1000, "PriorityParameters": "ccr_calc_seconds=1"}
PARTS = {"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN"}


@pytest.fixture
def cluster():
    c = Cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:8")], priority_type="priority/ccr",
                plugins=["priority"], policy=POLICY, conf=CONF, partitions=PARTS)
    c.start()
    yield c
    c.stop()


def ledger(c):
    with open(f"{c.root}/state/ccr_usage.json") as text:
        return json.load(text)


def billed(c, account):
    return sum(e["billed_s"] for e in ledger(c)["usage"] if e["account"] == account)


def seconds(text):
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def whole(c, job):
    """All seconds of a job that has ended."""
    j = c.job(job)
    return seconds(j["EndTime"]) - seconds(j["StartTime"])


def fairshare(c, job):
    return [r["fairshare"] for r in c.sprio() if r["job"] == str(job)][0]


def test_r11_usage_rises_while_a_job_runs(cluster):
    c = cluster
    waiting = c.sbatch("true", user="man", account="a", partition="off")
    other = c.sbatch("true", user="man", account="b", partition="off")
    c.wait_for(lambda: fairshare(c, waiting) == 40000, what="no usage at first")
    c.sbatch("sleep 60", user="games", account="a")
    c.wait_for(lambda: fairshare(c, waiting) == 1000 * (40 - 100), what="all usage is the group's")
    assert fairshare(c, other) == 40000
    first = billed(c, "a")
    c.wait_for(lambda: billed(c, "a") > first, what="usage to rise during the run")


def test_r49_a_gpu_job_costs_more(cluster):
    c = cluster
    cpu = c.sbatch("sleep 4", user="games", account="a")
    gpu = c.sbatch("sleep 4", user="games", account="b", gres="gpu:8")
    for j in (cpu, gpu):
        c.wait_state(j, "COMPLETED")
    time.sleep(2)
    assert billed(c, "a") == pytest.approx(whole(c, cpu), rel=0.001)
    assert billed(c, "b") == pytest.approx(whole(c, gpu) * (1 + 8 * 32), rel=0.001)
    key = [e for e in ledger(c)["usage"] if e["account"] == "b"][0]
    assert key["user"] == "games" and key["partition"] == "p"


@pytest.mark.every_slurm
def test_no_second_is_lost_or_counted_twice_over_restarts(cluster):
    c = cluster
    ends_before = c.sbatch("sleep 3", user="games", account="a")
    runs_through = c.sbatch("sleep 12", user="games", account="b")
    ends_meanwhile = c.sbatch("sleep 6", user="games", account="z")
    c.wait_state(ends_before, "COMPLETED")
    c.wait_saved(runs_through)
    c.restart_slurmctld()  # clean
    c.stop_slurmctld()
    time.sleep(4)          # while it is down a job ends
    c.start_slurmctld()
    time.sleep(1.5)
    c.kill9_slurmctld()    # not clean
    c.start_slurmctld()
    for j in (ends_before, runs_through, ends_meanwhile):
        c.wait_state(j, "COMPLETED", timeout=90)
    time.sleep(2.5)
    for job, account in ((ends_before, "a"), (runs_through, "b"), (ends_meanwhile, "z")):
        assert billed(c, account) == pytest.approx(whole(c, job), abs=1.5), account


def test_a_damaged_ledger_is_set_aside_and_the_older_one_used(cluster):
    c = cluster
    j = c.sbatch("sleep 3", user="games", account="a")
    c.wait_state(j, "COMPLETED")
    time.sleep(2.5)
    had = billed(c, "a")
    assert had > 0
    c.stop_slurmctld()
    path = f"{c.root}/state/ccr_usage.json"
    with open(path, "r+") as out:
        out.truncate(40)
    c.start_slurmctld()
    assert c.log_grep("priority/ccr: usage: .*")
    assert not c.log_grep("no last decay")  # nothing to recover without a database, and no fault
    assert glob.glob(path + ".damaged-*")
    c.wait_for(lambda: os.path.exists(path) and billed(c, "a") == pytest.approx(had, abs=0.1),
               what="the older copy")


def test_r48_the_hogs_next_job_goes_last(cluster):
    c = cluster
    hog = c.sbatch("sleep 60", user="games", account="a", nodes=2, exclusive=True)
    c.wait_state(hog)
    again = c.sbatch("true", user="games", account="a")
    other = c.sbatch("true", user="man", account="b")
    c.wait_for(lambda: fairshare(c, again) < 0 < fairshare(c, other), what="usage to count")
    order = [j["job"] for j in c.squeue("--sort=-p", "-t", "PD")]
    assert order == [str(other), str(again)]


def test_usage_is_reset_once_where_slurm_conf_says_so(cluster):
    c = cluster
    j = c.sbatch("sleep 3", user="games", account="a")
    c.wait_state(j, "COMPLETED")
    c.wait_for(lambda: billed(c, "a") > 0, what="usage")
    c.conf["PriorityUsageResetPeriod"] = "NOW"
    c.write_conf()
    c.reconfigure()
    c.wait_for(lambda: not ledger(c)["usage"], what="an empty ledger")
    again = c.sbatch("sleep 3", user="games", account="b")
    c.wait_state(again, "COMPLETED")
    c.wait_for(lambda: billed(c, "b") > 0, what="usage after the reset")
    time.sleep(2)
    assert billed(c, "b") == pytest.approx(whole(c, again), abs=0.1)
    assert billed(c, "a") == 0


@pytest.mark.parametrize("owner, mode, found", [(5, 0o600, "the owner: found user 5"),
                                                (0, 0o666, "the mode: found 0666")])
def test_a_ledger_that_others_could_write_is_used_and_said(cluster, owner, mode, found):
    """Usage is not lost by it, but whoever reads the log or asks sccr is told, once a start."""
    c = cluster
    path, sccr = f"{c.root}/state/ccr_usage.json", os.path.join(c.build, "src", "sccr", "sccr")
    job = c.sbatch("sleep 2", user="games", account="a")
    c.wait_state(job, "COMPLETED")
    c.wait_for(lambda: os.path.exists(path) and billed(c, "a") > 0, what="usage")
    c.stop_slurmctld()
    had = billed(c, "a")
    good = c.run(sccr, "usage", "--ledger", path, "--policy", c.policy_path)
    assert good.stderr == ""
    os.chown(path, owner, 0)
    os.chmod(path, mode)
    for asked in (["usage", "--ledger", path, "--policy", c.policy_path], ["check", c.policy_path]):
        said = c.run(sccr, *asked)
        assert said.stderr.count("warning: ") == 1 and path in said.stderr and found in said.stderr
    c.start_slurmctld()
    lines = c.log_grep(f"priority/ccr: usage: {path}: {found}.*it is used all the same")
    assert len(lines) == 1
    c.wait_for(lambda: os.stat(path).st_mode & 0o777 == 0o644 and os.stat(path).st_uid == 0,
               what="a ledger of slurmctld's own")
    assert billed(c, "a") == pytest.approx(had, rel=0.01)
