"""Requests of which counts do not tell on what they run: what is booked is what the stock plugin then takes."""
import time

import pytest

from gate import Nodes, booked_nodes, gate_cluster, start_time, wait_booked

pytestmark = pytest.mark.every_slurm

NAMES = ("n1", "n2", "n3", "m1", "m2")


@pytest.fixture(scope="module")
def gated():
    nodes = [Nodes(count=3, cpus=8, gpus="a100:2", mem=16000),
             Nodes(prefix="m", count=2, cpus=16, gpus="a100:1,h100:3", mem=32000)]
    with gate_cluster(nodes=nodes) as c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    assert not gated.log_grep("decides alone")
    gated.clear()


# nodes come free in the order of NAMES, one a minute; the last of those that a job needs is the one it waits for
@pytest.mark.parametrize("request_, nodes", [
    (["--gpus=3", "--mem-per-gpu=9000"], {"n1", "n2", "n3"}),  # memory for one GPU a node
    (["-n3", "--gpus-per-task=1", "--mem-per-gpu=9000"], {"n1", "n2", "n3"}),
    (["--gpus=3", "--cpus-per-gpu=5"], {"n1", "n2", "n3"}),
    (["--gpus=3", "--ntasks-per-gpu=5"], None),  # 22.05 wants them on one node, 24.11 does not
    (["-N4", "--contiguous"], {"n1", "n2", "m1", "m2"}),  # slurmctld's order is m1, m2, n1, n2, n3
    (["-N3", "--contiguous"], {"n1", "n2", "n3"}),
    (["--exclusive", "-N2"], {"n1", "n2"}),
], ids=lambda x: "".join(x) if isinstance(x, list) else "")
def test_it_starts_on_what_is_booked_when_that_is_free(cluster, request_, nodes):
    c = cluster
    base = {n: c.sbatch("sleep 9999", exclusive=True, time=10 + i, nodelist=n) for i, n in enumerate(NAMES)}
    for job in base.values():
        c.wait_state(job)
    job = c.sbatch("sleep 9999", *request_, time=5)
    wait_booked(c, job)

    def names():
        return set(c.run("scontrol", "show", "hostnames", booked_nodes(c, job)).stdout.split())
    nodes = nodes or ({"m1"} if c.version < (23, 2) else {"n1", "n2", "n3"})
    assert names() == nodes
    last = max(NAMES.index(n) for n in nodes)
    assert 60 * (9 + last) < start_time(c, job) < 60 * (10 + last) + 60
    for n in sorted(nodes, key=NAMES.index):
        assert c.job(job)["JobState"] == "PENDING"
        c.run("scancel", base[n])
    c.wait_state(job)
    taken = c.run("scontrol", "show", "hostnames", c.job(job)["NodeList"]).stdout.split()
    assert set(taken) == nodes


def test_a_stream_of_fillers_does_not_starve_such_a_job(cluster):
    c = cluster

    def filler(seconds):
        return c.sbatch(f"sleep {seconds}", time=1, gres="gpu:1", mem=10000, exclude="m1,m2")
    for n in ("m1", "m2"):
        c.sbatch("sleep 9999", exclusive=True, nodelist=n, time=100)
    for job in [filler(20 + 5 * i) for i in range(3)]:
        c.wait_state(job)
    job = c.sbatch("sleep 5", "--gpus=3", "--mem-per-gpu=9000", time=5)
    for _ in range(12):
        filler(50)
    wait_booked(c, job)
    promised = time.time() + start_time(c, job)
    c.wait_state(job, timeout=90)
    assert time.time() < promised + 10


@pytest.mark.parametrize("request_, on", [
    (["--mem=0", "--gres=gpu:1"], ["n1"]),
    (["--mem-per-cpu=0", "--gres=gpu:1"], ["n1"]),
    (["--mem=0", "-N2"], ["n1", "n2"]),
    (["--mem=0", "--gpus=2", "-N2"], ["n1", "n2"]),
], ids=" ".join)
def test_all_memory_of_a_node_is_had_when_nobody_holds_any(cluster, request_, on):
    c = cluster
    base = [c.sbatch("sleep 9999", gres="gpu:1", nodelist=f"n{i}", time=10 * i, mem=1000) for i in (1, 2, 3)]
    for job in base:
        c.wait_state(job)
    top = c.sbatch("sleep 9999", *request_, "-xm[1-2]", time=5)
    wait_booked(c, top)
    last = len(on)
    assert 600 * last - 100 < start_time(c, top) < 600 * last + 60
    assert set(c.run("scontrol", "show", "hostnames", booked_nodes(c, top)).stdout.split()) == set(on)
    filler = c.sbatch("sleep 9999", "-xm[1-2]", gres="gpu:1", time=60, mem=1000)
    c.wait_state(filler)
    assert c.job(filler)["NodeList"] not in on
    for job in base[:last]:
        c.run("scancel", job)
    c.wait_state(top)
