"""The console in a real browser, against the real binary, a real router and real workloads: people log in, move traffic,
watch one canary pass and another abort itself, roll back, and are logged out when their token is revoked. Pictures of
every page are left in build/console/pictures."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann], role: admin}
- {to: [user:dan], role: deployer}
- {to: [user:vic], role: viewer}
"""
# About 100 requests a second, one after the other.
LOAD = """
import sys, time, urllib.request
while True:
    try:
        urllib.request.urlopen(sys.argv[1], timeout=5).read()
    except OSError:
        pass
    time.sleep(0.008)
"""


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    folder = tmp_path_factory.mktemp("console")
    variables = {"PATH": f"{sluice.parent}:/usr/bin:/bin", "SLUICE_HOME": str(folder / "home"), "LANG": "C.UTF-8"}

    def ok(*words):
        done = subprocess.run([str(sluice), *map(str, words), "-o", "json"], capture_output=True, text=True, cwd=root,
                              env=variables, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with open(folder / "serve.log", "w") as log:
        serve = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=root,
                                 env=variables)
    load = None
    try:
        eventually(lambda: (folder / "home/run/owner.token").exists() and "url" in ok("status"))
        (folder / "policy.yaml").write_text(POLICY)
        ok("access", "policy", "apply", folder / "policy.yaml")
        people = {"ann": "user:ann", "dan": "user:dan", "vic": "user:vic", "temp": "user:dan"}
        tokens = {name: ok("access", "tokens", "create", name, "--for", who)["secret"] for name, who in people.items()}
        ok("deploy", "plan", "examples/diamond/app.deploy.yaml")  # before hello has its route
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        ok("up", "examples/hello", "--detach", "--port", port)
        ok("up", "examples/hello-v2", "--detach", "--canary", "10%")
        at = next(each for each in ok("status")["environments"] if each["environment"] == "local")["routers"][0]
        load = subprocess.Popen([sys.executable, "-c", LOAD, f"http://{at['listen'][0]}/"])
        yield {"url": ok("status")["url"], "tokens": tokens, "env": "local", "ok": ok,
               "pictures": str(root / "build/console/pictures")}
    finally:
        if load:
            load.kill()
            load.wait()
        subprocess.run([str(sluice), "stop"], env=variables, capture_output=True, timeout=60)
        serve.send_signal(signal.SIGTERM)
        serve.wait(60)


def run(place, root, *stories):
    given = {key: value for key, value in place.items() if key != "ok"} | {"stories": stories}
    done = subprocess.run(["node", "console.mjs"], cwd=root / "tests/console", capture_output=True, text=True, timeout=240,
                          env=os.environ | {"CONSOLE_TEST": json.dumps(given)})
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_the_pages_compile_against_the_api_as_it_is(place, root, tmp_path):
    folder = tmp_path / "console"
    shutil.copytree(root / "src/console", folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(root / "src/console/node_modules")
    asked = urllib.request.Request(place["url"] + "/v1/openapi.json",
                                   headers={"Authorization": "Bearer " + place["tokens"]["ann"]})
    (tmp_path / "openapi.json").write_bytes(urllib.request.urlopen(asked, timeout=60).read())
    for words in [["make_types.mjs", tmp_path / "openapi.json"], ["node_modules/typescript/bin/tsc", "--noEmit"]]:
        done = subprocess.run(["node", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_link_logs_in_once(place, root):
    link = place["ok"]("console")["url"]
    assert link.startswith(place["url"] + "/ui/#code=")
    run(place | {"link": link}, root, "link")


@pytest.mark.parametrize("story", ["login", "slider", "overtaken", "rollback", "viewer", "canary"])
def test_people_see_and_steer(place, root, story):
    run(place, root, story)


def test_a_worse_version_aborts_itself_before_their_eyes(place, root):
    place["ok"]("up", "examples/hello-worse", "--detach", "--canary", "0.01%")
    run(place, root, "worse")


@pytest.mark.parametrize("story", ["stale", "keys", "revoked"])
def test_the_page_says_when_it_is_cut_off_and_obeys_the_keyboard(place, root, story):
    run(place, root, story)


def test_every_page_is_readable_by_everybody(place, root):
    run(place, root, "pages")
