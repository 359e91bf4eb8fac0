"""./demo: the example of the CCR page on a real cluster of 64 nodes.

One day in the queue is real accounting state: the cluster starts with its clock a day back
(libfaketime), the job is submitted and waits there, and all daemons are restarted on the present
clock. Slurm saves a job's eligible time with its state, as over any restart.
"""
import sys

import frame
from frame import Nodes, say, show


def cluster_arguments(args):
    ours = args.priority == "priority/ccr"
    return {"nodes": [Nodes(count=args.nodes, cpus=16, gpus="a100:4")], "clock": "-1d",
            "priority_type": args.priority, "plugins": ("priority",) if ours else ()}


def story(c, args):
    say(f"""Slurm {'.'.join(map(str, c.version))} with {args.priority} on {args.nodes} nodes, one
        slurmd each, up after {c.timings['nodes idle']:.1f} s. Its clock stands a day back.""")
    hog = c.sbatch("sleep 100000", user="games", job_name="running", cpus_per_task=1)
    c.wait_state(hog)
    example = c.sbatch("sleep 600", user="man", job_name="example", nodes=args.nodes,
                       exclusive=True, time="1:00:00")
    c.wait_for(lambda: c.job(example)["AccrueTime"] != "Unknown", what="the job to be eligible")
    c.set_clock(None)
    c.wait_nodes_registered()
    say("""A day later: the daemons were restarted on the present clock.""")
    show(c, "squeue -o '%.6i %.10j %.8u %.6D %.8T %.10r %Q'")
    show(c, f"scontrol -o show job {example}")
    show(c, "sprio -l")


if __name__ == "__main__":
    sys.exit(frame.main(__doc__.splitlines()[0], cluster_arguments, story))
