"""Nodes on leaf switches (topology/tree): jobs that ask for one switch, and jobs of several nodes beside placement."""
import pytest

import slurmconf
from gate import Nodes, booked_nodes, gate_cluster, start_time, wait_booked

pytestmark = pytest.mark.every_slurm


@pytest.fixture(scope="module")
def gated():
    c = gate_cluster(nodes=[Nodes(count=6, cpus=8, gpus="a100:4")], conf={"TopologyPlugin": "topology/tree"})
    slurmconf.put(f"{c.root}/etc/topology.conf", "".join(
        f"SwitchName=s{i} Nodes=n[{2 * i - 1}-{2 * i}]\n" for i in (1, 2, 3)) + "SwitchName=top Switches=s[1-3]\n")
    with c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    assert not gated.log_grep("decides alone")
    gated.clear()


def names(c, nodes):
    return set(c.run("scontrol", "show", "hostnames", nodes).stdout.split())


def run(c, nodes, minutes):
    jobs = [c.sbatch("sleep 9999", nodelist=n, exclusive=True, time=minutes) for n in nodes]
    for job in jobs:
        c.wait_state(job)
    return jobs


def test_nodes_of_one_switch_are_booked_and_those_of_several_are_not_held(cluster):
    c = cluster
    base = run(c, ("n2", "n4", "n6"), 60)  # of each leaf one node is idle
    top = c.sbatch("sleep 9999", nodes=2, switches=1, ntasks_per_node=8, time=30)
    wait_booked(c, top)
    assert names(c, booked_nodes(c, top)) == {"n1", "n2"}
    assert 3500 < start_time(c, top) < 3660
    fillers = [c.sbatch("sleep 9999", exclusive=True, time=20) for _ in range(3)]
    for job in fillers:
        c.wait_state(job)
    c.run("scancel", base[0], *fillers)
    c.wait_state(top)
    assert names(c, c.job(top)["NodeList"]) == {"n1", "n2"}


def test_what_no_switch_has_is_booked_for_when_the_wait_for_it_is_over(cluster):
    c = cluster
    base = run(c, ("n2", "n4", "n6"), 60)
    wide = c.sbatch("sleep 9999", "--switches=1@00:04:00", nodes=3, ntasks_per_node=8, time=30)
    wait_booked(c, wide)
    assert names(c, booked_nodes(c, wide)) == {"n1", "n3", "n5"}
    assert 200 < start_time(c, wide) < 245
    # that is no reason to leave them idle until then
    filler = c.sbatch("sleep 9999", exclusive=True, time=2)
    c.wait_state(filler)
    c.run("scancel", *base, filler, wide)


def test_when_the_wait_for_a_switch_is_over_any_nodes_do(cluster):
    c = cluster
    run(c, ("n2", "n4", "n6"), 60)
    top = c.sbatch("sleep 9999", "--switches=1@00:00:12", nodes=2, ntasks_per_node=8, time=30)
    wait_booked(c, top)
    assert names(c, booked_nodes(c, top)) == {"n1", "n2"}
    assert c.job(top)["JobState"] == "PENDING"
    c.wait_state(top, timeout=30)
    assert names(c, c.job(top)["NodeList"]) <= {"n1", "n3", "n5"}


def test_jobs_of_several_nodes_are_packed_by_switch_and_those_of_one_by_gpus(cluster):
    c = cluster
    # what is in use of n1 and n3 makes these the best nodes by the GPUs that would be left
    for node, n in (("n1", 1), ("n3", 2)):
        c.wait_state(c.sbatch("sleep 9999", nodelist=node, gres=f"gpu:{n}", time=60))
    pair = c.sbatch("sleep 9999", nodes=2, gres="gpu:2", time=60)
    c.wait_state(pair)
    assert len({(int(n[1:]) + 1) // 2 for n in names(c, c.job(pair)["NodeList"])}) == 1
    c.run("scancel", pair)
    c.wait_state(pair, "CANCELLED")  # and its nodes are no more on their way
    single = c.sbatch("sleep 9999", gres="gpu:2", ntasks=2, time=60)
    c.wait_state(single)
    assert c.job(single)["NodeList"] == "n3"
