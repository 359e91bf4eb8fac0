"""What sccr simulate reads: clusters with node sets, workloads of other kinds than those it knows."""
import csv

import pytest


@pytest.fixture
def work(tmp_path):
    def put(text, name="work.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name
    return put


def test_partitions_of_node_sets(sccr, work, tmp_path):
    conf = work("NodeName=DEFAULT CPUs=2\nNodeName=n[1-2] Feature=a,b\nNodeName=n3 Feature=c\nNodeSet=ns Feature=b\n"
                "NodeSet=rest Nodes=n3\nPartitionName=p Nodes=ns Default=YES\nPartitionName=q Nodes=rest\n", "c.conf")
    jobs = work("id,submit,runtime,cpus,partition\n1,0,10,4,p\n2,0,10,2,q\n3,0,10,4,q\n")
    r = sccr("simulate", "-c", conf, "--jobs", tmp_path / "jobs", jobs)
    assert r.returncode == 0 and "job 3 can never run: it asks for more CPUs than its partition has" in r.stderr
    with open(tmp_path / "jobs") as f:
        assert {x["id"]: x["node_list"] for x in csv.DictReader(f)} == {"1": "n[1-2]", "2": "n3"}
    r = sccr("simulate", "-c", work("NodeName=n1\nPartitionName=p Nodes=nx\n", "bad.conf"), jobs)
    assert r.returncode == 1 and \
        'partition p: a node (NodeName=), a node set (NodeSet=) or ALL is expected, found "nx"' in r.stderr
