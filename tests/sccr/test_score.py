"""sccr score and check, which need no cluster."""
import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCCR = os.path.join(os.environ.get("CCR_BUILD_DIR", os.path.join(REPO, "build")), "src/sccr/sccr")
PAGE = ["--weights", "jobsize=16,age=1,fairshare=500,assoc=800"]


def sccr(*args):
    env = {k: v for k, v in os.environ.items() if k != "SLURM_CONF"}
    return subprocess.run([SCCR, *map(str, args)], text=True, capture_output=True, env=env,
                          stdin=subprocess.DEVNULL)


def rows(*args):
    done = sccr("score", "--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_ccr_pages_example():
    row = rows(*PAGE, "nodes=64", "wait=1-00:00:00", "target=25", "usage=5", "financial=4")[0]
    assert row["priority"] == 1000000 + 15664  # the preset's base
    points = {c: v["points"] for c, v in row["columns"].items()}
    assert points == {"site": 1000000, "age": 1440, "assoc": 3200, "fairshare": 10000,
                      "jobsize": 1024, "partition": 0, "qos": 0}
    text = sccr("score", *PAGE, "nodes=64", "wait=1-00:00:00", "target=25", "usage=5", "financial=4")
    assert "1015664" in text.stdout


def test_a_group_and_a_tier_of_a_policy():
    example = os.path.join(REPO, "examples", "ccr.json")
    got = rows("--policy", example, *PAGE, "nodes=64", "queue_minutes=1440", "group=b", "usage=5")
    assert got[0]["priority"] == 15664
    got = rows("--policy", example, *PAGE, "tier=partner")
    assert got[0]["columns"]["assoc"]["points"] == 1600


def test_aquas_price_list():
    got = rows("--policy", "aqua", "--weights", "jobsize=1000,age=1000,fairshare=1000",
               "ncpus=12", "ngpus=1", "mem=64G", "target=10", "usage=10")
    size = got[0]["columns"]["jobsize"]["factor"]
    assert size == pytest.approx(6 * 0.5 * 52)  # 52 points of size at f = 0.5


@pytest.mark.parametrize("word, found, expected", [
    ("nodes=-1", "-1", "a whole number from 0 to 4294967293"), ("nodes=1.5", "1.5", "a whole number"),
    ("gpus=1..2..0.5", "0.5", "a step that is a whole number"), ("ncpus=1e30", "1e30", "a whole number from 0 to 4294967293"), ("usage=200", "200", "a percentage from 0 to 100"),
    ("usage=5,101", "101", "a percentage from 0 to 100"), ("usage=0..150", "150", "a percentage"),
    ("target=120-", "120-", "a percentage from 0 to 100"), ("target=-3", "-3", "a percentage"),
    ("user_usage=101", "101", "a percentage"), ("fs_delta=-101", "-101", "percent points from -100 to 100"),
    ("fairshare_factor=1.5", "1.5", "a factor from 0 to 1"), ("wait=-5", "-5", "minutes, or a time"),
    ("walltime=-1:00", "-1:00", "seconds, or a time"), ("mem=-4G", "-4G", "kB, or an amount such as 64G"),
    ("nodes=nan", "nan", "a whole number"), ("wait=inf", "inf", "minutes, or a time"),
    ("nice=1e99", "1e99", "a whole number from -2147483645 to 2147483645"), ("usage=50..20", "50..20", "a range"),
    ("financial=-1", "-1", "a number of at least 0")])
def test_what_no_job_can_have_is_refused(word, found, expected):
    done = sccr("score", *PAGE, word)
    name = word.split("=")[0]
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f'sccr score: {name}: found "{found}", expected {expected}')


def test_shares_of_the_file_come_before_targets(tmp_path):
    path = tmp_path / "ccr.json"
    path.write_text('{"version": 1, "policy": {"fairshare": "fairshare_factor"}, "groups": '
                    '{"a": {"target": 10, "shares": 3}, "b": {"target": 90}}}')
    factor = [rows("--policy", path, f"group={g}", "usage=25")[0]["columns"]["fairshare"]["factor"]
              for g in "ab"]
    assert factor == pytest.approx([2 ** -(0.25 / 0.75), 2 ** -(0.25 / 0.25)])


@pytest.mark.parametrize("policy, weights", [("ccr", "age=1,assoc=800,fairshare=500,jobsize=16"),
                                             ("lsf", "fairshare=1000000,jobsize=1000000"), ("aqua", "fairshare=1000,jobsize=1000")])
def test_without_weights_the_presets_own_are_taken(tmp_path, policy, weights):
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\n")
    for extra in ([], ["-s", conf]):
        done = sccr("score", "--json", "-p", policy, *extra, "nodes=2")
        columns = json.loads(done.stdout)[0]["columns"]
        for name, weight in (w.split("=") for w in weights.split(",")):
            assert columns[name]["weight"] == int(weight) and f"{name}={weight}" in done.stderr
    conf.write_text("PriorityWeightAge=5\n")
    done = sccr("score", "--json", "-p", policy, "-s", conf, "nodes=2")
    assert "usual" not in done.stderr
    assert {n: c["weight"] for n, c in json.loads(done.stdout)[0]["columns"].items() if c["weight"]} == {"site": 1, "age": 5}


@pytest.mark.parametrize("words, unused", [
    (["walltime=60"], ["walltime"]), (["usage=5", "target=25", "nodes=2", "wait=9", "eligible_time=5"], ["eligible_time"]),
    (["fs_delta=3", "usage=5"], ["usage"]), (["-p", "aqua", "nodes=2"], []), (["-p", "aqua", "nodes=2", "ncpus=4"], ["nodes"]),
    (["-p", "lsf", "started=1", "run_hours=2", "financial=2"], ["financial"]), (["nice=5"], []),
    (["-p", f"{REPO}/examples/ccr.json", "group=b"], []),
    (["-p", f"{REPO}/examples/ccr.json", "group=b", "target=5", "financial=2"], ["group"])])
def test_what_the_policy_does_not_read_is_said(words, unused):
    said = sccr("score", *PAGE, *words).stderr
    assert [line.split()[2] for line in said.splitlines() if "is not used: no column" in line] == unused


def test_tiers_as_a_table():
    got = rows("--policy", f"{REPO}/examples/ccr.json", *PAGE, "tier=partner,none")
    assert [r["variables"]["financial"] for r in got] == [2, 0]


def test_groups_and_nice_values_as_a_table(tmp_path):
    words = ("--policy", f"{REPO}/examples/ccr.json", *PAGE, "usage=10,12")
    got = rows(*words, "group=b,chemistry", "nice=0,7")
    assert [(r["group"], r["nice"], r["variables"]["usage"]) for r in got] == [
        (g, n, u) for u in (10, 12) for g in ("b", "chemistry") for n in (0, 7)]
    for r in got:
        assert r["variables"]["fs_delta"] == {"b": 25, "chemistry": 30}[r["group"]] - r["variables"]["usage"]
        alone = rows(*words[:-1], f"usage={r['variables']['usage']}", f"group={r['group']}", f"nice={r['nice']}")
        assert alone == [r]
    table = sccr("score", *words, "group=b,chemistry").stdout.splitlines()
    assert [line.split()[:2] for line in table] == [
        ["usage", "group"], ["10", "b"], ["10", "chemistry"], ["12", "b"], ["12", "chemistry"]]
    # a picture has numbers below it, and a line for each group, in whatever order they are given
    for args in (("group=b,chemistry", "nodes=1,64,200"), ("nodes=1,64,200", "group=b,chemistry")):
        picture = tmp_path / "p.svg"
        assert sccr("score", *words[:-1], *args, "--plot", picture).returncode == 0
        tree = ElementTree.parse(picture)
        lines = tree.findall(".//{http://www.w3.org/2000/svg}polyline")
        texts = [t.text for t in tree.iter("{http://www.w3.org/2000/svg}text")]
        assert len(lines) == 2 and "nodes (nodes)" in texts and texts[-2:] == ["group b", "group chemistry"], texts
        heights = [[float(p.split(",")[1]) for p in line.get("points").split()] for line in lines]
        assert all(len(h) == 3 and h == sorted(h, reverse=True) for h in heights), heights
        picture.unlink()
    said = sccr("score", *words[:-1], "group=b,chemistry", "--plot", tmp_path / "q.svg")
    assert said.returncode == 1 and "expected a variable with several numbers" in said.stderr
    assert not (tmp_path / "q.svg").exists()


def test_targets_with_a_suffix_as_a_table():
    got = rows("target=10+,20.5+", "usage=5,30")
    assert [(r["variables"]["target"], r["variables"]["usage"], r["variables"]["fs_delta"]) for r in got] == [
        (10, 5, 5), (10, 30, 0), (20.5, 5, 15.5), (20.5, 30, 0)]  # a floor is passed by


def test_usage_without_a_slurm_conf_takes_the_usual_weights(tmp_path):
    policy, ledger = tmp_path / "p.json", tmp_path / "l.json"
    policy.write_text('{"version": 1, "preset": "ccr", "groups": {"a": {"target": 20}}}')
    ledger.write_text(json.dumps({"version": 1, "usage": [
        {"user": user, "account": account, "billed_s": 3600} for user, account in (("u", "a"), ("v", "b"))]}))
    words = ("usage", "--policy", policy, "--ledger", ledger)
    assert "POINTS are by the usual weight, 500, as no slurm.conf was found.\n" in sccr(*words).stdout
    assert json.loads(sccr(*words, "--json").stdout)["groups"][0]["points"] == 500 * (20 - 50)


def test_a_wait_under_multifactor(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("PriorityWeightAge=1000\nPriorityMaxAge=2-0\n")
    words = ("-p", "multifactor", "-s", conf)
    got = rows(*words, "wait=0:00,12:00:00,3-00:00:00")
    assert [r["columns"]["age"]["factor"] for r in got] == [0, 0.25, 1]
    assert rows("-p", "multifactor", "wait=84:00:00")[0]["columns"]["age"]["factor"] == 0.5  # of Slurm's own 7 days
    assert rows(*words, "wait=12:00:00", "age_factor=0.1")[0]["columns"]["age"]["factor"] == 0.1
    conf.write_text("PriorityMaxAge=never\n")
    said = sccr("score", *words, "wait=1:00")
    assert said.returncode == 1 and "PriorityMaxAge: found never, expected a time such as 7-0" in said.stderr


def test_one_booking_is_not_many(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"version": 1, "preset": "ccr", "backfill": {"depth": 1, "partitions": {"p": {"depth": 2}, "q": {"depth": 1}}}}')
    said = sccr("check", path).stdout
    assert "backfill: 1 booking a partition" in said and "partition p: 2 bookings\n" in said
    assert "partition q: 1 booking\n" in said


def test_tables_and_pictures(tmp_path):
    got = rows(*PAGE, "usage=0..100..25", "nodes=1,64")
    assert len(got) == 10
    assert [r["variables"]["usage"] for r in got[::2]] == [0, 25, 50, 75, 100]
    picture = tmp_path / "p.svg"
    assert sccr("score", *PAGE, "target=25", "usage=0..100", "nodes=1,64", "--plot",
                picture).returncode == 0
    tree = ElementTree.parse(picture)
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}polyline")) == 2


def test_counts_of_a_range_are_whole_and_both_ends_are_there():
    for word, values in (("nodes=1..64", [1, 8, 15, 22, 29, 36, 43, 50, 57, 64]), ("nodes=0..4", [0, 1, 2, 3, 4]),
                         ("nodes=0..25", [0, 3, 6, 9, 12, 15, 18, 21, 24, 25]), ("usage=0..1", [i / 10 for i in range(11)])):
        assert [r["variables"][word.split("=")[0]] for r in rows(*PAGE, word)] == pytest.approx(values)


def test_factor_times_weight_is_the_points_of_every_column():
    for policy in ("ccr", "aqua", "multifactor", os.path.join(REPO, "examples", "ccr.json")):
        for row in rows("--policy", policy, *PAGE, "nodes=1,64", "wait=90", "usage=5", "target=25"):
            for name, c in row["columns"].items():
                assert c["factor"] * c["weight"] == pytest.approx(c["points"], abs=0.51), (policy, name)
    text = sccr("score", *PAGE, "nodes=1").stdout
    assert "SITE              1000000 x          1 =        1000000" in text


@pytest.mark.parametrize("words, cut", [(["nodes=64"], False), (["nodes=4294967293"], True), (["financial=1e9"], True),
                                        (["nodes=1", "nice=2000000"], True), (["nodes=1", "nice=2000"], False)])
def test_a_score_beyond_slurms_is_said(words, cut):
    done = sccr("score", *PAGE, *words)
    assert done.returncode == 0 and ("beyond what Slurm can hold" in done.stderr) == cut, done


def test_a_picture_replaces_nothing_that_was_read(tmp_path):
    policy, conf = tmp_path / "p.json", tmp_path / "slurm.conf"
    policy.write_text('{"version": 1, "preset": "ccr"}')
    conf.write_text("PriorityWeightAge=1\n")
    os.link(policy, tmp_path / "hard")
    os.symlink("slurm.conf", tmp_path / "link")
    for picture, what in (("p.json", "the policy"), ("hard", "the policy"), ("link", "the slurm.conf"), ("-", "standard output")):
        done = sccr("score", "-p", policy, "-s", conf, "usage=0..100", "--plot", picture if picture == "-" else tmp_path / picture)
        assert done.returncode == 2 and what in done.stderr and done.stdout == ""
    assert policy.read_text().startswith("{") and conf.read_text() == "PriorityWeightAge=1\n"
    assert sccr("score", "usage=0..100", "--plot", tmp_path / "no" / "x").returncode == 1


@pytest.mark.parametrize("args, code, said", [
    (["score"], 2, "give at least one"),
    (["score", "nodes"], 1, "NAME=VALUE"),
    (["score", "nodez=1"], 1, "did you mean nodes"),
    (["score", "nodes=x"], 1, "expected a whole number"),
    (["score", "nodes=1", "nodes=2"], 1, "once"),
    (["score", "nice=1", "nice=2"], 1, "once"),
    (["score", "target=5+", "target=6+"], 1, "once"),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "tier=lead", "financial=2"], 1, "once"),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "financial=2", "tier=lead"], 1, "once"),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "group=b", "group=b"], 1, "once"),
    (["score", "financial=nan"], 1, "expected a number"),
    (["score", "nodes=5..1"], 1, "range"),
    (["score", "--policy", "/nonexistent", "nodes=1"], 1, "No such file"),
    (["score", "--weights", "size=1", "nodes=1"], 1, "expected age, assoc"),
    (["score", "--weights", "age=-1", "nodes=1"], 1, "at least 0"),
    (["score", "--weights", "age=1,age=2", "nodes=1"], 1, '--weights: age: found "2", expected it once'),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "tier="], 1, "a tier of the policy"),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "tier=lead,no"], 1, 'found "no"'),
    (["score", "--policy", f"{REPO}/examples/ccr.json", "group=b,c"], 1, 'group: found "c", expected a group, account'),
    (["score", "tier=gold"], 1, "a tier of the policy"),
    (["score", "nice=0.5"], 1, "expected a whole number"),
    (["score", "job_priority=0.5"], 1, "expected a whole number"),
    (["score", "target=10+,20"], 1, 'found "20", expected the same suffix'),
    (["score", "target=101+"], 1, "a percentage"),
    (["score", "--plot", "/tmp/x.svg", "nodes=1"], 1, "several numbers"),
    (["score", "--nonsense"], 2, "not known"),
    (["check"], 2, "give one policy file"),
    (["check", "/nonexistent"], 1, "/nonexistent: cannot be opened"),
    (["nonsense"], 2, "no command"),
    ([], 2, "usage: sccr"),
])
def test_wrong_use_is_said(args, code, said):
    done = sccr(*args)
    assert done.returncode == code and said in done.stderr, done


@pytest.mark.parametrize("command", ["check", "explain", "score", "usage", "simulate"])
def test_every_command_has_help(command):
    done = sccr(command, "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: sccr " + command)
    assert "\033" not in done.stdout


def test_check_warns_of_a_file_that_slurmctld_would_refuse(tmp_path):
    policy = tmp_path / "p.json"
    policy.write_text('{"version": 1, "preset": "ccr"}')
    policy.chmod(0o666)
    done = sccr("check", policy)
    assert done.returncode == 0 and "slurmctld would refuse it" in done.stderr


def test_check_prints_every_example():
    for name in sorted(os.listdir(os.path.join(REPO, "examples"))):
        if name.endswith(".json"):
            done = sccr("check", os.path.join(REPO, "examples", name))
            assert done.returncode == 0, done.stderr
            assert "COLUMN" in done.stdout and "EXPRESSION" in done.stdout
