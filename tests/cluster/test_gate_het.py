"""Hetjobs whose components could be in each other's way: each has nodes of its own, and slurmctld
starts one after the other. If one fails it takes all back and tries again two minutes later."""
import time

import pytest
from ccrcluster import Nodes
from gate import gate_cluster, start_time, wait_booked


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
