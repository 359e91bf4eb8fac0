"""Cases from the field, by their numbers in docs/gate.md: where the running slurmctld decides."""
import pytest

from gate import Nodes, booked_nodes, gate_cluster, start_time, wait_booked, wait_reason

POLICY = {"version": 1, "preset": "ccr", "default_group": "all", "groups": {"all": {"target": 100}}}
PARTITIONS = {"p": "Nodes=ALL Default=YES MaxTime=INFINITE",
              "short": "Nodes=ALL DefaultTime=5 MaxTime=60",
              "open": "Nodes=ALL MaxTime=60"}


@pytest.fixture(scope="module")
def gated():
    with gate_cluster(nodes=[Nodes("s", 1, cpus=16, gpus="a100:8", extra="Feature=small"),
                             Nodes("b", 1, cpus=32, gpus="a100:8", extra="Feature=big"),
                             Nodes("c", 1, cpus=32)], partitions=PARTITIONS, policy=POLICY) as c:
        yield c


@pytest.fixture
def cluster(gated):
    yield gated
    gated.clear()
    assert not gated.log_grep("decides alone")


def running(c, *jobs):
    c.wait_for(lambda: set(c.states(*jobs)) == {"RUNNING"},
               what=lambda: f"all of {jobs} at once: {c.states(*jobs)}")
    return [c.job(job)["NodeList"] for job in jobs]


def test_r01_a_job_of_many_cpus_leaves_the_gpus_their_cpus(cluster):
    wide = cluster.sbatch("sleep 9999", cpus_per_task=12, gres="gpu:1", time=60)
    assert cluster.wait_state(wide)["NodeList"] == "b1"
    running(cluster, *[cluster.sbatch("sleep 9999", gres="gpu:1", time=60) for _ in range(15)])


def test_r02_r04_small_jobs_pack_and_a_node_stays_whole(cluster):
    nodes = running(cluster, *[cluster.sbatch("sleep 9999", gres="gpu:1", time=60)
                               for _ in range(2)])
    assert nodes[0] == nodes[1] and nodes[0] in ("s1", "b1")
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:8", time=60))


def test_r03_memory_decides_where_it_must(cluster):
    first = cluster.sbatch("sleep 9999", gres="gpu:3", mem=30000, time=60, nodelist="b1")
    cluster.wait_state(first)
    assert running(cluster, cluster.sbatch("sleep 9999", gres="gpu:1", mem=100, time=60)) == ["b1"]
    assert running(cluster, cluster.sbatch("sleep 9999", gres="gpu:1", mem=9000, time=60)) == ["s1"]


def test_r05_r06_a_job_without_gpus_goes_where_there_are_none(cluster):
    cpus = cluster.sbatch("sleep 9999", cpus_per_task=32, time=60)
    assert cluster.wait_state(cpus)["NodeList"] == "c1"
    running(cluster, *[cluster.sbatch("sleep 9999", cpus_per_task=4, gres="gpu:8", time=60)
                       for _ in range(2)])


def test_r09_r10_whatever_no_booking_needs_is_filled(cluster):
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:4", time=3 * 60, nodelist="s1"),
            cluster.sbatch("sleep 9999", gres="gpu:8", time=900 * 60, nodelist="b1"))
    longs = [cluster.sbatch("sleep 9999", gres="gpu:5", time=hours * 60)
             for hours in (160, 140, 120)]
    wait_booked(cluster, longs[0])
    assert 2.9 * 3600 < start_time(cluster, longs[0]) <= 3 * 3600 + 1
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:3", time=2 * 60),
            cluster.sbatch("sleep 9999", gres="gpu:1", time=3),
            cluster.sbatch("sleep 9999", cpus_per_task=32, time=900 * 60))


def test_r18_long_jobs_have_their_share(cluster):
    cluster.write_policy({**POLICY, "backfill": {
        "long_jobs": {"over": 3600, "gpu_fraction": 0.5}}})
    cluster.reconfigure()
    try:
        running(cluster, *[cluster.sbatch("sleep 9999", gres="gpu:4", time=120) for _ in range(2)])
        wait_reason(cluster, cluster.sbatch("sleep 9999", gres="gpu:1", time=120), "long_jobs")
        running(cluster, cluster.sbatch("sleep 9999", gres="gpu:8", time=60))
    finally:
        cluster.write_policy(POLICY)
        cluster.reconfigure()


def test_r24_a_request_of_unlike_nodes_is_booked(cluster):
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:8", time=20, nodelist="s1"),
            cluster.sbatch("sleep 9999", gres="gpu:1", time=40, nodelist="b1"))
    job = cluster.sbatch("sleep 1", nodes=2, constraint="[small*1&big*1]", gres="gpu:8", time=10)
    wait_booked(cluster, job)
    assert booked_nodes(cluster, job) in ("s1,b1", "b1,s1")
    assert 39 * 60 < start_time(cluster, job) <= 2401


def test_r27_without_a_limit_the_partitions_counts(cluster):
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:7", time=10, nodelist="s1"),
            cluster.sbatch("sleep 9999", gres="gpu:8", time=30, nodelist="b1"))
    top = cluster.sbatch("sleep 1", gres="gpu:8", time=60)
    assert wait_booked(cluster, top)["SchedNodeList"] == "s1"
    late = cluster.sbatch("sleep 9999", gres="gpu:1", partition="open")  # may run for an hour
    assert start_time(cluster, late) >= 9 * 60  # the first of its own partition: booked
    running(cluster, cluster.sbatch("sleep 9999", gres="gpu:1", partition="short"))
    assert cluster.states(late, top) == ["PENDING", "PENDING"]
    assert start_time(cluster, top) <= 601


def test_r35_beyond_the_depth_nothing_is_planned(cluster):
    cluster.write_policy({**POLICY, "backfill": {"depth": 1}})
    cluster.reconfigure()
    try:
        running(cluster, *[cluster.sbatch("sleep 9999", gres="gpu:8", time=30) for _ in range(2)])
        jobs = [cluster.sbatch("sleep 1", gres="gpu:8", time=30) for _ in range(3)]
        wait_booked(cluster, jobs[0])
        cluster.wait_for(lambda: cluster.log_grep(
            rf"JobId={jobs[2]} gets no booking: the depth is reached"), what="the third's turn")
        assert [cluster.job(j)["StartTime"] for j in jobs[1:]] == ["Unknown"] * 2
    finally:
        cluster.write_policy(POLICY)
        cluster.reconfigure()


def test_r21_a_group_that_has_a_booking_stands_behind_the_others_with_the_next():
    """Under LSF's priority, which counts what a user has been given in this cycle; of a user's three
    jobs one is booked, and one of the user who came last."""
    with gate_cluster(nodes=1, cpus=4, gpus="a100:2", priority_type="priority/ccr",
                      plugins=["priority", "select"],
                      conf={"PriorityWeightFairshare": 1000000,
                            "PriorityParameters": "ccr_calc_seconds=1"},
                      policy={"version": 1, "preset": "lsf", "backfill": {"depth": 2}}) as c:
        c.wait_state(c.sbatch("sleep 9999", cpus_per_task=4, time=10))
        first, second, third = (c.sbatch("sleep 1", cpus_per_task=4, time=5, user="games")
                                for _ in range(3))
        other = c.sbatch("sleep 1", cpus_per_task=4, time=5, user="man")
        for job in (first, other):
            wait_booked(c, job)
        c.wait_for(lambda: "SchedNodeList" not in c.job(second), what="one booking of games")
        assert "SchedNodeList" not in c.job(third)
        assert c.job(first)["SchedNodeList"] == c.job(other)["SchedNodeList"] == "n1"


@pytest.mark.parametrize("how", ["cluster", "partition"])
def test_the_least_loaded_node_where_the_site_chose_that(how):
    """CR_LLN, or LLN=YES of a partition, is a choice of placement; other jobs have ours."""
    conf = {"SelectTypeParameters": "CR_CPU_Memory" + (",CR_LLN" if how == "cluster" else "")}
    parts = {"lln": "Nodes=ALL Default=YES LLN=" + ("YES" if how == "partition" else "NO"),
             "p": "Nodes=ALL"}
    with gate_cluster(nodes=[Nodes(count=3, cpus=8, gpus="a100:4")], conf=conf,
                      partitions=parts) as c:
        nodes = running(c, *[c.sbatch("sleep 9999", gres="gpu:1", time=60) for _ in range(3)])
        assert sorted(nodes) == ["n1", "n2", "n3"]
        if how == "partition":
            more = running(c, *[c.sbatch("sleep 9999", gres="gpu:1", time=60, partition="p")
                                for _ in range(3)])
            assert len(set(more)) == 1, more


@pytest.mark.every_slurm
def test_nobody_waits_for_old_times_on_an_empty_machine():
    """Booked side by side while nodes were busy in part; what ran ends early, and Slurm packs another
    way than the plan did: each would be in the way of another's booking."""
    with gate_cluster(nodes=4, cpus=8) as c:
        most = c.sbatch("sleep 9999", nodes=4, ntasks_per_node=6, time=60)
        rest = c.sbatch("sleep 9999", nodes=4, ntasks_per_node=2, time=120)
        running(c, most, rest)
        jobs = [c.sbatch("sleep 9999", ntasks=n, time=t) for n, t in ((12, 120), (12, 60), (6, 60))]
        for job in jobs:
            wait_booked(c, job)
        c.update(JobId=rest, TimeLimit=60)
        c.wait_for(lambda: start_time(c, jobs[2]) <= 3600, what="a booking beside the others")
        c.run("scancel", most, rest)
        for job in jobs:
            c.wait_state(job, timeout=20)
