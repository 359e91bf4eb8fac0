"""Runs every suite of the project and counts; called by ./check, which says what the options are.

Each suite gives the names that passed, failed and were skipped. The full output of each is in
build/check-log; what is printed is a line a suite, the ends of what failed, the reasons of what was
skipped, and the totals.
"""
import argparse
import glob
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(REPO, "build", "check")
ASAN, LOG = OUT + "-asan", OUT + "-log"
MESON = "/usr/bin/meson"
TAIL = 60  # lines of a failed command that are shown
WORKERS = "6"  # cluster tests at a time: they wait for daemons far more than they compute
CI_BEGINS = 20 * 60  # --ci begins another Slurm version within so many seconds, or not at all
CI_MARK = "every_slurm"  # what --ci runs there, see pytest.ini
DEBIAN13 = "Slurm 24.11.5 of Debian 13"


class Suite:
    def __init__(self, name, counts=True):
        self.name = name
        self.counts = counts  # a build that worked is no test that passed
        self.passed, self.failed, self.skipped = [], [], []  # names; (name, text); (name, why)
        self.began = time.monotonic()
        self.slurm = None  # the version whose daemons it ran on

    def case(self, name, text):
        """One check that is a command: text is None if it passed, else what it said."""
        if text is None:
            if self.counts:
                self.passed.append(name)
        else:
            self.failed.append((name, text))

    def junit(self, path, prefix=""):
        """Adds the cases of a JUnit file; returns how many there were."""
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            return 0
        for case in cases:
            name = prefix + ".".join(filter(None, (case.get("classname"), case.get("name"))))
            bad = case.find("failure") if case.find("failure") is not None else case.find("error")
            skip = case.find("skipped")
            if bad is not None:
                self.failed.append((name, bad.text or bad.get("message") or ""))
            elif skip is not None:
                self.skipped.append((name, skip.get("message") or skip.text or "no reason given"))
            else:
                self.passed.append(name)
        return len(cases)

    def report(self):
        word = "FAILED" if self.failed else "ok"
        print(f"{self.name:10} {word:6} {len(self.passed):5} passed, {len(self.failed)} failed, "
              f"{len(self.skipped)} skipped  ({time.monotonic() - self.began:.0f} s)", flush=True)
        for name, text in self.failed:
            print(f"  FAILED {name}")
            kept = text.rstrip().splitlines()
            if len(kept) > TAIL:
                print(f"    ... {len(kept) - TAIL} lines before are in {os.path.relpath(LOG, REPO)}")
            for line in kept[-TAIL:]:
                print(f"    {line[:200]}")


def run(log, *argv, env=None, timeout=3600):
    """Runs a command with its output in log/LOG.txt: (exit code, output). Its process group is
    ended with it, whatever the reason."""
    path = os.path.join(LOG, log + ".txt")
    with open(path, "w+", errors="replace") as out:
        process = subprocess.Popen(argv, cwd=REPO, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, **(env or {})})
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {timeout} s\n")
            code = -1
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        out.seek(0)
        return code, out.read()


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], cwd=REPO, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.split()


def build(name, folder, *options):
    """A build from clean; the suite says whether it worked."""
    suite = Suite(name, counts=False)
    shutil.rmtree(folder, ignore_errors=True)
    code, text = run(name + "-setup", MESON, "setup", folder, *options)
    suite.case("meson setup", None if code == 0 else text)
    if code == 0:
        code, text = run(name, "ninja", "-C", folder)
        suite.case("ninja", None if code == 0 else text)
    return suite


def unit(name, folder, pattern, env=None):
    """meson test: the subtests of every Criterion program are counted."""
    suite = Suite(name)
    tests = []
    if pattern:
        listed = run(name + "-list", MESON, "test", "-C", folder, "--list")[1]
        tests = [l.split(" / ")[-1].strip() for l in listed.splitlines()
                 if " / " in l and pattern in l]
        if not tests:
            return suite
    code, text = run(name, MESON, "test", "-C", folder, "--no-rebuild", "--print-errorlogs",
                     *tests, env=env)
    found = suite.junit(os.path.join(folder, "meson-logs", "testlog.junit.xml"))
    if not found or (code and not suite.failed):
        # a program that died outside a test, or no result at all
        suite.case("meson test", text)
    return suite


def sanitized():
    """The unit tests under ASan, LSan and UBSan. A leak is found when a test's process ends, too
    late for Criterion to count it: every report file is a failure of its own."""
    report = os.path.join(LOG, "report")
    suite = unit("unit-asan", ASAN, "", env={
        "ASAN_OPTIONS": f"detect_leaks=1:log_path={report}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={report}"})
    for path in sorted(glob.glob(report + ".*")):
        with open(path, errors="replace") as text:
            suite.failed.append((os.path.basename(path), text.read()))
    return suite


def lint(quick):
    suite = Suite("lint")
    sources = tracked("src/*.[ch]", "tests/*.[ch]", "bench/*.[ch]", "examples/*.[ch]")

    def check(name, *argv):
        code, text = run(name, *argv)
        suite.case(name, None if code == 0 else text)
    check("clang-format", "clang-format-14", "--dry-run", "-Werror", *sources)
    # uthash's macros have to be known, and nothing else of the system's headers
    include = os.path.join(LOG, "include")
    os.makedirs(include)
    os.symlink("/usr/include/uthash.h", os.path.join(include, "uthash.h"))
    check("cppcheck", "cppcheck", "-q", "-j2", "--std=c11", "-D_GNU_SOURCE", "-Isrc",
          f"-I{include}", "--enable=warning,performance,portability", "--inline-suppr",
          "--error-exitcode=1", "src")
    if not quick:
        check("clang-tidy", "bash", "-c", 'printf "%s\\n" "$@" | xargs -P "$(nproc)" -n 4 '
              f"clang-tidy-14 --quiet -p {shlex.quote(OUT)}", "sh", *tracked("src/*.c"))
    pages = tracked("docs/*.[1-8]", "docs/man/*.[1-8]")
    if pages:
        check("mandoc", "mandoc", "-T", "lint", "-W", "warning", *pages)
    # warnings: no URL, and a build root that no rpm wants any more
    check("rpmlint", "bash", "-c", "rpmlint packaging/*.spec && rpmspec -q packaging/*.spec")
    check("pyflakes", "pyflakes3", *tracked("*.py"))
    scripts = [f for f in tracked() if os.path.isfile(os.path.join(REPO, f))
               and open(os.path.join(REPO, f), "rb").read(32).startswith((b"#!/bin/sh", b"#!/bin/bash",
                                                                          b"#!/usr/bin/env bash"))]
    check("shell", "bash", "-c", 'for f; do bash -n "$f" || bad=1; done; exit ${bad:-0}', "sh",
          *scripts)
    return suite


def slurm_version(*slurmctld):
    """What a slurmctld says that it is, e.g. "22.05.8"."""
    code, text = run("version", *slurmctld, "-V")
    return text.split()[-1] if code == 0 and text.split() else "unknown"


def second_run(suite, name, argv, result):
    """Tests of real daemons on a busy machine can miss a moment. What failed runs once more, with
    the rest of its file, as tests of one cluster may build on each other; what fails then has
    failed. The others are named: none passes unseen."""
    first = suite.failed
    again = [a for a in argv[:-1] if not a.startswith("--junitxml=")]
    again[again.index(WORKERS)] = "2"
    files = sorted({test.split(".test_")[0].replace(".", "/") + "/test_" +
                    test.split(".test_")[1] + ".py" for test, _ in first})
    suite.failed = []
    run(name + "-again", *again, f"--junitxml={result}.again", *files, timeout=1800)
    twice = Suite(name)
    if not twice.junit(result + ".again"):
        suite.failed = first
        return
    wrong = {test for test, _ in twice.failed}
    right = set(twice.passed)
    for test, text in first:
        if test in right and test not in wrong:
            print(f"  {test} passed in its second run only", flush=True)
            suite.passed.append(test)
        else:
            suite.failed.append((test, dict(twice.failed).get(test, text)))


def pytest(name, folder, quick, pattern, prefix=(), tests="tests", slurm="/usr/sbin", mark=""):
    """The cluster tests and whatever else of tests/ is Python, with the plugins of a build folder;
    prefix is put before the command, slurm is the folder of slurmctld. mark: only those that have
    it."""
    suite = Suite(name)
    suite.slurm = slurm_version(*prefix, os.path.join(slurm, "slurmctld"))
    result = os.path.join(LOG, name + ".xml")
    programs = {"LIST_KEYS": "tests/schema/list_keys", "LIST_VARS": "tests/schema/list_vars"}
    argv = [*prefix, "env", f"CCR_BUILD_DIR={folder}", "PYTHONDONTWRITEBYTECODE=1",
            *(f"{key}={folder}/{program}" for key, program in programs.items()
              if os.path.exists(os.path.join(folder, program))),
            "/usr/bin/python3", "-m", "pytest", "-q", "-ra", "-n", WORKERS, "--timeout=600",
            # the tests of a file share a cluster, and some build on what those before them did
            "--dist", "loadfile", "--durations=30", "--strict-markers",
            f"--junitxml={result}", "-p", "no:cacheprovider"]
    marks = " and ".join(filter(None, (mark, "not slow" if quick else "")))
    if marks:
        argv += ["-m", marks]
    if pattern:
        argv += ["-k", pattern]
    argv.append(tests)
    code, text = run(name, *argv, timeout=4500)
    suite.junit(result)
    explained = code in (0, 5) or (code == 1 and suite.failed)  # 5: nothing was selected
    if suite.failed:
        second_run(suite, name, argv, result)
    if not explained:  # it broke off, or could not begin
        suite.case("pytest", text)
    return suite


def debian13(quick, pattern, mark=""):
    """The plugins built for the Slurm of Debian 13, and the cluster tests on its daemons. Where its
    root or its source cannot be had, it is skipped with the reason."""
    prepared = Suite("debian13", counts=False)
    answers = []
    for command in (["scripts/debian-root", "run", "slurmctld", "-V"],  # makes it first
                    ["scripts/debian-root", "version"],
                    ["slurm_headers/fetch.sh", "", "trixie"]):
        if not command[1]:
            command[1] = answers[1]
        code, text = run("debian13-prepare", *command, timeout=900)
        lines = text.strip().splitlines() or ["no word"]
        if code:
            prepared.skipped.append((DEBIAN13, f"{' '.join(command)}: {lines[-1]}"))
            yield prepared
            return
        answers.append(lines[-1])
    _, version, source = answers
    folder = OUT + "-debian13"
    built = build("debian13", folder, f"-Dslurm_source={source}", "-Dtests=false",
                  f"-Dslurm_version={version.partition('-')[0]}")
    yield built
    if not built.failed:
        # there is no compiler in there
        commands = [["tests/versions/wrong_headers.py", folder],
                    ["/usr/bin/python3", "tests/cluster/mfcommon.py", folder]]
        if not mark:  # what installs them is not marked
            commands.append(["tests/install/build_debs.py", folder, version])
        for command in commands:
            code, text = run("debian13-prepare", *command)
            if code:
                prepared.case(command[0], text)
                yield prepared
        yield pytest("pytest-13", folder, quick, pattern, ["scripts/debian-root", "run"],
                     "tests/cluster", mark=mark)


def pair(source, prefix, quick, pattern, upgrade):
    """The same for any Slurm of which both are at hand: the source, and daemons made of just it.
    upgrade: the Slurm of Debian 13 was run on before, and is the one to be upgraded."""
    folder = OUT + "-pair"
    built = build("pair", folder, f"-Dslurm_source={source}", f"-Dslurm_prefix={prefix}",
                  "-Dtests=false")
    yield built
    if not built.failed:
        older = OUT + "-debian13"
        words = ["env", f"CCR_SLURM_PREFIX={prefix}"]
        if upgrade and os.path.exists(os.path.join(older, "src/priority/priority_ccr.so")):
            root = shlex.quote(os.path.join(REPO, "scripts/debian-root"))
            words += [f"CCR_OLD_BUILD={older}", f"CCR_OLD_EXEC={root} run"]
        yield pytest("pytest-pair", folder, quick, pattern, words, "tests/cluster",
                     os.path.join(prefix, "sbin"))


def main():
    parser = argparse.ArgumentParser(prog="./check")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("-k", metavar="WORD", default="")
    parser.add_argument("--slurm-source", metavar="DIR")
    parser.add_argument("--slurm-prefix", metavar="DIR")
    args = parser.parse_args()
    if bool(args.slurm_source) != bool(args.slurm_prefix):
        parser.error("--slurm-source and --slurm-prefix belong together")
    shutil.rmtree(LOG, ignore_errors=True)
    os.makedirs(LOG)
    suites = []
    skipped = []
    began = time.monotonic()

    def done(suite):
        suite.report()
        suites.append(suite)
        return not suite.failed

    if done(build("build", OUT)):
        if not args.k:
            done(lint(args.quick))
        done(unit("unit", OUT, args.k))
        if not args.quick and not args.k:
            if done(build("asan", ASAN, "-Db_sanitize=address,undefined", "-Db_lundef=false",
                          "-Dplugins=disabled", "-Dbuildtype=debug",
                          "-Dc_args=-fno-sanitize-recover=all")):
                done(sanitized())
        done(pytest("pytest", OUT, args.quick, args.k))
        late = args.ci and time.monotonic() - began > CI_BEGINS
        if args.all or (args.ci and not late):
            for suite in debian13(args.quick, args.k, "" if args.all else CI_MARK):
                done(suite)
        elif args.ci:
            skipped.append((DEBIAN13, f"not begun after {CI_BEGINS // 60} minutes: this machine is "
                            "busy, and CI's time is short"))
        if args.slurm_source:
            for suite in pair(os.path.abspath(args.slurm_source),
                              os.path.abspath(args.slurm_prefix), args.quick, args.k, args.all):
                done(suite)

    skipped += [item for suite in suites for item in suite.skipped]
    if args.quick:
        skipped.append(("sanitizers, clang-tidy, slow tests", "left out by --quick"))
    if args.ci:
        skipped.append((f"{DEBIAN13}, tests not marked {CI_MARK}", "run with ./check --all"))
    elif not args.all:
        skipped.append((DEBIAN13, "runs with ./check --all"))
    if not args.slurm_source:
        skipped.append(("Slurm 26.05", "no Debian has its source and daemons of one release: runs "
                        "with ./check --slurm-source DIR --slurm-prefix DIR"))
    if skipped:
        print("Skipped:")
        for name, why in skipped:
            print(f"  {name}: {why.strip().splitlines()[0] if why.strip() else 'no reason given'}")
    for suite in suites:
        if suite.slurm:
            print(f"Slurm {suite.slurm:9}: {len(suite.passed)} passed, {len(suite.failed)} failed, "
                  f"{len(suite.skipped)} skipped")
    passed = sum(len(s.passed) for s in suites)
    failed = sum(len(s.failed) for s in suites)
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped", flush=True)
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    def interrupt(*_):
        raise KeyboardInterrupt

    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, interrupt)  # what is running is ended as with Ctrl-C
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
