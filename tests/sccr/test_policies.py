"""What sccr check and sccr usage say of policies other than CCR's; no cluster is needed."""
import json
import math

import pytest

LEDGER = {"version": 1, "usage": [{"account": "physics", "user": "ada", "billed_s": 3600},
                                  {"account": "biology", "user": "eve", "billed_s": 1200}]}


@pytest.fixture
def files(tmp_path):
    """files(POLICY, DATABASE): the paths of the policy, a slurm.conf and a ledger."""
    def write(policy, database=False):
        paths = [tmp_path / name for name in ("ccr.json", "slurm.conf", "ledger.json")]
        paths[0].write_text(json.dumps({"version": 1, **policy}))
        paths[1].write_text("ClusterName=c\nSlurmctldHost=localhost\nPriorityWeightFairshare=1000\n"
                            + ("AccountingStorageType=accounting_storage/slurmdbd\n" if database else ""))
        paths[2].write_text(json.dumps(LEDGER))
        return paths
    return write


GROUPS = {"groups": {"physics": {"target": 25, "shares": 3}, "biology": {}}}


@pytest.mark.parametrize("database", [False, True])
def test_check_prints_shares_where_the_policy_goes_by_them(sccr, files, database):
    policy, conf, _ = files({"preset": "aqua", **GROUPS}, database)
    r = sccr("check", "--slurm-conf", conf, policy)
    assert r.returncode == 0
    assert "shares 3 of 4: fairshare_factor is 2^-(usage / 75 %)\n" in r.stdout
    assert "shares 1 of 4 (as none are given): fairshare_factor is 2^-(usage / 25 %)\n" in r.stdout
    assert "target 25 %\n" in r.stdout and "points for usage" not in r.stdout
    assert "its fairshare term is 0" not in r.stdout and "no target" not in r.stdout
    assert "default_group: not given, but groups have shares" in r.stderr
    policy, conf, _ = files({"preset": "aqua", "default_group": "biology", **GROUPS}, database)
    assert sccr("check", "--slurm-conf", conf, policy).stderr == ""


def test_check_says_by_what_the_factor_goes_without_shares(sccr, files):
    without = {"preset": "aqua", "groups": {"physics": {"target": 25}, "biology": {}}}
    policy, conf, _ = files(without)
    text = sccr("check", "--slurm-conf", conf, policy).stdout
    assert "no shares: fairshare_factor is 2^-(usage / the target)\n" in text
    assert "no shares: fairshare_factor is 1 for all\n" in text and "its fairshare_factor is 1." in text
    policy, conf, _ = files(without, True)
    text = sccr("check", "--slurm-conf", conf, policy).stdout
    assert text.count("no shares: fairshare_factor goes by each user's shares in sacctmgr\n") == 2


def test_check_says_nothing_of_shares_or_lsf_where_the_policy_has_neither(sccr, files):
    policy, conf, _ = files({"preset": "ccr", **GROUPS})
    text = sccr("check", "--slurm-conf", conf, policy).stdout
    assert "shares" not in text and "lsf" not in text
    assert "target 25 %, points for usage below it, and off for usage above it\n" in text


def test_check_prints_the_numbers_of_lsf(sccr, files):
    policy, conf, _ = files({"preset": "lsf", "lsf": {
        "constant": 2, "run_time_factor": 0.5, "cpu_time_factor": 0.25, "run_job_factor": 4, "hist_hours": 7,
        "user_shares": {"default": 2, "ada": 5, "eve": 0.5}, "array_tasks": 30}})
    text = sccr("check", "--slurm-conf", conf, policy).stdout
    for words in ("constant 2\n", "run_time_factor 0.5 x", "cpu_time_factor 0.25 x", "run_job_factor 4 x",
                  "user_shares 2, but for ada 5, eve 0.5\n", "hist_hours 7:", "array_tasks 30:"):
        assert words in text, text
    policy, conf, _ = files({"preset": "lsf", "usage": {"model": "halflife"}, "lsf": {"array_tasks": 0}})
    text = sccr("check", "--slurm-conf", conf, policy).stdout
    for words in ("user_shares 1 of every user\n", "hist_hours is not in force", "array_tasks 0:"):
        assert words in text, text


def points(sccr, paths):
    """(of each group by JSON, the text)."""
    policy, conf, ledger = paths
    words = ["usage", "--policy", policy, "--slurm-conf", conf, "--ledger", ledger]
    groups = json.loads(sccr(*words, "--json").stdout)["groups"]
    return {g["group"]: g["points"] for g in groups}, sccr(*words).stdout


def factor(usage, share):
    return 2 ** -(usage / share)


@pytest.mark.parametrize("policy, physics, biology", [
    ({"preset": "ccr", **GROUPS}, 1000 * (25 - 75), 0),
    ({"policy": {"fairshare": "fairshare_factor"}, **GROUPS}, 1000 * factor(75, 75), 1000 * factor(25, 25)),
    ({"policy": {"fairshare": "fairshare_factor"}, "groups": {"physics": {"target": 25}, "biology": {}}},
     1000 * factor(75, 25), 1000),
    ({"policy": {"fairshare": "target - usage / 2 + k"}, "constants": {"k": 3}, **GROUPS}, 1000 * -9.5, 1000 * -9.5),
    ({"preset": "aqua", **GROUPS}, 1000 * (24 + 4 * math.log(0.5)), 1000 * (24 + 4 * math.log(0.5)))])
def test_usage_has_the_points_of_the_policy(sccr, files, policy, physics, biology):
    got, text = points(sccr, files(policy))
    assert got == {"physics": pytest.approx(physics, abs=0.5), "biology": pytest.approx(biology, abs=0.5)}
    row = next(line for line in text.splitlines() if line.startswith("physics")).replace("*", "").split()
    assert float(row[4]) == got["physics"] and "POINTS" not in text.split("\n", 3)[3]


@pytest.mark.parametrize("policy, why", [
    ({"preset": "lsf"}, "FAIRSHARE reads lsf_priority"),
    ({"policy": {"fairshare": "fs_delta * nodes"}}, "FAIRSHARE reads nodes"),
    ({"preset": "aqua", "job_sort_formula": "fairshare_factor"}, "nothing in FAIRSHARE")])
def test_usage_says_why_a_group_has_no_points(sccr, files, policy, why):
    got, text = points(sccr, files({**policy, **GROUPS}))
    assert got == {"physics": None, "biology": None} and why in text
    row = next(line for line in text.splitlines() if line.startswith("physics")).replace("*", "").split()
    assert row[4] == "-"
