"""kill -9 of the control plane while a command runs: the work is done all the same or taken back, and no request of the
version before fails."""

import os
import signal

import pytest
from up_home import Load, get


def killed_while(home, eventually, url, *words):
    """Runs a command under load, and kills the control plane as soon as the journal says that its work has begun."""
    pid = home.status()["pid"]
    with Load(url) as load:
        eventually(lambda: len(load.good) > 20)
        command = home.begin(*words)
        seen = len(load.good)
        eventually(lambda: len(load.good) > seen + 3 or command.poll() is not None)
        os.kill(pid, signal.SIGKILL)
        out, err = command.communicate(timeout=120)
        assert command.returncode == 0, out + err
        seen = len(load.good)
        eventually(lambda: len(load.good) > seen + 20)
    assert load.bad == [], load.bad[:3]


@pytest.mark.parametrize("times", range(3))
def test_first_week_up_survives_the_kill_of_its_control_plane(home, eventually, times):
    folder = home.copy("hello", "app")
    url = home.up(folder)["urls"][0]
    home.change(folder, "2.0.0")
    killed_while(home, eventually, url, "up", folder, "--detach")
    assert get(url) == (200, "hello 2.0.0\n")
    assert home.status()["running"] is True, "up leaves a control plane that runs"


def test_first_week_down_survives_the_kill_of_its_control_plane(home, eventually):
    url = home.up(home.copy("hello", "app"))["urls"][0]
    other = home.copy("hello", "other")
    (other / "bundle.yaml").write_text((other / "bundle.yaml").read_text().replace("name: hello", "name: other"))
    home.up(other)
    killed_while(home, eventually, url, "down", "other")
    assert [each["bundle_id"] for each in home.data("bundles", "list", "local")] == ["hello"]
