"""What every end-to-end test shares: where the repository, the build and the binary are. SLUICE_BUILD names another
build folder than build/release."""

import json
import os
import shlex
import time
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def eventually():
    """Waits until a condition holds, within a minute; `what` says what it was."""
    def wait(holds, what="it never came to hold"):
        end = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < end, what() if callable(what) else what
            time.sleep(0.01)

    return wait


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def build_dir(root):
    """The build under test."""
    folder = Path(os.environ.get("SLUICE_BUILD", root / "build" / "release")).resolve()
    assert folder.is_dir(), f"there is no build in {folder}: run ./dev build"
    return folder


@pytest.fixture(scope="session")
def sluice(build_dir):
    """The binary's path."""
    path = build_dir / "sluice"
    assert path.is_file(), f"there is no {path}: run ./dev build"
    return path


@pytest.fixture(scope="session")
def command_of(build_dir):
    """The words with which the build compiles the sources of a target, from the compiler on."""
    commands = json.loads((build_dir / "compile_commands.json").read_text())

    def words(target):
        command = next(shlex.split(c["command"]) for c in commands if f"/{target}.dir/" in c["command"])
        return command[next(i for i, word in enumerate(command) if "++" in Path(word).name):]

    return words
