"""Who may do what through sluice serve: tokens and the access policy over HTTP, the same for every kind of read and call,
what the journal says of denials, and that no token is left anywhere."""

import http.client
import json
import signal
import socket
import subprocess
import threading

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann], role: admin}
- {to: [user:vic], role: viewer}
- {to: [user:dan, service:ci], role: deployer, environments: [local]}
- {to: [user:olga], role: operator}
- {to: [user:sven], role: operator, environments: [staging]}
"""
PEOPLE = {"ann": "user:ann", "vic": "user:vic", "dan": "user:dan", "olga": "user:olga", "sven": "user:sven"}


class Server:
    """A home with sluice serve at a port of its own."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.home = sluice, root, folder / "home"
        self.folder = folder
        self.process = None
        self.tokens = {}

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(self, *words):
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=self.environment(), timeout=120)

    def ok(self, *words):
        done = self.run(*words, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=self.environment())
        self.port = None

    def wait(self, eventually):
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.port = int(self.ok("status")["url"].rsplit(":", 1)[1])
        self.tokens["owner"] = (self.home / "run/owner.token").read_text().strip()

    def stop(self, how=signal.SIGTERM):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=60)
        self.process = None

    def request(self, who, method, target, body=None, **headers):
        """Status and JSON; `who` is a name among the tokens, a token, or None."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Content-Type": "application/json", **headers}
        if who is not None:
            sent["Authorization"] = "Bearer " + self.tokens.get(who, who)
        connection.request(method, target, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.headers = dict(answer.getheaders())
        return answer.status, json.loads(text) if text else None

    def act(self, who, action, **input):
        return self.request(who, "POST", f"/v1/actions/{action}", {"input": input})

    def denials(self):
        records = self.request("owner", "GET", "/v1/journal?from=1")[1]["rows"]
        steps = [json.loads(row["record"]) for row in records]
        return [(step["caller"], step["action"]) for step in steps if step["step"] == "denied"]


@pytest.fixture(scope="module")
def server(sluice, root, tmp_path_factory, eventually):
    one = Server(sluice, root, tmp_path_factory.mktemp("access"))
    one.start()
    try:
        one.wait(eventually)
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        assert one.ok("access", "policy", "apply", policy)["version"] == 1
        for name, subject in PEOPLE.items():
            one.tokens[name] = one.ok("access", "tokens", "create", "laptop", "--for", subject)["secret"]
        one.ok("env", "create", "staging")
        yield one
    finally:
        one.stop()


def test_nobody_comes_in_without_a_token_that_holds(server):
    before = server.request("owner", "GET", "/v1/position")[1]["position"]
    for _ in range(50):
        status, problem = server.request(None, "GET", "/v1/status")
        assert (status, problem["code"]) == (401, "unauthenticated")
    assert server.headers["WWW-Authenticate"] == 'Bearer realm="sluice"'
    for bad in ("x", "slt_x_y", server.tokens["ann"][:-1], server.tokens["ann"] + "x"):
        status, problem = server.act(bad, "Env/list")
        assert status == 401, bad
        assert problem["detail"] == "the token does not hold: it is unknown, expired or revoked"
    status, problem = server.request(None, "GET", "/v1/status?access_token=" + server.tokens["ann"])
    assert (status, problem["code"]) == (400, "invalid")
    assert server.request(None, "GET", "/healthz")[0] == 200
    assert server.request("owner", "GET", "/v1/position")[1]["position"] == before


def test_each_role_may_what_it_is_for(server):
    assert server.act("vic", "Env/list")[0] == 200
    status, problem = server.act("vic", "Config/set", environment="local", values=[])
    assert (status, problem["code"]) == (403, "denied")
    assert problem["detail"] == ("user:vic may not call Config/set: no grant gives user:vic the right operate in "
                                 "local")
    assert server.act("olga", "Env/create", environment="team-olga")[0] == 200
    assert server.act("olga", "Trust/list")[0] == 200
    status, problem = server.act("olga", "Trust/setThreshold", group="x", threshold=1)
    assert status == 403
    assert server.act("ann", "Trust/setThreshold", group="x", threshold=1)[0] == 404
    assert server.act("owner", "Trust/setThreshold", group="x", threshold=1)[0] == 404
    assert server.act("sven", "Env/update", environment="staging", name="Staging")[0] == 200
    assert server.act("sven", "Env/update", environment="local", name="Local")[0] == 403
    assert ("user:vic", "Config/set") in server.denials()
    assert ("user:olga", "Trust/setThreshold") in server.denials()


def test_greentic26_roles_decide_and_what_is_denied_is_written_down(server):
    denied = server.denials().count(("user:vic", "Traffic/set"))
    status, problem = server.act("vic", "Traffic/set", deployment="01ARZ3NDEKTSV4RRFFQ69G5FAV", entries=[])
    assert status == 403 and "user:vic may not call Traffic/set" in problem["detail"]
    assert server.denials().count(("user:vic", "Traffic/set")) == denied + 1
    assert server.act("sven", "Env/update", environment="local", name="Local")[0] == 403, "another environment than theirs"
    assert server.act("olga", "Trust/setThreshold", group="x", threshold=1)[0] == 403, "what is trusted is for admins"
    before = server.request("owner", "GET", "/v1/position")[1]["position"]
    for _ in range(200):
        assert server.act(None, "Env/create", environment="flood")[0] == 401
    assert server.request("owner", "GET", "/v1/position")[1]["position"] == before


def test_a_denial_is_recorded_once_a_minute(server):
    for _ in range(20):
        assert server.act("dan", "Env/destroy", environment="local")[0] == 403
    assert server.denials().count(("user:dan", "Env/destroy")) <= 2  # a minute may have passed in between
    body = {"input": {"environment": "local"}, "dryRun": True}
    assert server.request("dan", "POST", "/v1/actions/Env/destroy", body)[0] == 403


def test_reads_show_what_their_caller_may_see(server):
    names = lambda who: [row["key"] for row in server.request(who, "GET", "/v1/state/Env")[1]["rows"]]
    assert set(names("vic")) >= {"local", "staging"}
    assert names("dan") == ["local"]
    assert names("sven") == ["staging"]
    assert server.request("vic", "GET", "/v1/state/Access")[1]["rows"] == []
    assert len(server.request("ann", "GET", "/v1/state/Access")[1]["rows"]) == len(PEOPLE)
    environments = lambda who: [each["environment_id"] for each in server.request(who, "GET", "/v1/views/environments")[1]]
    assert environments("dan") == ["local"]
    assert environments("sven") == ["staging"]
    flow = server.act("sven", "Env/update", environment="staging", name="Again")[1]["flow"]
    flows = lambda who: [each["flow"] for each in server.request(who, "GET", "/v1/flows")[1]["flows"]]
    assert flow in flows("sven") and flow in flows("vic") and flow not in flows("dan")
    for path in ("", "/steps", "/answer"):
        assert server.request("vic", "GET", f"/v1/flows/{flow}{path}")[0] == 200
        assert server.request("dan", "GET", f"/v1/flows/{flow}{path}")[0] == 404
    journal = lambda who: server.request(who, "GET", "/v1/journal?from=1")[1]["rows"]
    assert all(flow not in row["record"] for row in journal("dan"))
    assert any(flow in row["record"] for row in journal("sven"))
    assert not any('"step":"denied"' in row["record"] for row in journal("vic"))
    body = {"decision": "cancel"}
    assert server.request("dan", "POST", f"/v1/flows/{flow}/decisions", body)[0] == 403
    assert server.request("vic", "POST", "/v1/stop", {})[0] == 403


def test_only_who_sees_the_whole_journal_can_say_whether_it_is_whole(server):
    assert server.request("ann", "GET", "/v1/views/audit-report")[1]["holds"] is True
    for who in ("vic", "dan", "olga"):
        status, problem = server.request(who, "GET", "/v1/views/audit-report")
        assert (status, problem["code"]) == (403, "denied")
        assert problem["detail"].startswith(f"user:{who} may not verify the journal: no grant gives user:{who} the right administer")


def test_events_show_what_their_caller_may_see_and_end_with_the_token(server, eventually):
    made = server.ok("access", "tokens", "create", "events", "--for", "user:sven")
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    stream.sendall(b"GET /v1/events?raw=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + made["secret"].encode() +
                   b"\r\n\r\n")
    heard = bytearray()

    def listen():
        while part := stream.recv(65536):
            heard.extend(part)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    eventually(lambda: b": from" in heard)
    assert server.act("olga", "Env/update", environment="local", name="Hidden")[0] == 200
    assert server.act("olga", "Env/update", environment="staging", name="Shown")[0] == 200
    eventually(lambda: b"Shown" in heard)
    assert b"Hidden" not in heard
    server.ok("access", "tokens", "revoke", made["token"])
    assert server.act("olga", "Env/update", environment="staging", name="Later")[0] == 200
    eventually(lambda: heard.endswith(b"\r\n0\r\n\r\n"))  # the last chunk
    stream.shutdown(socket.SHUT_RDWR)
    listener.join()
    stream.close()


def test_commands_say_who_may_what(server):
    assert server.ok("access", "whoami")["owner"] is True
    assert server.request("dan", "GET", "/v1/views/whoami")[1]["grants"][0]["role"] == "deployer"
    assert server.run("access", "can", "Traffic/set", "--env", "local").returncode == 0
    explained = server.ok("access", "explain", "user:dan", "Traffic/set", "--env", "staging")
    assert explained["allowed"] is False
    assert explained["why"] == ("no grant gives user:dan the right deploy in staging; grant 3 gives deployer in local")
    policy = server.folder / "policy.yaml"
    test = lambda *more: server.run("access", "policy", "test", policy, *more)
    assert test("Traffic/set", "--as", "user:dan", "--env", "local").returncode == 0
    assert test("Traffic/set", "--as", "user:dan", "--env", "prod").returncode == 4
    assert test().returncode == 2
    assert server.ok("access", "policy", "show")["policy"] == POLICY
    tokens = {each["subject"]: each for each in server.ok("access", "tokens", "list")["tokens"]}
    assert tokens["user:vic"]["status"] == "good"


def test_the_last_use_of_a_token_is_kept(server, eventually):
    assert server.act("vic", "Env/list")[0] == 200
    used = lambda: {each["subject"]: each.get("lastUsed") for each in server.ok("access", "tokens", "list")["tokens"]}
    eventually(lambda: used()["user:vic"] is not None)


def test_nobody_grants_what_they_lack_and_an_admin_stays(server):
    more = POLICY + "- {to: [user:olga], allow: [Access/apply]}\n"
    assert server.act("ann", "Access/apply", policy=more)[0] == 200
    greedy = more + "- {to: [user:olga], role: admin}\n"
    status, problem = server.act("olga", "Access/apply", policy=greedy)
    assert (status, problem["variant"]) == (403, "exceeds")
    nobody = POLICY.replace("- {to: [user:ann], role: admin}\n", "")
    assert server.act("ann", "Access/apply", policy=nobody)[1]["variant"] == "lastAdmin"
    assert server.act("ann", "Access/apply", policy=POLICY, version=1)[1]["variant"] == "stale"
    assert server.act("ann", "Access/apply", policy=POLICY)[0] == 200


def test_other_addresses_are_refused_before_anything_starts(sluice, root, tmp_path):
    one = Server(sluice, root, tmp_path)
    for where, why in (("0.0.0.0:0", "in the clear"), ("127.0.0.1", "is no address"), ("127.0.0.1:x", "is no address")):
        done = one.run("serve", "--listen", where)
        assert done.returncode == 2 and why in done.stderr, where
    assert not one.home.exists()


def test_no_token_is_left_anywhere(server, eventually):
    secrets = [token.split("_", 2 if token.startswith("slt_") else 1)[-1].encode() for token in server.tokens.values()]
    assert len(secrets) == len(PEOPLE) + 1
    token_file = server.home / "run/owner.token"
    assert token_file.stat().st_mode & 0o777 == 0o600
    for path in [*server.folder.rglob("*")]:
        if not path.is_file() or path == token_file:
            continue
        text = path.read_bytes()
        assert not any(secret in text for secret in secrets), path
    server.stop()
    assert not token_file.exists()
    server.start()
    server.wait(eventually)
    assert server.act("vic", "Env/list")[0] == 200
