"""An up that fails, or is stopped by the person before it is done: what it has started ends, and what ran before goes on."""

import os
import signal

from up_home import get, running


def test_a_version_that_does_not_start_changes_nothing_without_a_control_plane_either(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    replicas = home.replicas()
    home.run("stop", "--control-plane")
    home.run("up", home.copy("broken", "two"), "--detach", code=7)
    assert get(url) == (200, "hello 1.0.0\n")
    assert home.replicas() == replicas
    assert home.status(code=5)["running"] is False, "the control plane is as it was, too"


def test_the_first_version_that_does_not_start_leaves_nothing_running(home):
    home.run("up", home.copy("broken", "one"), "--detach", code=7)
    assert home.status(code=5)["running"] is False
    assert not (home.home / "router/main/router.json").exists() and home.replicas() == []


def test_one_that_does_not_start_leaves_what_came_up_beside_it(home, eventually):
    with home.begin("up", home.copy("broken", "one"), "--detach") as broken:
        eventually((home.home / "router/main/router.json").exists)
        url = home.up(home.copy("chat", "two"))["urls"][0]
        assert broken.wait(60) == 7, broken.stderr.read()
    assert get(url) == (200, "chat 1.0.0\n")
    assert home.status()["running"] is True


def interrupted(home, folder, begun, eventually, *words):
    """What an up says that gets SIGINT once `begun` holds."""
    with home.begin("up", folder, *words) as up:
        eventually(begun, "it never came so far")
        up.send_signal(signal.SIGINT)
        assert up.wait(60) == 1, up.stderr.read()
        return up.stderr.read()


STOPPED = "error: stopped before it was up; what was started for it is stopped again\nnext:  sluice up\n"


def test_ctrl_c_while_it_builds_leaves_nothing_running(home, eventually):
    folder = home.copy("hello", "one")
    with open(folder / "bundle.yaml", "a") as manifest:
        manifest.write(f"build: [sh, -c, 'touch {home.folder}/builds; sleep 600']\n")
    assert interrupted(home, folder, (home.folder / "builds").exists, eventually).endswith(STOPPED)
    assert home.status(code=5)["running"] is False
    assert not (home.home / "router/main/router.json").exists()
    assert [each for each in os.listdir(home.home / "run") if each.startswith("up-")] == []


def test_ctrl_c_while_it_warms_leaves_nothing_running(home, eventually):
    folder = home.copy("hello", "one")
    (folder / "app.py").write_text("import time\nprint('waits', flush=True)\ntime.sleep(600)\n")
    assert interrupted(home, folder, home.replicas, eventually).endswith(STOPPED)
    assert home.replicas() == []
    assert home.status(code=5)["running"] is False
    assert not (home.home / "router/main/router.json").exists()


def test_ctrl_c_while_it_warms_leaves_what_ran_before(home, eventually):
    folder = home.copy("hello", "one")
    url = home.up(folder)["urls"][0]
    (folder / "app.py").write_text("import time\nprint('waits', flush=True)\ntime.sleep(600)\n")
    before = home.replicas()
    assert interrupted(home, folder, lambda: len(home.replicas()) == 2, eventually).endswith(STOPPED)
    eventually(lambda: home.replicas() == before, "what was being warmed is not stopped")
    eventually(lambda: "hello@2" not in home.revisions(), "it is not archived")
    assert get(url) == (200, "hello 1.0.0\n") and home.status()["running"] is True
    assert all(map(running, [home.status()["pid"], home.router()["pid"]]))
