"""The Debian packages on a site: the way in and the way out on the controller, other hosts untouched,
jobs running and queued, and usage on the books (docs/install.md)."""
import glob
import hashlib
import os
import shutil
import subprocess
import sys

import pytest

from ccrcluster import REPO, Cluster, ClusterError, Nodes
from hosts import Host

BUILD = os.environ.get("CCR_BUILD_DIR", os.path.join(REPO, "build"))
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(os.getuid() != 0, reason="only root can be other hosts"),
              pytest.mark.skipif(bool(os.environ.get("CCR_SLURM_PREFIX")),
                                 reason="packages are for a Slurm that is a package")]
POLICY = {"version": 1, "preset": "ccr", "default_group": "phys", "groups": {"phys": {"target": 60}}}
STOCK = {"AccountingStorageEnforce": "associations,limits", "PriorityWeightFairshare": 10000,
         "PriorityDecayHalfLife": 0, "PriorityUsageResetPeriod": "YEARLY"}
OURS = {"SchedulerParameters": "batch_sched_delay=0,sched_interval=2,bf_interval=2,"
                               "bf_min_prio_reserve=4294967295"}


def dpkg_version():
    return subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", "slurmctld"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture(scope="module")
def debs():
    if shutil.which("dpkg-buildpackage") and shutil.which("gcc"):
        subprocess.run([sys.executable, os.path.join(REPO, "tests/install/build_debs.py"), BUILD,
                        dpkg_version()], check=True)
    found = {os.path.basename(p).split("_")[0]: p for p in glob.glob(f"{BUILD}/debs/*.deb")}
    if not found:
        pytest.skip("no dpkg-buildpackage here, and nobody built the packages before")
    return found


@pytest.fixture
def make_host(tmp_path_factory):
    made = []

    def make(name):
        made.append(Host(str(tmp_path_factory.mktemp(name))))
        return made[-1]
    yield make
    for host in made:
        host.end()


def digest(text):
    return text.split()[0]


def here(path):
    with open(path, "rb") as data:
        return hashlib.sha256(data.read()).hexdigest()


class Site(Cluster):
    """A cluster whose slurmctld lives on a host of its own."""

    controller = None

    def spawn(self, daemons):
        super().spawn([(name, [*self.controller.words(), *argv] if name == "slurmctld" else argv,
                        env) for name, argv, env in daemons])


def usage(c, account="phys"):
    rows = c.run("sshare", "-h", "-P", "-A", account, "-o", "Account,User,RawUsage",
                 check=False).stdout
    return next((int(r.split("|")[2]) for r in rows.splitlines()
                 if r.split("|")[0].strip() == account and not r.split("|")[1]), 0)


def priority_type(c):
    return c.run("scontrol", "show", "config").stdout.split("PriorityType ")[1].split()[1]


def switch(c, **arguments):
    """Stops slurmctld, changes slurm.conf, starts it."""
    c.stop_slurmctld()
    for name, value in arguments.items():
        setattr(c, name, value)
    c.write_conf()
    c.start_slurmctld()
    c.wait_nodes_registered()


def test_every_package_fits_one_slurm(debs):
    for name in ("slurm-ccr", "slurm-ccr-priority"):
        depends = subprocess.run(["dpkg-deb", "-f", debs[name], "Depends"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        assert f"(= {dpkg_version()})" in depends


def test_in_and_out(debs, make_host, tmp_path):
    c = Site(nodes=[Nodes(count=2, cpus=4)], dbd=True, conf=STOCK, policy=POLICY,
             accounts={"phys": {"Fairshare": 60, "users": ["games", "man", "root"]}},
             partitions={"p": "Nodes=ALL Default=YES State=UP"})
    c.controller = controller = make_host("controller")
    stock = os.path.join(c.stock_plugins, "select_cons_tres.so")
    aside = os.path.join(c.stock_plugins, "ccr-stock", "select_cons_tres.so")
    before = here(stock)
    with c:
        running = [c.sbatch("sleep 600", user="games", account="phys", ntasks=4) for _ in range(2)]
        queued = [c.sbatch("sleep 600", user="man", account="phys", ntasks=4) for _ in range(2)]
        held = c.sbatch("true", user="man", account="phys", hold=True)
        for job in running:
            c.wait_state(job)
        c.wait_for(lambda: usage(c) > 20, 60, what="usage")
        states = ["RUNNING"] * 2 + ["PENDING"] * 3

        def same():
            assert c.states(*running, *queued, held) == states
            assert c.alive("slurmctld")
        # In: the files first. Nothing happens, and nowhere else either.
        controller.run("dpkg", "-i", debs["slurm-ccr-priority"], debs["slurm-ccr"])
        assert digest(controller.run("sha256sum", aside)) == before == here(stock)
        assert digest(controller.run("sha256sum", stock)) != before
        assert aside in controller.run("dpkg-divert", "--list", "slurm-ccr")
        same()
        seen = usage(c)
        switch(c, priority_type="priority/ccr", conf={**STOCK, **OURS})
        assert priority_type(c) == "priority/ccr"
        assert c.log_grep(f"slurm-ccr .* in front of {aside}")
        same()
        c.wait_for(lambda: usage_there(c, controller) > seen, 60, what="usage that goes on")
        # Clients elsewhere have none of our files.
        assert len(c.sprio()) >= 2 and c.squeue()
        late = c.sbatch("true", user="games", account="phys", begin="now+1hour")
        seen = usage_there(c, controller)
        # Out: slurm.conf first, then the packages.
        switch(c, priority_type="priority/multifactor", conf=STOCK)
        controller.run("dpkg", "-r", "slurm-ccr", "slurm-ccr-priority")
        assert digest(controller.run("sha256sum", stock)) == before
        assert not controller.run("dpkg-divert", "--list", "slurm-ccr").strip()
        assert controller.run("sh", "-c", f"ls -d {os.path.dirname(aside)} || :").strip().endswith(
            "No such file or directory")
        marks = len(c.log_grep("slurm-ccr .* in front of"))
        c.restart_slurmctld()
        assert len(c.log_grep("slurm-ccr .* in front of")) == marks
        same()
        assert c.states(late) == ["PENDING"]
        assert usage(c) >= seen
        # What waited runs when there is room.
        c.run("scancel", str(running[0]))
        c.wait_for(lambda: "RUNNING" in c.states(*queued), 60, what="a queued job")


def usage_there(c, host):
    """usage() asked on a host that has our plugin, where sshare wants it."""
    out = host.run("sshare", "-h", "-P", "-A", "phys", "-o", "Account,User,RawUsage",
                   env=c.environment())
    return next((int(r.split("|")[2]) for r in out.splitlines()
                 if r.split("|")[0].strip() == "phys" and not r.split("|")[1]), 0)


def test_what_other_hosts_need(debs, make_host):
    """docs/install.md's table: sshare on a login host, and nothing else anywhere."""
    c = Site(nodes=[Nodes(count=1, cpus=2)], dbd=True, conf=STOCK, policy=POLICY,
             priority_type="priority/ccr",
             accounts={"phys": {"Fairshare": 60, "users": ["games"]}})
    c.controller, login = make_host("controller"), make_host("login")
    c.controller.run("dpkg", "-i", debs["slurm-ccr-priority"], debs["slurm-ccr"])
    with c:  # slurmd and slurmdbd run without any of our files
        job = c.sbatch("sleep 2", user="games", account="phys")
        c.wait_state(job, "COMPLETED")
        for client in (["squeue"], ["sprio"], ["sinfo"], ["sacct"], ["scontrol", "show", "config"]):
            assert c.run(*client).returncode == 0
        out = c.run("sshare", "-a", check=False)
        needed = c.version >= (23, 2)
        assert (out.returncode != 0) == needed
        login.run("dpkg", "-i", debs["slurm-ccr-priority"])
        assert "phys" in login.run("sshare", "-a", env=c.environment())


def test_a_missing_folder_of_plugindir_ends_a_client():
    """Why the packages divert: with a PluginDir entry every host must have the folder."""
    c = Cluster(nodes=[Nodes(count=1, cpus=2)], auth="none")
    with c:
        assert c.run("sinfo").returncode == 0
        conf = f"{c.root}/etc/elsewhere.conf"
        with open(f"{c.root}/etc/slurm.conf") as text:
            lines = text.read().replace("PluginDir=", f"PluginDir={c.root}/nowhere:")
        with open(conf, "w") as text:
            text.write(lines)
        with pytest.raises(ClusterError):
            c.run("sinfo", env={"SLURM_CONF": conf})
        os.mkdir(f"{c.root}/nowhere")
        assert c.run("sinfo", env={"SLURM_CONF": conf}).returncode == 0


@pytest.mark.skipif(not shutil.which("meson"), reason="no meson here")
def test_meson_install(tmp_path):
    subprocess.run(["/usr/bin/meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
                    "--destdir", str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    names = {os.path.relpath(os.path.join(d, f), tmp_path)
             for d, _, files in os.walk(tmp_path) for f in files}
    for end in ("slurm-ccr/priority_ccr.so", "slurm-ccr/select_cons_tres.so", "bin/sccr",
                "man1/sccr.1", "man5/ccr.json.5", "doc/slurm-ccr/examples/ccr.json",
                "doc/slurm-ccr/install.md", "slurm-ccr/ccr.schema.json"):
        assert any(n.endswith(end) for n in names), end
    assert not any("test" in n for n in names)
    assert not any(n.endswith("slurm-wlm/select_cons_tres.so") for n in names)
