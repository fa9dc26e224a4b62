"""Homes and programs as those of tests/rollout."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "rollout"), str(HERE.parent / "up")]

from up_home import Home  # noqa: E402


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()
