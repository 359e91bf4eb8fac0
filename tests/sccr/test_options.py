"""Wrong use, help, man pages and output of every subcommand, as a sceptical user tries them."""
import json
import os
import re
import subprocess

import pytest

from conftest import REPO

MAN = os.path.join(REPO, "docs", "man")
CCR = os.path.join(REPO, "examples", "ccr.json")
LEDGER = '{"version": 1, "usage": [{"account": "b", "user": "games", "billed_s": 5}]}'
COMMANDS = ["check", "explain", "score", "usage", "simulate"]


def listed(sccr, command):
    """{long option: its letter or None} of --help."""
    text = "\n".join(re.findall(r"^ +(?:-\w, )?--.*", sccr(command, "--help").stdout, re.M))
    found = {name: None for name in re.findall(r" --([a-z][a-z-]+)", text)}
    found.update((name, letter) for letter, name in re.findall(r"^ +-(\w), --([a-z-]+)", text, re.M))
    return found


def synopsis(command):
    """The same of the man page's synopsis (or, of simulate, of the whole page)."""
    page = "sccr-simulate.1" if command == "simulate" else "sccr.1"
    with open(os.path.join(MAN, page)) as text:
        text = text.read()
    if command != "simulate":
        text = re.search(rf"^\.Cm {command}\n(.*?)^\.Nm", text, re.M | re.S).group(1)
    return dict((name, letter or None) for letter, name in
                re.findall(r"Fl (?:(\w) , )?-([a-z][a-z-]+)", text))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_man_page_list_the_same_options(sccr, command):
    known = listed(sccr, command)
    known.pop("help")
    page = synopsis(command)
    assert set(page) == set(known)
    if command != "simulate":
        assert page == known


@pytest.mark.parametrize("command", COMMANDS)
def test_every_letter_is_taken(sccr, command):
    for name, letter in listed(sccr, command).items():
        if letter and letter != "h":
            r = sccr(command, f"-{letter}", "/nonexistent", "--bogus")
            assert r.returncode == 2 and "bogus" in r.stderr, name


@pytest.mark.parametrize("words", [
    [], ["nothing"], ["--nothing"], ["check"], ["check", "a", "b"], ["explain"], ["explain", "1", "2"],
    ["explain", "12_"], ["explain", "_3"], ["explain", "12;ls"], ["explain", ""], ["score"], ["score", "--plot"],
    ["usage", "a", "b"], ["usage", "--ledger"], ["check", "--json", "x"], ["simulate"]])
def test_wrong_use_is_2_and_says_how_it_is_right(sccr, words):
    r = sccr(*words)
    assert r.returncode == 2 and r.stdout == "" and r.stderr.startswith(("sccr", "usage: sccr"))


@pytest.mark.parametrize("words", [
    ["check", CCR], ["check", "--help"], ["score", "nodes=1"], ["score", "--json", "nodes=1,2"], ["--help"], ["--version"],
    ["usage", "--ledger", "LEDGER", "--policy", CCR], ["simulate", "-N", "1", "WORK"]])
def test_a_full_disk_is_no_success(sccr, tmp_path, words):
    (tmp_path / "LEDGER").write_text(LEDGER)
    (tmp_path / "WORK").write_text("submit,runtime,cpus\n0,1,1\n")
    with open("/dev/full", "w") as full:
        r = subprocess.run([sccr.path, *words], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True,
                           check=False)
    assert r.returncode == 1 and "No space left" in r.stderr


def test_json_is_json_and_nothing_else(sccr, tmp_path):
    ledger = tmp_path / "ledger.json"
    ledger.write_text(LEDGER)
    odd = tmp_path / 'a "quoted" name.json'
    odd.write_text('{"version": 1, "preset": "ccr", "groups": {"b": {"target": 50}, "q\\u00e9": {"target": 5}}}')
    for words in (["score", "--json", "nodes=1,2", "usage=0..1..0.1"], ["score", "--json", "--policy", odd, "wait=1"],
                  ["usage", "--json", "--users", "--ledger", ledger, "--policy", odd]):
        r = sccr(*words)
        assert r.returncode == 0, r.stderr
        json.loads(r.stdout)
    usage = json.loads(sccr("usage", "--json", "--users", ledger, "--policy", odd).stdout)
    assert usage["source"] == "ledger" and usage["ledger"] == str(ledger) and usage["as_of"] > 0
    assert usage["model"] == {"kind": "halflife", "half_life_s": 604800}
    assert [g["tier"] for g in usage["groups"]] == [None, None]
    assert usage["groups"][0]["usage"] == 100 and usage["users"][0]["user"] == "games"


def test_usage_has_tiers_and_models(sccr, tmp_path):
    ledger = tmp_path / "ledger.json"
    for model in ({"kind": "windows", "interval_s": 43200, "depth": 8, "decay": 0.5}, {"kind": "lsf", "hist_hours": 5}):
        ledger.write_text(json.dumps({"version": 1, "model": model, "usage": []}))
        r = sccr("usage", "--json", ledger, "--policy", CCR)
        assert r.returncode == 0, r.stderr
        usage = json.loads(r.stdout)
        assert usage["model"] == model
        assert {g["group"]: g["tier"] for g in usage["groups"]}["b"] == "lead"
    text = sccr("usage", ledger, "--policy", CCR).stdout
    assert all(line == line.rstrip() for line in text.splitlines())


# As in test_simulate.py: what a terminal might obey.
ODD = "\033[31m\a\x7f\x9b\u202e"


def calm(r):
    for stream in (r.stdout, r.stderr):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", stream), stream
    return r


def test_nothing_that_is_read_or_given_is_obeyed_by_a_terminal(sccr, tmp_path):
    folder = tmp_path / ODD
    folder.mkdir()
    policy, conf, ledger = folder / "p.json", folder / "slurm.conf", folder / "ledger.json"
    for word in COMMANDS:
        calm(sccr(word, f"--{ODD}"))
        calm(sccr(word, f"--help={ODD}"))
        calm(sccr(word, f"-{ODD}", ODD))
        calm(sccr(word, ODD))
    calm(sccr(ODD))
    calm(sccr("score", f"nodes={ODD}"))
    calm(sccr("score", f"{ODD}=1"))
    calm(sccr("score", "--weights", f"age={ODD}", "nodes=1"))
    for bad in ({"policy": {"age": ODD}}, {ODD: 1}, {"groups": {ODD: {}}}, {"preset": ODD}, {"tiers": {ODD: 1}},
                {"groups": {"b": {"tier": ODD}}}, {"backfill": {"partitions": {ODD: {}}}}, {"policy": {"age": f"{ODD} + 1"}}):
        policy.write_text(json.dumps({"version": 1, "preset": "ccr", **bad}, ensure_ascii=False))
        calm(sccr("check", policy))
        calm(sccr("score", "--policy", policy, "nodes=1"))
    policy.write_text(json.dumps({"version": 1, "preset": "ccr", "groups": {"b": {"target": 50}}}))
    ledger.write_text(json.dumps({"version": 1, "usage": [{"account": "b", "user": "a\033[2J", "billed_s": 5}]}))
    conf.write_text(f"PriorityWeightAge=5{ODD}\nPriorityWeightQOS=1\n")
    assert calm(sccr("check", policy)).returncode == 0
    assert "5?[31m" in calm(sccr("check", "--slurm-conf", conf, policy)).stdout
    r = calm(sccr("score", "--policy", policy, "nodes=1"))
    assert r.returncode == 0
    json.loads(calm(sccr("score", "--json", "--policy", policy, "nodes=1")).stdout)
    calm(sccr("score", "--slurm-conf", conf, "--policy", policy, "nodes=1"))
    r = sccr("score", "--policy", policy, "usage=0..100", "--plot", tmp_path / "plot.svg")
    assert calm(r).returncode == 0 and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", (tmp_path / "plot.svg").read_text())
    for form in ([], ["--json"], ["--users"], ["--users", "--json"]):
        calm(sccr("usage", *form, "--policy", policy, ledger))
    calm(sccr("usage", "--policy", policy, folder / "none"))


def test_a_reader_that_goes_away_is_no_crash(sccr):
    p = subprocess.Popen([sccr.path, "score", "nodes=1..1000..1", "ncpus=1..100..1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    p.stdout.close()
    p.stderr.read()
    assert p.wait() in (1, -13)


def test_without_a_cluster_it_says_so(sccr, tmp_path):
    env = {**os.environ, "PATH": str(tmp_path)}
    for words in (["explain", "1"], ["usage"]):
        r = sccr(*words, env=env)
        assert r.returncode == 1 and r.stdout == ""
        assert r.stderr.startswith(f"sccr {words[0]}: cannot run s") and "No such file" in r.stderr
