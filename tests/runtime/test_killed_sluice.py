"""Sluice itself is killed at random moments while it deploys, scales, checks and stops; afterwards exactly the wanted
programs run, each once, and no log has a hole. test_killed_controller.py does the same to the tool beneath it."""

import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

APP = """#!/usr/bin/python3
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["SLUICE_SOCKET"])
server.listen(64)
number = 0
while True:
    print("line", os.getpid(), number, flush=True)
    number += 1
    time.sleep(0.005)
"""
MANIFEST = 'name: app\nversion: "1"\nrun: [./app]\nlisten: unix\ndrain: 1s\nhealth: { by: tcp }\n'
KILLS = 100
MOST = 3


def programs_of(folder):
    """By the name of each replica, the pids that bear its mark."""
    marks = {json.loads((path / "launch.json").read_text())["mark"]: path.name
             for path in folder.iterdir() if (path / "launch.json").exists()}
    found = {name: [] for name in marks.values()}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        for variable in variables:
            name = marks.get(variable.decode(errors="replace").removeprefix("SLUICE_REPLICA="))
            if name and state != "Z":
                found[name].append(int(pid))
    return found


def assert_no_hole(folder):
    last = {}
    for path in sorted(folder.glob("replica.log*"), reverse=True):
        for line in path.read_text().splitlines():
            _, stream, text = line.split(" ", 2)
            if stream == "out":
                _, pid, number = text.split()
                assert int(number) == last.get(pid, -1) + 1, f"{folder}: a hole before line {number} of process {pid}"
                last[pid] = int(number)
    assert last


class Killed:
    """A home with one instance of a program, and sluice, which is killed."""

    def __init__(self, sluice, folder):
        self.sluice, self.home, self.bundle = sluice, folder / "home", folder / "bundle"
        self.bundle.mkdir()
        (self.bundle / "app").write_text(APP)
        (self.bundle / "app").chmod(0o755)
        (self.bundle / "bundle.yaml").write_text(MANIFEST)
        self.replicas = self.home / "runtime" / "replicas"
        self.choice, self.keys, self.versions = random.Random(7), iter(range(10_000)), iter(range(1, 10_000))
        self.instance = self.provision("app")
        assert self.run(*self.deploy())["variant"] == "ok"
        began = time.monotonic()
        assert self.run(*self.scale(MOST))["variant"] == "ok"
        self.took = max(time.monotonic() - began, 0.1)

    def start(self, *words, **more):
        return subprocess.Popen([str(self.sluice), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home),
                                                "LANG": "C.UTF-8"}, **more)

    def begin(self, *words):
        return self.start("kit", "run", "deploy", *words, "-o", "json")

    def run(self, *words):
        out, err = self.begin(*words).communicate(timeout=120)
        assert out, err
        return json.loads(out)

    def go_on(self):
        self.begin().communicate(timeout=120)

    def provision(self, name):
        return self.run("Runtime/provision", f"concept={name}", "runtimeType=local", "config={}")["fields"]["instance"]

    def deploy(self, instance=None):
        return ["Runtime/deploy", f"instance={instance or self.instance}", f"artifact={self.bundle}",
                f"version={next(self.versions)}"]

    def scale(self, count):
        return ["Runtime/scale", f"instance={self.instance}", f"replicas={count}"]

    def kill_within(self, process):
        """Whether it was killed before it was done."""
        try:
            process.communicate(timeout=self.choice.uniform(0, self.took))
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True

    def kill_and_repeat(self, *words):
        """Kills a command, and asks again under its key until what it asked for is done: how often it was killed."""
        kills = 0
        while True:
            key = ["--idempotency-key", f"k{next(self.keys)}"]
            kills += self.kill_within(self.begin(*words, *key))
            done = self.run(*words, *key)
            if done["variant"] == "ok":
                return kills
            # What a command before had begun, and was killed in, was under way.
            assert done["variant"] in ("busy", "deployFailed", "destroyFailed", "scaleFailed"), done
            self.go_on()

    def check(self, wanted):
        """Exactly so many programs run, each once, those that Sluice says, and no log has a hole."""
        self.go_on()  # what was given up after three kills is repaired
        shown = self.run("LocalRuntime/show", f"instance={self.instance}")["fields"]["programs"]
        programs = programs_of(self.replicas)
        assert len(programs) == wanted and sorted(programs) == sorted(each["name"] for each in shown)
        assert all(len(pids) == 1 for pids in programs.values()), programs
        for name in programs:
            assert_no_hole(self.replicas / name / "log")

    def end(self):
        self.kill_and_repeat("Runtime/destroy", f"instance={self.instance}")
        self.go_on()
        assert [path for path in self.replicas.iterdir() if path.is_dir()] == []


@pytest.fixture
def killed(sluice):
    with tempfile.TemporaryDirectory(prefix="sluice-k-") as folder:
        os.chmod(folder, 0o755)
        killed = Killed(sluice, Path(folder))
        yield killed
        killed.end()


def test_killing_sluice_loses_and_doubles_nothing(killed):
    choice, instance = killed.choice, f"instance={killed.instance}"
    kills = 0
    while kills < KILLS:
        words = choice.choice([killed.deploy, killed.deploy, lambda: ["Runtime/healthCheck", instance],
                               lambda: ["Runtime/rollback", instance],
                               *3 * [lambda: killed.scale(choice.randint(1, MOST))]])()
        if killed.kill_within(killed.begin(*words)):
            kills += 1
        else:
            killed.took *= 0.95  # it was done before: aim earlier
        if kills % 10 == 9:
            wanted = choice.randint(1, MOST)
            kills += killed.kill_and_repeat(*killed.scale(wanted))
            killed.check(wanted)
            version = killed.deploy()
            kills += killed.kill_and_repeat(*version)
            assert f"version={killed.run('Runtime/show', instance)['fields']['version']}" == version[-1]
            killed.check(wanted)


def test_killing_sluice_while_it_ends_something_leaves_nothing_of_it_and_the_rest_alone(killed):
    for _ in range(4):
        other = killed.provision("other")
        assert killed.run(*killed.deploy(other))["variant"] == "ok"
        killed.kill_and_repeat("Runtime/destroy", f"instance={other}")
        killed.check(MOST)


def test_killing_a_server_loses_and_doubles_nothing(killed):
    for _ in range(4):
        server = killed.start("serve", "deploy")
        assert killed.start("status", "--wait", "60s").wait(timeout=120) == 0
        wanted = killed.choice.randint(1, MOST)
        words = [*killed.scale(wanted), "--idempotency-key", f"k{next(killed.keys)}"]
        client = killed.begin(*words)
        killed.kill_within(server)
        client.communicate(timeout=120)
        server.kill()
        server.communicate()
        assert killed.run(*words)["variant"] == "ok"
        killed.check(wanted)
