"""Lets these tests import what stands beside them, and gives them databases and a migrator."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "up")]

from databases import Postgres, sqlite_target  # noqa: E402
from up_home import Home  # noqa: E402


@pytest.fixture(scope="session")
def postgres():
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, tmp_path):
    """The same test on both databases."""
    if request.param == "sqlite":
        return sqlite_target(tmp_path / "app.db")
    fresh = request.getfixturevalue("postgres").fresh("d" + os.urandom(6).hex())
    return fresh


@pytest.fixture
def tool(build_dir, tmp_path):
    """Runs migrate_tool over files that are given by their paths."""
    folder = tmp_path / "migrations"
    folder.mkdir()

    class Tool:
        program = build_dir / "migrate_tool"

        def files(self, texts):
            for name, text in texts.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text)

        def words(self, target, *verb):
            return [self.program, target.address, folder, *map(str, verb)]

        def run(self, target, *verb):
            """The lines of a verb that goes well."""
            run = subprocess.run(self.words(target, *verb), capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            return [json.loads(line) for line in run.stdout.splitlines()]

        def press(self, target, *verb):
            """The lines of the run that ends it, as the kit does: a database that is busy is asked again."""
            while True:
                run = subprocess.run(self.words(target, *verb), capture_output=True, text=True)
                if run.returncode == 0:
                    return [json.loads(line) for line in run.stdout.splitlines()]
                assert json.loads(run.stderr)["code"] == "timeout", run.stderr

        def lines(self, target, *verb):
            run = subprocess.run(self.words(target, *verb), capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            return run.stdout.splitlines()

        def refused(self, target, *verb):
            run = subprocess.run(self.words(target, *verb), capture_output=True, text=True)
            assert run.returncode == 1, run.stdout + run.stderr
            assert "s3cret" not in run.stdout + run.stderr
            return json.loads(run.stderr)

    return Tool()
