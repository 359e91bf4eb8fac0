"""PBS's job_sort_formula on running daemons, with the numbers of Aqua's page. No database."""
import json
import math

import pytest

from ccrcluster import Nodes
from policies import ccr_cluster, example, row, rows, seed

PARTS = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
         "off": "Nodes=ALL MaxTime=INFINITE State=DOWN"}
# Each user is a group of its own: share 1/4 and 3/4.
POLICY = {"version": 1, "preset": "aqua",
          "groups": {"g": {"shares": 1, "users": ["games"]}, "m": {"shares": 3, "users": ["man"]}}}


@pytest.fixture(scope="module")
def session():
    c = ccr_cluster("aqua", policy=POLICY, partitions=PARTS,
                    nodes=[Nodes(count=2, cpus=64, gpus="h100:4", mem=1024 * 1024)])
    use(c, games=25e9, man=75e9)
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    session.write_policy(POLICY)
    session.reconfigure()
    yield session
    session.clear()


def use(c, **billed):
    seed(c, [{"user": user, "account": "", "billed_s": s} for user, s in billed.items()])


def reuse(c, **billed):
    c.stop_slurmctld()
    use(c, **billed)
    c.start_slurmctld()


def pend(c, user, ncpus, ngpus, gb, **more):
    return c.sbatch("true", user=user, partition="off", ntasks=1, cpus_per_task=ncpus,
                    gres=f"gpu:{ngpus}" if ngpus else None, mem=f"{gb}G", **more)


def score(f, ncpus, ngpus, gb, eligible_s=0):
    """The page's formula, its terms in Slurm's columns."""
    size = gb / 8 + ncpus + 32 * ngpus
    return {"jobsize": 6 * f * size, "age": 0.000278 * eligible_s,
            "fairshare": 48 * f + 4 * math.log(max(f, 1e-7))}


def test_the_price_list(cluster):
    """1 GPU = 32 cores = 256 GB; 12 cores, 1 GPU and 64 GB are 52 points of size."""
    c = cluster
    reuse(c, lp=1)  # games and man have used nothing: f = 1, a point of size counts 6
    jobs = {pend(c, "games", 12, 1, 64): 52, pend(c, "games", 1, 1, 1): 32 + 1 + 1 / 8,
            pend(c, "games", 32, 0, 8): 33, pend(c, "games", 1, 0, 256): 33}
    got = c.wait_for(lambda: len(rows(c, *jobs)) == len(jobs) and rows(c, *jobs), what="rows")
    for job, size in jobs.items():
        assert got[job]["f_jobsize"] == pytest.approx(6 * size)
        assert got[job]["jobsize"] == pytest.approx(6000 * size)
        assert got[job]["f_fairshare"] == 48 and got[job]["age"] < 100  # it has waited for seconds


@pytest.mark.parametrize("games, man, f", [(25e9, 75e9, 0.5), (50e9, 50e9, 0.25), (0.0001, 75e9, 1),
                                           (99.9e9, 0.1e9, 2 ** -3.996)])
def test_the_factor_is_the_users(cluster, games, man, f):
    """Usage equal to share gives 0.5, twice the share 0.25, almost nothing close to 1."""
    c = cluster
    reuse(c, games=games, man=man)
    first, second = pend(c, "games", 12, 1, 64), pend(c, "games", 4, 0, 8)
    got = c.wait_for(lambda: len(rows(c, first, second)) == 2 and rows(c, first, second))
    for job, request in ((first, (12, 1, 64)), (second, (4, 0, 8))):
        want = score(f, *request)
        for column, value in want.items():
            assert got[job]["f_" + column] == pytest.approx(value, rel=1e-3, abs=1e-3), column
        assert got[job]["priority"] == pytest.approx(1_000_000 + 1000 * sum(want.values()), rel=1e-4)


def test_the_order_is_the_formulas(cluster):
    c = cluster
    reuse(c, games=50e9, man=50e9)
    factor = {"games": 0.25, "man": 2 ** (-2 / 3), "lp": 1}
    asked = [("games", 12, 1, 64), ("games", 64, 4, 256), ("man", 12, 1, 64), ("man", 1, 0, 1),
             ("lp", 1, 0, 1), ("lp", 2, 0, 8), ("man", 16, 1, 128), ("games", 1, 0, 1),
             ("man", 32, 0, 512), ("lp", 8, 0, 1)]
    jobs = {pend(c, u, n, g, gb): sum(score(factor[u], n, g, gb).values())
            for u, n, g, gb in asked}
    c.wait_for(lambda: len(rows(c, *jobs)) == len(jobs), what="rows")
    want = sorted(jobs, key=lambda job: -jobs[job])
    c.wait_for(lambda: [int(j["job"]) for j in c.squeue("--sort=-p,i")] == want,
               what=f"the formula's order {want}")


def test_a_formula_as_qmgr_prints_it(cluster):
    c = cluster
    reuse(c, games=25e9, man=75e9)
    job = pend(c, "games", 12, 1, 64)
    by_columns = row(c, job)["priority"]
    formula = example("aqua-formula")
    assert "4 * log(max(fairshare_factor, 1e-7))" in formula["job_sort_formula"]
    c.write_policy({**formula, "groups": POLICY["groups"]})
    c.reconfigure()
    whole = c.wait_for(lambda: row(c, job)["fairshare"] == 0 and row(c, job), what="one column")
    assert abs(whole["priority"] - by_columns) <= 2  # rounded once instead of three times
    assert whole["jobsize"] == whole["priority"] - 1_000_000


def test_an_hour_of_eligible_time_is_a_point(cluster):
    """An hour in the queue, blocked by resources: AGE 1.0008, the page's 0.000278 a second."""
    c = cluster
    blockers = [c.sbatch("sleep 600", user="root", exclusive=True) for _ in range(2)]
    c.wait_for(lambda: set(c.states(*blockers)) == {"RUNNING"})
    job = c.sbatch("true", user="games", cpus_per_task=64)
    c.wait_for(lambda: row(c, job)["age"] >= 1, what="some eligible time")
    c.stop_slurmctld()
    path = f"{c.root}/state/ccr_eligible.json"
    with open(path) as text:
        state = json.load(text)
    for entry in state["jobs"]:
        if entry[0] == job:
            entry[1] += 3600
    with open(path, "w") as out:
        json.dump(state, out)
    c.start_slurmctld()
    got = c.wait_for(lambda: row(c, job)["age"] > 900 and row(c, job), what="the hour")
    assert 1000.8 <= got["age"] <= 1020 and got["f_age"] == pytest.approx(got["age"] / 1000, abs=0.001)


def test_two_jobs_together_keep_their_difference(cluster):
    """Every queued job earns the same an hour: a fair-share deficit is not waited out."""
    c = cluster
    reuse(c, games=50e9, man=50e9)
    blockers = [c.sbatch("sleep 600", user="root", exclusive=True) for _ in range(2)]
    c.wait_for(lambda: set(c.states(*blockers)) == {"RUNNING"})
    one, two = (c.sbatch("true", user=user, cpus_per_task=64) for user in ("games", "man"))

    def read(age):
        got = rows(c, one, two)
        return len(got) == 2 and min(r["age"] for r in got.values()) >= age and got
    first = c.wait_for(lambda: read(1), what="some eligible time")
    later = c.wait_for(lambda: read(first[one]["age"] + 1), what="more eligible time")
    gap = [r[two]["priority"] - r[one]["priority"] for r in (first, later)]
    assert gap[0] > 30_000 and abs(gap[1] - gap[0]) <= 2
