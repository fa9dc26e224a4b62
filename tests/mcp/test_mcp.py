"""The official clients of the Model Context Protocol against sluice serve and sluice mcp: an agent lists, plans, deploys,
shifts and rolls back, always behind a preview, and may do what its token may do."""

import http.client
import json
import signal
import socket
import subprocess
import threading
import urllib.parse

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann], role: admin}
- {to: [user:vic], role: viewer}
"""


class Place:
    """A home with sluice serve at a port of its own."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.tokens = {}

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def ok(self, *words):
        done = subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              cwd=self.root, env=self.environment(), timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, eventually):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=self.environment())
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.url = self.ok("status")["url"]

    def request(self, who, method, target, body=None, headers=None):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        sent = dict(headers or {})
        if who is not None:
            sent["Authorization"] = "Bearer " + self.tokens[who]
        connection.request(method, target, body, sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text

    def upload(self, who, path):
        digest = "sha256:" + subprocess.run(["sha256sum", path], capture_output=True, text=True,
                                            check=True).stdout.split()[0]
        answer, _ = self.request(who, "PUT", "/v1/blobs/" + digest, path.read_bytes())
        assert answer.status == 201
        return digest


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("mcp"))
    one.start(eventually)
    try:
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        one.ok("access", "policy", "apply", policy)
        for name in ["ann", "vic"]:
            one.tokens[name] = one.ok("access", "tokens", "create", "laptop", "--for", "user:" + name)["secret"]
        one.ok("env", "list")
        one.bundles = {}
        for name in ["hello", "hello-v2"]:
            archive = one.folder / f"{name}.bundle"
            one.ok("bundles", "build", root / "examples" / name, "--out", archive)
            sidecar = next(one.folder.glob(f"{name}.bundle*.*"))
            one.bundles[name] = {"archive": one.upload("ann", archive), "signature": one.upload("ann", sidecar)}
        yield one
    finally:
        one.process.send_signal(signal.SIGTERM)
        one.process.wait(timeout=60)
        subprocess.run([str(sluice), "stop"], env=one.environment(), capture_output=True, timeout=120)


class Agent:
    """A session of an official client."""

    def __init__(self, root, how):
        folder = root / "tests/mcp"
        assert (folder / "node_modules").is_dir(), "the clients are missing: ./dev test installs them"
        self.process = subprocess.Popen(["node", folder / "session.mjs", json.dumps(how)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def do(self, what, **step):
        self.process.stdin.write(json.dumps({"do": what, **step}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the client has ended"
        return json.loads(line)

    def ok(self, what, **step):
        said = self.do(what, **step)
        assert "ok" in said, said
        return said["ok"]

    def tool(self, name, /, **arguments):
        """What a tool answers that succeeds."""
        result = self.ok("call", name=name, arguments=arguments)
        assert not result.get("isError"), result["content"]
        return result["structuredContent"]

    def refused(self, name, /, **arguments):
        """What a tool says that refuses."""
        result = self.ok("call", name=name, arguments=arguments)
        assert result.get("isError"), result
        return result["content"][0]["text"]

    def previewed(self, name, /, **arguments):
        """Looks at the preview, then does it."""
        shown = self.tool(name, **arguments)
        assert "preview" in shown and "variant" not in shown
        return self.tool(name, **arguments, plan_id=shown["plan_id"])

    def close(self):
        assert self.ok("strays") == []
        self.process.stdin.close()
        self.process.wait(timeout=60)


@pytest.fixture
def agent(place, root):
    """Makes sessions: agent("ann", "http", "modern")."""
    made = []

    def make(who, way, era):
        how = {"client": "sdk" if era == "sdk" else "client", "era": era}
        if way == "http":
            how |= {"url": place.url + "/mcp", "headers": {"Authorization": "Bearer " + place.tokens[who]}}
        else:
            how |= {"command": [str(place.sluice), "mcp"], "env": place.environment()}
        made.append(Agent(root, how))
        return made[-1]

    yield make
    for one in made:
        one.process.stdin.close()
        one.process.wait(timeout=60)


WAYS = [(way, era) for way in ("http", "stdio") for era in ("sdk", "legacy", "modern")]


@pytest.mark.parametrize("way,era", WAYS)
def test_every_client_meets_the_same_server(agent, way, era):
    one = agent("ann", way, era)
    met = one.ok("connect")
    assert met["server"]["name"] == "sluice"
    assert met["instructions"].startswith("Sluice deploys software")
    if era != "sdk":
        assert met["version"] == ("2026-07-28" if era == "modern" else "2025-11-25")
    tools = {tool["name"]: tool for tool in one.ok("tools")["tools"]}
    assert {"status", "deploy_plan", "deploy_execute", "traffic_set", "rollback", "explain", "logs", "rollout_status",
            "find_action", "call_action"} <= set(tools)
    assert len(tools) < 30
    assert tools["status"]["annotations"]["readOnlyHint"] and not tools["status"]["annotations"]["destructiveHint"]
    assert tools["rollback"]["annotations"]["destructiveHint"]
    for tool in tools.values():
        assert tool["title"] and len(tool["description"]) > 20 and tool["outputSchema"]["type"] == "object"
    who = one.tool("whoami")["caller"]
    assert who == "user:ann" if way == "http" else who.startswith("uid:")
    assert [each["environment_id"] for each in one.tool("environments_list")["items"]] == ["local"]
    assert "local" in one.ok("read", uri="sluice://environments/local")["contents"][0]["text"]
    assert "sluice://environments/local" in [each["uri"] for each in one.ok("resources")["resources"]]
    assert len(one.ok("templates")["resourceTemplates"]) == 4
    assert "there is no resource" in one.do("read", uri="sluice://nothing/x")["error"]
    assert [each["name"] for each in one.ok("prompts")["prompts"]] == ["why_did_this_rollout_stop", "deploy_this_safely"]
    prompt = one.ok("prompt", name="why_did_this_rollout_stop", arguments={"rollout": "hello@2"})
    assert "rollout hello@2" in prompt["messages"][0]["content"]["text"]
    found = one.tool("find_action", query="destroy environment")["actions"]
    assert found[0]["action"] == "Env/destroy" and found[0]["effect"] == "destroys"
    assert one.refused("status", nonsense=1) == "status takes no argument nonsense\nnext: it takes environment, deployment"
    said = one.refused("call_action", action="Env/update", input={"environment": "local", "nme": "x"})
    assert said.startswith('nme: unknown field, did you mean "name"?'), said
    said = one.refused("deploy_plan", environment="local", manifest="app: {name: x}")
    assert said.startswith("DeployPlan/plan ended in invalidManifest: ") and "version" in said, said
    one.close()


def test_an_agent_deploys_hello_shifts_traffic_and_rolls_back(place, agent, eventually):
    one = agent("ann", "http", "modern")
    one.ok("connect")
    manifest = json.dumps({"app": {"name": "greeting", "version": "1.0.0"},
                           "components": {"hello": {"bundle": place.bundles["hello"]["archive"]}}})
    planned = one.tool("deploy_plan", environment="local", manifest=manifest,
                       bundles=[{"component": "hello", **place.bundles["hello"]}])
    assert planned["variant"] == "ok" and planned["plan"]["summary"]["create"] == 1
    done = one.previewed("deploy_execute", plan=planned["fields"]["plan"])
    assert done["variant"] == "ok", done
    up = one.previewed("bundle_deploy", environment="local", canary="10%", **place.bundles["hello-v2"])
    assert {entry["weightBps"] for entry in up["fields"]["entries"]} == {1000, 9000}
    split = one.tool("traffic_show", environment="local", bundle="hello")
    assert sorted(entry["weight_bps"] for entry in split["entries"]) == [1000, 9000]
    done = one.previewed("traffic_set", environment="local", bundle="hello", shares={"hello@2": "50%", "hello@1": 50},
                         reason="halfway")
    assert done["variant"] == "ok"
    why = one.tool("explain", about="hello@2")
    assert why["kind"] == "revision"
    assert one.tool("logs", name="hello@2")["lines"] is not None
    assert one.tool("logs", name="hello", customer="local-dev")["lines"] is not None
    way = one.tool("rollback", environment="local", bundle="hello")["preview"]["now"]
    assert {(each["name"], each["weight_bps"]) for each in way["becomes"]} == {("hello@2", 1000), ("hello@1", 9000)}
    assert {each["weight_bps"] for each in way["now"]} == {5000}
    back = one.previewed("rollback", environment="local", bundle="hello")
    assert sorted(entry["weightBps"] for entry in back["fields"]["entries"]) == [1000, 9000]
    audit = one.tool("audit_list")["items"]
    assert ("user:ann", "halfway") in [(each["caller"], each.get("reason")) for each in audit]
    one.close()


def test_a_plan_id_is_good_once_for_its_caller_call_and_situation(place, agent):
    one = agent("ann", "http", "modern")
    one.ok("connect")
    place.ok("env", "create", "previews")
    place.ok("env", "create", "previews-too")
    other = agent("ann", "http", "sdk")
    other.ok("connect")
    destroy = {"action": "Env/destroy", "input": {"environment": "previews"}}
    assert "plan_id" in one.tool("call_action", **destroy)
    first = one.tool("call_action", **destroy)["plan_id"]
    assert "made for another call" in one.refused("call_action", action="Env/destroy",
                                                  input={"environment": "previews-too"}, plan_id=first)
    assert "not known, or was used" in one.refused("call_action", **destroy, plan_id=first)
    assert "not known, or was used" in one.refused("call_action", **destroy, plan_id="plan_made_up")
    second = one.tool("call_action", **destroy)["plan_id"]
    place.ok("env", "update", "previews", "--name", "Previews")
    assert "has changed since" in one.refused("call_action", **destroy, plan_id=second)
    assert other.tool("call_action", **destroy, plan_id=one.tool("call_action", **destroy)["plan_id"])["variant"] == "ok"
    assert "nothing was changed" in one.refused("call_action", **destroy)
    one.close()
    other.close()


def test_a_viewer_reads_and_the_refusal_is_in_the_audit(place, agent):
    one = agent("vic", "http", "modern")
    one.ok("connect")
    assert one.tool("environments_list")["items"]
    said = one.refused("call_action", action="Env/create", input={"environment": "mine"})
    assert said.startswith("user:vic may not call Env/create: ")
    said = one.refused("call_action", action="Env/destroy", input={"environment": "local"})
    assert said.startswith("user:vic may not call Env/destroy: ")
    _, text = place.request("ann", "GET", "/v1/journal?from=1")
    steps = [json.loads(row["record"]) for row in json.loads(text)["rows"]]
    denied = [(step["caller"], step["action"]) for step in steps if step["step"] == "denied"]
    assert ("user:vic", "Env/create") in denied and ("user:vic", "Env/destroy") in denied
    one.close()


@pytest.mark.parametrize("way,era", [("http", "sdk"), ("stdio", "sdk"), ("http", "modern"), ("stdio", "modern")])
def test_progress_is_told_and_who_subscribes_hears_of_changes(place, agent, eventually, way, era):
    one = agent("ann", way, era)
    one.ok("connect")

    def told():  # the answer may be there before the client has taken the progress
        result = one.ok("call", name="call_action", arguments={"action": "Env/doctor", "input": {"environment": "local"}},
                        progress=True)
        assert not result.get("isError"), result
        return [each["progress"] for each in result["progress"][:1]] == [1]

    eventually(told)

    def cancelled():  # the answer may be there before the client has cancelled
        said = one.do("call", name="call_action", arguments={"action": "Env/doctor", "input": {"environment": "local"}},
                      progress=True, cancelOn="Call an action")
        return "enough" in said.get("error", "")

    eventually(cancelled)
    name = f"heard-{way}-{era}"
    place.ok("env", "create", name)
    one.ok("subscribe", uri=f"sluice://environments/{name}")

    def changed():
        place.ok("env", "update", name, "--name", f"n{changed.count}")
        changed.count += 1
        return f"sluice://environments/{name}" in one.ok("updated")

    changed.count = 0
    eventually(changed)
    one.close()


MODERN = {"jsonrpc": "2.0", "id": 1, "method": "tools/list",
          "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                               "io.modelcontextprotocol/clientCapabilities": {}}}}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Relay:
    """A port that leads to the home's socket, for clients that can show no token: they are its owner there."""

    def __init__(self, path):
        self.path, self.listening = str(path), socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/mcp" % self.listening.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.path)
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    @staticmethod
    def pump(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.fixture(scope="module")
def relay(place):
    one = Relay(place.home / "run/sluice.sock")
    yield one
    one.listening.close()


# Those of the official scenarios that are not about tools, resources and prompts of the scenarios' own server.
@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list",
                                      "server-sse-multiple-streams", "dns-rebinding-protection"])
def test_an_official_scenario_passes(relay, root, scenario):
    program = root / "tests/mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    if subprocess.run(["node", str(program), "list"], capture_output=True, check=False, timeout=60).returncode != 0:
        pytest.skip("this Node cannot run it")
    done = subprocess.run(["node", str(program), "server", "--url", relay.url, "--scenario", scenario],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and ", 0 failed" in done.stdout + done.stderr, done.stdout + done.stderr


def test_what_is_wrong_on_the_wire_is_refused(place):
    def post(message, who="ann", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = message if isinstance(message, str) else json.dumps(message)
        answer, text = place.request(who, "POST", "/mcp", body, JSON | named)
        return answer, json.loads(text) if text else None

    right = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
    assert post(MODERN, **right)[0].status == 200
    answer, said = post(MODERN, **right | {"Mcp_Method": "tools/call"})
    assert (answer.status, said["error"]["code"]) == (400, -32020)
    answer, said = post(json.loads(json.dumps(MODERN).replace("2026-07-28", "2031-01-01")),
                        MCP_Protocol_Version="2031-01-01", Mcp_Method="tools/list")
    assert (answer.status, said["error"]["code"]) == (400, -32022)
    assert said["error"]["data"]["requested"] == "2031-01-01" and "2026-07-28" in said["error"]["data"]["supported"]
    answer, said = post(json.loads(json.dumps(MODERN).replace("tools/list", "no/thing")),
                        MCP_Protocol_Version="2026-07-28", Mcp_Method="no/thing")
    assert (answer.status, said["error"]["code"]) == (404, -32601)
    assert post("{")[1]["error"]["code"] == -32700
    assert post("7")[1]["error"]["code"] == -32600
    assert post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Origin="http://evil.example")[0].status == 403
    assert place.request("ann", "POST", "/mcp", "{}", {"Content-Type": "text/plain"})[0].status == 415
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    assert post(batch)[1] == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    for old in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]:
        said = post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": old}})[1]
        assert said["result"]["protocolVersion"] == old
    answer, _ = post(MODERN, who=None)
    assert answer.status == 401
    metadata = answer.getheader("WWW-Authenticate").split('resource_metadata="')[1].rstrip('"')
    _, text = place.request(None, "GET", urllib.parse.urlsplit(metadata).path)
    assert json.loads(text)["resource"] == place.url + "/mcp"
    assert place.request("ann", "GET", "/mcp")[0].status == 405
