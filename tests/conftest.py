"""The order of the files: the long ones first, so that none is left alone at the end of a run in
which each worker takes a file at a time."""
import os

LONGEST_FIRST = (
    "test_mf_equal", "test_gate_random", "test_simulate_page", "test_mf_restart", "test_install",
    "test_trees", "test_mf_runsecs", "test_harness", "test_gate_features", "test_mf_limits",
    "test_gate_cases", "test_fit", "test_simulate", "test_sccr", "test_gate_limits", "test_gate",
)


def pytest_collection_modifyitems(items):
    def place(item):
        name = os.path.splitext(os.path.basename(str(item.fspath)))[0]
        return LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)
    items.sort(key=place)
