"""Policies over slurmdbd's accounts: whose fair-share factor it is, QOS usage, limits and eligible time."""
import pytest

from ccrcluster import Cluster, Nodes
from policies import eligible, example, rows, seed, shows, snippet, stopped

pytestmark = pytest.mark.every_slurm

# games is in both accounts: 3/5 x 1/2 + 1/5 x 1/2 of all shares are his; man has 3/10, lp 1/10.
# (The fifth share is that of the user root, directly below the account root.)
ACCOUNTS = {"a": {"Fairshare": 3, "users": {"games": "Fairshare=1", "man": "MaxJobs=1:Fairshare=1"}},
            "sub": {"parent": "a", "users": ["mail"]},
            "b": {"Fairshare": 1, "users": {"lp": "Fairshare=1", "games": "Fairshare=1"}}}
POLICY = {"version": 1, "base": 1000000,
          "policy": {"age": "eligible_time", "fairshare": "fairshare_factor", "assoc": "user_usage",
                     "jobsize": "usage", "qos": "qos_usage"},
          "groups": {"a": {"target": 50}}}
CONF = {"PriorityWeightAge": 1, "PriorityWeightFairshare": 100000, "PriorityWeightAssoc": 1000,
        "PriorityWeightJobSize": 1000, "PriorityWeightQOS": 1000, "PriorityDecayHalfLife": "365-0",
        "PriorityParameters": "ccr_calc_seconds=1",
        "AccountingStorageEnforce": "associations,limits,qos"}


@pytest.fixture(scope="module")
def session():
    c = Cluster(nodes=[Nodes(count=1, cpus=8)], priority_type="priority/ccr", plugins=["priority"],
                policy=POLICY, dbd=True, accounts=ACCOUNTS, conf=CONF,
                partitions={"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN"})
    c.start()
    c.run("sacctmgr", "-i", "add", "qos", "fast")
    c.run("sacctmgr", "-i", "modify", "qos", "normal", "set", "MaxTRESPerUser=cpu=6")
    c.run("sacctmgr", "-i", "modify", "account", "a,b,sub", "set", "qos=normal,fast")
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    session.write_policy(POLICY)
    session.reconfigure()
    yield session
    session.clear()


def pend(c, user, account, **more):
    return c.sbatch("true", user=user, account=account, partition="off", **more)


def test_limits_of_associations_and_qos_accrue_no_eligible_time(cluster):
    c = cluster
    running = c.sbatch("sleep 600", user="man", account="a")
    c.wait_state(running)
    by_assoc = c.sbatch("true", user="man", account="a")
    # There is room for it: the limit alone is in the way.
    by_qos = [c.sbatch("sleep 600", user="games", account="b", cpus_per_task=n) for n in (4, 3)][1]
    reasons = {by_assoc: "AssocMaxJobsLimit", by_qos: "QOSMaxCpuPerUserLimit"}
    for job, reason in reasons.items():
        c.wait_for(lambda: c.job(job)["Reason"] == reason, what=reason)
    kept = {job: stopped(c, job) for job in reasons}
    assert max(kept.values()) <= 15  # from submission to the scheduler's first look
    assert [eligible(c, job) for job in reasons] == list(kept.values())


def test_limits_count_where_the_scheduler_has_not_come(cluster):
    """Behind a job that waits for resources all others wait for Priority, whatever limit they are
    over; after a restart they have no Reason at all."""
    c = cluster
    c.wait_state(c.sbatch("sleep 600", user="games", account="b", ntasks=6))
    c.wait_state(c.sbatch("sleep 600", user="lp", account="b", ntasks=2))
    blocked = c.sbatch("true", user="man", account="a", ntasks=4, nice=-100000)
    c.wait_for(lambda: c.job(blocked)["Reason"] == "Resources", what="a blocked job")
    over = [c.sbatch("true", user="games", account="b", ntasks=n) for n in (1, 2)]
    within = c.sbatch("true", user="lp", account="b", ntasks=2)
    for job in over:
        stopped(c, job)
    c.wait_for(lambda: c.job(over[0])["Reason"] == "Priority", what="the Reason of all others")
    first = c.wait_for(lambda: eligible(c, within), what="eligible time of the others")
    c.wait_saved(within)
    c.restart_slurmctld()
    c.wait_for(lambda: (eligible(c, within) or 0) > first + 2, what="more of it")
    assert max(eligible(c, job) for job in over) <= 15  # the scheduler's first look, and its start


def test_the_factor_belongs_to_the_user_and_goes_by_all_accounts(cluster):
    """Usage from a ledger of known numbers, shares from sacctmgr."""
    c = cluster
    jobs = {u + a: pend(c, u, a) for u, a in (("games", "a"), ("games", "b"), ("man", "a"),
                                              ("lp", "b"), ("mail", "sub"))}
    c.write_policy({**POLICY, "usage": {"source": "ledger"}})
    c.stop_slurmctld()
    seed(c, [{"user": u, "account": a, "qos": q, "billed_s": 1e9 * s} for u, a, q, s in (
        ("games", "a", "normal", 10), ("games", "b", "fast", 30), ("man", "a", "normal", 15),
        ("lp", "b", "normal", 25), ("mail", "sub", "normal", 20))])
    c.start_slurmctld()
    share = {"games": 0.3 * 2 / 3 + 0.1, "man": 0.2, "lp": 0.1, "mail": 0.2}
    # a has two users and the account sub with a share of 1 each: 3/5 x 1/3
    used = {"games": 40, "man": 15, "lp": 25, "mail": 20}
    want = {}
    for name, job in jobs.items():
        user = name.rstrip("ab") if name != "mailsub" else "mail"
        want[job] = {"f_fairshare": 2 ** (-used[user] / 100 / share[user]), "f_assoc": used[user],
                     "f_qos": 70}
    for name in ("gamesa", "mana", "mailsub"):
        want[jobs[name]]["f_jobsize"] = 10 + 15 + 20  # what is below the group's account is its
    shows(c, want)
    fast = pend(c, "lp", "b", qos="fast")
    shows(c, {fast: {"f_qos": 30}})


def test_usage_as_slurm_keeps_it(cluster):
    c = cluster
    c.wait_state(c.sbatch("sleep 3", user="lp", account="b"), "COMPLETED")
    c.run("scancel", *[j["job"] for j in c.squeue()] or ["--name=none"])
    raw = {}

    def settled():
        raw.clear()
        out = c.run("sshare", "-a", "-n", "-P", "-o", "account,user,rawusage").stdout
        for line in out.splitlines():
            account, user, usage = (f.strip() for f in line.split("|"))
            raw[account, user] = int(usage)
        return raw["b", "lp"] > 0
    c.wait_for(settled, what="usage in sshare")
    jobs = {u: pend(c, u, a) for u, a in (("lp", "b"), ("games", "b"), ("man", "a"))}

    def agree():
        settled()
        total = raw["root", ""]
        got = rows(c, *jobs.values())
        return len(got) == 3 and all(
            abs(got[job]["f_assoc"] - 100 * sum(v for (_, u), v in raw.items() if u == user) / total)
            < 200 / total for user, job in jobs.items()) and got  # sshare shows whole seconds
    got = c.wait_for(agree, what=lambda: f"{raw} in {rows(c, *jobs.values())}")
    share = {"games": 0.3, "man": 0.2, "lp": 0.1}
    for user, job in jobs.items():
        assert got[job]["f_fairshare"] == pytest.approx(
            2 ** (-got[job]["f_assoc"] / 100 / share[user]), abs=0.001)
    # everything ran under the QOS normal
    assert got[jobs["lp"]]["f_qos"] == pytest.approx(100, abs=0.5)


def test_shares_of_the_file_go_before_those_of_sacctmgr(cluster):
    c = cluster
    job, other = pend(c, "games", "a"), pend(c, "lp", "b")
    c.write_policy({**POLICY, "usage": {"source": "ledger"},
                    "groups": {"a": {"shares": 3}, "b": {"shares": 1}}})
    c.stop_slurmctld()
    seed(c, [{"user": "x", "account": "a", "billed_s": 75e9}, {"user": "y", "account": "b",
                                                               "billed_s": 25e9}])
    c.start_slurmctld()
    shows(c, {job: {"f_fairshare": 0.5, "f_assoc": 0}, other: {"f_fairshare": 0.5}})


def test_the_snippet_multifactor_ranks_as_the_stock_plugin_does():
    options = snippet("multifactor")
    assert options.pop("PriorityType") == "priority/ccr"
    c = Cluster(nodes=[Nodes(count=2, cpus=8)], priority_type="priority/ccr", plugins=["priority"],
                policy=example("multifactor"), dbd=True, accounts=ACCOUNTS, conf=options,
                partitions={"p": "Nodes=ALL Default=YES State=UP PriorityJobFactor=20",
                            "off": "Nodes=ALL State=DOWN PriorityJobFactor=10"})
    try:
        c.start()
        c.run("sacctmgr", "-i", "modify", "qos", "normal", "set", "priority=7")
        c.wait_state(c.sbatch("sleep 600", user="mail", account="sub", ntasks=2))
        jobs = [pend(c, *who, ntasks=n, nodes=nodes) for n, who, nodes in (
            (1, ("games", "a"), 1), (4, ("man", "a"), 2), (2, ("lp", "b"), 1), (8, ("games", "b"), 2))]
        c.wait_for(lambda: len(rows(c, *jobs)) == len(jobs), what="rows")
        c.wait_saved(jobs[0])

        def read(plugin):
            """After a start, whose first cycle counts what has run; more of it changes no rank."""
            c.priority_type = f"priority/{plugin}"
            c.write_conf()
            c.restart_slurmctld()
            c.wait_for(lambda: len(rows(c, *jobs)) == len(jobs), what=f"the rows of {plugin}")
            return rows(c, *jobs)
        ours, stock = read("ccr"), read("multifactor")
    finally:
        c.stop()
    assert len({row["priority"] for row in stock.values()}) == len(jobs)
    for job in jobs:
        for column in ("age", "fairshare", "jobsize", "partition", "qos", "priority"):
            assert ours[job][column] == pytest.approx(stock[job][column], abs=1), (job, column)


def test_lsf_ranks_a_job_ahead_of_those_that_a_limit_holds():
    """LSF looks at the runnable jobs of a user alone."""
    options = {**snippet("lsf"), "AccountingStorageEnforce": "associations,limits,qos"}
    assert options.pop("PriorityType") == "priority/ccr"
    c = Cluster(nodes=[Nodes(count=1, cpus=4)], priority_type="priority/ccr", plugins=["priority"],
                policy=example("lsf"), dbd=True, accounts=ACCOUNTS, conf=options)
    try:
        c.start()
        c.run("sacctmgr", "-i", "add", "qos", "narrow")
        c.run("sacctmgr", "-i", "modify", "qos", "narrow", "set", "MaxTRESPerUser=cpu=1")
        c.run("sacctmgr", "-i", "modify", "account", "a,b", "set", "qos=normal,narrow")
        c.wait_state(c.sbatch("sleep 600", user="lp", account="b", qos="narrow"))
        c.wait_state(c.sbatch("sleep 600", user="games", account="b", ntasks=3))
        held = [c.sbatch("true", user="lp", account="b", qos="narrow") for _ in range(3)]
        job = c.sbatch("true", user="lp", account="b")
        # one runs: 1/6 for the first that may start, the others behind it
        c.wait_for(lambda: int(c.job(job)["Priority"]) == pytest.approx(1e6 / 6, rel=1e-3),
                   what=lambda: c.job(job)["Priority"])
        assert all(int(c.job(j)["Priority"]) < 1.2e6 / 9 for j in held)
    finally:
        c.stop()
