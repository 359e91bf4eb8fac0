"""Nodes that come and go under bookings: nobody loses his place to a job that ranks below."""
import time

import pytest

from gate import Nodes, booked_nodes, gate_cluster, start_at, start_time, wait_booked


def names(c, job):
    return set(c.run("scontrol", "show", "hostnames", booked_nodes(c, job)).stdout.split())


@pytest.mark.every_slurm
def test_a_node_that_powers_down_keeps_its_bookings():
    with gate_cluster(nodes=[Nodes(count=4, cpus=8, gpus="a100:4")],
                      conf={"SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
                            "SuspendTime": 99999, "SuspendTimeout": 120, "ResumeTimeout": 300}) as c:
        for n, gpus, minutes in (("n1", 4, 10), ("n2", 3, 10), ("n3", 4, 12)):
            c.wait_state(c.sbatch("sleep 9999", gres=f"gpu:{gpus}", nodelist=n, time=minutes))
        top = c.sbatch("sleep 10", gres="gpu:4", nodes=3, time=5)
        wait_booked(c, top)
        assert names(c, top) == {"n1", "n2", "n4"}
        filler = c.sbatch("sleep 9999", gres="gpu:1", time=90)
        low = c.sbatch("sleep 5", gres="gpu:4", nodes=4, time=2)
        for job in (filler, low):
            wait_booked(c, job)
        promised = start_at(c, top)
        c.run("scontrol", "update", "nodename=n4", "state=power_down")
        c.wait_for(lambda: "POWERING_DOWN" in c.run("scontrol", "show", "node", "n4").stdout, 20,
                   what="n4 on its way down")
        before = len(c.log_grep(rf"JobId={top} is booked"))
        c.wait_for(lambda: len(c.log_grep(rf"JobId={top} is booked")) > before + 1, 20,
                   what="two more cycles")
        assert c.job(filler)["JobState"] == "PENDING"
        assert names(c, top) == {"n1", "n2", "n4"}
        assert abs(start_at(c, top) - promised) <= 2


# (24.11 takes no port for a node that is created, and here all nodes share an address)
def test_who_loses_a_node_that_is_deleted_goes_before_those_below():
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")],
                      conf={"MaxNodeCount": 10, "TreeWidth": 65533}) as c:
        for i in (1, 2):
            c.wait_state(c.sbatch("sleep 9999", gres="gpu:4", nodelist=f"n{i}", time=10 + 5 * i))
        c.run("scontrol", "create", "nodename=d1", "CPUs=8", "RealMemory=32000",
              "Gres=gpu:a100:4", "NodeAddr=127.0.0.1", f"Port={c.base_port + 50}", "State=CLOUD")
        top = c.sbatch("sleep 8", gres="gpu:4", nodes=2, time=5)
        wait_booked(c, top)
        assert names(c, top) == {"d1", "n1"}
        low = c.sbatch("sleep 4", gres="gpu:1", time=90, exclude="d1")
        wait_booked(c, low)
        assert names(c, low) == {"n1"} and start_at(c, low) > start_at(c, top)
        c.run("scontrol", "delete", "nodename=d1")
        c.wait_for(lambda: names(c, top) == {"n1", "n2"}, 20, what="another place")
        c.wait_for(lambda: start_at(c, low) >= start_at(c, top) + 290, 20,
                   what="the job below behind it")


@pytest.mark.every_slurm
def test_the_limit_of_a_job_that_wakes_its_node_counts_from_when_it_is_up():
    with gate_cluster(nodes=[Nodes(count=1, cpus=8, gpus="a100:4")],
                      conf={"SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
                            "SuspendTime": 99999, "SuspendTimeout": 2, "ResumeTimeout": 600}) as c:
        c.stop_slurmd(["n1"])
        c.run("scontrol", "update", "nodename=n1", "state=power_down")
        c.wait_for(lambda: "POWERED_DOWN" in c.run("scontrol", "show", "node", "n1").stdout, 60,
                   what="n1 asleep")
        first = c.sbatch("sleep 9999", gres="gpu:4", time=1)
        c.wait_state(first, "CONFIGURING")
        began = time.time()
        second = c.sbatch("sleep 1", gres="gpu:4", time=5)
        wait_booked(c, second)
        time.sleep(max(0.0, began + 20 - time.time()))  # a minute from its start is less than one from now
        c.wait_for(lambda: start_time(c, second) >= 55, 10, what="a start behind the whole limit")
