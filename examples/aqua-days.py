#!/usr/bin/env python3
"""Two invented days of GPU jobs, in the CSV that `sccr simulate` reads.

    examples/aqua-days.py >days.csv
    sccr simulate --cluster examples/aqua-cluster.conf --policy examples/aqua-groups.json \\
        --cycle 60 --html days.html days.csv

Users submit in office hours more than at night, ask for more time than they need, and like round numbers.
The same --seed gives the same days on every machine.
"""
import argparse
import random

GROUPS = {  # users, how often they submit, and what they like to run
    "genomics": (["ana", "bao", "cleo"], 1.0, "small"),
    "vision": (["dev", "edda", "femi", "gus"], 1.5, "mixed"),
    "climate": (["hana", "ivo"], 0.5, "large"),
    "robotics": (["jun", "kira", "lars"], 1.0, "mixed"),
    "chemistry": (["mei", "nils"], 0.6, "long"),
    "teaching": (["omar", "pia", "quinn", "rosa", "sven"], 1.2, "short"),
}
KINDS = {  # GPUs with weights, hours of the limit with weights
    "small": ([(1, 8), (2, 2)], [(2, 3), (6, 4), (12, 3), (24, 1)]),
    "mixed": ([(1, 5), (2, 3), (4, 3), (8, 1)], [(1, 2), (4, 3), (12, 3), (24, 2)]),
    "large": ([(4, 4), (8, 4), (16, 2)], [(6, 2), (12, 4), (24, 3)]),
    "long": ([(1, 3), (2, 3), (4, 2)], [(24, 3), (36, 2), (48, 2)]),
    "short": ([(1, 9), (2, 1)], [(0.5, 3), (1, 4), (2, 3)]),
}
BUSY = [2, 1, 1, 1, 1, 2, 3, 6, 10, 13, 14, 13, 11, 13, 14, 13, 11, 9, 7, 6, 5, 4, 4, 3]  # by hour of the day


def draw(rng, weighted):
    return rng.choices([v for v, _ in weighted], [w for _, w in weighted])[0]


def job(rng, group, t):
    users, _, kind = GROUPS[group]
    gpus, limit = draw(rng, KINDS[kind][0]), draw(rng, KINDS[kind][1]) * 3600
    # a third is killed at or ends near its limit, the rest needs a half or less of it
    share = rng.uniform(0.85, 1.05) if rng.random() < 0.3 else rng.betavariate(1.3, 3.0)
    runtime = max(60, min(limit, int(limit * share)))
    nodes = max(1, gpus // 8)
    cpus = gpus * rng.choice([4, 8, 8, 12])
    return {"submit": t, "runtime": runtime, "limit": int(limit), "nodes": nodes, "cpus": cpus, "gpus": gpus,
            "gpu_type": "h100", "mem": f"{gpus * rng.choice([32, 64, 64, 96])}G",
            "user": rng.choice(users), "account": group, "partition": "gpu_batch_exec"}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--jobs", type=int, default=300, help="how many (default 300)")
    p.add_argument("--days", type=float, default=2, help="over how many days (default 2)")
    p.add_argument("--seed", type=int, default=5)
    a = p.parse_args()
    rng = random.Random(a.seed)
    hours = int(a.days * 24)
    times = sorted(int(3600 * (rng.choices(range(hours), [BUSY[h % 24] for h in range(hours)])[0] + rng.random()))
                   for _ in range(a.jobs))
    names = list(GROUPS)
    weights = [len(GROUPS[g][0]) * GROUPS[g][1] for g in names]
    columns = ["id", "submit", "runtime", "limit", "nodes", "cpus", "gpus", "gpu_type", "mem", "user", "account",
               "partition"]
    print(",".join(columns))
    for i, t in enumerate(times):
        j = job(rng, rng.choices(names, weights)[0], t)
        j["id"] = 1001 + i
        print(",".join(str(j[c]) for c in columns))


if __name__ == "__main__":
    main()
