"""Lets the tests of the router import what stands beside them, and gives them routers and upstreams that end with them."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import router_process  # noqa: E402
import upstreams  # noqa: E402


@pytest.fixture
def begin():
    """Keeps what a test starts and stops it at its end, the newest first."""
    started = []

    def keep(thing):
        started.append(thing)
        return thing

    yield keep
    for thing in reversed(started):
        thing.stop()


@pytest.fixture
def router(sluice, tmp_path, begin):
    """Starts a router with a table."""
    count = 0

    def start(table=None, *options, **more):
        nonlocal count
        count += 1
        one = router_process.Router(sluice, tmp_path / f"router{count}")
        one.start(table, *options, **more)
        return begin(one)

    return start


@pytest.fixture
def upstream(begin):
    """Starts an upstream with a script, or one that echoes."""
    return lambda script=None, **more: begin(upstreams.Upstream(script, **more))


@pytest.fixture
def named(begin):
    """Starts an upstream that says its name."""
    return lambda name, **more: begin(upstreams.named(name, **more))


class CheckerUpstream:
    """The checker's own upstream."""

    def __init__(self, program, endpoint, name):
        self.process = subprocess.Popen([str(program), "upstream", endpoint, name], stdout=subprocess.PIPE, text=True)
        bound = self.process.stdout.readline().strip()
        assert bound, "the upstream did not start"
        self.address = bound if bound.startswith("unix:") else f"tcp:{bound}"

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture
def checker(build_dir):
    """The load checker's program."""
    path = build_dir / "router_checker"
    assert path.is_file(), f"there is no {path}: run ./dev build"
    return path


@pytest.fixture
def fast(checker, begin):
    """Starts an upstream that is as fast as the checker."""
    return lambda name, endpoint="127.0.0.1:0": begin(CheckerUpstream(checker, endpoint, name))


@pytest.fixture
def load(checker):
    """Starts a load, which ends with the test at the latest."""
    running = []

    def start(endpoint, *options):
        running.append(router_process.Checker(checker, endpoint, *options))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait(timeout=60)
        one.process.stdout.close()
