#!/usr/bin/env python3
"""Builds the plugins from headers that do not fit: those of a build folder, with one field more at
the start of the job record, as a site's patch or another micro release would have it.

    tests/versions/wrong_headers.py BUILD     makes BUILD/wrong/src/{priority,select}/*.so

plugin_version stays right, so Slurm loads them.
"""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from try_trees import PLUGINS, compiled, sources  # noqa: E402


def includes(build):
    """The folders of Slurm's headers that a build folder was configured with."""
    with open(os.path.join(build, "compile_commands.json")) as text:
        for entry in json.load(text):
            if entry["file"].endswith("src/slurm/fits.c"):
                found = re.findall(r"-isystem\s*(\S+)", entry["command"])
                return [os.path.join(entry["directory"], d) for d in found
                        if not d.startswith("/usr/include")]
    raise SystemExit(f"{build} was built without the plugins")


def patched(folders, out):
    """A copy of the header that declares the job record, with a field more."""
    for name in ("src/common/job_record.h", "src/slurmctld/slurmctld.h"):
        for folder in folders:
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                continue
            with open(path) as text:
                new, count = re.subn(r"(struct job_record \{\n)", r"\1\tchar *site_field;\n",
                                     text.read())
            if count:
                os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
                with open(os.path.join(out, name), "w") as text:
                    text.write(new)
                return
    raise SystemExit("no struct job_record in the headers")


def make(build):
    """Builds them if they are missing or older than what they are made of; their folder."""
    build = os.path.abspath(build)
    out = os.path.join(build, "wrong")
    for kind, name in PLUGINS.items():
        if not sources(kind):
            continue
        target = os.path.join(out, "src", kind, name)
        model = os.path.join(build, "src", kind, name)
        if os.path.exists(target) and (not os.path.exists(model) or
                                       os.path.getmtime(target) >= os.path.getmtime(model)):
            continue
        with tempfile.TemporaryDirectory(prefix="ccr-wrong-") as work:
            folders = includes(build)
            patched(folders, os.path.join(work, "include"))
            so = compiled(kind, name, [os.path.join(work, "include"), *folders], work, build)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(so, target)
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(make(sys.argv[1]))
