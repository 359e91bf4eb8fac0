"""A throw-away Slurm cluster on the loopback, real daemons in a folder of its own.

    with Cluster(nodes=[Nodes(count=4, cpus=16, gpus="a100:4")]) as c:
        job = c.sbatch("sleep 60", user="games", gres="gpu:1")
        c.wait_for(lambda: c.job(job)["JobState"] == "RUNNING")

Ports are free ones, claimed for this cluster, so several clusters run side by side. All daemons
hang below one supervisor process (supervise.py), which ends them when this process goes, however
it goes. Environment:

    CCR_SLURM_PREFIX  a Slurm installed elsewhere (sbin, bin, lib below it) instead of the system's
    CCR_SLURM_EXEC    words put before every Slurm command, e.g. "chroot DIR"
    CCR_BUILD_DIR     build folder whose plugins are loaded (default: build in the repository)
    CCR_KEEP          keep the folders of stopped clusters
    CCR_PATIENCE      factor on every time limit, for a machine that is busy with something else
"""
import getpass
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import tempfile
import time

import slurmconf
from daemons import Daemons
from processes import ClusterError
from slurmconf import Nodes, parse_show

__all__ = ["Cluster", "ClusterError", "Nodes"]

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPRIO = {"job": "i", "partition": "r", "user": "u", "priority": "Y", "age": "A", "assoc": "B",
         "fairshare": "F", "jobsize": "J", "part": "P", "qos": "Q", "site": "S", "nice": "N",
         "tres": "T", "f_age": "a", "f_assoc": "b", "f_fairshare": "f", "f_jobsize": "j",
         "f_part": "p", "f_qos": "q", "f_tres": "t"}
SQUEUE = {"job": "i", "state": "T", "priority": "Q", "partition": "P", "user": "u",
          "account": "a", "reason": "r", "nodes": "N", "start": "S", "name": "j"}


class Cluster(Daemons):
    """See the module's text. Arguments, all optional:

    nodes          list of Nodes, or a count of plain ones
    partitions     {name: rest of the PartitionName line}; one default partition of all nodes
    conf           {option: value} over slurm.conf's defaults here; None drops an option
    extra          text at slurm.conf's end
    priority_type  PriorityType
    plugins        which of our plugins are put first in PluginDir: "priority", "select"
    policy         text or dict of the policy file, etc/ccr.json
    dbd            slurmdbd on a private MariaDB; accounts is then loaded into it
    accounts       {account: {parent, users, Fairshare, ...}} or the text of a sacctmgr dump
    auth           "munge" (own munged and key) or "none"
    clock          None, a shift ("-1d", "+2h"), or "@DATE xSPEED" as faketime(1) has it
    gpu_files      "plain" or "tty", see slurmconf.gres_text
    ctld_env       environment of slurmctld on top, e.g. {"LD_PRELOAD": "libasan.so.8"}
    folder         where to live; a new one below the temporary folder
    """

    def __init__(self, nodes=4, partitions=None, conf=None, extra="",
                 priority_type="priority/multifactor", plugins=(), policy=None, dbd=False,
                 accounts=None, auth="munge", clock=None, gpu_files="plain", ctld_env=None,
                 folder=None):
        super().__init__()
        self.prefix = os.environ.get("CCR_SLURM_PREFIX", "")
        self.wrap = shlex.split(os.environ.get("CCR_SLURM_EXEC", ""))
        self.build = os.environ.get("CCR_BUILD_DIR", os.path.join(REPO, "build"))
        self.nodes = [Nodes(count=nodes)] if isinstance(nodes, int) else list(nodes)
        self.partitions = partitions or {"p": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP"}
        self.conf, self.extra = dict(conf or {}), extra
        self.priority_type, self.plugins = priority_type, tuple(plugins)
        self.dbd, self.accounts, self.auth = dbd, accounts, auth
        self.clock, self.gpu_files, self.ctld_env = clock, gpu_files, dict(ctld_env or {})
        self.user = getpass.getuser()
        self.root = folder or tempfile.mkdtemp(prefix="ccr-cluster-")
        os.chmod(self.root, 0o755)  # jobs of other users write their output below it
        self.timings = {}  # what was up after how many seconds
        for name in ("etc", "log", "run", "state", "dev", "spool", "out"):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)
        os.chmod(os.path.join(self.root, "out"), 0o1777)
        if policy is not None:
            self.write_policy(policy)

    # -- up and down ------------------------------------------------------------------------------

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self, wait_nodes=True):
        try:
            self._start(wait_nodes)
        except BaseException:
            self.stop(keep=True)
            raise
        return self

    def _start(self, wait_nodes):
        began = time.monotonic()

        def lap(name):
            self.timings[name] = round(time.monotonic() - began, 2)
        self._start_keeper()
        self.write_conf()
        lap("supervisor")
        if self.auth == "munge":
            self.start_munged()
            lap("munged")
        if self.dbd:
            self.start_mariadb()
            lap("mariadb")
            self.start_slurmdbd()
            lap("slurmdbd")
            self.load_accounts(self.accounts or {})
            lap("accounts")
        self.start_slurmctld()
        lap("slurmctld")
        self.start_slurmd()
        lap("slurmd started")
        if wait_nodes:
            self.wait_nodes_idle()
            lap("nodes idle")

    def stop(self, keep=None):
        """Ends every process of the cluster and removes its folder (keep=True leaves it)."""
        if self.keeper:
            try:
                self._ask(op="quit")
            except (ClusterError, OSError):
                pass
            self.keeper.stdin.close()
            self.keeper.wait()
            self.keeper.stdout.close()
            self.keeper = None
        self.pids = {}
        if keep is None:
            keep = bool(os.environ.get("CCR_KEEP"))
        if not keep:
            shutil.rmtree(self.root, ignore_errors=True)

    def detach(self):
        """Leaves the cluster up when this process ends; end_kept takes it down."""
        pid = self._ask(op="detach")["pid"]
        slurmconf.put(f"{self.root}/supervisor.pid", f"{pid}\n")

    @staticmethod
    def end_kept(root):
        """Ends a cluster that was detached and removes its folder; False if there is none."""
        try:
            with open(f"{root}/supervisor.pid") as text:
                pid = int(text.read())
            with open(f"/proc/{pid}/cmdline") as text:
                if "supervise.py" not in text.read():
                    return False
        except (OSError, ValueError):
            return False
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.05)
        shutil.rmtree(root, ignore_errors=True)
        return True

    # -- commands ---------------------------------------------------------------------------------

    def sbatch(self, script="true", *args, user=None, **options):
        """Submits a script, or one shell command line, and returns the job id.

        user is an existing user of the system (games, man, lp, ...). Options are sbatch's long
        ones: gres="gpu:1", time=5, exclusive=True."""
        argv = ["--parsable"]
        options.setdefault("output", f"{self.root}/out/%A_%a.out" if "array" in options
                           else f"{self.root}/out/%j.out")
        if user:
            argv += [f"--uid={user}", f"--gid={pwd.getpwnam(user).pw_gid}"]
        for key, value in options.items():
            flag = "--" + key.replace("_", "-")
            if value is True:
                argv.append(flag)
            elif value is not None and value is not False:
                argv.append(f"{flag}={value}")
        if not script.startswith("#!"):
            script = f"#!/bin/sh\n{script}\n"
        out = self.run("sbatch", *argv, *args, input=script).stdout
        return int(out.strip().split(";")[0])

    def job(self, job):
        """`scontrol show job` as a dict (of an array: the first record's)."""
        return self.jobs(job)[0]

    scontrol_show_job = job

    def jobs(self, job=None):
        args = [str(job)] if job is not None else []
        return parse_show(self.run("scontrol", "-d", "-o", "show", "job", *args).stdout)

    def node(self, name):
        return parse_show(self.run("scontrol", "-d", "-o", "show", "node", name).stdout)[0]

    def update(self, **what):
        """scontrol update JobId=... Key=..., again while slurmdbd is still being told of the job, or slurmctld cannot."""
        for _ in range(100):
            try:
                return self.run("scontrol", "update", *[f"{k}={v}" for k, v in what.items()])
            except ClusterError as error:
                if not any(word in str(error) for word in ("try again in a bit", "temporarily unavailable")):
                    raise
            time.sleep(0.1)
        raise ClusterError(f"slurmctld puts it off without end: {what}")

    def squeue(self, *args):
        """[{job, state, ...}] in squeue's order; all values are text."""
        out = self.run("squeue", "-h", "-a", "-o", "|".join("%" + f for f in SQUEUE.values()),
                       *args).stdout
        return [dict(zip(SQUEUE, line.split("|"))) for line in out.splitlines()]

    def sprio(self, *args):
        """[{job, partition, user, priority, age, ..., f_age, ...}]: the weighted columns, and the
        factors (f_*) beside them. Numbers where sprio prints numbers, else the text (tres)."""
        out = self.run("sprio", "-h", "-o", "|".join("%" + f for f in SPRIO.values()),
                       *args).stdout
        rows = []
        for line in out.splitlines():
            row = dict(zip(SPRIO, (cell.strip() for cell in line.split("|"))))
            rows.append({key: value if key in ("partition", "user", "job") else number(value)
                         for key, value in row.items()})
        return rows

    def states(self, *jobs):
        """The states of these jobs, in this order."""
        found = {j["JobId"]: j["JobState"] for j in self.jobs()}
        return [found.get(str(job)) for job in jobs]

    def wait_state(self, job, state="RUNNING", timeout=60):
        self.wait_for(lambda: self.job(job)["JobState"] == state, timeout,
                      what=lambda: f"{state} of job {job}, which is {self.job(job)['JobState']} "
                                   f"({self.job(job)['Reason']})")
        return self.job(job)

    def clear(self):
        """Cancels every job, and waits until the queue is empty."""
        self.run("scancel", "-f", *{j["job"].split("_")[0] for j in self.squeue()} or ["--name=none"],
                 check=False)
        self.wait_for(lambda: not self.squeue(), what="an empty queue", timeout=60)

    def reconfigure(self):
        """From 23.11 that is a new slurmctld in the same process: a signal or a question before it
        is up would be lost."""
        up = "Running as primary controller"
        before = len(self.log_grep(up))
        done = self.run("scontrol", "reconfigure")
        if self.version >= (23, 11):
            self.wait_for(lambda: len(self.log_grep(up)) > before, what="slurmctld, anew")
            self.wait_slurmctld()
        return done

    # -- files ------------------------------------------------------------------------------------

    @property
    def policy_path(self):
        return f"{self.root}/etc/ccr.json"

    def write_policy(self, policy, mode=0o644):
        """Replaces the policy file at once, as an editor does (rename)."""
        text = policy if isinstance(policy, str) else json.dumps(policy, indent=2)
        slurmconf.put(self.policy_path + ".new", text, mode)
        os.rename(self.policy_path + ".new", self.policy_path)

    def log(self, name="slurmctld"):
        try:
            with open(f"{self.root}/log/{name}.log", errors="replace") as text:
                return text.read()
        except FileNotFoundError:
            return ""

    def log_grep(self, pattern, name="slurmctld"):
        """The lines of a log that match."""
        return [line for line in self.log(name).splitlines() if re.search(pattern, line)]


def number(text):
    """An int where the text is one, else a float, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
