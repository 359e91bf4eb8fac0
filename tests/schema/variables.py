#!/usr/bin/env python3
"""Puts the table of variables into docs/man/ccr.json.5: variables.py LIST_VARS"""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/man/ccr.json.5"
BEGIN, END = '.\\" variables begin\n', '.\\" variables end\n'


def table(program):
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def split():
    before, rest = PAGE.read_text().split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


if __name__ == "__main__":
    before, _, after = split()
    PAGE.write_text(before + BEGIN + table(sys.argv[1]) + END + after)
