"""What later versions of Slurm brought that the plugins have to know: several QOS for a job, the
start of the thread after init, auth/slurm beside munge."""
import os

import pytest

from ccrcluster import Cluster, Nodes

pytestmark = pytest.mark.every_slurm

POLICY = {"version": 1, "preset": "ccr", "default_group": "phys", "groups": {"phys": {"target": 60}}}
CONF = {"PriorityWeightQOS": 1000, "PriorityWeightPartition": 100, "PriorityWeightAge": 1,
        "AccountingStorageEnforce": "associations,qos,limits"}
PARTS = {"p": "Nodes=ALL Default=YES State=UP PriorityJobFactor=1",
         "off": "Nodes=ALL State=DOWN PriorityJobFactor=10 PriorityTier=2",
         "off2": "Nodes=ALL State=DOWN PriorityJobFactor=5"}


@pytest.fixture(scope="module")
def site():
    c = Cluster(nodes=[Nodes(count=1, cpus=4)], dbd=True, conf=CONF, partitions=PARTS,
                policy=POLICY, priority_type="priority/ccr", plugins=("priority", "select"),
                accounts={"phys": {"Fairshare": 60, "users": ["games", "man"]}})
    with c:
        for name, priority in (("high", 50), ("low", 5)):
            c.run("sacctmgr", "-i", "add", "qos", name, f"priority={priority}",
                  "GrpTRESRunMins=cpu=1000")
        c.run("sacctmgr", "-i", "modify", "account", "phys", "set", "qos=normal,high,low")
        yield c


def need(c, *version):
    if c.version < version:
        pytest.skip(f"new in {version[0]}.{version[1]:02d}")


def test_a_job_of_several_qos_has_a_priority_for_each(site):
    c = site
    need(c, 24, 11)
    one = c.sbatch("true", user="games", account="phys", qos="low,high", partition="off")
    two = c.sbatch("true", user="games", account="phys", qos="low,high", partition="off2,off")

    def rows(job):
        return [r for r in c.sprio() if r["job"] == str(job)]
    c.wait_for(lambda: len(rows(one)) == 2 and len(rows(two)) == 4, what="a row for each pair")
    high, low = sorted(rows(one), key=lambda r: -r["qos"])
    assert (high["qos"], low["qos"]) == (1000, 100)  # as a part of the highest, 50
    assert high["priority"] - low["priority"] == 900
    by_part = {}
    for row in rows(two):
        by_part.setdefault(row["partition"], []).append(row["qos"])
    assert {name: sorted(q) for name, q in by_part.items()} == {"off": [100, 1000],
                                                               "off2": [100, 1000]}
    # Taken apart into two QOS for the scheduler, it still starts, once.
    ran = c.sbatch("sleep 1", user="games", account="phys", qos="low,high", time=5)
    assert c.wait_state(ran, "COMPLETED")["QOS"] == "high"


def test_running_jobs_are_counted_once_over_restarts(site):
    """GrpTRESRunMins: slurmctld counts a running job whole again at a start, and the plugin takes
    out what has passed, in its thread (started in init, or in thread_start from 23.11.6)."""
    c = site
    c.clear()
    job = c.sbatch("sleep 300", user="games", account="phys", qos="high", ntasks=2, time=10)
    c.wait_state(job)

    def left():
        out = c.run("scontrol", "-o", "show", "assoc_mgr", "flags=qos", "qos=high").stdout
        return int(out.split("GrpTRESRunMins=cpu=1000(")[1].split(")")[0])
    c.wait_for(lambda: 0 < left() <= 20, what="run-minutes of 2 CPUs for 10 minutes")
    for _ in range(2):
        c.restart_slurmctld()
        c.wait_for(lambda: 0 < left() <= 20, what="the same after a restart")
    c.run("scancel", str(job))
    c.wait_for(lambda: left() == 0, what="nothing left")


def test_auth_slurm():
    c = Cluster(nodes=[Nodes(count=1, cpus=2)], auth="none", policy=POLICY,
                conf={"AuthType": "auth/slurm", "CredType": "cred/slurm"},
                priority_type="priority/ccr", plugins=("priority", "select"))
    try:
        need(c, 23, 11)
        if not os.path.exists(os.path.join(c.stock_plugins, "auth_slurm.so")):
            pytest.skip("this Slurm was built without auth/slurm")
        key = f"{c.root}/etc/slurm.key"
        with open(key, "wb") as out:
            out.write(os.urandom(64))
        os.chmod(key, 0o600)
        c.start()
        job = c.sbatch("true", user="games")
        c.wait_state(job, "COMPLETED")
        assert c.sbatch("true", user="games", begin="now+1hour")
        assert not c.log_grep("fatal")
    finally:
        c.stop()
