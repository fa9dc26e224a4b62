"""A PostgreSQL server of the test's own, and homes whose stores are on it."""

import json
import os
import signal
import subprocess

import pytest

from postgres_server import Server


@pytest.fixture
def started(eventually):
    servers = []

    def start(**settings):
        servers.append(Server(**settings))
        eventually(servers[-1].ready)
        return servers[-1]
    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def kept(tmp_path):
    """Where backups and the recipient's key are, apart from every home."""
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


class Plane:
    """A home whose store is on the server, and its control plane."""

    def __init__(self, sluice, root, folder, address):
        self.sluice, self.root, self.folder, self.address = sluice, root, folder, address
        folder.mkdir(exist_ok=True)
        self.home = folder / "h"
        self.process = None
        self.more = {}  # variables of the control plane alone

    def environment(self):
        return {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def run(self, *words, code=0):
        done = subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment(), timeout=120)
        assert code is None or done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def data(self, *words, **more):
        return json.loads(self.run(*words, "-o", "json", **more).stdout)

    def begin(self, *words):
        """The control plane, without waiting for it; $SLUICE_STORE has the address."""
        with (self.folder / "serve.log").open("ab") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", *words], stdout=log, stderr=log, cwd=self.folder,
                                            env=self.environment() | {"SLUICE_STORE": self.address} | self.more)
        return self

    def serve(self, *words):
        self.begin(*words)
        done = self.run("status", "--wait", "60s", "-q", code=None)
        assert done.returncode == 0, self.log()
        return self

    def refused(self, *words):
        """What it says when it does not start, and its exit code."""
        done = subprocess.run([str(self.sluice), "serve", *words], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment() | {"SLUICE_STORE": self.address}, timeout=60)
        assert done.returncode != 0
        return done.returncode, done.stderr

    def log(self):
        return (self.folder / "serve.log").read_text()

    def end(self, how=signal.SIGTERM):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process = None
        return code


@pytest.fixture
def plane(sluice, root, tmp_path, started):
    """Makes control planes, all on one server; what they have started is stopped at the end."""
    made = []

    def make(name, server):
        made.append(Plane(sluice, root, tmp_path / name, server.address))
        return made[-1]
    yield make
    for one in made:
        if one.process is not None:
            one.process.send_signal(signal.SIGCONT)
        if one.home.exists():
            one.run("stop", "--timeout", "60s", code=None)
        one.end(signal.SIGKILL)
