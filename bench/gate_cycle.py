#!/usr/bin/python3
"""What testing a long queue costs: 256 nodes of 8 GPUs, all busy, and many blocked jobs.

usage: bench/gate_cycle.py [--jobs 10000] [--kinds 100] [--nodes 256]

One slurmctld after the other on the same machine: (1) sched/backfill with the stock plugin, (2) the
main cycle going on behind blocked jobs (bf_min_prio_reserve) with the stock plugin, (3) the same
with the gate, bookings included. The nodes are powered down "cloud" nodes, which slurmctld
allocates without a slurmd. Cycles and depth are sdiag's, processor time that of the thread."""
import argparse
import os
import re
import subprocess
import sys
import time

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(REPO, "tests", "cluster"))
from ccrcluster import Cluster, Nodes  # noqa: E402

COMMON = ("default_queue_depth=1000000,sched_interval=4,batch_sched_delay=1,defer,defer_batch,"
          "bf_max_job_test=1000000,bf_continue,bf_window=4320,bf_resolution=60,bf_interval={bf}")
VARIANTS = [
    ("sched/backfill, stock select", False, COMMON.format(bf=3) + ",bf_max_time=30"),
    ("main cycle going on, stock select", False,
     COMMON.format(bf=100000) + ",bf_min_prio_reserve=4294967295"),
    ("main cycle going on, the gate", True,
     COMMON.format(bf=100000) + ",bf_min_prio_reserve=4294967295"),
]


def sdiag(c):
    text = c.run("sdiag").stdout
    main, backfill = text.split("Backfilling stats", 1) if "Backfilling stats" in text else (text, "")
    def find(part, title):
        hit = re.search(rf"{title}:\s+(\d+)", part)
        return int(hit.group(1)) if hit else 0
    return {"cycles": find(main, "Total cycles"), "mean": find(main, "Mean cycle"),
            "depth": find(main, "Mean depth cycle"), "bf_cycles": find(backfill, "Total cycles"),
            "bf_mean": find(backfill, "Mean cycle"),
            "bf_depth_mean": find(backfill, r"Depth Mean \(try depth\)")}


def thread_cpu(c, name):
    """Seconds of processor time of slurmctld's threads of that name: other work on the machine
    does not count."""
    total = 0
    base = f"/proc/{c.pids['slurmctld']}/task"
    for task in os.listdir(base):
        with open(f"{base}/{task}/comm") as comm, open(f"{base}/{task}/schedstat") as stat:
            if comm.read().strip() == name:
                total += int(stat.read().split()[0]) / 1e9
    return total


def measure(name, gate, sched, args):
    c = Cluster(nodes=[Nodes(count=args.nodes, cpus=32, gpus="a100:8", real=False)], auth="none",
                priority_type="priority/basic", plugins=("select",) if gate else (),
                conf={"SchedulerParameters": sched, "MaxJobCount": 200000, "DefMemPerCPU": 10},
                policy={"version": 1, "preset": "ccr", "default_group": "all",
                        "groups": {"all": {"target": 100}},
                        "backfill": {"depth": args.depth, "window": "30d"}})
    submit = os.path.join(c.build, "bench", "bench_submit")
    subprocess.run(["ninja", "-C", c.build, "bench/bench_submit"], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        c.start()
        c.run(submit, str(args.nodes), "0")
        c.wait_for(lambda: len(c.run("squeue", "-h", "-t", "R,CF").stdout.splitlines())
                   == args.nodes, timeout=300, what="a full machine")
        c.run("scontrol", "update", "PartitionName=p", "State=DOWN")
        print(c.run(submit, str(args.jobs), str(args.kinds), timeout=900).stdout.strip(), end="; ",
              flush=True)
        c.run("scontrol", "update", "PartitionName=p", "State=UP")
        if os.geteuid() == 0:  # other work on the machine is not to show
            for task in os.listdir(f"/proc/{c.pids['slurmctld']}/task"):
                os.setpriority(os.PRIO_PROCESS, int(task), -19)
        backfill = not gate and "bf_min_prio" not in sched
        thread = "bckfl" if backfill else "sched_agent"
        time.sleep(args.settle)
        cycles = "bf_cycles" if backfill else "cycles"
        # Between two cycles: of one that is under way only a part would be counted.
        before = sdiag(c)[cycles]
        c.wait_for(lambda: sdiag(c)[cycles] > before, timeout=args.wait, every=0.2,
                   what="the end of a cycle")
        c.run("sdiag", "-r")
        cpu, start = thread_cpu(c, thread), time.time()
        c.wait_for(lambda: sdiag(c)[cycles] >= args.cycles, timeout=args.wait, every=0.5,
                   what=f"{args.cycles} cycles")
        d, cpu = sdiag(c), thread_cpu(c, thread) - cpu
        n = max(d[cycles], 1)
        depth = d["bf_depth_mean" if backfill else "depth"]
        wall = d["bf_mean" if backfill else "mean"] / 1e6
        print(f"{name:<36} {depth:>6} jobs a cycle in {wall:7.3f} s by sdiag ({cpu / n:7.3f} s of "
              f"processor time, {1e6 * cpu / n / max(depth, 1):8.1f} us a job), {n} cycles in "
              f"{time.time() - start:.0f} s", flush=True)
        return cpu / n / max(depth, 1)
    finally:
        c.stop()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--jobs", type=int, default=10000)
    p.add_argument("--kinds", type=int, default=96, help="different requests among them")
    p.add_argument("--nodes", type=int, default=256)
    p.add_argument("--depth", type=int, default=10, help="bookings")
    p.add_argument("--cycles", type=int, default=2)
    p.add_argument("--wait", type=int, default=300)
    p.add_argument("--settle", type=int, default=5, help="seconds before it is measured")
    p.add_argument("--only", type=int, help="one variant, 0 to 2")
    args = p.parse_args()
    print(f"{args.nodes} nodes x 8 GPUs busy, {args.jobs} blocked jobs of {args.kinds} kinds, depth "
          f"{args.depth}")
    got = [measure(*v, args) for i, v in enumerate(VARIANTS) if args.only in (None, i)]
    if len(got) == 3 and all(got):
        print(f"per tested job, gate / stock backfill: {got[2] / got[0]:.5f}; "
              f"gate / main cycle with the stock plugin: {got[2] / got[1]:.4f}")


if __name__ == "__main__":
    main()
