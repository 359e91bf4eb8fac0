"""The section backfill of the policy file, changed while slurmctld runs, beside another priority plugin."""
import os

import pytest

from gate import gate_cluster, wait_booked

pytestmark = pytest.mark.every_slurm


def rules(depth):
    return {"version": 1, "backfill": {"depth": depth}}


@pytest.fixture
def cluster():
    with gate_cluster(nodes=1, policy=rules(1), conf={"PriorityParameters": "ccr_calc_seconds=2"}) as c:
        c.wait_state(c.sbatch("sleep 9999", exclusive=True, time=60))
        for _ in range(3):
            c.sbatch("true", gres="gpu:4", time=30)
        yield c
        assert not c.log_grep("decides alone")


def booked(c):
    return sum("booked for" in j["reason"] for j in c.squeue("-t", "PD"))


def has(c, n):
    c.wait_for(lambda: booked(c) == n, what=lambda: f"{n} bookings, not {booked(c)}")


def test_a_change_of_the_file_counts_without_a_reconfigure(cluster):
    c = cluster
    has(c, 1)
    c.write_policy(rules(2))
    has(c, 2)
    c.write_policy({"version": 1, "backfill": {"enabled": False}})
    c.wait_for(lambda: c.log_grep("the policy switches the gate off"), what="it to be off")
    c.write_policy(rules(3))  # it is watched for while it is off
    c.sbatch("true", gres="gpu:4", time=30)
    has(c, 3)


@pytest.mark.parametrize("wrong", ['{"version": 1, "backfill": {"depth": -1}}', None], ids=["bad", "gone"])
def test_a_bad_file_and_none_change_nothing_over_a_restart_too(cluster, wrong):
    c = cluster
    has(c, 1)
    kept = f"{c.root}/state/ccr_policy.json"
    c.wait_for(lambda: os.path.exists(kept), what="the accepted rules to be kept")
    if wrong:
        c.write_policy(wrong)
        said = "ccr.json:1: backfill.depth: found -1"
    else:
        os.unlink(c.policy_path)
        c.reconfigure()
        said = "cannot be read .* the rules that were in force stay"
    c.wait_for(lambda: c.log_grep(said), what=said)
    assert len(c.log_grep(said)) == 1  # and not each time that it is looked at
    c.stop_slurmctld()
    c.start_slurmctld()
    assert c.log_grep("slurm-ccr.: running on with the last accepted policy")
    for job in c.squeue("-t", "PD")[:1]:
        wait_booked(c, job["job"])
    has(c, 1)
    c.write_policy(rules(2))
    has(c, 2)


def test_that_there_is_no_policy_is_said_once():
    """And one that is there and wrong is not said to be missing."""
    with gate_cluster(nodes=1, cpus=2, gpus=None) as c:
        c.reconfigure()
        c.reconfigure()
        # since 23.11 each reconfigure is a new slurmctld
        assert len(c.log_grep("no policy in .*: the rules are the defaults")) == (1 if c.version < (23, 11) else 3)
        c.stop_slurmctld()
        with open(c.policy_path, "w") as out:
            out.write("{")
        c.start_slurmctld()
        assert len(c.log_grep("no valid policy in .*: the rules are the defaults")) == 1
