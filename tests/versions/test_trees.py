"""try_trees.py on the tree of this build, and on those named in CCR_SLURM_TREES (colon-separated)."""
import os
import shutil
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import try_trees  # noqa: E402
import wrong_headers  # noqa: E402

BUILD = os.environ.get("CCR_BUILD_DIR", os.path.join(try_trees.REPO, "build"))
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not shutil.which("gcc"), reason="no compiler here")]


def own_tree():
    return next(d for d in wrong_headers.includes(BUILD)
                if os.path.exists(os.path.join(d, "META")))


def test_this_builds_tree():
    assert try_trees.try_tree(own_tree(), BUILD)[1] is None


TREES = [t for t in os.environ.get("CCR_SLURM_TREES", "").split(":") if t] or [pytest.param(
    "", id="none", marks=pytest.mark.skip(reason="CCR_SLURM_TREES names no other source tree"))]


@pytest.mark.parametrize("tree", TREES)
def test_another_tree(tree):
    assert try_trees.try_tree(tree, BUILD)[1] is None


def test_a_missing_entry_point_is_found(tmp_path):
    """A loader that looks up one name more than the plugin has."""
    own = own_tree()
    for name in ("META", "slurm", "src/common", "src/slurmctld", "src/interfaces", "src/stepmgr"):
        if os.path.exists(os.path.join(own, name)):
            os.makedirs(os.path.dirname(tmp_path / name), exist_ok=True)
            os.symlink(os.path.join(own, name), tmp_path / name)
    place = next(p for p in try_trees.LOADERS["priority"] if os.path.exists(os.path.join(own, p)))
    folder = tmp_path / os.path.dirname(place)
    folder.unlink()
    shutil.copytree(os.path.join(own, os.path.dirname(place)), folder)
    with open(tmp_path / place) as text:
        changed = text.read().replace('"priority_p_job_end"',
                                      '"priority_p_job_end", "priority_p_tomorrow"')
    (tmp_path / place).write_text(changed)
    version, why = try_trees.try_tree(str(tmp_path), BUILD)
    assert why == "priority_ccr.so lacks priority_p_tomorrow"


def test_no_tree_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["try_trees.py", "--build", BUILD, str(tmp_path)])
    assert try_trees.main() == 1
    assert "FAILED" in capsys.readouterr().out
