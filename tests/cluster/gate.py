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


def told(cluster, job, key, timeout=20):
    """A field of a booked job: sched/backfill wipes it at its start, and the gate writes it anew."""
    def value():
        found = cluster.job(job).get(key)
        return None if found in (None, "Unknown", "(null)") else found
    cluster.wait_for(value, timeout, what=lambda: f"{key} of job {job}: {cluster.job(job)}")
    return value() or told(cluster, job, key, timeout)


def start_at(cluster, job):
    """A booked job's StartTime, in seconds since the epoch."""
    return time.mktime(time.strptime(told(cluster, job, "StartTime"), "%Y-%m-%dT%H:%M:%S"))


def start_time(cluster, job):
    """The same in seconds from now."""
    return start_at(cluster, job) - time.time()


def booked_nodes(cluster, job):
    """The nodes of a booked job."""
    return told(cluster, job, "SchedNodeList")


def wait_reason(cluster, job, word, timeout=20):
    cluster.wait_for(lambda: word in cluster.job(job)["Reason"], timeout,
                     what=lambda: f"{word!r} of job {job}: {cluster.job(job)['Reason']}")
    return cluster.job(job)


def wait_booked(cluster, job, timeout=60):
    """The job with its booking."""
    found = {}

    def booked():
        found.update(cluster.job(job))
        return "booked" in found["Reason"] and "SchedNodeList" in found and \
            found["StartTime"] != "Unknown"
    cluster.wait_for(lambda: found.clear() or booked(), timeout,
                     what=lambda: f"a booking of job {job}: {found}")
    return found


def sdiag(cluster):
    """{title: number} of sdiag's lines, the first of each title."""
    found = {}
    for title, value in re.findall(r"^\s*(.+?):\s+(\d+)", cluster.run("sdiag").stdout, re.M):
        found.setdefault(title, int(value))
    return found
