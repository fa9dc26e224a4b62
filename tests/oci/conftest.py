"""Lets these tests import what the tests of `up` use, and gives them homes that end with them."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "up")]

from up_home import Home  # noqa: E402


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()


@pytest.fixture
def hello(home, root):
    """A signed archive of the example."""
    home.run("bundles", "build", root / "examples/hello", "--out", "hello.bundle")
    return home.folder / "hello.bundle"
