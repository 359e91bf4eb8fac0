"""Maui's fairshare windows in a running slurmctld: the manual's example, restarts, clock jumps, another
interval. FAIRSHARE shows the group's usage in percent, ASSOC the user's."""
import signal

import pytest

from ccrcluster import Nodes
from policies import ccr_cluster, ledger, row, seed

# Maui's manual, 6.3: 60, 0, 10, 50 of all users' 110, 125, 100, 150 at FSDECAY 0.5 are 31.79 %.
GROUP, ALL = (60, 0, 10, 50), (110, 125, 100, 150)
WINDOWS = {"model": "windows", "interval": "1-00:00:00", "depth": 4, "decay": 0.5}
POLICY = {"version": 1, "usage": WINDOWS,
          "policy": {"fairshare": "usage", "assoc": "user_usage"},
          "groups": {"phys": {"target": 50, "accounts": ["theory"]}}}


def percent(group, everybody, decay=0.5):
    def worth(windows):
        return sum(amount * decay ** i for i, amount in enumerate(windows))
    return 100 * worth(group) / worth(everybody)


def later(windows, by=1):
    return (0,) * by + tuple(windows)[:len(windows) - by]


def entry(account, user, amounts):
    return {"account": account, "user": user, "billed_s": [1e9 * a for a in amounts]}


@pytest.fixture(scope="module")
def cluster():
    c = ccr_cluster("ccr", policy=POLICY, clock="-2d", nodes=[Nodes(count=1, cpus=2)],
                    partitions={"p": "Nodes=ALL Default=YES State=UP", "off": "Nodes=ALL State=DOWN"})
    # The group's usage is that of two accounts and two users.
    seed(c, [entry("phys", "games", (30, 0, 10, 0)), entry("theory", "man", (30, 0, 0, 50)),
             entry("other", "games", (20, 25, 0, 0)), entry("other", "lp", (30, 100, 90, 100))])
    c.start()
    yield c
    c.stop()


@pytest.fixture(scope="module")
def job(cluster):
    return cluster.sbatch("true", user="games", account="theory", partition="off")


def shows(c, job, group, user=None):
    """Until sprio has these percentages."""
    def there():
        got = row(c, job)
        return got["f_fairshare"] == pytest.approx(group, abs=0.01) and (
            user is None or got["f_assoc"] == pytest.approx(user, abs=0.01))
    c.wait_for(there, timeout=15, what=lambda: f"{group:.2f} and {user} %, not {row(c, job)}")


def test_mauis_example(cluster, job):
    assert round(percent(GROUP, ALL), 2) == 31.79
    shows(cluster, job, percent(GROUP, ALL), percent((50, 25, 10, 0), ALL))


def test_the_windows_survive_a_restart_and_a_kill(cluster, job):
    cluster.wait_saved(job)
    assert cluster.stop_slurmctld() == 0
    cluster.start_slurmctld()
    shows(cluster, job, percent(GROUP, ALL))
    assert cluster.kill9_slurmctld() == -signal.SIGKILL
    cluster.start_slurmctld()
    shows(cluster, job, percent(GROUP, ALL), percent((50, 25, 10, 0), ALL))


def test_a_day_later_every_window_counts_half(cluster, job):
    cluster.set_clock("-1d")
    shows(cluster, job, percent(later(GROUP), later(ALL)), percent((0, 50, 25, 10), later(ALL)))


def test_what_runs_is_counted_in_the_present_window(cluster, job):
    done = cluster.sbatch("sleep 4", user="lp", account="other")
    cluster.wait_state(done, "COMPLETED", timeout=60)

    def present():
        return [e["billed_s"] for e in ledger(cluster)["usage"]
                if (e["account"], e["user"], e["partition"]) == ("other", "lp", "p")]
    cluster.wait_for(lambda: present() and present()[0][0] >= 3, what="the job in the ledger")
    assert len(present()[0]) == 1 or not any(present()[0][1:])


def test_a_clock_set_back_takes_nothing_and_gives_nothing(cluster, job):
    cluster.set_clock("-2d")
    shows(cluster, job, percent(later(GROUP), later(ALL)))
    cluster.set_clock("-1d")  # a day passes, as far as anybody can tell
    shows(cluster, job, percent(later(GROUP, 2), later(ALL, 2)))


def test_a_jump_over_all_windows_leaves_nothing(cluster, job):
    c = cluster
    c.stop_slurmctld()
    seed(c, [entry("phys", "games", GROUP),
             entry("other", "lp", [a - g for a, g in zip(ALL, GROUP)])])
    c.start_slurmctld()
    shows(c, job, percent(GROUP, ALL))
    c.set_clock("+5d")
    shows(c, job, 0, 0)
    c.set_clock(None)


def test_another_interval_depth_and_decay_keep_the_amounts(cluster, job):
    c = cluster
    c.stop_slurmctld()
    seed(c, [entry("phys", "games", (0, 60, 0, 10)), entry("other", "lp", (0, 50, 125, 90))])
    c.start_slurmctld()
    shows(c, job, percent((0, 60, 0, 10), (0, 110, 125, 100)))

    def total():
        return sum(sum(e["billed_s"]) for e in ledger(c)["usage"])
    assert total() == pytest.approx(335e9)
    # Half a day: each amount becomes two halves. How far they are back depends on the time of day,
    # the ratio does not.
    c.write_policy({**POLICY, "usage": {**WINDOWS, "interval": "12:00:00", "depth": 10}})
    c.reconfigure()
    shows(c, job, percent((30, 30, 0, 0, 5, 5), (55, 55, 62.5, 62.5, 50, 50)))
    c.wait_for(lambda: ledger(c)["model"]["interval_s"] == 43200, what="the saved windows")
    assert total() == pytest.approx(335e9)
    # Back to days, all alike: what is there is there.
    c.write_policy({**POLICY, "usage": {**WINDOWS, "depth": 10, "decay": 1}})
    c.reconfigure()
    shows(c, job, percent((60, 10), (110, 225), decay=1))
    c.wait_for(lambda: ledger(c)["model"]["interval_s"] == 86400, what="the saved windows")
    assert total() == pytest.approx(335e9)
    c.restart_slurmctld()
    shows(c, job, percent((60, 10), (110, 225), decay=1))


def test_windows_of_a_group_as_diagnose_prints_them(cluster, job):
    """(55.81, 51.16, 44.05, 21.45) % of (8154.4, 11532.8, 10236.3, 9345.5) h are 50.31 %."""
    c = cluster
    hours, share = (8154.4, 11532.8, 10236.3, 9345.5), (55.81, 51.16, 44.05, 21.45)
    group = [h * p / 100 for h, p in zip(hours, share)]
    c.stop_slurmctld()
    seed(c, [entry("phys", "games", group), entry("other", "lp", [h - g for h, g in zip(hours, group)])])
    c.write_policy(POLICY)
    c.start_slurmctld()
    assert round(percent(group, hours), 2) == 50.31
    shows(c, job, percent(group, hours))
