"""The sccr that the tests run: $SCCR, that of $CCR_BUILD_DIR, or the one that was built last."""
import glob
import os
import subprocess

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACES = os.environ.get("CCR_TRACES") or os.path.join(os.path.dirname(REPO), "shared", "traces")


def find_sccr():
    if os.environ.get("SCCR"):
        return os.environ["SCCR"]
    if os.environ.get("CCR_BUILD_DIR"):
        return os.path.join(os.environ["CCR_BUILD_DIR"], "src/sccr/sccr")
    built = [p for pattern in ("build/src/sccr/sccr", "build/*/src/sccr/sccr", "build*/src/sccr/sccr")
             for p in glob.glob(os.path.join(REPO, pattern))]
    return max(built, key=os.path.getmtime, default=None)


@pytest.fixture(scope="session")
def sccr():
    """sccr(ARGUMENT, ..., input=TEXT): runs it; the answer has returncode, stdout and stderr."""
    path = find_sccr()
    if not path:
        pytest.skip("sccr is not built")

    def run(*arguments, **kwargs):
        return subprocess.run([path, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, **kwargs)
    run.path = path
    return run


@pytest.fixture
def trace():
    """trace(NAME): the path of a published workload, where the machine has it."""
    def path(name):
        full = os.path.join(TRACES, name)
        if not os.path.exists(full):
            pytest.skip(f"needs the trace {name}")
        return full
    return path
