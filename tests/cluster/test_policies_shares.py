"""The ccr policy with a database: usage is what sshare shows, targets are the file's or, where it
names none, sacctmgr's shares in percent; an account deep in the tree is its nearest named ancestor's,
also after sacctmgr has changed the tree."""
import json
import os
import subprocess

import pytest

from ccrcluster import REPO, Cluster, Nodes
from policies import rows, shows

# sci 60, hum 39 and the user root 1 of 100; below sci phys 3, bio 1. phys alone has a target in the
# file; hum is a group without one; bio is not named at all.
ACCOUNTS = {"sci": {"Fairshare": 60},
            "phys": {"parent": "sci", "Fairshare": 3},
            "theory": {"parent": "phys", "Fairshare": 1},
            "strings": {"parent": "theory", "Fairshare": 1},
            "deep": {"parent": "strings", "Fairshare": 1, "users": {"games": "Fairshare=1"}},
            "bio": {"parent": "sci", "Fairshare": 1, "users": {"man": "Fairshare=1"}},
            "hum": {"Fairshare": 39, "users": {"lp": "Fairshare=1"}}}
POLICY = {"version": 1, "preset": "ccr",
          "policy": {"fairshare": "target", "jobsize": "usage", "assoc": "fs_delta",
                     "age": "financial"},
          "groups": {"phys": {"target": 30, "financial": 4}, "hum": {"financial": 2}}}
SCCR = os.path.join(os.environ.get("CCR_BUILD_DIR", f"{REPO}/build"), "src/sccr/sccr")
CONF = {"PriorityWeightAge": 1000, "PriorityWeightFairshare": 1000, "PriorityWeightAssoc": 1000,
        "PriorityWeightJobSize": 1000, "PriorityDecayHalfLife": "365-0",
        "PriorityParameters": "ccr_calc_seconds=1",
        "AccountingStorageEnforce": "associations,limits,qos"}


@pytest.fixture(scope="module")
def cluster():
    c = Cluster(nodes=[Nodes(count=1, cpus=16)], priority_type="priority/ccr", plugins=["priority"],
                policy=POLICY, dbd=True, accounts=ACCOUNTS, conf=CONF, auth="none",
                partitions={"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN"})
    with c:
        for user, account, cpus in (("games", "deep", 8), ("man", "bio", 4), ("lp", "hum", 2)):
            c.wait_state(c.sbatch("sleep 36000", user=user, account=account, ntasks=cpus))
        yield c


@pytest.fixture(scope="module")
def jobs(cluster):
    return {account: cluster.sbatch("true", user=user, account=account, partition="off")
            for user, account in (("games", "deep"), ("man", "bio"), ("lp", "hum"))}


def sshare(c):
    """{account: percent of all usage}, by sshare."""
    out = c.run("sshare", "-a", "-n", "-P", "-o", "account,user,rawusage").stdout
    raw = {a.strip(): int(usage) for a, user, usage in (line.split("|") for line in out.splitlines())
           if not user}
    return {a: 100 * usage / max(raw["root"], 1) for a, usage in raw.items()}


def test_targets_of_the_file_else_of_sacctmgr(cluster, jobs):
    shows(cluster, {jobs["deep"]: {"f_fairshare": 30, "f_age": 4},  # four levels below phys
                    jobs["hum"]: {"f_fairshare": 39, "f_age": 2},
                    jobs["bio"]: {"f_fairshare": 60 / 4, "f_age": 0}})


def test_sccr_has_the_same_targets(cluster, jobs):
    groups = {g["group"]: g for g in json.loads(
        cluster.run(SCCR, "usage", "--json", "--policy", cluster.policy_path).stdout)["groups"]}
    assert (groups["phys"]["target"], groups["hum"]["target"]) == (30, 39)
    assert groups["hum"]["fs_delta"] == pytest.approx(39 - groups["hum"]["usage"])
    assert "Group hum: target 39 %, usage " in cluster.run(SCCR, "explain", jobs["hum"]).stdout


def test_usage_is_what_sshare_shows_at_the_groups_account(cluster, jobs):
    c = cluster
    of = {"deep": "phys", "bio": "bio", "hum": "hum"}

    def agree():
        used = sshare(c)
        got = rows(c, *jobs.values())
        return used["root"] and used["phys"] > 10 and all(
            abs(got[job]["f_jobsize"] - used[of[account]]) < 0.5 and
            got[job]["f_assoc"] == pytest.approx(got[job]["f_fairshare"] - got[job]["f_jobsize"],
                                                 abs=0.01)
            for account, job in jobs.items())
    c.wait_for(agree, what=lambda: f"{sshare(c)} in {rows(c, *jobs.values())}")
    used = sshare(c)
    assert used["deep"] == used["strings"] == used["phys"] < used["sci"]
    # 8, 4 and 2 CPUs that began together
    assert used["phys"] > used["bio"] > used["hum"]


def test_sacctmgr_changes_while_it_runs(cluster, jobs):
    c = cluster
    c.run("sacctmgr", "-i", "modify", "account", "hum", "set", "fairshare=139")
    c.run("sacctmgr", "-i", "modify", "account", "bio", "set", "fairshare=5")
    shows(c, {jobs["deep"]: {"f_fairshare": 30}, jobs["hum"]: {"f_fairshare": 100 * 139 / 200},
              jobs["bio"]: {"f_fairshare": 30 * 5 / 8}})
    # a new account and user, five levels below the group that they belong to
    c.run("sacctmgr", "-i", "add", "account", "qed", "parent=deep", "fairshare=1")
    c.run("sacctmgr", "-i", "add", "user", "mail", "account=qed", "fairshare=1")
    c.wait_for(lambda: "qed" in c.run("scontrol", "show", "assoc_mgr", "flags=assoc").stdout,
               what="the new account in slurmctld")
    new = c.sbatch("true", user="mail", account="qed", partition="off")
    shows(c, {new: {"f_fairshare": 30, "f_age": 4}})
    assert abs(rows(c, new)[new]["f_jobsize"] - sshare(c)["phys"]) < 0.5
    # The tree itself: theory moves from phys to bio, and with it all that is below. No group is
    # named there, so that each account stands for itself: 30 x 5/8, shared with the user man, and
    # below theory one child a level, but for games and qed in deep.
    c.run("sacctmgr", "-i", "modify", "account", "theory", "set", "parent=bio")
    own = 30 * 5 / 8 / 2
    shows(c, {jobs["deep"]: {"f_fairshare": own, "f_age": 0},
              new: {"f_fairshare": own / 2, "f_age": 0}, jobs["bio"]: {"f_fairshare": 30 * 5 / 8}})


def test_the_file_goes_before_sacctmgr_and_a_default_group_before_shares(cluster, jobs):
    c = cluster
    c.write_policy({**POLICY, "default_group": "rest",
                    "groups": {"hum": {"target": 12}, "rest": {"target": 5, "financial": 1}}})
    shows(c, {jobs["hum"]: {"f_fairshare": 12}, jobs["bio"]: {"f_fairshare": 5, "f_age": 1},
              jobs["deep"]: {"f_fairshare": 5, "f_age": 1}})
    c.write_policy(POLICY)


def test_who_lives_on_the_parents_shares_stands_as_the_parent_does(cluster):
    """sci's share for its wing; below root there is nothing to live on, and no target."""
    for account, user, parent in (("wing", "mail", "sci"), ("loose", "news", "root")):
        cluster.run("sacctmgr", "-i", "add", "account", account, f"parent={parent}",
                    "fairshare=parent")
        cluster.run("sacctmgr", "-i", "add", "user", user, f"account={account}", "fairshare=1")
    wing, loose = (cluster.sbatch("true", user=user, account=account, partition="off")
                   for user, account in (("mail", "wing"), ("news", "loose")))
    sci = cluster.run("sshare", "-A", "sci", "-n", "-P", "-o", "account,normshares").stdout
    share = float(sci.split()[0].split("|")[1])  # within its level, which is the whole
    assert share > 0.1
    shows(cluster, {wing: {"f_fairshare": pytest.approx(100 * share, abs=0.01)},
                    loose: {"f_fairshare": 0, "f_assoc": 0}})


SOURCES = {  # by slurm.conf: what sccr check has to say, and must not
    "AccountingStorageType=accounting_storage/slurmdbd\n": (
        ["usage from Slurm's associations, as sshare shows it (slurm.conf names slurmdbd)",
         "target from its account's shares in sacctmgr, normalised, in percent",
         "goes by its nearest named ancestor, else its own account's shares in sacctmgr"],
        ["its fairshare term is 0"]),
    "ClusterName=x\n": (
        ["usage from slurm-ccr's own ledger (slurm.conf names no database)",
         "no target: its fairshare term is 0"],
        ["sacctmgr"]),
    None: (["usage from Slurm's associations with a database, else from the ledger",
            "shares in sacctmgr with a database, else none: its fairshare term is 0 then"], []),
}


@pytest.mark.parametrize("conf", SOURCES, ids=["dbd", "no database", "no slurm.conf"])
def test_sccr_check_names_the_source_in_force(tmp_path, conf):
    policy = tmp_path / "ccr.json"
    policy.write_text('{"version": 1, "preset": "ccr", "groups": {"phys": {"target": 30}, "hum": {}}}')
    (tmp_path / "slurm.conf").write_text(conf or "")
    if conf is None and os.path.exists("/etc/slurm/slurm.conf"):
        pytest.skip("there is a slurm.conf on this machine")
    build = os.environ.get("CCR_BUILD_DIR", f"{REPO}/build")
    where = ["--slurm-conf", str(tmp_path / "slurm.conf")] if conf else []
    done = subprocess.run([f"{build}/src/sccr/sccr", "check", *where, str(policy)], text=True,
                          capture_output=True, timeout=60, env={})
    assert done.returncode == 0, done
    said = " ".join(done.stdout.split())
    for text in SOURCES[conf][0]:
        assert text in said, done.stdout
    for text in SOURCES[conf][1]:
        assert text not in said, done.stdout
