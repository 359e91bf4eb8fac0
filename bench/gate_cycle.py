#!/usr/bin/python3
"""What testing a long queue costs: 256 nodes of 8 GPUs, all busy, and many blocked jobs.

usage: bench/gate_cycle.py [--jobs 10000] [--kinds 100] [--nodes 256]

One slurmctld after the other on the same machine: (1) sched/backfill with the stock plugin, (2) the
main cycle going on behind blocked jobs (bf_min_prio_reserve) with the stock plugin, (3) the same
with the gate, bookings included. The nodes are powered down "cloud" nodes, which slurmctld
allocates without a slurmd. All figures are sdiag's, each of one whole cycle."""
import argparse
import os
import re
import statistics
import sys
import time

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(REPO, "tests", "cluster"))
from ccrcluster import Cluster, Nodes  # noqa: E402

COMMON = ("default_queue_depth=1000000,sched_interval=4,batch_sched_delay=1,defer,defer_batch,"
          "bf_max_job_test=1000000,bf_continue,bf_window=4320,bf_resolution=60,bf_interval={bf}")
VARIANTS = [
    ("sched/backfill, stock select", False, COMMON.format(bf=3) + ",bf_max_time=120"),
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
    return {"cycles": find(main, "Total cycles"), "last": find(main, "Last cycle"),
            "depth": find(main, "Mean depth cycle"), "bf_cycles": find(backfill, "Total cycles"),
            "bf_last": find(backfill, "Last cycle"),
            "bf_depth": find(backfill, r"Last depth cycle \(try sched\)")}


def measure(name, gate, sched, args):
    c = Cluster(nodes=[Nodes(count=args.nodes, cpus=32, gpus="a100:8", real=False)], auth="none",
                priority_type="priority/basic", plugins=("select",) if gate else (),
                conf={"SchedulerParameters": sched, "MaxJobCount": 200000, "DefMemPerCPU": 10},
                policy={"version": 1, "preset": "ccr", "default_group": "all",
                        "groups": {"all": {"target": 100}},
                        "backfill": {"depth": args.depth, "window": "30d"}})
    submit = os.path.join(c.build, "bench", "bench_submit")
    try:
        c.start()
        c.run(submit, str(args.nodes), "0")
        c.wait_for(lambda: len(c.run("squeue", "-h", "-t", "R,CF").stdout.splitlines())
                   == args.nodes, timeout=300, what="a full machine")
        c.run("scontrol", "update", "PartitionName=p", "State=DOWN")
        print(c.run(submit, str(args.jobs), str(args.kinds), timeout=900).stdout.strip(), end="; ",
              flush=True)
        c.run("scontrol", "update", "PartitionName=p", "State=UP")
        backfill = not gate and "bf_min_prio" not in sched
        if os.geteuid() == 0:  # other work on the machine is not to show
            for task in os.listdir(f"/proc/{c.pids['slurmctld']}/task"):
                os.setpriority(os.PRIO_PROCESS, int(task), -19)
        seen = []
        start = time.time()
        c.run("sdiag", "-r")
        last = -1
        while len(seen) < args.cycles and time.time() - start < args.wait:
            time.sleep(1)
            d = sdiag(c)
            n = d["bf_cycles" if backfill else "cycles"]
            if n == last:
                continue
            if last >= 0 and backfill:
                seen.append((d["bf_last"] / 1e6, d["bf_depth"]))
            elif last >= 0 and d["last"] > 1000 and n == last + 1:
                # sdiag keeps the mean depth only: a cycle by itself after a reset.
                seen.append((d["last"] / 1e6, d["depth"]))
            last = n
            if not backfill:
                c.run("sdiag", "-r")
                last = 0
        cpu = statistics.median(t for t, _ in seen) if seen else 0
        depth = statistics.median(n for _, n in seen) if seen else 0
        print(f"{name:<36} {depth:>8.0f} jobs in {cpu:8.3f} s = {1e6 * cpu / max(depth, 1):9.1f} us "
              f"a job   ({len(seen)} cycles)", flush=True)
        return cpu / max(depth, 1), cpu, depth
    finally:
        c.stop()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--jobs", type=int, default=10000)
    p.add_argument("--kinds", type=int, default=96, help="different requests among them")
    p.add_argument("--nodes", type=int, default=256)
    p.add_argument("--depth", type=int, default=10, help="bookings")
    p.add_argument("--cycles", type=int, default=3)
    p.add_argument("--wait", type=int, default=150)
    p.add_argument("--only", type=int, help="one variant, 0 to 2")
    args = p.parse_args()
    print(f"{args.nodes} nodes x 8 GPUs busy, {args.jobs} blocked jobs of {args.kinds} kinds, depth "
          f"{args.depth}")
    got = [measure(*v, args) for i, v in enumerate(VARIANTS) if args.only in (None, i)]
    if len(got) == 3 and all(g[0] for g in got):
        print(f"per tested job, gate / stock backfill: {got[2][0] / got[0][0]:.5f}; "
              f"gate / main cycle with the stock plugin: {got[2][0] / got[1][0]:.4f}")


if __name__ == "__main__":
    main()
