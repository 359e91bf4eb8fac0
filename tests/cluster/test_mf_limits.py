"""Limits of associations and QOS stop and release jobs as under priority/multifactor: one scenario a
row, each in an account or QOS of its own, all of them at once in a cluster under the stock plugin and
in one under priority/ccr with the ccr policy; what was seen must be the same in both."""
from concurrent.futures import ThreadPoolExecutor

import pytest

import mfcommon
from ccrcluster import ClusterError
from mfcommon import qos_record, raw_usage

USERS = ["games", "man"]


def held_back(c, job, reasons, timeout=60):
    """Waits until a pending job has one of these reasons, and returns it."""
    def reason():
        shown = c.job(job)
        return shown["JobState"] == "PENDING" and shown["Reason"] in reasons and shown["Reason"]
    return c.wait_for(reason, timeout, what=lambda: f"{reasons} of job {job}: {c.job(job)}",
                      every=0.5)


def submit(c, row, script="sleep 300", minutes=10, **options):
    where = {"account": row["account"]}
    if row.get("qos"):
        where["qos"] = row["qos"]
    return c.sbatch(script, user="games", time=minutes, **where, **options)


def change(c, row, limit):
    """Sets the row's limit where it belongs: its account, the parent of it, or its QOS."""
    if row.get("qos"):
        c.run("sacctmgr", "-i", "modify", "qos", row["qos"], "set", limit)
    else:
        c.run("sacctmgr", "-i", "modify", "account", row.get("parent", row["account"]), "set",
              limit)


def the_end(c, job):
    return c.wait_for(lambda: c.job(job)["JobState"] not in ("RUNNING", "COMPLETING")
                      and c.job(job)["JobState"], 240, what="the end of the job", every=1)


def use_up(c, row):
    """What ran fills the limit: the running job is ended, the next waits, more room releases it."""
    if not row.get("first"):
        change(c, row, row["limit"])
    runs = submit(c, row, **row["job"])
    for _ in range(row.get("beside", 0)):
        submit(c, row, **row["job"])
    c.wait_state(runs)
    if row.get("first"):
        c.wait_for(lambda: raw_usage(c, row["account"]) > row["first"], 120, what="usage", every=1)
        change(c, row, row["limit"])
    ended = the_end(c, runs)
    waits = submit(c, row, **row["job"])
    for _ in range(5):
        # On a busy machine what ran has decayed below the limit until the next one comes: that one
        # starts, and fills it up anew.
        c.wait_for(lambda: c.job(waits)["Reason"] in row["reasons"] or
                   c.job(waits)["JobState"] != "PENDING", 60, every=0.5,
                   what=lambda: f"{row['reasons']} of job {waits}: {c.job(waits)['Reason']}")
        if c.job(waits)["JobState"] == "PENDING":
            break
        the_end(c, waits)
        waits = submit(c, row, **row["job"])
    seen = [ended, held_back(c, waits, row["reasons"])]
    change(c, row, row["more"])
    c.wait_state(waits, timeout=90)
    c.run("scancel", str(waits))
    return seen


def too_much_at_once(c, row):
    """GrpTRESRunMins: a job waits for what running ones may still use; the end of one frees it."""
    change(c, row, row["limit"])
    runs = submit(c, row, **row["job"])
    c.wait_state(runs)
    waits = submit(c, row, **row["job"])
    seen = [held_back(c, waits, row["reasons"])]
    c.run("scancel", str(runs))
    c.wait_state(waits, timeout=90)
    c.run("scancel", str(waits))
    return seen


# Usage decays: a limit is set when what ran is far over it (first: seconds as billed), so that it is
# not below the limit again before the next job comes. A wall clock fills slowly: several jobs run.
WALL = {"beside": 7, "first": 150}
ROWS = {
    "assoc_cpu_minutes": {"does": use_up, "first": 150, "limit": "GrpTRESMins=cpu=1",
                          "more": "GrpTRESMins=cpu=5000", "job": {"ntasks": 8},
                          "reasons": ("AssocGrpCPUMinutesLimit",)},
    "assoc_gpu_minutes": {"does": use_up, "first": 25, "limit": "GrpTRESMins=gres/gpu=1",
                          "more": "GrpTRESMins=gres/gpu=5000", "job": {"gres": "gpu:6"},
                          "reasons": ("AssocGrpGRESMinutes",)},
    "assoc_wall": {"does": use_up, "limit": "GrpWall=1", "more": "GrpWall=500",
                   "job": {"ntasks": 1}, "reasons": ("AssocGrpWallLimit",), **WALL},
    "parent_cpu_minutes": {"does": use_up, "first": 150, "limit": "GrpTRESMins=cpu=1",
                           "more": "GrpTRESMins=cpu=5000", "job": {"ntasks": 8}, "parent": True,
                           "reasons": ("AssocGrpCPUMinutesLimit",)},
    "assoc_cpu_run_minutes": {"does": too_much_at_once, "limit": "GrpTRESRunMins=cpu=100",
                              "job": {"ntasks": 8}, "reasons": ("AssocGrpCPURunMinutesLimit",)},
    "assoc_gpu_run_minutes": {"does": too_much_at_once, "limit": "GrpTRESRunMins=gres/gpu=15",
                              "job": {"gres": "gpu:1"},
                              "reasons": ("AssocGrpGRESRunMinutes",)},
    "qos_cpu_minutes": {"does": use_up, "first": 150, "limit": "GrpTRESMins=cpu=1",
                        "more": "GrpTRESMins=cpu=5000", "job": {"ntasks": 8}, "qos": True,
                        "reasons": ("QOSGrpCPUMinutesLimit",)},
    "qos_wall": {"does": use_up, "limit": "GrpWall=1", "more": "GrpWall=500",
                 "job": {"ntasks": 1}, "qos": True, "reasons": ("QOSGrpWallLimit",),
                 **WALL},
    "qos_cpu_run_minutes": {"does": too_much_at_once, "limit": "GrpTRESRunMins=cpu=100",
                            "job": {"ntasks": 8}, "qos": True,
                            "reasons": ("QOSGrpCPURunMinutesLimit",)},
}


def usage_factors(c):
    """UsageFactor 0, 0.5 and 2 against 1, all for the same time: what the accounts are charged."""
    names = {"free": 0, "half": 0.5, "once": 1, "twice": 2}
    jobs = [c.sbatch("sleep 300", user="games", account=f"factor_{n}", qos=f"factor_{n}", time=10,
                     ntasks=4) for n in names]
    for job in jobs:
        c.wait_state(job)
    c.wait_for(lambda: raw_usage(c, "factor_twice") > 120, 60, what="usage", every=0.5)
    at_once = mfcommon.shares(c)  # one answer: four would be of four moments
    charged = {n: int(at_once[f"factor_{n}", ""]["RawUsage"]) for n in names}
    c.run("scancel", *map(str, jobs))
    return charged


def no_decay(c):
    """A QOS with NoDecay keeps what decays in the account."""
    job = c.sbatch("sleep 300", user="games", account="keeps", qos="keeps", time=10, ntasks=4)
    c.wait_state(job)
    c.wait_for(lambda: raw_usage(c, "keeps") > 40, 60, what="usage", every=0.5)
    c.run("scancel", str(job))
    c.wait_state(job, "CANCELLED")
    before = raw_usage(c, "keeps"), qos_usage(c, "keeps")
    c.wait_for(lambda: raw_usage(c, "keeps") < 0.9 * before[0], 120, what="decay", every=1)
    return before, (raw_usage(c, "keeps"), qos_usage(c, "keeps"))


def qos_usage(c, name):
    line = next(l for l in qos_record(c, name).splitlines() if "UsageRaw" in l)
    return float(line.split("=")[1])


def threshold(c):
    """UsageThreshold: an account far over its share waits, one that used nothing runs."""
    hog = c.sbatch("sleep 300", user="games", account="hog", time=10, ntasks=16)
    c.wait_state(hog)
    c.wait_for(lambda: raw_usage(c, "hog") > 30, 60, what="usage", every=0.5)
    waits = c.sbatch("sleep 300", user="games", account="hog", qos="threshold", time=10)
    runs = c.sbatch("sleep 300", user="man", account="frugal", qos="threshold", time=10)
    c.wait_state(runs)
    seen = [held_back(c, waits, ("QOSUsageThreshold",))]
    c.run("sacctmgr", "-i", "modify", "qos", "threshold", "set", "UsageThreshold=0")
    c.wait_state(waits, timeout=90)
    c.run("scancel", str(hog), str(waits), str(runs))
    return seen


def under(plugin):
    """Everything, in one cluster: {row: what was seen}."""
    accounts = {"hog": {"Fairshare": 1, "users": USERS}, "frugal": {"Fairshare": 99,
                                                                    "users": USERS},
                "keeps": {"Fairshare": 10, "users": USERS},
                **{f"factor_{n}": {"Fairshare": 10, "users": USERS}
                   for n in ("free", "half", "once", "twice")}}
    rows = {}
    for name, row in ROWS.items():
        row = rows[name] = {**row, "account": name}
        accounts[name] = {"Fairshare": 10, "users": USERS}
        if row.get("parent"):
            row["parent"] = f"over_{name}"
            accounts[row["parent"]] = {"Fairshare": 10}
            accounts[name]["parent"] = row["parent"]
        if row.get("qos"):
            row["qos"] = name
    c = mfcommon.cluster(
        plugin, accounts,
        # FAIRSHARE is negative for an account over its target: that must stop nobody
        policy={"version": 1, "preset": "ccr", "groups": {"hog": {"target": "1"}}},
        conf={"PriorityDecayHalfLife": "00:02", "PriorityFlags": "NO_FAIR_TREE",
              "PriorityWeightFairshare": 1})
    with c:
        qos = [row["qos"] for row in rows.values() if row.get("qos")]
        qos += ["keeps", "threshold", *(f"factor_{n}" for n in ("free", "half", "once", "twice"))]
        c.run("sacctmgr", "-i", "add", "qos", ",".join(qos))
        for name, factor in (("free", 0), ("half", 0.5), ("twice", 2)):
            c.run("sacctmgr", "-i", "modify", "qos", f"factor_{name}", "set",
                  f"UsageFactor={factor}")
        c.run("sacctmgr", "-i", "modify", "qos", "keeps", "set", "Flags=NoDecay")
        c.run("sacctmgr", "-i", "modify", "qos", "threshold", "set", "UsageThreshold=0.4",
              "Flags=EnforceUsageThreshold")
        c.run("sacctmgr", "-i", "modify", "account", ",".join(accounts), "set",
              "qos=" + ",".join(["normal", *qos]))
        seen = {}
        with ThreadPoolExecutor(len(rows) + 3) as pool:
            waiting = {name: pool.submit(row["does"], c, row) for name, row in rows.items()}
            waiting["usage_factor"] = pool.submit(usage_factors, c)
            waiting["no_decay"] = pool.submit(no_decay, c)
            waiting["threshold"] = pool.submit(threshold, c)
            for name, future in waiting.items():
                try:
                    seen[name] = future.result()
                except Exception as error:  # one row's failure is that row's
                    seen[name] = error
        c.clear()
        try:
            c.wait_for(lambda: not mfcommon.run_minutes(c), what="no run-minutes")
        except ClusterError:
            pass
        seen["left"] = mfcommon.run_minutes(c)
    return seen


@pytest.fixture(scope="module")
def both():
    with ThreadPoolExecutor(2) as pool:
        stock, ours = pool.map(under, ("multifactor", "ccr"))
    return stock, ours


def results(both, name):
    for plugin, seen in zip(("multifactor", "ccr"), both):
        if isinstance(seen[name], Exception):
            raise AssertionError(f"under {plugin}") from seen[name]
    return both[0][name], both[1][name]


@pytest.mark.parametrize("row", [*ROWS, "threshold"])
def test_a_limit_stops_and_releases(both, row):
    stock, ours = results(both, row)
    assert stock == ours
    if ROWS.get(row, {}).get("does") is use_up:
        assert ours[0] == "TIMEOUT"


def test_usage_factor(both):
    for charged in results(both, "usage_factor"):
        assert charged["free"] == 0
        assert charged["half"] == pytest.approx(charged["once"] / 2, rel=0.2)
        assert charged["twice"] == pytest.approx(charged["once"] * 2, rel=0.2)


def test_no_decay(both):
    for (account, qos), (account_later, qos_later) in results(both, "no_decay"):
        assert account_later < 0.97 * account
        assert qos_later == pytest.approx(qos, rel=1e-6)
        assert qos > account


def test_no_run_minutes_are_left(both):
    assert both[1]["left"] == {}
