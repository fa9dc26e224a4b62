"""./dev as people and CI meet it: its commands, its exit codes, and what it says when it cannot install. Programs that it
calls are replaced by small scripts in front of PATH."""

import os
import re
import shutil
import subprocess

import pytest

COMMANDS = "run test build bench fmt tidy fuzz asan tsan coverage fresh clean".split()


def program(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


@pytest.fixture
def tree(root, tmp_path):
    """A copy of what ./dev needs, with cmake, ctest and python's pytest out of the way."""
    shutil.copy(root / "dev", tmp_path / "dev")
    shutil.copy(root / "packages.txt", tmp_path / "packages.txt")
    (tmp_path / "build" / "release").mkdir(parents=True)
    (tmp_path / "build" / "release" / "build.ninja").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_nothing.py").write_text("def test_nothing(): pass\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    program(programs, "cmake", "exit 0\n")
    program(programs, "dpkg-query", "echo installed\n")
    return tmp_path


def dev(tree, *words):
    environment = {**os.environ, "PATH": f"{tree}/programs:{os.environ['PATH']}"}
    return subprocess.run([str(tree / "dev"), *words], env=environment, capture_output=True, text=True, timeout=60)


def test_help_explains_every_command(root):
    run = subprocess.run([str(root / "dev"), "help"], capture_output=True, text=True)
    explained = re.findall(r"^  (\w+) +\S", run.stdout, flags=re.M)
    assert explained == COMMANDS


def test_an_unknown_command_is_refused(tree):
    run = dev(tree, "biuld")
    assert (run.returncode, run.stderr) == (1, "dev: unknown command 'biuld'; ./dev help lists them\n")


def test_the_tests_fail_when_a_unit_test_fails(tree):
    program(tree / "programs", "ctest", "echo '1/1 Test #1: a ....***Failed'; exit 8\n")
    run = dev(tree, "test")
    assert run.returncode != 0
    assert "***Failed" in run.stdout
    assert "passed" not in run.stdout, "the end-to-end tests ran although the unit tests failed"


def test_the_tests_fail_when_an_end_to_end_test_fails(tree):
    program(tree / "programs", "ctest", "printf '100%% tests passed\\n'\n")
    assert dev(tree, "test").returncode == 0
    (tree / "tests" / "test_nothing.py").write_text("def test_nothing(): assert False\n")
    assert dev(tree, "test").returncode != 0


def test_without_root_and_sudo_it_says_what_is_missing(tree):
    program(tree / "programs", "dpkg-query", "exit 1\n")
    program(tree / "programs", "id", "echo 1000\n")
    for name in ["sh", "dirname", "sed", "grep", "cat"]:
        (tree / "programs" / name).symlink_to(shutil.which(name))
    run = subprocess.run([str(tree / "dev"), "build"], env={"PATH": str(tree / "programs")}, capture_output=True, text=True)
    assert run.returncode == 1
    assert "these packages are missing: g++ cmake" in run.stderr
    assert "run ./dev as root, or install sudo" in run.stderr


def test_what_is_installed_is_not_installed_again(tree):
    program(tree / "programs", "apt-get", "echo called; exit 1\n")
    program(tree / "programs", "ctest", "printf '100%% tests passed\\n'\n")
    run = dev(tree, "build")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_bench_fails_after_the_last_table_if_a_goal_was_missed(tree):
    (tree / "build" / "bench").mkdir()
    (tree / "build" / "bench" / "build.ninja").touch()
    program(tree / "build" / "bench", "a_bench", "echo a: MISSED\nexit 1\n")
    program(tree / "build" / "bench", "b_bench", "echo b: met\n")
    run = dev(tree, "bench")
    assert (run.returncode, run.stdout) == (1, "a: MISSED\nb: met\n")
    assert run.stderr.endswith("dev: goals were missed in: a\n")
    assert dev(tree, "bench", "b").returncode == 0
