"""What was up comes back where it was, with `sluice serve` alone: after a kill of everything, as after a restart of the
machine, and after `sluice stop`."""

import os
import signal
import subprocess

from up_home import get, running


def kill_everything(home, eventually):
    """As a machine does that loses its power."""
    router = home.router()
    worker = home.data("router", "stats")["worker_pid"]
    pids = [home.status()["pid"], router["pid"], worker, *home.replicas()]
    for state in (home.home / "runtime/replicas").glob("*/state.json"):
        pids.append(__import__("json").loads(state.read_text()).get("supervisor", {}).get("pid"))
    for pid in filter(None, pids):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    eventually(lambda: not any(running(pid) for pid in filter(None, pids)))


def answers(url):
    try:
        return get(url)
    except OSError:
        return None


def test_first_week_05_serve_alone_brings_back_programs_and_router(home, eventually):
    url = home.up(home.copy("hello", "one"), *home.own_port())["urls"][0]
    kill_everything(home, eventually)
    with home.begin("serve") as serve:
        try:
            eventually(lambda: answers(url) == (200, "hello 1.0.0\n"), lambda: str(answers(url)))
        finally:
            serve.send_signal(signal.SIGTERM)
            serve.communicate(timeout=60)
    assert get(url) == (200, "hello 1.0.0\n"), "the end of the control plane ends neither"


def test_first_week_05_up_after_a_kill_serves_at_the_old_address(home, eventually):
    folder = home.copy("hello", "one")
    url = home.up(folder, *home.own_port())["urls"][0]
    kill_everything(home, eventually)
    again = home.up(folder)
    assert again["urls"] == [url] and again["changed"] is False
    assert get(url) == (200, "hello 1.0.0\n")


def test_first_week_05_stop_then_up_keeps_the_address(home):
    folder = home.copy("hello", "one")
    first = home.up(folder, *home.own_port())["urls"]
    home.run("stop")
    again = home.up(folder)
    assert again["urls"] == first
    assert get(first[0]) == (200, "hello 1.0.0\n")


def test_first_week_05_stop_stays_stopped(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.run("stop")
    with subprocess.Popen([str(home.sluice), "serve"], env=home.environment(), stderr=subprocess.PIPE, text=True) as serve:
        try:
            eventually(lambda: len(home.replicas()) == 1, "serve starts what was stopped with it")
            assert answers(url) is None, "a router that was stopped in order stays so"
        finally:
            serve.send_signal(signal.SIGTERM)
            serve.communicate(timeout=60)


def test_first_week_05_the_unit_in_the_guide_is_sound(home, root):
    """As far as a test can: it is well formed, and starts what the guide says."""
    guide = (root / "docs/guide/serve.md").read_text()
    unit = guide.split("```ini\n", 1)[1].split("```", 1)[0]
    lines = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and not line.startswith("#"))
    assert lines["ExecStart"].endswith("/sluice serve") and lines["KillMode"] == "process"
    assert lines["WantedBy"] == "default.target"
