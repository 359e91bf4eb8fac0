"""A slurmctld whose main scheduling cycle does not come, as on a backup of Slurm 22.05 that has taken over."""
import pathlib

import pytest

from gate import Nodes, booked_nodes, gate_cluster, start_at, start_time, wait_booked
from mfcommon import preload

pytestmark = pytest.mark.every_slurm


def test_jobs_are_booked_and_started_in_backfills_turns(tmp_path):
    comes = pathlib.Path(tmp_path) / "comes"
    comes.touch()
    with gate_cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")],
                      ctld_env={"LD_PRELOAD": preload("nocycle"), "CCR_CYCLE_FILE": str(comes)}) as c:
        base = c.sbatch("sleep 9999", gres="gpu:4", nodelist="n1", time=10)
        c.wait_state(base)
        held = c.sbatch("sleep 9999", gres="gpu:1", nodelist="n2", time=30)
        c.wait_state(held)
        c.stop_slurmctld()
        comes.unlink()
        c.start_slurmctld()
        top = c.sbatch("sleep 9999", gres="gpu:4", time=30)
        longer = c.sbatch("sleep 9999", gres="gpu:4", nodes=2, time=60)
        fillers = [c.sbatch("sleep 9999", gres="gpu:1", time=5) for _ in range(2)]
        slow = c.sbatch("sleep 9999", gres="gpu:1", time=600)
        for job in fillers:
            c.wait_state(job, timeout=60)
        assert c.log_grep("main scheduling cycle has not come for 30 s")
        wait_booked(c, top)
        assert booked_nodes(c, top) == "n1" and 500 < start_time(c, top) < 600
        wait_booked(c, longer)
        assert start_at(c, longer) >= start_at(c, top) + 1700
        c.wait_for(lambda: "booked" in c.job(slow)["Reason"] or "delay" in c.job(slow)["Reason"], 20,
                   what="why the last waits")
        assert c.job(slow)["JobState"] == "PENDING"
        c.run("scancel", base)
        c.wait_state(top, timeout=20)
        comes.touch()
        c.run("scancel", held, *fillers)
        c.wait_for(lambda: c.log_grep("the main scheduling cycle is back"), 40, what="a main cycle")
        assert len(c.log_grep("main scheduling cycle has not come")) == 1
