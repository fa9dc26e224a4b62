"""The commit that `sluice --version` names: it follows the source tree, and a header that says the same is not touched."""

import subprocess

import pytest


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a").write_text("one")
    commit(folder)
    return folder


def git(tree, *words):
    names = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    return subprocess.run(["git", *names, *words], cwd=tree, check=True, capture_output=True, text=True).stdout.strip()


def commit(tree):
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "a")


def head(tree):
    return git(tree, "rev-parse", "--short=12", "HEAD")


@pytest.fixture
def named(root, tmp_path):
    """Runs what every build runs, and answers the commit in the header, and when the header was written."""
    header = tmp_path / "commit" / "commit.gen.h"

    def run(tree):
        subprocess.run(["cmake", f"-DSOURCE={tree}", f"-DHEADER={header}", "-P", str(root / "cmake" / "commit.cmake")],
                       check=True)
        return header.read_text().split('"')[1], header.stat().st_mtime_ns

    return run


def test_it_follows_the_head(tree, named):
    assert named(tree)[0] == head(tree)
    (tree / "a").write_text("two")
    commit(tree)
    assert named(tree)[0] == head(tree)


def test_changes_that_are_not_committed_are_told(tree, named):
    (tree / "a").write_text("two")
    assert named(tree)[0] == head(tree) + "-dirty"
    git(tree, "checkout", "-q", "a")
    assert named(tree)[0] == head(tree)


def test_a_tag_does_not_take_its_place(tree, named):
    git(tree, "tag", "-a", "v1", "-m", "a")
    assert named(tree)[0] == head(tree)


def test_a_header_that_says_the_same_is_not_written_again(tree, named):
    assert named(tree) == named(tree)


def test_without_git_there_is_none(tmp_path, named):
    assert named(tmp_path)[0] == ""
