"""What the tests of policies share: the ready snippets of examples/, ledgers written by hand, clusters."""
import json
import os
import re
import time

import pytest

from ccrcluster import REPO, Cluster

# Users that every Debian with Slurm has: enough for the 15 of the LSF document. 26.05 takes no job
# of nobody.
USERS = ["daemon", "bin", "sys", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
         "backup", "list", "irc", "munge"]


def snippet(name):
    """examples/slurm/NAME.conf as {option: value}."""
    options = {}
    with open(os.path.join(REPO, "examples/slurm", name + ".conf")) as text:
        for line in text:
            match = re.match(r"(\w+)=(\S+)$", line.strip())
            if match:
                options[match[1]] = match[2]
            else:
                assert not line.strip() or line.startswith("#"), line
    return options


def example(name):
    """examples/NAME.json."""
    with open(os.path.join(REPO, "examples", name + ".json")) as text:
        return json.load(text)


def seed(cluster, entries, at=None, **more):
    """A ledger by hand, as ccr_usage.json(5) describes it: slurmctld must not run."""
    ledger = {"version": 1, **more, "usage": entries}
    if at is not None:
        ledger["time"] = ledger["charged_until"] = int(at)
    with open(f"{cluster.root}/state/ccr_usage.json", "w") as out:
        json.dump(ledger, out)


def ledger(cluster):
    with open(f"{cluster.root}/state/ccr_usage.json") as text:
        return json.load(text)


def ccr_cluster(preset, policy=None, seconds=1, conf=None, **arguments):
    """A cluster with the preset's snippet, re-scored every `seconds`; not started."""
    options = {**snippet(preset), "PriorityParameters": f"ccr_calc_seconds={seconds}", **(conf or {})}
    kind = options.pop("PriorityType")
    assert kind == "priority/ccr"
    return Cluster(priority_type=kind, plugins=["priority"], conf=options,
                   policy=policy or example(preset), **arguments)


def rows(cluster, *jobs):
    """sprio's rows of those of these jobs that it lists, by job id; of a job in several partitions,
    the first."""
    got = {}
    for row in cluster.sprio():
        got.setdefault(int(row["job"]), row)
    return {job: got[job] for job in jobs if job in got}


def row(cluster, job):
    return cluster.wait_for(lambda: next((r for r in cluster.sprio() if r["job"] == str(job)), None),
                            what=f"sprio's row of {job}")


def shows(c, want):
    """Until sprio shows {job: {column: value}}."""
    def there():
        got = rows(c, *want)
        return len(got) == len(want) and all(
            got[job][column] == pytest.approx(value, abs=0.02)
            for job, columns in want.items() for column, value in columns.items())
    c.wait_for(there, timeout=40, what=lambda: f"{want}, not {rows(c, *want)}")


def steady(read, seconds, every=0.5):
    """What read() returns, which must not change for so many seconds."""
    first = read()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(every)
        now = read()
        assert now == first, f"changed from {first} to {now}"
    return first


def eligible(c, job):
    """What sprio's AGE column shows, under a policy with age = eligible_time; None for a job that
    it does not list."""
    shown = [r["age"] for r in c.sprio() if r["job"].split("_")[0] == str(job)]
    return shown[0] if shown else None


def at_least(c, job, seconds):
    return c.wait_for(lambda: (eligible(c, job) or 0) >= seconds and eligible(c, job),
                      what=f"{seconds} s of job {job}")


def eligible_states(c):
    """[seconds, accruing] by job id, as the state file has them; it is first written after a cycle."""
    try:
        with open(f"{c.root}/state/ccr_eligible.json") as text:
            state = json.load(text)
    except FileNotFoundError:
        return {}
    assert state["version"] == 1
    now = time.time()
    return {job: [seconds + (now - since if accruing else 0), accruing]
            for job, seconds, since, accruing in state["jobs"]}


def stopped(c, job, seconds=2.5):
    """The eligible time of a job for which it stands still from now on."""
    c.wait_for(lambda: eligible_states(c).get(job, [0, 1])[1] == 0, what=f"job {job} not to accrue")
    return steady(lambda: eligible_states(c)[job][0], seconds)
