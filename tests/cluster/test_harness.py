"""The harness itself, on stock Slurm: if these fail, no other cluster test means anything."""
import os
import signal
import subprocess
import sys
import time

import pytest

from ccrcluster import Cluster, ClusterError, Nodes

HERE = os.path.dirname(os.path.abspath(__file__))


def processes_naming(text):
    """Process ids whose command line holds text."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as cmdline:
                    if text.encode() in cmdline.read():
                        found.append(int(entry))
            except OSError:
                pass
    return found


def test_a_job_runs_as_its_user(stock):
    job = stock.sbatch("id -un; sleep 30", user="games", gres="gpu:a100:1", time=3)
    shown = stock.wait_state(job)
    assert shown["NodeList"] in ("n1", "n2", "n3", "n4")
    assert shown["UserId"].startswith("games(")
    out = f"{stock.root}/out/{job}.out"
    stock.wait_for(lambda: os.path.exists(out) and open(out).read() == "games\n")
    assert "gpu:a100" in stock.node(shown["NodeList"])["GresUsed"]


def test_squeue_and_sprio_agree_on_a_blocked_job(stock):
    stock.wait_state(stock.sbatch("sleep 60", user="man"))
    job = stock.sbatch("sleep 60", user="games", nodes=4, exclusive=True)
    stock.wait_state(job, "PENDING")
    rows = stock.sprio("-j", job)
    assert [(r["job"], r["partition"], r["user"]) for r in rows] == [(str(job), "p", "games")]
    row = stock.wait_for(lambda: next((r for r in stock.squeue() if r["job"] == str(job)
                                       and r["reason"] == "Resources"), None))
    assert int(row["priority"]) == rows[0]["priority"] == int(stock.job(job)["Priority"])


def test_a_command_that_fails_says_why(stock):
    with pytest.raises(ClusterError, match="(?i)gres"):
        stock.sbatch("true", gres="gpu:h100:1")


@pytest.mark.parametrize("auth", ["munge", "none"])
def test_kill9_and_restart_keep_the_jobs(make_cluster, auth):
    c = make_cluster(nodes=2, auth=auth)
    runs = c.sbatch("sleep 100", user="games", exclusive=True)
    c.wait_state(runs)
    waits = c.sbatch("sleep 100", user="man", nodes=2, exclusive=True)
    c.wait_saved(waits)
    before = [c.job(j)["SubmitTime"] for j in (runs, waits)]
    assert c.kill9_slurmctld() == -signal.SIGKILL
    c.start_slurmctld()
    assert c.states(runs, waits) == ["RUNNING", "PENDING"]
    assert [c.job(j)["SubmitTime"] for j in (runs, waits)] == before
    c.wait_for(lambda: c.node("n1")["State"].startswith("ALLOCATED"), 60)
    assert c.stop_slurmctld() == 0


def test_with_a_database_sprio_has_columns_and_sacct_the_job(stock_dbd):
    c = stock_dbd
    c.wait_state(c.sbatch("sleep 60", user="games"))
    waits = c.sbatch("sleep 60", user="lp", nodes=4, exclusive=True)
    row = c.wait_for(lambda: next(iter(c.sprio("-j", waits)), None))
    # multifactor: the mean of the job's part of the nodes and of the CPUs that it asks for
    assert row["f_jobsize"] == pytest.approx((4 / 4 + 4 / 64) / 2)
    assert row["jobsize"] == 531
    assert row["fairshare"] == pytest.approx(10000 * row["f_fairshare"], abs=1)
    assert c.job(waits)["Account"] == "ml"
    columns = ("age", "assoc", "fairshare", "jobsize", "part", "qos", "site")
    assert row["priority"] == pytest.approx(sum(row[k] for k in columns) - row["nice"], abs=1)
    done = c.sbatch("true", user="man")
    c.wait_for(lambda: c.run("sacct", "-X", "-n", "-P", "-j", done,
                             "-o", "account,state").stdout == "phys|COMPLETED\n")


def test_kill9_with_a_database(make_cluster):
    c = make_cluster(nodes=1, dbd=True, accounts={"phys": {"users": ["games"]},
                                                  "lab": {"parent": "phys", "users": ["man"]}})
    job = c.sbatch("sleep 100", user="man")
    c.wait_state(job)
    c.wait_saved(job)
    c.kill9_slurmctld()
    c.start_slurmctld()
    shown = c.job(job)
    assert (shown["JobState"], shown["Account"]) == ("RUNNING", "lab")


def test_nodes_for_the_scheduler_alone_count(make_cluster):
    c = make_cluster(nodes=[Nodes(count=1, gpus="4"),
                            Nodes(prefix="c", count=63, gpus="4", real=False)])
    c.wait_state(c.sbatch("sleep 60"))
    job = c.sbatch("sleep 60", nodes=64, exclusive=True, gres="gpu:4")
    c.wait_for(lambda: c.job(job)["Reason"] == "Resources")
    try:
        too_many = c.sbatch("sleep 60", nodes=65)
        c.wait_for(lambda: c.job(too_many)["Reason"] == "PartitionNodeLimit")
    except ClusterError as error:  # 24.11 refuses it at once
        assert c.version >= (24, 11) and "node configuration is not available" in str(error)


def test_64_real_nodes_come_up_quickly(make_cluster):
    began = time.monotonic()
    c = make_cluster(nodes=[Nodes(count=64, cpus=16, gpus="a100:4")])
    assert time.monotonic() - began < 20
    job = c.sbatch("srun -l hostname | wc -l", nodes=64)
    c.wait_state(job, "COMPLETED", timeout=90)
    assert open(f"{c.root}/out/{job}.out").read().strip() == "64"


def test_a_clock_a_day_back_then_the_real_one(make_cluster):
    c = make_cluster(nodes=1, clock="-1d")
    runs = c.sbatch("sleep 100")
    c.wait_state(runs)
    waits = c.sbatch("true", user="games", exclusive=True)
    c.wait_for(lambda: c.job(waits)["AccrueTime"] != "Unknown")
    c.set_clock(None)
    c.wait_for(lambda: c.job(runs)["RunTime"].startswith("1-00:0"))
    accrued = time.mktime(time.strptime(c.job(waits)["AccrueTime"], "%Y-%m-%dT%H:%M:%S"))
    assert 86400 <= time.time() - accrued < 86400 + 120
    c.run("scancel", runs)
    c.wait_state(waits, "COMPLETED")


def test_an_accelerated_clock(make_cluster):
    # 10 s, the default, are a fifth of a second there
    c = make_cluster(nodes=1, clock="@2026-01-05 00:00:00 x50", conf={"MessageTimeout": 500})
    began = time.monotonic()
    job = c.sbatch("sleep 300")
    c.wait_state(job, "COMPLETED", timeout=60)
    assert time.monotonic() - began < 40
    assert c.job(job)["SubmitTime"].startswith("2026-01-05T00:")
    assert c.job(job)["RunTime"] >= "00:05:00"


def test_two_clusters_side_by_side(make_cluster):
    one, two = make_cluster(nodes=2), make_cluster(nodes=3)
    assert one.base_port != two.base_port
    first = one.sbatch("sleep 60")
    one.wait_state(first)
    assert two.squeue() == []
    two.wait_state(two.sbatch("true"), "COMPLETED")


def test_a_user_that_is_killed_leaves_nothing():
    """SIGKILL of the process that uses a cluster takes the daemons, the steps and the jobs down."""
    text = ("import sys, time\nsys.path.insert(0, sys.argv[1])\nfrom ccrcluster import Cluster\n"
            "c = Cluster(nodes=2).start()\njob = c.sbatch('exec sleep 987', user='games')\n"
            "c.wait_state(job)\nprint(c.root, flush=True)\ntime.sleep(600)\n")
    user = subprocess.Popen([sys.executable, "-c", text, HERE], stdout=subprocess.PIPE, text=True)
    root = user.stdout.readline().strip()
    assert os.path.isdir(root)
    steps = processes_naming("slurmstepd")
    assert len(processes_naming(root)) >= 4  # munged, slurmctld, two slurmd
    user.kill()
    user.wait()
    user.stdout.close()
    end = time.monotonic() + 20
    while processes_naming(root) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_naming(root) == [] and not os.path.exists(root)
    assert steps, "the job had no step"


def test_what_does_not_come_up_says_why():
    c = Cluster(nodes=1, conf={"SelectType": "select/none_such"})
    with pytest.raises(ClusterError, match="slurmctld has ended(.|\n)*none_such"):
        c.start()
    assert processes_naming(c.root) == []
    c.stop(keep=False)
