"""A mixed queue on a real slurmdbd, frozen, to be read under one priority plugin after another.

The cluster's jobs are made once, in real time. Then slurmctld is stopped and its state folder kept;
every reading starts slurmctld from a copy of it with a clock that stands still at a chosen second,
so that two plugins see the same jobs at the same time, and whatever they print can be compared to
the digit."""
import itertools
import os
import random
import shutil
import time

from ccrcluster import Cluster, ClusterError, Nodes

USERS = ("games", "man", "lp", "mail", "news")
# Three levels, a user in several accounts, Fairshare=parent for a user and for an account, ties.
ACCOUNTS = {
    "phys": {"Fairshare": 60},
    "theory": {"parent": "phys", "Fairshare": 3, "users": {"games": "Fairshare=2", "man": ""}},
    "exp": {"parent": "phys", "Fairshare": 2, "users": {"lp": "Fairshare=3",
                                                        "mail": "Fairshare=parent"}},
    "ml": {"Fairshare": 40},
    "vision": {"parent": "ml", "Fairshare": 1},
    "seg": {"parent": "vision", "Fairshare": 2, "users": {"news": "Fairshare=2",
                                                          "games": "Fairshare=1"}},
    "det": {"parent": "vision", "Fairshare": 1, "users": ["man"]},
    "bio": {"Fairshare": "parent", "users": ["mail", "lp"]},
}
WHERE = [(user, account) for account, spec in ACCOUNTS.items() for user in spec.get("users", ())]
PARTITIONS = {
    "p": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityJobFactor=10",
    "fast": "Nodes=n[1-2] MaxTime=1-0 State=UP PriorityJobFactor=100 "
            "TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=8.0",
    "gpu": "Nodes=n[2-4] MaxTime=INFINITE State=UP PriorityJobFactor=30",
}
CONF = {
    "AccountingStorageEnforce": "associations,limits,qos",
    "PriorityDecayHalfLife": "2:00:00", "PriorityMaxAge": "4:00:00", "PriorityCalcPeriod": 5,
    "PriorityWeightAge": 100000, "PriorityWeightAssoc": 5000, "PriorityWeightFairshare": 200000,
    "PriorityWeightJobSize": 30000, "PriorityWeightPartition": 10000, "PriorityWeightQOS": 20000,
    "PriorityWeightTRES": "CPU=1000,Mem=2000,GRES/gpu=3000",
    "PriorityFavorSmall": "NO",
}
# What a busy machine can do to a reading: slurmdbd is late, and slurmctld starts without usage; or it
# ends without saving any.
NO_HISTORY = ("database appears down", "can not save state")
SPRIO = "%i|%r|%u|%Y|%A|%B|%F|%J|%P|%Q|%S|%N|%T"


class Frozen:
    """The cluster and its queue; read() as often as one likes."""

    def __init__(self, pending=2000, seed=4):
        self.random = random.Random(seed)
        self.made = []  # conftest.py shows the logs of these
        self.cluster = Cluster(nodes=[Nodes(count=4, cpus=16, mem=64000, gpus="a100:4")],
                               partitions=PARTITIONS, conf=CONF, dbd=True, auth="none",
                               accounts=ACCOUNTS, plugins=("priority",),
                               policy={"version": 1, "preset": "multifactor"})
        try:
            self.made.append(self.cluster.start())
            self._set_up(pending)
        except BaseException:
            self.cluster.stop()
            raise

    def _set_up(self, pending):
        c = self.cluster
        for name, priority in (("high", 50), ("low", 5)):
            c.run("sacctmgr", "-i", "add", "qos", name, f"priority={priority}")
        c.run("sacctmgr", "-i", "modify", "account", ",".join(ACCOUNTS), "set",
              "qos=normal,high,low")
        c.run("sacctmgr", "-i", "modify", "user", "games", "account=theory", "set", "priority=7")
        c.run("sacctmgr", "-i", "modify", "user", "news", "set", "priority=3")
        self._run_jobs()
        self._single_jobs()
        self._many_jobs(pending)
        self._eligible()
        # Nothing starts on what a job leaves: when that would be is a matter of milliseconds.
        c.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=frozen")
        c.stop_slurmctld()
        # slurmd would tell the next slurmctld of jobs that an earlier reading has ended.
        for name in [n for n in c.pids if n.startswith("slurmd-")]:
            c.end(name)
        self.kept = f"{c.root}/kept"
        shutil.copytree(f"{c.root}/state", self.kept)
        self.began = int(time.time())

    def _run_jobs(self):
        """Every CPU is taken, by users who use up different amounts."""
        c = self.cluster
        sizes = itertools.cycle((4, 8, 4, 2, 2, 4, 8))
        free, jobs = 64, []
        for (user, account), cpus in zip(itertools.cycle(WHERE), sizes):
            cpus = min(cpus, free)
            jobs.append(c.sbatch("sleep 36000", user=user, account=account, ntasks=cpus,
                                 nodes="1", mem=1000, time=2000,
                                 gres="gpu:1" if len(jobs) % 3 == 0 else None))
            free -= cpus
            if not free:
                break
        for job in jobs:
            c.wait_state(job)
            # slurmctld refuses this until it knows the job's number in the database; with a clock
            # that stands it would never learn it
            c.update(JobId=job, Comment="runs")

    def _options(self):
        r = self.random
        user, account = r.choice(WHERE)
        partition = r.choice(("p", "p", "fast", "gpu", "p,fast", "fast,gpu", "p,fast,gpu"))
        nodes = r.choice((1, 1, 1, 2)) if "fast" in partition else r.choice((1, 1, 2, 3))
        options = {"user": user, "account": account, "partition": partition, "nodes": nodes,
                   "ntasks": r.randint(nodes, nodes * 8), "qos": r.choice(("normal", "high", "low")),
                   "mem": r.choice((500, 4000, 30000)), "time": r.choice((5, 60, 300, 1400)),
                   "nice": r.choice((0, 0, 17, 900))}
        if r.random() < 0.3:
            options["gres"] = f"gpu:{r.randint(1, 4)}"
        return options

    def _single_jobs(self):
        """One or a few of every special kind."""
        c = self.cluster
        jobs = [c.sbatch("true", **self._options()) for _ in range(24)]
        c.update(JobId=jobs[0], Priority=123456)
        c.update(JobId=jobs[1], Priority=1)
        c.run("scontrol", "hold", str(jobs[2]))
        for job, site in ((3, 4000), (4, -4000), (5, 1)):
            c.update(JobId=jobs[job], SiteFactor=site)
        c.update(JobId=jobs[6], Nice=-5000)
        c.update(JobId=jobs[7], Nice=2000000)  # below 1: the smallest priority
        c.update(JobId=jobs[8], StartTime="now+3days")
        c.sbatch("true", user="lp", account="exp", hold=True)
        c.sbatch("true", user="lp", account="exp", dependency=f"afterok:{jobs[9]}")
        c.sbatch("true", user="news", account="seg", array="0-50%2", nodes=1, ntasks=3)
        c.sbatch("#!/bin/sh\n#SBATCH --ntasks=2 --mem=100\n#SBATCH hetjob\n"
                 "#SBATCH --ntasks=8 --mem=100 --gres=gpu:1\ntrue\n", user="man", account="det")
        # without a time limit of its own: the partition's
        c.sbatch("true", user="mail", account="bio", ntasks=1)

    def _many_jobs(self, pending):
        """Arrays, taken apart into one record a task by a change of each task's nice value."""
        c, arrays = self.cluster, []
        per_array = 170
        while pending > 0:
            options = self._options()
            arrays.append((c.sbatch("true", array=f"0-{per_array}", **options), options["nice"]))
            pending -= per_array
        for array, nice in arrays:
            for part in range(5):
                first, last = part * per_array // 5, (part + 1) * per_array // 5 - 1
                c.run("scontrol", "update", f"JobId={array}_[{first}-{last}]",
                      f"Nice={nice + 1 + part * 7}")

    def _eligible(self):
        """A job shows in sprio once the scheduler has looked at it."""
        c = self.cluster

        def all_seen():
            return len({r.split("|")[0] for r in c.run("sprio", "-h", "-o", "%i").stdout.split()}) \
                >= len(c.run("squeue", "-h", "-t", "PD", "-o", "%i").stdout.split()) - 6
        c.wait_for(all_seen, 60, what="eligible jobs", every=0.5)

    def stop(self):
        self.cluster.stop()

    def read(self, plugin, after=3600, conf=None, again=(), events=None, state_file=None):
        """Starts slurmctld under priority/PLUGIN, `after` seconds after the queue was made, and
        returns what it shows.

        again: more times at which it is started anew from what it left before, for a longer
        history; the last is what is read. events(queue, turn, at) is called after each start but
        the last. state_file: bytes of priority_last_decay_ran instead of what is there."""
        c = self.cluster
        self._restore(self.kept)
        if state_file is not None:
            with open(f"{c.root}/state/priority_last_decay_ran", "wb") as out:
                out.write(state_file)
        c.priority_type = f"priority/{plugin}"
        c.conf = {**CONF, **(conf or {})}
        c.write_conf()
        turns = (after, *again)
        for turn, at in enumerate(turns):
            shown = self._turn(turn, at, events, turn == len(turns) - 1)
        return shown

    def _restore(self, kept):
        state = f"{self.cluster.root}/state"
        shutil.rmtree(state, ignore_errors=True)
        shutil.copytree(kept, state)

    def _turn(self, turn, at, events, last):
        """One start of slurmctld, anew from the same state if it lost what it knew of usage."""
        c, before = self.cluster, f"{self.cluster.root}/before"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(f"{c.root}/state", before)
        for _ in range(8):
            logged, shown = len(c.log()), None
            frozen_start(c, self.began + at)
            if last:
                shown = self.look()
                c.kill9_slurmctld()
            else:
                if events:
                    events(self, turn, at)
                    self._until_saved(at + 100)
                self._stop()
            said = c.log()[logged:]
            if not any(line in said for line in NO_HISTORY):
                return shown
            self._restore(before)
        raise ClusterError(f"eight times one of {NO_HISTORY}")

    def _stop(self):
        """26.05 waits at its end for messages to a slurmd that is gone, and on a clock that stands
        they are tried for ever: what it knows is saved by then."""
        c = self.cluster
        pid = c.pids["slurmctld"]
        try:
            c.end("slurmctld", timeout=15)
        except ClusterError:
            if c.version < (26, 5) or "Saving all slurm state" not in c.log():
                raise
            c.pids["slurmctld"] = pid
            c.kill9_slurmctld()

    def _until_saved(self, at):
        """Until slurmctld has written what it knows: it gives up its usage when it is told to end
        while somebody holds a lock, and whoever writes 2,000 jobs does. It writes when its clock
        is five seconds further."""
        c = self.cluster
        waiting = c.run("squeue", "-h", "-t", "R", "-S", "i", "-o", "%i").stdout.split()[-1]
        set_clock(c, self.began + at)
        c.wait_saved(waiting)
        c.wait_for(lambda: time.time() - os.stat(f"{c.root}/state").st_mtime > 1, 60,
                   what="the end of saving")

    def look(self):
        c = self.cluster
        rows = {}
        for line in c.run("sprio", "-h", "-o", SPRIO).stdout.splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            rows[cells[0], cells[1]] = cells[2:]
        queue = c.run("squeue", "-h", "-P", "-r", "-S", "-p", "-t", "PD", "-o", "%i %P %Q").stdout
        shares = c.run("sshare", "-a", "-P", "-o", "Account,User,RawShares,NormShares,RawUsage,"
                       "NormUsage,EffectvUsage,FairShare,LevelFS,GrpTRESMins,TRESRunMins").stdout
        return {"sprio": rows, "queue": queue.splitlines(), "sshare": shares.splitlines()}


def frozen_start(cluster, at):
    """Starts slurmctld with a clock that stands at `at`, and waits for its first cycle."""
    set_clock(cluster, at)
    cluster.start_slurmctld(env=cluster.fake_time(
        FAKETIME_NO_CACHE="1", FAKETIME_TIMESTAMP_FILE=f"{cluster.root}/run/clock"))
    cluster.wait_for(lambda: last_ran(cluster)[0] == at, 60, what="the first cycle",
                     every=0.02, daemon="slurmctld")


def set_clock(cluster, at):
    """Moves the clock that frozen_start() set, at once."""
    path = f"{cluster.root}/run/clock"
    with open(f"{path}.new", "w") as out:
        out.write(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)))
    os.rename(f"{path}.new", path)


def last_ran(cluster):
    """The two times of priority_last_decay_ran."""
    try:
        with open(f"{cluster.root}/state/priority_last_decay_ran", "rb") as state:
            data = state.read()
    except FileNotFoundError:
        return (0, 0)
    return (int.from_bytes(data[:8], "big"), int.from_bytes(data[8:16], "big"))
