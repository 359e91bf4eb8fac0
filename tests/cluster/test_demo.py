"""./demo as its user meets it: what it leaves behind, however it ends."""
import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from ccrcluster import Cluster
from test_harness import processes_naming

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FEW = ["--nodes", "3"]


@pytest.fixture
def folder():
    """Not tmp_path: nobody but its owner can enter the folders above that one, and the jobs of
    the clusters are other users'."""
    path = tempfile.mkdtemp(prefix="ccr-demo-")
    os.chmod(path, 0o755)
    yield path
    for kept in clusters(path):
        Cluster.end_kept(os.path.join(path, kept))
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def demo(folder):
    """demo(*options): a running ./demo whose cluster lives below folder."""
    started = []

    def start(*options):
        process = subprocess.Popen(
            ["/usr/bin/python3", "examples/loopback/demo.py", *FEW, *options], cwd=REPO, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": folder},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        started.append(process)
        return process
    yield start
    for process in started:
        process.kill()
        process.communicate()


def clusters(folder):
    return [name for name in os.listdir(folder) if name.startswith("ccr-cluster-")]


def started(folder):
    return any(glob.glob(f"{folder}/ccr-cluster-*/log/slurmctld.log"))


@pytest.mark.parametrize("options, says", [
    (["--nodes", "0"], "found '0', expected a number of nodes from 1 to"),
    (["--nodes", "many"], "found 'many', expected a number"), (["--nodes"], "expected one argument"),
    (["--gpu", "--nodes", "3"], "unrecognized arguments"), (["--gpu", "--stop"], "unrecognized arguments"),
    (["--priority", "priority/multifactor"], "unrecognized arguments")])
def test_wrong_options_are_refused_at_once(options, says, folder):
    """Before anything is installed, built or started."""
    done = subprocess.run(["./demo", *options], cwd=REPO, text=True, capture_output=True, timeout=30,
                          env={**os.environ, "TMPDIR": folder})
    assert done.returncode == 2 and says in done.stderr and not done.stdout
    assert not clusters(folder)


def test_it_leaves_nothing(demo, folder):
    process = demo()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "$ sprio" in out and "$ squeue" in out
    assert clusters(folder) == [] and processes_naming(folder) == []


@pytest.mark.parametrize("sig, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                       (signal.SIGHUP, 129)])
def test_a_signal_takes_everything_down(demo, folder, sig, code):
    process = demo()
    end = time.monotonic() + 60
    while not started(folder) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(sig)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert clusters(folder) == [] and processes_naming(folder) == []


def test_keep_leaves_it_up_until_stop(demo, folder):
    process = demo("--keep")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    conf = re.search(r"export SLURM_CONF=(\S+)", out).group(1)
    path = f"{os.environ.get('CCR_SLURM_PREFIX', '')}/bin:{os.environ['PATH']}"
    queue = subprocess.run(["squeue", "-h"], text=True, stdout=subprocess.PIPE, check=True,
                           env={**os.environ, "SLURM_CONF": conf, "PATH": path}).stdout
    assert len(queue.splitlines()) >= 2
    assert demo("--stop", os.path.dirname(os.path.dirname(conf))).wait(60) == 0
    assert clusters(folder) == [] and processes_naming(folder) == []
