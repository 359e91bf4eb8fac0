"""Writes slurm.conf, gres.conf and slurmdbd.conf for a loopback cluster, for each Slurm version."""
import os
import re
import socket
from dataclasses import dataclass

NEW_CGROUP = (23, 11)  # from here: CgroupPlugin=disabled, the */none plugins are gone
PORT_CTLD, PORT_DBD, PORT_MARIADB, PORT_SLURMD = 0, 1, 2, 3  # offsets in the cluster's port block


@dataclass
class Nodes:
    """`count` nodes of one make, named prefix1, prefix2, ...

    gpus is "4", "a100:4" or "a100:2,h100:2". real nodes have a slurmd each; the others are CLOUD
    nodes, powered down and so allocatable: the scheduler counts and plans with them, and a job put
    there stays CONFIGURING. extra goes to the end of the NodeName line. gpu_cores: each GPU sits
    beside so many cores of its own (gres.conf's Cores=).
    """
    prefix: str = "n"
    count: int = 4
    cpus: int = 8
    mem: int = 32000  # MB
    gpus: str = ""
    real: bool = True
    extra: str = ""
    first: int = 1
    gpu_cores: int = 0

    @property
    def names(self):
        return [f"{self.prefix}{i}" for i in range(self.first, self.first + self.count)]

    @property
    def range(self):
        """Slurm's way to write the names; a range of one is an error to it."""
        if self.count == 1:
            return self.names[0]
        return f"{self.prefix}[{self.first}-{self.first + self.count - 1}]"

    def gpu_types(self):
        """[(type or None, count)] as in gpus."""
        parts = [p.strip().rpartition(":") for p in self.gpus.split(",") if p.strip()]
        return [(kind or None, int(count)) for kind, _, count in parts]


def lines(options):
    return "".join(f"{key}={value}\n" for key, value in options.items() if value is not None)


def auth_lines(auth, root):
    options = {"AuthType": f"auth/{auth}"}
    if auth == "munge":
        options["AuthInfo"] = f"socket={root}/run/munge.sock"
    return options


def write(root, base_port, version, nodes, partitions, conf, extra, priority_type, plugin_dirs,
          stock_plugins, user, auth="munge", dbd=False, gpu_files="plain", speed=1, cluster="ccr"):
    """Writes root/etc/*.conf. conf overrides single options (None drops one); extra is raw text."""
    hostname = socket.gethostname().split(".")[0]
    options = {
        "ClusterName": cluster,
        "SlurmctldHost": f"{hostname}(127.0.0.1)",
        "SlurmctldPort": base_port + PORT_CTLD,
        "SlurmUser": user, "SlurmdUser": user,
        **auth_lines(auth, root),
        "CredType": f"cred/{auth}",
        "SlurmctldPidFile": f"{root}/run/slurmctld.pid",
        "SlurmdPidFile": f"{root}/run/slurmd-%n.pid",
        "SlurmdSpoolDir": f"{root}/spool/%n",
        "StateSaveLocation": f"{root}/state",
        "SlurmctldLogFile": f"{root}/log/slurmctld.log",
        "SlurmdLogFile": f"{root}/log/slurmd-%n.log",
        "SlurmctldDebug": "info", "SlurmdDebug": "info", "LogTimeFormat": "iso8601_ms",
        "PluginDir": ":".join([*plugin_dirs, stock_plugins]),
        "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU_Memory",
        "PriorityType": priority_type, "PriorityCalcPeriod": 1,
        "ProctrackType": "proctrack/linuxproc",
        "SlurmdParameters": "config_overrides",
        "DefMemPerCPU": 100, "MpiDefault": "none", "ReturnToService": 2,
        "MinJobAge": 3600, "MaxJobCount": 100000, "MaxArraySize": 100001,
        "SlurmctldTimeout": 300, "SlurmdTimeout": 600, "MailProg": "/bin/true",
        "KillWait": 5,
        # Defaults are made for people's patience: 3 s before a new job is looked at, 60 s between
        # looks at the whole queue.
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=2,bf_interval=2",
    }
    if version < NEW_CGROUP:
        options.update({"TaskPlugin": "task/none", "SwitchType": "switch/none",
                        "JobAcctGatherType": "jobacct_gather/none"})
    if any(n.gpus for n in nodes):
        options["GresTypes"] = "gpu"
    if any(not n.real for n in nodes):
        options.update({"SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
                        "SuspendTime": 365 * 86400, "ResumeTimeout": 65535, "SuspendTimeout": 1})
    if dbd:
        types = {t for n in nodes for t, _ in n.gpu_types() if t}
        tracked = ["gres/gpu", *sorted(f"gres/gpu:{t}" for t in types)] if any(
            n.gpus for n in nodes) else None
        options.update({"AccountingStorageType": "accounting_storage/slurmdbd",
                        "AccountingStorageHost": "127.0.0.1",
                        "AccountingStoragePort": base_port + PORT_DBD,
                        "AccountingStorageEnforce": "associations",
                        "AccountingStorageTRES": ",".join(tracked) if tracked else None,
                        "AccountingStoragePass": f"{root}/run/munge.sock"
                                                 if auth == "munge" else None})
    if speed > 1:
        # Slurm's patience with its own messages and steps is counted on the accelerated clock.
        options.update({"MessageTimeout": int(10 * speed), "TCPTimeout": int(2 * speed),
                        "BatchStartTimeout": int(10 * speed),
                        "UnkillableStepTimeout": int(60 * speed),
                        "SlurmctldTimeout": int(min(300 * speed, 65533)),
                        "SlurmdTimeout": int(min(600 * speed, 65533))})
    options.update(conf)
    text = lines(options) + "".join(node_lines(nodes, base_port, hostname))
    for name, spec in partitions.items():
        text += f"PartitionName={name} {spec}\n"
    put(f"{root}/etc/slurm.conf", text + extra + ("\n" if extra else ""))
    if any(n.gpus for n in nodes):
        put(f"{root}/etc/gres.conf", gres_text(root, nodes, gpu_files))
    # Nothing here uses cgroups, but slurmd looks for them and ends where there are none (a chroot,
    # a container): before it could be told not to, v1 is the plugin that does not look.
    put(f"{root}/etc/cgroup.conf",
        f"CgroupPlugin={'disabled' if version >= NEW_CGROUP else 'cgroup/v1'}\n")
    if dbd:
        put(f"{root}/etc/slurmdbd.conf", lines({
            "DbdHost": "localhost", "DbdAddr": "127.0.0.1", "DbdPort": base_port + PORT_DBD,
            "SlurmUser": user, **auth_lines(auth, root),
            "PidFile": f"{root}/run/slurmdbd.pid", "LogFile": f"{root}/log/slurmdbd.log",
            "DebugLevel": "info", "StorageType": "accounting_storage/mysql",
            "StorageHost": "127.0.0.1", "StoragePort": base_port + PORT_MARIADB,
            "StorageUser": "slurm", "StoragePass": "slurm", "StorageLoc": "slurm_acct",
            "PluginDir": stock_plugins}), mode=0o600)


def node_lines(nodes, base_port, hostname):
    port = base_port + PORT_SLURMD
    for group in nodes:
        line = f"NodeName={group.range} CPUs={group.cpus} RealMemory={group.mem}"
        if group.gpus:
            line += " Gres=" + ",".join(
                f"gpu:{kind + ':' if kind else ''}{count}" for kind, count in group.gpu_types())
        if group.real:
            last = port + group.count - 1
            ports = str(port) if group.count == 1 else f"[{port}-{last}]"
            line += f" NodeAddr=127.0.0.1 NodeHostname={hostname} Port={ports} State=UNKNOWN"
            port = last + 1
        else:
            line += " State=CLOUD"
        yield f"{line} {group.extra}\n"


def gres_text(root, nodes, gpu_files):
    """gres.conf. slurmd wants a file for each GPU: empty ones do for scheduling, the consoles
    (/dev/ttyN, gpu_files="tty") are devices, which makes slurmd set CUDA_VISIBLE_DEVICES too."""
    text = "AutoDetect=off\n"
    for group in nodes:
        index = 0
        for kind, count in group.gpu_types():
            prefix = "/dev/tty" if gpu_files == "tty" else f"{root}/dev/gpu"
            if gpu_files != "tty":
                for i in range(index, index + count):
                    put(f"{root}/dev/gpu{i}", "")
            last = index + count - 1
            name = f"NodeName={group.range} Name=gpu" + (f" Type={kind}" if kind else "")
            if group.gpu_cores:
                for i in range(index, last + 1):
                    core = i * group.gpu_cores
                    text += f"{name} File={prefix}{i} Cores={core}-{core + group.gpu_cores - 1}\n"
            else:
                files = f"{prefix}[{index}-{last}]" if count > 1 else f"{prefix}{index}"
                text += f"{name} File={files}\n"
            index = last + 1
    return text


def accounts_text(accounts, cluster="ccr"):
    """The file that `sacctmgr load` reads, from {account: {parent, users, options, ...}}.

    users is a list of names or {name: "Fairshare=10:MaxJobs=2"}; every other key of an account
    but parent and users is an option of it, as sacctmgr writes them (Fairshare=..., ...).
    """
    def opts(values):
        return "".join(f":{key}={value}" for key, value in values.items())
    text = f"Cluster - '{cluster}':Fairshare=1\nParent - 'root'\nUser - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n"
    ordered = {"root": None}
    waiting = dict(accounts)
    while waiting:  # parents first
        ready = [a for a, spec in waiting.items() if spec.get("parent", "root") in ordered]
        if not ready:
            raise ValueError(f"accounts without a known parent: {sorted(waiting)}")
        for name in ready:
            ordered[name] = waiting.pop(name)
    for name, spec in ordered.items():
        children = [a for a, s in accounts.items() if s.get("parent", "root") == name]
        users = (spec or {}).get("users", {})
        if not isinstance(users, dict):
            users = {user: "" for user in users}
        if not children and not users:
            continue
        if name != "root":
            text += f"Parent - '{name}'\n"
        for child in children:
            options = {k: v for k, v in accounts[child].items() if k not in ("parent", "users")}
            text += f"Account - '{child}'{opts(options)}\n"
        for user, options in users.items():
            tail = f":{options}" if options else ":Fairshare=1"
            text += f"User - '{user}':DefaultAccount='{name}'{tail}\n"
    return text


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)


FIELD = re.compile(r"(\w[\w/:]*)=(.*?)(?= \w[\w/:]*=|$)")


def parse_show(text):
    """`scontrol -o show ...`: a list of {key: value}, one a line."""
    return [dict(FIELD.findall(line.strip())) for line in text.splitlines() if line.strip()]
