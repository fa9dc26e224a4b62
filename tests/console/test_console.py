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
import yaml

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann], role: admin}
- {to: [user:dan], role: deployer}
- {to: [user:vic], role: viewer}
"""
APPROVED = POLICY + """approvals:
- {actions: [DeployPlan/execute], needed: 1, hours: 1}
"""
PRECONDITIONED = POLICY + """preconditions:
- {actions: [Deployment/pause, Deployment/resume], environments: [local]}
"""
REASONED = POLICY + """reasons:
- {actions: [Deployment/pause, Deployment/resume], environments: [local]}
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
TEMPLATES = {
    "config.yaml": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "petstore"}, "data": {"level": "${level}"}},
    "deployment.yaml": {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "petstore"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "petstore"}}, "template": {
            "metadata": {"labels": {"app": "petstore"}},
            "spec": {"containers": [{"name": "main", "image": "registry.example/acme/petstore:1"}]}}}},
    "service.yaml": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "petstore"},
                     "spec": {"selector": {"app": "petstore"}, "ports": [{"port": 80, "protocol": "TCP"}]}},
}
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


class Cluster:
    """A Kubernetes API server with the namespace shop, a deployer's policy for it, and templates."""

    def __init__(self, root, folder):
        self.folder = folder
        self.server = subprocess.Popen([sys.executable, root / "tests/kube/server.py", "--folder", folder, "--settle"],
                                       stdout=subprocess.PIPE, text=True)
        self.url = self.server.stdout.readline().strip()
        self.ask("POST", "/api/v1/namespaces", "application/json",
                 {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        (folder / "deployer.yml").write_text(yaml.safe_dump({
            "hostId": "local", "clusterId": "local", "allowedNamespaces": ["shop"],
            "allowedImageRegistries": ["registry.example/acme"]}))
        for name in ("k8s", "k8s-none"):
            (folder / name).mkdir()
        (folder / "k8s-none/notes.txt").write_text("no template\n")

    def write(self, level):
        for name, document in TEMPLATES.items():
            (self.folder / "k8s" / name).write_text(yaml.safe_dump(document))
        (self.folder / "values.yaml").write_text(f"# what differs\nlevel: {level}\n")

    def ask(self, method, path, kind, body):
        asked = urllib.request.Request(self.url + path, json.dumps(body).encode(), method=method,
                                       headers={"Authorization": "Bearer admin-token", "Content-Type": kind})
        urllib.request.urlopen(asked, timeout=60).close()

    def drift(self):
        """Somebody scales the deployment by hand, and a template goes."""
        self.ask("PATCH", "/apis/apps/v1/namespaces/shop/deployments/petstore?fieldManager=kubectl&force=true",
                 "application/apply-patch+yaml", {"apiVersion": "apps/v1", "kind": "Deployment",
                                                  "metadata": {"name": "petstore"}, "spec": {"replicas": 3}})
        (self.folder / "k8s/service.yaml").unlink()

    def settle(self):
        """They let go of it again."""
        self.ask("PATCH", "/apis/apps/v1/namespaces/shop/deployments/petstore?fieldManager=kubectl",
                 "application/apply-patch+yaml",
                 {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "petstore"}})

    def stop(self):
        self.server.kill()
        self.server.wait()


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    folder = tmp_path_factory.mktemp("console")
    cluster = Cluster(root, folder)
    variables = {"PATH": f"{sluice.parent}:/usr/bin:/bin", "SLUICE_HOME": str(folder / "home"), "LANG": "C.UTF-8",
                 "KUBECONFIG": str(folder / "kubeconfig"), "LIGHT_DEPLOYER_CONFIG": str(folder / "deployer.yml")}

    def ok(*words):
        done = subprocess.run([str(sluice), *map(str, words), "-o", "json"], capture_output=True, text=True, cwd=root,
                              env=variables, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    running = []

    def start(listen="127.0.0.1:0"):
        with open(folder / "serve.log", "a") as log:
            running.append(subprocess.Popen([str(sluice), "serve", "--listen", listen], stdout=log, stderr=log, cwd=root,
                                            env=variables))
        eventually(lambda: (folder / "home/run/owner.token").exists() and "url" in ok("status", "--wait", "60s"))

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
        for level in ("info", "debug"):
            cluster.write(level)
            ok("cluster", "deploy", "local", "petstore", folder / "k8s", "--values", folder / "values.yaml", "-n", "shop",
               "--request", level)
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
               "start": lambda: start(url.removeprefix("http://")), "templates": str(folder / "k8s"),
               "values": str(folder / "values.yaml"), "drift": cluster.drift,
               "settle": cluster.settle}
    finally:
        if load:
            load.kill()
            load.wait()
        subprocess.run([str(sluice), "stop"], env=variables, capture_output=True, timeout=60)
        if running and running[-1].poll() is None:
            stop()
        cluster.stop()


def run(place, root, *stories, **more):
    """Has the browser go through the stories. What a story needs done to the server it asks for."""
    given = {key: value for key, value in place.items() if isinstance(value, str | dict)} | {"stories": stories} | more
    told = []
    with subprocess.Popen(["node", "console.mjs"], cwd=root / "tests/console", stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"CONSOLE_TEST": json.dumps(given)}) as browser:
        end = threading.Timer(1200, browser.kill)
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
        done = subprocess.run(["node", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=600)
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


PIPELINE = """apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
  - {sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: staging}]}
  - {sourceEnvironmentRef: {name: staging}, targetEnvironmentRefs: [{name: production, soakSeconds: 3600}]}
"""


def test_a_release_goes_along_its_pipeline(place, root):
    folder = place["at"]
    for environment in ["staging", "production"]:
        place["ok"]("env", "create", environment, "--extends", "local")
        place["ok"]("trust", "bootstrap", "--env", environment)
    (folder / "pipeline.yaml").write_text(PIPELINE)
    component = (root / "examples/promotion/hello.yaml").read_text()
    (folder / "shop.yaml").write_text(component.replace("name: hello", "name: shop").replace("path: /", "path: /shop"))
    for file in [root / "examples/promotion/bundle-app.yaml", folder / "pipeline.yaml", folder / "shop.yaml"]:
        place["ok"]("apply", "-f", file)
    for version in "1", "2":
        shutil.copytree(root / "examples/hello", folder / f"shop-{version}")
        manifest = folder / f"shop-{version}/bundle.yaml"
        manifest.write_text(manifest.read_text().replace("name: hello", "name: shop").replace("1.0.0", version))
        place["ok"]("bundles", "build", folder / f"shop-{version}", "--out", folder / f"shop-{version}.bundle")
        place["ok"]("releases", "create", "shop", "--bundle", folder / f"shop-{version}.bundle", "--name", f"shop-{version}")
    place["ok"]("pins", "set", "shop", "local", "shop-1")
    run(place, root, "releases")


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


@pytest.mark.parametrize("story,policy", [("reasons", REASONED), ("preconditions", PRECONDITIONED)])
def test_the_page_asks_for_what_the_policy_wants_a_change_to_say(place, root, story, policy):
    (place["at"] / f"{story}.yaml").write_text(policy)
    place["ok"]("access", "policy", "apply", place["at"] / f"{story}.yaml")
    try:
        run(place, root, story)
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


def test_a_cluster_is_seen_compared_and_brought_back(place, root):
    run(place, root, "cluster")


def test_every_page_is_readable_by_everybody(place, root):
    run(place, root, "pages")
