"""Homes with the environments local and staging, and a component `hello` that is a bundle."""

import pytest
from promoting import Promoting


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Promoting(sluice, root, tmp_path)
    yield one
    one.stop()
