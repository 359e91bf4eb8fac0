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
"""
import getpass
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import slurmconf
from slurmconf import Nodes, parse_show

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
PLUGINS = {"priority": "src/priority", "select": "src/select"}  # below the build folder
SPRIO = {"job": "i", "partition": "r", "user": "u", "priority": "Y", "age": "A", "assoc": "B",
         "fairshare": "F", "jobsize": "J", "part": "P", "qos": "Q", "site": "S", "nice": "N",
         "tres": "T", "f_age": "a", "f_assoc": "b", "f_fairshare": "f", "f_jobsize": "j",
         "f_part": "p", "f_qos": "q", "f_tres": "t"}


class ClusterError(Exception):
    """Something of the cluster did not come up, or a command of it failed."""


class Cluster:
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
        self.pids = {}
        self.keeper = None
        self.base_port = None
        self.timings = {}
        self._version = None
        for name in ("etc", "log", "run", "state", "dev", "spool", "out"):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)
        os.chmod(os.path.join(self.root, "out"), 0o1777)
        if policy is not None:
            self.write_policy(policy)

    # -- programs, environment, clock ---------------------------------------------------------

    def program(self, name):
        """Path of one of Slurm's programs; of another Slurm with CCR_SLURM_PREFIX."""
        if self.wrap:
            return name
        for folder in ("sbin", "bin"):
            path = os.path.join(self.prefix or "/usr", folder, name)
            if os.access(path, os.X_OK):
                return path
        found = None if self.prefix else shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin:"
                                                      + os.environ.get("PATH", ""))
        if not found:
            raise ClusterError(f"{name} is not installed" + (
                f" below {self.prefix}" if self.prefix else " (scripts/deps installs it)"))
        return found

    @property
    def version(self):
        """(22, 5, 8)"""
        if self._version is None:
            text = subprocess.run([*self.wrap, self.program("slurmctld"), "-V"], text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            self._version = tuple(int(x) for x in re.findall(r"\d+", text.split()[-1])[:3])
        return self._version

    @property
    def stock_plugins(self):
        """Folder of the Slurm's own plugins."""
        prefix = self.prefix or "/usr"
        for pattern in ("lib/slurm", "lib/*/slurm-wlm", "lib/*/slurm", "lib64/slurm"):
            for path in sorted(glob.glob(os.path.join(prefix, pattern))):
                if os.path.exists(os.path.join(path, "select_cons_tres.so")):
                    return path
        raise ClusterError(f"no Slurm plugins below {prefix}/lib")

    def environment(self, extra=None):
        """For daemons and clients alike: this cluster's slurm.conf, and its clock."""
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("SLURM", "SBATCH", "SALLOC", "SRUN", "SQUEUE", "SINFO",
                                      "SPRIO", "SACCT", "FAKETIME"))}
        env["SLURM_CONF"] = f"{self.root}/etc/slurm.conf"
        env["LC_ALL"] = "C"
        if self.clock and not self.clock.startswith("@"):
            env.update(self._shift(self.clock))
        elif self.clock:  # one clock for all, handed on by the supervisor's faketime
            got = self._ask(op="env")["env"]
            env.update({k: v for k, v in got.items() if k == "LD_PRELOAD" or "FAKETIME" in k})
        preload = [e["LD_PRELOAD"] for e in (extra or {}, env) if e.get("LD_PRELOAD")]
        env.update(extra or {})
        if preload:
            env["LD_PRELOAD"] = ":".join(preload)
        return env

    @staticmethod
    def _shift(offset):
        libs = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libs:
            raise ClusterError("libfaketime is not installed (scripts/deps installs it)")
        return {"LD_PRELOAD": libs[0], "FAKETIME": offset, "DONT_FAKE_MONOTONIC": "1"}

    # -- the supervisor -------------------------------------------------------------------------

    def _ask(self, **request):
        self.keeper.stdin.write(json.dumps(request) + "\n")
        self.keeper.stdin.flush()
        line = self.keeper.stdout.readline()
        if not line:
            raise ClusterError("the supervisor is gone")
        reply = json.loads(line)
        if "error" in reply:
            raise ClusterError(reply["error"])
        return reply

    def _start_keeper(self):
        argv = [sys.executable, os.path.join(HERE, "supervise.py")]
        if self.clock and self.clock.startswith("@"):
            argv = ["faketime", "-m", "-f", self.clock, *argv]
        self.keeper = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, cwd=self.root, start_new_session=True)
        real = sum(n.count for n in self.nodes if n.real)
        self.base_port = self._ask(op="claim", count=slurmconf.PORT_SLURMD + real)["base"]

    def spawn(self, daemons):
        """Starts [(name, argv, extra environment)] at once; output in log/NAME.out."""
        specs = [{"argv": list(argv), "env": self.environment(env),
                  "log": f"{self.root}/log/{name}.out"} for name, argv, env in daemons]
        pids = self._ask(op="spawn", list=specs)["pids"]
        self.pids.update({name: pid for (name, _, _), pid in zip(daemons, pids)})

    def alive(self, name):
        return name in self.pids and self._ask(op="status", pid=self.pids[name])["alive"]

    def end(self, name, sig=signal.SIGTERM, timeout=30):
        """Sends sig to a daemon and waits for its end; the return code, negative for a signal."""
        pid = self.pids.pop(name)
        os.kill(pid, sig)
        self.wait_for(lambda: not self._ask(op="status", pid=pid)["alive"], timeout,
                      what=f"end of {name}", every=0.02)
        return self._ask(op="status", pid=pid)["rc"]

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

    def write_conf(self):
        """Writes the configuration from this object's present arguments."""
        dirs = []
        for name in self.plugins:
            path = os.path.join(self.build, PLUGINS[name])
            if not glob.glob(os.path.join(path, "*.so")):
                raise ClusterError(f"no plugin in {path}: build first (or set CCR_BUILD_DIR)")
            dirs.append(path)
        slurmconf.write(self.root, self.base_port, self.version, self.nodes, self.partitions,
                        self.conf, self.extra, self.priority_type, dirs, self.stock_plugins,
                        self.user, auth=self.auth, dbd=self.dbd, gpu_files=self.gpu_files)

    def start_munged(self):
        home = os.path.join(self.root, "munge")
        os.makedirs(home, mode=0o700, exist_ok=True)
        key = os.path.join(home, "key")
        if not os.path.exists(key):
            with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as out:
                out.write(os.urandom(128))
        sock = f"{self.root}/run/munge.sock"
        self.spawn([("munged", [self.program("munged"), "-F", "--force", f"--key-file={key}",
                                f"--socket={sock}", f"--pid-file={home}/pid",
                                f"--log-file={self.root}/log/munged.log",
                                f"--seed-file={home}/seed", "--num-threads=4"], None)])
        self.wait_for(lambda: self.run("munge", "-n", "-S", sock, check=False).returncode == 0,
                      10, what="munged", every=0.02, daemon="munged")

    def start_mariadb(self):
        data, sock = f"{self.root}/mariadb", f"{self.root}/run/mariadb.sock"
        if not os.path.isdir(data):
            self.run("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
                     "--auth-root-authentication-method=normal", f"--user={self.user}")
        self.spawn([("mariadbd", [
            self.program("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={sock}",
            f"--port={self.base_port + slurmconf.PORT_MARIADB}", "--bind-address=127.0.0.1",
            f"--pid-file={self.root}/run/mariadb.pid", f"--user={self.user}", "--skip-log-bin",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900",
            "--innodb-buffer-pool-size=64M", "--performance-schema=OFF",
            "--loose-innodb-snapshot-isolation=OFF"], None)])
        sql = ["mariadb", "--no-defaults", "-S", sock, "-u", "root", "-e"]
        self.wait_for(lambda: self.run(*sql, "select 1", check=False).returncode == 0, 60,
                      what="MariaDB", daemon="mariadbd")
        hosts = ("localhost", "127.0.0.1")
        self.run(*sql, "create database if not exists slurm_acct;" + "".join(
            f"create or replace user slurm@'{h}' identified by 'slurm';"
            f"grant all on slurm_acct.* to slurm@'{h}';" for h in hosts))

    def start_slurmdbd(self):
        self.spawn([("slurmdbd", [*self.wrap, self.program("slurmdbd"), "-D"], None)])
        self.wait_for(lambda: self.run("sacctmgr", "-n", "list", "cluster",
                                       check=False).returncode == 0, 60, what="slurmdbd",
                      daemon="slurmdbd")

    def load_accounts(self, accounts):
        text = accounts if isinstance(accounts, str) else slurmconf.accounts_text(accounts)
        path = f"{self.root}/etc/accounts.cfg"
        slurmconf.put(path, text)
        return self.run("sacctmgr", "-i", "load", path).stdout

    def start_slurmctld(self, *args, wait=True, env=None):
        self.spawn([("slurmctld", [*self.wrap, self.program("slurmctld"), "-D", "-f",
                                   f"{self.root}/etc/slurm.conf", *args],
                     {**self.ctld_env, **(env or {})})])
        if wait:
            self.wait_slurmctld()

    def wait_slurmctld(self, timeout=60):
        self.wait_for(lambda: "is UP" in self.run("scontrol", "ping", check=False).stdout,
                      timeout, what="slurmctld", every=0.05, daemon="slurmctld")

    def stop_slurmctld(self):
        """A clean shutdown: it saves its state."""
        return self.end("slurmctld")

    def kill9_slurmctld(self):
        return self.end("slurmctld", signal.SIGKILL)

    def wait_saved(self, job):
        """Until all that slurmctld knows now is in its state file (it writes at most every 5 s):
        only that survives a kill -9. A mark in the job's AdminComment is what is looked for."""
        mark = f"saved-{time.monotonic_ns()}"
        self.update(JobId=job, AdminComment=mark)

        def written():
            try:
                with open(f"{self.root}/state/job_state", "rb") as state:
                    return mark.encode() in state.read()
            except FileNotFoundError:  # between two renames
                return False
        self.wait_for(written, 30, what="the saved job state")

    def restart_slurmctld(self, *args):
        if "slurmctld" in self.pids:
            self.stop_slurmctld()
        self.start_slurmctld(*args)

    def start_slurmd(self, names=None):
        """Starts the slurmd of the named nodes, or of all real ones."""
        if names is None:
            names = [name for n in self.nodes if n.real for name in n.names]
        for name in names:
            os.makedirs(f"{self.root}/spool/{name}", exist_ok=True)
        slurmd = [*self.wrap, self.program("slurmd"), "-D", "-f", f"{self.root}/etc/slurm.conf"]
        self.spawn([(f"slurmd-{name}", [*slurmd, "-N", name], None) for name in names])

    def set_clock(self, clock):
        """Ends Slurm's daemons, shifts the clock (None: the real one) and starts them again.
        Only for a clock given as a shift, or none."""
        self.stop_slurmctld()
        slurmds = [name for name in self.pids if name.startswith("slurmd-")]
        for name in slurmds:
            self.end(name)
        again = [name for name in ("slurmdbd", "munged") if name in self.pids]
        for name in again:
            self.end(name)
        self.clock = clock
        if "munged" in again:
            self.start_munged()
        if "slurmdbd" in again:
            self.start_slurmdbd()
        self.start_slurmctld()
        self.start_slurmd([name.partition("-")[2] for name in slurmds])

    def wait_nodes_idle(self, timeout=120):
        count = sum(n.count for n in self.nodes if n.real)

        def idle():
            out = self.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N %t", check=False).stdout
            return len({l.split()[0] for l in out.splitlines() if l.endswith(" idle")}) == count
        if count:
            self.wait_for(idle, timeout, what=f"{count} idle nodes", every=0.1)

    def wait_nodes_registered(self, timeout=120):
        """After a restart of slurmctld: until every slurmd has said again that it is there."""
        self.wait_for(lambda: not re.search(r"unk|\*", self.run(
            "sinfo", "-h", "-o", "%t", check=False).stdout), timeout, what="the nodes")

    # -- commands ---------------------------------------------------------------------------------

    def run(self, name, *args, check=True, input=None, env=None, timeout=120):
        """Runs a command with this cluster's slurm.conf; a CompletedProcess with text."""
        words = [str(a) for a in args]
        argv = [*self.wrap, name if "/" in name else self.program(name), *words]
        done = subprocess.run(argv, env=self.environment(env), text=True, input=input,
                              stdin=None if input is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                              cwd=self.root)
        if check and done.returncode:
            raise ClusterError(f"{shlex.join([name, *words])} exited {done.returncode}: "
                               f"{done.stderr.strip() or done.stdout.strip()}")
        return done

    def sbatch(self, script="true", *args, user=None, **options):
        """Submits a script, or one shell command line, and returns the job id.

        user is an existing user of the system (games, man, lp, ...). Options are sbatch's long
        ones: gres="gpu:1", time=5, exclusive=True."""
        argv = ["--parsable"]
        options.setdefault("output", f"{self.root}/out/%A_%a.out" if "array" in options
                           else f"{self.root}/out/%j.out")
        if user:
            argv.append(f"--uid={user}")
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
        """scontrol update JobId=... Key=..."""
        return self.run("scontrol", "update", *[f"{k}={v}" for k, v in what.items()])

    def squeue(self, *args, fields=("%i", "%T", "%Q", "%P", "%u", "%a", "%r", "%N")):
        """[{job, state, priority, partition, user, account, reason, nodes}] in squeue's order."""
        names = ("job", "state", "priority", "partition", "user", "account", "reason", "nodes")
        out = self.run("squeue", "-h", "-a", "-o", "|".join(fields), *args).stdout
        return [dict(zip(names, line.split("|"))) for line in out.splitlines()]

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
        """Cancels every job, waits until the nodes are free, and takes finished jobs for gone."""
        self.run("scancel", "-f", *[j["job"] for j in self.squeue()] or ["--name=none"],
                 check=False)
        self.wait_for(lambda: not self.squeue(), what="an empty queue", timeout=60)

    def reconfigure(self):
        return self.run("scontrol", "reconfigure")

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

    # -- waiting ----------------------------------------------------------------------------------

    def wait_for(self, condition, timeout=30, what="condition", every=0.1, daemon=None):
        """Calls condition until it is true and returns what it returned. After timeout seconds
        (real ones, whatever the cluster's clock), or when the named daemon has ended, the error
        carries the ends of the logs."""
        end = time.monotonic() + timeout
        while True:
            got = condition()
            if got:
                return got
            dead = daemon and not self.alive(daemon)
            if dead or time.monotonic() > end:
                what = what() if callable(what) else what
                why = f"{daemon} has ended" if dead else f"not within {timeout} s"
                raise ClusterError(f"waited for {what}: {why}\n{self.tails()}")
            time.sleep(every)

    def tails(self):
        text = ""
        for path in sorted(glob.glob(f"{self.root}/log/*")):
            name = os.path.basename(path)
            if name.startswith(("slurmctld", "slurmdbd", "munged", "mariadbd")):
                with open(path, errors="replace") as log:
                    tail = log.read().splitlines()[-8:]
                if tail:
                    text += f"--- {name}\n" + "\n".join(tail) + "\n"
        return text


def number(text):
    """An int where the text is one, else a float, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
