"""What later versions of Slurm brought that the gate has to know: cores that are kept for GPUs,
reservations that take GPUs of a node, nodes in use that are planned."""
import pytest

from gate import Nodes, gate_cluster, start_time, wait_booked

pytestmark = pytest.mark.every_slurm


SOCKETS = "Sockets=4 CoresPerSocket=4 ThreadsPerCore=1"


def need(c, *version):
    if c.version < version:
        c.stop()
        pytest.skip(f"new in {version[0]}.{version[1]:02d}")


def test_cores_kept_for_gpus():
    """n1 has 16 cores; two beside each of its four GPUs are for jobs with GPUs alone."""
    c = gate_cluster(nodes=[Nodes(count=1, cpus=16, gpus="a100:4", gpu_cores=4,
                                  extra=f"{SOCKETS} RestrictedCoresPerGPU=2")])
    need(c, 24, 5)
    with c:
        assert c.node("n1")["RestrictedCoresPerGPU"].startswith("2(")
        first = c.sbatch("sleep 9999", cpus_per_task=6, time=10)
        c.wait_state(first)
        # Ten cores are idle, and two of them are for such a job.
        top = c.sbatch("sleep 9999", cpus_per_task=8, time=30)
        wait_booked(c, top)
        assert 300 < start_time(c, top) <= 601
        # Two cores are idle until then, and none after.
        late = c.sbatch("sleep 9999", cpus_per_task=2, time=60)
        wait_booked(c, late)
        assert start_time(c, late) > 1800
        short = c.sbatch("sleep 9999", cpus_per_task=2, time=5)
        c.wait_state(short)
        # Cores beside a GPU are in nobody's way.
        gpu = c.sbatch("sleep 9999", gres="gpu:1", cpus_per_task=2, time=60)
        c.wait_state(gpu)
        assert 300 < start_time(c, top) <= 601
        c.run("scancel", first, short)
        c.wait_state(top)
        assert c.job(late)["JobState"] == "PENDING"


def test_a_reservation_of_some_gpus_of_a_node():
    """Two of four GPUs are set aside for twenty minutes, with the cores that go with them: the rest
    of the node is planned and filled as ever."""
    c = gate_cluster(nodes=[Nodes(count=1, cpus=16, gpus="a100:4", gpu_cores=4, extra=SOCKETS)],
                     dbd=True, accounts={"phys": {"users": ["games", "root"]}})
    need(c, 23, 11)
    job = {"user": "games", "account": "phys"}
    with c:
        c.run("scontrol", "create", "reservation", "ReservationName=r", "Users=root", "NodeCnt=1",
              "TRESPerNode=gres/gpu=2", "CoreCnt=4", "StartTime=now", "Duration=20")
        both = c.sbatch("sleep 9999", gres="gpu:2", time=10, **job)
        c.wait_state(both)
        # The other two GPUs are idle, and not for this one.
        top = c.sbatch("sleep 9999", gres="gpu:1", time=30, **job)
        wait_booked(c, top)
        assert 300 < start_time(c, top) <= 601
        all_four = c.sbatch("sleep 9999", gres="gpu:4", time=30, **job)
        wait_booked(c, all_four)
        assert 1800 < start_time(c, all_four) <= 2402
        # Neither what runs inside nor what ends there changes that.
        inside = c.sbatch("sleep 9999", gres="gpu:2", time=3, reservation="r", account="phys")
        c.wait_state(inside)
        core = c.sbatch("sleep 9999", cpus_per_task=2, time=60, **job)
        c.wait_state(core)
        wait_booked(c, top)
        assert 300 < start_time(c, top) <= 601
        late = c.sbatch("sleep 9999", gres="gpu:2", time=5, **job)
        wait_booked(c, late)
        assert start_time(c, late) > 300
        c.run("scancel", inside)
        c.run("scancel", both)
        c.wait_state(top)
        assert c.job(all_four)["JobState"] == "PENDING"


def test_nodes_that_stock_backfill_planned():
    """A node in use that sched/backfill has planned for a job (mixed, planned) when the gate takes
    over: it is booked and filled like any other."""
    with gate_cluster(nodes=2, cpus=8, gpus="a100:2", gate=False) as c:
        for node in ("n1", "n2"):
            c.wait_state(c.sbatch("sleep 9999", gres="gpu:1", time=30, nodelist=node))
        top = c.sbatch("sleep 1", gres="gpu:2", time=60)
        if c.version >= (23, 11):  # before, only idle nodes are shown as planned
            c.wait_for(lambda: any("PLANNED" in c.node(n)["State"] for n in ("n1", "n2")),
                       what="a planned node")
        c.stop_slurmctld()
        c.plugins = ("select",)
        c.conf["SchedulerParameters"] += ",bf_min_prio_reserve=4294967295"
        c.write_conf()
        c.start_slurmctld()
        c.wait_nodes_registered()
        place = wait_booked(c, top)["SchedNodeList"]
        assert place in ("n1", "n2")
        c.wait_state(c.sbatch("sleep 9999", gres="gpu:1", time=5, nodelist=place))
        c.wait_state(c.sbatch("sleep 9999", gres="gpu:1", time=60, exclude=place))
        assert start_time(c, top) <= 1801
        c.run("scancel", *[j["job"] for j in c.squeue("-w", place)])
        c.wait_state(top, "COMPLETED")
