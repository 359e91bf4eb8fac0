#!/usr/bin/env python3
"""An invented SWF of many jobs for a cluster of so many nodes, at a given load, on standard output.

    bench/million-jobs.py >million.swf
    /usr/bin/time -v sccr simulate --cycle 30 -s ccr,easy million.swf
"""
import argparse
import random

p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
p.add_argument("--jobs", type=int, default=1000000)
p.add_argument("--nodes", type=int, default=1000)
p.add_argument("--cpus", type=int, default=32, help="of a node (default 32)")
p.add_argument("--load", type=float, default=0.95, help="share of the machine that is asked for (default 0.95)")
p.add_argument("--seed", type=int, default=1)
a = p.parse_args()
rng = random.Random(a.seed)
SIZES = [1, 1, 2, 4, 4, 8, 8, 16, 32, 64, 128, 256]
HOURS = [1, 2, 4, 8, 12, 24]
mean_run = sum(h * 3600 * 0.45 for h in HOURS) / len(HOURS)
rate = a.load * a.nodes * a.cpus / (sum(SIZES) / len(SIZES) * mean_run)
print(f"; MaxNodes: {a.nodes}\n; MaxProcs: {a.nodes * a.cpus}")
t = 0.0
for i in range(1, a.jobs + 1):
    t += rng.expovariate(rate)
    limit = rng.choice(HOURS) * 3600
    run = max(1, int(limit * rng.betavariate(1.8, 2.2)))
    cpus = rng.choice(SIZES)
    user = rng.randrange(200)
    print(i, int(t), -1, run, cpus, -1, -1, cpus, limit, -1, 1, user, user % 20, -1, 1, 1, -1, -1)
