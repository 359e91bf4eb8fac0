"""The CCR page's example on 64 real nodes: 64 x 16 + 1440 + 500 x (25 - 5) + 800 x 4.0 = 15664.

The day in the queue is real: the cluster starts a day back, the job waits there, and all daemons
are restarted on the present clock. The 5 % usage is a ledger written by hand, as ccr_usage.json(5)
describes it, before slurmctld first starts.
"""
import json

import pytest

from ccrcluster import Cluster, Nodes

pytestmark = pytest.mark.every_slurm

POLICY = {"version": 1, "preset": "ccr", "base": 0, "tiers": {"gold": 4.0, "none": 0},
          "default_group": "others",
          "groups": {"b": {"target": 25, "tier": "gold"},
                     "others": {"target": 75, "tier": "none"}}}
WEIGHTS = {"PriorityWeightAge": 1, "PriorityWeightFairshare": 500, "PriorityWeightJobSize": 16,
           "PriorityWeightAssoc": 800}


def seed(cluster, **billed):
    """A ledger by hand: billed seconds by account."""
    with open(f"{cluster.root}/state/ccr_usage.json", "w") as out:
        json.dump({"version": 1, "usage": [{"account": a, "user": "root", "billed_s": s}
                                           for a, s in billed.items()]}, out)


@pytest.fixture(scope="module")
def example():
    c = Cluster(nodes=[Nodes(count=64, cpus=1)], priority_type="priority/ccr",
                plugins=["priority"], policy=POLICY, clock="-1d", conf=WEIGHTS)
    # A whole day of one CPU (86,400 s) will be added by the job that blocks the example: with that
    # the group has 5 % of all. What is seeded is far more, so that seconds do not show.
    seed(c, b=5_000_000_000, c=95_000_000_000)
    c.start()
    try:
        blocker = c.sbatch("sleep 100000", user="man", account="c", time="3-0")
        c.wait_state(blocker)
        job = c.sbatch("true", user="games", account="b", nodes=64, time="1:00:00")
        c.wait_for(lambda: c.job(job)["AccrueTime"] != "Unknown", what="an eligible job")
        c.set_clock(None)
        c.reconfigure()
        c.wait_for(lambda: c.sprio() and c.sprio()[0]["age"] >= 1440, what="a day of age")
        yield c, job
    finally:
        c.stop()


def test_stock_sprio_shows_the_terms(example):
    c, job = example
    row = [r for r in c.sprio() if r["job"] == str(job)][0]
    assert (row["jobsize"], row["age"], row["fairshare"], row["assoc"]) == (1024, 1440, 10000, 3200)
    assert row["priority"] == 15664
    assert (row["site"], row["part"], row["qos"], row["nice"], row["tres"]) == (0, 0, 0, 0, "")


def test_stock_sprio_shows_the_factors(example):
    c, job = example
    row = [r for r in c.sprio() if r["job"] == str(job)][0]
    assert (row["f_jobsize"], row["f_age"]) == (64, 1440)
    assert (row["f_fairshare"], row["f_assoc"]) == (20, 4.0)


def test_squeue_and_scontrol_have_the_same_number(example):
    c, job = example
    assert c.run("squeue", "-h", "-j", job, "-o", "%Q").stdout.strip() == "15664"
    assert c.job(job)["Priority"] == "15664"


def test_weights_are_those_of_slurm_conf(example):
    c, _ = example
    header, weights = c.run("sprio", "-w").stdout.splitlines()[:2]
    shown = dict(zip(header.split()[-4:], weights.split()[-4:]))
    assert shown == {"AGE": "1", "ASSOC": "800", "FAIRSHARE": "500", "JOBSIZE": "16"}
