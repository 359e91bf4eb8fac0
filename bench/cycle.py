#!/usr/bin/python3
"""What a cycle costs: processor time of slurmctld's decay thread for a pass over 15,000 pending
jobs, 10,000 of them in two partitions, under priority/multifactor and priority/ccr in turn, in the
same run on the same queue; and of the whole slurmctld for one sprio.

    bench/cycle.py [--jobs 15000] [--cycles 15] [--rounds 3] [--preset multifactor] [--perf FILE]

Prints a table and the ratios. Needs a build (build/, or CCR_BUILD_DIR) and the packages of
scripts/deps. The queue is made once; each plugin starts from the same saved state, and a second of
waiting changes every job's priority. Processor time, not time on a clock: what else the machine
does matters little, and the least of many measures less still. A cycle that finds the queue as it
was is what is measured; the first, and one after a change of settings, costs about twice as much."""
import argparse
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "cluster"))
from ccrcluster import Cluster, Nodes  # noqa: E402
from mfcommon import fast_cycle  # noqa: E402

PER_ARRAY = 1000
POLICY = {"version": 1}
CONF = {
    "AccountingStorageEnforce": "associations,limits,qos", "PriorityDecayHalfLife": "7-0",
    "PriorityWeightAge": 700000, "PriorityWeightAssoc": 500, "PriorityWeightFairshare": 100000,
    "PriorityWeightJobSize": 3000, "PriorityWeightPartition": 1000, "PriorityWeightQOS": 2000,
    "PriorityWeightTRES": "CPU=1000,Mem=2000,GRES/gpu=3000", "PriorityMaxAge": "7-0",
    "PriorityParameters": "ccr_calc_seconds=1", "SchedulerParameters": "sched_interval=3600,defer,"
    "bf_interval=3600,default_queue_depth=1", "MaxJobCount": 100000,
}
ACCOUNTS = {f"a{i}": {"Fairshare": 10 + i, "users": ["games", "man", "lp", "mail", "news"]}
            for i in range(8)}


def make_queue(c, jobs):
    """Arrays, each taken apart into records by a change of its tasks' nice values."""
    blocker = c.sbatch("sleep 36000", ntasks=32, user="games", account="a0", time=900)
    c.wait_state(blocker)
    arrays = []
    for i in range(jobs // PER_ARRAY):
        arrays.append(c.sbatch(
            "true", user=("games", "man", "lp", "mail", "news")[i % 5], account=f"a{i % 8}",
            array=f"0-{PER_ARRAY}", ntasks=1 + i, mem=500,
            partition="p" if 3 * i < jobs // PER_ARRAY else "p,q", gres="gpu:1" if i % 2 else None))
    for array in arrays:
        for first in range(0, PER_ARRAY, 250):
            c.run("scontrol", "update", f"JobId={array}_[{first}-{first + 249}]",
                  f"Nice={1 + first}")
    # The scheduler must have seen a job before sprio shows it.
    c.conf["SchedulerParameters"] = "default_queue_depth=100000,bf_interval=3600"
    c.write_conf()
    c.reconfigure()
    c.wait_for(lambda: len(set(c.run("sprio", "-h", "-o", "%i").stdout.split())) >= jobs, 300,
               what="a queue that is seen", every=2)


def cpu_of(pid):
    """Processor seconds of a process, its ended threads included."""
    return time.clock_gettime((~pid) << 3 | 2)


def decay_thread(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm") as comm:
            if comm.read().strip() == "decay":
                return int(tid)
    raise SystemExit("no decay thread")


def thread_cpu(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat") as stat:
        return int(stat.read().split()[0]) / 1e9


def measure(c, plugin, cycles, perf=None):
    """{"cycle": [s], "sprio": [s], "rows": lines of sprio}."""
    c.priority_type = f"priority/{plugin}"
    c.conf["SchedulerParameters"] = CONF["SchedulerParameters"]
    c.write_conf()
    c.start_slurmctld()
    pid = c.pids["slurmctld"]
    state = f"{c.root}/state/priority_last_decay_ran"
    tid = decay_thread(pid)

    def next_cycle():
        before = os.stat(state).st_mtime_ns if os.path.exists(state) else 0
        c.wait_for(lambda: os.path.exists(state) and os.stat(state).st_mtime_ns != before, 60,
                   what="a cycle", every=0.005, daemon="slurmctld")
        time.sleep(0.3)  # until it sleeps again
    next_cycle()
    next_cycle()
    profile = perf and subprocess.Popen(["perf", "record", "-q", "-g", "-t", str(tid), "-o",
                                         f"{perf}.{plugin}"])
    times, sprio, rows = [], [], 0
    for _ in range(cycles):
        before = thread_cpu(pid, tid)
        next_cycle()
        times.append(thread_cpu(pid, tid) - before)
    if profile:
        profile.terminate()
        profile.wait()
    for _ in range(max(5, cycles // 3)):
        next_cycle()
        before = cpu_of(pid) - thread_cpu(pid, tid)
        rows = c.run("sprio", "-h", "-o", "%i %Y").stdout.count("\n")
        time.sleep(0.2)  # the list is freed after it was sent
        sprio.append(cpu_of(pid) - thread_cpu(pid, tid) - before)
    c.stop_slurmctld()
    return {"cycle": times, "sprio": sprio, "rows": rows}


def least_and_median(times):
    return f"{1000 * min(times):7.1f} {1000 * statistics.median(times):7.1f}"


def report(rounds):
    """A line for each round, and the ratios over all of them."""
    print(f"{'ms: least, median':20}{'multifactor':>16}{'ccr':>16}{'ratios':>14}")
    for what in ("cycle", "sprio"):
        for stock, ours in rounds:
            a, b = stock[what], ours[what]
            print(f"{what:20}{least_and_median(a):>16}{least_and_median(b):>16}"
                  f"{min(b) / min(a):8.2f} {statistics.median(b) / statistics.median(a):5.2f}")
        stock, ours = ([t for r in rounds for t in r[i][what]] for i in (0, 1))
        print(f"{what + ', all':20}{least_and_median(stock):>16}{least_and_median(ours):>16}"
              f"{min(ours) / min(stock):8.2f} "
              f"{statistics.median(ours) / statistics.median(stock):5.2f}")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    args.add_argument("--jobs", type=int, default=15000)
    args.add_argument("--cycles", type=int, default=15)
    args.add_argument("--rounds", type=int, default=3)
    args.add_argument("--preset", default="multifactor")
    args.add_argument("--perf", help="also record the thread with perf, into FILE.PLUGIN")
    args = args.parse_args()
    c = Cluster(nodes=[Nodes(count=1, cpus=32, mem=64000, gpus="a100:4")],
                partitions={"p": "Nodes=ALL Default=YES State=UP PriorityJobFactor=10",
                            "q": "Nodes=ALL State=UP PriorityJobFactor=30"},
                conf=dict(CONF), dbd=True, auth="none", accounts=ACCOUNTS, plugins=("priority",),
                policy={**POLICY, "preset": args.preset}, ctld_env=fast_cycle(1500))
    try:
        c.start()
        make_queue(c, args.jobs)
        c.stop_slurmctld()
        rounds = [[measure(c, p, args.cycles, args.perf) for p in ("multifactor", "ccr")]
                  for _ in range(args.rounds)]
    finally:
        c.stop()
    stock, ours = rounds[-1]
    print(f"{args.jobs} pending jobs, {stock['rows']} rows of sprio; preset {args.preset}; "
          f"{args.rounds} rounds of {args.cycles} cycles")
    report(rounds)
    assert stock["rows"] == ours["rows"], f"sprio shows {ours['rows']} rows under ccr"


if __name__ == "__main__":
    main()
