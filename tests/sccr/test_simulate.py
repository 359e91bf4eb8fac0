"""sccr simulate: the options, the readers, the schedulers against cases worked out by hand and against
published schedules."""
import csv
import json
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import REPO

HEAD = "id,submit,runtime,limit,cpus,gpus,user,account\n"
NODES_OF_CASES = ["-N", "2", "--cpus", "1"]


def write(tmp_path, text, name="work.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def starts(sccr, tmp_path, text, *arguments):
    """Runs it and gives the start of each job, and the figures of the run."""
    jobs = tmp_path / "jobs.csv"
    r = sccr("simulate", "--json", "--jobs", jobs, *arguments, write(tmp_path, text))
    assert r.returncode == 0, r.stderr
    with open(jobs) as f:
        rows = list(csv.DictReader(f))
    return {row["id"]: float(row["start"]) for row in rows}, json.loads(r.stdout)["runs"][0], rows


# --- options -----------------------------------------------------------------------------------------

def test_help_version_and_wrong_use(sccr, tmp_path):
    work = write(tmp_path, HEAD + "a,0,1,1,1,0,u,g\n")
    assert "usage: sccr simulate" in sccr("simulate", "--help").stdout
    assert sccr("simulate", "--help").returncode == 0
    for arguments in ([], ["--nonsense", work], ["-N"], ["-N", "none", work], [work, work],
                      ["--json", "--csv", "-N", "1", work], ["-c", work, "-N", "1", work], [work],
                      ["-N", "1", "-s", "nothing", work], ["-N", "1", "-s", ",", work]):
        r = sccr("simulate", *arguments)
        assert r.returncode == 2, arguments
        assert r.stderr.startswith("sccr simulate: ") and r.stdout == ""
    for arguments in ([tmp_path / "none.csv"], ["-N", "1", tmp_path / "none.csv"],
                      ["-N", "1", "-p", tmp_path / "none.json", work],
                      ["-c", tmp_path / "none.conf", work], ["-N", "1", "-o", "/nowhere/x", work]):
        r = sccr("simulate", *arguments)
        assert r.returncode == 1, arguments
        assert r.stderr.startswith("sccr simulate: ")


@pytest.mark.parametrize("option, value, expected", [
    ("-N", "0", "--nodes"), ("--cpus", "0", "--cpus"), ("--gpus", "65", "--gpus"), ("--mem", "much", "--mem"),
    ("-d", "-1", "--depth"), ("--cycle", "-1", "--cycle"), ("--period", "now", "--period"), ("--max-test", "0", "--max-test"),
    ("-f", "xml", "--format"), ("-s", "ccr,none", "--scheduler"), ("-s", "x," * 300, "--scheduler"), ("-s", "easy,easy", "--scheduler")])
def test_a_value_that_is_not_understood_is_of_an_option(sccr, option, value, expected):
    found = {"ccr,none": "none", "easy,easy": "easy"}.get(value, value[:1] if "," in value else value)
    r = sccr("simulate", "-N", "1", option, value, "WORK")
    assert r.returncode == 2 and re.match(rf'sccr simulate: {expected}: found "{found}.*", expected \w', r.stderr), r.stderr


def test_options_that_say_nothing_are_not_passed_over(sccr, tmp_path):
    work, conf = write(tmp_path, HEAD + "a,0,1,1,1,0,u,g\n"), write(tmp_path, "NodeName=n1 CPUs=4\n", "c.conf")
    for option in ("--cpus", "--gpus", "--mem"):
        for rest in ([work], ["-c", conf, work]):
            r = sccr("simulate", option, "3", *rest)
            assert r.returncode == 2 and r.stderr.startswith(f"sccr simulate: {option} describes the nodes of --nodes")
    r = sccr("simulate", "-N", "1", "--title", "x", work)
    assert r.returncode == 2 and "--title" in r.stderr
    # the same line may serve several schedulers: this is said, and no fault
    given = ["-p", "aqua", "-d", "3", "--period", "60"]
    for schedulers, unused in (("fcfs", given[::2]), ("recorded,fcfs", given[::2]), ("fcfs,easy", []), ("ccr", [])):
        r = sccr("simulate", "-N", "1", "-s", schedulers, *given, work.parent / "wait.csv", input="")
        assert r.returncode == 1  # no such file
        said = re.findall("(--[a-z]+) is not used", r.stderr)
        assert said == [{"-p": "--policy", "-d": "--depth"}.get(x, x) for x in ("-p", "--period", "-d") if x in unused]
    r = sccr("simulate", "-N", "1", "-s", "easy", "--period", "60", work)
    assert r.returncode == 0 and "--period is not used: there are no scores with easy without --policy" in r.stderr


# --- what is written ---------------------------------------------------------------------------------

def snapshot(folder):
    return {p.name: (p.is_symlink(), p.read_bytes() if p.exists() else None) for p in folder.iterdir()}


@pytest.fixture
def desk(tmp_path):
    """A workload, a cluster and a policy, by several names each."""
    folder = tmp_path / "desk"
    folder.mkdir()
    for name, text in (("work.csv", HEAD + "a,0,1,1,1,0,u,g\n"), ("c.conf", "NodeName=n1 CPUs=4\n"),
                       ("p.json", '{"version": 1, "preset": "ccr"}')):
        path = write(folder, text, name)
        (folder / f"link-{name}").symlink_to(name)
        os.link(path, folder / f"hard-{name}")
    (folder / "to-nothing").symlink_to("nothing")
    return folder


@pytest.mark.parametrize("option", ["--jobs", "-o", "--html"])
def test_no_input_is_an_output(sccr, desk, option):
    before = snapshot(desk)
    for name, what in (("work.csv", "the workload"), ("c.conf", "the cluster"), ("p.json", "the policy")):
        for output in (name, f"link-{name}", f"hard-{name}", f"../desk/{name}"):
            for text in ("work.csv", "-"):
                r = sccr("simulate", "-c", "c.conf", "-p", "p.json", option, output, text, cwd=desk,
                         stdin=open(desk / "work.csv") if text == "-" else None)
                assert r.returncode == 2 and r.stdout == "" and f'"{output}" is {what}' in r.stderr
    assert snapshot(desk) == before


@pytest.mark.parametrize("one, other", [("new", "new"), ("new", "./new"), ("to-nothing", "nothing"), ("old", "../desk/old")])
def test_no_two_outputs_are_one_file(sccr, desk, one, other):
    (desk / "old").write_text("kept\n")
    before = snapshot(desk)
    for options in (["--jobs", one, "--html", other], ["-o", one, "--jobs", other], ["--html", one, "-o", other]):
        r = sccr("simulate", "-c", "c.conf", *options, "work.csv", cwd=desk)
        assert r.returncode == 2 and " is the file of --" in r.stderr and r.stdout == ""
    assert snapshot(desk) == before
    with open(desk / "old", "a") as out:
        r = subprocess.run([sccr.path, "simulate", "-c", "c.conf", "--jobs", "old", "work.csv"], cwd=desk, stdout=out,
                           stderr=subprocess.PIPE, text=True, check=False)
    assert r.returncode == 2 and "is standard output" in r.stderr
    assert snapshot(desk) == before


def test_a_dash_is_standard_output(sccr, desk):
    before = snapshot(desk)
    plain = sccr("simulate", "-c", "c.conf", "work.csv", cwd=desk)
    assert sccr("simulate", "-c", "c.conf", "-o", "-", "work.csv", cwd=desk).stdout == plain.stdout
    for options in (["--jobs", "-"], ["--html", "-"], ["-o", "/dev/null", "--jobs", "-", "--html", "-"]):
        r = sccr("simulate", "-c", "c.conf", *options, "work.csv", cwd=desk)
        assert r.returncode == 2 and r.stdout == "", options
    assert snapshot(desk) == before
    r = sccr("simulate", "-c", "c.conf", "-o", "figures", "--jobs", "-", "work.csv", cwd=desk)
    assert r.stdout.startswith("scheduler,") and (desk / "figures").read_text() == plain.stdout
    with open(desk / "kept", "a+") as out:  # appended, as the shell's >> does
        out.write("line\n")
        out.flush()
        assert subprocess.run([sccr.path, "simulate", "-c", "c.conf", "-o", "figures", "--jobs", "-", "work.csv"], cwd=desk,
                              stdout=out, check=False).returncode == 0
    assert (desk / "kept").read_text() == "line\n" + r.stdout
    here, there = os.openpty()  # a terminal would show both, in pieces
    p = subprocess.run([sccr.path, "simulate", "-c", "c.conf", "--jobs", "-", "work.csv"], cwd=desk, stdout=there,
                       stderr=subprocess.PIPE, check=False)
    assert p.returncode == 2
    os.close(here)
    os.close(there)


def test_outputs_may_be_thrown_away_together(sccr, desk):
    r = sccr("simulate", "-c", "c.conf", "-o", "/dev/null", "--jobs", "/dev/null", "--html", "/dev/null", "work.csv", cwd=desk)
    assert r.returncode == 0 and r.stdout == "" and r.stderr == ""


def test_outputs_and_schedulers_are_refused_before_the_workload_is_read(sccr, desk):
    before = snapshot(desk)
    for options, code in ((["-o", "no/x"], 1), (["--jobs", "no/x"], 1), (["--html", "."], 1), (["-s", "ccr,nothing"], 2)):
        here, there = os.pipe()  # a workload that never ends
        r = sccr("simulate", "-N", "1", "--jobs", "new", *options, "-", cwd=desk, stdin=here)
        os.close(here)
        os.close(there)
        assert r.returncode == code and r.stdout == ""
    assert snapshot(desk) == before


def test_a_result_is_replaced_by_a_result_alone(sccr, desk):
    old = "what stood there before, and longer than what comes\n" * 1000
    for name in ("figures", "jobs", "page"):
        (desk / name).write_text(old)
    outputs = ["-o", "figures", "--jobs", "jobs", "--html", "page"]
    before = snapshot(desk)
    for words in (["-N", "1", "nothing.csv"], ["work.csv"], ["-N", "1", "--strict", "c.conf"], ["-N", "1", "-s", "recorded", "work.csv"]):
        assert sccr("simulate", *outputs, *words, cwd=desk).returncode in (1, 2)
        assert snapshot(desk) == before
    assert sccr("simulate", "-N", "1", *outputs, "work.csv", cwd=desk).returncode == 0
    after = snapshot(desk)
    assert b"jobs started" in after["figures"][1] and after["jobs"][1].startswith(b"scheduler,")
    assert after["page"][1].rstrip().endswith(b"</html>")
    assert all(b"stood there" not in after[name][1] for name in ("figures", "jobs", "page"))


# What a terminal might obey: escape, bell, delete, its 8-bit relatives in UTF-8 and Latin-1, half a character.
ODD = b"\033[31m\a\x7f\xc2\x9b\x9b\xe2\x82"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def test_nothing_of_the_input_is_obeyed_by_a_terminal(sccr, tmp_path):
    csv_text = HEAD.encode() + b"".join(
        line.replace(b"@", ODD) for line in (b"i@,0,9,9,1,0,u@,g@\n", b"j,1@,9,9,1,0,u,g\n", b"k@,1,9,9,99,0,u,g\n"))
    head = b"JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ReqTRES|User|Account\n"
    row = b"1|2026-01-01T00:00:00|2026-01-01T00:00:05|2026-01-01T00:01:05|60|2|COMPLETED|cpu=1,node=1|ana|phys\n"
    sacct = head + row + b"".join(b"|".join(f + (ODD if i == k else b"") for i, f in enumerate(row[:-1].split(b"|"))) + b"\n"
                                  for k in range(10))
    swf = b"; MaxNodes: 1\n1 0 5 10 1 -1 -1 1 20 -1 1 1 1 -1 1 1 -1 -1\n1 0 @\n".replace(b"@", ODD)
    folder = os.path.join(os.fsencode(tmp_path), b"dir" + ODD)
    os.mkdir(folder)
    policy = os.path.join(folder, b"p.json")
    with open(policy, "w") as f:
        f.write('{"version": 1, "preset": "ccr"}')
    for text, partition in ((csv_text, b""), (sacct, b""), (swf, b""), (csv_text, b"PartitionName=p@ Nodes=ALL Default=YES\n"),
                            (ODD * 3, b""), (csv_text, b"Node@Name\n"), (csv_text, b"NodeName=@ CPUs=@\n")):
        work, conf = os.path.join(folder, b"work"), os.path.join(folder, b"c.conf")
        for path, what in ((work, text), (conf, b"NodeName=n1 CPUs=4\n" + partition.replace(b"@", ODD))):
            with open(path, "wb") as f:
                f.write(what)
        for form in ("--csv", "--json", "-q"):
            r = subprocess.run([sccr.path, "simulate", "-c", conf, "-p", policy, "--jobs", tmp_path / "jobs", "--html", tmp_path / "page",
                                form, work], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            written = [r.stdout, r.stderr]
            if r.returncode == 0:
                written += [(tmp_path / "jobs").read_bytes(), (tmp_path / "page").read_bytes().replace(b"\t", b"")]
            for stream in written:
                assert not CONTROLS.search(stream.decode()), stream  # it is UTF-8, too
            if r.returncode == 0 and form == "--json":
                json.loads(r.stdout)


def test_names_with_commas_and_quotes_are_fields_of_csv(sccr, tmp_path):
    work = write(tmp_path, HEAD + '"a,""1""",0,1,1,1,0,"u,1","g ""x"", y"\n')
    r = sccr("simulate", "-N", "1", "--csv", "--jobs", tmp_path / "jobs", work)
    assert {row["name"] for row in csv.DictReader(r.stdout.splitlines()) if row["kind"] == "group"} == {'g "x", y'}
    with open(tmp_path / "jobs") as f:
        assert [(row["id"], row["user"], row["account"]) for row in csv.DictReader(f)] == [('a,"1"', "u,1", 'g "x", y')]


def test_nothing_but_text_in_a_pipe(sccr, tmp_path):
    r = sccr("simulate", *NODES_OF_CASES, write(tmp_path, HEAD + "a,0,1,1,1,0,u,g\n"))
    assert r.returncode == 0
    assert "\033" not in r.stdout + r.stderr and "\r" not in r.stderr and r.stderr == ""


def test_a_terminal_gets_a_progress_bar(sccr, tmp_path):
    lines = "".join(f"{i},{i},900,1000,1,0,u,g\n" for i in range(60000))
    work = write(tmp_path, HEAD + lines)
    here, there = os.openpty()
    p = subprocess.Popen([sccr.path, "simulate", "-N", "400", "--cpus", "2", "-s", "easy", str(work)],
                         stdout=subprocess.DEVNULL, stderr=there)
    os.close(there)
    said = b""
    while True:
        try:
            block = os.read(here, 65536)
        except OSError:
            break
        if not block:
            break
        said += block
    os.close(here)
    assert p.wait() == 0
    assert re.search(rb"easy +\[#*\.+\] +\d+ %, \d+ running, \d+ queued, \d+:\d\d left", said), said[:200]
    assert said.endswith(b"\r\033[K")


def test_interrupt_prints_the_figures_so_far(sccr, tmp_path):
    lines = "".join(f"{i},{i * 3},{900 + i % 1000},2000,1,0,u{i % 7},g{i % 3}\n" for i in range(400000))
    work, page = write(tmp_path, HEAD + lines), tmp_path / "page.html"
    p = subprocess.Popen([sccr.path, "simulate", "-N", "300", "--cpus", "1", "-s", "ccr", "--json", str(work),
                          "--html", str(page), "--jobs", str(tmp_path / "jobs")],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while time.monotonic() < until and p.poll() is None:  # some jobs have ended
        if (tmp_path / "jobs").exists() and (tmp_path / "jobs").stat().st_size > 0:
            break
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 130, err
    run = json.loads(out)["runs"][0]
    assert run["complete"] is False and 0 < run["jobs"] < 400000
    assert page.read_text().rstrip().endswith("</html>")


# --- readers -----------------------------------------------------------------------------------------

SWF = """; MaxNodes: 2
; MaxProcs: 2
1 0 5 10 1 -1 -1 1 20 -1 1 1 1 -1 1 1 -1 -1
2 0 0 10 1 -1 -1 1 20 -1 1 2 1 -1 1 1 -1 -1
3 1 9 10 1 -1 -1 1 20 -1 1 1 1 -1 1 1 1 7
"""
SACCT = """JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ReqTRES|User|Account
7|2026-01-01T00:00:00|2026-01-01T00:00:05|2026-01-01T00:01:05|60|2|COMPLETED|cpu=1,node=1|ana|phys
7.batch|2026-01-01T00:00:00|2026-01-01T00:00:05|2026-01-01T00:01:05|60||COMPLETED|cpu=1|ana|phys
8|2026-01-01T00:00:30|2026-01-01T00:01:05|2026-01-01T00:02:05|60|2|TIMEOUT|cpu=2,node=2|bo|chem
9|2026-01-01T00:00:40|Unknown|Unknown|0|2|PENDING|cpu=1,node=1|bo|chem
"""


def test_swf_with_its_header_and_think_times(sccr, tmp_path):
    r = sccr("simulate", "-s", "fcfs,recorded", "--json", "--jobs", tmp_path / "j", write(tmp_path, SWF, "w.swf"))
    assert r.returncode == 0, r.stderr
    with open(tmp_path / "j") as f:
        rows = list(csv.DictReader(f))
    fcfs = {x["id"]: float(x["start"]) for x in rows if x["scheduler"] == "fcfs"}
    # job 3 is submitted 7 s after job 1 has ended
    assert fcfs == {"1": 0, "2": 0, "3": 17}
    recorded = {x["id"]: float(x["start"]) for x in rows if x["scheduler"] == "recorded"}
    assert recorded == {"1": 5, "2": 0, "3": 5 + 10 + 7 + 9}
    assert json.loads(r.stdout)["runs"][1]["wait_mean"] == pytest.approx(14 / 3, abs=0.001)


def test_sacct_from_standard_input(sccr, tmp_path):
    r = sccr("simulate", "-N", "2", "-s", "recorded,fcfs", "--json", "-", input=SACCT)
    assert r.returncode == 0, r.stderr
    assert "1 job never ran or has not ended and is left out" in r.stderr
    runs = json.loads(r.stdout)["runs"]
    assert [x["wait_mean"] for x in runs] == [20, 15]  # (5 + 35) / 2, (0 + 30) / 2
    assert {g["name"] for g in runs[0]["groups"]} == {"phys", "chem"}


def test_a_job_that_left_the_queue_is_left_out(sccr, tmp_path):
    """Each way of never running, in the run of the man page's example: told, and the figures are of the rest."""
    gone = "".join(f"{20 + i}|2026-01-01T00:00:{10 + i}|{start}|2026-01-01T00:05:00|0|2|{state}|cpu=1,node=1|ana|phys\n"
                   for i, (state, start) in enumerate([
                       ("DEADLINE", "None"), ("DEADLINE", "Unknown"), ("CANCELLED by 5", "None"), ("REVOKED", "None"),
                       ("BOOT_FAIL", "None"), ("DEADLINE", "2026-01-01T00:05:00"), ("REQUEUED", "None"), ("FAILED", "None")]))
    plain = sccr("simulate", "-N", "2", "-s", "recorded,whole-node,ccr", "--json", "-", input=SACCT)
    r = sccr("simulate", "-N", "2", "-s", "recorded,whole-node,ccr", "--json", "-", input=SACCT + gone)
    assert r.returncode == 0 and "9 jobs never ran or have not ended and are left out" in r.stderr
    assert json.loads(r.stdout)["runs"] == json.loads(plain.stdout)["runs"]
    assert json.loads(r.stdout)["workload"]["skipped"] == 9


def test_recorded_leaves_out_what_has_no_start(sccr, tmp_path):
    """One job without a start is a bad line, for every scheduler alike: their figures are of the same jobs."""
    work = write(tmp_path, "submit,runtime,cpus,wait,id\n0,1,1,5,a\n1,1,1,,b\n2,1,1,4,c\n")
    r = sccr("simulate", "-N", "1", "-s", "ccr,recorded", "--json", work)
    assert r.returncode == 0 and "work.csv:3: job b: no start at or after its submission is recorded" in r.stderr
    assert [run["jobs"] for run in json.loads(r.stdout)["runs"]] == [2, 2]
    assert json.loads(sccr("simulate", "-N", "1", "--json", work).stdout)["runs"][0]["jobs"] == 3
    assert sccr("simulate", "-N", "1", "-s", "recorded", "--strict", work).returncode == 1
    assert sccr("simulate", "-N", "1", "-s", "recorded", "--html", tmp_path / "page", work).returncode == 0
    assert "on no particular node: nodes stay empty" in (tmp_path / "page").read_text()
    early = SACCT.replace("|2026-01-01T00:01:05|2026-01-01T00:02:05|", "|2025-12-31T00:01:05|2026-01-01T00:02:05|")
    r = sccr("simulate", "-N", "2", "-s", "recorded", "--json", "-", input=early)
    assert "standard input:4: job 8: no start at or after" in r.stderr and json.loads(r.stdout)["runs"][0]["jobs"] == 1
    r = sccr("simulate", "-N", "1", "-s", "ccr,recorded", write(tmp_path, "submit,runtime,cpus\n0,1,1\n"))
    assert r.returncode == 1 and "no column says when jobs started" in r.stderr and r.stdout == ""


@pytest.mark.parametrize("head, nodes, cpus", [("; MaxNodes: 3\n", 3, 3), ("; MaxProcs: 3\n", 3, 3),
                                               ("; MaxNodes: 3\n; MaxProcs: 6\n", 3, 6)])
def test_the_cluster_of_an_swf_header(sccr, tmp_path, head, nodes, cpus):
    work = write(tmp_path, head + "1 0 5 10 1 -1 -1 1 20 -1 1 1 1 -1 1 1 -1 -1\n", "w.swf")
    cluster = json.loads(sccr("simulate", "--json", work).stdout)["cluster"]
    assert (cluster["nodes"], cluster["cpus"]) == (nodes, cpus)


def test_a_limit_above_maxtime_is_told_as_that(sccr, tmp_path):
    conf = write(tmp_path, "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES MaxTime=1\n", "c.conf")
    work = write(tmp_path, HEAD + "a,0,30,600,1,0,u,g\nb,0,90,600,1,0,u,g\nc,0,90,50,1,0,u,g\nd,0,50,50,1,0,u,g\n")
    for options, ending, over in ((["--no-kill"], 90, "it runs on"), ([], 60, "ended at it")):
        r = sccr("simulate", "-c", conf, "--json", "--jobs", tmp_path / "jobs", *options, work)
        assert "1 job ran longer than its limit: " + over in r.stderr
        assert "2 jobs ask for more time than their partition's MaxTime" in r.stderr
        assert "1 of these ran longer than MaxTime: " + over in r.stderr
        counts = json.loads(r.stdout)["workload"]
        assert [counts[k] for k in ("cut", "over_max", "over_max_cut")] == [1, 2, 1]
        with open(tmp_path / "jobs") as f:
            rows = {row["id"]: row for row in csv.DictReader(f)}
        assert float(rows["b"]["end"]) == ending and float(rows["b"]["limit"]) == 60


def test_a_job_without_an_id_can_never_run_either(sccr, tmp_path):
    r = sccr("simulate", "-N", "1", write(tmp_path, "submit,runtime,cpus\n0,1,1\n0,1,99\n"))
    assert "work.csv:3: the job can never run: it asks for" in r.stderr


def test_bad_lines_are_named_counted_and_refused(sccr, tmp_path):
    work = write(tmp_path, HEAD + "a,0,1,1,1,0,u,g\nb,0,1,1,9,0,u,g\nc,x,1,1,1,0,u,g\nd,0,1\n")
    r = sccr("simulate", *NODES_OF_CASES, "--json", work)
    assert r.returncode == 0
    assert re.search(r"work.csv:3: job b can never run: it asks for more CPUs", r.stderr)
    assert re.search(r"work.csv:4: submit: seconds or .* is expected, found \"x\"", r.stderr)
    assert re.search(r"work.csv:5: 8 fields are expected", r.stderr)
    assert "3 of 5 lines are bad" in r.stderr
    assert json.loads(r.stdout)["workload"]["bad"] == 3
    assert json.loads(r.stdout)["runs"][0]["jobs"] == 1
    r = sccr("simulate", *NODES_OF_CASES, "--strict", work)
    assert r.returncode == 1 and r.stdout == "" and "refused for its bad lines" in r.stderr
    many = write(tmp_path, HEAD + "a,0,1,1,1,0,u,g\n" + "x\n" * 50, "many.csv")
    r = sccr("simulate", *NODES_OF_CASES, many)
    assert r.stderr.count("fields are expected") == 20 and "and 30 more bad lines" in r.stderr


@pytest.mark.parametrize("text", [b"\0\0\0", b"submit,runtime,cpus\n" + b"\xff" * 5000, b"1 2\n" * 100,
                                  b"submit|x\n|||||||\n", b"submit,runtime,cpus\n0,1e400,1\n", b""])
def test_rubbish_is_refused(sccr, tmp_path, text):
    path = tmp_path / "rubbish"
    path.write_bytes(text)
    r = sccr("simulate", *NODES_OF_CASES, path)
    assert r.returncode == 1 and r.stderr.startswith("sccr simulate: ")


# --- figures, worked out by hand ---------------------------------------------------------------------

# Two nodes of one CPU. A takes both for 100 s, B waits 90 s for one of them, C 80 s for the other.
BY_HAND = HEAD + "A,0,100,100,2,0,u,g\nB,10,50,50,1,0,u,g\nC,20,100,200,1,0,v,h\n"


def test_figures_worked_out_by_hand(sccr, tmp_path):
    when, run, _ = starts(sccr, tmp_path, BY_HAND, *NODES_OF_CASES, "-s", "fcfs")
    assert when == {"A": 0, "B": 100, "C": 100}
    assert run["wait_mean"] == pytest.approx(170 / 3, abs=0.001)
    assert run["wait_median"] == 80 and run["wait_p95"] == 90 and run["wait_max"] == 90
    assert run["slowdown_mean"] == pytest.approx((1 + 140 / 50 + 180 / 100) / 3, abs=0.001)
    assert run["makespan"] == 200
    assert run["cpu_utilisation"] == pytest.approx(100 * (200 + 50 + 100) / 400, abs=0.001)
    assert run["queue_mean"] == pytest.approx(170 / 200, abs=0.001)
    assert {g["name"]: (g["jobs"], g["wait_mean"]) for g in run["groups"]} == {"g": (2, 45), "h": (1, 80)}
    assert [s["name"] for s in run["sizes"]] == ["1 CPU", "2-8 CPUs"]


def test_gpu_figures_worked_out_by_hand(sccr, tmp_path):
    # n1 with 4 CPUs and 2 GPUs: a takes all CPUs and one GPU for 100 s, so the other one is stranded while
    # b waits for it
    text = HEAD + "a,0,100,100,4,1,u,g\nb,0,100,100,1,1,u,g\n"
    when, run, _ = starts(sccr, tmp_path, text, "-N", "1", "--cpus", "4", "--gpus", "2", "-s", "easy")
    assert when == {"a": 0, "b": 100}
    assert run["gpu_utilisation"] == 50
    assert run["gpu_idle_while_waiting"] == 50
    assert run["gpu_idle_while_waiting_hours"] == pytest.approx(100 / 3600, abs=0.001)
    assert run["gpu_stranded"] == 50  # of 200 idle GPU seconds 100 without a CPU
    assert run["gpu_fragmentation"] == 100
    assert run["estimates"] == 1 and run["estimate_error_mean"] == 0


def test_text_json_and_csv_say_the_same(sccr, tmp_path):
    work = write(tmp_path, BY_HAND)
    as_json = json.loads(sccr("simulate", *NODES_OF_CASES, "-s", "easy,fcfs", "--json", work).stdout)
    out = tmp_path / "figures.csv"
    r = sccr("simulate", *NODES_OF_CASES, "-s", "easy,fcfs", "--csv", "-o", out, work)
    assert r.returncode == 0 and r.stdout == ""
    with open(out) as f:
        rows = list(csv.DictReader(f))
    for run in as_json["runs"]:
        mine = {r["figure"]: float(r["value"]) for r in rows
                if r["scheduler"] == run["scheduler"] and r["kind"] == "all"}
        assert mine == {k: v for k, v in run.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    text = sccr("simulate", *NODES_OF_CASES, "-s", "easy,fcfs", work).stdout
    assert re.search(r"^wait, mean +56\.7 s +56\.7 s$", text, re.M)
    assert re.search(r"^CPUs in use +87\.5 % +87\.5 %$", text, re.M)


def test_golden_text(sccr, tmp_path):
    """The whole text of a run, as it was looked through once."""
    days = subprocess.run([f"{REPO}/examples/aqua-days.py", "--jobs", "60", "--days", "0.5"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    r = sccr("simulate", "-c", f"{REPO}/examples/aqua-cluster.conf", "-s", "fcfs,easy,conservative,whole-node",
             "--cycle", "60", "-", input=days)
    assert r.returncode == 0 and r.stderr == ""
    with open(f"{REPO}/tests/golden/simulate/aqua-half-day.txt") as f:
        assert r.stdout == f.read()


# --- schedulers: cases of the field ------------------------------------------------------------------

MODELS = ["fcfs", "easy", "conservative", "whole-node", "ccr"]


@pytest.mark.parametrize("scheduler", MODELS)
def test_a_filler_starts_only_if_it_ends_in_time(sccr, tmp_path, scheduler):
    # R37: A ends early, and B must not start later than its first booking
    text = HEAD + "A,0,7200,14400,1,0,u,g\nB,3600,3600,3600,2,0,u,g\nC,3600,7200,7200,1,0,u,g\nD,3600,10,99999,1,0,u,g\n"
    when, _, rows = starts(sccr, tmp_path, text, *NODES_OF_CASES, "-s", scheduler, "--period", "0")
    assert when["A"] == 0
    if scheduler == "fcfs":
        assert when["B"] == 7200 and when["C"] == when["D"] == 10800
    else:
        # C fills until 10800; A has ended at 7200, so B starts when C has; D is too long to fill
        assert when["C"] == 3600 and when["B"] == 10800
        assert when["D"] >= when["B"]
        row = next(r for r in rows if r["id"] == "B")
        assert float(row["first_estimate"]) == 14400
        assert next(r for r in rows if r["id"] == "C")["filler"] == "1"


def test_a_filler_beside_a_booking_of_a_part_of_a_node(sccr, tmp_path):
    """Case A of the field: GPUs that a booked job leaves. Whole-node bookings hold the fillers back."""
    # n1 has 2 of 4 GPUs busy for 180 s, n2 all 4 for 1800 s; A wants 3 GPUs; F wants one GPU for an hour
    text = HEAD + ("R1,0,180,180,2,2,u,g\nR2,0,1800,1800,4,4,u,g\nA,1,600,600,3,3,u,g\n"
                   "F,2,3600,3600,1,1,u,g\n")
    cluster = ["-N", "2", "--cpus", "16", "--gpus", "4"]
    when, _, _ = starts(sccr, tmp_path, text, *cluster, "-s", "ccr")
    assert when["A"] == 180 and when["F"] == 2
    when, _, _ = starts(sccr, tmp_path, text, *cluster, "-s", "whole-node")
    assert when["A"] == 180 and when["F"] == 180


def test_depth_and_strict(sccr, tmp_path):
    # R22: one node of two CPUs; 1 CPU runs for 100 s, 2 CPUs are blocked, 1 CPU for 50 s would fill
    text = HEAD + "a,0,100,100,1,0,u,g\nb,1,100,100,2,0,u,g\nc,2,50,50,1,0,u,g\nd,3,500,500,1,0,u,g\n"
    node = ["-N", "1", "--cpus", "2"]
    when, run, _ = starts(sccr, tmp_path, text, *node, "-s", "ccr", "-d", "1")
    assert when["c"] == 2 and when["b"] == 100 and when["d"] == 200
    # without bookings nothing holds d back
    when, run, _ = starts(sccr, tmp_path, text, *node, "-s", "ccr", "-d", "0")
    assert run["estimates"] == 0
    assert when["c"] == 2 and when["d"] == 52 and when["b"] == 552
    policy = write(tmp_path, '{"version": 1, "preset": "ccr", "backfill": {"depth": 0, "strict": true}}', "s.json")
    when, _, _ = starts(sccr, tmp_path, text, *node, "-s", "ccr", "-p", policy)
    assert when["b"] == 100 and when["c"] == 200 and when["d"] == 200


def test_cpu_jobs_go_to_nodes_without_gpus(sccr, tmp_path):
    # R05: both must start at once
    cluster = write(tmp_path, "NodeName=g1 CPUs=32 Gres=gpu:a100:4\nNodeName=c1 CPUs=32\n", "c.conf")
    text = HEAD + "p1,0,100,100,32,0,u,g\np2,0,100,100,4,4,u,g\n"
    when, _, rows = starts(sccr, tmp_path, text, "-c", cluster, "-s", "ccr")
    assert when == {"p1": 0, "p2": 0}
    assert {r["id"]: r["node_list"] for r in rows} == {"p1": "c1", "p2": "g1"}


def test_small_jobs_pack(sccr, tmp_path):
    # R02: two jobs of one GPU, then one that wants a whole node of 4
    text = HEAD + "a,0,100,100,1,1,u,g\nb,0,100,100,1,1,u,g\nc,0,100,100,4,4,u,g\n"
    when, _, _ = starts(sccr, tmp_path, text, "-N", "2", "--cpus", "16", "--gpus", "4", "-s", "ccr")
    assert set(when.values()) == {0}


def test_the_group_that_used_less_goes_first(sccr, tmp_path):
    # R43: a has used the machine for two hours when one job of each group waits
    text = HEAD + "".join(f"u{i},0,7200,7200,1,0,x,a\n" for i in range(2)) + \
        "late-a,60,600,600,2,0,x,a\nlate-b,120,600,600,2,0,y,b\n"
    policy = write(tmp_path, '{"version": 1, "preset": "ccr", "groups": {"a": {"target": 50}, "b": {"target": 50}}}',
                   "p.json")
    when, _, _ = starts(sccr, tmp_path, text, *NODES_OF_CASES, "-s", "ccr", "-p", policy, "-d", "0")
    assert when["late-b"] == 7200 and when["late-a"] == 7800
    # a promise that was made holds, though: late-a was booked before late-b ranked above it
    when, _, _ = starts(sccr, tmp_path, text, *NODES_OF_CASES, "-s", "ccr", "-p", policy)
    assert when["late-a"] == 7200 and when["late-b"] == 7800
    when, _, _ = starts(sccr, tmp_path, text, *NODES_OF_CASES, "-s", "easy")
    assert when["late-a"] == 7200


USED = "id,submit,runtime,limit,cpus,account,qos\nx,0,7200,7200,1,a,gold\ny,0,7200,7200,1,b,gold\n" \
       "one,60,600,600,2,b,gold\ntwo,120,600,600,2,a,silver\n"


@pytest.mark.parametrize("expression, groups, first", [
    ('"qos": "100 - qos_usage"', "{}", "two"),
    ('"qos": "qos_usage"', "{}", "one"),
    # shares of the file come before targets; a group without any counts 1
    ('"fairshare": "fairshare_factor"', '{"a": {"target": 10, "shares": 9}, "b": {"target": 90}}', "two"),
    ('"fairshare": "fairshare_factor"', '{"a": {"target": 10}, "b": {"target": 90}}', "one"),
    ('"fairshare": "fairshare_factor"', '{"a": {"target": 90}, "b": {"target": 10}}', "two")])
def test_variables_are_those_of_the_plugin(sccr, tmp_path, expression, groups, first):
    conf = write(tmp_path, "NodeName=n[1-2] CPUs=1\nPriorityWeightQOS=1000\nPriorityWeightFairshare=1000\n"
                 "PartitionName=p Nodes=ALL Default=YES\n", "conf")
    policy = write(tmp_path, f'{{"version": 1, "policy": {{{expression}}}, "groups": {groups}}}', "p.json")
    when, _, _ = starts(sccr, tmp_path, USED, "-c", conf, "-p", policy, "-d", "0")
    assert min(("one", "two"), key=when.get) == first


def test_partitions_tiers_and_their_limits(sccr, tmp_path):
    cluster = write(tmp_path, "NodeName=n[1-2] CPUs=1\nPartitionName=low Nodes=n1 Default=YES DefaultTime=1 MaxTime=2\n"
                    "PartitionName=high Nodes=n1 PriorityTier=10\nPartitionName=other Nodes=n2\n", "c.conf")
    text = ("id,submit,runtime,limit,cpus,partition\na,0,50,,1,\nb,1,100,60,1,low\nc,2,50,60,1,high\nd,2,50,60,1,other\n"
            "e,2,1,1,1,none\n")
    r = sccr("simulate", "--json", "--jobs", tmp_path / "j", "-c", cluster, write(tmp_path, text))
    assert r.returncode == 0
    assert 'partition "none" is not in the cluster' in r.stderr
    assert "1 job ran longer than its limit: ended at it" in r.stderr
    with open(tmp_path / "j") as f:
        rows = {x["id"]: x for x in csv.DictReader(f)}
    assert float(rows["a"]["limit"]) == 60
    assert float(rows["c"]["start"]) == 50 and float(rows["b"]["start"]) == 100
    assert float(rows["b"]["end"]) == 160
    assert rows["d"]["node_list"] == "n2" and float(rows["d"]["start"]) == 2


TWO = """NodeName=n[1-2] CPUs=4
PartitionName=p Nodes=n1 Default=YES
PartitionName=q Nodes=n2 MaxTime=10
"""
LISTS = """id,submit,runtime,limit,cpus,partition,user
a,0,100,100,4,p,u
b,0,50,50,4,q,u
c,1,10,10,4,"p,q",u
d,2,10,10,4,"p,q",u
e,3,10,700,4,"p,q",u
f,4,10,700,4,"none,q,q",u
"""


@pytest.mark.parametrize("scheduler", ["ccr", "easy", "conservative", "whole-node", "fcfs"])
def test_a_job_competes_in_each_of_its_partitions(sccr, tmp_path, scheduler):
    """It has one booking, the earliest of them; where its limit is too long it does not compete."""
    conf = write(tmp_path, TWO, "two.conf")
    started, run, rows = starts(sccr, tmp_path, LISTS, "-c", conf, "-s", scheduler, "--html",
                                tmp_path / "page.html")
    # f waits for c and d alone: e may not run in q, and f's limit is cut to that of its only one
    assert started == {"a": 0, "b": 0, "c": 50, "d": 60, "e": 100, "f": 70 if scheduler != "fcfs" else 100}
    assert {r["id"]: r["partition"] for r in rows} == {"a": "p", "b": "q", "c": "q", "d": "q",
                                                       "e": "p", "f": "q"}
    assert run["submitted"] == run["jobs"] == 6 and run["queue_max"] == 4
    first = {r["id"]: r["first_estimate"] for r in rows}
    if scheduler != "fcfs":
        assert first["c"] == "50"
    if scheduler in ("ccr", "conservative"):
        assert (first["d"], first["e"]) == ("60", "100")
    # no place of its own in the queue makes it pass itself
    assert {r["id"] for r in rows if r["filler"] == "1"} == ({"f"} if scheduler != "fcfs" else set())


@pytest.mark.parametrize("scheduler", ["ccr", "easy", "conservative", "whole-node"])
def test_a_job_that_starts_at_once_in_its_second_partition_had_no_booking(sccr, tmp_path, scheduler):
    conf = write(tmp_path, "NodeName=a1 CPUs=4\nNodeName=b1 CPUs=4\nPartitionName=gpu Nodes=a1\n"
                           "PartitionName=cpu Nodes=b1 Default=YES\n", "two.conf")
    text = ("id,submit,runtime,limit,cpus,partition\n1,0,60,600,4,gpu\n2,0,60,600,4,\"gpu,cpu\"\n"
            "3,0,60,600,4,gpu\n")
    started, run, rows = starts(sccr, tmp_path, text, "-c", conf, "-s", scheduler)
    assert started == {"1": 0, "2": 0, "3": 60}
    # what it had given up in gpu is 3's, at once
    assert {r["id"]: r["first_estimate"] for r in rows} == {"1": "", "2": "", "3": "600"}
    assert run["estimates"] == 1


def test_without_bookings_there_are_no_errors_of_them(sccr, tmp_path):
    work = write(tmp_path, HEAD + "a,0,10,10,1,0,u,g\n")
    node = ["-N", "1", "-s", "fcfs"]
    run = json.loads(sccr("simulate", *node, "--json", work).stdout)["runs"][0]
    for figure in ("estimate_error_mean", "estimate_error_median", "estimate_error_p95", "estimate_bias",
                   "estimate_late_max"):
        assert run[figure] is None
    text = sccr("simulate", *node, work).stdout
    assert re.search(r"^start estimate, mean error +-$", text, re.M)
    assert ": 1 job on 1 node, 1 CPU, 0 GPUs\n" in text
    assert "estimate_error" not in sccr("simulate", *node, "--csv", work).stdout


def test_what_nobody_can_read_is_refused(sccr, tmp_path):
    twice = write(tmp_path, "submit,runtime,cpus,CPUS\n0,1,1,2\n")
    assert "the header has column cpus twice" in sccr("simulate", "-N", "1", twice).stderr
    text = "submit,runtime,cpus\n0,1,1\n2026-02-30T00:00:00,1,1\n1,1,1\0x\n"
    r = sccr("simulate", "-N", "1", "--json", write(tmp_path, text, "zero.csv"))
    assert "zero.csv:3: submit: " in r.stderr and "zero.csv:4: a byte that is 0 is in it" in r.stderr
    assert json.loads(r.stdout)["workload"]["bad"] == 2
    r = sccr("simulate", "-N", "1", write(tmp_path, "submit,runtime,cpus\0\n0,1,1\n", "head.csv"))
    assert r.returncode == 1 and "head.csv:1: a byte that is 0 is in it" in r.stderr


def test_tiers_and_factors_of_each_partition_count(sccr, tmp_path):
    """Two jobs wait for one node, each with its own priority in each partition."""
    conf = write(tmp_path, "NodeName=n1 CPUs=1\nPriorityWeightPartition=1000\n"
                 "PartitionName=low Nodes=n1 Default=YES PriorityJobFactor=1\n"
                 "PartitionName=high Nodes=n1 PriorityJobFactor=10\n", "conf")
    jobs = "id,submit,runtime,limit,cpus,partition\na,0,10,10,1,low\nb,1,10,10,1,low\n" \
           "c,2,10,10,1,\"low,high\"\n"
    policy = write(tmp_path, '{"version": 1, "preset": "multifactor"}', "p.json")
    started, _, rows = starts(sccr, tmp_path, jobs, "-c", conf, "-p", policy)
    assert started == {"a": 0, "c": 10, "b": 20}
    assert [r["partition"] for r in rows if r["id"] == "c"] == ["high"]


def test_the_same_input_gives_the_same_bytes(sccr, tmp_path):
    days = subprocess.run([f"{REPO}/examples/aqua-days.py", "--jobs", "150"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    out = []
    for i in range(2):
        r = sccr("simulate", "-c", f"{REPO}/examples/aqua-cluster.conf", "-p", f"{REPO}/examples/aqua-groups.json",
                 "--cycle", "60", "--json", "--html", tmp_path / f"{i}.html", "--title", "x", "-", input=days)
        assert r.returncode == 0, r.stderr
        out.append((r.stdout, (tmp_path / f"{i}.html").read_text()))
    assert out[0] == out[1]


def test_fine_grained_bookings_beat_whole_nodes(sccr):
    days = subprocess.run([f"{REPO}/examples/aqua-days.py"], check=True, stdout=subprocess.PIPE, text=True).stdout
    r = sccr("simulate", "-c", f"{REPO}/examples/aqua-cluster.conf", "-p", f"{REPO}/examples/aqua-groups.json",
             "-s", "ccr,whole-node", "--cycle", "60", "--json", "-", input=days)
    ours, stock = json.loads(r.stdout)["runs"]
    assert ours["jobs"] == stock["jobs"] == 300
    assert ours["wait_mean"] < stock["wait_mean"]


# --- published schedules -----------------------------------------------------------------------------

def batsim_as_csv(path):
    with open(path) as f:
        work = json.load(f)
    lines = ["id,submit,runtime,limit,nodes,cpus"]
    for j in sorted(work["jobs"], key=lambda j: j["subtime"]):
        delay = work["profiles"][j["profile"]]["delay"]
        lines.append(f"{j['id']},{j['subtime']!r},{delay!r},{j['walltime']!r},{j['res']},{j['res']}")
    return "\n".join(lines) + "\n"


def numbers(text):
    """"3-5 9" as a set."""
    out = set()
    for part in text.split():
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out


def hosts(text):
    out = set()
    for one, first, last in re.findall(r"n(\d+)|n\[(\d+)-(\d+)\]", text):
        out |= {int(one) - 1} if one else set(range(int(first) - 1, int(last)))
    return out


@pytest.mark.parametrize("model", ["easy", "conservative"])
def test_published_schedule_comes_out_job_by_job(sccr, tmp_path, trace, model):
    work = batsim_as_csv(trace("batsim_medium_late.json"))
    _, run, rows = starts(sccr, tmp_path, work, "-N", "32", "--cpus", "1", "-s", model)
    with open(trace(f"batsim_medium_late_{model}.jobs.csv")) as f:
        published = {r["job_id"]: r for r in csv.DictReader(f)}
    assert len(rows) == len(published) == 801
    for row in rows:
        other = published[row["id"]]
        assert abs(float(row["start"]) - float(other["starting_time"])) <= 0.001, row
        assert hosts(row["node_list"]) == numbers(other["allocated_resources"]), row
    mean = sum(float(r["waiting_time"]) for r in published.values()) / 801
    assert run["wait_mean"] == pytest.approx(mean, abs=0.002)


def test_a_log_of_maui(sccr, tmp_path, trace):
    r = sccr("simulate", "-s", "recorded,easy,conservative,ccr", "--no-kill", "--json",
             trace("hpc2n_maui_3147.swf"))
    assert r.returncode == 0
    work = json.loads(r.stdout)["workload"]
    assert [work[k] for k in ("lines", "jobs", "bad", "skipped", "cut")] == [3194, 3145, 25, 0, 320]
    recorded, *others = json.loads(r.stdout)["runs"]
    with open(trace("hpc2n_maui_3147.swf")) as f:
        rows = [line.split() for line in f if line.strip() and line[0] != ";"]
    waits = [int(x[2]) for x in rows if float(x[3]) >= 0 and not (x[10] == "5" and float(x[3]) <= 0)]
    assert recorded["jobs"] == len(waits) == 3145
    assert recorded["wait_mean"] == pytest.approx(sum(waits) / len(waits), abs=0.001)
    for run in others:
        assert run["jobs"] == 3145 and run["wait_mean"] < recorded["wait_mean"]
