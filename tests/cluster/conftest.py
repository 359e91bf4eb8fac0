"""Fixtures: clusters of real daemons. One that a test leaves as it found it is shared; a test that
kills daemons or changes the configuration makes its own with `make_cluster`."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ccrcluster import Cluster, ClusterError, Nodes  # noqa: E402


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows the ends of its clusters' logs."""
    report = (yield).get_result()
    if not report.failed:
        return
    for value in getattr(item, "funcargs", {}).values():
        for cluster in getattr(value, "made", [value]):
            if isinstance(cluster, Cluster):
                report.sections.append((f"logs of {cluster.root}", cluster.tails()))


@pytest.fixture
def make_cluster():
    """make_cluster(...): a started Cluster of these arguments, gone when the test ends."""
    def make(*args, **kwargs):
        cluster = Cluster(*args, **kwargs)
        make.made.append(cluster)
        return cluster.start()
    make.made = []
    yield make
    for cluster in make.made:
        cluster.stop()


def shared(**arguments):
    """A session's cluster and a fixture function that empties its queue after every test."""
    @pytest.fixture(scope="session")
    def session_cluster():
        cluster = Cluster(**arguments)
        yield cluster.start()
        cluster.stop()
    return session_cluster


def emptied(name):
    @pytest.fixture
    def per_test(request):
        cluster = request.getfixturevalue(name)
        yield cluster
        cluster.clear()
    return per_test


# Four nodes with GPUs, priority/multifactor, no database.
stock_session = shared(nodes=[Nodes(count=4, cpus=16, gpus="a100:4")])
stock = emptied("stock_session")

# The same with slurmdbd and two groups of users.
stock_dbd_session = shared(
    nodes=[Nodes(count=4, cpus=16, gpus="a100:4")], dbd=True,
    accounts={"phys": {"Fairshare": 60, "users": ["games", "man"]},
              "ml": {"Fairshare": 40, "users": ["lp", "mail"]}},
    conf={"PriorityWeightAge": 1000, "PriorityWeightJobSize": 1000,
          "PriorityWeightFairshare": 10000, "PriorityFavorSmall": "NO"})
stock_dbd = emptied("stock_dbd_session")

__all__ = ["Cluster", "ClusterError", "Nodes"]
