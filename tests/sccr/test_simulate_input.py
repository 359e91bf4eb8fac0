"""What sccr simulate reads: clusters with node sets, workloads of other kinds than those it knows."""
import bz2
import csv
import gzip
import json
import lzma

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


SWF = "; MaxNodes: 2\n; MaxProcs: 2\n1 0 5 10 1 -1 -1 1 20 -1 1 1 1 -1 1 1 -1 -1\n"


@pytest.mark.parametrize("nodes", [[], ["-N", "2"]])
@pytest.mark.parametrize("pack, kind, by", [(gzip.compress, "gzip", "gunzip"), (bz2.compress, "bzip2", "bunzip2"),
                                            (lzma.compress, "xz", "unxz"), (lambda text: b"\x28\xb5\x2f\xfd" + text, "zstd", "unzstd")])
def test_a_compressed_file_is_named_as_that(sccr, work, nodes, pack, kind, by):
    packed = work(pack(SWF.encode()), "w.swf.packed")
    for options in ([], ["-f", "swf"]):
        r = sccr("simulate", *nodes, *options, packed)
        assert r.returncode == 1 and r.stderr == f"sccr simulate: {packed}: is compressed ({kind}): {by} it first\n"
    with open(packed) as f:
        r = sccr("simulate", *nodes, "-", stdin=f)
    assert r.returncode == 1 and f"standard input: is compressed ({kind})" in r.stderr


@pytest.mark.parametrize("nodes", [[], ["-N", "2"]])
@pytest.mark.parametrize("text, found", [('{"nb_res": 4, "jobs": []}\n', 'JSON: "{"nb_res": 4, "jobs""'), ("\n[\n1|2\n", 'JSON: "["'),
                                         ("%PDF-1.4\n", '"%PDF-1.4"'), ("<html>", '"<html>"')])
def test_a_file_of_another_format_is_named_as_that(sccr, work, nodes, text, found):
    path = work(text, "w")
    r = sccr("simulate", *nodes, path)
    line = 2 if text[0] == "\n" else 1
    assert r.returncode == 1 and \
        r.stderr == f"sccr simulate: {path}:{line}: SWF, CSV or the output of `sacct --parsable2` is expected, found {found}\n"


@pytest.mark.parametrize("text, nodes", [
    (SWF, []), ("id,submit,runtime,cpus\n1,0,10,1\n", ["-N", "2"]), ("# a comment\nid,submit,runtime,cpus\n1,0,10,1\n", ["-N", "2"]),
    ("JobID|Submit|ElapsedRaw|NCPUS\n1|2026-01-01T00:00:00|10|1\n", ["-N", "2"]), (SWF.split("\n", 2)[2], ["-N", "2"])])
def test_a_byte_order_mark_is_passed_over(sccr, work, text, nodes):
    for mark in (b"", b"\xef\xbb\xbf"):
        path = work(mark + text.encode())
        for given in (path, "-"):
            with open(path) as f:
                r = sccr("simulate", *nodes, "--strict", "--json", given, stdin=f)
            assert r.returncode == 0 and r.stderr == "" and json.loads(r.stdout)["runs"][0]["jobs"] == 1


def test_seconds_and_dates_do_not_mix(sccr, work):
    head, dated, seconds = "id,submit,runtime,cpus\n", "a,2026-12-01T00:00:00,10,1\n", "b,5,10,1\n"
    for lines, expected, found in ((dated + seconds, "a date as before", "5"), (seconds + dated, "seconds as before", "2026-12-01T00:00:00")):
        r = sccr("simulate", "-N", "1", "--json", work(head + "z,x,1,1\n" + lines + lines))
        for line in (4, 6):
            assert f'work.csv:{line}: submit: {expected} is expected, found "{found}"' in r.stderr
        assert json.loads(r.stdout)["workload"]["bad"] == 3 and json.loads(r.stdout)["runs"][0]["jobs"] == 2
    log = "JobID|Submit|ElapsedRaw|NCPUS\n1|1767225600|10|1\n2|2026-01-01T00:00:00|10|1\n"
    assert "Submit: seconds as before is expected" in sccr("simulate", "-N", "1", work(log)).stderr
