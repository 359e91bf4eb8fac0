"""What users are told where slurmctld has one word for several things: partitions, private queues,
jobs that the plugin is never asked about."""
import time

import pytest

from gate import (KEEP_GOING, SCHED, Nodes, booked_nodes, gate_cluster, start_at, start_time,
                  told, wait_booked, wait_reason)

PARTS = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE", "lim": "Nodes=ALL MaxTime=10",
         "off": "Nodes=ALL State=DOWN", "some": "Nodes=n1 MaxTime=INFINITE",
         "one": "Nodes=ALL MaxTime=INFINITE"}
POLICY = {"version": 1, "preset": "ccr", "default_group": "all", "groups": {"all": {"target": 100}},
          "backfill": {"partitions": {"one": {"depth": 1}}}}


@pytest.fixture(scope="module")
def session():
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")], partitions=PARTS,
                      conf={"PrivateData": "jobs"}, policy=POLICY) as c:
        yield c


@pytest.fixture
def cluster(session):
    yield session
    session.clear()


def fill(c, minutes=60, node="n1", gpus=4):
    job = c.sbatch("sleep 9999", gres=f"gpu:{gpus}", time=minutes, nodelist=node)
    c.wait_state(job)
    return job


def test_a_partition_that_refuses_a_job_takes_no_booking_in_another(cluster):
    """Its reason is PartitionTimeLimit, or PartitionDown, whenever that partition was tried last."""
    c = cluster
    fill(c)
    fill(c, node="n2")
    jobs = [c.sbatch("true", gres="gpu:4", nodes=1, time=90, partition=p)
            for p in ("p,lim", "p,off", "lim,p")]
    for job in jobs:
        wait_booked(c, job)
    promised = {job: start_at(c, job) for job in jobs}
    seen = {job: set() for job in jobs}
    for _ in range(16):
        time.sleep(0.5)
        for job in jobs:
            seen[job].add(c.job(job)["Reason"].split(",")[0])
    assert {job: start_at(c, job) for job in jobs} == promised
    for job in jobs:  # for a moment it is slurmctld's word, before the report mends it
        assert "Resources" in seen[job]
    # a partition that goes takes its bookings along
    c.run("scontrol", "update", "PartitionName=p", "State=DOWN")
    try:
        c.wait_for(lambda: all(c.job(j)["StartTime"] == "Unknown" for j in jobs), 30,
                   what=lambda: str([c.job(j)["StartTime"] for j in jobs]))
    finally:
        c.run("scontrol", "update", "PartitionName=p", "State=UP")


def test_with_private_jobs_a_reason_names_only_your_own(cluster):
    c = cluster
    fill(c, minutes=30, gpus=3)
    fill(c, node="n2")
    top = c.sbatch("true", gres="gpu:4", nodes=1, time=60, partition="one", user="games")
    wait_booked(c, top)
    mine = c.sbatch("sleep 9999", gres="gpu:1", time=120, partition="one", user="games")
    other = c.sbatch("sleep 9999", gres="gpu:1", time=120, partition="one", user="lp")
    wait_reason(c, mine, f"would_delay_job_{top}_booked_for")
    reason = wait_reason(c, other, "would_delay")["Reason"]
    assert reason.startswith("Priority,_would_delay_a_booking_of_a_job_ahead"), reason


def test_a_named_node_that_is_reserved_for_later(cluster):
    """slurmctld refuses such a job before the plugin is asked. (There is a plan since it was asked about
    any job.)"""
    c = cluster
    c.wait_state(c.sbatch("true"), "COMPLETED")
    c.run("scontrol", "create", "reservation", "ReservationName=r", "Users=root", "Nodes=n1",
          "StartTime=now+10minutes", "Duration=30")
    try:
        job = c.sbatch("sleep 1", gres="gpu:2", time=20, nodelist="n1")
        assert 39 * 60 <= start_time(c, job) <= 42 * 60
        assert booked_nodes(c, job) == "n1"
        # and one behind it that needs all nodes, of which slurmctld hides the first
        behind = c.sbatch("sleep 1", gres="gpu:3", time=30, nodes=2)
        told(c, behind, "SchedNodeList")
        assert start_at(c, behind) >= start_at(c, job) + 1200 - 1
        # nobody starts on n2 who would be in its way
        late = c.sbatch("sleep 9999", gres="gpu:2", time=300)
        told(c, late, "SchedNodeList")
        assert start_at(c, late) > start_at(c, behind)
    finally:
        c.run("scontrol", "delete", "ReservationName=r")
    c.run("scancel", str(late))
    c.wait_state(job, "COMPLETED")
    c.wait_state(behind, "COMPLETED")


def test_behind_a_job_that_names_all_nodes_of_a_partition(cluster):
    """The main cycle comes to nobody else there; they are booked with the rest all the same."""
    c = cluster
    fill(c)
    top = c.sbatch("true", gres="gpu:4", time=30, nodelist="n1", partition="some")
    wait_booked(c, top)
    named = c.sbatch("true", gres="gpu:4", time=30, nodelist="n1", partition="some")
    plain = c.sbatch("true", gres="gpu:4", time=30, partition="some")
    for job, before in ((named, top), (plain, named)):
        assert wait_booked(c, job)["SchedNodeList"] == "n1"
        assert start_at(c, job) >= start_at(c, before) + 1800 - 1


def test_a_second_job_that_names_the_node_is_not_passed(cluster):
    """Of two -w jobs slurmctld comes to the first alone: the second has its booking when its turn is,
    before lower ones have theirs."""
    c = cluster
    fill(c, minutes=10)
    fill(c, node="n2")
    jobs = [c.sbatch("true", gres="gpu:4", time=t, exclude="n2" if low else None,
                     nodelist=None if low else "n1")
            for t, low in ((5, False), (7, False), (60, True), (60, True))]
    for job in jobs:
        wait_booked(c, job)
    starts = [start_at(c, job) for job in jobs]
    for one, other, limit in zip(starts, starts[1:], (300, 420, 3600)):
        assert abs(other - one - limit) <= 5, starts


def test_named_nodes_beside_a_far_reservation():
    """A maintenance of another node, next week, changes nothing for a node that jobs name: the main
    cycle fills what is idle there."""
    sched = SCHED.replace("bf_interval=2", "bf_interval=100") + KEEP_GOING
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")],
                      conf={"SchedulerParameters": sched}) as c:
        c.run("scontrol", "create", "reservation", "ReservationName=far", "Users=root", "Nodes=n2",
              "StartTime=now+5days", "Duration=30", "Flags=MAINT")
        fill(c, gpus=3)
        fill(c, node="n2")
        named = c.sbatch("true", gres="gpu:4", time=60, nodelist="n1")
        behind = c.sbatch("true", gres="gpu:4", time=60, nodelist="n1")
        wait_booked(c, named)
        wait_booked(c, behind)
        filler = c.sbatch("sleep 9999", gres="gpu:1", time=5)
        assert c.wait_state(filler, timeout=20)["NodeList"] == "n1"
        assert c.job(filler)["Scheduler"] == "Main"
        assert not c.log_grep(f"Extending JobId={filler} ")


def test_a_node_is_planned_for_after_its_reservation(cluster):
    c = cluster
    fill(c, minutes=1)
    fill(c, minutes=60, node="n2")
    c.run("scontrol", "create", "reservation", "ReservationName=soon", "Users=root", "Nodes=n1",
          "StartTime=now+3minutes", "Duration=10")
    try:
        any_node = c.sbatch("true", gres="gpu:4", nodes=1, time=5)
        # a cycle that began before the reservation was made knows nothing of it
        c.wait_for(lambda: 12 * 60 <= start_time(c, any_node) <= 14 * 60, what="a start behind the reservation")
        assert booked_nodes(c, any_node) == "n1"
    finally:
        c.run("scontrol", "delete", "ReservationName=soon")


def test_a_hetjob_takes_no_place_of_a_job_above_that_is_new():
    """sched/backfill comes more often than the main cycle, and books het jobs."""
    sched = SCHED.replace("batch_sched_delay=0,sched_interval=2",
                          "batch_sched_delay=15,sched_interval=15") + KEEP_GOING
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")],
                      policy={"version": 1, "backfill": {"depth": 3}},  # enough beside priority/basic
                      conf={"SchedulerParameters": sched}) as c:
        assert not c.log_grep("nothing to rank")
        c.run("salloc", "--no-shell", "--gres=gpu:4", "-w", "n1", "-t", "20")
        top = c.sbatch("true", gres="gpu:4", nodes=2, time=30)  # in 20 minutes
        low = c.sbatch("sleep 9999", gres="gpu:4", time=10)  # at once, on n2
        out = c.run("sbatch", "--parsable", f"--output={c.root}/out/het.out", "--gres=gpu:1", "-t5",
                    ":", "--gres=gpu:1", "-t5", input="#!/bin/sh\ntrue\n").stdout
        het = int(out.split(";")[0])
        c.wait_state(low)
        told(c, het, "SchedNodeList", timeout=60)
        assert start_time(c, top) <= 20 * 60 + 2
        assert start_at(c, het) >= start_at(c, top) + 1800 - 2


def test_what_was_told_of_a_window_goes_with_it():
    policy = {"version": 1, "backfill": {"window": 60}}
    with gate_cluster(nodes=1, cpus=2, gpus=None, policy=policy) as c:
        c.wait_state(c.sbatch("sleep 9999", ntasks=2, time=60))
        job = c.sbatch("true", ntasks=2, time=5)
        wait_reason(c, job, "cannot_be_booked_within_the_window_of_0-00:01:00")
        assert c.job(job)["StartTime"] == "Unknown"
        c.write_policy({"version": 1, "backfill": {"depth": 0}})
        c.reconfigure()
        c.wait_for(lambda: c.job(job)["Reason"] in ("Resources", "Priority"), 20,
                   what=lambda: c.job(job)["Reason"])


def test_no_node_is_to_blame_behind_a_hetjob():
    """The main cycle hides the nodes of the hetjob's partition and asks the plugin about nobody."""
    parts = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE", "q": "Nodes=n[1-2] MaxTime=INFINITE",
             "short": "Nodes=ALL MaxTime=30", "x": "Nodes=n[2-3] MaxTime=60 OverSubscribe=EXCLUSIVE",
             "few": "Nodes=n3,n4 MaxTime=INFINITE", "low": "Nodes=n2 MaxTime=INFINITE PriorityTier=0"}
    with gate_cluster(nodes=[Nodes(count=4, cpus=8, gpus="a100:4")], partitions=parts) as c:
        c.run("scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=test")
        for node in ("n1", "n2", "n3"):
            fill(c, node=node, minutes=30)
        c.run("sbatch", f"--output={c.root}/out/het.out", "--gres=gpu:4", "-t20", ":",
              "--gres=gpu:4", "-t20", input="#!/bin/sh\ntrue\n")
        jobs = [c.sbatch("true", gres="gpu:1", time=10, partition=p)
                for p in ("q", "p,short", "x", "few")]
        drained = c.sbatch("true", gres="gpu:1", nodes=2, time=10, partition="few")
        kept = c.sbatch("true", gres="gpu:1", time=10, partition="low", user="games")
        for job in jobs:
            wait_booked(c, job)
        seen = []
        for _ in range(40):  # every cycle says so anew, and it is mended at once
            time.sleep(0.1)
            seen += [j["reason"] for j in c.squeue("-t", "PD") if int(j["job"].split("+")[0]) in jobs]
        wrong = [r for r in seen if "DOWN" in r]
        assert len(wrong) < len(seen) / 5, f"{len(wrong)} of {len(seen)}"
        assert len([r for r in seen if "booked for" in r]) > len(seen) / 2
        # one of the two nodes that this one needs is drained indeed
        seen = [c.job(drained)["Reason"] for _ in range(20)]
        assert {r[:30] for r in seen} <= {"Nodes_required_for_job_are_DOW",
                                          "ReqNodeNotAvail,_UnavailableNo"}, seen
        assert "booked" in wait_booked(c, kept)["Reason"]
        # and with what is hidden alone in its way it waits for its turn
        c.run("scontrol", "update", "NodeName=n4", "State=RESUME")
        wait_booked(c, drained)


def test_a_booking_that_is_due_has_no_second(tmp_path):
    """Its time moves on with the clock, and slurmctld shows the time of day as its start."""
    epilog = tmp_path / "epilog"
    epilog.write_text("#!/bin/sh\nsleep 7\n")
    epilog.chmod(0o755)
    tmp_path.chmod(0o755)
    with gate_cluster(nodes=1, cpus=4, gpus="a100:4", conf={"Epilog": str(epilog)}) as c:
        first = c.sbatch("sleep 9999", gres="gpu:4", time=30)
        c.wait_state(first)
        job = c.sbatch("sleep 9999", gres="gpu:4", time=30)
        wait_booked(c, job)
        c.run("scancel", str(first))
        wait_reason(c, job, "booked_for_now_on_n1", 10)
        for _ in range(20):
            j = c.job(job)
            if j["JobState"] != "PENDING":
                break
            if "booked_for" in j["Reason"]:  # else for a moment it is slurmctld's word
                assert j["Reason"] == "Resources,_booked_for_now_on_n1"
                due = time.mktime(time.strptime(j["StartTime"], "%Y-%m-%dT%H:%M:%S"))
                assert abs(due - time.time()) <= 3
            time.sleep(0.2)
        c.wait_state(job)
