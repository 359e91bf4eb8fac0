"""Hetjobs whose components could be in each other's way: each has nodes of its own, and slurmctld
starts one after the other. If one fails it takes all back and tries again two minutes later."""
import os
import subprocess
import time

import pytest
from ccrcluster import Nodes
from gate import booked_nodes, gate_cluster, sdiag, start_at, start_time, wait_booked

pytestmark = pytest.mark.every_slurm


@pytest.fixture(scope="module", name="cluster")
def _cluster():
    """m1 is the only one with h100s, and where placement would have a job of any GPU."""
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4"),
                             Nodes(prefix="m", count=1, cpus=16, gpus="a100:1,h100:3"),
                             Nodes(prefix="f", count=1, cpus=16, gpus="a100:8")]) as c:
        yield c


@pytest.fixture(autouse=True)
def _clear(cluster):
    yield
    cluster.clear()


def hetjob(c, *components):
    """The ids of its components. A component is a list of sbatch's options."""
    words = [word for part in components for word in (":", *part)][1:]
    first = int(c.run("sbatch", "--parsable", "--output=/dev/null", *words, "--wrap", "sleep 9999").stdout)
    return [first + i for i in range(len(components))]


def held(c, node, gres, minutes, *options, **more):
    job = c.sbatch("sleep 9999", *options, gres=gres, nodelist=node, time=minutes, **more)
    c.wait_state(job)
    return job


def wait_started(c, het):
    """All of it at the first try: slurmctld has never taken one back."""
    c.wait_for(lambda: c.states(*het) == ["RUNNING"] * len(het), 30,
               what=lambda: f"{c.job(het[0])} {c.job(het[-1])}")
    assert not c.log_grep("Deallocate JobId=.* due to hetjob start failure")


def test_components_start_where_they_are_planned(cluster):
    """The first could also start on m1, the only node that the second can: it is not planned there,
    as an h100 might be dealt to it that another job is booked for."""
    c = cluster
    held(c, "m1", "gpu:h100:2", 5)
    top = c.sbatch("true", gres="gpu:h100:3", time=30)
    wait_booked(c, top)
    het = hetjob(c, ("-t60", "--gres=gpu:1", "-N1"), ("-t1", "--gres=gpu:h100:1", "-N1"))
    wait_started(c, het)
    assert c.job(het[1])["NodeList"] == "m1"
    assert start_time(c, top) <= 301


@pytest.mark.parametrize("rare_first", (False, True))
def test_a_component_leaves_the_node_that_another_needs(cluster, rare_first):
    c = cluster
    held(c, "m1", "gpu:h100:1", 10)
    held(c, "n1", "gpu:1", 10)
    parts = [("-t1", "--gres=gpu:1", "-N2"), ("-t1", "--gres=gpu:h100:1", "-N1")]
    het = hetjob(c, *(parts[::-1] if rare_first else parts))
    wait_started(c, het)
    assert c.job(het[not rare_first])["NodeList"] == "m1"


def test_such_a_hetjob_is_booked(cluster):
    """m1, n1 and f1 are to be had, and m1 is where the second goes."""
    c = cluster
    held(c, "n2", "gpu:4", 30)
    first = held(c, "n1", "gpu:4", 10)
    het = hetjob(c, ("-t1", "--gres=gpu:1", "-N2"), ("-t1", "--gres=gpu:h100:1", "-N1"))
    for job in het:
        wait_booked(c, job)
        assert 8 * 60 < start_time(c, job) <= 601
    assert c.job(het[1])["SchedNodeList"] == "m1"
    c.run("scancel", first)
    wait_started(c, het)


def test_no_start_where_a_node_is_another_users_own(cluster):
    c = cluster
    first = held(c, "m1", "gpu:h100:3", 10, user="games")
    het = hetjob(c, ("-t1", "--gres=gpu:1", "-N1"), ("-t1", "--gres=gpu:h100:1", "-N1"))
    assert wait_booked(c, het[1])["SchedNodeList"] == "m1"
    own = held(c, "m1", "gpu:a100:1", 5, "--exclusive=user", user="games")
    c.run("scancel", first)
    time.sleep(5)  # cycles
    assert c.states(*het) == ["PENDING"] * 2
    c.run("scancel", own)
    wait_started(c, het)


def turns(c, n):
    """Waits for that many of sched/backfill's turns."""
    before = sdiag(c)["Total cycles"]
    c.wait_for(lambda: sdiag(c)["Total cycles"] >= before + n, 30, what=f"{n} turns of sched/backfill")


def test_who_is_behind_a_hetjob_keeps_his_booking_of_nodes_that_another_cannot_have():
    """sched/backfill alone starts those behind a hetjob. It is not told that one may start whose pick
    would delay another: it would keep the nodes from that one, turn by turn."""
    with gate_cluster(nodes=4, cpus=8) as c:
        held(c, "n4", "gpu:4", "UNLIMITED")
        r2, r3 = held(c, "n2", "gpu:4", 10), held(c, "n3", "gpu:4", 3)
        hetjob(c, ("-t1", "--gres=gpu:4", "-wn4"), ("-t1", "-c1", "-N1"))
        wide = c.sbatch("sleep 5", nodes=2, exclusive=True, exclude="n3,n4", time=5)
        wait_booked(c, wide)
        job = c.sbatch("sleep 9999", nodes=2, ntasks_per_node=1, gres="gpu:1", exclude="n2,n4", time=1)
        wait_booked(c, job)
        assert booked_nodes(c, job) == "n[1,3]"
        promised = start_at(c, job)
        c.run("scancel", r2)
        turns(c, 3)
        assert not c.log_grep(f"planned start of JobId={wide} failed")
        assert abs(start_at(c, job) - promised) <= 2
        srun = subprocess.Popen(["srun", "-t4", "-N1", "--gres=gpu:4", "-wn1", "sleep", "99"], cwd=c.root,
                                env=c.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        c.wait_for(lambda: any(j["JobName"] == "sleep" for j in c.jobs()), what="srun's job")
        c.run("scancel", r3)
        c.wait_state(job, timeout=15)
        srun.kill()
        srun.wait()


def test_who_shares_nodes_with_the_partition_of_a_hetjob_keeps_his_booking_there():
    """slurmctld's main cycle hides all nodes of a hetjob's partition, from jobs of others as well."""
    with gate_cluster(nodes=3, cpus=8, partitions={"p": "Nodes=n1,n2 Default=YES State=UP",
                                                   "t": "Nodes=n1,n2,n3 State=UP"}) as c:
        for node, gpus, minutes in (("n3", 4, 30), ("n2", 4, 10), ("n1", 3, 3)):
            held(c, node, f"gpu:{gpus}", minutes, partition="t")
        wait_booked(c, hetjob(c, ("-t1", "--gres=gpu:4", "-N1"), ("-t1", "--gres=gpu:4", "-N1"))[1])
        job = c.sbatch("sleep 5", gres="gpu:4", partition="t", time=1)
        wait_booked(c, job)
        turns(c, 1)
        promised = start_at(c, job)
        seen = set()
        end = time.monotonic() + 8
        while time.monotonic() < end:
            seen.add((booked_nodes(c, job), abs(start_at(c, job) - promised) <= 2))
            time.sleep(0.1)
        assert seen == {("n1", True)}


def test_who_is_behind_a_hetjob_beyond_the_reach_of_backfill_is_planned_anew():
    """Nobody asks about him any more. A booking that stayed for later would hold up those above."""
    with gate_cluster(nodes=3, cpus=8, sched=",bf_max_job_test=2") as c:
        held(c, "n3", "gpu:4", 60)
        first = held(c, "n1", "gpu:4", 60)
        held(c, "n2", "gpu:4", 60)
        hetjob(c, ("-t1", "--gres=gpu:4", "-wn3"), ("-t1", "-c1", "-N1"))
        job = c.sbatch("sleep 1", gres="gpu:4", time=30)
        wait_booked(c, job)
        assert start_time(c, job) > 3000
        c.run("scancel", first)
        c.wait_for(lambda: start_time(c, job) < 100, 15, what="a booking of the node that is free")


def test_words_that_a_restart_kept_end_with_the_booking():
    """slurmctld saves them with the job. Nobody asks the plugin about one that waits behind a hetjob
    and is no longer deep enough to be booked."""
    with gate_cluster(nodes=2, cpus=8, policy={"version": 1, "backfill": {"depth": 10}}) as c:
        for node, minutes in (("n1", 10), ("n2", 20)):
            held(c, node, "gpu:4", minutes)
        hetjob(c, ("-t1", "--gres=gpu:4", "-wn2"), ("-t1", "-c1", "-N1"))
        job = c.sbatch("sleep 9999", gres="gpu:2", time=10, exclude="n2")
        wait_booked(c, job)
        c.wait_saved(job)
        c.stop_slurmctld()
        c.write_policy({"version": 1, "backfill": {"depth": 0}})
        os.unlink(f"{c.root}/state/ccr_bookings.json")
        c.start_slurmctld()
        c.wait_for(lambda: "booked" not in c.job(job)["Reason"], 30, what=lambda: c.job(job)["Reason"])


def test_who_is_booked_behind_a_late_start_begins_that_much_later():
    """The first is booked for now and started one turn later. Those behind it slide, components and all,
    and none is planned anew behind all the others."""
    with gate_cluster(nodes=5, cpus=8) as c:
        hets = [hetjob(c, ("-N2", "-c8", f"-t{minutes}"), ("-N1", "-c8", "-t60")) for minutes in (120, 60, 60)]
        behind = [job for het in hets[1:] for job in het]
        for job in behind:
            wait_booked(c, job)
        promised = [start_at(c, job) for job in behind]
        assert promised[0] == promised[1] < promised[2] == promised[3]
        wait_started(c, hets[0])
        turns(c, 2)
        now = [start_at(c, job) for job in behind]
        assert now[0] == now[1] and now[2] == now[3]
        assert all(0 <= b - a <= 30 for a, b in zip(promised, now))
