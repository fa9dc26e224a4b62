"""kill -9 of the control plane, of a supervisor and of the engine's service, each while an image is pulled and while a
container is made, started, stopped and removed. Afterwards each wanted replica runs once and nothing else, and no line of
a log is missing."""

import os
import re
import signal

import pytest
from engines import in_full
from up_home import get

ASKED = {"pull": r"POST /v1\.41/images/create", "create": r"POST /v1\.41/containers/create",
         "start": r"POST /v1\.41/containers/[^/]+/start", "remove": r"DELETE /v1\.41/containers/"}
COUNTS = "container: {command: [count]}\ndrain: 5s\n"


def kill(home, engine, victim):
    if victim == "engine":
        engine.kill()
        engine.start()
    elif victim == "supervisor":
        for pid in home.supervisors():
            os.kill(pid, signal.SIGKILL)
    else:
        os.kill(home.status()["pid"], signal.SIGKILL)


def is_up(url, text):
    try:
        return get(url) == (200, text)
    except OSError:
        return False


def wanted(home):
    """The revisions that should run."""
    return sorted(each["revision"] for each in home.revisions().values() if each["lifecycle"] == "ready")


def run(engine):
    """The revisions whose containers run; one that does not run is of no revision."""
    return sorted(each["Labels"]["dev.sluice.revision"] if each["State"] == "running" else "" for each in engine.containers())


def check_logs(home):
    """A program counts its lines from 1: in each log the next one follows, or the program was started anew."""
    checked = 0
    for place, lines in home.logs().items():
        last = 0
        for line in lines:
            number = re.fullmatch(r"\S+ out line (\d+)", line)
            if number:
                assert int(number[1]) in (last + 1, 1), f"{place}: {number[1]} after {last}"
                last, checked = int(number[1]), checked + 1
    assert checked > 0


@in_full
@pytest.mark.parametrize("victim", ["control", "supervisor", "engine"])
@pytest.mark.parametrize("phase", ["pull", "create", "start"])
def test_killed_while_a_second_version_comes_up(home, programs, pushed, engine, gate, eventually, phase, victim):
    url = home.up(home.bundle(programs("one"), more=COUNTS))["urls"][0]
    folder = home.bundle(None, image=pushed("two", "team/shop:2"), version="2.0.0", more=COUNTS)
    held = gate.hold(ASKED[phase])
    up = home.begin("up", folder, "--detach")
    held.wait()
    kill(home, engine, victim)
    held.release()
    up.communicate(timeout=120)
    home.up(folder)
    eventually(lambda: is_up(url, "two\n"), "the second version never answered")
    eventually(lambda: run(engine) == wanted(home), lambda: f"{run(engine)} run, {wanted(home)} are wanted")
    check_logs(home)


@in_full
@pytest.mark.parametrize("victim", ["control", "supervisor", "engine"])
@pytest.mark.parametrize("phase", ["stop", "remove"])
def test_killed_while_it_goes_down(home, programs, engine, gate, eventually, phase, victim):
    home.up(home.bundle(programs("one"), more=COUNTS.replace("count", "linger")))
    if phase == "stop":
        down = home.begin("down", "shop", "--yes")
        ends = lambda: any("ends by signal" in line for lines in home.logs().values() for line in lines)
        eventually(ends, "it was never told to end")
        kill(home, engine, victim)
    else:
        held = gate.hold(ASKED[phase])
        down = home.begin("down", "shop", "--yes")
        held.wait()
        kill(home, engine, victim)
        held.release()
    down.communicate(timeout=120)
    home.run("down", "shop", "--yes", code=None)
    eventually(lambda: engine.containers() == [], lambda: str(engine.containers()))
    check_logs(home)


def test_killed_while_it_runs(home, programs, engine, eventually):
    """Only a killed supervisor costs the program its life: another one is started in its place."""
    folder = home.bundle(programs("one"), more=COUNTS)
    url = home.up(folder)["urls"][0]
    [before] = engine.containers()
    for victim in ("control", "engine"):
        kill(home, engine, victim)
        assert get(url) == (200, "one\n")
        home.up(folder)  # another control plane finds it as it was
    assert [each["Id"] for each in engine.containers()] == [before["Id"]]
    kill(home, engine, "supervisor")
    eventually(lambda: [each["Id"] for each in engine.containers()] not in ([], [before["Id"]]) and is_up(url, "one\n"))
    assert run(engine) == wanted(home)
    check_logs(home)
