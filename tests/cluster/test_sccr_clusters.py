"""sccr beside clusters of other settings than test_sccr.py's: a database, hidden partitions, PrivateData,
other plugins."""
import json
import os

import pytest

from test_sccr import CONF, PARTS, explain, says, sccr, sccr_of

pytestmark = pytest.mark.every_slurm


def test_a_database_knows_who_cancelled_and_what_is_gone(make_cluster):
    c = make_cluster(nodes=1, dbd=True, priority_type="priority/ccr", plugins=["priority"],
                     accounts={"phys": {"users": ["games"]}, "sub": {"parent": "phys", "users": ["man"]}},
                     policy={"version": 1, "preset": "ccr", "groups": {"phys": {"target": 25}}},
                     conf={"PrivateData": "usage,jobs", "PriorityWeightAge": 1})
    # the accounts above one's own are hidden, and others' usage; what rests on them is not made up
    below, inside = (c.sbatch("true", user=user, account=account, begin="now+1hour")
                     for user, account in (("man", "sub"), ("games", "phys")))
    says(c, below, "Group phys: target 25 %, usage ")
    says(c, below, "Its group cannot be told: Slurm hides the accounts above", user="man")
    says(c, inside, "Group phys: target 25 %. Financial", user="games")
    job = c.sbatch("sleep 300", user="games", account="phys", time=5, job_name="a|b")
    failed = c.sbatch("exit 3", user="games", account="phys", time=5)
    c.wait_state(job)
    # a job that ends before slurmdbd has heard of its start is half a row for ever
    c.wait_for(lambda: "a|b" in c.run("sacct", "-n", "-P", "-j", job, "-o", "JobName").stdout, 60,
               what="the database to know its start")
    # what slurmctld alone hides is neither gone nor over
    hidden = says(c, job, "RUNNING on n1 since ", "slurmctld does not show it to you", user="man")
    assert "forgotten" not in hidden and "ended" not in hidden and "Unknown" not in hidden
    c.run("scancel", job)
    c.wait_state(job, "CANCELLED")
    c.wait_state(failed, "FAILED")
    # slurmdbd is told a little later
    c.wait_for(lambda: "cancelled by root after" in sccr(c, "explain", job).stdout, 60,
               what="who it was")
    c.wait_for(lambda: "FAILED" in c.run("sacct", "-n", "-j", failed, "-o", "State").stdout, 60,
               what="the database to know")
    c.stop_slurmctld()
    for name in os.listdir(os.path.join(c.root, "state")):
        if name.startswith("job_state"):
            os.unlink(os.path.join(c.root, "state", name))
    c.start_slurmctld("-i")  # newer ones refuse to start without the file
    assert not c.run("squeue", "-h", "-t", "all").stdout
    said = sccr(c, "explain", job).stdout
    assert f"Job {job} (a|b) of games, account phys, partition p: CANCELLED on n1 since " in said
    assert "from the database" in said and "cancelled by root after" in said
    assert explain(c, failed)[0]["exit_code"] == 3
    assert "no database knows it" in sccr(c, "explain", 999, check=False).stderr
    c.end("slurmdbd")
    gone = sccr(c, "explain", job, check=False)
    assert gone.returncode == 1
    assert f"slurmctld knows no job {job} that is yours to see, and the database does not answer: " in gone.stderr


@pytest.mark.parametrize("hidden", ["partitions", "all"])
def test_partitions_that_are_hidden(make_cluster, hidden):
    c = make_cluster(nodes=1, priority_type="priority/ccr", plugins=["priority"],
                     policy={"version": 1, "preset": "ccr"}, partitions=PARTS,
                     conf={"PrivateData": hidden, "PriorityWeightAge": 1})
    job = c.sbatch("true", user="games", partition="p,q", begin="now+1hour")
    for partition in "pq":
        said = says(c, job, f" partition {partition}: PENDING.\n", user="games")
        assert "nobody is ahead" not in said  # the time limits there are hidden
        assert f"Rank 1 of 1 pending in partition {partition}, " in said


@pytest.mark.parametrize("hidden", ["jobs", "jobs,usage", "accounts"])
def test_usage_without_a_database_is_every_users_but_for_privatedata(make_cluster, hidden):
    c = make_cluster(nodes=1, priority_type="priority/ccr", plugins=["priority"],
                     policy={"version": 1, "preset": "ccr", "groups": {"c": {"target": 20}}},
                     conf={"PrivateData": hidden, "PriorityWeightFairshare": 500})
    path = f"{c.root}/state/ccr_usage.json"
    c.wait_for(lambda: os.path.exists(path), what="the ledger")
    os.chmod(f"{c.root}/state", 0o755)
    said = sccr_of(c, "games", "usage", check=False)
    if hidden == "jobs":
        assert said.returncode == 0 and "20.00 below its target" in said.stdout
    else:
        assert said.returncode == 1 and "Permission denied: there is no database, and Priv" in said.stderr
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert "20.00 below its target" in sccr(c, "usage").stdout


def test_beside_priority_basic_all_but_the_terms_is_explained(make_cluster):
    c = make_cluster(nodes=1, plugins=["select"], priority_type="priority/basic",
                     policy={"version": 1, "backfill": {"depth": 3}}, conf=CONF)
    block, booked = (c.sbatch("sleep 300", ntasks=8, time=30) for _ in "12")
    says(c, booked, "Rank 1 of 1 pending in partition p; nobody is ahead.\n", " (priority/basic has no terms).\n",
         f", when what runs there ends: job {block} (by ")
    assert explain(c, booked)[0]["waits_for"] == [str(block)]
    assert f"Job {block} " in says(c, block, "RUNNING")


def test_numbers_add_up_with_tres_several_partitions_and_little_usage(make_cluster):
    """sshare cuts RawUsage to whole seconds, squeue has one priority for all partitions."""
    c = make_cluster(
        nodes=1, priority_type="priority/ccr", plugins=["priority"], dbd=True,
        policy={"version": 1, "preset": "multifactor", "groups": {a: {"target": 25} for a in "bcd"}},
        accounts={a: {"users": [u]} for a, u in (("b", "games"), ("c", "man"), ("d", "lp"))},
        partitions={"p": 'Nodes=ALL Default=YES State=UP PriorityJobFactor=1 TRESBillingWeights="CPU=0.01"',
                    "q": "Nodes=ALL State=UP PriorityJobFactor=9", "off": "Nodes=ALL State=DOWN"},
        conf={"PriorityWeightPartition": 900, "PriorityWeightAge": 1000, "PriorityWeightFairshare": 5000,
              "PriorityWeightTRES": "CPU=1000,Mem=3000", "PriorityParameters": "ccr_calc_seconds=1",
              "PriorityDecayHalfLife": "7-0"})
    for user, account, n in (("games", "b", 1), ("man", "c", 2), ("lp", "d", 4)):
        c.wait_state(c.sbatch("sleep 300", user=user, account=account, ntasks=n, time=30))
    job = c.sbatch("true", user="games", account="b", partition="p,q", ntasks=8, mem=500)
    c.wait_for(lambda: all("tres" in x for x in explain(c, job)) and len(explain(c, job)) == 2, what="both")
    rows = {x["partition"]: x for x in explain(c, job)}
    for x in rows.values():
        total = sum(col["points"] for col in x["columns"].values()) + sum(t["points"] for t in x["tres"].values()) - x["nice"]
        assert {name: t["weight"] for name, t in x["tres"].items()} == {"cpu": 1000, "mem": 3000}
        for name, t in x["tres"].items():
            assert t["factor"] * t["weight"] == pytest.approx(t["points"]) and t["points"] > 0, name
        assert abs(total - x["priority"]) <= 3, x

    # (what squeue has is of the last cycle: as long as usage is a few seconds it moves with each)
    def is_said():
        found = explain(c, job)
        squeue = {x["squeue_priority"] for x in found}
        others = {x["priority"] for x in found} - squeue
        return len(squeue) == len(others) == 1 and \
            (f"Priority {others.pop()} in this partition (squeue shows {squeue.pop()} for all of them):"
             in sccr(c, "explain", job).stdout)
    c.wait_for(is_said, 60, what="both partitions' priorities")

    def used():
        return {g["group"]: g["usage"] for g in json.loads(sccr(c, "usage", "--json").stdout)["groups"]}
    def shown():
        rows = (line.split("|") for line in c.run("sshare", "-h", "-P", "-o", "Account,NormUsage").stdout.splitlines())
        return {a.strip(): 100 * float(norm) for a, norm in rows if a.strip() in "bcd"}
    c.wait_for(lambda: used()["d"] > 40 and used() == pytest.approx(shown(), abs=0.01), what="sshare's usage")
    root = c.run("sshare", "-h", "-P", "-o", "RawUsage").stdout.split()[0]
    assert float(root) < 100, "or whole seconds would be enough"
