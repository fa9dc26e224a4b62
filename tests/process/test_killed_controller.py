"""A controller is killed at random moments of start, health, scale and stop; afterwards exactly the wanted programs run,
each once, and no log has a hole."""

import json
import os
import random
import subprocess
import time

APP = """#!/usr/bin/python3
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["SLUICE_SOCKET"])
server.listen(64)
number = 0
while True:
    print("line", os.getpid(), number, flush=True)
    number += 1
    time.sleep(0.002)
"""
KILLS = 100
MOST = 4


def marked():
    """The pids of all programs that bear the mark of a replica, by mark."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            variables = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        for variable in variables:
            if variable.startswith(b"SLUICE_REPLICA=") and state != "Z":
                found.setdefault(variable.split(b"=", 1)[1].decode(), []).append(int(pid))
    return found


def running(folder):
    """By the name of each replica, the programs that run of it."""
    marks = marked()
    return {path.name: marks.get(json.loads((path / "launch.json").read_text())["mark"], [])
            for path in sorted(folder.iterdir()) if (path / "launch.json").exists()}


def log_lines(folder):
    """What the program of a replica has said, oldest first."""
    files = sorted(folder.glob("replica.log*"), key=lambda path: -int(path.suffix[1:]) if path.suffix != ".log" else 1)
    for path in files:
        for line in path.read_text().splitlines():
            _, stream, text = line.split(" ", 2)
            if stream == "out":
                yield text.split()


def test_killing_the_controller_loses_and_doubles_nothing(build_dir, tmp_path):
    os.chmod(tmp_path, 0o755)
    folder, bundle = tmp_path / "r", tmp_path / "bundle"
    folder.mkdir()
    bundle.mkdir()
    (bundle / "app").write_text(APP)
    (bundle / "app").chmod(0o755)
    tool = build_dir / "controller_tool"

    def controller(wanted):
        return subprocess.Popen([tool, folder, bundle, tool, str(wanted)], stderr=subprocess.PIPE, text=True)

    choice = random.Random(6)
    began = time.monotonic()
    whole = controller(MOST)
    assert whole.wait(60) == 0, whole.stderr.read()
    took = max(time.monotonic() - began, 0.05)
    killed = 0
    try:
        while killed < KILLS:
            process = controller(choice.randint(0, MOST))
            try:
                process.wait(choice.uniform(0, took))
                took *= 0.95  # it was done before: aim earlier
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.wait()
            if killed % 10 == 9:
                wanted = choice.randint(0, MOST)
                process = controller(wanted)
                assert process.wait(60) == 0, process.stderr.read()
                programs = running(folder)
                assert {name: len(pids) for name, pids in programs.items() if pids} == {f"r{i}": 1 for i in range(wanted)}
    finally:
        process = controller(0)
        assert process.wait(60) == 0, process.stderr.read()
    assert not any(running(folder).values())
    for path in folder.iterdir():
        last = {}
        for _, pid, number in log_lines(path / "log"):
            assert int(number) == last.get(pid, -1) + 1, f"{path.name}: a hole before line {number} of process {pid}"
            last[pid] = int(number)
        assert last
