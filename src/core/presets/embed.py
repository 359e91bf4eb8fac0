#!/usr/bin/env python3
"""Writes the presets given as NAME.json into a C file: embed.py OUT.c A.json B.json ..."""
import os
import sys


def main(out, *paths):
    names = [os.path.splitext(os.path.basename(p))[0] for p in paths]
    with open(out, "w") as c:
        c.write("/* Made by presets/embed.py from the presets' JSON files. */\n")
        c.write('#include "core/presets.h"\n\n')
        for name, path in zip(names, paths):
            with open(path, "rb") as f:
                data = f.read()
            c.write("static const char text_%s[] = {\n" % name)
            for i in range(0, len(data), 16):
                c.write("\t" + " ".join("%d," % b for b in data[i:i + 16]) + "\n")
            c.write("\t0};\n")
        c.write("\nconst struct ccr__preset ccr__presets[] = {\n")
        for name in names:
            c.write('\t{"%s", text_%s, sizeof(text_%s) - 1},\n' % (name, name, name))
        c.write("\t{0, 0, 0},\n};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
