"""Jobs that wait for a limit take no booking and stand in nobody's way (R23, R41); QOS preemption."""
import pwd
import time

import pytest

from gate import gate_cluster, start_time, wait_booked, wait_reason

ACCOUNTS = {"phys": {"Fairshare": 60, "users": ["games", "man"]},
            "ml": {"Fairshare": 40, "users": ["lp", "mail"]}}


@pytest.fixture(scope="module")
def gated():
    with gate_cluster(nodes=2, cpus=8, gpus="a100:4", dbd=True, accounts=ACCOUNTS, auth="munge",
                      conf={"AccountingStorageEnforce": "associations,limits,qos",
                            "PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"}) as c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    gated.clear()
    assert not gated.log_grep("decides alone")


def set_limit(c, user, **limits):
    c.run("sacctmgr", "-i", "modify", "user", user, "set", *[f"{k}={v}" for k, v in limits.items()])


@pytest.mark.parametrize("limit,off,reason", [
    ({"MaxJobs": 2}, {"MaxJobs": -1}, "AssocMaxJobsLimit"),
    ({"GrpTRES": "gres/gpu=2"}, {"GrpTRES": "gres/gpu=-1"}, "AssocGrp"),
])
def test_a_limited_job_takes_no_booking(cluster, limit, off, reason):
    c = cluster
    set_limit(c, "games", **limit)
    try:
        limited = [c.sbatch("sleep 9999", user="games", gres="gpu:1", time=60) for _ in range(5)]
        c.wait_for(lambda: c.states(*limited).count("RUNNING") == 2)
        blocked = [j for j, s in zip(limited, c.states(*limited)) if s == "PENDING"]
        job = wait_reason(c, blocked[0], reason)
        assert job["StartTime"] == "Unknown"
        # The next user's jobs start at once, as many as there is room for, and the first is booked.
        others = [c.sbatch("sleep 9999", user="man", gres="gpu:2", time=60) for _ in range(4)]
        c.wait_for(lambda: c.states(*others).count("RUNNING") == 3)
        wait_booked(c, others[3])
        time.sleep(3)
        assert [c.job(j)["StartTime"] for j in blocked] == ["Unknown"] * 3
        assert not any("booked" in c.job(j)["Reason"] for j in blocked)
    finally:
        set_limit(c, "games", **off)


def test_a_hetjob_that_waits_for_a_limit_holds_nothing(cluster):
    """Each component may run, both together may not: slurmctld finds that when it tries to."""
    c = cluster
    set_limit(c, "games", GrpTRES="gres/gpu=3")
    try:
        ids = [f"--uid={pwd.getpwnam('games').pw_uid}", f"--gid={pwd.getpwnam('games').pw_gid}"]
        out = c.run("sbatch", "--parsable", *ids, "-D/tmp", "-o/dev/null",
                    "-Aphys", "--gres=gpu:2", "-t30", ":", "-Aphys", "--gres=gpu:2", "-t30",
                    input="#!/bin/sh\nsleep 9999\n").stdout
        first = int(out.split(";")[0])
        c.wait_for(lambda: any("AssocGrp" in c.job(first + i)["Reason"] for i in (0, 1)), 60,
                   what="the limit")
        others = [c.sbatch("sleep 9999", user="man", gres="gpu:2", time=60) for _ in range(3)]
        c.wait_for(lambda: c.states(*others) == ["RUNNING"] * 3, 60,
                   what=lambda: f"{c.states(*others)} beside {c.job(first)}")
        assert c.states(first, first + 1) == ["PENDING"] * 2
    finally:
        set_limit(c, "games", GrpTRES="gres/gpu=-1")


def test_qos_preemption(cluster):
    c = cluster
    c.run("sacctmgr", "-i", "add", "qos", "high", "Priority=100", "Preempt=normal")
    c.run("sacctmgr", "-i", "modify", "user", "games", "man", "set", "qos+=high")
    low = [c.sbatch("sleep 9999", user="games", gres="gpu:4", time=60, qos="normal")
           for _ in range(3)]
    c.wait_for(lambda: c.states(*low).count("RUNNING") == 2)
    high = c.sbatch("sleep 9999", user="man", gres="gpu:4", time=60, qos="high")
    c.wait_state(high, timeout=60)
    c.wait_for(lambda: c.states(*low).count("RUNNING") == 1)


def test_a_preempting_qos_goes_first(cluster):
    """Its job ranks above those that it may preempt though they have the higher priority, and what
    it waits for is kept for it while they go."""
    c = cluster
    c.run("sacctmgr", "-i", "add", "qos", "urgent", "Priority=100", "Preempt=normal")
    c.run("sacctmgr", "-i", "modify", "user", "games", "man", "set", "qos+=urgent")
    first = c.sbatch("sleep 9999", user="man", gres="gpu:4", time=60, qos="urgent", nodelist="n1")
    c.wait_state(first)
    low = [c.sbatch("sleep 9999", user="games", gres="gpu:4", time=30, qos="normal")
           for _ in range(4)]
    c.wait_for(lambda: c.states(*low).count("RUNNING") == 1)
    top = c.sbatch("sleep 9999", user="man", nodes=2, gpus_per_node=4, time=60, qos="urgent")
    wait_booked(c, top)
    assert 60 * 58 < start_time(c, top) <= 60 * 60
    c.run("scancel", first)
    c.wait_state(top, timeout=60)
    assert c.states(*low) == ["PENDING"] * 4
    assert sum(int(j["Restarts"]) for j in c.jobs() if j["JobId"] in map(str, low)) == 1


def test_a_preemptor_that_may_not_start_keeps_nothing_from_others():
    """sched/backfill, told that H may preempt now, would hold the nodes that it names for H alone
    when the start then fails: B, whose time has come on one of them, would not be asked about. The
    main cycle does not come to either of them, as a hetjob waits above."""
    with gate_cluster(nodes=4, cpus=8, gpus="a100:4", dbd=True, accounts=ACCOUNTS, auth="munge",
                      conf={"AccountingStorageEnforce": "associations,limits,qos",
                            "PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"}) as c:
        c.run("sacctmgr", "-i", "add", "qos", "high", "Priority=100", "Preempt=normal")
        c.run("sacctmgr", "-i", "modify", "user", "games", "set", "qos+=high")

        def job(seconds, *options, **more):
            return c.sbatch(f"sleep {seconds}", *options, user="games", **more)
        whole = {"qos": "high", "gres": "gpu:4"}
        job(999, nodelist="n4", time=20, **whole)
        job(41, nodelist="n3", time=5, **whole)
        first = job(45, nodelist="n2", time=1, **whole)
        c.wait_state(job(999, nodelist="n1", time=20))
        c.wait_state(first)
        user = pwd.getpwnam("games")
        c.run("sbatch", f"--uid={user.pw_uid}", f"--gid={user.pw_gid}", "-D/tmp", "-o/dev/null",
              "--qos=high", "-wn4", "--gres=gpu:4", "-t10", ":", "--qos=high", "-N1", "-t10",
              input="#!/bin/sh\nsleep 10\n")
        time.sleep(3)
        high = job(15, nodes=3, time=10, exclude="n4", **whole)
        wait_booked(c, high)
        low = job(15, gres="gpu:4", time=1, exclude="n1,n3,n4")
        wait_booked(c, low)

        def said(text):
            return next((i for i, line in enumerate(c.log().splitlines()) if text in line), None)
        started = f"Started JobId={low} in"
        c.wait_for(lambda: said(started) is not None, 90, what=lambda: c.job(low))
        failed = said(f"planned start of JobId={high} failed")
        assert failed is None or failed > said(started), c.log().splitlines()[failed]


def test_a_preemptor_does_not_pass_another_that_was_booked_before():
    """Nobody could be preempted when the first was booked; that somebody can now is no reason for
    the second, below it, to go first."""
    with gate_cluster(nodes=1, cpus=8, gpus="a100:4", dbd=True, accounts=ACCOUNTS, auth="munge",
                      policy={"version": 1, "backfill": {"depth": 1}},
                      conf={"AccountingStorageEnforce": "associations,limits,qos",
                            "PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"}) as c:
        c.run("sacctmgr", "-i", "add", "qos", "high", "Priority=100", "Preempt=normal")
        c.run("sacctmgr", "-i", "modify", "user", "games", "set", "qos+=high")

        def job(**options):
            return c.sbatch("sleep 999", user="games", **options)
        c.wait_state(job(qos="high", gres="gpu:3", time=2))
        first = job(qos="high", gres="gpu:4", time=3)
        wait_booked(c, first)
        time.sleep(3)
        second = job(qos="high", gres="gpu:1", time=5)
        time.sleep(3)
        began = time.monotonic()
        while time.monotonic() < began + 12:
            c.sbatch("sleep 1", user="games", time=1)
            time.sleep(2.3)
            assert c.states(first, second) == ["PENDING"] * 2
        assert start_time(c, first) <= 122
