#!/usr/bin/env python3
"""Compiles both plugins against every Slurm source tree it is given and prints a line for each.

    tests/versions/try_trees.py [--build DIR] TREE...

Compiles each C file of the plugins with the project's warnings as errors, links the two plugins
(with the core library of the build folder, default build), and holds the names that they export
against the list that this Slurm's loader looks up. The exit code is the number of trees that failed
(at most 100). TREE is a checkout or an unpacked release; nothing is written into it.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-DNDEBUG", '-DCCR_VERSION="0"', "-O1", "-fPIC",
         "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wstrict-prototypes",
         "-Wmissing-prototypes", "-Wvla", "-Wno-missing-field-initializers", "-Isrc"]
# Where a tree keeps the list of names that its loader looks up, newest place first.
LOADERS = {"priority": ["src/interfaces/priority.c", "src/common/slurm_priority.c"],
           "select": ["src/interfaces/select.c", "src/common/select.c"]}
PLUGINS = {"priority": "priority_ccr.so", "select": "select_cons_tres.so"}


def sources(name):
    folder = os.path.join(REPO, "src", name)
    return sorted(os.path.join("src", name, f) for f in os.listdir(folder) if f.endswith(".c"))


def looked_up(tree, kind):
    """The names that the loader of a tree requires of a plugin of this kind."""
    for path in LOADERS[kind]:
        path = os.path.join(tree, path)
        if os.path.exists(path):
            with open(path) as text:
                block = re.search(r"syms\[\]\s*=\s*\{(.*?)\};", text.read(), re.S)
            if block:
                return re.findall(r'"(\w+)"', block.group(1))
    raise ValueError(f"no list of {kind} symbols in {tree}")


def exported(path):
    out = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    return {line.split()[-1] for line in out.splitlines()}


class Failed(Exception):
    pass


def tool(*argv):
    done = subprocess.run(argv, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        errors = [l for l in done.stdout.splitlines() if "error" in l] or done.stdout.splitlines()
        raise Failed("; ".join(errors[:3]) or f"{argv[0]} exited {done.returncode}")
    return done.stdout


def compiled(kind, name, includes, work, build):
    """Compiles and links one plugin with the headers of these folders; its path."""
    objects = []
    for source in sources("slurm") + sources(kind):
        objects.append(os.path.join(work, source.replace("/", "_") + ".o"))
        if not os.path.exists(objects[-1]):
            tool("gcc", *FLAGS, *[w for d in includes for w in ("-isystem", d)], "-c", source,
                 "-o", objects[-1])
    so = os.path.join(work, name)
    script = os.path.join(REPO, "src", kind, "exports.map")
    tool("gcc", "-shared", "-o", so, *objects, os.path.join(build, "src/core/libccr_core.a"),
         *([f"-Wl,--version-script={script}"] if os.path.exists(script) else []),
         "-ljson-c", "-lmuparser", "-lm", "-ldl", "-lpthread")
    return so


def plugin(kind, name, tree, generated, work, build):
    """Builds one plugin against one tree; what it exports is what the loader wants."""
    have = exported(compiled(kind, name, [generated, tree], work, build))
    missing = [s for s in ["plugin_name", "plugin_type", "plugin_version", "init", "fini",
                           *looked_up(tree, kind)] if s not in have]
    if missing:
        raise Failed(f"{name} lacks {', '.join(missing)}")


def try_tree(tree, build):
    """(version, None or why it failed)"""
    version = "?"
    with tempfile.TemporaryDirectory(prefix="ccr-tree-") as work:
        try:
            generated = os.path.join(work, "include")
            version = tool("sh", "slurm_headers/generate.sh", tree, generated).strip()
            for kind, name in PLUGINS.items():
                if sources(kind):
                    plugin(kind, name, tree, generated, work, build)
        except (Failed, OSError, ValueError) as error:
            return version, str(error)
    return version, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("CCR_BUILD_DIR",
                                                          os.path.join(REPO, "build")))
    parser.add_argument("trees", nargs="+", metavar="TREE")
    args = parser.parse_args()
    failed = 0
    for tree in args.trees:
        version, why = try_tree(os.path.abspath(tree), os.path.abspath(args.build))
        failed += why is not None
        print(f"{version:8} {'ok' if why is None else 'FAILED'}  {tree}"
              + (f": {why}" if why else ""), flush=True)
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
