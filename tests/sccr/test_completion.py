"""bash completion and help of every subcommand."""
import os
import re
import subprocess

import pytest

from conftest import REPO

SCRIPT = """
source "$0"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_sccr 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(sccr, tmp_path):
    os.symlink(os.path.abspath(sccr.path), tmp_path / "sccr")

    def words(*line):
        r = subprocess.run(["bash", "-c", SCRIPT, f"{REPO}/completions/sccr", "sccr", *line], cwd=tmp_path, text=True,
                           env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, stdout=subprocess.PIPE,
                           check=True)
        return r.stdout.split()
    return words


def commands(sccr):
    return re.findall(r"^  ([a-z]+) ", sccr("--help").stdout, re.M)


def test_commands(complete, sccr):
    assert "simulate" in commands(sccr)
    assert set(commands(sccr)) <= set(complete(""))
    assert complete("simul") == ["simulate"]


def test_options_of_every_command(complete, sccr):
    for command in commands(sccr):
        r = sccr(command, "--help")
        assert r.returncode == 0 and r.stdout.startswith(f"usage: sccr {command}") and "\033" not in r.stdout
        offered = complete(command, "--")
        listed = set(re.findall(r"(?:^|[ ,\[])(--[a-z][a-z-]+)", re.sub("`.*?`", "", r.stdout), re.M))
        assert listed and listed == set(offered), command
        for option in offered:
            assert "option" not in sccr(command, option, "--help").stderr, option


def test_values(complete):
    assert complete("simulate", "--format", "") == ["swf", "csv", "sacct"]
    assert complete("simulate", "-s", "ccr,e") == ["ccr,easy"]
    assert complete("simulate", "-s", "ccr,easy,") == [f"ccr,easy,{name}" for name in ("fcfs", "conservative", "whole-node", "recorded")]
    assert complete("simulate", "-s", "cc") == ["ccr"] and complete("simulate", "-s", "ccr,cc") == []
    assert len(complete("simulate", "-s", "")) == 6
    assert "aqua" in complete("simulate", "--policy", "")
    assert complete("simulate", "sc") == ["sccr"]  # a file


def test_a_value_behind_an_equals_sign(complete):
    """As bash hands it over: it parts words at =."""
    assert complete("simulate", "--scheduler", "=", "e") == ["easy"]
    assert complete("simulate", "--scheduler", "=") == complete("simulate", "--scheduler", "")
    assert complete("simulate", "--format", "=", "s") == ["swf", "sacct"]
    assert complete("simulate", "--policy", "=", "aq") == ["aqua"]


def test_variables_of_score(complete):
    with open(f"{REPO}/docs/man/ccr.json.5") as page:
        table = re.search(r'variables begin\n(.*?)\n\.\\" variables end', page.read(), re.S).group(1)
    known = set(re.findall(r"^\.It (?:Va|Cm|Li) ([a-z_]+)", table, re.M))
    assert len(known) > 20
    offered = {word.rstrip("=") for word in complete("score", "")}
    assert known <= offered and offered - known == {"cpus", "gpus", "wait", "tier", "group", "nice"}
    assert complete("score", "nodes=1", "wa") == ["wait=", "walltime="] or complete("score", "nodes=1", "wa") == ["walltime=", "wait="]
    assert complete("score", "nodes", "=") == [] and complete("score", "nodes", "=", "n") == []
    assert "ccr" in complete("score", "--policy", "")
