"""./demo: the example of the CCR page on a real cluster of 64 nodes.

Nothing about the example is made up for the plugin. The 5 % that its group has used is a ledger as
ccr_usage.json(5) describes it, put where the plugin looks for its own. The day in the queue is a day
in the queue: the cluster starts with its clock a day back (libfaketime), the job is submitted and
waits there, and all daemons are restarted on the present clock. Slurm keeps a job's eligible time
over a restart.
"""
import json
import os
import sys

import frame
from frame import Nodes, say, show

EXAMPLES = os.path.join(frame.REPO, "examples")
# Billed seconds: 5 % of all is group b's, 60 % chemistry's, ... So many that the day for which the
# demo itself occupies the nodes does not show.
USAGE = {"b": 5e13, "chemistry": 60e13, "biology": 25e13, "visitors": 10e13}


def snippet(name):
    """{option: value} of one of the slurm.conf snippets."""
    with open(os.path.join(EXAMPLES, "slurm", name)) as text:
        pairs = [line.strip().split("=", 1) for line in text if "=" in line and line[0] != "#"]
    return {key: value for key, value in pairs if key != "PriorityType"}


def cluster_arguments(args):
    with open(os.path.join(EXAMPLES, "ccr.json")) as text:
        policy = text.read()
    return {"nodes": [Nodes(count=args.nodes, cpus=16, gpus="a100:4")], "clock": "-1d",
            "priority_type": "priority/ccr", "plugins": ("priority",),
            "policy": policy, "conf": snippet("ccr.conf")}


def prepare(c, args):
    usage = [{"account": a, "user": "root", "billed_s": s} for a, s in USAGE.items()]
    with open(f"{c.root}/state/ccr_usage.json", "w") as out:
        json.dump({"version": 1, "usage": usage}, out, indent=1)


def submit(c, args):
    """All nodes are taken for three days, so that everybody waits."""
    c.wait_state(c.sbatch("sleep 300000", user="games", account="visitors", job_name="running",
                          nodes=args.nodes, exclusive=True, time="3-0"))
    example = c.sbatch("sleep 600", user="man", account="b", job_name="example", nodes=args.nodes,
                       exclusive=True, time="1:00:00")
    c.wait_for(lambda: c.job(example)["AccrueTime"] != "Unknown", what="the job to be eligible")
    return example


def submit_queue(c, args):
    """Today's queue: groups above and below their targets, small and large, with and without GPUs."""
    for user, account, name, nodes, more in (
            ("lp", "chemistry", "dft", 16, {}), ("mail", "chemistry", "md", 4, {"gres": "gpu:2"}),
            ("news", "genomics", "align", 1, {}), ("lp", "b", "small", 1, {"gres": "gpu:1"}),
            ("mail", "somebody", "guest", 2, {"nice": 50})):
        c.sbatch("sleep 60", user=user, account=account, job_name=name, nodes=min(nodes, args.nodes),
                 exclusive="gres" not in more, time="30:00", **more)


def story(c, args):
    say(f"""Slurm {c.version[0]}.{c.version[1]:02}.{c.version[2]} with priority/ccr: {args.nodes} nodes, one real
        slurmd each, up after {c.timings['nodes idle']:.1f} s. Their clock stands a day back. A user
        of group b (target 25 %, used 5 %, financial factor 4.0) asks for all {args.nodes} nodes and
        has to wait.""")
    example = submit(c, args)
    c.set_clock(None)
    c.wait_nodes_registered()
    submit_queue(c, args)
    c.reconfigure()
    c.wait_for(lambda: any(row["job"] == str(example) and row["age"] >= 1440
                           for row in c.sprio()), what="a day of age")
    say("""A day later: the daemons were restarted on the present clock, and others have submitted.""")
    show(c, "sprio -w", """The weights, from slurm.conf: examples/slurm/ccr.conf.""")
    show(c, "sprio -l", f"""Job {example} is the CCR page's example: {args.nodes} nodes x 16 =
         {args.nodes * 16}, 24 h x 60 min x 1 = 1440, (25 - 5) % x 500 = 10000, 4.0 x 800 = 3200,
         together {args.nodes * 16 + 14640}. Chemistry has used 60 % and has a target of 30 %: minus
         15000 points. Slurm has no priority below 1, so that SITE lifts such a job to it; a policy's
         "base" lifts all jobs and keeps the order of those below 0 as well.""")
    show(c, "sprio -n", f"""The factors before the weights: {args.nodes} nodes, 1440 minutes, 20
         percent points below the target, factor 4.0.""")
    show(c, "squeue -o '%.6i %.8j %.10a %.6D %.9T %.10r %Q'",
         """The same numbers, in the order in which Slurm tries to start the jobs.""")
    row = c.job(example)
    say(f"scontrol show job {example}: Priority={row['Priority']} SubmitTime={row['SubmitTime']} "
        f"AccrueTime={row['AccrueTime']}")
    sccr = os.path.join(c.build, "src", "sccr", "sccr")
    show(c, f"{sccr} check {c.policy_path} --slurm-conf {c.root}/etc/slurm.conf",
         """The policy, as it is understood.""")


if __name__ == "__main__":
    sys.exit(frame.main(__doc__.splitlines()[0], cluster_arguments, story, prepare=prepare))
