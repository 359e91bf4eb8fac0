"""Programs, processes and the clock of a cluster: what the daemons are made of."""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import slurmconf

HERE = os.path.dirname(os.path.abspath(__file__))

# What a Slurm elsewhere (CCR_SLURM_PREFIX) takes from this machine.
NOT_SLURMS = {"munged", "munge", "mariadbd", "mariadb", "mariadb-install-db", "faketime"}

QUESTIONS = {"scontrol", "squeue", "sprio", "sinfo", "sshare", "sdiag"}


class ClusterError(Exception):
    """Something of the cluster did not come up, or a command of it failed."""


class Processes:
    """Base of Cluster, which sets prefix, wrap, root, clock and nodes."""

    keeper = None
    base_port = None
    _version = None

    def __init__(self):
        self.pids = {}  # daemon: process id

    # -- programs, environment, clock ---------------------------------------------------------

    def program(self, name):
        """Path of one of Slurm's programs; of another Slurm with CCR_SLURM_PREFIX."""
        if self.wrap:
            return name
        prefix = "" if name in NOT_SLURMS else self.prefix
        for folder in ("sbin", "bin"):
            path = os.path.join(prefix or "/usr", folder, name)
            if os.access(path, os.X_OK):
                return path
        found = None if prefix else shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin:"
                                                      + os.environ.get("PATH", ""))
        if not found:
            raise ClusterError(f"{name} is not installed" + (
                f" below {prefix}" if prefix else " (scripts/deps installs it)"))
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
        if self.prefix:  # sccr runs the clients that it finds
            env["PATH"] = f"{self.prefix}/bin:{self.prefix}/sbin:{env.get('PATH', '')}"
        if self.clock and not self.clock.startswith("@"):
            env.update(self.fake_time(FAKETIME=self.clock, DONT_FAKE_MONOTONIC="1"))
        elif self.clock:  # one clock for all, handed on by the supervisor's faketime
            got = self._ask(op="env")["env"]
            env.update({k: v for k, v in got.items() if k == "LD_PRELOAD" or "FAKETIME" in k})
        preload = [e["LD_PRELOAD"] for e in (extra or {}, env) if e.get("LD_PRELOAD")]
        env.update(extra or {})
        if preload:
            env["LD_PRELOAD"] = ":".join(preload)
        return env

    @property
    def speed(self):
        """How many seconds of the cluster's clock pass in a real one."""
        found = re.search(r" x(\d+(?:\.\d+)?)$", self.clock or "")
        return float(found.group(1)) if found else 1.0

    def fake_time(self, **how):
        """Environment of a process under libfaketime, told by these of its variables."""
        libs = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libs:
            raise ClusterError("libfaketime is not installed (scripts/deps installs it)")
        return {"LD_PRELOAD": libs[0], "FAKETIME_SHARED": self._ask(op="faketime")["shared"],
                **how}

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
        if not os.environ.get("CCR_KEEP"):
            argv.append(self.root)
        if self.clock and self.clock.startswith("@"):
            argv = ["faketime", "-m", "-f", self.clock, *argv]
        # Its errors go to a file: a cluster that is kept must not hold its user's terminal or pipe.
        with open(f"{self.root}/log/supervisor.out", "ab") as errors:
            self.keeper = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=errors, text=True, cwd=self.root,
                                           start_new_session=True)
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

    def run(self, name, *args, check=True, input=None, env=None, timeout=120):
        """Runs a command with this cluster's slurm.conf; a CompletedProcess with text."""
        words = [str(a) for a in args]
        wrap = [] if name in NOT_SLURMS else self.wrap
        argv = [*wrap, name if "/" in name else self.program(name), *words]
        for _ in range(3):
            done = subprocess.run(argv, env=self.environment(env), text=True, input=input,
                                  stdin=None if input is not None else subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                                  cwd=self.root)
            # On an accelerated clock slurmctld soon thinks that a client has gone, and hangs up: a
            # question can be asked again.
            if done.returncode != -signal.SIGPIPE or self.speed <= 1 or (
                    name == "scontrol" and "show" not in words) or name not in QUESTIONS:
                break
        if check and done.returncode:
            raise ClusterError(f"{shlex.join([name, *words])} exited {done.returncode}: "
                               f"{done.stderr.strip() or done.stdout.strip()}")
        return done


    # -- waiting ----------------------------------------------------------------------------------

    def wait_for(self, condition, timeout=30, what="condition", every=0.1, daemon=None):
        """Calls condition until it is true and returns what it returned. After timeout seconds
        (real ones, whatever the cluster's clock; times CCR_PATIENCE), or when the named daemon has ended, the error
        carries the ends of the logs."""
        timeout *= float(os.environ.get("CCR_PATIENCE", "1"))
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
        """The ends of the daemons' logs; of the many slurmd's, the first one's."""
        text = ""
        slurmds = sorted(glob.glob(f"{self.root}/log/slurmd-*.log"))
        for path in sorted(glob.glob(f"{self.root}/log/*")):
            name = os.path.basename(path)
            if path in slurmds[:1] or name.startswith(
                    ("slurmctld", "slurmdbd", "munged", "mariadbd", "supervisor")):
                with open(path, errors="replace") as log:
                    tail = log.read().splitlines()[-8:]
                if tail:
                    text += f"--- {name}\n" + "\n".join(tail) + "\n"
        return text
