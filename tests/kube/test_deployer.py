"""sluice deployer: the paths, bodies, tools and events of Light-Deployer over HTTP, against an API server."""

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import time

import pytest


class Served:
    """A deployer that listens, asked as its owner."""

    def __init__(self, deployer, *words):
        self.deployer = deployer
        for _ in range(20):  # the port may be taken by the time that it is used
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.log = (deployer.folder / "deployer.log").open("ab")
            self.process = subprocess.Popen([deployer.sluice, "deployer", "--listen", f"127.0.0.1:{self.port}", *words],
                                            env=deployer.env, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
            if self.is_up():
                break
        else:
            raise AssertionError((deployer.folder / "deployer.log").read_text())
        self.token = (deployer.home / "run" / "owner.token").read_text().strip()

    def is_up(self):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.ask("GET", "/health", token=None)
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def ask(self, method, path, body=None, token="", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.token}"
        connection.request(method, path, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self.answer = answer
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def request(self, **more):
        return {"hostId": "local", "instanceId": "petstore", "environment": "local", "clusterId": "local",
                "namespace": "shop", "values": {"name": "petstore", "image": {"repository": "registry.example/acme/petstore"}},
                "template": {"repoUrl": "local", "path": "k8s"}, **more}

    def rpc(self, method, **params):
        return self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[1]

    def ended(self, request):
        end = time.monotonic() + 60
        while True:
            status, body = self.ask("GET", f"/deployments/{request}")
            if status == 200 and body["status"] not in ("accepted", "applying"):
                return body
            assert time.monotonic() < end, body
            time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


@pytest.fixture
def served(deployer):
    made = Served(deployer)
    yield made
    made.stop()


def sse(text):
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            events.append((int(lines["id"]), json.loads(lines["data"])))
    return events


def test_a_deployment_is_accepted_goes_on_and_is_told(served, cluster):
    assert served.ask("GET", "/health", token=None) == (200, "ok")
    assert served.ask("GET", "/ready", token=None) == (200, "ok")
    status, body = served.ask("POST", "/deployments", served.request(action="deploy", requestId="r1"))
    assert status in (200, 202) and body["status"] in ("accepted", "deployed") and body["requestId"] == "r1"
    assert body["manifestHash"].startswith("sha256:") and len(body["resources"]) == 3
    done = served.ended("r1")
    assert done["status"] == "deployed" and done["snapshotId"] == "r1" and "error" not in done
    assert {each["state"] for each in done["resources"]} == {"ready"}
    # LightDeployer25: the same request is the same operation.
    assert served.ask("POST", "/deployments", served.request(action="deploy", requestId="r1"))[1]["status"] == "deployed"
    status, body = served.ask("POST", "/deployments", served.request(action="deploy", requestId="r1", namespace="other"))
    assert status == 409
    # LightDeployer32
    status, text = served.ask("GET", "/events?request_id=r1")
    events = sse(text)
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert events[0][1]["message"] == "deployment request accepted" and events[-1][1]["status"] == "deployed"
    assert {each["message"] for _, each in events} >= {"Added Deployment/petstore", "processed 3 resources"}
    resumed = sse(served.ask("GET", "/events?requestId=r1", headers={"Last-Event-ID": "2"})[1])
    assert resumed == events[2:]
    assert served.ask("GET", "/events?request_id=none")[0] == 404
    status, body = served.ask("POST", "/deployments", served.request(action="status"))
    assert status == 200 and body["ready"] and body["status"] == "validated"
    status, body = served.ask("POST", "/deployments", served.request(action="undeploy", requestId="r2"))
    assert status in (200, 202)
    assert served.ended("r2")["status"] == "deleted" and cluster.names("deployments") == []
    status, body = served.ask("POST", "/deployments", served.request(action="status"))
    assert (status, body["action"], body["error"]["code"]) == (404, "status", "notFound")


def test_refusals_have_their_codes_before_anything_is_accepted(served, cluster):
    def asked(**more):
        status, body = served.ask("POST", "/deployments", served.request(**{"action": "deploy", **more}))
        return status, body["error"]["code"], body["error"]["message"]

    assert asked(clusterId="prod")[:2] == (409, "wrongCluster")
    assert asked(namespace="other")[:2] == (403, "policyDenied")
    status, code, message = asked(values={})
    assert (status, code) == (422, "renderFailed") and "`name`" in message and "`image.repository`" in message
    assert asked(template={"repoUrl": "local", "path": "../etc"})[:2] == (403, "policyDenied")
    assert asked(template={"repoUrl": "https://git.example/x.git"})[:2] == (403, "policyDenied")
    assert asked(template={"repoUrl": "file:///etc"})[:2] == (403, "policyDenied")
    assert asked(valuesHash="sha256:00")[:2] == (400, "invalid")
    assert asked(environment="none")[:2] == (400, "invalid")
    for wrong in ({"valuesRef": {"source": "a", "path": "b"}}, {"unknown": 1}, {"action": "scale"}, {"values": [1]}):
        assert asked(**wrong)[:2] == (400, "invalid")
    assert served.ask("POST", "/deployments", "{\"a\": ")[0] == 400
    assert served.ask("POST", "/deployments", "x", headers={"Content-Type": "text/plain"})[0] == 415
    assert served.ask("GET", "/deployments/none")[0] == 404
    assert served.ask("POST", "/deployments/none/cancel")[0] == 404
    assert served.ask("GET", "/nothing")[0] == 404
    assert cluster.names("deployments") == []
    # Without a token nobody comes in, until the policy says so.
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 401
    assert served.ask("GET", "/mcp/tools", token="slt_wrong")[0] == 401
    served.deployer.policy(devInsecure=True)
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 200
    assert served.ask("GET", "/mcp/tools", token="slt_wrong")[0] == 401
    (served.deployer.folder / "deployer.yml").write_text("allowedNamespace: [shop]\n")
    status, text = served.ask("GET", "/ready", token=None)
    assert status == 503 and "allowedNamespace" in text
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 200


def test_the_seven_tools_and_the_wire_of_mcp(served):
    names = ["deployment.render", "deployment.dryRun", "deployment.diff", "deployment.apply", "deployment.delete",
             "deployment.status", "deployment.rollback"]
    tools = served.rpc("tools/list")["result"]["tools"]
    assert [each["name"] for each in tools] == names
    assert len({json.dumps(each["inputSchema"], sort_keys=True) for each in tools}) >= 5
    assert [each["annotations"]["readOnlyHint"] for each in tools] == [True, True, True, False, False, True, False]
    listed = served.ask("GET", "/mcp/tools/list")[1]["tools"]
    assert [each["endpoint"] for each in listed] == [f"/mcp/tools/{name}" for name in names]
    assert served.ask("GET", "/mcp/tools/deployment.scale")[0] == 404
    status, body = served.ask("POST", "/mcp/tools/deployment.render", served.request())
    assert status == 200 and body["status"] == "rendered" and len(body["resources"]) == 3
    # LightDeployer27
    def code(message):
        return served.ask("POST", "/mcp", message)[1]["error"]["code"]

    assert code({"jsonrpc": "1.0", "id": 1, "method": "ping"}) == -32600
    assert code({"jsonrpc": "2.0", "id": 1, "method": "foo"}) == -32601
    assert code({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}) == -32601
    for params in ({"name": "deployment.scale"}, {}, {"name": "deployment.render", "arguments": {"hostId": "h"}},
                   {"name": "deployment.render", "arguments": 1}):
        assert code({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) == -32602
    assert code("{\"jsonrpc\": ") == -32700
    assert served.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202
    refused = served.rpc("tools/call", name="deployment.render", arguments=served.request(namespace="other"))["result"]
    assert refused["isError"] and refused["structuredContent"]["error"]["code"] == "policyDenied"


def test_roles_of_the_environment_apply(served):
    served.deployer.policy(hostId="", callers=[{"caller": "user:ann", "hostIds": ["local"]}])
    policy = served.deployer.folder / "access.yaml"
    policy.write_text("roles:\n  - subject: user:ann\n    role: viewer\n")
    # The owner is no caller that the policy knows.
    status, body = served.ask("POST", "/deployments", served.request(action="status"))
    assert (status, body["error"]["code"]) == (403, "policyDenied")


def test_what_is_secret_is_found_nowhere(served, cluster):
    secret = "canary-" + os.urandom(12).hex()
    forms = [secret.encode(), base64.b64encode(secret.encode()).rstrip(b"=")]
    served.deployer.only(**{
        "s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: \"${password}\"}\n",
        "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {url: \"https://u:${password}@x.example\"}\n"})
    values = {"password": {"$secret": secret}}
    wires = []
    cluster.fail(method="PATCH", path="/secrets/", status=422, count=1, body={
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid",
        "message": f"Secret is invalid: {secret} is no good"})
    for body in (served.request(action="render", values=values), served.request(action="diff", values=values),
                 served.request(action="deploy", values=values, requestId="r1"),
                 served.request(action="deploy", values=values, requestId="r2"),
                 served.request(action="diff", values=values), served.request(action="status")):
        wires.append(served.ask("POST", "/deployments", body))
        if body.get("requestId"):
            wires.append(served.ended(body["requestId"]))
            wires.append(served.ask("GET", f"/events?request_id={body['requestId']}"))
    assert "<REDACTED>" in json.dumps(wires) and cluster.get("secrets", "s")
    wires.append(served.rpc("tools/call", name="deployment.diff", arguments=served.request(values=values)))
    wires.append(served.deployer.run("cluster", "show", "r1"))
    served.stop()
    text = json.dumps(wires).encode()
    found = [form for form in forms if form in text]
    assert not found, "on a wire"
    for path in served.deployer.home.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert not any(form in held for form in forms), path


def test_an_agent_goes_the_whole_way(served, root):
    """The official client judges every message, and structured content by the tool's own schema."""
    node = subprocess.Popen(["node", str(root / "tests/mcp/session.mjs"), json.dumps({
        "client": "sdk", "url": f"http://127.0.0.1:{served.port}/mcp",
        "headers": {"Authorization": f"Bearer {served.token}"}})], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(**step):
        node.stdin.write(json.dumps(step) + "\n")
        node.stdin.flush()
        return json.loads(node.stdout.readline())

    try:
        assert "ok" in do(do="connect")
        assert len(do(do="tools")["ok"]["tools"]) == 7  # from now on the client judges what they answer
        for name, status, more in (("render", "rendered", {}), ("dryRun", "validated", {}), ("diff", "validated", {}),
                                   ("apply", "deployed", {"requestId": "r1"}), ("status", "validated", {}),
                                   ("apply", "deployed", {"requestId": "r2", "values": {
                                       "name": "petstore", "log": {"level": "debug"},
                                       "image": {"repository": "registry.example/acme/petstore"}}}),
                                   ("rollback", "rolledBack", {"requestId": "r3"}),
                                   ("delete", "deleted", {"requestId": "r4"})):
            answer = do(do="call", name=f"deployment.{name}", arguments=served.request(**more), progress=True)
            assert "ok" in answer and not answer["ok"].get("isError"), answer
            assert answer["ok"]["progress"], name
            content = answer["ok"]["structuredContent"]
            if "requestId" in more:
                content = served.ended(more["requestId"])
            assert content["status"] == status, content
        assert do(do="strays")["ok"] == []
    finally:
        node.kill()
        node.wait()
