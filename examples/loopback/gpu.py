"""./demo --gpu: cases A and B, stock backfill and the gate side by side.

The same jobs go to the same two nodes of 4 GPUs twice, first with Slurm's own select/cons_tres and
sched/backfill, then with ours in front of it. A line a job: when it started."""
import sys
import time

import frame
from frame import Nodes, say

CASES = {
    "A": ("n1: R1 holds 2 of 4 GPUs for 3 min; n2: R2 holds all for 30 min. A wants 3 GPUs, so it is "
          "booked on n1 when R1 ends. F1 needs 1 GPU for an hour, F2 one for 2 min, C1 a core.",
          [("R1", {"gres": "gpu:2", "time": 3, "nodelist": "n1"}),
           ("R2", {"gres": "gpu:4", "time": 30, "nodelist": "n2"})],
          [("A", {"gres": "gpu:3", "time": 60}), ("F1", {"gres": "gpu:1", "time": 60}),
           ("F2", {"gres": "gpu:1", "time": 2}), ("C1", {"time": 60})]),
    "B": ("n1: R1 holds 1 GPU and 12 of 16 cores for 3 min, n2 is full. A wants 1 GPU and 8 cores, so "
          "it waits for R1 although 3 GPUs are idle. F1 to F3 need 1 GPU and 1 core each.",
          [("R1", {"gres": "gpu:1", "cpus_per_task": 12, "time": 3, "nodelist": "n1"}),
           ("R2", {"gres": "gpu:4", "cpus_per_task": 16, "time": 600, "nodelist": "n2"})],
          [("A", {"gres": "gpu:1", "cpus_per_task": 8, "time": 60}),
           *[(f"F{i}", {"gres": "gpu:1", "time": 60}) for i in (1, 2, 3)]]),
}
SCHED = ("batch_sched_delay=0,sched_interval=2,bf_interval=2,bf_continue,bf_resolution=1,"
         "bf_window=10080,defer_batch")
SECONDS = 12  # several cycles of both schedulers


def cluster_arguments(gate):
    return {"nodes": [Nodes(count=2, cpus=16, gpus="a100:4")], "auth": "none",
            "priority_type": "priority/basic", "plugins": ("select",) if gate else (),
            "conf": {"SchedulerParameters": SCHED + (
                ",bf_min_prio_reserve=4294967295" if gate else "")}}


def state(c, job):
    """In a word or two, when it started or is to start."""
    info = c.job(job)
    if info["JobState"] != "PENDING":
        return "running"
    if info["StartTime"] == "Unknown":
        return "waits"
    at = time.mktime(time.strptime(info["StartTime"], "%Y-%m-%dT%H:%M:%S"))
    return f"waits, in {round((at - time.time()) / 60)} min"


def run_case(c, case):
    _, running, queue = CASES[case]
    held = [c.sbatch("sleep 9999", job_name=name, **options) for name, options in running]
    for job in held:
        c.wait_state(job)
    jobs = {name: c.sbatch("sleep 9999", job_name=name, **options) for name, options in queue}
    time.sleep(SECONDS)
    seen = {name: state(c, job) for name, job in jobs.items()}
    # R1's resources come free (and F2 is over by then): what was promised to A?
    c.run("scancel", held[0], *([jobs["F2"]] if "F2" in jobs else []))
    try:
        c.wait_state(jobs["A"], timeout=15)
        seen["A, after R1"] = "running"
    except frame.ClusterError:
        seen["A, after R1"] = "waits"
    c.clear()
    return seen


def story(stock, gate):
    for case, (text, _, _) in CASES.items():
        say(f"Case {case}. {text}")
        left, right = run_case(stock, case), run_case(gate, case)
        print(f"    {'job':<12} {'stock backfill':<22} slurm-ccr")
        for name in left:
            print(f"    {name:<12} {left[name]:<22} {right[name]}")
        print()
    lines = gate.run("grep", "-m", "4", "slurm-ccr", f"{gate.root}/log/slurmctld.log",
                     check=False).stdout
    say("The gate says at its start what it wraps:")
    print("    " + lines.splitlines()[0] if lines else "")


if __name__ == "__main__":
    sys.exit(frame.pair(__doc__.splitlines()[0], cluster_arguments, story))
