"""The end of an `up` in the foreground: Ctrl-C stops what that command has started and nothing else, a closed terminal
stops nothing."""

import os
import pty
import signal
import subprocess

import pytest
from up_home import Load, get, running


def foreground(home, folder, **more):
    """An up that waits in the foreground, once it has said where it serves."""
    up = subprocess.Popen([str(home.sluice), "up", str(folder)], env=home.environment(), cwd=home.folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert up.stdout.readline().startswith("up  ")
    return up, up.stdout.readline().strip()


def other(home, name="other"):
    folder = home.copy("hello", name)
    (folder / "bundle.yaml").write_text((folder / "bundle.yaml").read_text().replace("name: hello", f"name: {name}"))
    return folder


def test_first_week_01_ctrl_c_stops_this_deployment_and_no_other(home):
    beside = home.up(other(home))["urls"][0]
    status = home.status()
    with Load(beside) as load:
        up, url = foreground(home, home.copy("hello", "one"))
        with up:
            assert get(url)[0] == 200
            up.send_signal(signal.SIGINT)
            assert up.wait(60) == 0, up.stderr.read()
            assert "stopped hello@1; everything else goes on\n" in up.stderr.read()
    assert load.bad == [] and len(load.good) > 0
    assert get(url)[0] == 404 or "hello@1" not in get(url)[1]
    assert home.status()["pid"] == status["pid"] and running(home.router()["pid"])
    assert len(home.replicas()) == 1


def test_first_week_01_ctrl_c_gives_back_what_served_before(home):
    folder = home.copy("hello", "one")
    url = home.up(folder)["urls"][0]
    home.change(folder, "2.0.0")
    with Load(url) as load:
        up, _ = foreground(home, folder)
        with up:
            assert get(url) == (200, "hello 2.0.0\n")
            up.send_signal(signal.SIGINT)
            assert up.wait(60) == 0, up.stderr.read()
            assert "stopped hello@2; what served before it serves again" in up.stderr.read()
    assert load.bad == [] and get(url) == (200, "hello 1.0.0\n")
    assert len(home.replicas()) == 1


def test_first_week_01_ctrl_c_leaves_what_came_up_beside_it(home):
    """Also where this command has started the control plane and the router."""
    up, url = foreground(home, home.copy("hello", "one"))
    with up:
        beside = home.up(other(home))["urls"][0]
        up.send_signal(signal.SIGINT)
        assert up.wait(60) == 0, up.stderr.read()
    assert get(beside) == (200, "hello 1.0.0\n") and home.status()["running"] is True
    assert len(home.replicas()) == 1


@pytest.mark.parametrize("closed", ["hangup", "terminal"])
def test_first_week_01_a_closed_terminal_stops_nothing(home, closed):
    folder = home.copy("hello", "one")
    if closed == "hangup":
        up, url = foreground(home, folder)
        up.send_signal(signal.SIGHUP)
        assert up.wait(60) == 0
        assert "if the terminal is closed, it goes on in the background" in up.stderr.read()
        up.stdout.close()
        up.stderr.close()
    else:
        ours, its = pty.openpty()
        up = subprocess.Popen([str(home.sluice), "up", str(folder)], env=home.environment(), cwd=home.folder,
                              stdin=its, stdout=its, stderr=its, start_new_session=True,
                              preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(its)
        screen = b""
        while b"it goes on in the background" not in screen:
            screen += os.read(ours, 1 << 16)
        url = next(line for line in screen.decode().split() if line.startswith("http://"))
        os.close(ours)
        assert up.wait(60) == 0
    assert get(url) == (200, "hello 1.0.0\n")
    assert running(home.status()["pid"]) and running(home.router()["pid"]) and len(home.replicas()) == 1
