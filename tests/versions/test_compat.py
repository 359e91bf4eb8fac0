"""What has another name in another Slurm is called by one of ours, so that whoever builds for one finds it out."""
import collections
import pathlib
import re

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"
COMPAT = SRC / "slurm" / "compat.h"


def renamed():
    """The names that Slurm has for what compat.h defines more than once."""
    names = collections.defaultdict(set)
    for ours, theirs in re.findall(r"^#define (CCR_SLURM_\w+)\s+([A-Z][A-Z0-9_]+)$", COMPAT.read_text(), re.M):
        names[ours].add(theirs)
    return {name for several in names.values() if len(several) > 1 for name in several}


def test_names_that_differ_stand_in_compat_alone():
    assert {"CR_MEMORY", "SELECT_MEMORY"} <= renamed()
    word = re.compile(r"(?<!\w)(%s)(?!\w)" % "|".join(sorted(renamed())))
    comment = re.compile(r"/\*.*?\*/", re.S)
    found = {f"{path.relative_to(SRC)}: {name}" for path in SRC.rglob("*.[ch]") if path != COMPAT
             for name in word.findall(comment.sub("", path.read_text()))}
    assert not found
