"""Random calls by random callers against a small model: what is allowed, what there is afterwards, its generations, what
the audit has, and what each caller sees."""

import http.client
import json
import random
import signal
import subprocess

import pytest

CALLS = 1_000
NAMES = ["staging-a", "staging-b", "prod-a", "prod-b"]
POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:viewer], role: viewer}
- {to: [user:deployer], role: deployer}
- {to: [user:operator], role: operator}
- {to: [user:own], role: operator, environments: [staging-*]}
- {to: [user:peek], role: viewer, environments: [prod-b]}
- {to: [user:most], role: operator}
- {to: [user:most], deny: [Env/destroy]}
"""
# Who may change which environments, and who sees which: written by hand.
MAY_CHANGE = {"user:operator": NAMES, "user:most": NAMES, "user:own": NAMES[:2], "user:viewer": [], "user:deployer": [],
              "user:peek": []}
SEES = {"user:operator": NAMES, "user:most": NAMES, "user:own": NAMES[:2], "user:viewer": NAMES, "user:deployer": NAMES,
        "user:peek": ["prod-b"]}


@pytest.fixture
def place(sluice, root, tmp_path, eventually):
    class Place:
        home = tmp_path / "home"
        tokens = {}

        def ok(self, *words):
            environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}
            done = subprocess.run([str(sluice), *map(str, words), "-o", "json"], capture_output=True, text=True, cwd=root,
                                  env=environment, timeout=120)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        def request(self, who, method, target, body=None):
            self.wire.request(method, target, None if body is None else json.dumps(body),
                              {"Authorization": "Bearer " + self.tokens[who], "Content-Type": "application/json"})
            answer = self.wire.getresponse()
            return answer.status, json.loads(answer.read())

    one = Place()
    with open(tmp_path / "serve.log", "a") as log:
        process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=root,
                                   env={"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(one.home), "LANG": "C.UTF-8"})
    try:
        eventually(lambda: (one.home / "run/owner.token").exists() and "url" in one.ok("status", "--wait", "60s"))
        one.wire = http.client.HTTPConnection(one.ok("status")["url"].split("//")[1], timeout=60)
        (tmp_path / "policy.yaml").write_text(POLICY)
        one.ok("access", "policy", "apply", tmp_path / "policy.yaml")
        for who in MAY_CHANGE:
            one.tokens[who] = one.ok("access", "tokens", "create", "t", "--for", who)["secret"]
        yield one
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def test_state_generations_audit_and_sight_agree_with_a_model(place):
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    model, recorded = {}, []
    for number in range(CALLS):
        who, name = rng.choice(sorted(MAY_CHANGE)), rng.choice(NAMES)
        action = rng.choice(["Env/create", "Env/update", "Env/update", "Env/destroy"])
        given = {"environment": name} | ({"name": f"n{number}"} if action == "Env/update" else {})
        status, said = place.request(who, "POST", f"/v1/actions/{action}", {"input": given})
        allowed = name in MAY_CHANGE[who] and (who, action) != ("user:most", "Env/destroy")
        if not allowed:
            expected = 403
        elif action == "Env/create":
            expected = 409 if name in model else 200
        else:
            expected = 200 if name in model else 404
        assert status == expected, f"seed {seed}, call {number}: {who} {action} {given}: {said}"
        if allowed:
            recorded.append((who, action))
        if expected != 200:
            continue
        if action == "Env/destroy":
            del model[name]
        elif action == "Env/create":
            model[name] = {"generation": 1, "name": name}
        else:
            model[name] = {"generation": model[name]["generation"] + 1, "name": given["name"]}
            assert said["fields"]["generation"] == model[name]["generation"]
        for viewer in rng.sample(sorted(SEES), 2):
            _, listed = place.request(viewer, "GET", "/v1/views/environments")
            shown = {each["environment_id"]: {"generation": each["generation"], "name": each["name"]} for each in listed
                     if each["environment_id"] != "local"}
            assert shown == {key: value for key, value in model.items() if key in SEES[viewer]}, f"seed {seed}: {viewer}"
    audit = [(each["caller"], each["action"]) for each in place.ok("audit", "list")
             if each["caller"] in MAY_CHANGE and each["step"] != "denied"]
    assert audit == recorded, f"seed {seed}"
    assert place.ok("audit", "verify")["holds"] is True
