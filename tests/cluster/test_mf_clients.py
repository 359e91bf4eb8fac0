"""On a host that is no controller the plugin is loaded by sshare (up to 22.05 without Fair Tree
only) and does nothing but arithmetic: no thread, no file, no word in the output, no policy needed."""
import os
import re
import shutil
import subprocess

import pytest

import mfcommon
from ccrcluster import Nodes

ACCOUNTS = {"phys": {"Fairshare": 60}, "exp": {"parent": "phys", "users": ["games", "man"]},
            "ml": {"Fairshare": 40, "users": ["lp"]}}
COMMANDS = {
    "sshare": ("sshare", "-a", "-h", "-P", "-o", "Account,User,RawShares,NormShares,FairShare"),
    "sshare_long": ("sshare", "-a", "-l", "-h", "-P"),
    "sprio": ("sprio", "-h", "-l"),
    "sprio_weights": ("sprio", "-w"),
    "squeue": ("squeue", "-h", "-o", "%i %Q"),
    "scontrol": ("scontrol", "show", "config"),
}


@pytest.fixture(scope="module", params=["classic", "fair_tree"])
def cluster(request):
    flags = {"classic": "NO_FAIR_TREE", "fair_tree": None}[request.param]
    c = mfcommon.cluster("ccr", ACCOUNTS, nodes=[Nodes(count=1, cpus=8, mem=64000)],
                         conf={"PriorityFlags": flags})
    with c:
        c.wait_state(c.sbatch("sleep 36000", user="games", account="exp", ntasks=8, time=900))
        for i in range(5):
            c.sbatch("true", user="lp", account="ml", ntasks=1 + i)
        c.wait_for(lambda: len(c.run("sprio", "-h").stdout.splitlines()) == 5, what="five in sprio")
        c.wait_for(lambda: mfcommon.raw_usage(c, "exp") > 10, what="usage")
        c.flags = flags
        yield c


def tree(folder):
    return {os.path.relpath(os.path.join(path, name), folder)
            for path, _, names in os.walk(folder) for name in names}


@pytest.fixture
def login(cluster, tmp_path):
    """What a login host has: slurm.conf, and no policy; slurmctld's folders are not there."""
    shutil.copytree(f"{cluster.root}/etc", tmp_path / "etc",
                    ignore=shutil.ignore_patterns("ccr.json*"))
    with open(tmp_path / "etc/slurm.conf") as text:
        conf = re.sub(r"(?m)^StateSaveLocation=.*", f"StateSaveLocation={tmp_path}/none", text.read())
    (tmp_path / "etc/slurm.conf").write_text(conf)
    (tmp_path / "cwd").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_starts_in_a_client(cluster, login, name):
    c = cluster
    notes = login / "notes"
    before = tree(login)
    env = {**os.environ, **c.environment(), "SLURM_CONF": f"{login}/etc/slurm.conf",
           "LD_PRELOAD": mfcommon.preload("watchload"), "CCR_WATCH": str(notes),
           "CCR_WATCH_FOR": "priority_ccr.so"}
    done = subprocess.run([*c.wrap, c.program(COMMANDS[name][0]), *COMMANDS[name][1:]], env=env, text=True,
                          cwd=login / "cwd", capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done
    assert not re.search("ccr(?!-cluster)|undefined symbol",
                         "\n".join(l for l in done.stdout.splitlines() if "=" not in l)), done.stdout
    assert tree(login) - before == {"notes"}
    noted = notes.read_text().splitlines()
    loaded = "loaded priority_ccr.so" in noted
    # 22.05's sshare wants it for the classic algorithm alone; sprio never does
    assert loaded == (name.startswith("sshare") and (c.version >= (23, 2) or c.flags is not None))
    assert [line for line in noted if not line.startswith("loaded")] == ["threads 1"], noted
    if name == "sshare":
        assert done.stdout == c.run(*COMMANDS[name]).stdout
        factors = [line.split("|")[4] for line in done.stdout.splitlines() if line.split("|")[1]]
        assert any(0 < float(f) <= 1 for f in factors), done.stdout
