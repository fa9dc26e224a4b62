"""Every action of the kit × every role × its own, another and no environment: allowed or denied as the table below says,
and the same through REST, the Model Context Protocol and the command line.

The actions, their rights and the ways to an environment are read from the kit's own texts, so that a new action is
covered by itself. What each role may do is written here by hand, and so is what the most dangerous actions need."""

import concurrent.futures
import fnmatch
import http.client
import json
import re
import signal
import subprocess
import threading

import pytest
import yaml

# Rights of each role.
ROLES = {
    "viewer": {"self", "view"},
    "deployer": {"self", "view", "deploy"},
    "operator": {"self", "view", "deploy", "operate"},
    "admin": {"self", "view", "deploy", "operate", "administer"},
}
# The least role that these may need, whatever a concept says.
AT_LEAST = {
    "Access/*": "administer", "Session/end": "administer", "Session/list": "administer", "Webhook/*": "administer",
    "Trust/add": "administer", "Trust/remove": "administer", "Trust/revoke": "administer",
    "Trust/setThreshold": "administer", "Artifact/build": "administer", "Deployment/label": "administer", "Secret/put": "operate",
    "Secret/rotate": "operate", "Secret/remove": "operate", "Secret/rekey": "operate", "Env/destroy": "operate",
    "Env/bind": "operate", "Env/rebind": "operate", "Config/set": "operate", "Deployment/remove": "operate",
    "Deployment/down": "operate", "Deployment/deleteData": "operate", "Revision/drain": "operate",
    "Revision/archive": "operate", "Router/register": "operate", "EnvPack/install": "operate", "Traffic/set": "deploy",
    "Traffic/rollback": "deploy", "Deployment/up": "deploy", "Revision/stage": "deploy", "Revision/warm": "deploy",
    "Rollout/begin": "deploy", "DeployPlan/execute": "deploy",
}
ORDER = ["self", "view", "deploy", "operate", "administer"]
POLICY = {"schema": "sluice.access-policy.v1", "grants": [
    grant for role in ROLES for grant in (
        {"to": [f"user:own-{role}"], "role": role, "environments": ["staging"]},
        {"to": [f"user:all-{role}"], "role": role})]}


def actions_of(root):
    """Name, right and arguments of each action that can be called from outside."""
    found = {}
    for path in sorted((root / "src/deploy").rglob("*.concept")):
        text = path.read_text()
        concept = re.search(r"^concept (\w+)", text, re.M).group(1)
        for match in re.finditer(r"\n    action (\w+)\((.*?)\) *\{(.*?)\n    \}", text, re.S):
            name, arguments, body = match.groups()
            if re.search(r"callers: syncs", body):
                continue
            right = re.search(r"right: (\w+)", body)
            assert right, f"{concept}/{name} says no right"
            names = re.findall(r"(?:^|,)\s*(\w+):", re.sub(r"\{[^}]*\}", "", arguments))
            found[f"{concept}/{name}"] = (right.group(1), names)
    return found


def ways_of(root):
    """By concept, the arguments that lead to an environment, in their order."""
    suite = yaml.safe_load((root / "src/deploy/suite.yaml").read_text())
    ways = {}
    for concept, given in suite["scope"].items():
        ways[concept] = [way.split("->")[0].strip() for way in (given if isinstance(given, list) else [given])]
    return ways


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

    def start(self, eventually):
        environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=environment)
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.url = self.ok("status")["url"]
        self.wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)

    def post(self, who, target, body):
        self.wire.request("POST", target, json.dumps(body),
                          {"Content-Type": "application/json", "Authorization": "Bearer " + self.tokens[who]})
        answer = self.wire.getresponse()
        text = answer.read()
        return answer.status, json.loads(text)


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("matrix"))
    one.start(eventually)
    try:
        policy = one.folder / "policy.yaml"
        policy.write_text(json.dumps(POLICY))
        one.ok("access", "policy", "apply", policy)
        for role in ROLES:
            for where in ("own", "all"):
                subject = f"user:{where}-{role}"
                one.tokens[subject] = one.ok("access", "tokens", "create", "t", "--for", subject)["secret"]
        archive = one.folder / "hello.bundle"
        one.ok("bundles", "build", root / "examples/hello", "--out", archive)
        one.things = {}
        for environment in ("staging", "prod"):
            one.ok("env", "create", environment)
            one.ok("trust", "bootstrap", "--env", environment)
            one.ok("bundles", "add", environment, archive, "--customer-id", "acme")
            revision = one.ok("revisions", "list", environment)[0]
            deployment, id = revision["deployment_id"], revision["revision_id"]
            one.things[environment] = {"environment": environment, "deployment": deployment, "revision": id,
                                       "kit": deployment, "sync": deployment, "concept": id}
        yield one
    finally:
        one.process.send_signal(signal.SIGTERM)
        one.process.wait(timeout=60)


def cases(place, root):
    """(who, action, input, whether the table allows it), for each action, caller and place."""
    ways = ways_of(root)
    for action, (right, arguments) in actions_of(root).items():
        way = next((name for name in ways.get(action.split("/")[0], []) if name in arguments), None)
        for environment, things in place.things.items():
            value = things.get(way)  # what is not there leads to no environment
            given = {way: value or "nowhere"} if way else {}
            for role, rights in ROLES.items():
                yield f"user:all-{role}", action, given, right in rights
                yield f"user:own-{role}", action, given, (right in rights and value is not None
                                                           and environment == "staging" or right == "self")


def test_dangerous_actions_need_what_the_table_says(root):
    known = actions_of(root)
    assert len(known) > 90
    for pattern, right in AT_LEAST.items():
        matched = [name for name in known if fnmatch.fnmatch(name, pattern)]
        assert matched, pattern
        for name in matched:
            assert ORDER.index(known[name][0]) >= ORDER.index(right), name


def test_rest_allows_and_denies_as_the_table_says(place, root):
    wrong = []
    for who, action, given, allowed in cases(place, root):
        status, said = place.post(who, f"/v1/actions/{action}", {"input": given, "dryRun": True})
        assert status < 500, (who, action, given, said)
        if (status != 403) != allowed:
            wrong.append((who, action, given, status, said.get("detail")))
        elif not allowed:
            assert said["detail"].startswith(f"{who} may not call {action}: "), said
    assert not wrong, wrong[:10]


def test_agents_are_denied_the_same(place, root):
    for who, action, given, allowed in cases(place, root):
        if allowed:
            continue
        _, said = place.post(who, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                           "params": {"name": "call_action", "arguments": {"action": action, "input": given}}})
        assert said["result"]["isError"], (who, action)
        assert said["result"]["content"][0]["text"].startswith(f"{who} may not call {action}: "), (action, said)


def test_metrics_count_what_their_caller_may_see(place):
    def counted(who):
        place.wire.request("GET", "/metrics", None, {"Authorization": "Bearer " + place.tokens[who]})
        text = place.wire.getresponse().read().decode()
        return set(re.findall(r'^sluice_deployments\{environment="(\w+)"', text, re.M))

    assert counted("user:all-viewer") == {"staging", "prod"}
    assert counted("user:own-viewer") == {"staging"}


def test_the_command_line_is_denied_the_same(place, root):
    """Each action with the least role that may and the highest that may not, in their own environment and in another."""
    place.wire.request("GET", "/v1/openapi.json", None, {"Authorization": "Bearer " + place.tokens["user:all-admin"]})
    document = json.loads(place.wire.getresponse().read())
    homes = {}
    for role in ROLES:
        token = place.folder / "token"
        token.write_text(place.tokens[f"user:own-{role}"])
        homes[f"user:own-{role}"] = place.folder / f"own-{role}"
        place.ok("login", place.url, "--name", "team", "--token-file", token, home=homes[f"user:own-{role}"])
    edges, number = {}, 0
    for who, action, given, allowed in cases(place, root):
        place_of = number // (2 * len(ROLES)) % len(place.things)  # cases() gives both callers of each role in turn
        number += 1
        if who not in homes:
            continue
        edge = edges.setdefault((action, place_of), {})
        if allowed:
            edge.setdefault(True, (who, given))  # roles come from the least to the highest
        else:
            edge[False] = (who, given)

    def called(case):
        (action, allowed), (who, given) = case
        schema = document["paths"][f"/v1/actions/{action}"]["post"]["requestBody"]["content"]["application/json"]
        name = schema["schema"]["properties"]["input"]["$ref"].rsplit("/", 1)[1]
        required = document["components"]["schemas"][name].get("required", [])
        values = {field: schema["example"]["input"][field] for field in required} | given
        if action == "Env/absorb":  # is about two environments
            values["other"] = given["environment"]
        answers = place.folder / f"answers.{threading.get_ident()}.json"
        answers.write_text(json.dumps(values))  # secrets are not taken from the command line
        done = place.run("do", action, "--answers", answers, "--dry-run", home=homes[who])
        if (done.returncode != 4) == allowed and done.returncode != 2:
            return None
        return who, action, values, done.returncode, done.stderr

    calls = [((action, allowed), case) for (action, _), edge in edges.items() for allowed, case in edge.items()]
    assert len(calls) > 300
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        wrong = [each for each in pool.map(called, calls) if each]
    assert not wrong, wrong[:10]
