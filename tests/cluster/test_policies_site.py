"""Direct financial support from contributions, and a site's own formulas, on running daemons."""
import re
import time

import pytest

from ccrcluster import Nodes
from policies import ccr_cluster, row, rows, seed

YEAR = time.localtime().tm_year
PARTS = {"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN PriorityJobFactor=7"}
SUPPORT = {"version": 1, "preset": "ccr", "base": 0, "tiers": {"partner": 2.0},
           "financial": {"decanal": 0.5, "pi_fundable": 0.25,
                         "pi_submissions": [{"from": 1, "points": 0.25}, {"from": 5, "points": 0.5}],
                         "dollars": [{"from": 25000, "points": 0.5}, {"from": 100000, "points": 2.0}]},
           "groups": {
               # 0.5 + 0.5 + 2 x 0.25 + the average of 60,000, 120,000 and 150,000
               "chem": {"contributions": {"decanal": True, "pi_submissions": 6, "pi_fundable": 2,
                                          "dollars": {str(YEAR - 3): 60000, str(YEAR - 2): 120000,
                                                      str(YEAR - 1): 150000}}},
               # 200,000 in one of three full years, and what this year brings does not count yet
               "geo": {"contributions": {"dollars": {str(YEAR - 2): 200000, str(YEAR): 900000}}},
               # too long ago
               "math": {"contributions": {"dollars": {str(YEAR - 4): 900000}, "pi_submissions": 4}},
               "art": {"tier": "partner"}, "law": {"financial": 4.0}, "none": {"target": 5}}}
FACTORS = {"chem": 0.5 + 0.5 + 0.5 + 2.0, "geo": 0.5, "math": 0.25, "art": 2.0, "law": 4.0, "none": 0}
# R54: as a site has it, with its two constants.
FORMULA = {"version": 1, "base": 0, "constants": {"paws": 3, "bias": 11},
           "job_sort_formula":
               "queue_priority + (0.005*ncpus) + (0.000277778*eligible_time) + paws + bias"}


@pytest.fixture(scope="module")
def session():
    c = ccr_cluster("ccr", policy=SUPPORT, partitions=PARTS, nodes=[Nodes(count=1, cpus=400, mem=100000)])
    seed(c, [])
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    yield session
    session.clear()


def pend(c, **more):
    return c.sbatch("true", user="games", partition="off", **more)


def put(c, policy):
    c.write_policy(policy)
    c.reconfigure()


def test_the_factor_of_each_group_from_what_it_gave(cluster):
    c = cluster
    put(c, SUPPORT)
    jobs = {account: pend(c, account=account) for account in FACTORS}
    got = c.wait_for(lambda: len(rows(c, *jobs.values())) == len(jobs) and rows(c, *jobs.values()))
    assert {account: got[job]["f_assoc"] for account, job in jobs.items()} == FACTORS
    assert {account: got[job]["assoc"] for account, job in jobs.items()} == {
        account: 800 * factor for account, factor in FACTORS.items()}
    # What is missing is said.
    assert c.log_grep(rf"warning: .*{YEAR - 1}|warning: .*year")


def test_r54_a_formula_survives_reload_and_restart_and_a_bad_one_does_not_get_in(cluster):
    c = cluster
    put(c, FORMULA)
    job = pend(c, cpus_per_task=400)

    def shows(points):
        c.wait_for(lambda: row(c, job)["jobsize"] == points, what=f"{points} points")
    shows(16 * (7 + 2 + 3 + 11))
    bad = {**FORMULA, "job_sort_formula": FORMULA["job_sort_formula"].replace("ncpus", "ncpsu")}
    put(c, bad)
    c.wait_for(lambda: c.log_grep("ncpsu.*ncpus"), what="the name that was meant")
    other = pend(c, cpus_per_task=200)
    c.wait_for(lambda: row(c, other)["jobsize"] == 16 * 22, what="a new job by the old formula")
    c.restart_slurmctld()
    shows(16 * (7 + 2 + 3 + 11))
    put(c, {**FORMULA, "constants": {"paws": 3, "bias": 12}})
    shows(16 * (7 + 2 + 3 + 12))
    c.restart_slurmctld()
    shows(16 * (7 + 2 + 3 + 12))


@pytest.mark.parametrize("expression, says", [
    ("pow(nodes)", "few arguments"), ("max()", "few arguments"),
    ("log(nodes, 2)", "many arguments"), ("nodes +", "end"),
    ("nodes = 3", "="), ("sqrt(nods)", "nodes"), ('"text"', "")])
def test_what_cannot_be_evaluated_is_refused_with_its_place(cluster, expression, says):
    c = cluster
    put(c, FORMULA)
    before = len(c.log_grep(r"ccr.json:\d+: policy.age"))
    c.write_policy({**FORMULA, "policy": {"age": expression}})
    c.reconfigure()
    lines = c.wait_for(lambda: c.log_grep(r"ccr.json:\d+: policy.age")[before:], what="the message")
    assert says.lower() in lines[0].lower(), lines[0]


def test_faults_are_counted_once_a_period_and_count_zero(cluster):
    c = cluster
    put(c, {"version": 1, "base": 100, "policy": {"jobsize": "10 / (nodes - 1)",
                                                  "age": "log(0 - ncpus)", "assoc": "ncpus"}})
    for _ in range(3):
        job = pend(c)
    got = c.wait_for(lambda: row(c, job)["assoc"] == 800 and row(c, job), what="the policy")
    assert (got["jobsize"], got["age"], got["priority"]) == (0, 0, 900)

    def said(column):
        return c.log_grep(rf"policy.{column} had no finite value for 3 jobs")
    c.wait_for(lambda: len(said("jobsize")) >= 3, what="three periods")
    stamps = [re.match(r"\[(\S+?)\.", line)[1] for line in said("jobsize")]
    assert len(stamps) == len(set(stamps)), "more than one message a period (1 s)"
    assert abs(len(said("age")) - len(stamps)) <= 1
    assert not c.log_grep("policy.assoc had no finite value")
    assert c.alive("slurmctld")


def test_the_new_year_moves_the_average_of_an_untouched_file():
    midnight = time.mktime((YEAR + 1, 1, 1, 0, 0, 0, 0, 0, -1))
    ahead = int(midnight - time.time()) - 30  # half a minute for the start
    c = ccr_cluster("ccr", policy=SUPPORT, partitions=PARTS, nodes=1, clock=f"+{ahead}s")
    seed(c, [])
    try:
        c.start()
        job = pend(c, account="geo")
        if time.time() + ahead < midnight - 2:
            assert row(c, job)["f_assoc"] == 0.5  # 200,000 in three years
        c.wait_for(lambda: row(c, job)["f_assoc"] == 2.0, timeout=60, what="1,100,000 in three years")
        assert c.log_grep(f"warning: .*{YEAR - 1} is not given and counts 0")
    finally:
        c.stop()
