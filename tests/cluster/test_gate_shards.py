"""Jobs with parts of GPUs (shards) beside bookings of whole ones."""
import pytest

import slurmconf
from gate import Nodes, booked_nodes, gate_cluster, start_time, wait_booked


@pytest.fixture
def parts(monkeypatch):
    text, lines = slurmconf.gres_text, slurmconf.node_lines
    monkeypatch.setattr(slurmconf, "gres_text", lambda root, nodes, *more: text(root, nodes, *more) + "".join(
        f"NodeName={n.range} Name=shard Count=16\n" for n in nodes))
    monkeypatch.setattr(slurmconf, "node_lines", lambda *more: [
        line.replace("gpu:a100:4", "gpu:a100:4,shard:16") for line in lines(*more)])


@pytest.fixture
def cluster(parts):
    with gate_cluster(nodes=[Nodes(count=2, cpus=16, gpus="a100:4")], conf={"GresTypes": "gpu,shard"}) as c:
        yield c


@pytest.mark.every_slurm
def test_a_gpu_of_which_parts_are_in_use_is_nobodys(cluster):
    c = cluster
    # two on n1, the second of which ends later; one on n2
    shards = [c.sbatch("sleep 9999", gres=f"shard:{n}", nodelist=node, time=minutes, mem=100)
              for n, node, minutes in ((2, "n1", 10), (1, "n1", 20), (3, "n2", 15))]
    for job in shards:
        c.wait_state(job)
    top = c.sbatch("sleep 5", gres="gpu:4", nodes=2, time=3, mem=100)
    wait_booked(c, top)
    assert 1100 < start_time(c, top) < 1260
    whole = c.sbatch("sleep 5", gres="gpu:4", time=3, nodelist="n2", mem=100)
    wait_booked(c, whole)
    assert booked_nodes(c, whole) == "n2" and 800 < start_time(c, whole) < 960
    # who ends before may have what is left, in parts too; who does not may not
    short = [c.sbatch("sleep 9999", gres=gres, time=5, nodelist="n1", mem=100) for gres in ("shard:2", "gpu:1")]
    for job in short:
        c.wait_state(job)
    long = [c.sbatch("sleep 9999", gres=gres, time=90, mem=100) for gres in ("shard:2", "gpu:1")]
    for job in long:
        wait_booked(c, job)
        assert start_time(c, job) > start_time(c, top) + 100
    c.run("scancel", *shards, *short)
    c.wait_state(top, "COMPLETED")
    for job in long:
        c.wait_state(job)


@pytest.mark.every_slurm
def test_parts_of_one_gpu_are_had_by_as_many_as_there_are(cluster):
    c = cluster
    jobs = [c.sbatch("sleep 9999", gres="shard:2", time=10, nodelist="n1", mem=100) for _ in range(7)]
    for job in jobs:
        c.wait_state(job)
    last = c.sbatch("sleep 9999", gres="shard:2", time=60, mem=100, nodelist="n1")
    c.wait_state(last)
    c.run("scancel", *jobs, last)


def test_a_request_that_never_starts_is_booked_again_when_it_is_changed(parts):
    """No GPU has that many shards, but Slurm takes the job. On a clock twenty times as fast."""
    with gate_cluster(nodes=[Nodes(count=1, cpus=16, gpus="a100:4")], conf={"GresTypes": "gpu,shard"},
                      clock="@2026-01-05 12:00:00 x20") as c:
        never, *alike = [c.sbatch("sleep 1", gres="shard:8", time=10, mem=100) for _ in range(4)]
        said = rf"JobId={never} was to start \d+ s ago and did not: it gets"
        c.wait_for(lambda: c.log_grep(f"{said} a booking of whole nodes"), 60, what="the first time")
        c.wait_for(lambda: c.log_grep(f"{said} no booking"), 90, what="the second time")
        # nobody holds the machine for it now, nor for those that ask for the same
        other = c.sbatch("sleep 99999", gres="gpu:4", time=60, mem=100)
        c.wait_state(other)
        assert len(c.log_grep("did not: it gets no booking")) == 1, c.log_grep("did not: it gets")
        c.run("scancel", *alike)
        assert c.job(never)["StartTime"] == "Unknown"
        c.run("scontrol", "update", f"jobid={never}", "gres=gres:shard:2")
        wait_booked(c, never)
        c.run("scancel", other)
        c.wait_state(never, "COMPLETED")
