"""What the test_mf_*.py files share: clusters on a database whose decay cycle turns every second,
under the stock plugin or ours, and readings of what Slurm shows of associations and QOS."""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from ccrcluster import REPO, Cluster, Nodes

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("CCR_BUILD_DIR", os.path.join(REPO, "build"))
TRES = ("cpu", "mem", "node", "billing", "gres/gpu")


def build_preload(name, lib):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", lib, os.path.join(HERE, f"{name}.c"),
                    "-ldl", "-lpthread"], check=True)


def preload(name):
    """The library of NAME.c. It is made here unless it was before: there is no compiler in the root
    of another Debian."""
    lib = os.path.join(BUILD, f"{name}.so")
    if shutil.which("cc"):
        lib = os.path.join(tempfile.gettempdir(), f"ccr-{name}-{os.getpid()}.so")
        if not os.path.exists(lib):
            build_preload(name, lib)
            atexit.register(os.unlink, lib)
    elif not os.path.exists(lib):
        pytest.skip(f"no compiler here, and nobody made {name}.so before")
    return lib


def fast_cycle(ms=1000):
    """Environment for slurmctld with which the decay thread waits no longer than that."""
    return {"LD_PRELOAD": preload("fastcycle"), "CCR_CYCLE_MS": str(ms)}


def cluster(plugin, accounts, policy=None, conf=None, nodes=None, **more):
    """A Cluster on slurmdbd under priority/PLUGIN ("ccr" or "multifactor"), limits enforced, a
    cycle a second. Not started."""
    options = {"AccountingStorageEnforce": "associations,limits,qos",
               "PriorityDecayHalfLife": 0, "PriorityUsageResetPeriod": "NONE",
               "PriorityWeightAge": 1000, "PriorityWeightFairshare": 100000,
               "PriorityWeightJobSize": 10, "PriorityWeightAssoc": 100,
               **(conf or {})}
    if plugin == "ccr":
        options["PriorityParameters"] = "ccr_calc_seconds=1"
    options = {k: v for k, v in options.items() if v is not None}
    return Cluster(nodes=nodes or [Nodes(count=4, cpus=64, mem=64000, gpus="a100:8")],
                   accounts=accounts, dbd=True, auth="none", conf=options,
                   priority_type=f"priority/{plugin}",
                   plugins=("priority",) if plugin == "ccr" else (),
                   policy=policy or {"version": 1, "preset": "multifactor"},
                   ctld_env=fast_cycle(), **more)


def shares(c):
    """{(account, user or ""): {RawUsage: ..., ...}} of sshare -a."""
    columns = ("Account", "User", "RawShares", "NormShares", "RawUsage", "NormUsage",
               "EffectvUsage", "FairShare", "LevelFS", "GrpTRESMins", "TRESRunMins")
    out = c.run("sshare", "-a", "-h", "-P", "-o", ",".join(columns)).stdout
    rows = (dict(zip(columns, line.split("|"))) for line in out.splitlines())
    return {(r["Account"].strip(), r["User"]): r for r in rows}


def raw_usage(c, account, user=""):
    return int(shares(c)[account, user]["RawUsage"])


def assoc_mgr(c, what):
    """The records of `scontrol show assoc_mgr flags=WHAT`, one text each."""
    out = c.run("scontrol", "show", "assoc_mgr", f"flags={what}").stdout
    return [r for r in re.split(r"\n(?=ClusterName=|QOS=|Association)", out) if "=" in r]


def qos_record(c, name):
    for record in assoc_mgr(c, "qos"):
        if record.startswith(f"QOS={name}("):
            return record
    raise KeyError(name)


def used(record, field):
    """{tres: what is used} of a line like GrpTRESRunMins=cpu=100(42),mem=N(0)."""
    line = re.search(rf"\b{re.escape(field)}=(\S+)", record)
    if not line:
        return {}
    return {tres: int(n) for tres, n in re.findall(r"([\w/:]+)=[^(,]*\((\d+)\)", line.group(1))}


def run_minutes(c):
    """{what: minutes} of every counter of GrpTRESRunMins that is not 0, associations and QOS."""
    found = {}
    for key, row in shares(c).items():
        for item in row["TRESRunMins"].split(","):
            tres, _, n = item.rpartition("=")
            if int(n or 0):
                found[f"{'/'.join(key)} {tres}"] = int(n)
    for record in assoc_mgr(c, "qos"):
        name = re.match(r"QOS=([^(]+)", record)
        for tres, n in used(record, "GrpTRESRunMins").items():
            if name and n:
                found[f"qos {name.group(1)} {tres}"] = n
    return found


if __name__ == "__main__":
    for library in ("fastcycle", "nocycle", "watchload"):
        build_preload(library, os.path.join(sys.argv[1], f"{library}.so"))  # of a build folder
