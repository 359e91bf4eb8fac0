"""Preset `multifactor` is priority/multifactor: one queue of more than 2,000 pending jobs of every
kind, read under both plugins at the same standing second. Every column of sprio within a point, the
same order of the queue, the same sshare to the printed digit."""
import collections

import pytest

import mfqueue

# slurm.conf beside mfqueue.CONF, one line a test
ROWS = {
    "fair_tree": {},
    "fair_tree_no_decay": {"PriorityDecayHalfLife": 0,
                           "PriorityUsageResetPeriod": "YEARLY"},
    "classic": {"PriorityFlags": "NO_FAIR_TREE"},
    "classic_dampened": {"PriorityFlags": "NO_FAIR_TREE", "FairShareDampeningFactor": 5},
    "depth_oblivious": {"PriorityFlags": "NO_FAIR_TREE,DEPTH_OBLIVIOUS"},
    "no_normal_all": {"PriorityFlags": "NO_NORMAL_ALL", "PriorityWeightTRES": "CPU=100,Mem=1"},
    "no_normal_assoc": {"PriorityFlags": "NO_NORMAL_ASSOC"},
    "no_normal_part": {"PriorityFlags": "NO_NORMAL_PART"},
    "no_normal_qos": {"PriorityFlags": "NO_NORMAL_QOS"},
    "no_normal_tres": {"PriorityFlags": "NO_NORMAL_TRES"},
    "small_relative_to_time": {"PriorityFlags": "SMALL_RELATIVE_TO_TIME",
                               "PriorityWeightJobSize": 10000000},
    "favor_small": {"PriorityFavorSmall": "YES"},
    "small_and_relative": {"PriorityFavorSmall": "YES",
                           "PriorityFlags": "SMALL_RELATIVE_TO_TIME"},
    "calculate_running": {"PriorityFlags": "CALCULATE_RUNNING"},
    "incr_only": {"PriorityFlags": "INCR_ONLY", "PriorityWeightFairshare": 20000},
    "accrue_always": {"PriorityFlags": "ACCRUE_ALWAYS"},
    "max_tres": {"PriorityFlags": "MAX_TRES"},
    "no_weights": {"PriorityWeightTRES": None, "PriorityWeightQOS": 0,
                   "PriorityWeightPartition": 0, "PriorityWeightJobSize": 0},
    "over_the_top": {"PriorityWeightAge": 4000000000, "PriorityWeightFairshare": 4000000000},
}
# A sum over 2^32-1: stock cuts the priority but not the columns, so that its sprio shows another
# priority than squeue; ours lowers SITE. The priorities are the same.
NOT_COMPARED = {"over_the_top": ("%Y", "%S")}


@pytest.fixture(scope="module")
def frozen():
    queue = mfqueue.Frozen()
    yield queue
    queue.stop()


def differences(stock, ours, without=()):
    """Texts of what is further apart than a point; the columns are sprio's."""
    names = mfqueue.SPRIO.split("|")[2:]
    found = []
    for key in sorted(set(stock) | set(ours)):
        if (key in stock) != (key in ours):
            found.append(f"{key}: only under {'stock' if key in stock else 'ccr'}")
            continue
        for name, a, b in zip(names, stock[key], ours[key]):
            if name in without:
                continue
            for x, y in zip(a.split(","), b.split(",")):
                (tres, _, x), (other, _, y) = x.rpartition("="), y.rpartition("=")
                same = tres == other and (x == y or abs(number(x) - number(y)) <= 1)
                if not same or a.count(",") != b.count(","):
                    found.append(f"{key} {name}: {a} under stock, {b} under ccr")
    return found


def number(text):
    try:
        return int(text)
    except ValueError:
        return float("nan")


def order(queue):
    """squeue's order of jobs in one partition. One in several has the priority of that which the
    scheduler tried last, whatever the plugin; sprio has a row for each of them. Jobs of the same
    priority stand by their names here: in which order slurmctld lists an array's tasks is a matter
    of the moment, under the stock plugin as well."""
    rows = [line.split() for line in queue]
    times = collections.Counter(row[0] for row in rows)
    single = [row for row in rows if times[row[0]] == 1]
    assert all(int(a[2]) >= int(b[2]) for a, b in zip(single, single[1:]))
    return [(job, partition) for job, partition, _ in
            sorted(single, key=lambda row: (-int(row[2]), row[0]))]


def test_the_queue_has_every_kind_of_job(frozen):
    shown = frozen.read("multifactor")
    rows = shown["sprio"]
    jobs = {job for job, _ in rows}
    assert len(jobs) >= 2000
    names = mfqueue.SPRIO.split("|")[2:]
    for column in "%A %B %F %J %P %Q %S %N".split():
        values = {row[names.index(column)] for row in rows.values()}
        assert len(values) > 1, f"{column} is the same for all"
    assert any("gres/gpu" in row[-1] for row in rows.values())
    for mark in ("_", "+"):  # arrays, heterogeneous jobs
        assert any(mark in line.split()[0] for line in shown["queue"]), mark
    assert len(rows) > len(jobs) + 500  # rows of jobs with several partitions


@pytest.mark.parametrize("row", [
    pytest.param(r, marks=pytest.mark.every_slurm) if r == "fair_tree" else r for r in ROWS])
def test_every_column_and_the_order(frozen, row):
    stock = frozen.read("multifactor", conf=ROWS[row])
    ours = frozen.read("ccr", conf=ROWS[row])
    found = differences(stock["sprio"], ours["sprio"], NOT_COMPARED.get(row, ()))
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
    assert len(stock["sprio"]) > 2000
    assert order(stock["queue"]) == order(ours["queue"])
    for a, b in zip(stock["queue"], ours["queue"]):
        assert abs(int(a.split()[2]) - int(b.split()[2])) <= 1, f"{a} under stock, {b} under ccr"
    assert stock["sshare"] == ours["sshare"]


# Seconds after the queue was made at which slurmctld runs a cycle; jobs end and start in between.
HISTORIES = {
    "cycles": ((300, 900, 4500), {}),
    "no_decay": ((300, 5000), {"PriorityDecayHalfLife": 0,
                               "PriorityUsageResetPeriod": "YEARLY"}),
    "classic": ((300, 4500), {"PriorityFlags": "NO_FAIR_TREE"}),
    "clock_set_back": ((900, 300, 1800), {}),
}


@pytest.mark.parametrize("row", HISTORIES)
def test_sshare_after_the_same_history(frozen, row):
    times, conf = HISTORIES[row]

    def read(plugin):
        return frozen.read(plugin, after=times[0], again=times[1:], conf=conf, events=end_some)
    stock, ours = read("multifactor"), read("ccr")
    assert int(stock["sshare"][1].split("|")[4]) > 0
    assert stock["sshare"] == ours["sshare"]
    assert order(stock["queue"]) == order(ours["queue"])


def end_some(queue, turn, at):
    """A running job ends at each turn, in the middle of a period; another gets a new limit."""
    c = queue.cluster
    mfqueue.set_clock(c, queue.began + at + 77)
    running = c.run("squeue", "-h", "-t", "R", "-S", "i", "-o", "%i").stdout.split()
    c.run("scancel", running[0])
    c.update(JobId=running[1], TimeLimit=3000 + turn)
    c.wait_for(lambda: c.job(running[0])["JobState"] in ("CANCELLED", "COMPLETING"), 30,
               what="a cancelled job")
