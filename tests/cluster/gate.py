"""What the gate's tests and examples share: clusters with and without it, and a few looks at them.

Stock and gate differ in the plugin and in bf_min_prio_reserve alone, which lets slurmctld's main
cycle go on behind a blocked job."""
import re
import time

from ccrcluster import Cluster, Nodes

SCHED = ("batch_sched_delay=0,sched_interval=2,bf_interval=2,bf_continue,bf_resolution=1,"
         "bf_window=10080,defer_batch")
KEEP_GOING = ",bf_min_prio_reserve=4294967295"


def gate_cluster(nodes=2, cpus=16, gpus="a100:4", gate=True, conf=None, sched="", **kwargs):
    """A Cluster (not started). nodes: a number of equal ones or a list of Nodes."""
    if isinstance(nodes, int):
        nodes = [Nodes(count=nodes, cpus=cpus, gpus=gpus)]
    kwargs.setdefault("priority_type", "priority/basic")
    kwargs.setdefault("auth", "none")
    plugins = kwargs.pop("plugins", ("select",) if gate else ())
    return Cluster(nodes=nodes, plugins=plugins,
                   conf={"SchedulerParameters": SCHED + sched + (KEEP_GOING if gate else ""),
                         "DebugFlags": "Backfill",
                         "SlurmctldDebug": "verbose", **(conf or {})}, **kwargs)


def start_time(cluster, job):
    """Seconds from now until the job's StartTime; None where it has none."""
    text = cluster.job(job)["StartTime"]
    if text == "Unknown":
        return None
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) - time.time()


def wait_reason(cluster, job, word, timeout=20):
    cluster.wait_for(lambda: word in cluster.job(job)["Reason"], timeout,
                     what=lambda: f"{word!r} of job {job}: {cluster.job(job)['Reason']}")
    return cluster.job(job)


def wait_booked(cluster, job, timeout=20):
    """The job once it shows its booking; sched/backfill takes the nodes away in passing, and they
    come back with the next report."""
    found = []

    def booked():
        found[:] = [cluster.job(job)]
        return "booked" in found[0]["Reason"] and "SchedNodeList" in found[0]
    cluster.wait_for(booked, timeout, what=lambda: f"a booking of job {job}: {found[0]['Reason']}")
    return found[0]


def sdiag(cluster):
    """{title: number} of sdiag's lines, the first of each title."""
    found = {}
    for title, value in re.findall(r"^\s*(.+?):\s+(\d+)", cluster.run("sdiag").stdout, re.M):
        found.setdefault(title, int(value))
    return found
