"""Approvals: a call that the policy wants others to agree to waits, runs once as whoever asked for it when enough people
have agreed, and not if what it is about has changed."""

import concurrent.futures
import http.client
import json
import signal
import subprocess

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann, user:bob, user:cay, service:ci], role: operator}
- {to: [user:dot], role: operator, environments: [prod-a]}
- {to: [user:vic], role: viewer}
approvals:
- {actions: [Env/destroy, Env/update, Secret/put], environments: [prod-*], needed: 2}
"""
PEOPLE = ["user:ann", "user:bob", "user:cay", "user:dot", "user:vic", "service:ci"]


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.tokens = {}

    def run(self, *words, home=None):
        environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home or self.home), "LANG": "C.UTF-8"}
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=environment, timeout=120)

    def ok(self, *words, home=None):
        done = self.run(*words, "-o", "json", home=home)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def start(self, eventually):
        environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=environment)
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.url = self.ok("status")["url"]

    def request(self, who, method, target, body=None):
        wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        wire.request(method, target, None if body is None else json.dumps(body),
                     {"Authorization": "Bearer " + self.tokens[who], "Content-Type": "application/json"})
        answer = wire.getresponse()
        text = answer.read()
        wire.close()
        return answer.status, json.loads(text)

    def act(self, who, action, **input):
        return self.request(who, "POST", f"/v1/actions/{action}", {"input": input, "reason": "spring"})

    def vote(self, who, approval, agree=True):
        return self.act(who, "Approval/vote", approval=approval, agree=agree)

    def approval(self, approval):
        return self.request("user:ann", "GET", f"/v1/views/approvals?approval={approval}")[1][0]

    def events_of(self, approval, count):
        """So many events that name the approval, as somebody hears who may deploy there alone."""
        wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        wire.request("GET", f"/v1/events?from=1&object={approval}", None,
                     {"Authorization": "Bearer " + self.tokens["user:dot"]})
        answer, events = wire.getresponse(), []
        while len(events) < count:
            line = answer.readline().decode()
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
        wire.close()
        return events

    def environments(self):
        return {each["environment_id"] for each in self.ok("env", "list")}


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("approvals"))
    one.start(eventually)
    try:
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        one.ok("access", "policy", "apply", policy)
        for who in PEOPLE:
            one.tokens[who] = one.ok("access", "tokens", "create", "t", "--for", who)["secret"]
        one.tokens["user:bob again"] = one.ok("access", "tokens", "create", "u", "--for", "user:bob")["secret"]
        for name in [*"abcde", *(f"x{i}" for i in range(4))]:
            one.ok("env", "create", f"prod-{name}")
        yield one
    finally:
        one.stop()


def ask(place, environment, who="user:ann"):
    status, said = place.act(who, "Env/destroy", environment=environment)
    assert (status, said["code"], said["variant"]) == (202, "waiting_for_approval", "approvalNeeded"), said
    return said["fields"]["approval"]


def test_the_last_of_two_yeses_runs_it_once_as_who_asked(place, eventually):
    approval = ask(place, "prod-a")
    assert ask(place, "prod-a") == approval, "who asks again finds what waits"
    assert place.approval(approval)["status"] == "waiting"
    assert place.vote("user:ann", approval)[0] == 403, "one by the requester is refused"
    assert place.vote("service:ci", approval)[0] == 403, "a program does not approve"
    assert place.vote("user:vic", approval)[0] == 403, "nor does who may not deploy"
    assert place.vote("user:bob", approval)[1]["fields"]["yes"] == 1
    assert place.vote("user:bob again", approval)[1]["fields"]["yes"] == 1, "two tokens of one person are one person"
    assert "prod-a" in place.environments()
    assert place.vote("user:dot", approval)[1]["variant"] == "ok"
    eventually(lambda: place.approval(approval)["status"] == "done")
    assert "prod-a" not in place.environments()
    _, flow = place.request("user:ann", "GET", f"/v1/flows/{place.approval(approval)['outcome']}")
    assert (flow["action"], flow["caller"], flow["state"]) == ("Env/destroy", "user:ann", "settled")
    assert place.vote("user:cay", approval)[0] == 409, "it is over"
    told = place.events_of(approval, 4)
    assert [each["event"] for each in told] == ["approval.asked", "approval.counted", "approval.counted", "approval.given"]
    assert told[0]["environment"] == "prod-a"
    assert told[0]["fields"]["message"] == "user:ann asks for Env/destroy; people who must agree: 2; reason: spring"


def test_what_has_changed_since_is_not_run(place, eventually):
    approval = ask(place, "prod-b")
    place.ok("env", "update", "prod-b", "--name", "Other")  # the owner is bound by no policy
    place.vote("user:bob", approval)
    assert place.vote("user:cay", approval)[1]["variant"] == "ok"
    eventually(lambda: place.approval(approval)["status"] == "stale")
    assert "prod-b" in place.environments()


def test_one_no_ends_it(place):
    approval = ask(place, "prod-c")
    assert place.vote("user:bob", approval, agree=False)[1]["variant"] == "rejected"
    assert place.approval(approval)["status"] == "rejected"
    assert place.vote("user:cay", approval)[0] == 409
    assert "prod-c" in place.environments()


def test_rights_are_checked_again_when_it_runs(place, eventually):
    approval = ask(place, "prod-d")
    policy = place.folder / "other.yaml"
    policy.write_text(POLICY.replace("user:ann, ", "").replace("to: [user:vic]", "to: [user:vic, user:ann]"))
    place.ok("access", "policy", "apply", policy)
    place.vote("user:bob", approval)
    place.vote("user:cay", approval)
    eventually(lambda: place.approval(approval)["status"] == "failed")
    assert place.approval(approval)["outcome"].startswith("user:ann may not call Env/destroy")
    assert "prod-d" in place.environments()
    place.ok("access", "policy", "apply", place.folder / "policy.yaml")


def test_what_is_denied_or_refused_or_secret_is_not_asked_for(place):
    assert place.act("user:vic", "Env/destroy", environment="prod-e")[0] == 403
    status, said = place.act("user:ann", "Env/update", environment="prod-e", extends="nowhere")
    assert status in (400, 404), said
    status, said = place.act("user:ann", "Secret/put", environment="prod-e", name="a/B", provider="store", value="hunter2")
    assert status == 403 and "carries a secret" in said["detail"]
    assert place.request("user:ann", "GET", "/v1/views/approvals")[1] == []


def test_the_command_line_exits_with_10_and_approves(place, eventually):
    homes = {}
    for who in ("user:ann", "user:bob", "user:cay"):
        homes[who] = place.folder / who.split(":")[1]
        token = place.folder / "token"
        token.write_text(place.tokens[who])
        place.ok("login", place.url, "--name", "team", "--token-file", token, home=homes[who])
    asked = place.run("env", "destroy", "prod-e", "--yes", home=homes["user:ann"])
    assert asked.returncode == 10, asked.stderr
    waiting = place.ok("approvals", "list", home=homes["user:bob"])
    assert [(each["requester"], each["action"]) for each in waiting] == [("user:ann", "Env/destroy")]
    approval = waiting[0]["approval"]
    assert approval in asked.stderr
    assert f"sluice approvals approve {approval}\n" in asked.stderr
    assert "environment=prod-e" in place.run("approvals", "list", home=homes["user:bob"]).stdout
    why = place.run("why", approval, home=homes["user:bob"])
    assert why.returncode == 0 and why.stdout.startswith("user:ann asked for Env/destroy "), why
    assert place.run("approvals", "approve", approval, home=homes["user:bob"]).stdout == "agreed  Env/destroy of user:ann; it needs 2\n"
    assert place.run("approvals", "approve", approval, home=homes["user:cay"]).stdout == "agreed  Env/destroy of user:ann; it runs now\n"
    eventually(lambda: "prod-e" not in place.environments())
    assert place.run("approvals", "list", home=homes["user:bob"]).stdout == "nothing waits for approval\n"


def test_commands_that_go_to_another_server_need_no_right_to_open_environments_there(place, tmp_path):
    home = tmp_path / "home"
    token = tmp_path / "token"
    token.write_text(place.tokens["user:vic"])
    place.ok("login", place.url, "--name", "team", "--token-file", token, home=home)
    wrong = place.run("login", place.url, "--token-file", place.folder / "policy.yaml", home=home)
    assert wrong.returncode == 2 and "holds no token: it is one line" in wrong.stderr
    status = place.run("status", home=home)
    assert status.returncode == 0 and status.stdout.startswith(f"server   {place.url}, where commands go\n"), status
    assert "sluice serve" not in status.stdout + status.stderr
    app = tmp_path / "app"
    app.mkdir()
    (app / "run").write_text("#!/bin/sh\nexec sleep 60\n")
    (app / "run").chmod(0o755)
    (app / "bundle.yaml").write_text("name: tiny\nversion: 1.0.0\nrun: [./run]\nlisten: port\n")
    built = place.run("bundles", "build", app, "--out", tmp_path / "tiny.bundle", home=home)
    assert built.returncode == 0, built.stderr
    assert (home / "keys/operator.pem").exists()
    up = place.run("up", app, home=home)
    assert up.returncode == 4 and "user:vic" in up.stderr and "sluice access can" in up.stderr, up
    wrong = place.run("revisions", "show", "local", "nosuch@1", home=home)
    assert wrong.returncode != 0 and "Env/open" not in wrong.stderr, wrong
    assert "user:vic Env/open" not in (place.folder / "serve.log").read_text()


def test_two_people_and_a_pipeline_at_once(place, eventually):
    """Each asks for something, several times, while all of them vote for everything, also for what is their own."""
    asking = {"x0": "user:ann", "x1": "user:bob", "x2": "service:ci", "x3": "service:ci"}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        asked = {name: [pool.submit(ask, place, f"prod-{name}", who) for _ in range(3)] for name, who in asking.items()}
        approvals = {name: {each.result() for each in all} for name, all in asked.items()}
        votes = {(approval, who): pool.submit(place.vote, who, approval) for all in approvals.values() for approval in all
                 for who in ("user:ann", "user:bob", "user:cay", "service:ci")}
        votes = {key: each.result() for key, each in votes.items()}
    for name, requester in asking.items():
        for approval in approvals[name]:
            assert votes[approval, "service:ci"][0] in (403, 409)
            if requester != "service:ci":
                assert votes[approval, requester][0] in (403, 409), "nobody approves what they asked for"
            given = [who for who in PEOPLE if votes.get((approval, who), (0,))[0] == 200]
            assert set(given) <= {"user:ann", "user:bob", "user:cay"} - {requester} and len(given) >= 2
    eventually(lambda: not {f"prod-{name}" for name in asking} & place.environments())
    for name, requester in asking.items():
        runs = [each for each in place.ok("audit", "list") if each["action"] == "Env/destroy" and each["caller"] == requester
                and each.get("environment") == f"prod-{name}" and each.get("outcome") == "ok"]
        assert len(runs) == 1, "it ran once, as who had asked"
