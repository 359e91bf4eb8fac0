"""Plugins built from headers that are not those of the running Slurm: they say so, naming both
versions, and keep their hands off (tests/versions/wrong_headers.py builds them)."""
import os
import shutil
import subprocess
import sys

import pytest

from ccrcluster import REPO, Cluster, ClusterError, Nodes

pytestmark = pytest.mark.every_slurm

MAKE = os.path.join(REPO, "tests", "versions", "wrong_headers.py")
POLICY = {"version": 1, "preset": "ccr", "groups": {"a": {"target": 40}}}
SAID = r"built from the headers of Slurm [\d.]+, but the records of this slurmctld \([\d.]+\)"
MAKES_RECORDS = (24, 5)  # from here the first job record can be looked at before there is a job


@pytest.fixture(scope="module")
def wrong():
    """Build folder with the wrong plugins; made here unless it was before (there is no compiler
    in the root of another Debian)."""
    build = os.environ.get("CCR_BUILD_DIR", os.path.join(REPO, "build"))
    if shutil.which("gcc"):
        subprocess.run([sys.executable, MAKE, build], check=True)
    folder = os.path.join(build, "wrong")
    if not os.path.isdir(folder):
        pytest.skip("no compiler here, and nobody built the wrong plugins before")
    return folder


def cluster_of(build, **arguments):
    c = Cluster(nodes=[Nodes(count=1, cpus=2)], auth="none", **arguments)
    c.build = build
    return c


def said(c):
    text = c.log_grep(SAID)
    for version in {".".join(str(n) if i != 1 else f"{n:02d}" for i, n in enumerate(c.version))}:
        assert all(line.count(version) >= 2 for line in text)  # the headers lie about theirs
    return text


def refuses(c):
    """slurmctld does not start with that plugin."""
    with pytest.raises(ClusterError):
        c.start_slurmctld()
    c.wait_for(lambda: not c.alive("slurmctld"), what="the end of slurmctld")
    assert c.log_grep("cannot create priority context for priority/ccr")


def test_priority_refuses_to_start(wrong):
    c = cluster_of(wrong, plugins=["priority"], priority_type="priority/ccr", policy=POLICY)
    try:
        if c.version >= MAKES_RECORDS:
            c._start_keeper()
            c.write_conf()
            refuses(c)
            assert len(said(c)) == 1
            return
        # Only the first job shows it: from there on it touches nothing, and the job still runs.
        c.start()
        job = c.sbatch("sleep 1", user="games")
        c.wait_state(job, "COMPLETED")
        assert c.job(job)["Priority"] == "1"
        assert len(said(c)) == 1
        assert c.sprio() == []
        held = c.sbatch("true", user="games", begin="now+1hour")
        c.stop_slurmctld()
        refuses(c)
        assert len(said(c)) == 2  # once a process
        # The right plugin takes over, nothing is lost.
        c.build = os.path.dirname(wrong)
        c.write_conf()
        c.start_slurmctld()
        assert c.states(job, held) == ["COMPLETED", "PENDING"]
    finally:
        c.stop()


def test_the_gate_steps_aside(wrong):
    """Every call goes to the stock plugin, said once a process; jobs run as without the gate."""
    c = cluster_of(wrong, plugins=["select"],
                   conf={"SchedulerParameters": "batch_sched_delay=0,sched_interval=2,bf_interval=2,"
                                                "bf_resolution=1,bf_continue",
                         "DebugFlags": "Backfill", "SlurmctldDebug": "verbose"})
    try:
        c.start()
        held = c.sbatch("sleep 9999", cpus_per_task=2, time=30)
        c.wait_state(held)
        waiting = [c.sbatch("sleep 1", time=5) for _ in range(3)]
        c.wait_for(lambda: c.job(waiting[0])["Reason"] == "Resources", what="stock's word")
        assert len(said(c)) == 1
        c.restart_slurmctld()
        assert c.states(held, *waiting) == ["RUNNING"] + ["PENDING"] * 3
        c.reconfigure()
        c.run("scontrol", "suspend", held)
        c.run("scontrol", "resume", held)
        c.run("scancel", held)
        for job in waiting:
            c.wait_state(job, "COMPLETED")
        assert len(said(c)) >= 2
        assert not c.log_grep(r"slurm-ccr: JobId")
    finally:
        c.stop()


def test_the_right_build_fits():
    with Cluster(nodes=[Nodes(count=1, cpus=2)], plugins=["priority"], policy=POLICY,
                 priority_type="priority/ccr") as c:
        job = c.sbatch("sleep 0.1", user="games")
        c.wait_state(job, "COMPLETED")
        later = c.sbatch("true", user="games", begin="now+1hour")
        c.restart_slurmctld()
        assert c.states(later) == ["PENDING"]
        assert not c.log_grep("built from the headers")
