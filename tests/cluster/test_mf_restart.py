"""Restart at any moment, and everything that may change under way: kill -9 with running jobs, the
stock plugin and back, each reset period, half-life 0, changes by sacctmgr and scontrol."""
import random
import time

import pytest

import mfcommon
import mfqueue
from ccrcluster import Nodes
from mfcommon import raw_usage, shares

ACCOUNTS = {"phys": {"Fairshare": 60}, "exp": {"parent": "phys", "users": ["games", "man"]},
            "ml": {"Fairshare": 40, "users": ["lp", "mail"]}}
NODES = [Nodes(count=2, cpus=32, mem=64000)]
NO_RESET = {"PriorityDecayHalfLife": 0, "PriorityUsageResetPeriod": "YEARLY"}


@pytest.fixture
def cluster():
    with mfcommon.cluster("ccr", ACCOUNTS, nodes=NODES, conf=NO_RESET) as c:
        yield c


def settled(c, account):
    """(raw usage of an account, the time up to which it is counted)."""
    while True:
        before = mfqueue.last_ran(c)
        usage = raw_usage(c, account)
        if mfqueue.last_ran(c) == before:
            return usage, before[0]


def started(c, job):
    return int(c.run("squeue", "-h", "-j", str(job), "-o", "%S", env={"SLURM_TIME_FORMAT": "%s"}
                     ).stdout)


def test_kill9_loses_less_than_a_period(cluster):
    """Without decay usage is CPUs x time: after each of five kills it must still be, of the jobs that
    run and of one that has ended since usage was last written."""
    c = cluster
    cpus = {c.sbatch("sleep 600", user="games", account="exp", ntasks=n, time=30): n
            for n in (4, 9)}
    for job in cpus:
        c.wait_state(job)
    begun = {job: started(c, job) for job in cpus}
    short = c.sbatch("sleep 600", user="man", account="exp", ntasks=7, time=30)
    c.wait_state(short)
    time.sleep(4)
    c.run("scancel", str(short))
    c.wait_state(short, "CANCELLED")
    ended = 7 * int(c.run("sacct", "-n", "-X", "-j", str(short), "-o", "ElapsedRaw").stdout)
    assert ended >= 7 * 3
    waits = c.sbatch("sleep 600", user="lp", account="ml", nodes=2, exclusive=True)
    for _ in range(5):
        time.sleep(random.uniform(0.7, 2.2))
        c.wait_saved(waits)
        c.kill9_slurmctld()
        since = time.time()
        c.start_slurmctld()
        c.wait_for(lambda: mfqueue.last_ran(c)[0] >= since, 60, what="a cycle")
        usage, ran = settled(c, "exp")
        assert c.states(*cpus, waits) == ["RUNNING", "RUNNING", "PENDING"]
        expected = ended + sum(n * (ran - begun[job]) for job, n in cpus.items())
        assert abs(usage - expected) <= 2 * 13 + 7, f"{usage}, not {expected}"

    def left():
        """What Slurm keeps of run-minutes, and what the jobs have left."""
        return mfcommon.run_minutes(c)["phys/ cpu"], sum(n * (30 - (time.time() - begun[j]) / 60)
                                                         for j, n in cpus.items())
    c.wait_for(lambda: left()[0] == pytest.approx(left()[1], abs=3), what=lambda: str(left()))


@pytest.mark.every_slurm
def test_to_multifactor_and_back(cluster):
    c = cluster
    job = c.sbatch("sleep 600", user="games", account="exp", ntasks=10, time=30)
    c.wait_state(job)
    waits = c.sbatch("sleep 600", user="lp", account="ml", nodes=2, exclusive=True)
    begun = started(c, job)
    submitted = c.job(waits)["SubmitTime"]
    for plugin in ("multifactor", "ccr", "multifactor", "ccr"):
        time.sleep(2)
        c.stop_slurmctld()
        ran = mfqueue.last_ran(c)
        assert time.time() - 60 < ran[0] <= time.time() and ran[1] > 0
        c.priority_type = f"priority/{plugin}"
        c.write_conf()
        c.start_slurmctld()
        c.wait_for(lambda: mfqueue.last_ran(c)[0] > ran[0], 60, what="a cycle")
        assert mfqueue.last_ran(c)[1] == ran[1], "the time of the last reset"
        usage, until = settled(c, "exp")
        assert abs(usage - 10 * (until - begun)) <= 20, f"{usage} after {until - begun} s"
        assert c.states(job, waits) == ["RUNNING", "PENDING"]
        assert c.job(waits)["SubmitTime"] == submitted


def test_a_damaged_state_file_is_said_and_survived(cluster):
    c = cluster
    c.stop_slurmctld()
    with open(f"{c.root}/state/priority_last_decay_ran", "wb") as out:
        out.write(b"too short")
    since = time.time()
    c.start_slurmctld()
    c.wait_for(lambda: mfqueue.last_ran(c)[0] >= since, 60, what="a cycle")
    assert c.log_grep("error: .*priority_last_decay_ran: 9 bytes where 16 are expected")


def test_what_changes_under_way(cluster):
    """sacctmgr, reconfigure, debug flags and another period, with jobs in the queue all along."""
    c = cluster
    c.wait_state(c.sbatch("sleep 600", user="games", account="exp", ntasks=10, time=30))
    waits = c.sbatch("sleep 600", user="lp", account="ml", nodes=2, exclusive=True)
    c.run("sacctmgr", "-i", "modify", "account", "ml", "set", "Fairshare=140")
    c.wait_for(lambda: shares(c)["ml", ""]["RawShares"] == "140", what="new shares")
    c.wait_for(lambda: float(shares(c)["ml", ""]["NormShares"]) == pytest.approx(140 / 201, abs=.01),
               what=lambda: str(shares(c)["ml", ""]))
    c.run("sacctmgr", "-i", "add", "account", "bio", "parent=phys", "Fairshare=5")
    c.run("sacctmgr", "-i", "add", "user", "news", "account=bio")
    job = c.sbatch("sleep 600", user="news", account="bio", ntasks=2, time=20)
    c.wait_state(job)
    c.wait_for(lambda: raw_usage(c, "bio", "news") > 4, what="usage of a new user")
    c.run("scancel", str(job))
    c.wait_state(job, "CANCELLED")
    kept = raw_usage(c, "phys")
    c.run("sacctmgr", "-i", "delete", "user", "news", "account=bio")
    c.wait_for(lambda: ("bio", "news") not in shares(c), what="a user that is gone")
    assert raw_usage(c, "phys") >= kept

    c.run("scontrol", "setdebugflags", "+priority")
    c.wait_for(lambda: c.log_grep(f"priority/ccr: JobId={waits} priority"), what="its score, logged")
    c.run("scontrol", "setdebugflags", "-priority")
    for flags in ("NO_FAIR_TREE", "NO_FAIR_TREE,DEPTH_OBLIVIOUS", None):
        c.conf["PriorityFlags"] = flags
        c.write_conf()
        c.reconfigure()
        # of its level with the fair tree (1 of 6), else of the whole cluster
        c.wait_for(lambda: (float(shares(c)["exp", ""]["NormShares"]) < 0.1) == bool(flags),
                   what="the other algorithm")
        before = mfqueue.last_ran(c)[0]
        c.wait_for(lambda: mfqueue.last_ran(c)[0] > before, what="a cycle")
    c.conf["PriorityParameters"] = "ccr_calc_seconds=3"
    c.write_conf()
    c.reconfigure()
    usage = raw_usage(c, "exp")
    c.wait_for(lambda: raw_usage(c, "exp") > usage, what="usage that goes on")
    assert c.alive("slurmctld")
    assert not c.log_grep("error: priority/ccr")


# PriorityUsageResetPeriod, the last reset, the time of the first cycle, whether usage is thrown away
RESETS = {
    "none": ("NONE", "2023-01-01 00:00:00", "2033-06-14 12:00:00", False),
    "now": ("NOW", "2033-06-14 11:00:00", "2033-06-14 12:00:00", True),
    "daily_due": ("DAILY", "2033-06-13 23:00:00", "2033-06-14 00:00:00", True),
    "daily_not_yet": ("DAILY", "2033-06-14 00:00:00", "2033-06-14 23:59:59", False),
    "weekly_due": ("WEEKLY", "2033-06-11 23:00:00", "2033-06-12 00:00:00", True),  # a Sunday
    "weekly_not_yet": ("WEEKLY", "2033-06-12 00:00:00", "2033-06-18 23:59:59", False),
    "monthly_due": ("MONTHLY", "2033-06-30 23:00:00", "2033-07-01 00:00:00", True),
    "monthly_not_yet": ("MONTHLY", "2033-06-01 00:00:00", "2033-06-30 23:59:59", False),
    "quarterly_due": ("QUARTERLY", "2033-06-30 23:00:00", "2033-07-01 00:00:00", True),
    "quarterly_not_yet": ("QUARTERLY", "2033-07-01 00:00:00", "2033-09-30 23:59:59", False),
    "yearly_due": ("YEARLY", "2032-12-31 23:00:00", "2033-01-01 00:00:00", True),
    "yearly_not_yet": ("YEARLY", "2033-01-01 00:00:00", "2033-12-31 23:59:59", False),
}


@pytest.fixture(scope="module")
def with_usage():
    """A cluster, stopped, with usage and no job that adds to it."""
    with mfcommon.cluster("ccr", ACCOUNTS, nodes=[Nodes(count=1, cpus=32)], conf=NO_RESET) as c:
        job = c.sbatch("sleep 600", user="games", account="exp", ntasks=10)
        c.wait_state(job)
        c.wait_for(lambda: raw_usage(c, "exp") > 20, what="usage")
        c.run("scancel", str(job))
        c.wait_state(job, "CANCELLED")
        c.stop_slurmctld()
        c.ctld_env = {}
        yield c


@pytest.mark.parametrize("row", RESETS)
def test_reset_period(with_usage, row):
    c = with_usage
    period, last, first, thrown_away = RESETS[row]
    at = int(time.mktime(time.strptime(first, "%Y-%m-%d %H:%M:%S")))
    then = int(time.mktime(time.strptime(last, "%Y-%m-%d %H:%M:%S")))
    with open(f"{c.root}/state/priority_last_decay_ran", "wb") as out:
        out.write((at - 60).to_bytes(8, "big") + then.to_bytes(8, "big"))
    with open(f"{c.root}/state/assoc_usage", "r+b") as usage:  # its time, to fit to this one
        usage.seek(2)
        usage.write((at - 60).to_bytes(8, "big"))
    # none and half-life 0 together are an error to slurmctld
    c.conf.update({"PriorityUsageResetPeriod": period, "PriorityDecayHalfLife": "365-0"})
    c.write_conf()
    mfqueue.frozen_start(c, at)
    usage = raw_usage(c, "exp")
    ran, reset = mfqueue.last_ran(c)
    c.kill9_slurmctld()  # its state files keep the usage for the next row
    assert ran == at
    if thrown_away:
        assert usage == 0 and then < reset <= at
    else:
        assert usage > 15 and reset == then
