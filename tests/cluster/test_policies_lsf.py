"""LSF's dynamic priority on running daemons: the document's table, the hand-out of slots, HIST_HOURS."""
import re
import time

import pytest

from ccrcluster import Nodes
from policies import USERS, ccr_cluster, ledger, row, rows, seed

# `bqueues -l p4-long`: PRIORITY, STARTED, CPU_TIME, RUN_TIME. The numbers come out when historical
# and running time are counted together; the ledger has them as one, as running jobs are charged.
TABLE = [(0.333, 0, 0.0, 0), (0.333, 0, 0.0, 0), (0.333, 0, 0.0, 0), (0.333, 0, 29.4, 0),
         (0.316, 0, 821.9, 0), (0.150, 0, 18781.0, 0), (0.143, 1, 2288.2, 2696),
         (0.062, 0, 67178.7, 0), (0.032, 3, 34856.3, 65633), (0.030, 0, 158440.7, 0),
         (0.028, 4, 73265.0, 33534), (0.025, 1, 100969.1, 70430), (0.025, 2, 52842.4, 103421),
         (0.016, 0, 305000.0, 0), (0.014, 3, 91714.2, 211038)]
PARTS = {"p4-long": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
         "p4-short": "Nodes=ALL MaxTime=INFINITE State=UP",
         "off": "Nodes=ALL MaxTime=INFINITE State=DOWN"}


def entry(user, seconds, partition="p4-long"):
    return {"user": user, "partition": partition, "account": "", "slot_s": seconds,
            "billed_s": seconds}


def reseed(c, entries, at=None):
    """Restarts slurmctld on that ledger; the jobs stay."""
    c.stop_slurmctld()
    seed(c, entries, at=at or time.time())
    c.start_slurmctld()


@pytest.fixture(scope="module")
def session():
    c = ccr_cluster("lsf", nodes=[Nodes(count=1, cpus=16)], partitions=PARTS)
    seed(c, [])
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    yield session
    session.clear()


def test_the_documents_table(cluster):
    c = cluster
    # All CPUs are taken: 14 by the table's running jobs, the rest by somebody else.
    running = [c.sbatch("sleep 300", user=user) for user, (_, started, _, _) in zip(USERS, TABLE)
               for _ in range(started)]
    running.append(c.sbatch("sleep 300", user="root", ntasks=2))
    c.wait_for(lambda: set(c.states(*running)) == {"RUNNING"}, what="the running jobs")
    waiting = [c.sbatch("true", user=user) for user in USERS]
    reseed(c, [entry(user, cpu + run) for user, (_, _, cpu, run) in zip(USERS, TABLE)])
    got = c.wait_for(lambda: len(c.sprio()) == len(USERS) and rows(c, *waiting), what="15 rows")
    shown = [round(got[job]["f_fairshare"], 3) for job in waiting]
    assert shown == [priority for priority, _, _, _ in TABLE]
    assert [got[job]["priority"] for job in waiting] == [got[job]["fairshare"] for job in waiting]
    # The table is in order, and Slurm has that order too: fractions do not tie.
    by = [got[job]["priority"] for job in waiting]
    assert by[3:] == sorted(by[3:], reverse=True) and len(set(by[4:])) == len(by[4:])
    assert [int(j["job"]) for j in c.squeue("-t", "PD", "--sort=-p,i")] == waiting


def lsf_picks(users, slots):
    """LSF's way: a free slot goes to the best user's longest waiting job, then all is looked at anew.
    users: {name: [hours, started, [jobs, longest waiting first]]}."""
    picked = []
    for _ in range(slots):
        def key(name):
            hours, started, jobs = users[name]
            return (-1 / (3.0 + 0.7 * hours + 3.0 * started), jobs[0])
        best = min((name for name in users if users[name][2]), key=key)
        picked.append(users[best][2].pop(0))
        users[best][1] += 1
    return picked


def test_a_cycle_hands_out_slots_as_lsf_would(cluster):
    c = cluster
    blocker = c.sbatch("sleep 300", user="root", exclusive=True)
    c.wait_state(blocker)
    hours = {"games": 0, "man": 4.0, "lp": 9.5, "mail": 60}
    jobs = {user: [] for user in hours}
    # The heaviest user has waited longest, and the lightest has most jobs.
    for user in ["mail"] * 2 + ["lp"] * 4 + ["man"] * 6 + ["games"] * 12:
        jobs[user].append(c.sbatch("sleep 300", user=user))
    reseed(c, [entry(user, 3600 * h) for user, h in hours.items()])
    waiting = sum(jobs.values(), [])
    c.wait_for(lambda: len(c.sprio()) == len(waiting) and
               len({r["priority"] for r in rows(c, *jobs["games"]).values()}) == 12,
               what="ranks of all jobs")
    want = lsf_picks({u: [h, 0, list(jobs[u])] for u, h in hours.items()}, 16)
    assert set(want) & set(jobs["man"]) and set(want) & set(jobs["lp"])
    c.run("scancel", blocker)
    c.wait_for(lambda: c.states(*want) == ["RUNNING"] * 16, what=f"LSF's pick {want}")
    began = [int(re.search(r"JobId=(\d+)", line)[1]) for line in c.log_grep("Allocate JobId=")]
    assert [job for job in began if job in waiting] == want


def test_the_jobs_of_a_user_are_ranked_one_by_one(cluster):
    c = cluster
    reseed(c, [])
    held = c.sbatch("true", user="games", partition="off", hold=True)
    later = c.sbatch("true", user="games", partition="off", begin="now+1hour")
    jobs = [c.sbatch("true", user="games", partition="off") for _ in range(4)]
    after = c.sbatch("true", user="games", partition="off", dependency=f"afterany:{held}")

    def ranks(*which):
        got = rows(c, *which)
        return [got[job]["priority"] for job in which if job in got]
    want = [round(1e6 / (3.0 + 3.0 * k)) for k in range(6)]
    # What cannot start is ahead of nobody, and in line for when it can.
    c.wait_for(lambda: ranks(*jobs) == want[:4] and
               [int(c.job(j)["Priority"]) for j in (later, after)] == want[4:6],
               what="the ranks")
    c.run("scontrol", "release", held)  # has waited longest of all
    c.wait_for(lambda: ranks(held, *jobs) == want[:5], what="the ranks with the released job")


def test_partitions_do_not_know_of_each_other(cluster):
    c = cluster
    blocker = c.sbatch("sleep 300", user="root", exclusive=True)
    c.wait_state(blocker)
    reseed(c, [entry("games", 10 * 3600)])
    long, short = (c.sbatch("true", user="games", partition=p) for p in ("p4-long", "p4-short"))
    both = c.sbatch("true", user="games", partition="p4-short,p4-long")

    def by_partition():
        return {r["partition"]: r for r in c.sprio() if r["job"] == str(both)}
    # In each the second job: 1/(3 + 3) where nothing was used, 1/(3 + 0.7 x 10 + 3) in the other.
    c.wait_for(lambda: len(by_partition()) == 2 and
               by_partition()["p4-short"]["priority"] == round(1e6 / 6), what="both partitions")
    got = by_partition()
    assert got["p4-long"]["priority"] == pytest.approx(1e6 / 13, abs=60)
    for r in got.values():
        assert r["fairshare"] == r["priority"], "the difference is shown where it comes from"
    alone = rows(c, long, short)
    assert alone[long]["priority"] == pytest.approx(1e5, abs=60)
    assert alone[short]["priority"] == round(1e6 / 3)


def test_an_hour_now_is_ten_hours_ten_hours_ago(cluster):
    c = cluster
    jobs = [c.sbatch("true", user=user, partition="off") for user in ("games", "man")]
    reseed(c, [entry("games", 10 * 3600, "off"), entry("man", 100 * 3600, "off")],
           at=time.time() - 36000)
    got = c.wait_for(lambda: len(c.sprio()) == 2 and rows(c, *jobs), what="rows")
    assert [got[j]["f_fairshare"] for j in jobs] == pytest.approx([1 / 3.7, 1 / 10], rel=2e-3)
    assert ledger(c)["model"] == {"kind": "lsf", "hist_hours": 10}


def test_running_jobs_are_counted_as_they_run(cluster):
    c = cluster
    reseed(c, [])
    c.wait_state(c.sbatch("sleep 300", user="games", ntasks=16))
    job = c.sbatch("true", user="games", ntasks=16)
    row(c, job)
    # 16 CPUs for one second are 16/3600 h; one job of the user has started.
    def hours():
        return (1e6 / row(c, job)["priority"] - 6.0) / 0.7
    first = c.wait_for(lambda: hours() > 0.01 and hours(), what="run hours")
    assert c.wait_for(lambda: hours() > first + 0.01, timeout=15, what="more run hours")
    assert row(c, job)["priority"] < round(1e6 / 6)


def test_a_new_job_is_ranked_behind_the_others_at_once():
    c = ccr_cluster("lsf", nodes=1, partitions=PARTS, seconds=3600)
    seed(c, [entry("man", 10 * 3600, "off")])
    try:
        c.start()
        jobs = [c.sbatch("true", user="games", partition="off") for _ in range(3)]
        other = c.sbatch("true", user="man", partition="off")
        got = [int(c.job(job)["Priority"]) for job in jobs]
        assert got == [round(1e6 / (3.0 + 3.0 * k)) for k in range(3)]
        assert int(c.job(other)["Priority"]) == pytest.approx(1e5, abs=60)
        # Asked again, a job keeps its place.
        c.update(JobId=jobs[0], Nice=5)
        assert int(c.job(jobs[0])["Priority"]) == got[0] - 5
    finally:
        c.stop()


def records(c, array):
    """How many records slurmctld has for the waiting tasks of an array; squeue draws them together."""
    shown = c.run("scontrol", "-o", "show", "job", array).stdout.splitlines()
    return len([line for line in shown if "JobState=PENDING" in line])


def array_picks(c, submit):
    """The users whose jobs start on six slots that become free at once."""
    blocker = c.sbatch("sleep 300", user="root", ntasks=6)
    rest = c.sbatch("sleep 300", user="root", ntasks=10)
    c.wait_for(lambda: c.states(blocker, rest) == ["RUNNING"] * 2, what="a full node")
    submit()
    c.run("scancel", blocker)

    def began():
        return sorted(line for line in c.run("squeue", "-h", "-t", "R", "-o", "%u %F %K")
                      .stdout.splitlines() if not line.startswith("root"))
    c.wait_for(lambda: len(began()) == 6, what="six started jobs")
    return [line.split()[0] for line in began()]


def test_the_tasks_of_an_array_take_turns_with_other_users(cluster):
    c = cluster
    reseed(c, [entry("man", 3600)])

    def submit():
        array = c.sbatch("sleep 300", user="games", array="0-499")
        for _ in range(4):
            c.sbatch("sleep 300", user="man")
        # 32 tasks of their own at the most, and the rest
        c.wait_for(lambda: records(c, array) == 33, what="tasks with records of their own")
        got = c.wait_for(lambda: len(rows(c, array)) == 1 and rows(c, array), what="the rest's row")
        assert got[array]["priority"] == round(1e6 / (3.0 + 3.0 * 32)), "it is behind its tasks"
    # 1/3, 1/3.7; 1/6, 1/6.7; 1/9, 1/9.7
    assert array_picks(c, submit) == ["games"] * 3 + ["man"] * 3


def test_jobs_that_come_free_at_once_take_turns():
    """With the period of the snippet: no cycle comes between the end of what they wait for and their
    start."""
    c = ccr_cluster("lsf", nodes=[Nodes(count=1, cpus=8)], partitions=PARTS, seconds=60)
    seed(c, [])
    try:
        c.start()
        first = c.sbatch("sleep 300", user="root", ntasks=8)
        c.wait_state(first)
        jobs = [c.sbatch("sleep 300", user="games", dependency=f"afterany:{first}") for _ in range(6)]
        jobs += [c.sbatch("sleep 300", user="man") for _ in range(6)]
        array = c.sbatch("sleep 300", user="lp", array="0-5")
        # each submission has brought a cycle, within a second
        c.wait_for(lambda: records(c, array) >= 6 and
                   len({c.job(job)["Priority"] for job in jobs[:6]}) == 6, what="the ranks")
        c.run("scancel", first)

        def began():
            return sorted(c.run("squeue", "-h", "-t", "R", "-o", "%u").stdout.split())
        c.wait_for(lambda: len(began()) == 8, what="eight started jobs")
        assert began().count("games") in (2, 3) and began().count("man") in (2, 3)
    finally:
        c.stop()


def test_an_array_alone_stays_one_job(cluster):
    c = cluster
    reseed(c, [])
    array = []
    assert array_picks(c, lambda: array.append(
        c.sbatch("sleep 300", user="games", array="0-99"))) == ["games"] * 6
    time.sleep(3)  # three cycles
    assert records(c, *array) == 1


def test_an_array_with_a_limit_has_no_more_tasks_than_may_start(cluster):
    c = cluster
    reseed(c, [])
    c.sbatch("true", user="man", partition="off")
    array = c.sbatch("true", user="games", partition="off", array="0-99%4")
    c.wait_for(lambda: records(c, array) == 5, what="four tasks and the rest")
    time.sleep(2)
    assert records(c, array) == 5
