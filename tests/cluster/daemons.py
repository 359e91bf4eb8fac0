"""The daemons of a cluster: how each is configured, started, known to be up, and ended."""
import glob
import os
import re
import signal
import time

import slurmconf
from processes import ClusterError, Processes

PLUGINS = {"priority": "src/priority", "select": "src/select"}  # below the build folder


class Daemons(Processes):
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
                        self.user, auth=self.auth, dbd=self.dbd, gpu_files=self.gpu_files, speed=self.speed)

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
                     f"--tmpdir={self.root}/run",  # two at once in /tmp trip over each other
                     "--innodb-log-file-size=8M",  # a tenth of the default's disk
                     "--auth-root-authentication-method=normal", f"--user={self.user}")
        self.spawn([("mariadbd", [
            self.program("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={sock}",
            f"--port={self.base_port + slurmconf.PORT_MARIADB}", "--bind-address=127.0.0.1",
            f"--pid-file={self.root}/run/mariadb.pid", f"--user={self.user}", "--skip-log-bin",
            f"--tmpdir={self.root}/run",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900",
            "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF",
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
        # 26.05 does not start on a state without association usage, which is first saved after
        # five minutes: what is left by a kill -9 before needs -i
        if self.dbd and self.version >= (26, 5) and os.path.exists(f"{self.root}/state/job_state") \
                and not os.path.exists(f"{self.root}/state/assoc_usage"):
            args = ("-i", *args)
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

    def stop_slurmd(self, names=None):
        """Ends the slurmd of the named nodes, or all, at once. Running steps live on: a slurmd
        that is started again finds them."""
        daemons = [name for name in self.pids if name.startswith("slurmd-")
                   and (names is None or name.partition("-")[2] in names)]
        pids = [self.pids.pop(name) for name in daemons]
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        self.wait_for(lambda: not any(self._ask(op="status", pid=pid)["alive"] for pid in pids),
                      30, what="the end of slurmd", every=0.05)

    def set_clock(self, clock):
        """Ends Slurm's daemons, shifts the clock (None: the real one) and starts them again.
        Only for a clock given as a shift, or none."""
        self.stop_slurmctld()
        slurmds = [name for name in self.pids if name.startswith("slurmd-")]
        self.stop_slurmd()
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
