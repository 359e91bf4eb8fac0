"""The gate on a real slurmctld: the cases of the notes, the Aqua page's scenario, what users see."""
import os
import re
import shutil
import time

import pytest

from gate import SCHED, booked_nodes, gate_cluster, sdiag, start_time, wait_booked, wait_reason

pytestmark = pytest.mark.every_slurm


POLICY = {"version": 1, "preset": "ccr", "groups": {"all": {"target": 100}},
          "default_group": "all", "backfill": {"depth": 5}}


@pytest.fixture(scope="module")
def gated():
    with gate_cluster(policy=POLICY) as c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    gated.clear()


def case_a(c):
    """R1 holds 2 GPUs of n1 for 3 min, R2 all of n2 for 30 min; A wants 3 GPUs."""
    r1 = c.sbatch("sleep 600", gres="gpu:2", time=3, nodelist="n1")
    r2 = c.sbatch("sleep 600", gres="gpu:4", time=30, nodelist="n2")
    c.wait_state(r1)
    c.wait_state(r2)
    return r1, c.sbatch("sleep 5", gres="gpu:3", time=60)


def test_case_a_fillers_start_in_one_cycle_and_the_booked_job_on_time(cluster):
    r1, a = case_a(cluster)
    wait_booked(cluster, a)
    before = sdiag(cluster)["Total backfilled jobs (since last slurm start)"]
    f1 = cluster.sbatch("sleep 600", gres="gpu:1", time=60)
    f2 = cluster.sbatch("sleep 600", gres="gpu:1", time=2)
    c1 = cluster.sbatch("sleep 600", time=60)
    for job in (f1, f2, c1):
        cluster.wait_state(job, timeout=15)
    assert (cluster.job(a)["JobState"], booked_nodes(cluster, a)) == ("PENDING", "n1")
    assert 120 < start_time(cluster, a) <= 181
    assert sdiag(cluster)["Total backfilled jobs (since last slurm start)"] == before + 3
    # A's resources come free: f2 is short, so it is in nobody's way for long.
    cluster.run("scancel", r1, f2)
    cluster.wait_state(a, "COMPLETED", timeout=30)


def test_a_filler_that_would_delay_waits_and_says_for_whom(cluster):
    _, a = case_a(cluster)
    wait_booked(cluster, a)
    cluster.wait_state(cluster.sbatch("sleep 600", gres="gpu:1", time=60))
    late = cluster.sbatch("sleep 600", gres="gpu:1", time=60)
    booked = [cluster.sbatch("sleep 1", gres="gpu:4", time=60) for _ in range(5)]
    wait_booked(cluster, late)
    for job in booked[:3]:
        wait_booked(cluster, job)
    # Five are booked now: a sixth that would be in A's way is told so.
    beyond = cluster.sbatch("sleep 600", gres="gpu:1", time=60)
    job = wait_reason(cluster, beyond, "would_delay")
    assert re.match(rf"Priority,_would_delay_job_{a}_booked_for_\S+:_GPUs_on_n1", job["Reason"])
    assert job["StartTime"] == "Unknown"
    assert "ReqNodeNotAvail" not in cluster.run("squeue").stdout


def test_case_b_a_booking_takes_no_more_than_it_needs(cluster):
    r = cluster.sbatch("sleep 600", gres="gpu:1", cpus_per_task=12, time=5, nodelist="n1")
    full = cluster.sbatch("sleep 600", gres="gpu:4", cpus_per_task=16, time=600, nodelist="n2")
    cluster.wait_state(r)
    cluster.wait_state(full)
    a = cluster.sbatch("sleep 600", gres="gpu:1", cpus_per_task=8, time=60)
    assert wait_booked(cluster, a)["SchedNodeList"] == "n1"
    fillers = [cluster.sbatch("sleep 600", gres="gpu:1", time=60) for _ in range(3)]
    for job in fillers:
        cluster.wait_state(job, timeout=15)
    assert booked_nodes(cluster, a) == "n1"
    assert start_time(cluster, a) <= 301


def test_the_aqua_page(cluster):
    """Five bookings; the first of four from six hours on, on the only idle GPU."""
    busy = [cluster.sbatch("sleep 9999", gres="gpu:4", time=36 * 60, nodelist="n1"),
            cluster.sbatch("sleep 9999", gres="gpu:3", time=6 * 60, nodelist="n2")]
    for job in busy:
        cluster.wait_state(job)
    top = [cluster.sbatch("sleep 9", gres="gpu:4", time=24 * 60) for _ in range(4)]
    rank5 = cluster.sbatch("sleep 9", gres="gpu:1", time=24 * 60)
    long6 = cluster.sbatch("sleep 9", gres="gpu:1", time=24 * 60)
    assert wait_reason(cluster, long6, "would_delay")["StartTime"] == "Unknown"
    rank6 = cluster.sbatch("sleep 9999", gres="gpu:1", time=4 * 60)
    cluster.wait_state(rank6, timeout=15)
    for job in (*top, rank5):
        assert wait_booked(cluster, job)["JobState"] == "PENDING"
    assert 5.9 * 3600 < start_time(cluster, top[0]) <= 6 * 3600 + 1
    assert booked_nodes(cluster, top[0]) == "n2"
    assert cluster.job(long6)["StartTime"] == "Unknown"


def test_squeue_start_shows_the_booking(cluster):
    _, a = case_a(cluster)
    wait_booked(cluster, a)
    line = [text.split() for text in cluster.run("squeue", "--start").stdout.splitlines()
            if text.split()[0] == str(a)][0]
    assert line[5].startswith("20") and line[7] == "n1"


def test_cuda_visible_devices_are_those_of_the_stock_plugin():
    """One job after the other, so that each finds the same devices taken in both clusters."""
    seen = {}
    for gate in (False, True):
        with gate_cluster(nodes=2, gate=gate, gpu_files="tty") as c:
            for node in ("n1", "n2"):
                c.wait_state(c.sbatch("sleep 9999", gres=f"gpu:{node[1]}", nodelist=node, time=60))
            seen[gate] = []
            for gpus, node in [(1, "n1"), (2, "n2"), (1, "n2"), (3, "n1"), (1, None)]:
                job = c.sbatch("echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS $SLURMD_NODENAME; "
                               "grep Cpus_allowed_list /proc/self/status; srun sh -c "
                               "'echo $CUDA_VISIBLE_DEVICES'", gres=f"gpu:{gpus}", nodelist=node,
                               time=60)
                c.wait_state(job, "COMPLETED")
                seen[gate].append(open(f"{c.root}/out/{job}.out").read())
    assert seen[True][:4] == seen[False][:4]
    assert [text.split()[0] for text in seen[True][:4]] == ["1", "2,3", "2", "1,2,3"]
    assert seen[True][4].split()[0].isdigit()  # its node is placement's choice


def test_the_plugin_says_what_it_wraps(gated):
    assert gated.log_grep(r"slurm-ccr \S+ for Slurm \S+ in front of /\S+/select_cons_tres.so")
    assert not gated.log_grep("decides alone")


def test_it_says_that_another_plugin_is_in_use():
    """slurmctld may load every select plugin there is."""
    with gate_cluster(nodes=1, cpus=2, gpus=None,
                      conf={"SelectType": "select/linear", "SelectTypeParameters": None}) as c:
        c.wait_state(c.sbatch("sleep 1"), "COMPLETED")
        assert not c.log_grep("in front of")
        if c.version < (22, 6):
            assert c.log_grep("slurm-ccr .* is not in use: SelectType=select/linear")


def test_a_second_copy_in_plugindir_is_passed_over():
    c = gate_cluster(nodes=1)
    copy = os.path.join(c.root, "copy")
    shutil.copytree(os.path.join(c.build, "src", "select"), copy,
                    ignore=lambda _, names: [n for n in names if not n.endswith(".so")])
    c.conf["PluginDir"] = ":".join([os.path.join(c.build, "src", "select"), copy,
                                    c.stock_plugins])
    with c:
        c.wait_state(c.sbatch("sleep 1"), "COMPLETED")
        assert c.log_grep(f"{copy}/select_cons_tres.so is ours as well")
        assert not c.log_grep(f"in front of {copy}")


def test_without_bf_min_prio_reserve_it_says_what_is_missing():
    with gate_cluster(nodes=1, conf={"SchedulerParameters": SCHED}) as c:
        assert c.log_grep("bf_min_prio_reserve=4294967295 is not in SchedulerParameters")


def test_one_log_line_a_decision(cluster):
    _, a = case_a(cluster)
    wait_booked(cluster, a)
    assert cluster.log_grep(rf"BACKFILL: slurm-ccr: JobId={a} is booked in \d+ s on 1 node")


def test_the_policy_file_switches_it_off_and_on(cluster):
    cluster.write_policy({**POLICY, "backfill": {"enabled": False}})
    cluster.reconfigure()
    try:
        _, a = case_a(cluster)
        cluster.wait_for(lambda: cluster.job(a)["Reason"] == "Resources", what="stock's word")
        time.sleep(4)
        assert (cluster.job(a)["Reason"], cluster.job(a)["StartTime"]) == ("Resources", "Unknown")
        assert cluster.log_grep("warning: the policy switches the gate off and bf_min_prio_reserve")
    finally:
        cluster.write_policy(POLICY)
        cluster.reconfigure()
    wait_booked(cluster, a)


def test_a_partition_that_is_not_there_is_named(cluster):
    cluster.write_policy({**POLICY, "backfill": {"depth": 5, "partitions": {"p": 5, "gpu": 7}}})
    cluster.reconfigure()
    cluster.sbatch("true", time=1)  # the rules are looked at with the next job
    cluster.wait_for(lambda: cluster.log_grep(r"warning: backfill.partitions.gpu: there is no such"),
                     30, what="a warning")
    assert not cluster.log_grep(r"backfill.partitions.p:")
    cluster.write_policy(POLICY)
    cluster.reconfigure()


def test_a_broken_policy_file_leaves_the_rules_in_force(cluster):
    cluster.write_policy('{"version": 1, "backfill": {"depth": -3}}')
    cluster.reconfigure()
    try:
        cluster.wait_for(lambda: cluster.log_grep(r"error: select/cons_tres \(slurm-ccr\)"),
                         what="a complaint")
        _, a = case_a(cluster)
        wait_booked(cluster, a)
    finally:
        cluster.write_policy(POLICY)
        cluster.reconfigure()



@pytest.mark.parametrize("how", ["Priority=4294967290", "Nice=-1000"])
def test_who_is_raised_by_hand_goes_before_whom_was_booked(cluster, how):
    """Otherwise those who were there keep to the promises of those below them."""
    _, a = case_a(cluster)
    wait_booked(cluster, a)
    wide = [cluster.sbatch("sleep 600", gres="gpu:4", time=60) for _ in range(2)]
    fits = cluster.sbatch("sleep 600", gres="gpu:2", time=60)
    for job in (*wide, fits):
        wait_booked(cluster, job)
    assert start_time(cluster, wide[0]) + 1700 < start_time(cluster, wide[1])
    cluster.run("scontrol", "update", f"jobid={fits}", how)
    cluster.wait_state(fits, timeout=15)
    cluster.run("scontrol", "update", f"jobid={wide[1]}", how)
    cluster.wait_for(lambda: start_time(cluster, wide[1]) + 1700 < start_time(cluster, wide[0]), 15,
                     what=lambda: f"them the other way round: {[cluster.job(j) for j in wide]}")
