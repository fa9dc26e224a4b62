"""Views through the socket: each validates against its own schema and is what the command prints; and how much a command
asks of the server."""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import threading

import jsonschema
import pytest


SHOP = """apiVersion: openchoreo.dev/v1alpha1
kind: ComponentTypeDefinition
metadata: {name: app}
spec:
  workloadType: bundle
  resources:
    - template:
        apiVersion: sluice.dev/v1
        kind: BundleDeployment
        metadata: {name: "${metadata.name}"}
        spec: {bundle: "${build.image}"}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Component
metadata: {name: shop}
spec: {componentType: bundle/app}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Workload
metadata: {name: shop}
spec: {image: "sha256:1"}
---
apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
    - {sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: staging}]}
"""


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("sluice", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Relay:
    """Stands where the server's socket was, and counts the connections and requests that go through it."""

    def __init__(self, path):
        self.path, self.real = str(path), str(path) + ".real"
        os.rename(self.path, self.real)
        self.connections, self.requests = 0, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.real)
            for one, other, counted in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pump, args=(one, other, counted), daemon=True).start()

    def pump(self, one, other, counted):
        while data := one.recv(1 << 16):
            if counted:
                self.requests += [line for line in data.decode("latin-1").split("\r\n") if line.endswith(" HTTP/1.1")]
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)

    def close(self):
        self.listener.close()
        os.rename(self.real, self.path)


@pytest.fixture(scope="module")
def home(sluice, tmp_path_factory):
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = tmp_path_factory.mktemp("v")
    environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(folder / "h"), "LANG": "C.UTF-8"}

    class Home:
        socket = folder / "h" / "run" / "sluice.sock"

        def run(self, *words):
            done = subprocess.run([str(sluice), *words], capture_output=True, text=True, cwd=root, env=environment, timeout=120)
            assert done.returncode == 0, done.stderr
            return done.stdout

        def get(self, target, **headers):
            connection = Unix(self.socket)
            connection.request("GET", target, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

        def read(self, target):
            status, _, body = self.get(target)
            assert status == 200, body
            return json.loads(body)

    made = Home()
    made.run("up", "examples/hello", "--detach", "--quiet")
    made.run("rollout", "start", "local", "hello@1", "--strategy", "immediate", "--wait", "--quiet")
    made.run("env", "create", "staging", "--extends", "local", "--idempotency-key", "k1")
    made.run("trust", "bootstrap", "--env", "staging")
    made.run("deploy", "run", "examples/diamond", "--env", "staging", "--yes", "--quiet")
    (folder / "key").write_text("hunter2")
    made.run("secrets", "put", "local", "hello/API_KEY", "--file", str(folder / "key"))
    (folder / "shop.yaml").write_text(SHOP)
    made.run("apply", "-f", str(folder / "shop.yaml"))
    for release, image in [("one", "sha256:1"), ("two", "sha256:2")]:
        made.run("releases", "create", "shop", "--name", release, "--image", image)
    # There is no such bundle, so it does not become ready, and the history says so.
    subprocess.run([str(sluice), "pins", "set", "shop", "local", "one"], capture_output=True, env=environment, timeout=120)
    webhook = made.run("webhooks", "add", "quiet", "https://hooks.example/", "--event", "trust.revoked", "-o", "json")
    QUERIES["webhook-secret"] = "webhook=" + json.loads(webhook)["webhook"]
    try:
        yield made
    finally:
        made.run("stop")


QUERIES = {"environments": "", "definitions": "", "releases": "", "pins": "", "pipelines": "", "git-sources": "",
           "release-history": "", "release-diff": "left=one&right=two", "pin-history": "pin=shop/local",
           "promotion-plan": "fromEnv=local&toEnv=staging", "environment": "environment=local", "deployments": "environment=local",
           "revisions": "environment=local", "traffic": "environment=local", "traffic-history": "environment=local",
           "names": "environment=local&revisions=hello@1", "config": "environment=local", "routers": "environment=local", "router-list": "",
           "flows": "limit=50", "flow": "flow=latest&misses=true", "why": "about=hello@1", "dead-letters": "",
           "audit": "", "audit-report": "", "clock": "", "status": "", "instances": "", "instance": "name=hello@1",
           "replicas": "name=hello@1", "environment-export": "environment=local", "stored-data": "",
           "trust": "", "trust-root": "", "artifacts": "", "usage": "", "usage-unkept": "",
           "collectable-artifacts": "olderThan=2030-01-31T12:00:00.000Z&keepVersions=0",
           "rollout": "", "rollouts": "ended=true", "plan": "environment=staging", "plans": "environment=staging",
           "secret": "environment=local&name=hello/API_KEY", "secrets": "environment=local",
           "deployment": "environment=local", "name-uses": "name=dev&environment=local", "under-way": "",
           "last-change": "relation=Env&key=local", "keyed-call": "key=k1",
           "metrics": "", "approvals": "", "settings": "environment=local", "markers": "", "telemetry": "",
           "questions": "environment=local&bundle=hello",
           "way-back": "environment=local", "fleet": "", "mesh": "", "mesh-node": "mesh=acme&node=ant", "mesh-map": "", "mesh-plan": "",
           "cluster": "", "cluster-request": "", "access-can": "action=Traffic/set&environment=local", "whoami": "", "series": "environment=local"}
# Read where there is something of them: in tests/mesh, tests/console and tests/kube.
ELSEWHERE = {"mesh-node", "mesh-map", "mesh-plan", "cluster-request"}
EMPTY = {"git-sources", "pin-history", "release-history", "cluster", "mesh", "mesh-node", "dead-letters", "under-way", "approvals", "markers", "telemetry", "settings", "artifacts", "usage-unkept", "stored-data",
         "collectable-artifacts"}


def test_every_view_validates_against_its_schema(home):
    names = [each["name"] for each in home.read("/v1/views")["views"]]
    assert names == sorted(QUERIES)
    for name in names:
        schemas = home.read(f"/v1/views/{name}/schema")
        for each in schemas.values():
            jsonschema.Draft202012Validator.check_schema(each)
        if name in ELSEWHERE:
            continue
        document = home.read(f"/v1/views/{name}?{QUERIES[name]}")
        jsonschema.Draft202012Validator(schemas["document"]).validate(document)
        assert document or name in EMPTY, name


@pytest.mark.parametrize("view, command", [
    ("environments", "env list"), ("environment", "env show local"), ("deployments", "bundles list local"),
    ("revisions", "revisions list local"), ("traffic", "traffic show local"), ("traffic-history", "traffic history local"),
    ("config", "config show local"), ("flows", "flow list"), ("flow", "flow trace latest"), ("why", "why hello@1"),
    ("dead-letters", "flow dead list"), ("audit", "audit list"), ("audit-report", "audit verify"),
    ("instances", "runtime list"), ("instance", "runtime show hello@1"), ("trust", "trust list"),
    ("artifacts", "artifact list"), ("environment-export", "env export local"),
    ("stored-data", "runtime storage list"), ("plans", "deploy list --env staging"), ("secrets", "secrets list local"),
    ("plan", "deploy status --env staging"), ("secret", "secrets get local hello/API_KEY"), ("whoami", "access whoami"),
    ("access-can", "access can Traffic/set --env local")])
def test_a_command_prints_its_view(home, view, command):
    assert json.loads(home.run(*command.split(), "-o", "json")) == home.read(f"/v1/views/{view}?{QUERIES[view]}")


def test_the_audit_names_what_a_call_was_about(home):
    home.run("traffic", "set", "local", "hello@1=100%", "--reason", "as it was")
    home.run("rollout", "start", "local", "hello@1", "--strategy", "immediate", "--wait", "--quiet")
    told = {each.get("action"): each for each in home.read("/v1/views/audit?newest=true&limit=10")}
    assert (told["Traffic/set"]["about"], told["Traffic/set"]["environment"]) == ("hello", "local")
    assert (told["Rollout/begin"]["about"], told["Rollout/begin"]["environment"]) == ("hello@1", "local")
    # What a call makes is named by its answer.
    up = next(each for each in home.read("/v1/views/audit") if each.get("action") == "Deployment/up")
    assert (up["about"], up["outcome"]) == ("hello@1", "ok")
    # What names nothing of the kind, or something that is gone, has no such name.
    assert "about" not in next(each for each in home.read("/v1/views/audit") if each.get("action") == "Env/create")


def test_the_status_is_what_the_server_says_of_itself_and_its_view(home):
    status = json.loads(home.run("status", "-o", "json"))
    view = home.read("/v1/views/status")
    assert {key: status[key] for key in view} == view and view["environments"]


def test_a_view_has_the_position_as_its_tag(home):
    _, headers, _ = home.get("/v1/views/traffic?environment=local")
    status, again, body = home.get("/v1/views/traffic?environment=local", **{"If-None-Match": headers["ETag"]})
    assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
    status, _, body = home.get("/v1/views/traffic?environment=local&colour=red")
    assert status == 400 and b"unknown field" in body
    status, _, body = home.get("/v1/views/trafic")
    assert status == 404 and b"did you mean traffic?" in body


def test_traffic_set_asks_three_things_over_one_connection(home):
    relay = Relay(home.socket)
    try:
        home.run("traffic", "set", "local", "hello@1=100%")
    finally:
        relay.close()
    assert relay.connections == 1, relay.requests
    assert len(relay.requests) <= 3, relay.requests
