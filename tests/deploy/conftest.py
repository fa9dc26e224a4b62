"""Lets these tests use the homes of tests/up."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent.parent / "up"), str(Path(__file__).parent.parent / "container")]

from up_home import Home  # noqa: E402


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()
