"""What else slurmctld does, under the gate as without it (it may allow or forbid starts, no more)."""
import os
import re
import signal
import time

import pytest

from gate import (KEEP_GOING, SCHED, Nodes, booked_nodes, gate_cluster, sdiag, start_at,
                  start_time, wait_booked, wait_reason)

pytestmark = pytest.mark.every_slurm

PARTITIONS = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
              "q": "Nodes=ALL MaxTime=INFINITE State=UP",
              "one": "Nodes=n1 MaxTime=INFINITE State=UP"}


@pytest.fixture(scope="module")
def gated():
    with gate_cluster(nodes=3, cpus=8, gpus="a100:2", partitions=PARTITIONS) as c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    assert not gated.log_grep("decides alone")
    gated.clear()


def fill(c, minutes=30, nodes=("n1", "n2", "n3"), **options):
    """Takes all GPUs of these nodes."""
    options = {"gres": "gpu:2", "cpus_per_task": 2, "time": minutes, **options}
    jobs = [c.sbatch("sleep 9999", nodelist=n, **options) for n in nodes]
    for job in jobs:
        c.wait_state(job)
    return jobs


def test_srun_may_not_jump_a_booking(cluster):
    """At the submit itself slurmctld starts nobody while a job above waits for the same nodes, in whatever partition
    ("insufficient priority"): so it is a cycle that starts srun, and the gate decides."""
    fill(cluster, nodes=("n2", "n3"))
    cluster.wait_state(cluster.sbatch("sleep 9999", gres="gpu:1", time=10, nodelist="n1"))
    top = cluster.sbatch("sleep 1", gres="gpu:2", time=60)
    wait_booked(cluster, top)
    # One GPU of n1 is idle until the booking begins in ten minutes.
    short = cluster.run("srun", "--gres=gpu:1", "-t5", "hostname", timeout=60)
    assert short.stdout
    long = cluster.run("srun", "--immediate=5", "--gres=gpu:1", "-t60", "hostname", check=False)
    assert long.returncode
    assert start_time(cluster, top) <= 601


def test_salloc_and_steps(cluster):
    out = cluster.run("salloc", "--gres=gpu:2", "-n4", "-t5", "srun", "--gres=gpu:1", "-n2",
                      "hostname", timeout=60).stdout
    assert len(out.split()) == 2


def test_arrays_start_task_by_task(cluster):
    held = fill(cluster, nodes=("n2", "n3"))
    array = cluster.sbatch("sleep 9999", gres="gpu:1", time=20, array="0-3")
    cluster.wait_for(lambda: len([j for j in cluster.jobs(array)
                                  if j["JobState"] == "RUNNING"]) == 2, what="two tasks")
    rest = [j for j in cluster.jobs(array) if j["JobState"] == "PENDING"]
    assert rest and "booked" in wait_booked(cluster, rest[0]["JobId"])["Reason"]
    cluster.run("scancel", held[0])
    cluster.wait_for(lambda: len([j for j in cluster.jobs(array)
                                  if j["JobState"] == "RUNNING"]) == 4, what="four tasks")


def test_a_job_in_two_partitions_has_the_earlier_booking(cluster):
    fill(cluster, minutes=60, nodes=("n1",))
    fill(cluster, minutes=20, nodes=("n2", "n3"))
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=10, partition="one,p")
    wait_booked(cluster, job)
    cluster.wait_for(lambda: start_time(cluster, job) <= 20 * 60 + 1,
                     what="the booking in p")


def test_named_nodes_do_not_hide_the_rest(cluster):
    """A blocked -w job gets its booking, and idle GPUs of its node serve the jobs behind it."""
    cluster.wait_state(cluster.sbatch("sleep 9999", gres="gpu:1", time=30, nodelist="n1"))
    fill(cluster, nodes=("n2", "n3"))
    named = cluster.sbatch("sleep 1", gres="gpu:2", time=60, nodelist="n1")
    assert wait_booked(cluster, named)["SchedNodeList"] == "n1"
    filler, more = (cluster.sbatch("sleep 9999", gres=gres, time=5) for gres in ("gpu:1", None))
    for job in (filler, more):
        assert cluster.wait_state(job)["NodeList"] == "n1" or job == more
    # (a job on a node that slurmctld does not see is taken to wait for its boot)
    assert not cluster.log_grep(rf"Extending JobId=({filler}|{more}) ")
    assert start_time(cluster, named) <= 1801
    # The main cycle does not come to the next one: slurmctld says of n1, which is up, that it is not
    # available. sched/backfill does.
    behind = cluster.sbatch("sleep 1", gres="gpu:2", time=60, nodelist="n1")
    assert wait_booked(cluster, behind)["SchedNodeList"] == "n1"
    assert start_time(cluster, behind) >= start_time(cluster, named) + 3595


def test_named_nodes_are_booked_for_others_too(cluster):
    fill(cluster, minutes=30, nodes=("n1",))
    fill(cluster, minutes=300, nodes=("n2", "n3"))
    named = cluster.sbatch("sleep 1", gres="gpu:2", time=10, nodelist="n1")
    wait_booked(cluster, named)
    later = cluster.sbatch("sleep 1", gres="gpu:2", time=15)
    assert wait_booked(cluster, later)["SchedNodeList"] == "n1"
    assert 39 * 60 < start_time(cluster, later) <= 2401


def test_an_equal_job_without_a_name_starts_elsewhere(cluster):
    fill(cluster, nodes=("n1",))
    named = cluster.sbatch("sleep 1", nodes=2, gres="gpu:2", time=60, nodelist="n1")
    other = cluster.sbatch("sleep 9999", nodes=2, gres="gpu:2", time=20)
    assert cluster.wait_state(other)["NodeList"] == "n[2-3]"
    wait_booked(cluster, named)


def test_fewer_names_than_nodes_are_booked_with_others_beside(cluster):
    """-N2 -w n1: n1 is free last; the booking is n1 and another one, not before n1."""
    fill(cluster, minutes=30, nodes=("n1",))
    fill(cluster, minutes=5, nodes=("n2",))
    fill(cluster, minutes=10, nodes=("n3",))
    job = cluster.sbatch("sleep 1", nodes=2, gres="gpu:2", time=10, nodelist="n1")
    assert wait_booked(cluster, job)["SchedNodeList"] == "n[1-2]"
    assert 29 * 60 < start_time(cluster, job) <= 1801


def test_excluded_nodes_are_never_booked(cluster):
    fill(cluster, minutes=5, nodes=("n1",))
    fill(cluster, minutes=30, nodes=("n2", "n3"))
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=10, exclude="n1")
    assert wait_booked(cluster, job)["SchedNodeList"] in ("n2", "n3")


def test_gpus_in_total_are_booked_where_any_deal_of_them_holds(cluster):
    """The stock plugin deals --gpus over the nodes as it likes. n1 has two GPUs now and one when the
    top job is there; one GPU of each of n1 and n2 would do, but only then is it what is dealt."""
    fill(cluster, minutes=300, nodes=("n3",))
    cluster.wait_state(cluster.sbatch("sleep 9999", gres="gpu:1", time=300, nodelist="n2"))
    blocker = cluster.sbatch("sleep 9999", cpus_per_task=4, time=10, nodelist="n1")
    cluster.wait_state(blocker)
    top = cluster.sbatch("sleep 9999", gres="gpu:1", cpus_per_task=5, time=30, nodelist="n1")
    wait_booked(cluster, top)
    spread = cluster.sbatch("sleep 9999", gpus=2, ntasks=2, time=30)
    assert wait_booked(cluster, spread)["SchedNodeList"] == "n[1-2]"
    assert start_at(cluster, spread) - start_at(cluster, top) in (0, 1)
    promised = start_at(cluster, top)
    time.sleep(6)  # cycles
    assert cluster.states(top, spread) == ["PENDING"] * 2
    assert start_at(cluster, top) <= promised
    cluster.run("scancel", blocker)
    cluster.wait_state(top)
    cluster.wait_state(spread)
    assert cluster.job(spread)["NodeList"] == "n[1-2]"


def test_exclusive_books_a_whole_node(cluster):
    for node in ("n1", "n2", "n3"):
        cluster.wait_state(cluster.sbatch("sleep 9999", time=30, nodelist=node))
    job = cluster.sbatch("sleep 1", exclusive=True, time=10)
    wait_booked(cluster, job)
    assert start_time(cluster, job) <= 1801
    late = cluster.sbatch("sleep 9999", time=60, nodelist=booked_nodes(cluster, job))
    time.sleep(4)
    assert cluster.job(late)["JobState"] == "PENDING"


def test_hetjobs_start(cluster):
    held = fill(cluster)
    out = cluster.run("sbatch", "--parsable", f"--output={cluster.root}/out/het.out",
                      "--gres=gpu:1", "-t5", ":", "--gres=gpu:2", "-t5",
                      input="#!/bin/sh\nsleep 2\n").stdout
    het = int(out.split(";")[0])
    big = cluster.sbatch("sleep 1", gres="gpu:2", time=5)
    small = cluster.sbatch("sleep 1", time=1)  # the machine goes on meanwhile
    cluster.wait_state(small, "COMPLETED")
    assert [cluster.job(j)["JobState"] for j in (het, big)] == ["PENDING"] * 2
    cluster.run("scancel", *held)
    cluster.wait_for(lambda: cluster.job(het)["JobState"] in ("RUNNING", "COMPLETED"), 60,
                     what="the hetjob")


def test_a_hetjob_is_booked_and_not_passed_for_ever(cluster):
    """All its components at one time, on nodes of their own; a stream of short jobs keeps clear."""
    for node, minutes in (("n1", 5), ("n2", 10), ("n3", 10)):
        fill(cluster, minutes=minutes, nodes=(node,), gres="gpu:1")
    out = cluster.run("sbatch", "--parsable", f"--output={cluster.root}/out/het.out",
                      "--gres=gpu:2", "-t5", ":", "--gres=gpu:2", "-t5",
                      input="#!/bin/sh\nsleep 2\n").stdout
    first = int(out.split(";")[0])
    parts = (first, first + 1)
    for job in parts:
        wait_booked(cluster, job)
    starts = [start_at(cluster, job) for job in parts]
    assert abs(starts[0] - starts[1]) <= 1 and 9 * 60 < start_time(cluster, first) <= 601
    nodes = {booked_nodes(cluster, job) for job in parts}
    assert len(nodes) == 2
    # Three GPUs are idle: for who ends before, or where it is not booked.
    long, short = (cluster.sbatch("sleep 9999", gres="gpu:1", time=t, nodelist=min(nodes))
                   for t in (60, 4))
    cluster.wait_state(short)
    cluster.wait_state(cluster.sbatch("sleep 9999", gres="gpu:1", time=60,
                                      nodelist=({"n1", "n2", "n3"} - nodes).pop()))
    assert cluster.states(long, *parts) == ["PENDING"] * 3
    running = cluster.run("squeue", "-h", "-t", "R", "-o", "%i %N").stdout.split()
    cluster.run("scancel", *[job for job, node in zip(running[::2], running[1::2])
                             if node in nodes])
    cluster.wait_for(lambda: set(cluster.states(*parts)) <= {"RUNNING", "COMPLETED"}, 60,
                     what="the hetjob")
    cluster.wait_state(long, timeout=60)


def test_jobs_behind_a_hetjob_are_booked(cluster):
    """slurmctld's main cycle turns back at a hetjob: sched/backfill is who asks about those behind."""
    fill(cluster, minutes=300, nodes=("n1",))
    fill(cluster, minutes=20, nodes=("n2", "n3"), gres="gpu:1")
    out = cluster.run("sbatch", "--parsable", "-wn1", "--gres=gpu:1", "-t5", ":", "-wn2",
                      "--gres=gpu:1", "-t5", input="#!/bin/sh\nsleep 2\n").stdout
    wait_booked(cluster, int(out.split(";")[0]))
    top = cluster.sbatch("sleep 1", gres="gpu:2", time=10)
    elsewhere = cluster.sbatch("sleep 1", gres="gpu:2", time=10, partition="q")
    for job in (top, elsewhere):
        wait_booked(cluster, job)
        assert 19 * 60 < start_time(cluster, job) <= 1801
    node = booked_nodes(cluster, top)
    other = ({"n2", "n3"} - {node}).pop()
    long = cluster.sbatch("sleep 9999", gres="gpu:1", time=60, nodelist=node)
    cluster.wait_state(cluster.sbatch("sleep 9999", gres="gpu:1", time=10, nodelist=other))
    assert cluster.states(long, top, elsewhere) == ["PENDING"] * 3


def test_drain_moves_the_booking_and_return_starts_the_job(cluster):
    first = fill(cluster, minutes=5, nodes=("n1",))
    fill(cluster, minutes=30, nodes=("n2", "n3"))
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=10)
    assert wait_booked(cluster, job)["SchedNodeList"] == "n1"
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=test")
    cluster.wait_for(lambda: booked_nodes(cluster, job) in ("n2", "n3"),
                     what="a booking elsewhere")
    cluster.run("scancel", *first)
    cluster.wait_for(lambda: not cluster.job(first[0])["JobState"].startswith("COMPLETING"))
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    cluster.wait_for(lambda: cluster.job(job)["JobState"] in ("RUNNING", "COMPLETED"),
                     what="a start on n1")


def test_suspend_and_resume(cluster):
    held = fill(cluster, minutes=10)
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=10)
    wait_booked(cluster, job)
    cluster.run("scontrol", "suspend", held[0])
    cluster.wait_state(held[0], "SUSPENDED")
    time.sleep(3)
    assert cluster.job(job)["JobState"] == "PENDING"
    cluster.run("scontrol", "resume", held[0])
    cluster.wait_state(held[0])
    assert start_time(cluster, job) <= 601


def test_a_job_that_shrinks_lets_others_start(cluster):
    two = cluster.sbatch("sleep 9999", nodes=2, gres="gpu:2", time=30)
    cluster.wait_state(two)
    fill(cluster, nodes=("n3",))
    job = cluster.sbatch("sleep 9999", gres="gpu:2", time=10)
    wait_booked(cluster, job)
    cluster.update(JobId=two, NumNodes=1)
    cluster.wait_state(job)


def test_advance_reservations(cluster):
    cluster.run("scontrol", "create", "reservation", "ReservationName=r", "Users=root", "Nodes=n1",
                "StartTime=now+10minutes", "Duration=30")
    try:
        fill(cluster, minutes=60, nodes=("n2", "n3"))
        fill(cluster, minutes=5, nodes=("n1",))
        # Between the end of what runs on n1 and the reservation there is no room for 20 minutes.
        job = cluster.sbatch("sleep 1", gres="gpu:2", time=20)
        wait_booked(cluster, job)
        assert start_time(cluster, job) >= 39 * 60
        short = cluster.sbatch("sleep 1", gres="gpu:2", time=3)
        wait_booked(cluster, short)
        assert start_time(cluster, short) <= 301
    finally:
        cluster.run("scontrol", "delete", "ReservationName=r")


def test_a_job_in_a_reservation_starts_in_it(cluster):
    cluster.run("scontrol", "create", "reservation", "ReservationName=r", "Users=root", "Nodes=n1",
                "StartTime=now", "Duration=30")
    try:
        job = cluster.sbatch("sleep 1", gres="gpu:2", time=3, reservation="r")
        assert cluster.wait_state(job, "COMPLETED")["NodeList"] == "n1"
    finally:
        cluster.run("scontrol", "delete", "ReservationName=r")


def test_held_jobs_lose_their_booking(cluster):
    fill(cluster)
    first = cluster.sbatch("sleep 1", gres="gpu:2", time=10)
    second = cluster.sbatch("sleep 1", gres="gpu:2", time=10, nodelist="n1")
    wait_booked(cluster, first)
    wait_booked(cluster, second)
    cluster.run("scontrol", "hold", first)
    cluster.wait_for(lambda: cluster.job(first)["StartTime"] == "Unknown", what="no start time")
    cluster.run("scontrol", "release", first)
    wait_booked(cluster, first)


def test_every_job_within_the_depth_has_a_start_time(cluster):
    """R31, R32, R33"""
    fill(cluster)
    jobs = [cluster.sbatch("sleep 1", gres="gpu:1", time=10 + i) for i in range(8)]
    for i, job in enumerate(jobs):
        assert wait_booked(cluster, job)["TimeLimit"] == f"00:{10 + i}:00"
    cluster.update(JobId=jobs[7], Priority=4000000000)
    time.sleep(3)
    assert cluster.job(jobs[7])["Priority"] == "4000000000"


def test_reconfigure_and_kill_lose_no_job(cluster):
    held = fill(cluster)
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=10)
    wait_booked(cluster, job)
    cluster.reconfigure()
    time.sleep(2)
    wait_booked(cluster, job)
    cluster.wait_saved(job)  # what slurmctld has not written yet, nobody can keep
    cluster.end("slurmctld", signal.SIGKILL)
    cluster.start_slurmctld()
    assert cluster.states(*held) == ["RUNNING"] * 3
    wait_booked(cluster, job)
    cluster.run("scancel", *held)
    cluster.wait_state(job, "COMPLETED")


def killed(c, job):
    """slurmctld, anew after a kill -9, once its first cycle is over and told."""
    c.wait_saved(job)
    c.end("slurmctld", signal.SIGKILL)
    c.start_slurmctld()
    # slurmctld reads sched_interval in its first cycle, which something has to set off.
    c.sbatch("true", hold=True)
    # The list of booked nodes is the reporter's, and no part of slurmctld's own state.
    booked_nodes(c, job)


def test_a_promise_survives_a_kill(cluster):
    """Planned afresh, the job above would take n1 as soon as it is free, and the named one wait."""
    c = cluster
    held = [fill(c, minutes=m, nodes=(n,))[0] for n, m in (("n1", 30), ("n2", 20), ("n3", 10))]
    above = c.sbatch("sleep 9999", nodes=2, gres="gpu:2", time=60)
    assert wait_booked(c, above)["SchedNodeList"] == "n[2-3]"
    below = c.sbatch("sleep 9999", gres="gpu:2", time=60, nodelist="n1")
    wait_booked(c, below)
    c.update(JobId=held[0], TimeLimit=10)
    c.wait_for(lambda: start_time(c, below) <= 601, what="the earlier start")
    promised = [start_at(c, job) for job in (above, below)]
    killed(c, below)
    c.wait_nodes_registered()
    cycles = sdiag(c)["Total cycles"]
    c.wait_for(lambda: sdiag(c)["Total cycles"] >= cycles + 2, what="two cycles")
    for job, start in zip((above, below), promised):
        assert start_at(c, job) <= start + 1
    assert c.log_grep("the bookings in .*ccr_bookings.json are kept")
    c.run("scancel", held[0])
    c.wait_state(below)


def test_no_filler_slips_in_while_slurmctld_comes_back(cluster):
    c = cluster
    fill(c, nodes=("n2", "n3"))
    c.wait_state(c.sbatch("sleep 9999", gres="gpu:1", time=10, nodelist="n1"))
    top = c.sbatch("sleep 9999", gres="gpu:2", time=60)
    wait_booked(c, top)
    promised = start_at(c, top)
    fillers = [c.sbatch("sleep 9999", gres="gpu:1", time=60) for _ in range(4)]
    for again in range(2):
        if again:  # nor when what was promised is lost
            os.truncate(f"{c.root}/state/ccr_bookings.json", 10)
        killed(c, top)
        c.wait_nodes_registered()
        cycles = sdiag(c)["Total cycles"]
        c.wait_for(lambda: sdiag(c)["Total cycles"] >= cycles + 2, what="two cycles")
        assert c.states(top, *fillers) == ["PENDING"] * 5
        assert start_at(c, top) <= promised + 1
    assert c.log_grep("ccr_bookings.json.*all bookings are made anew")


def test_partition_preemption():
    with gate_cluster(nodes=2, cpus=8, gpus="a100:2",
                      conf={"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"},
                      partitions={"low": "Nodes=ALL Default=YES PriorityTier=1 MaxTime=INFINITE",
                                  "high": "Nodes=ALL PriorityTier=10 MaxTime=INFINITE"}) as c:
        low = [c.sbatch("sleep 9999", gres="gpu:2", time=60) for _ in range(3)]
        c.wait_for(lambda: c.states(*low).count("RUNNING") == 2)
        high = c.sbatch("sleep 9999", gres="gpu:2", time=60, partition="high")
        c.wait_state(high, timeout=60)
        c.wait_for(lambda: c.states(*low).count("RUNNING") == 1)
        assert c.job(high)["JobState"] == "RUNNING"
        assert not c.log_grep("decides alone")


def test_it_comes_and_goes_with_jobs_in_the_queue():
    """Installed and taken away again with jobs queued and running: none is lost."""
    with gate_cluster(nodes=2, cpus=8, gpus="a100:2", gate=False) as c:
        running = fill(c, nodes=("n1", "n2"))
        waiting = [c.sbatch("sleep 1", gres="gpu:2", time=5) for _ in range(3)]
        for plugins in (("select",), ()):
            c.end("slurmctld")
            c.plugins = plugins
            c.conf["SchedulerParameters"] = re.sub(r",bf_min_prio_reserve=\d+", "",
                                                   c.conf["SchedulerParameters"])
            if plugins:
                c.conf["SchedulerParameters"] += ",bf_min_prio_reserve=4294967295"
            c.write_conf()
            c.start_slurmctld()
            c.wait_nodes_registered()
            assert c.states(*running) == ["RUNNING"] * 2
            assert c.states(*waiting) == ["PENDING"] * 3
            if plugins:
                wait_booked(c, waiting[0])
        c.run("scancel", *running)
        for job in waiting:
            c.wait_state(job, "COMPLETED")


def test_strict_and_depth_by_partition():
    """R22, R36 on a real cluster."""
    with gate_cluster(nodes=[Nodes(count=1, cpus=4)], partitions={
            "p": "Nodes=ALL Default=YES MaxTime=INFINITE", "q": "Nodes=ALL MaxTime=INFINITE"},
            policy={"version": 1, "preset": "ccr", "default_group": "all",
                    "groups": {"all": {"target": 100}},
                    "backfill": {"depth": 1, "partitions": {"q": {"depth": 0, "strict": True}}}},
            ) as c:
        c.wait_state(c.sbatch("sleep 9999", cpus_per_task=2, time=30))
        blocked = c.sbatch("sleep 1", cpus_per_task=3, time=30, partition="q")
        waits = c.sbatch("sleep 9999", time=5, partition="q")
        c.wait_for(lambda: "strict" in c.job(waits)["Reason"], what="a strict partition")
        booked = c.sbatch("sleep 1", cpus_per_task=3, time=30)
        wait_booked(c, booked)
        c.wait_state(c.sbatch("sleep 9999", time=5))
        assert c.job(blocked)["StartTime"] == "Unknown"
        assert c.job(waits)["JobState"] == "PENDING"


def test_nobody_slips_in_before_the_main_cycle():
    """sched/backfill and a user's salloc come while the main cycle has not seen a new job above."""
    seldom = SCHED.replace("batch_sched_delay=0,sched_interval=2,bf_interval=2",
                           "batch_sched_delay=15,sched_interval=15,bf_interval=1") + KEEP_GOING
    with gate_cluster(nodes=1, cpus=8, gpus="a100:4", conf={"SchedulerParameters": seldom},
                      partitions={"p": "Nodes=ALL Default=YES MaxTime=INFINITE",
                                  "q": "Nodes=ALL MaxTime=INFINITE"},
                      policy={"version": 1, "preset": "ccr", "default_group": "all",
                              "groups": {"all": {"target": 100}},
                              "backfill": {"partitions": {"q": {"depth": 0, "strict": True}}}},
                      ) as c:
        c.run("salloc", "--no-shell", "--gres=gpu:2", "--cpus-per-task=2", "-t3")
        cycles = sdiag(c)["Total cycles"]
        top = c.sbatch("sleep 9999", gres="gpu:3", time=60)
        first = c.sbatch("sleep 9999", cpus_per_task=7, time=60, partition="q")
        behind = c.sbatch("sleep 9999", time=60, partition="q")
        refused = c.run("salloc", "--no-shell", "--immediate=1", "--gres=gpu:2", "-t60",
                        check=False)
        assert refused.returncode
        said = rf"JobId={behind} waits for the main cycle: a job above is new"
        if sdiag(c)["Total cycles"] == cycles:
            assert "booked" not in c.job(top)["Reason"]
            # On a busy machine the main cycle may yet come before sched/backfill's turn.
            c.wait_for(lambda: c.log_grep(said) or sdiag(c)["Total cycles"] > cycles,
                       what="sched/backfill's turn")
        wait_booked(c, top, timeout=60)
        assert start_time(c, top) <= 181
        wait_reason(c, behind, "strict")
        assert c.states(top, first, behind) == ["PENDING"] * 3


def test_a_booking_that_is_due_and_does_not_start_is_given_up():
    """mcs/user keeps other users off a node, which the plan does not know. On a clock twenty times
    as fast, as that takes half a minute; then whole nodes are booked."""
    with gate_cluster(nodes=1, cpus=4, clock="@2026-01-05 12:00:00 x20",
                      conf={"MCSPlugin": "mcs/user", "MCSParameters": "enforced,select"}) as c:
        held = c.sbatch("sleep 99999", user="games", time=60)
        c.wait_state(held)
        job = c.sbatch("sleep 1", user="man", time=10)
        given_up = rf"JobId={job} was to start [3-9]\d s ago and did not: it gets a booking of whole"
        c.wait_for(lambda: c.log_grep(given_up), 60, what="the end of the first booking")
        c.wait_for(lambda: c.log_grep(rf"JobId={job} is booked in [23]\d\d\d s"), 60,
                   what="a booking behind the running job")
        # Nobody holds the machine for it meanwhile.
        other = c.sbatch("sleep 1", user="games", time=30)
        c.wait_state(other, "COMPLETED")
        c.run("scancel", held)
        c.wait_state(job, "COMPLETED")


def test_contiguous_nodes_that_are_not_there_are_held_for_nobody():
    with gate_cluster(nodes=3, cpus=4) as c:
        c.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
        job = c.sbatch("sleep 1", nodes=2, contiguous=True, time=10)
        c.wait_for(lambda: c.log_grep(rf"JobId={job} gets no booking: it never fits"), what="no booking")
        c.wait_state(c.sbatch("sleep 1", nodes=2, time=60), "COMPLETED")
        c.run("scontrol", "update", "NodeName=n2", "State=RESUME")
        c.wait_state(job, "COMPLETED")


def test_nodes_without_what_a_job_asks_for_are_not_held_for_it():
    """Such jobs are booked as whole nodes; one that has none of it would be held for ever."""
    with gate_cluster(nodes=[Nodes(count=1, cpus=8, gpus="a100:2"),
                             Nodes(prefix="c", count=1, cpus=8),
                             Nodes(prefix="k", count=1, cpus=8, real=False, extra="Gres=nic:1")],
                      conf={"GresTypes": "gpu,nic"}) as c:
        for gres, node in (("gpu:2", "n1"), ("nic:1", "k1")):
            c.wait_for(lambda job=c.sbatch("sleep 9999", gres=gres, time=30, nodelist=node):
                       c.job(job)["JobState"] in ("RUNNING", "CONFIGURING"), what=node)
        sockets = c.sbatch("sleep 1", gpus_per_socket=2, sockets_per_node=1, time=10)
        assert wait_booked(c, sockets)["SchedNodeList"] == "n1"
        nic = c.sbatch("sleep 1", gres="nic:1", time=10)
        assert wait_booked(c, nic)["SchedNodeList"] == "k1"
        c.wait_state(c.sbatch("sleep 9999", cpus_per_task=8, time=600, nodelist="c1"))


def test_a_hetjob_is_booked_again_when_a_node_comes_back(cluster):
    fill(cluster, minutes=10)
    het = int(cluster.run("sbatch", "--parsable", "--output=/dev/null", "-t5", "--gres=gpu:2", "-N2", ":", "--gres=gpu:2",
                          "-N1", "--wrap", "sleep 1").stdout)
    assert 8 * 60 < start_time(cluster, het + 1) <= 601
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=test")
    cluster.wait_for(lambda: "SchedNodeList" not in cluster.job(het + 1), what="no booking without the third node")
    cluster.wait_for(lambda: all(cluster.job(het + i)["StartTime"] == "Unknown" for i in (0, 1)), what="no start told")
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    assert 8 * 60 < start_time(cluster, het + 1) <= 601
    wait_booked(cluster, het)


def test_no_booking_behind_a_deadline(cluster):
    fill(cluster, minutes=30)
    job = cluster.sbatch("sleep 1", gres="gpu:2", time=5, deadline="now+20minutes")
    cluster.wait_for(lambda: cluster.log_grep(rf"JobId={job} gets no booking: beyond"), 30,
                     what="a booking that is not made")
    early = cluster.sbatch("sleep 1", gres="gpu:2", time=5, deadline="now+40minutes")
    wait_booked(cluster, early)
    assert "SchedNodeList" not in cluster.job(job)


def test_a_partition_that_shares_cpus():
    """Which cores are shared with whom is not counted: whole nodes are booked, none for now."""
    with gate_cluster(nodes=2, cpus=4, partitions={
            "p": "Nodes=ALL Default=YES MaxTime=INFINITE",
            "twice": "Nodes=ALL MaxTime=INFINITE OverSubscribe=FORCE:2"}) as c:
        for node in ("n1", "n2"):
            c.wait_state(c.sbatch("sleep 9999", cpus_per_task=3, time=30, nodelist=node))
        job = c.sbatch("sleep 1", ntasks=3, nodes=1, partition="twice", time=5)
        wait_booked(c, job)
        assert 29 * 60 < start_time(c, job) <= 1801


def test_nodes_where_a_job_of_such_a_partition_runs_are_no_others():
    """Slurm's plugin gives them to nobody of another partition, whatever CPUs are left."""
    with gate_cluster(nodes=2, cpus=4, partitions={
            "p": "Nodes=ALL Default=YES MaxTime=INFINITE",
            "twice": "Nodes=ALL MaxTime=INFINITE OverSubscribe=YES:2"}) as c:
        shared = [c.sbatch("sleep 9999", "-s", nodelist="n1", partition="twice", time=10) for _ in "12"]
        c.wait_state(c.sbatch("sleep 9999", cpus_per_task=4, time=30, nodelist="n2"))
        for job in shared:
            c.wait_state(job)
        job = c.sbatch("sleep 9999", cpus_per_task=2, time=5)
        assert wait_booked(c, job)["SchedNodeList"] == "n1"
        assert 9 * 60 < start_time(c, job) <= 601
        c.wait_state(c.sbatch("sleep 1", "-s", partition="twice", time=5), "COMPLETED")
        for other in shared:
            c.run("scancel", other)
        c.wait_state(job)


def test_a_partition_that_gives_out_a_part_of_each_node():
    """MaxCPUsPerNode: counts would have it start at once, the stock plugin will not."""
    with gate_cluster(nodes=1, cpus=8, partitions={
            "p": "Nodes=ALL Default=YES MaxTime=INFINITE MaxCPUsPerNode=4",
            "q": "Nodes=ALL MaxTime=INFINITE"}) as c:
        held = c.sbatch("sleep 9999", cpus_per_task=4, time=20)
        c.wait_state(held)
        job = c.sbatch("sleep 1", cpus_per_task=2, time=5)
        wait_booked(c, job)
        assert 19 * 60 < start_time(c, job) <= 1201
        c.wait_state(c.sbatch("sleep 9999", cpus_per_task=4, time=10, partition="q"))
        c.run("scancel", held)
        c.wait_state(job, "COMPLETED")
