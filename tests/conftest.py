"""What every end-to-end test shares: where the repository, the build and the binary are. SLUICE_BUILD names another
build folder than build/release."""

import contextlib
import http.client
import json
import os
import shlex
import socket
import subprocess
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
def sluice_orders(build_dir):
    """The same with the handlers of examples/kits/orders."""
    path = build_dir / "sluice-orders"
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


@pytest.fixture
def registries(tmp_path):
    """Starts real OCI registries on loopback, each empty and with a port of its own; `users` has a line NAME:BCRYPT for
    each who may log in."""
    started = []

    def start(users=None):
        folder = tmp_path / f"registry-{len(started)}"
        folder.mkdir()
        access = ""
        if users:
            (folder / "users").write_text(users)
            access = f"auth: {{htpasswd: {{realm: shop, path: {folder}/users}}}}\n"
        for _ in range(20):  # the port may be taken by the time that it is used
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                address = "127.0.0.1:%d" % free.getsockname()[1]
            (folder / "config.yml").write_text(f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n"
                                               f"storage: {{filesystem: {{rootdirectory: {folder}/data}}}}\n"
                                               f"http: {{addr: '{address}'}}\n{access}")
            with (folder / "log").open("wb") as log:
                server = subprocess.Popen(["docker-registry", "serve", folder / "config.yml"], stdout=log, stderr=log)
            started.append(server)
            end = time.monotonic() + 60
            while server.poll() is None and time.monotonic() < end:
                with contextlib.suppress(OSError):
                    connection = http.client.HTTPConnection(address, timeout=60)
                    connection.request("GET", "/v2/")
                    if connection.getresponse().status in (200, 401):
                        return address
                time.sleep(0.02)
        raise AssertionError((folder / "log").read_text())

    yield start
    for server in started:
        server.kill()
        server.wait()
