"""The console in a real browser, against the real binary, a real router and real workloads: people log in, deploy a
folder, move traffic, watch one canary pass and another abort itself, approve what others ask for, roll back, and are
logged out when their token is revoked. Pictures of every page are left in build/console/pictures."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann], role: admin}
- {to: [user:dan], role: deployer}
- {to: [user:vic], role: viewer}
"""
APPROVED = POLICY + """approvals:
- {actions: [DeployPlan/execute], needed: 1, hours: 1}
"""
# What a workload may print: markup, direction marks, control characters, and a line of 10,000 letters.
HOSTILE = """
import http.server, os, threading
def say():
    for line in ['<img src=x onerror=window.hacked=1>', 'right \\u202eleft', 'bell \\x07 escape \\x1b[31m', 'x' * 10_000]:
        print(line, flush=True)
    threading.Timer(2, say).start()
say()
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(os.environ["PORT"]))
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
        assert done.returncode == 0 or words == ("status",), done.stderr
        return json.loads(done.stdout)

    running = []

    def start(listen="127.0.0.1:0"):
        with open(folder / "serve.log", "a") as log:
            running.append(subprocess.Popen([str(sluice), "serve", "--listen", listen], stdout=log, stderr=log, cwd=root,
                                            env=variables))
        eventually(lambda: (folder / "home/run/owner.token").exists() and "url" in ok("status"))

    def stop():
        running[-1].send_signal(signal.SIGTERM)
        running[-1].wait(60)

    load = None
    try:
        start()
        (folder / "policy.yaml").write_text(POLICY)
        ok("access", "policy", "apply", folder / "policy.yaml")
        people = {"ann": "user:ann", "dan": "user:dan", "vic": "user:vic", "temp": "user:dan"}
        tokens = {name: ok("access", "tokens", "create", name, "--for", who)["secret"] for name, who in people.items()}
        ok("deploy", "plan", "examples/diamond/app.deploy.yaml")  # before hello has its route
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        ok("up", "examples/hello", "--detach", "--port", port)
        ok("up", "examples/hello-v2", "--detach", "--share", "10%")
        at = next(each for each in ok("status")["environments"] if each["environment"] == "local")["routers"][0]
        load = subprocess.Popen([sys.executable, "-c", LOAD, f"http://{at['listen'][0]}/"])
        url = ok("status")["url"]
        yield {"url": url, "tokens": tokens, "env": "local", "router": at["listen"][0], "at": folder,
               "pictures": str(root / "build/console/pictures"), "ok": ok, "stop": stop,
               "start": lambda: start(url.removeprefix("http://"))}
    finally:
        if load:
            load.kill()
            load.wait()
        subprocess.run([str(sluice), "stop"], env=variables, capture_output=True, timeout=60)
        if running and running[-1].poll() is None:
            stop()


def run(place, root, *stories, **more):
    """Has the browser go through the stories. What a story needs done to the server it asks for."""
    given = {key: value for key, value in place.items() if isinstance(value, str | dict)} | {"stories": stories} | more
    told = []
    with subprocess.Popen(["node", "console.mjs"], cwd=root / "tests/console", stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"CONSOLE_TEST": json.dumps(given)}) as browser:
        end = threading.Timer(400, browser.kill)
        end.start()
        for line in browser.stdout:
            told.append(line)
            if line.startswith("please "):
                place[line.split()[1]]()
                browser.stdin.write("done\n")
                browser.stdin.flush()
        browser.wait()
        end.cancel()
    assert browser.returncode == 0, "".join(told)


@pytest.fixture(scope="module")
def greeter(place, root):
    """A folder to deploy, in which there is more than should leave the machine, and a newer version of it, signed."""
    folder = place["at"] / "greeter"
    shutil.copytree(root / "examples/hello", folder)
    said = (folder / "bundle.yaml").read_text().replace("name: hello", "name: greeter")
    (folder / "bundle.yaml").write_text(said.replace('HELLO_VERSION: "1.0.0"', "HELLO_VERSION: greeter"))
    (folder / ".env").write_text("PASSWORD=tr0ub4dor\n")
    (folder / "static" / ("long" * 30)).mkdir(parents=True)
    (folder / "static" / ("long" * 30) / "naïve.txt").write_text("a name that is too long for the head of a tar")
    newer = place["at"] / "newer"
    shutil.copytree(folder, newer)
    (newer / "bundle.yaml").write_text((newer / "bundle.yaml").read_text().replace("1.0.0", "1.1.0"))
    place["ok"]("bundles", "build", newer, "--out", place["at"] / "greeter.bundle")
    return {"folder": str(folder), "archive": str(place["at"] / "greeter.bundle")}


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


@pytest.mark.parametrize("story", ["login", "slider", "overtaken", "rollback"])
def test_people_see_and_steer(place, root, story):
    run(place, root, story)


@pytest.mark.parametrize("story", ["restarted", "canary"])
def test_the_page_outlives_the_control_plane_and_follows_a_canary_to_its_end(place, root, story):
    run(place, root, story)


def test_a_worse_version_aborts_itself_before_their_eyes(place, root):
    place["ok"]("up", "examples/hello-worse", "--detach", "--share", "0.01%")
    run(place, root, "worse")


def test_a_viewer_reads_everything_and_changes_nothing(place, root):
    run(place, root, "viewer")


@pytest.mark.parametrize("story", ["folder", "dropped"])
def test_what_is_dropped_on_the_page_is_planned_and_deployed(place, root, greeter, story):
    run(place, root, story, **greeter)


def test_a_second_person_approves_a_plan_and_reads_its_trace(place, root, greeter):
    (place["at"] / "approved.yaml").write_text(APPROVED)
    place["ok"]("access", "policy", "apply", place["at"] / "approved.yaml")
    try:
        run(place, root, "approve", folder=str(place["at"] / "newer"))
    finally:
        place["ok"]("access", "policy", "apply", place["at"] / "policy.yaml")


@pytest.mark.parametrize("story", ["stale", "refused", "keys", "revoked"])
def test_the_page_says_when_it_is_cut_off_and_obeys_the_keyboard(place, root, story):
    run(place, root, story)


def test_what_others_wrote_is_text(place, root):
    folder = place["at"] / "hostile"
    folder.mkdir()
    (folder / "app.py").write_text(HOSTILE)
    (folder / "bundle.yaml").write_text('name: hostile\nversion: "1"\nrun: [python3, app.py]\n'
                                        "health: {path: /}\nroutes: [{host: hostile.example, path: /}]\n")
    place["ok"]("up", folder, "--detach")
    place["ok"]("access", "tokens", "create", "\u202e<b onclick=window.hacked=1>" + "n" * 60, "--for", "user:dan")
    run(place, root, "hostile")


def test_a_mesh_is_seen_traced_and_planned(place, root):
    folder = place["at"] / "acme"
    for words in ["init", "ca", "sign", "publish"]:
        place["ok"]("mesh", words, folder)
    place["ok"]("do", "Mesh/report", "mesh=acme", "node=web", "version=1", "ctrlVersion=1", "active=v1", "pending=false",
                "rejected=false", "trouble=")
    access = folder / "access.yaml"
    access.write_text(access.read_text().replace("allow: [api] }", "allow: [api, config-read] }"))
    run(place, root, "mesh", mesh=str(folder))


def test_every_page_is_readable_by_everybody(place, root):
    run(place, root, "pages")
