"""The table of variables in ccr.json(5) is the code's own list. LIST_VARS names list_vars.c's program."""
import os
import re
import subprocess

import pytest

import variables


def test_the_manual_has_the_codes_variables():
    program = os.environ.get("LIST_VARS")
    if not program:
        pytest.skip("LIST_VARS is not set")
    want = variables.table(program)
    assert want.count(".It Va") > 20
    inside = variables.split()[1]
    assert inside == want, "run tests/schema/variables.py LIST_VARS"
    # Each has a unit and a sentence on its source.
    rows = re.findall(r"^\.It Va (\S+)[^\n]*\n\(([^)\n]+)\)\n([A-Za-z0-9][^\n]+\.)$", inside, re.M)
    assert len(rows) == want.count(".It Va")


def test_the_page_is_good_mdoc():
    try:
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(variables.PAGE)],
                              capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert done.returncode == 0, done.stdout
