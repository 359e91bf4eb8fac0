"""priority/ccr on running daemons, no database: groups, order, partitions, hold, nice, direct priority."""
import json

import pytest

from ccrcluster import Cluster, Nodes

POLICY = {"version": 1, "preset": "ccr", "tiers": {"gold": 4, "none": 0},
          "default_group": "rest",
          "groups": {"a": {"target": 40, "tier": "gold"}, "b": {"target": 10, "tier": "none"},
                     "ceil": {"target": "10-"}, "floor": {"target": "10+"}, "cap": {"target": "10%"},
                     "rest": {"target": 20}}}
CONF = {"PriorityWeightAge": 1, "PriorityWeightFairshare": 500, "PriorityWeightJobSize": 16,
        "PriorityWeightAssoc": 800, "PriorityWeightPartition": 1000,
        "PriorityParameters": "ccr_calc_seconds=1"}
PARTS = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityJobFactor=10",
         "q": "Nodes=ALL MaxTime=INFINITE State=UP PriorityJobFactor=20",
         "off": "Nodes=ALL MaxTime=INFINITE State=DOWN"}


def seed(cluster, **billed):
    with open(f"{cluster.root}/state/ccr_usage.json", "w") as out:
        json.dump({"version": 1, "usage": [{"account": a, "user": "root", "billed_s": s}
                                           for a, s in billed.items()]}, out)


@pytest.fixture(scope="module")
def session():
    c = Cluster(nodes=[Nodes(count=2, cpus=4, gpus="a100:2")], priority_type="priority/ccr",
                plugins=["priority"], policy=POLICY, conf=CONF, partitions=PARTS)
    # a has used nothing, b most of it
    seed(c, b=90e9, ceil=3e9, floor=3e9, cap=3e9, z=1e9)
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    session.write_policy(POLICY)
    session.reconfigure()
    yield session
    session.clear()


def pend(c, account, user="games", **options):
    """A job that stays pending: its partition is down."""
    options.setdefault("partition", "off")
    return c.sbatch("true", user=user, account=account, **options)


def rows(c, *jobs):
    """The first row of each job, in order, once all are listed with an up to date score."""
    def found():
        got = {}
        for row in c.sprio():
            got.setdefault(row["job"], row)
        return [got[str(j)] for j in jobs] if all(str(j) in got for j in jobs) else None
    return c.wait_for(found, what=f"sprio of {jobs}")


def columns(row):
    return sum(row[k] for k in ("site", "age", "assoc", "fairshare", "jobsize", "part", "qos"))


def test_r42_two_users_of_a_group_share_the_term(cluster):
    one = pend(cluster, "a", user="games")
    two = pend(cluster, "a", user="man")
    first, second = rows(cluster, one, two)
    assert first["fairshare"] == second["fairshare"] == 500 * 40


def test_r43_the_group_that_used_less_goes_first(cluster):
    over, under = pend(cluster, "b"), pend(cluster, "a")
    b, a = rows(cluster, over, under)
    assert b["fairshare"] == 500 * (10 - 90) and a["fairshare"] == 500 * 40
    assert a["priority"] > b["priority"]
    assert [j["job"] for j in cluster.squeue("--sort=-p")] == [str(under), str(over)]


def test_r44_an_account_without_a_group_has_the_default_target(cluster):
    z, nobody = rows(cluster, pend(cluster, "z"), pend(cluster, "never-seen"))
    assert z["fairshare"] == nobody["fairshare"] == 500 * (20 - 1)
    policy = {k: v for k, v in POLICY.items() if k != "default_group"}
    cluster.write_policy(policy)
    cluster.reconfigure()
    job = pend(cluster, "never-seen")
    cluster.wait_for(lambda: rows(cluster, job)[0]["fairshare"] == 0, what="no term without a group")


def test_maui_suffixes(cluster):
    ceil, floor, cap = (pend(cluster, a) for a in ("ceil", "floor", "cap"))
    c, f, k = rows(cluster, ceil, floor, cap)
    assert (c["fairshare"], f["fairshare"], k["fairshare"]) == (0, 500 * 7, 0)


def test_r47_negative_scores_keep_their_order(cluster):
    nice = [pend(cluster, "b", nice=n) for n in (0, 1, 100000)]
    got = [r["priority"] for r in rows(cluster, *nice)]
    assert got[0] == got[1] + 1 == got[2] + 100000
    assert got[0] < 1_000_000  # below the base: the score itself is negative
    assert all(r["site"] == 1_000_000 for r in rows(cluster, *nice))


def test_r46_an_over_target_group_starts_on_an_idle_cluster(cluster):
    job = cluster.sbatch("sleep 30", user="games", account="b")
    cluster.wait_state(job)


def test_sums_are_squeues_number(cluster):
    jobs = [pend(cluster, a, nodes=n, nice=k) for a, n, k in
            (("a", 1, 0), ("b", 2, 7), ("ceil", 1, -5), ("z", 2, 300))]
    def agree():
        shown = {j["job"]: int(j["priority"]) for j in cluster.squeue()}
        return all(columns(r) - r["nice"] == r["priority"] == shown[r["job"]]
                   for r in rows(cluster, *jobs))
    cluster.wait_for(agree, timeout=10, what="sprio and squeue to agree")


def test_r55_a_line_for_each_partition(cluster):
    blocker = cluster.sbatch("sleep 60", user="man", account="z", nodes=2, exclusive=True)
    cluster.wait_state(blocker)
    job = cluster.sbatch("true", user="games", account="a", partition="p,q")
    cluster.wait_for(lambda: len([r for r in cluster.sprio() if r["job"] == str(job)]) == 2,
                     what="two lines")
    by = {r["partition"]: r for r in cluster.sprio() if r["job"] == str(job)}
    assert by["q"]["part"] == 1000 and by["p"]["part"] == 500
    assert by["q"]["priority"] == by["p"]["priority"] + 500
    for row in by.values():
        assert columns(row) == row["priority"]


def test_r56_hold_and_release_recompute_and_keep_the_minutes(cluster):
    blocker = cluster.sbatch("sleep 60", user="man", account="z", nodes=2, exclusive=True)
    cluster.wait_state(blocker)
    job = cluster.sbatch("true", user="games", account="a")
    cluster.wait_for(lambda: cluster.job(job)["AccrueTime"] != "Unknown", what="accrual")
    before = cluster.job(job)["AccrueTime"]
    cluster.run("scontrol", "hold", job)
    assert cluster.job(job)["Priority"] == "0"
    assert not [r for r in cluster.sprio() if r["job"] == str(job)]
    cluster.run("scontrol", "release", job)
    after = cluster.job(job)
    assert after["AccrueTime"] == before and int(after["Priority"]) > 1_000_000


def test_nice_is_linear_and_takes_effect_at_once(cluster):
    job = pend(cluster, "a")
    was = rows(cluster, job)[0]["priority"]
    cluster.update(JobId=job, Nice=25)
    assert int(cluster.job(job)["Priority"]) in range(was - 25, was - 22)
    row = rows(cluster, job)[0]
    assert row["nice"] == 25


def test_a_priority_set_by_hand_stays(cluster):
    job = pend(cluster, "a")
    cluster.update(JobId=job, Priority=123)
    cluster.reconfigure()
    import time
    time.sleep(2.5)
    assert cluster.job(job)["Priority"] == "123"
    assert rows(cluster, job)[0]["priority"] == 123


def test_scontrol_top(cluster):
    first, second = pend(cluster, "a"), pend(cluster, "a")
    cluster.run("scontrol", "top", second)
    one, two = (int(cluster.job(j)["Priority"]) for j in (first, second))
    assert two > one


def test_arrays_and_hetjobs_are_scored(cluster):
    array = pend(cluster, "a", array="1-3")
    for row in rows(cluster, array):
        assert row["priority"] > 1_000_000
    script = "#!/bin/sh\n#SBATCH -A a -p p --begin=now+1hour\n#SBATCH hetjob\n#SBATCH -A a -p p\ntrue\n"
    het = cluster.sbatch(script, user="games")
    assert all(int(j["Priority"]) > 1_000_000 for j in cluster.jobs(het))


def test_a_score_over_32_bits_is_capped_and_still_adds_up(cluster):
    cluster.write_policy({"version": 1, "base": 2147483647,
                          "policy": {"jobsize": "nodes * 1e12", "age": "0"}})
    cluster.reconfigure()
    job = pend(cluster, "a")
    cluster.wait_for(lambda: int(cluster.job(job)["Priority"]) == 2**32 - 1, what="the cap")
