"""Several schedulers in one run of sccr simulate: what --depth means to each, and one that fails."""
import csv
import json

import pytest

HEAD = "id,submit,runtime,limit,cpus\n"


@pytest.fixture
def work(tmp_path):
    def put(text, name="work.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return put


@pytest.mark.parametrize("depth", ["0", "1", "2"])
def test_conservative_books_everybody_whatever_the_depth(sccr, work, tmp_path, depth):
    jobs = work(HEAD + "a,0,100,100,1\nb,1,100,100,2\nc,2,100,100,2\nd,3,100,100,2\ne,4,50,50,1\n")
    node = ["-N", "1", "--cpus", "2", "--json", "--jobs", tmp_path / "jobs"]

    def run(*options):
        r = sccr("simulate", *node, *options, jobs)
        assert r.returncode == 0, r.stderr
        with open(tmp_path / "jobs") as f:
            return json.loads(r.stdout)["runs"], [x for x in csv.DictReader(f) if x["scheduler"] == "conservative"], r.stderr
    plain, rows, _ = run("-s", "conservative")
    assert plain[0]["estimates"] == 3
    bounded, again, said = run("-s", "conservative", "-d", depth)
    assert (bounded, again) == (plain, rows)
    assert "--depth is not used with conservative: conservative books everybody" in said
    both, again, said = run("-s", "ccr,conservative", "-d", depth)
    assert both[1] == plain[0] and both[0]["scheduler"] == "ccr" and again == rows and said == ""


def test_placement_is_simulated(sccr, work):
    """The first job has no GPU: with placement it leaves the node that has one to the second."""
    cluster = work("NodeName=g1 CPUs=8 Gres=gpu:a:1\nNodeName=n1 CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n", "c.conf")
    jobs = work("id,submit,runtime,limit,cpus,gpus\na,0,100,100,8,0\nb,1,100,100,8,1\n")
    for placement, wait in (("true", 0), ("false", 99 / 2)):
        policy = work('{"version": 1, "preset": "ccr", "backfill": {"placement": %s}}' % placement, "p.json")
        r = sccr("simulate", "-c", cluster, "-p", policy, "--json", jobs)
        assert r.returncode == 0 and json.loads(r.stdout)["runs"][0]["wait_mean"] == wait, (r.stdout, r.stderr)


def test_backfill_that_is_switched_off_is_said_not_to_be_slurmctlds(sccr, work):
    jobs = work(HEAD + "a,0,100,100,1\n")
    policy = work('{"version": 1, "preset": "ccr", "backfill": {"enabled": false}}', "p.json")
    said = "sccr simulate: the policy switches backfill off: ccr runs without bookings, where slurmctld"
    assert said in sccr("simulate", "-N", "1", "-p", policy, jobs).stderr
    assert said not in sccr("simulate", "-N", "1", "-p", policy, "-s", "easy", jobs).stderr
    assert said not in sccr("simulate", "-N", "1", jobs).stderr


def test_the_page_says_the_depth_that_counts(sccr, work, tmp_path):
    jobs = work(HEAD + "a,0,100,100,1\n")
    for scheduler, depth in (("conservative", -1), ("fcfs", -1), ("easy", 1), ("whole-node", 7), ("ccr", 7)):
        r = sccr("simulate", "-N", "1", "-s", scheduler, "-d", "7", "--html", tmp_path / "page", jobs)
        assert r.returncode == 0 and f'"depth":{depth},' in (tmp_path / "page").read_text(), scheduler


def test_one_that_fails_takes_nothing_from_the_others(sccr, work, tmp_path):
    """A long job for more GPUs than long jobs may have never starts with ccr, and holds nobody up; the models know
    no such rule."""
    policy = work('{"version": 1, "preset": "ccr", "backfill": {"long_jobs": {"over": "1:00:00", "gpu_fraction": 0.25}}}', "p.json")
    jobs = work("id,submit,runtime,cpus,gpus,limit\n1,0,10,1,4,7200\n2,1,10,1,1,20\n")
    cluster = ["-N", "1", "--cpus", "8", "--gpus", "4", "-p", policy, "-o", tmp_path / "figures", "--html", tmp_path / "page"]
    for schedulers, done in (("easy,ccr", ["easy"]), ("ccr,easy", ["easy"]), ("fcfs,ccr,easy", ["fcfs", "easy"])):
        r = sccr("simulate", *cluster, "-s", schedulers, "--json", jobs)
        assert r.returncode == 1 and r.stderr == "sccr simulate: scheduler ccr: 1 job never started, the first is job 1\n"
        runs = json.loads((tmp_path / "figures").read_text())["runs"]
        assert [run["scheduler"] for run in runs] == done and all(run["jobs"] == 2 for run in runs)
        assert f'"scheduler":"{done[0]}"' in (tmp_path / "page").read_text()
    before = (tmp_path / "figures").read_text(), (tmp_path / "page").read_text()
    assert sccr("simulate", *cluster, "-s", "ccr", jobs).returncode == 1  # nothing comes of it
    assert before == ((tmp_path / "figures").read_text(), (tmp_path / "page").read_text())
