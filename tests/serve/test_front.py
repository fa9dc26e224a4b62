"""What the server's front bears: thousands of connections that say nothing, bodies that are too large, too slow or not
what they claim to be, streams whose reader never reads or may no longer, and uploads that go on where they broke off."""

import hashlib
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import time

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:root], role: admin}
- {to: [user:dan], role: deployer}
- {to: [user:vic], role: viewer}
preconditions:
- {actions: [Env/update], environments: [careful]}
reasons:
- {actions: [Env/*, Flow/decide], environments: [telling]}
"""


class Place:
    def __init__(self, sluice, folder):
        self.sluice, self.folder, self.home = sluice, folder, folder / "home"
        self.environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def ok(self, *words):
        done = subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              env=self.environment, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def token(self, who, name):
        made = self.ok("access", "tokens", "create", name, "--for", who)
        return made["token"], made["secret"]

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)

    def send(self, method, target, body=None, token=None, **headers):
        wire = http.client.HTTPConnection(self.host, self.port, timeout=60)
        given = {"Authorization": "Bearer " + (token or self.root)}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        wire.request(method, target, body, given)
        answer = wire.getresponse()
        text = answer.read()
        wire.close()
        return answer, json.loads(text) if text and b"json" in (answer.getheader("Content-Type") or "").encode() else text

    def is_alive(self):
        return self.send("GET", "/v1/status")[0].status == 200


@pytest.fixture(scope="module")
def place(sluice, tmp_path_factory, eventually):
    place = Place(sluice, tmp_path_factory.mktemp("front"))
    log = open(place.folder / "serve.log", "w")
    process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log,
                               env=place.environment)
    eventually(lambda: (place.home / "run/owner.token").exists() and "url" in place.ok("status", "--wait", "60s"))
    place.url = place.ok("status")["url"]
    place.host, port = place.url.split("//")[1].split(":")
    place.port, place.pid = int(port), process.pid
    policy = place.folder / "policy.yaml"
    policy.write_text(POLICY)
    place.ok("access", "policy", "apply", policy)
    _, place.root = place.token("user:root", "root")
    _, place.dan = place.token("user:dan", "dan")
    _, place.vic = place.token("user:vic", "vic")
    yield place
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_ten_thousand_half_open_connections_leave_room_for_others(place):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 10_000
    if hard < wanted + 200:
        pytest.skip("this machine does not let a process have so many descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 200), hard))
    half = []
    try:
        for i in range(wanted):
            wire = place.connect()
            wire.send(b"GET /v1/status HTTP/1.1\r\nHo" if i % 2 else b"G")
            half.append(wire)
        assert place.is_alive()
        threads = len(os.listdir(f"/proc/{place.pid}/task"))
        assert threads < 200, "a connection holds no thread"
    finally:
        for wire in half:
            wire.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert place.is_alive()


def test_a_body_of_a_hundred_megabytes_is_refused_as_soon_as_it_says_so(place):
    wire = place.connect()
    wire.sendall(b"POST /v1/actions/Env/create HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 104857600\r\n\r\n" + b"x" * 1_000_000)
    assert wire.recv(100).startswith(b"HTTP/1.1 413 ")
    assert place.is_alive()


@pytest.mark.parametrize("bad", [
    b"GET /v1/status HTTP/1.1\r\n\r\n",
    b"GET /v1/../v1/status HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET //v1/status HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET http://evil.example/v1/status HTTP/1.1\r\nHost: h\r\n\r\n",
    b"POST /v1/stop HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    b"POST /v1/stop HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"GET /v1/status HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n",
    b"GET /v1/status HTTP/2.0\r\nHost: h\r\n\r\n",
])
def test_what_could_be_read_in_two_ways_is_refused(place, bad):
    wire = place.connect()
    wire.sendall(bad)
    answer = wire.recv(100)
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 505 ")), answer


@pytest.mark.parametrize("method, target, status", [
    ("DELETE", "/v1/status", 405), ("GET", "/v1/stop", 405), ("POST", "/v1/status", 405), ("GET", "/v1/nothing", 404),
    ("GET", "/v1/status/", 404), ("GET", "/V1/status", 404), ("GET", "/v1/status?token=x", 400),
    ("PUT", "/v1/blobs/..%2f..%2fpasswd", 400), ("HEAD", "/v1/blobs/..", 400)])
def test_other_methods_and_paths_do_nothing(place, method, target, status):
    assert place.send(method, target)[0].status == status


def test_a_json_that_nests_too_deep_or_has_unknown_members_is_refused(place):
    deep = "{\"input\":" + "[" * 100_000 + "]" * 100_000 + "}"
    assert place.send("POST", "/v1/actions/Env/create", deep, Content_Type="application/json")[0].status == 429
    other = json.dumps({"input": {"environment": "x", "nonsense": 1}})
    assert place.send("POST", "/v1/actions/Env/create", other, Content_Type="application/json")[0].status == 400
    assert place.send("POST", "/v1/actions/Env/create", "{}", Content_Type="text/plain")[0].status == 400


@pytest.mark.parametrize("body, query, said", [
    ({"dryRun": "yes"}, "", "dryRun is true or false"), ({"dryRun": 1}, "", "dryRun is true or false"),
    ({"dryRun": None}, "", "dryRun is true or false"),
    ({}, "?dryRun=true", "a call takes no parameter dryRun; nothing was done"),
    ({}, "?dry_run=1", "a call takes no parameter dry_run; nothing was done")])
def test_what_is_meant_as_a_trial_is_never_done(place, body, query, said):
    given = json.dumps({"input": {"environment": "tried"}, **body})
    answer, problem = place.send("POST", "/v1/actions/Env/create" + query, given, Content_Type="application/json")
    assert (answer.status, problem["detail"]) == (400, said)
    assert "tried" not in {each["environment_id"] for each in place.ok("env", "list")}


def test_a_wish_that_is_said_to_be_none_is_none(place):
    place.send("POST", "/v1/actions/Env/create", json.dumps({"input": {"environment": "A B"}}), Content_Type="application/json")
    asked = {text: place.send("GET", "/v1/flows?limit=500" + text)[1]["flows"] for text in ("", "&failed=false", "&failed", "&failed=true")}
    assert asked["&failed=false"] == asked[""] and len(asked["&failed"]) < len(asked[""])
    assert asked["&failed"] == asked["&failed=true"] and {each["state"] for each in asked["&failed"]} == {"failed"}


def follow(place, target, token, method="GET", body=None, **headers):
    wire = place.connect()
    lines = [f"{method} {target} HTTP/1.1", "Host: h", f"Authorization: Bearer {token}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    wire.sendall(("\r\n".join(lines) + "\r\n" + (f"Content-Length: {len(body)}\r\n\r\n{body}" if body else "\r\n")).encode())
    return wire


def read_until(wire, wanted):
    got = b""
    while wanted not in got:
        piece = wire.recv(65536)
        assert piece, got
        got += piece
    return got


def ends(wire):
    while wire.recv(65536):
        pass
    return True


def test_streams_end_with_the_token_that_opened_them(place):
    token, secret = place.token("user:vic", "streams")
    events = follow(place, "/v1/events", secret)
    read_until(events, b": from ")
    initialize = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                             "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                        "clientInfo": {"name": "t", "version": "1"}}})
    answer, _ = place.send("POST", "/mcp", initialize, secret, Content_Type="application/json",
                           Accept="application/json, text/event-stream")
    followed = follow(place, "/mcp", secret, Mcp_Session_Id=answer.getheader("Mcp-Session-Id"),
                      Accept="text/event-stream")
    read_until(followed, b": alive")
    listen = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        "notifications": {"resourceSubscriptions": ["sluice://environments"]}}})
    listened = follow(place, "/mcp", secret, "POST", listen, Content_Type="application/json",
                      Accept="application/json, text/event-stream", Mcp_Method="subscriptions/listen",
                      MCP_Protocol_Version="2026-07-28")
    read_until(listened, b"acknowledged")
    other = follow(place, "/v1/events", place.vic)
    read_until(other, b": from ")
    place.ok("access", "tokens", "revoke", token)
    for wire in (events, followed, listened):
        assert ends(wire)
    place.ok("env", "create", "seen")
    assert b"environment.created" in read_until(other, b"environment.created"), "who still may goes on"


def test_followers_hold_no_thread_and_all_hear_of_a_change(place):
    followers = [follow(place, "/v1/events?types=environment.*", place.root) for _ in range(300)]
    for wire in followers:
        read_until(wire, b": from ")
    assert len(os.listdir(f"/proc/{place.pid}/task")) < 200
    place.ok("env", "create", "heard")
    for wire in followers:
        assert b'"heard"' in read_until(wire, b"environment.created")
        wire.close()


def test_an_upload_goes_on_where_it_broke_off(place):
    bundle = os.urandom(3_000_000)
    digest = "sha256:" + hashlib.sha256(bundle).hexdigest()
    target = "/v1/blobs/" + digest
    answer, _ = place.send("HEAD", target, token=place.dan)
    assert (answer.status, answer.getheader("Upload-Offset"), answer.getheader("Upload-Complete")) == (204, "0", "?0")
    wire = follow(place, target, place.dan, "PATCH", Upload_Offset="0", Content_Length="2000000")
    wire.sendall(bundle[:700_000])
    wire.close()
    deadline = time.monotonic() + 60
    while (at := int(place.send("HEAD", target, token=place.dan)[0].getheader("Upload-Offset"))) < 700_000:
        assert time.monotonic() < deadline
    assert place.send("HEAD", target, token=place.root)[0].getheader("Upload-Offset") == "0", "it is dan's"
    answer, problem = place.send("PATCH", target, b"x", place.dan, Upload_Offset=str(at + 1))
    assert answer.status == 409 and answer.getheader("Upload-Offset"), problem
    at = int(answer.getheader("Upload-Offset"))
    answer, _ = place.send("PATCH", target, bundle[at:1_500_000], place.dan, Upload_Offset=str(at))
    assert (answer.status, answer.getheader("Upload-Offset")) == (204, "1500000")
    answer, said = place.send("PATCH", target, bundle[1_500_000:], place.dan, Upload_Offset="1500000",
                              Upload_Complete="?1")
    assert answer.status == 201 and said["digest"] == digest
    answer, _ = place.send("HEAD", target, token=place.dan)
    assert (answer.getheader("Upload-Complete"), answer.getheader("Upload-Offset")) == ("?1", "3000000")


def test_an_upload_whose_digest_differs_leaves_nothing(place):
    digest = "sha256:" + hashlib.sha256(b"what it should be").hexdigest()
    for method, headers in (("PUT", {}), ("PATCH", {"Upload_Offset": "0", "Upload_Complete": "?1"})):
        answer, problem = place.send(method, "/v1/blobs/" + digest, b"something else", place.dan, **headers)
        assert answer.status == 422 and problem["code"] == "verification_failed", problem
        answer, _ = place.send("HEAD", "/v1/blobs/" + digest, token=place.dan)
        assert (answer.getheader("Upload-Complete"), answer.getheader("Upload-Offset")) == ("?0", "0")


def test_a_viewer_uploads_nothing(place):
    digest = "sha256:" + hashlib.sha256(b"v").hexdigest()
    for method, headers in (("PUT", {}), ("PATCH", {"Upload_Offset": "0"})):
        assert place.send(method, "/v1/blobs/" + digest, b"v", place.vic, **headers)[0].status == 403
    assert place.send("HEAD", "/v1/blobs/" + digest, token=place.root)[0].getheader("Upload-Complete") == "?0"


def test_greentic25_a_change_must_say_what_it_has_seen_where_the_policy_demands_it(place):
    place.ok("env", "create", "careful")
    place.ok("env", "create", "careless")

    def update(environment, **headers):
        body = json.dumps({"input": {"environment": environment, "name": "A name"}})
        return place.send("POST", "/v1/actions/Env/update", body, Content_Type="application/json", **headers)

    assert update("careless")[0].status == 200
    answer, problem = update("careful")
    assert answer.status == 428, problem
    tag = answer.getheader("ETag")
    answer, problem = update("careful", If_Match="\"99\"")
    assert answer.status == 412
    assert answer.getheader("ETag") == tag and "99" in problem["detail"] and tag.strip('"') in problem["detail"]
    assert update("careful", If_Match=tag)[0].status == 200


def test_a_change_must_say_why_where_the_policy_demands_it(place):
    for name in ("telling", "untold"):
        place.ok("env", "create", name)  # by the home's owner, whom no policy binds

    def update(environment, **more):
        body = json.dumps({"input": {"environment": environment, "name": "A name"}, **more})
        return place.send("POST", "/v1/actions/Env/update", body, Content_Type="application/json")

    answer, problem = update("telling")
    assert (answer.status, problem["code"]) == (400, "invalid"), problem
    assert problem["detail"] == "Env/update must say why here; nothing was changed"
    assert problem["next"] == "give a reason: --reason TEXT, or reason beside the input"
    assert update("telling", dryRun=True)[0].status == 200, "to look is no change"
    said = place.send("POST", "/mcp", json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "call_action", "arguments": {"action": "Env/update", "input": {"environment": "telling"}}}}),
        Content_Type="application/json")[1]["result"]
    assert said["isError"] and "must say why here" in said["content"][0]["text"]
    assert place.ok("env", "show", "telling")["generation"] == 1
    answer, done = update("telling", reason="its new name")
    assert answer.status == 200

    def cancel(**more):
        body = json.dumps({"decision": "cancel", **more})
        return place.send("POST", f"/v1/flows/{done['flow']}/decisions", body, Content_Type="application/json")

    assert cancel()[1]["detail"] == "Flow/decide must say why here; nothing was changed"
    assert cancel(reason="a try")[1]["code"] == "conflict", "it has ended"
    assert update("untold")[0].status == 200
    can = place.send("GET", "/v1/views/access-can?action=Env/update&environment=telling")[1]
    assert can["allowed"] and can["reason_needed"]
    assert not place.send("GET", "/v1/views/access-can?action=Env/update&environment=untold")[1]["reason_needed"]
