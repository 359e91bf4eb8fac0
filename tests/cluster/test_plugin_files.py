"""Which of the plugins in PluginDir slurmctld takes, what it says of the others, and what `sccr check`
says beforehand: files for another Slurm, damaged ones, and the folders in the wrong order."""
import json
import os
import shutil
import struct

import pytest

from ccrcluster import Cluster, ClusterError, Nodes

SELECT, PRIORITY = "select_cons_tres.so", "priority_ccr.so"
POLICY = {"version": 1, "preset": "ccr", "default_group": "a", "groups": {"a": {"target": 100}}}


def of_another_slurm(source, path):
    """A copy of a plugin with another word in plugin_version."""
    data = bytearray(open(source, "rb").read())
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum = struct.unpack_from("<HHH", data, 56)
    sections = [struct.unpack_from("<IIQQQQII", data, shoff + 64 * i) for i in range(shnum)]
    loads = [p for p in (struct.unpack_from("<IIQQQQ", data, phoff + 56 * i) for i in range(phnum))
             if p[0] == 1]
    (_, _, _, _, offset, size, link, _), = [s for s in sections if s[1] == 11]
    for at in range(offset, offset + size, 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        text = sections[link][4] + name
        if data[text:text + 15] == b"plugin_version\0":
            (_, _, start, address, _, _), = [p for p in loads if p[3] <= value < p[3] + p[4]]
            word, = struct.unpack_from("<I", data, start + value - address)
            struct.pack_into("<I", data, start + value - address, word ^ 1)
    with open(path, "wb") as out:
        out.write(data)


class Site(Cluster):
    """Not started; `ours` is a folder for plugins."""

    def __init__(self, **arguments):
        super().__init__(nodes=[Nodes(count=1, cpus=2)], auth="none", policy=POLICY, **arguments)
        self.ours = os.path.join(self.root, "ours")
        os.makedirs(self.ours)

    def plugin(self, name):
        return os.path.join(self.build, "src", name.split("_")[0], name)

    def check(self, *dirs):
        """What `sccr check` says on standard error with that PluginDir."""
        self.conf["PluginDir"] = ":".join(dirs)
        conf, policy = (os.path.join(self.root, name) for name in ("slurm.conf", "ccr.json"))
        with open(conf, "w") as out:
            out.write(f"ClusterName=c\nPriorityType={self.priority_type}\n"
                      f"SelectType=select/cons_tres\nPluginDir={self.conf['PluginDir']}\n")
        with open(policy, "w") as out:
            json.dump(POLICY, out)
        return self.run(os.path.join(self.build, "src", "sccr", "sccr"), "check", "--quiet",
                        "--slurm-conf", conf, policy).stderr


@pytest.fixture
def site():
    made = []

    def make(**arguments):
        made.append(Site(**arguments))
        return made[-1]
    yield make
    for c in made:
        c.stop()


def starts_without_the_gate(c):
    c.start()
    c.wait_state(c.sbatch("true"), "COMPLETED")
    assert not c.log_grep("in front of")


def refuses(c):
    c._start_keeper()
    c.write_conf()
    with pytest.raises(ClusterError):
        c.start_slurmctld()
    c.wait_for(lambda: not c.alive("slurmctld"), what="the end of slurmctld")


def test_a_hook_for_another_slurm_is_passed_over(site):
    c = site()
    of_another_slurm(c.plugin(SELECT), os.path.join(c.ours, SELECT))
    said = c.check(c.ours, c.stock_plugins)
    assert f"{c.ours}/{SELECT} is built for Slurm " in said and "there is no gate" in said
    starts_without_the_gate(c)
    assert c.log_grep(f"Incompatible Slurm plugin {c.ours}/{SELECT} version")


def test_behind_the_stock_plugin_it_is_never_looked_at(site):
    c = site()
    shutil.copy(c.plugin(SELECT), c.ours)
    assert c.check(c.ours, c.stock_plugins) == ""
    said = c.check(c.stock_plugins, c.ours)
    assert f"{c.stock_plugins}/{SELECT} is before {c.ours}/{SELECT} in PluginDir" in said
    starts_without_the_gate(c)
    assert not c.log_grep(c.ours)


@pytest.mark.parametrize("size", [0, 5000, -5000])
def test_a_damaged_file(site, size):
    c = site()
    with open(c.plugin(SELECT), "rb") as whole, open(os.path.join(c.ours, SELECT), "wb") as cut:
        cut.write(whole.read()[:size])
    assert f"{c.ours}/{SELECT} is damaged" in c.check(c.ours, c.stock_plugins)
    if not size:  # (dlopen of one that was cut short may end slurmctld)
        starts_without_the_gate(c)
        assert c.log_grep(f"dlopen.{c.ours}/{SELECT}")


def test_a_diverted_file_for_another_slurm_stops_slurmctld(site):
    c = site()
    for name in os.listdir(c.stock_plugins):
        if name.endswith(".so") and name not in (SELECT, PRIORITY):
            os.symlink(os.path.join(c.stock_plugins, name), os.path.join(c.ours, name))
    os.makedirs(os.path.join(c.ours, "ccr-stock"))
    os.symlink(os.path.join(c.stock_plugins, SELECT), os.path.join(c.ours, "ccr-stock", SELECT))
    of_another_slurm(c.plugin(SELECT), os.path.join(c.ours, SELECT))
    said = c.check(c.ours)
    assert f"{c.ours}/{SELECT} is built for Slurm " in said and "does not start" in said
    refuses(c)
    assert c.log_grep(f"Incompatible Slurm plugin {c.ours}/{SELECT} version")
    assert c.log_grep("fatal: .*select/cons_tres")


def test_a_priority_plugin_for_another_slurm_stops_slurmctld(site):
    c = site(priority_type="priority/ccr")
    of_another_slurm(c.plugin(PRIORITY), os.path.join(c.ours, PRIORITY))
    said = c.check(c.ours, c.stock_plugins)
    assert f"{c.ours}/{PRIORITY} is built for Slurm " in said and "does not start" in said
    refuses(c)
    assert c.log_grep(f"Incompatible Slurm plugin {c.ours}/{PRIORITY} version")
    assert c.log_grep("cannot find priority plugin for priority/ccr")
