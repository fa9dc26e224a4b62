"""./dev as people and CI meet it: its commands, its exit codes, and what it says when it cannot install. Programs that it
calls are replaced by small scripts in front of PATH."""

import os
import re
import shutil
import subprocess

import pytest

COMMANDS = "run test soak containers build image package bench fmt tidy fuzz asan tsan coverage fresh installed clean".split()


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


def dev(tree, *words, **more):
    environment = {**os.environ, "PATH": f"{tree}/programs:{os.environ['PATH']}", **more}
    return subprocess.run([str(tree / "dev"), *words], env=environment, capture_output=True, text=True, timeout=60)


def test_help_explains_every_command(root):
    run = subprocess.run([str(root / "dev"), "help"], capture_output=True, text=True)
    explained = re.findall(r"^  (\w+) +\S", run.stdout, flags=re.M)
    assert explained == COMMANDS


def test_an_unknown_command_is_refused(tree):
    run = dev(tree, "biuld")
    assert (run.returncode, run.stderr) == (1, "dev: unknown command 'biuld'; ./dev help lists them\n")


def test_run_shows_a_canary_that_aborts_itself_and_names_what_goes_on_running(root, sluice, tree):
    (tree / "build/release/sluice").symlink_to(sluice)
    (tree / "examples").symlink_to(root / "examples")
    home = {"SLUICE_HOME": str(tree / "h"), "NO_COLOR": "1"}
    try:
        for number in (2, 2):  # a second time the versions are there already
            run = dev(tree, "run", **home)
            assert run.returncode == 0, run.stderr
            assert f"✖ aborted  hello@{number} ← hello@1" in run.stderr
            assert "the odds that this is chance are below 1 in 1,000" in " ".join(run.stderr.split())
            (url,) = re.findall(r"^try:   curl (http://\S+)$", run.stderr, flags=re.M)
            (look,) = re.findall(r"^look:  (.*)$", run.stderr, flags=re.M)
            status = subprocess.run(look.split(), cwd=tree, env={**os.environ, **home}, capture_output=True, text=True)
            assert "hello@1 ready, gets 100%" in status.stdout, status.stdout
            answers = {subprocess.run(["curl", "-s", url], capture_output=True, text=True).stdout for _ in range(20)}
            assert answers == {"hello 1.0.0\n"}
            customers = subprocess.run(["pgrep", "-f", f"customers.py {url}"], capture_output=True, text=True)
            assert customers.stdout == "", "customers were left running"
        (end,) = re.findall(r"^end:   (.*)$", run.stderr, flags=re.M)
        assert subprocess.run(end.split(), cwd=tree, env={**os.environ, **home}, timeout=120).returncode == 0
    finally:
        subprocess.run([str(sluice), "stop"], env={**os.environ, **home}, timeout=120)


def test_run_fails_if_the_second_version_does_not_come_up(tree):
    program(tree / "build/release", "sluice", 'case "$2" in *worse) exit 7;; esac\n')
    run = dev(tree, "run")
    assert run.returncode == 7 and "try:" not in run.stderr


def test_run_fails_if_the_worse_version_is_not_taken_back(tree):
    program(tree / "build/release", "sluice", 'case "$1" in up) printf "up  hello@2 gets 1%%\nhttp://127.0.0.1:1/\n";; esac\n')
    run = dev(tree, "run")
    assert run.returncode == 1 and "try:" not in run.stderr
    assert "the rollout was to be aborted (exit code 9) and ended with exit code 0" in run.stderr


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


def test_a_test_that_fails_beside_others_runs_once_more_alone_and_is_named(tree):
    program(tree / "programs", "ctest", """case "$*" in
*--rerun-failed*) [ ! -e steady ];;
*) printf 'The following tests FAILED:\\n\\t  7 - engine.A (Failed)\\nErrors while running CTest\\n99%% tests passed, 1 of 9\\n'; exit 8;;
esac
""")
    (tree / "tests" / "test_nothing.py").write_text(
        "from pathlib import Path\n"
        "def test_nothing():\n    seen = Path('seen'); was = seen.exists(); seen.touch(); assert was\n"
        "def test_other(): pass\n")
    run = dev(tree, "test")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "engine.A (Failed)" in run.stderr and "test_nothing.py::test_nothing" in run.stderr
    assert "1 failed, 1 passed" in run.stdout and run.stdout.splitlines()[-1].startswith("1 passed")
    (tree / "seen").unlink()
    assert dev(tree, "test", "tests/test_nothing.py").returncode != 0, "what is named is not run twice"
    (tree / "steady").touch()
    assert dev(tree, "test").returncode != 0, "a unit test failed twice"


def test_more_than_five_failures_are_no_accident(tree):
    program(tree / "programs", "ctest", "printf '100%% tests passed\\n'\n")
    (tree / "tests" / "test_nothing.py").write_text(
        "import pytest\nfrom pathlib import Path\n@pytest.mark.parametrize('n', range(6))\n"
        "def test_nothing(n):\n    seen = Path(f'seen{n}'); was = seen.exists(); seen.touch(); assert was\n")
    assert dev(tree, "test").returncode != 0


def test_with_arguments_only_what_they_name_is_tested(tree):
    program(tree / "programs", "ctest", "echo ran; exit 8\n")
    (tree / "tests" / "test_other.py").write_text("def test_other(): assert False\n")
    run = dev(tree, "test", "tests/test_nothing.py")
    assert run.returncode == 0 and "1 passed" in run.stdout and "ran" not in run.stdout
    assert dev(tree, "test", "-k", "other").returncode != 0


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
    (tree / "bench").mkdir()
    (tree / "bench" / "CMakeLists.txt").write_text("function(sluice_bench name)\nsluice_bench(a LINK base)\nsluice_bench(b LINK base)\n")
    program(tree / "build" / "release", "a_bench", "echo a: MISSED\nexit 1\n")
    program(tree / "build" / "release", "b_bench", "echo b: met\n")
    run = dev(tree, "bench")
    assert (run.returncode, run.stdout) == (1, "a: MISSED\nb: met\n")
    assert run.stderr.endswith("dev: goals were missed in: a\n")
    assert dev(tree, "bench", "b").returncode == 0


def test_soak_makes_many_runs_of_what_the_tests_do_briefly(tree):
    text = (tree / "dev").read_text()
    (tree / "dev").write_text(text.replace("/usr/bin/python3 -m pytest", "echo $SLUICE_SOAK"))
    program(tree / "build" / "release", "judge_simulation_test", 'echo "$SLUICE_RUNS runs"; exit 3\n')
    program(tree / "build" / "release", "deploy_test", 'echo "$SLUICE_SOAK $1"\n')
    run = dev(tree, "soak")
    assert run.returncode == 3
    assert run.stdout.startswith("1 ") and "tests/up/test_first_week_23.py" in run.stdout
    assert run.stdout.endswith("1 --gtest_filter=KilledPlans.*:KilledPromotions.*:MigrationRaceTest.*\n10000 runs\n")


@pytest.fixture
def policy(tree):
    """The policy of ./dev in a place of its own, and packages to install as root."""
    path = tree / "policy-rc.d"
    text = (tree / "dev").read_text()
    assert "/usr/sbin/policy-rc.d" in text
    (tree / "dev").write_text(text.replace("/usr/sbin/policy-rc.d", str(path)))
    program(tree / "programs", "id", "echo 0\n")
    return path


def test_services_are_kept_from_starting_while_packages_are_installed(tree, policy):
    program(tree / "programs", "dpkg-query", "exit 1\n")
    program(tree / "programs", "apt-get", f"cp {policy} {tree}/seen\n")
    assert dev(tree, "build").returncode == 0
    assert subprocess.run([str(tree / "seen")]).returncode == 101
    assert not policy.exists()


def test_the_policy_of_a_killed_install_is_removed_by_the_next_call(tree, policy):
    program(tree / "programs", "dpkg-query", "exit 1\n")
    program(tree / "programs", "apt-get", "kill -KILL $PPID\n")
    assert dev(tree, "build").returncode == -9
    assert policy.exists()
    program(tree / "programs", "dpkg-query", "echo installed\n")
    assert dev(tree, "build").returncode == 0
    assert not policy.exists()


def test_the_policy_of_an_install_under_way_is_left_alone(tree, policy):
    program(tree / "programs", "dpkg-query", "exit 1\n")
    program(tree / "programs", "apt-get", f"touch {tree}/begun; read go <{tree}/go\n")
    os.mkfifo(tree / "go")
    environment = {**os.environ, "PATH": f"{tree}/programs:{os.environ['PATH']}"}
    installing = subprocess.Popen([str(tree / "dev"), "build"], env=environment)
    with open(tree / "go", "w") as go:  # opens when apt-get does
        program(tree / "programs", "dpkg-query", "echo installed\n")
        assert dev(tree, "run").returncode != 0, "there is no sluice to run"
        assert policy.exists()
        program(tree / "programs", "apt-get", "exit 0\n")
        go.write("on\n")
    assert installing.wait(timeout=60) == 0
    assert not policy.exists()


def test_a_policy_of_another_is_left_alone(tree, policy):
    policy.write_text("#!/bin/sh\nexit 101\n")
    assert dev(tree, "build").returncode == 0
    assert policy.exists()
