#!/usr/bin/env python3
"""Builds the Debian packages of this tree for the Slurm of a build folder, away from the tree.

    tests/install/build_debs.py BUILD SLURM_VERSION     into BUILD/debs; the version as dpkg has it

The build folder says which headers to take.
"""
import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "versions"))
import wrong_headers  # noqa: E402


def tree_copy(target):
    """What git tracks, and what is new and not ignored."""
    names = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=REPO,
                           stdout=subprocess.PIPE, check=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source = os.path.join(REPO, name)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            shutil.copy2(source, os.path.join(target, name))


def make(build, slurm):
    """Builds them unless they are newer than the folder's plugins; the folder of the packages. Tests
    that run side by side ask for them at once: one builds, the others wait."""
    build = os.path.abspath(build)
    with open(os.path.join(build, "debs.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build_unless_new(build, os.path.join(build, "debs"), slurm)


def build_unless_new(build, out, slurm):
    model = os.path.getmtime(os.path.join(build, "src/priority/priority_ccr.so"))
    if any(os.path.getmtime(deb) > model for deb in glob.glob(f"{out}/*.deb")):
        return out
    source = next(d for d in wrong_headers.includes(build)
                  if os.path.exists(os.path.join(d, "META")))
    with tempfile.TemporaryDirectory(prefix="ccr-debs-") as work:
        tree_copy(os.path.join(work, "tree"))
        done = subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc", "-d"],
                              cwd=os.path.join(work, "tree"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "CCR_SLURM_DEB": slurm,
                                   "CCR_SLURM_SOURCE": source,
                                   "DEB_BUILD_OPTIONS": "noautodbgsym"})
        if done.returncode:
            raise SystemExit("dpkg-buildpackage failed:\n" + done.stdout[-4000:])
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        for deb in glob.glob(f"{work}/*.deb"):
            shutil.copy(deb, out)
    return out


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(make(*sys.argv[1:]))
