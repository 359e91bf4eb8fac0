"""From one version of Slurm to the next, our plugins rebuilt, jobs running and queued: no job is lost
and no usage. The older Slurm is named by CCR_OLD_EXEC (words before its commands) and CCR_OLD_BUILD
(the build folder with the plugins for it); the newer one is the one that the tests are run on."""
import json
import os
import shlex
import time

import pytest

from ccrcluster import Cluster, Nodes

SERIES = ["22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]
POLICY = {"version": 1, "preset": "ccr", "default_group": "rest",
          "groups": {"a": {"target": 40}, "b": {"target": 40}, "rest": {"target": 20}}}
CONF = {"PriorityWeightFairshare": 1000, "PriorityDecayHalfLife": 0,
        "PriorityUsageResetPeriod": "YEARLY", "PriorityParameters": "ccr_calc_seconds=1",
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=2,bf_interval=2,"
                               "bf_min_prio_reserve=4294967295"}
GPU_JOB = (4 + 2 * 32) / 4  # what our ledger charges a job of 4 CPUs and 2 GPUs, as a CPU's seconds
LIMITS = {"AccountingStorageEnforce": "associations,limits,qos"}

pytestmark = pytest.mark.skipif(
    "CCR_OLD_BUILD" not in os.environ, reason="no second Slurm at hand: ./check --all "
    "--slurm-source DIR --slurm-prefix DIR has two")


def series(version):
    return SERIES.index(f"{version[0]}.{version[1]:02d}")


class Site(Cluster):
    """Starts as the older Slurm; upgrade() makes it the newer one, daemon by daemon."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.newer = {"wrap": self.wrap, "build": self.build, "prefix": self.prefix}
        new = self.version
        self.be({"wrap": shlex.split(os.environ.get("CCR_OLD_EXEC", "")), "prefix": "",
                 "build": os.environ["CCR_OLD_BUILD"]})
        # The three series before it, from 24.11 on; two until then.
        if not 0 < series(new) - series(self.version) <= (3 if new >= (24, 11) else 2):
            pytest.skip(f"Slurm {new} does not read the state of {self.version}")

    def be(self, kind):
        for name, value in kind.items():
            setattr(self, name, value)
        self._version = None

    def upgrade(self):
        """In Slurm's order: slurmdbd, slurmctld, slurmd; what runs goes on."""
        self.stop_slurmctld()
        if self.dbd:
            self.end("slurmdbd")
        self.stop_slurmd()
        self.be(self.newer)
        self.write_conf()
        if self.dbd:
            self.start_slurmdbd()
        self.start_slurmctld()
        self.start_slurmd()
        self.wait_nodes_registered()


def charged(c, account):
    """CPU-seconds of an account: in our ledger, or in slurmctld's associations."""
    if c.dbd:
        rows = c.run("sshare", "-h", "-P", "-A", account, "-o", "Account,User,RawUsage").stdout
        return max([int(r.split("|")[2]) for r in rows.splitlines() if not r.split("|")[1]] or [0])
    with open(f"{c.root}/state/ccr_usage.json") as text:
        return sum(e["billed_s"] for e in json.load(text)["usage"] if e["account"] == account)


def ran(j):
    """CPU-seconds of a job that has ended."""
    def seconds(text):
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    return int(j["NumCPUs"]) * (seconds(j["EndTime"]) - seconds(j["StartTime"]))


def last_ran(c):
    with open(f"{c.root}/state/priority_last_decay_ran", "rb") as state:
        return int.from_bytes(state.read(8), "big")


@pytest.mark.parametrize("dbd", [True, False], ids=["slurmdbd", "own_ledger"])
def test_no_job_and_no_usage_is_lost(dbd):
    site = {"dbd": True, "accounts": {"a": {"users": ["games", "root"]}, "b": {"users": ["man"]}}} \
        if dbd else {}
    c = Site(nodes=[Nodes(count=2, cpus=4, gpus="a100:2")], priority_type="priority/ccr",
             plugins=["priority", "select"], policy=POLICY,
             conf={**CONF, **(LIMITS if dbd else {})}, **site)
    with c:
        old = c.version
        ended = c.sbatch("sleep 3", user="games", account="a", ntasks=2)
        c.wait_state(ended, "COMPLETED")
        through = c.sbatch("while ! [ -e go ]; do sleep 0.2; done", user="games", account="a",
                           ntasks=4, time=60, chdir=f"{c.root}/out")
        through_gpu = c.sbatch("sleep 9999", user="man", account="b", gres="gpu:2", ntasks=4,
                               time=60)
        for job in (through, through_gpu):
            c.wait_state(job)
        queued = [c.sbatch("true", user="man", account="b", ntasks=4, time=5) for _ in range(2)]
        held = c.sbatch("true", user="man", account="b", hold=True)
        later = c.sbatch("true", user="games", account="a", begin="now+1day")
        array = c.sbatch("true", user="games", account="a", array="0-3%1", ntasks=4, time=5)
        jobs = [ended, through, through_gpu, *queued, held, later]
        c.wait_for(lambda: charged(c, "b") > 12, 60, what="usage")
        states = c.states(*jobs)
        assert states == ["COMPLETED", "RUNNING", "RUNNING"] + ["PENDING"] * 4
        starts = [c.job(j)["StartTime"] for j in (through, through_gpu)]
        priorities = {j["job"]: j["priority"] for j in c.squeue("-t", "PD")}
        time.sleep(6)  # slurmctld saves its jobs every 5 s; its end must not have to, see mfqueue
        seen, cycle = charged(c, "b"), last_ran(c) if dbd else None

        c.upgrade()
        assert c.version > old
        assert c.states(*jobs) == states
        assert [c.job(j)["StartTime"] for j in (through, through_gpu)] == starts
        assert {j["job"]: j["priority"] for j in c.squeue("-t", "PD")}.keys() == priorities.keys()
        c.wait_for(lambda: charged(c, "b") > seen, what="usage that goes on")
        assert not dbd or last_ran(c) > cycle
        assert not c.log_grep("fatal|built from the headers|decides alone")
        # What ran through it ends as it would have, and what waited starts.
        with open(f"{c.root}/out/go", "w"):
            pass
        assert c.wait_state(through, "COMPLETED")["ExitCode"] == "0:0"
        c.run("scancel", through_gpu)
        c.wait_state(through_gpu, "CANCELLED")
        for job in queued:
            c.wait_state(job, "COMPLETED")
        c.wait_for(lambda: {j["JobState"] for j in c.jobs(array)} == {"COMPLETED"}, 60,
                   what="the array")
        assert c.states(held, later) == ["PENDING"] * 2
        # Each second was charged once, those in between too.
        for account, dear in (("a", None), ("b", through_gpu)):
            def want():
                return sum(ran(j) * (GPU_JOB if j["JobId"] == str(dear) and not dbd else 1)
                           for j in c.jobs() if j["Account"] == account and j["JobState"] in
                           ("COMPLETED", "CANCELLED"))
            slack = 3 * 4 * (GPU_JOB if dear and not dbd else 1)
            c.wait_for(lambda: abs(charged(c, account) - want()) <= slack, 15, every=0.5,
                       what=lambda: f"{want()} of {account}: {charged(c, account)}")
