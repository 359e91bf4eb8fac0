"""The policy file on a running slurmctld: reload, refusal, restart with a bad file, permissions."""
import os

import pytest

from ccrcluster import Cluster, ClusterError

CONF = {"PriorityWeightJobSize": 1, "PriorityParameters": "ccr_calc_seconds=1"}
# With a reconfigure slurmctld reads on, or (from 23.11) starts anew.
REFUSED = "is refused, the policy in force stays|running on with the last accepted policy"
PARTS = {"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN"}


def policy(weight, **more):
    return {"version": 1, "base": 0, "policy": {"jobsize": f"nodes * {weight}"}, **more}


@pytest.fixture
def cluster():
    c = Cluster(nodes=2, priority_type="priority/ccr", plugins=["priority"], policy=policy(100),
                conf=CONF, partitions=PARTS)
    c.start()
    yield c
    c.stop()


def job(c):
    return c.sbatch("true", partition="off", user="games")


def priority(c, j):
    return int(c.job(j)["Priority"])


def refused(c, pattern, times=1):
    return c.wait_for(lambda: len(c.log_grep(pattern)) >= times, 15, what=f"{pattern!r} in the log")


def test_reload_refusal_and_restart(cluster):
    c = cluster
    j = job(c)
    assert priority(c, j) == 100
    # a new file is taken at the start of a period, without a command
    c.write_policy(policy(200))
    c.wait_for(lambda: priority(c, j) == 200, what="the new policy")
    # ... and at once with scontrol reconfigure
    c.write_policy(policy(300))
    c.reconfigure()
    c.wait_for(lambda: priority(c, j) == 300, what="the new policy")
    # a bad one is refused with file, line, field, what was found and what was expected
    c.write_policy('{\n "version": 1,\n "policy": {"jobsize": "nodez * 400"}\n}\n')
    c.reconfigure()
    refused(c, r"error: priority/ccr: .*/etc/ccr.json:3: policy.jobsize: found the unknown "
               r"variable 'nodez' at character 1, expected .*did you mean 'nodes'")
    refused(c, REFUSED)
    refused(c, "still running on the last accepted policy", 2)  # every period
    assert priority(c, j) == 300 and priority(c, job(c)) == 300
    # a restart with the bad file runs on with the accepted one, and says so every period
    c.restart_slurmctld()
    refused(c, "running on with the last accepted policy")
    assert priority(c, j) == 300 and priority(c, job(c)) == 300
    before = len(c.log_grep("still running on the last accepted policy"))
    refused(c, "still running on the last accepted policy", before + 2)
    # a good one ends that
    c.write_policy(policy(500))
    c.wait_for(lambda: priority(c, j) == 500, what="the good policy")
    assert c.alive("slurmctld")


def test_kill_9_keeps_the_accepted_policy(cluster):
    c = cluster
    j = job(c)
    c.write_policy(policy(700))
    c.wait_for(lambda: priority(c, j) == 700, what="the new policy")
    c.wait_saved(j)
    c.kill9_slurmctld()
    os.unlink(c.policy_path)
    c.start_slurmctld()
    assert priority(c, job(c)) == 700


def test_without_any_good_policy_slurmctld_does_not_start(cluster):
    c = cluster
    c.stop_slurmctld()
    os.unlink(f"{c.root}/state/ccr_policy.json")
    c.write_policy('{"version": 1, "policy": {"jobsize": ')
    with pytest.raises(ClusterError):
        c.start_slurmctld()
    assert refused(c, "ccr.json:1: .*")
    assert refused(c, "there is no policy to start with")
    c.write_policy(policy(100))
    c.start_slurmctld()


def test_a_file_that_others_can_write_is_refused(cluster):
    c = cluster
    j = job(c)
    c.write_policy(policy(900), mode=0o666)
    c.reconfigure()
    refused(c, r"ccr.json: .*writ")
    assert priority(c, j) == 100
    os.chmod(c.policy_path, 0o644)
    c.wait_for(lambda: priority(c, j) == 900, what="the same file, now safe")


def test_a_value_that_is_no_number_counts_zero_and_is_logged(cluster):
    c = cluster
    c.write_policy({"version": 1, "base": 5, "policy": {"jobsize": "1 / (nodes - 1)"}})
    c.reconfigure()
    j = job(c)
    c.wait_for(lambda: priority(c, j) == 5, what="a zero in place of infinity")
    refused(c, "policy.jobsize had no finite value for 1 jobs, which count 0 there")
    assert c.alive("slurmctld")


def test_factors_that_are_none_without_a_database_are_named(cluster):
    cluster.write_policy({"version": 1, "preset": "multifactor"})
    for factor in ("age_factor", "assoc_factor", "fs_factor"):
        refused(cluster, f"warning: without slurmdbd {factor} is 0 for every job")
    assert not cluster.log_grep("without slurmdbd size_factor")


def test_options_that_are_wrong_are_told(cluster):
    c = cluster
    for value, said in (("ccr_calc_seconds=1x", 'ccr_calc_seconds: found "1x", expected whole'),
                        ("ccr_calc_seconds=0", 'ccr_calc_seconds: found "0", expected whole'),
                        ("other=1,ccr_calc_secs=3", "there is no option ccr_calc_secs")):
        c.conf["PriorityParameters"] = value
        c.write_conf()
        c.reconfigure()
        refused(c, f"error: priority/ccr: PriorityParameters: {said}")
    assert not c.log_grep("no option other")


def scored(c):
    """How many cycles have scored all jobs."""
    return len(c.log_grep("jobs scored anew"))


def test_scores_that_a_priority_cannot_hold_are_told_once(cluster):
    c = cluster
    c.conf["SlurmctldDebug"] = "debug"  # a line a cycle
    c.write_conf()
    c.restart_slurmctld()
    jobs = [job(c) for _ in range(3)] + [c.sbatch("true", partition="off", nodes=2)]
    above = r"error: priority/ccr: 3 of 4 jobs score above 4294967295, .* tie there: lower"
    below = r"warning: 1 of 4 jobs score below 1 and tie there: raise the policy's base"
    c.write_policy(policy("5e9 - 2e10 * (nodes == 2)"))
    refused(c, above)
    refused(c, below)
    assert [priority(c, j) for j in jobs] == [4294967295] * 3 + [1]
    before = scored(c)
    c.wait_for(lambda: scored(c) >= before + 3, what="three cycles more", daemon="slurmctld")
    assert len(c.log_grep(above)) == len(c.log_grep(below)) == 1  # again after an hour
    # nothing is said of a sum that fits; and once more when it does not again
    c.write_policy(policy(100))
    c.wait_for(lambda: priority(c, jobs[3]) == 200, what="the better policy")
    assert len(c.log_grep("tie there")) == 2
    c.write_policy(policy("5e9 - 2e10 * (nodes == 2)"))
    refused(c, above, 2)
    refused(c, below, 2)


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", '{"version": 2}', "\xff\xfe", '{"version": 1, "preset": "maui"}',
    '{"version": 1, "preset": "ccr", "groups": {"a": {"target": 101}}}',
    '{"version": 1, "preset": "ccr", "groups": {"a": {"target": NaN}}}',
    '{"version": 1, "preset": "ccr", "groups": {"a": {"target": 60}, "b": {"target": 60}}}',
    '{"version": 1, "preset": "ccr", "groups": {"a": {"tier": "gold"}}}',
    '{"version": 1, "preset": "ccr", "base": 1, "base": 2}',
    '{"version": 1, "policy": {"jobsize": "nodes = 3"}}',
    '{"version": 1, "preset": "ccr", "pad": "' + "x" * (50 << 20) + '"}',
], ids=lambda t: repr(t[:40]))
def test_no_bad_file_hurts_slurmctld(bad_file_cluster, text):
    c = bad_file_cluster
    j = job(c)
    before = len(c.log_grep(REFUSED))
    c.write_policy(text)
    c.reconfigure()
    refused(c, REFUSED, before + 1)
    assert priority(c, j) == 100 and c.alive("slurmctld")
    c.write_policy(policy(100))


@pytest.fixture(scope="module")
def bad_file_cluster():
    c = Cluster(nodes=1, priority_type="priority/ccr", plugins=["priority"], policy=policy(100),
                conf={**CONF, "PriorityParameters": None}, partitions=PARTS)
    c.start()
    yield c
    c.stop()
