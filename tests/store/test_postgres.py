"""The store in PostgreSQL, on a server of the test's own."""

import os
import subprocess
from pathlib import Path

import pytest


def run_tests(server, build_dir, *words):
    environment = os.environ | {"SLUICE_TEST_POSTGRES": server.address,
                                "SLUICE_TEST_SOCKET": str(server.folder / ".s.PGSQL.5432")}
    return subprocess.run([Path(build_dir) / "postgres_store_test", *words], env=environment, capture_output=True,
                          text=True, timeout=540)


def test_it_does_what_every_store_does(started, build_dir):
    done = run_tests(started(), build_dir)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_can_lose_what_it_acknowledged_is_refused(started, build_dir, setting):
    done = run_tests(started(**{setting: "off"}), build_dir, "--gtest_filter=*ThereWhenItIsOpenedAgain")
    assert done.returncode == 1
    assert f"this PostgreSQL has {setting} off, so it can lose what it acknowledged" in done.stdout
