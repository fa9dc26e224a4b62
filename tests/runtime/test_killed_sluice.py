"""Sluice itself is killed at random moments while it deploys, scales, checks and stops; afterwards exactly the wanted
programs run, each once, and no log has a hole. test_killed_controller.py does the same to the tool beneath it."""

import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

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


def test_killing_sluice_loses_and_doubles_nothing(sluice):
    with tempfile.TemporaryDirectory(prefix="sluice-k-") as folder:
        os.chmod(folder, 0o755)
        home, bundle = Path(folder) / "home", Path(folder) / "bundle"
        bundle.mkdir()
        (bundle / "app").write_text(APP)
        (bundle / "app").chmod(0o755)
        (bundle / "bundle.yaml").write_text(MANIFEST)
        replicas = home / "runtime" / "replicas"

        def begin(*words):
            return subprocess.Popen([str(sluice), "kit", "run", "deploy", *map(str, words), "-o", "json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(home), "LANG": "C.UTF-8"})

        def run(*words):
            out, err = begin(*words).communicate(timeout=120)
            assert out, err
            return json.loads(out)

        made = run("Runtime/provision", "concept=app", "runtimeType=local", "config={}")
        instance = made["fields"]["instance"]
        versions = iter(range(1, 10_000))

        def deploy():
            return ["Runtime/deploy", f"instance={instance}", f"artifact={bundle}", f"version={next(versions)}"]

        assert run(*deploy())["variant"] == "ok"
        began = time.monotonic()
        assert run("LocalRuntime/scale", f"instance={instance}", f"replicas={MOST}")["variant"] == "ok"
        took = max(time.monotonic() - began, 0.1)

        choice = random.Random(7)
        killed = 0
        while killed < KILLS:
            words = choice.choice([deploy, deploy, lambda: ["Runtime/healthCheck", f"instance={instance}"],
                                   lambda: ["Runtime/rollback", f"instance={instance}"],
                                   *3 * [lambda: ["LocalRuntime/scale", f"instance={instance}",
                                                  f"replicas={choice.randint(1, MOST)}"]]])()
            process = begin(*words)
            try:
                process.communicate(timeout=choice.uniform(0, took))
                took *= 0.95  # it was done before: aim earlier
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
                process.communicate()
            if killed % 10 == 9:
                out, err = begin().communicate(timeout=120)
                shown = run("LocalRuntime/show", f"instance={instance}")["fields"]["programs"]
                programs = programs_of(replicas)
                assert sorted(programs) == sorted(each["name"] for each in shown), err
                assert all(len(pids) == 1 for pids in programs.values()), programs
                for name in programs:
                    assert_no_hole(replicas / name / "log")
        begin().communicate(timeout=120)
        assert run("Runtime/destroy", f"instance={instance}")["variant"] == "ok"
        assert [path for path in replicas.iterdir() if path.is_dir()] == []
