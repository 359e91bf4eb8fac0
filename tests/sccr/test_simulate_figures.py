"""Figures of sccr simulate that do not exist for a scheduler or a run: a dash, null, no line of CSV."""
import csv
import json
import re

import pytest

OF_NODES = ["gpu_fragmentation", "gpu_stranded"]
# four jobs of 3 or 4 GPUs that the log has at one time, on four nodes of 4
LOG = "id,submit,runtime,cpus,gpus,nodes,limit,wait\n" + "".join(
    f"{i},0,100,1,{gpus},1,200,0\n" for i, gpus in enumerate((4, 4, 3, 3)))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_the_log_says_nothing_of_nodes(sccr, log):
    cluster = ["-N", "4", "--cpus", "8", "--gpus", "4", "-s", "recorded,ccr"]
    recorded, ccr = json.loads(sccr("simulate", *cluster, "--json", log).stdout)["runs"]
    assert [recorded[k] for k in OF_NODES] == [None, None]
    assert [ccr[k] for k in OF_NODES] == [100, 0]
    assert recorded["gpu_utilisation"] == ccr["gpu_utilisation"] == 87.5
    text = sccr("simulate", *cluster, log).stdout
    assert re.search(r"^idle GPUs on partly used nodes +- +100\.0 %$", text, re.M)
    assert re.search(r"^idle GPUs without a CPU or memory +- +0\.0 %$", text, re.M)
    rows = list(csv.DictReader(sccr("simulate", *cluster, "--csv", log).stdout.splitlines()))
    assert {r["figure"] for r in rows if r["scheduler"] == "recorded"} & set(OF_NODES) == set()
    assert {r["figure"] for r in rows if r["scheduler"] == "ccr"} >= set(OF_NODES)


def test_a_log_of_more_gpus_than_there_are_has_none_idle(sccr, tmp_path):
    work = tmp_path / "log.csv"
    work.write_text("submit,runtime,cpus,gpus,wait\n" + "0,100,1,4,0\n" * 2 + "0,50,1,4,50\n")
    r = sccr("simulate", "-N", "1", "--cpus", "8", "--gpus", "4", "-s", "recorded", "--json", work)
    run = json.loads(r.stdout)["runs"][0]
    assert run["gpu_idle_while_waiting"] == 0 and run["gpu_idle_while_waiting_hours"] == 0
