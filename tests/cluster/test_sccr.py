"""sccr against running daemons: what it says is what squeue, sprio and slurmctld's plan say."""
import ctypes
import json
import os
import re
import shutil
import time

import pytest

from ccrcluster import Cluster, Nodes

pytestmark = pytest.mark.every_slurm

POLICY = {"version": 1, "preset": "ccr", "tiers": {"gold": 4.0}, "default_group": "rest",
          "groups": {"b": {"target": 25, "tier": "gold"}, "c": {"target": "50-"},
                     "rest": {"target": 25}},
          "backfill": {"depth": 1}}
CONF = {"PriorityWeightAge": 1, "PriorityWeightFairshare": 500, "PriorityWeightJobSize": 16,
        "PriorityWeightAssoc": 800, "PrivateData": "jobs", "PriorityParameters": "ccr_calc_seconds=1",
        "SchedulerParameters": "bf_min_prio_reserve=4294967295,batch_sched_delay=1,sched_interval=2"}
PARTS = {"p": "Nodes=ALL Default=YES State=UP MaxTime=INFINITE", "q": "Nodes=ALL State=UP", "one": "Nodes=n1 State=UP",
         "off": "Nodes=ALL State=DOWN", "lim": "Nodes=ALL State=UP MaxTime=10"}


@pytest.fixture(scope="module")
def session():
    c = Cluster(nodes=[Nodes(count=2, cpus=8, gpus="a100:4")], priority_type="priority/ccr",
                plugins=["priority", "select"], policy=POLICY, conf=CONF, partitions=PARTS)
    c.start()
    yield c
    c.stop()


@pytest.fixture
def cluster(session):
    yield session
    session.clear()


def sccr(c, *args, check=True, **more):
    return c.run(os.path.join(c.build, "src", "sccr", "sccr"), *args, check=check, **more)


def explain(c, job, *args, **more):
    return json.loads(sccr(c, "explain", "--json", *args, str(job), **more).stdout)


def sccr_of(c, user, *args, **more):
    """sccr run by a user, who may not be let into the build folder."""
    program = shutil.copy(os.path.join(c.build, "src", "sccr", "sccr"), os.path.join(c.root, "sccr"))
    as_user = ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return c.run(*as_user, program, *args, **more)


def says(c, job, *parts, user=None):
    """Waits until explain says all of that, to root or to a user, who sees his own jobs alone
    (PrivateData); the whole text."""
    got = ""

    def there():
        nonlocal got
        got = (sccr_of(c, user, "explain", job) if user else sccr(c, "explain", job)).stdout
        return all(part in got for part in parts)
    c.wait_for(there, 60, what=lambda: f"{parts} in\n{got}")
    return got


def wait_offers(c, job, n):
    """{what: amount} of the smaller requests that are offered, once they are n."""
    def offers():
        return {s["what"]: s["amount"] for s in explain(c, job)[0].get("could_start_with", [])}
    c.wait_for(lambda: len(offers()) == n, what=lambda: f"{n} offers, not {offers()}")
    return offers()


def test_the_total_is_squeues_number_and_the_terms_add_up(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off", nodes=2, nice=7)

    def agree():
        x = explain(c, job)[0]
        shown = int(c.run("squeue", "-h", "-j", job, "-o", "%Q").stdout)
        points = sum(col["points"] for col in x["columns"].values())
        return x["priority"] == shown == points - x["nice"]
    c.wait_for(agree, 15, what="explain, squeue and the terms to agree")
    x = explain(c, job)[0]
    assert x["group"] == "b" and x["target"] == 25 and x["financial"] == 4
    assert x["columns"]["jobsize"] == {"factor": 2, "weight": 16, "points": 32}


def test_rank_and_who_is_ahead(cluster):
    c = cluster
    low = c.sbatch("true", user="games", account="b", partition="off", nice=100)
    high = c.sbatch("true", user="man", account="b", partition="off")
    c.wait_for(lambda: explain(c, low)[0]["rank"] == 2, what="a rank")
    x = explain(c, low)[0]
    assert x["ahead"] == [str(high)] and x["of"] == 2
    assert explain(c, high)[0]["ahead"] == []


def test_booked_and_would_delay_with_a_limit_that_fits(cluster):
    c = cluster
    full = [c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodes=1, time=60)]
    half = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:3", nodes=1, time=30)
    for j in (*full, half):
        c.wait_state(j)
    top = c.sbatch("sleep 30", user="games", account="b", gres="gpu:4", nodes=1, time=60,
                   nice=-1000)
    c.wait_for(lambda: explain(c, top)[0]["plan"] == "booked", what="a booking")
    # (of the same user: with PrivateData=jobs nobody is told of anybody else's job)
    long_one = c.sbatch("sleep 30", user="games", account="b", gres="gpu:1", nodes=1, time=120)
    c.wait_for(lambda: explain(c, long_one)[0]["plan"] == "would_delay", what="a refusal")
    x, b = explain(c, long_one)[0], explain(c, top)[0]
    # half ends in half an hour, full later: top waits for the first
    assert b["waits_for"] == [str(half)] and "waits_for" not in x
    said = sccr(c, "explain", top).stdout
    assert re.search(rf"when what runs there ends: job {half} \(by 20\S+\)\.\n", said)
    assert x["would_delay"] == top and x["booked"] == b["booked"]
    for zone in ("America/New_York", "Asia/Tokyo"):  # slurmctld's reasons are in its own
        there, = explain(c, top, env={"TZ": zone})
        assert abs(there["booked"] - b["booked"]) < 60 and there["waits_for"] == [str(half)]
        there, = explain(c, long_one, env={"TZ": zone})
        assert abs(there["booked"] - b["booked"]) < 60 and there["would_delay"] == top
    minutes = wait_offers(c, long_one, 1)["minutes"]
    assert 25 <= minutes <= 30
    assert f"start at once with {minutes} minutes instead of 120.\n" in sccr(
        c, "explain", long_one).stdout
    # tested, not guessed: with that limit it starts, one that is longer does not
    c.update(JobId=long_one, TimeLimit=minutes + 5)
    c.reconfigure()
    c.wait_for(lambda: explain(c, long_one)[0]["plan"] == "would_delay", what="still refused")
    c.update(JobId=long_one, TimeLimit=minutes)
    c.wait_state(long_one)


def test_a_deadline(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off", time=5, deadline="now+1hour")
    other = c.sbatch("true", user="games", account="b", partition="off", time=5)
    says(c, job, "Its deadline is 20", "Slurm ends it when it can no longer be done by then.",
         user="games")
    assert 3500 < explain(c, job)[0]["deadline"] - time.time() <= 3600
    assert "deadline" not in explain(c, other)[0]


def test_a_deadline_that_no_booking_meets(cluster):
    """It has none for that, and is not told to wait for the highest of its partition."""
    c = cluster
    for node in ("n1", "n2"):
        c.wait_state(c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist=node,
                              time=30))
    job = c.sbatch("true", user="games", account="b", gres="gpu:4", time=2,
                   deadline="now+3minutes")
    c.wait_for(lambda: "deadline" in c.job(job)["Reason"], what=lambda: c.job(job)["Reason"])
    said = says(c, job, "It waits (Resources, cannot be booked to end by its deadline).\n",
                "Its deadline is 20")
    assert "the highest" not in said and c.job(job)["StartTime"] == "Unknown"


def test_beyond_the_depth_and_beyond_the_window(cluster):
    c = cluster
    full = [c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodes=1, time=t)
            for t in (60, "8-0")]
    for j in full:
        c.wait_state(j)
    # none of its starts is within a week; it counts as the one of depth 1
    far = c.sbatch("true", user="games", account="b", gres="gpu:4", nodes=2, time=60, nice=-1000)
    low = c.sbatch("true", user="lp", account="rest", gres="gpu:4", nodes=1, time=60)
    says(c, far, "It waits (Resources, cannot be booked within the window of 7-00:00:00).")
    said = says(c, low, "and has no booking: a job ahead has the one that the policy makes in "
                        "partition p.")
    assert "booked" not in said
    x = explain(c, low)[0]
    assert x["depth"] == 1 and x["beyond_depth"] is True and x["plan"] == "behind"
    assert explain(c, far)[0]["beyond_depth"] is False
    # with an end in sight it is booked, and the text is gone
    c.update(JobId=full[1], TimeLimit=90)
    says(c, far, "Booked to start at")
    array = c.sbatch("true", user="lp", account="rest", array="1-5", partition="off")
    assert [j["tasks"] for j in explain(c, array)] == [5]


def test_a_booking_behind_another_says_so_and_counts_in_every_partition_of_its_nodes(cluster):
    c = cluster
    near = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist="n1", time=30)
    far = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist="n2", time=60)
    for j in (near, far):
        c.wait_state(j)
    wide = c.sbatch("true", user="games", account="b", gres="gpu:4", nodes=2, time=60, nice=-1000)
    says(c, wide, "Booked to start at ")
    then = c.sbatch("true", user="games", account="b", gres="gpu:4", nodelist="n1", partition="one",
                    time=120, nice=-500)
    says(c, then, f"on n1, when what is booked there before it ends: job {wide} (from 20",
         f"Before that, there: job {near} (runs till 20")

    def waits_for(job, other):
        c.wait_for(lambda: explain(c, job)[0].get("waits_for") == [str(other)],
                   what=f"{job} to wait for {other}")
    waits_for(wide, far)
    waits_for(then, wide)
    c.update(JobId=then, TimeLimit=20)  # now it fits before wide
    waits_for(then, near)
    behind = [c.sbatch("true", user="lp", account="rest", gres="gpu:4", nodes=2, time=60, partition="q")
              for _ in "12"]

    def minutes():
        found = re.search(r"ends within (\d+) minutes", sccr(c, "explain", behind[1]).stdout)
        return found and 25 <= int(found[1]) < 30
    c.wait_for(minutes, what="the first booking, which is partition one's")


def test_a_component_of_a_hetjob_waits_for_what_runs_on_the_others_nodes(cluster):
    c = cluster
    far = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist="n2", time=60)
    near = c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist="n1", time=30)
    for j in (near, far):
        c.wait_state(j)
    het = c.run("sbatch", "--parsable", "--uid=games", "--gid=games", "--output=/dev/null", "-Ab", "-pp", "-t20",
                "-wn1", "--gres=gpu:4", ":", "-pp", "-wn2", "--gres=gpu:4", "--wrap", "true").stdout.strip()
    says(c, f"{het}+0", f" on n1, with the hetjob's other components on theirs, when what runs there ends: job {far} (by ",
         f"Before that, there: job {near} (runs till ")
    assert [x["waits_for"] for x in explain(c, het)] == [[str(far)]] * 2


def test_equal_priorities_are_in_slurmctlds_order(cluster):
    c = cluster
    c.update(JobId=c.sbatch("true", user="games", account="b", partition="off"), Priority=7)
    jobs = []
    for _ in range(5):
        jobs.append(c.sbatch("true", user="games", account="b", partition="off"))
        c.update(JobId=jobs[-1], Priority=5)
    for n, job in enumerate(jobs):
        x = explain(c, job)[0]
        assert x["ahead"][1:] == [str(j) for j in jobs[:n]] and x["rank"] == n + 2
    het = c.run("sbatch", "--parsable", "--uid=games", "--gid=games", "--output=/dev/null", "-Ab", "-poff",
                "-N1", ":", "-poff", "-N1", ":", "-poff", "-N1", "--wrap", "true").stdout.strip()
    assert [x["job"] for x in explain(c, het)] == [f"{het}+{n}" for n in range(3)]
    last = explain(c, f"{het}+2")[0]["ahead"]
    assert last.index(f"{het}+0") < last.index(f"{het}+1")


def test_holds_and_what_will_never_start(cluster):
    c = cluster
    admin = c.sbatch("true", user="games", account="b", partition="off")
    c.run("scontrol", "hold", admin)
    again = c.sbatch("sleep 300", user="games", account="b", requeue=True)
    failed = c.sbatch("true", user="games", account="b")
    never = c.sbatch("true", user="games", account="b", dependency=f"afternotok:{failed}")
    c.wait_state(again)
    c.run("scontrol", "requeuehold", again)
    c.wait_for(lambda: c.job(again)["JobState"] == "PENDING", 60, what="the job to be requeued")
    said = says(c, again, "It is held (job requeued in held state): it was requeued to be held")
    assert "first of" not in said and "rank" not in explain(c, again)[0]
    assert explain(c, again)[0]["held"] is True
    says(c, admin, "only an operator or administrator can release it")
    says(c, never, "(DependencyNeverSatisfied)", "it will never start: cancel it")


def test_nodes_that_are_only_busy_or_reserved_are_not_out_of_service(cluster):
    c = cluster
    runs = c.sbatch("sleep 300", user="man", account="rest", nodelist="n1", cpus_per_task=6, time=30)
    c.wait_state(runs)
    named = [c.sbatch("true", user="games", account="b", nodelist="n1", cpus_per_task=8, time=60)
             for _ in "12"]
    says(c, named[0], "Booked to start at ")
    # of the others slurmctld says that the node is not available, as long as the gate does not
    other = c.sbatch("true", user="games", account="b", partition="one", cpus_per_task=8, time=60, nice=9)
    known = (". For all that, it is up, and in use or kept for others.\n", "Booked to start at ",
             "It waits (Priority, a job ahead waits for a node that it names).\n",
             "It waits (Priority, a job ahead waits for nodes of its partition).\n")
    for job in (named[1], other):
        c.wait_for(lambda: any(k in sccr(c, "explain", job).stdout for k in known), 60,
                   what=lambda: sccr(c, "explain", job).stdout)
    c.run("scontrol", "suspend", runs)
    said = says(c, runs, "SUSPENDED on n1 since 20", "; its time limit stands still.\n")
    assert "ended" not in said and "until" not in said
    c.run("scontrol", "resume", runs)


def test_a_reservation_ahead_is_named(cluster):
    c = cluster
    c.run("scontrol", "create", "reservation", "reservationname=mnt", "starttime=now+5minutes", "duration=40",
          "nodes=n1", "user=root", "flags=ignore_jobs")
    try:
        job = c.sbatch("true", user="games", account="b", partition="one", time=60)
        known = (" on n1, when the reservation mnt there ends.\n", "There is a reservation of them (mnt) from 20")
        c.wait_for(lambda: any(k in sccr(c, "explain", job).stdout for k in known), 60,
                   what=lambda: sccr(c, "explain", job).stdout)
    finally:
        c.run("scontrol", "delete", "reservationname=mnt")


def test_what_private_data_hides_is_not_denied(cluster):
    c = cluster
    for node in ("n1", "n2"):
        c.wait_state(c.sbatch("sleep 300", user="man", account="rest", gres="gpu:4", nodelist=node, time=60))
    first = c.sbatch("true", user="man", account="b", gres="gpu:4", nodes=2, time=60)
    second = c.sbatch("true", user="games", account="b", gres="gpu:4", nodes=2, time=60, nice=1000)
    says(c, first, "Booked to start at ", " on n[1-2], when what runs there ends: job ")
    says(c, second, "has no booking", "delays no booking")
    said = says(c, second, "has no booking", user="games")
    assert "Rank 1 of 1 pending in partition p, counting only the jobs that you may see.\n" in said
    assert "first of" not in said and "nobody is ahead" not in said and "delays no booking" not in said
    says(c, first, "Booked to start at ", " on n[1-2], when what runs there ends: job ", user="man")


def test_a_policy_that_slurmctld_does_not_use_is_said_to_be_none_of_its(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off")
    own = sccr(c, "explain", job)
    assert "fs_delta\n" in own.stdout and "which raises its jobs" in own.stdout and not own.stderr
    copy = os.path.join(c.root, "copy.json")
    shutil.copy(c.policy_path, copy)
    same = sccr(c, "explain", "-p", copy, job)
    assert "fs_delta\n" in same.stdout and not same.stderr
    for other in ("ccr", "lsf"):
        done = sccr(c, "explain", "-p", other, job)
        assert f"warning: {other} is not the policy that slurmctld uses, which is {c.policy_path}\n" \
            in done.stderr
        assert f", by the cluster's own policy and not by {other}:\n" in done.stdout
        assert "fs_delta" not in done.stdout and "its jobs" not in done.stdout
        assert explain(c, job, "-p", other)[0]["policy_in_use"] is False
    assert "policy_in_use" not in explain(c, job)[0]
    # one that cannot be read is an error where it was asked for, else no group terms
    os.unlink(copy)
    with open(copy, "w") as bad:
        bad.write("{")
    for name, words in ((copy, "copy.json:1"), ("/nonexistent", "/nonexistent")):
        done = sccr(c, "explain", "-p", name, job, check=False)
        assert done.returncode == 1 and words in done.stderr and not done.stdout


def test_what_a_user_has_set_for_squeue_does_not_change_the_ranks(cluster):
    c = cluster
    high = c.sbatch("true", user="man", account="b", partition="off")
    low = c.sbatch("true", user="games", account="b", partition="off", nice=100)
    env = {"SQUEUE_USERS": "games", "SLURM_TIME_FORMAT": "relative", "SQUEUE_SORT": "i"}
    c.wait_for(lambda: explain(c, low, env=env)[0]["ahead"] == [str(high)], what="both jobs")


def test_every_reason_of_this_slurm_is_known(cluster):
    """tests/golden/reasons.txt has them all; test_explain_reason.c holds explain against that."""
    c = cluster
    if c.wrap:
        pytest.skip("its library is in another root")
    library = ctypes.CDLL(os.path.join(c.stock_plugins, "libslurmfull.so"))
    name = getattr(library, "slurm_job_state_reason_string" if c.version >= (24, 5)
                   else "slurm_job_reason_string")
    name.restype = ctypes.c_char_p
    names = {name(n).decode() for n in range(400)}
    names = {n for n in names if not n.isdigit() and n not in ("InvalidReason", "InvaildReason")}
    with open(os.path.join(os.path.dirname(__file__), "..", "golden", "reasons.txt")) as text:
        known = set(text.read().split())
    assert "JobHeldAdmin" in names and len(names) > 150
    assert names <= known


def test_a_smaller_request_is_tested_against_the_plan(cluster):
    """What explain offers starts, one more of it does not, and the booking stays where it is."""
    c = cluster
    for node, minutes in (("n1", 60), ("n2", 120)):
        c.wait_state(c.sbatch("sleep 300", user="man", account="rest", gres="gpu:1", nodes=1,
                              nodelist=node, cpus_per_task=2, time=minutes))
    # three GPUs and six CPUs of each node are free; n1 as a whole is top's in an hour
    top = c.sbatch("sleep 30", user="games", account="b", gres="gpu:4", nodes=1, time=600,
                   nice=-1000)
    assert wait_offers(c, top, 1) == {"GPUs": 3}
    start = explain(c, top)[0]["booked"]
    lower = {"user": "lp", "account": "rest", "time": 600}
    wide = c.sbatch("sleep 300", gres="gpu:3", nodes=2, **lower)
    offers = wait_offers(c, wide, 2)
    assert offers["nodes"] == 1 and 50 <= offers["minutes"] < 60
    tall = c.sbatch("sleep 300", gres="gpu:1", nodes=1, cpus_per_task=8, **lower)
    assert wait_offers(c, tall, 1) == {"CPUs": 6}
    assert "start at once with 6 CPUs instead of 8.\n" in sccr(c, "explain", tall).stdout
    more = c.sbatch("sleep 300", gres="gpu:1", nodes=1, cpus_per_task=7, **lower)
    assert wait_offers(c, more, 1) == {"CPUs": 6}
    c.wait_state(c.sbatch("sleep 1", gres="gpu:1", nodes=1, cpus_per_task=6, **lower),
                 "COMPLETED")
    c.wait_state(c.sbatch("sleep 300", gres="gpu:3", nodes=1, **lower))
    assert explain(c, top)[0]["booked"] == start
    # nothing of n2 is left: no smaller request would do but a short one on n1
    assert set(wait_offers(c, tall, 0)) == set()


def test_limits_holds_and_jobs_that_run_or_are_not_there(cluster):
    c = cluster
    held = c.sbatch("true", user="games", account="b", hold=True)
    later = c.sbatch("true", user="games", account="b", begin="now+1hour")
    runs = c.sbatch("sleep 100", user="games", account="b")
    array = c.sbatch("true", user="games", account="b", partition="off", array="1-9")
    c.wait_state(runs)
    c.wait_for(lambda: explain(c, later)[0]["plan"] == "limit", what="BeginTime")
    depends = c.sbatch("true", user="games", account="b", dependency=f"afterok:{later}")
    says(c, later, "the time at which it may begin has not come: it is 20")
    said = says(c, depends, f"as its dependency says (afterok:{later}(unfulfilled)).\n")
    assert "Not counted there: 1 that cannot start for now" in said
    assert explain(c, depends)[0]["not_counted"] == {"jobs": 1, "higher": 1}
    too_long = c.sbatch("true", user="games", account="b", partition="lim", time=90)
    says(c, too_long, "PartitionTimeLimit", " (1:30:00, and at most 10:00 there).\n")
    assert explain(c, held)[0]["plan"] == "limit"
    assert "It is held (JobHeldUser): its user or an operator holds it, and `scontrol release`" in sccr(
        c, "explain", held).stdout
    assert explain(c, runs)[0]["state"] == "RUNNING"
    assert explain(c, f"{array}_3")[0]["job"].startswith(f"{array}_")
    gone = sccr(c, "explain", 99999, check=False)
    assert gone.returncode == 1 and "there is no job 99999" in gone.stderr
    assert "no database knows it" in gone.stderr
    for none in ("12; ls", "0", "0_1", 2**32 + int(runs)):  # sacct would tell of other jobs
        assert sccr(c, "explain", none, check=False).returncode == 2
    assert sccr(c, "explain", check=False).returncode == 2


def test_how_a_job_ended(cluster):
    c = cluster
    failed = c.sbatch("exit 3", user="games", account="b", time=5)
    killed = c.sbatch("kill -9 $$", user="games", account="b", time=5)
    fine = c.sbatch("true", user="games", account="b", time=5)
    never = c.sbatch("true", user="games", account="b", hold=True)
    array = c.sbatch("exit $SLURM_ARRAY_TASK_ID", user="games", account="b", array="0-1", time=5)
    runs = c.sbatch("sleep 300", user="games", account="b", job_name="x ExitCode=9:9")
    for job, state in ((failed, "FAILED"), (killed, "FAILED"), (fine, "COMPLETED"),
                       (runs, "RUNNING")):
        c.wait_state(job, state)
    c.run("scancel", runs, never)
    c.wait_state(runs, "CANCELLED")
    c.wait_for(lambda: {j["JobState"] for j in c.jobs(array)} == {"FAILED", "COMPLETED"},
               what="the array's end")
    said = {j: sccr(c, "explain", j).stdout for j in (failed, killed, fine, runs, never)}
    assert "It failed with the exit code 3 after 00:00:0" in said[failed]
    assert "of a time limit of 5:00 (NonZeroExitCode).\n" in said[failed]
    assert "It was ended by signal 9 (Killed) after" in said[killed]
    assert "It ended by itself and well after" in said[fine]
    assert "It was cancelled after 00:00:" in said[runs] and "slurmctld does not tell" in said[runs]
    assert "It was cancelled before it started" in said[never]
    x = explain(c, failed)[0]
    assert (x["exit_code"], x["signal"], x["reason"]) == (3, 0, "NonZeroExitCode")
    assert x["started"] <= x["ended"] and x["plan"] == "none"
    assert {t["job"]: t["exit_code"] for t in explain(c, array)} == {f"{array}_0": 0,
                                                                     f"{array}_1": 1}


def test_tasks_of_an_array_are_what_slurmctld_has_of_each(cluster):
    c = cluster
    array = c.sbatch("true", user="games", account="b", partition="off", array="1-5%2")
    c.run("scontrol", "hold", f"{array}_2")
    c.update(JobId=f"{array}_3", Nice=500)
    c.wait_for(lambda: explain(c, f"{array}_3")[0].get("nice") == 500, what="the task's own nice")
    held, low, rest = (explain(c, f"{array}_{task}")[0] for task in (2, 3, 4))
    assert (held["job"], held["held"], "rank" in held) == (f"{array}_2", True, False)
    assert (low["job"], low["priority"], low["rank"]) == (f"{array}_3", rest["priority"] - 500, 2)
    assert (rest["tasks"], rest["rank"], rest["of"], low["ahead"]) == (3, 1, 2, [rest["job"]])
    for whole in (array, f"{array}_[1-5%2]", rest["job"]):
        assert {x["job"] for x in explain(c, whole)} == {held["job"], low["job"], rest["job"]}
    assert sccr(c, "explain", f"{array}_[1;2]", check=False).returncode == 2
    # squeue alone cuts such a list of tasks at 64 characters
    primes = [n for n in range(2, 300) if all(n % k for k in range(2, n))]
    sparse = c.sbatch("true", user="games", account="b", partition="off", array=",".join(map(str, primes)))
    assert explain(c, f"{sparse}_293")[0]["tasks"] == len(primes)


def test_tasks_of_which_the_same_is_to_be_said_are_summed_up(cluster):
    c, n = cluster, 40
    array = c.sbatch("true", user="games", account="b", partition="off", array=f"1-{n}")
    for verb in ("hold", "release"):  # slurmctld makes a job of its own of each
        c.run("scontrol", verb, *(f"{array}_{task}" for task in range(1, n + 1)))
    c.wait_for(lambda: len({(t["priority"], t["reason"]) for t in explain(c, array)}) == 1, 60,
               what="the same of all")
    text = says(c, array, f"... and {n - 1} more tasks like it: {array}_2 to {array}_{n}.\n")
    assert text.count("\nRank ") == 1
    tasks = explain(c, array)
    assert sorted(t["rank"] for t in tasks) == list(range(1, n + 1))
    assert [t["job"] for t in tasks if "ahead" in t] == [f"{array}_1"]
    # the last of them has the id of the array, and by that it is the first
    assert explain(c, f"{array}_3")[0]["ahead"] == [f"{array}_{task}" for task in (n, 1, 2)]


def test_tasks_that_are_done_are_summed_up(cluster):
    c = cluster
    array = c.sbatch("test $SLURM_ARRAY_TASK_ID != 3", user="games", account="b", array="1-5")
    c.wait_for(lambda: sorted(t["state"] for t in explain(c, array)) == ["COMPLETED"] * 4 + ["FAILED"], 60,
               what="the end of all")
    text = sccr(c, "explain", array).stdout
    assert [line for line in text.splitlines() if line.startswith("...")] == [
        f"... and 1 more task like it: {array}_2.", f"... and 1 more task like it: {array}_5."]
    assert text.count("COMPLETED") == 2 and text.count(f"Job {array}_3 ") == 1 and "exit code 1" in text


def test_a_job_of_two_partitions_is_explained_in_each(cluster):
    c = cluster
    block = c.sbatch("sleep 300", user="man", account="rest", nodes=2, exclusive=True, time=60)
    c.wait_state(block)
    job = c.sbatch("true", user="games", account="b", partition="p,q")
    c.wait_for(lambda: {x["partition"] for x in explain(c, job)} == {"p", "q"},
               what="both partitions")


def test_usage_of_groups(cluster):
    c = cluster
    job = c.sbatch("sleep 3", user="games", account="c", gres="gpu:4", nodes=1)
    c.wait_state(job, "COMPLETED")
    c.wait_for(lambda: {g["group"]: g for g in json.loads(sccr(c, "usage", "--json").stdout)
                        ["groups"]}["c"]["usage"] > 0, what="usage of c")
    text = sccr(c, "usage", "--users").stdout
    assert "games" in text and "above its target" in text and " * " in text
    assert "\033" not in text  # no escape codes in a pipe
    for bad in (["--ledger", "/nonexistent"], ["--policy", "/nonexistent"]):
        assert sccr(c, "usage", *bad, check=False).returncode == 1
    assert sccr(c, "usage", "two", "words", check=False).returncode == 2


def test_check_knows_the_weights_of_slurm_conf(cluster):
    c = cluster
    said = sccr(c, "check", c.policy_path).stdout
    assert "JOBSIZE            16  nodes" in said and "AGE                 1" in said
    assert "slurm-ccr's own ledger (slurm.conf names no database)" in said


def test_a_priority_set_by_hand_is_said_and_no_usage_is_made_of_it(cluster):
    c = cluster
    job = c.sbatch("true", user="games", account="b", partition="off")
    c.update(JobId=job, Priority=7)
    assert explain(c, job)[0]["by_hand"] is True
    assert "set by hand" in sccr(c, "explain", job).stdout


def test_names_of_users_making_hurt_nobody(cluster):
    c = cluster
    odd = c.sbatch("true", user="games", account="x\ny|z", partition="off",
                   job_name="\033[31mred|bar")
    behind = c.sbatch("true", user="man", account="rest", partition="off", nice=5000)
    c.wait_for(lambda: explain(c, odd)[0]["priority"] > 0, what="a score")
    for job in (odd, behind):
        said = sccr(c, "explain", job).stdout
        assert "\033" not in said and f"Job {job} " in said
    assert str(odd) in explain(c, behind)[0]["ahead"]
    assert explain(c, odd)[0]["name"] == "?[31mred|bar"
    c.run("scancel", odd, behind)
    c.wait_for(lambda: not c.run("squeue", "-h", "-o", "%i").stdout.split(), what="an empty queue")
