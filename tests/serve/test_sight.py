"""What somebody of one environment sees of another: nothing, in no view, no state, no journal, flow, event, log or count,
whatever they ask for by name or id. The views and their questions come from the server, so a new one is covered by
itself."""

import http.client
import json
import re
import shutil
import signal
import subprocess
import urllib.parse

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:root], role: admin}
- {to: [user:own], role: operator, environments: [open]}
- {to: [user:all], role: viewer}
"""
# Views that answer the same to everybody who asks, about what they ask with.
ABOUT_THE_QUESTION = {"mesh-plan"}


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}
        self.tokens = {}

    def run(self, *words):
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=self.environment, timeout=120)

    def ok(self, *words):
        done = self.run(*words, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def start(self, eventually):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=self.environment)
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.host = self.ok("status")["url"].split("//")[1]
        self.wire = http.client.HTTPConnection(self.host, timeout=60)

    def get(self, who, target, body=None):
        self.wire.request("GET" if body is None else "POST", target, None if body is None else json.dumps(body),
                          {"Authorization": "Bearer " + self.tokens[who], "Content-Type": "application/json"})
        answer = self.wire.getresponse()
        return answer.status, answer.read().decode()

    def deploy(self, environment, bundle, customer):
        """A version of examples/hello of that name, with all traffic, a secret, a setting and a plan beside it."""
        app = self.folder / bundle
        shutil.copytree(self.root / "examples/hello", app)
        manifest = app / "bundle.yaml"
        manifest.write_text(manifest.read_text().replace("name: hello", f"name: {bundle}") +
                            f"routes: [{{host: {bundle}.example, path: /}}]\n")
        archive = self.folder / f"{bundle}.bundle"
        self.ok("bundles", "build", app, "--out", archive)
        self.ok("bundles", "add", environment, archive, "--customer-id", customer)
        made = self.ok("revisions", "list", environment)[0]
        self.ok("revisions", "warm", environment, f"{bundle}@1")
        self.ok("traffic", "set", environment, f"{bundle}@1=100%")
        value = self.folder / "value"
        value.write_text("hunter2")
        self.ok("secrets", "put", environment, f"{bundle}/{bundle.upper()}KEY", "--file", value)
        deploy = self.folder / f"{bundle}-plan"
        deploy.mkdir()
        shutil.copytree(self.root / "examples/hello-v2", deploy / "part")
        part = deploy / "part/bundle.yaml"
        part.write_text(part.read_text().replace("name: hello", f"name: {bundle}part"))
        (deploy / "app.deploy.yaml").write_text(
            f"app: {{name: {bundle}app, version: 1.0.0}}\ncomponents:\n"
            f"  {bundle}part: {{folder: ./part, customer: {customer}, routes: [{{path: /{bundle}part}}]}}\n")
        plan = self.ok("deploy", "plan", deploy / "app.deploy.yaml", "--env", environment)
        rollout = self.ok("rollout", "start", environment, f"{bundle}@1", "--strategy", "immediate", "--wait")
        return {"environment": environment, "deployment": made["deployment_id"],
                "revision": made["revision_id"], "revisions": made["revision_id"], "bundle": bundle, "customer": customer, "name": f"{bundle}@1",
                "plan": plan["plan_id"], "rollout": rollout["rollout"], "secret": f"{bundle}/{bundle.upper()}KEY"}


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("sight"))
    one.start(eventually)
    try:
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        one.ok("access", "policy", "apply", policy)
        for who in ("root", "own", "all"):
            one.tokens[who] = one.ok("access", "tokens", "create", "t", "--for", f"user:{who}")["secret"]
        one.ok("env", "list")
        for environment in ("open", "hidden"):
            one.ok("env", "create", environment, "--extends", "local")
            one.ok("trust", "bootstrap", "--env", environment)
        one.seen = one.deploy("open", "parlour", "acme")
        one.unseen = one.deploy("hidden", "cellar", "globex")
        # Every flow that began in the hidden environment.
        one.flows = [each["flow"] for each in one.ok("audit", "list") if each.get("environment") == "hidden"]
        assert len(one.flows) > 5
        one.unseen["flow"] = one.flows[-1]
        one.secrets = [*one.flows, one.unseen["deployment"], one.unseen["revision"], one.unseen["rollout"],
                       one.unseen["plan"], "cellar", "CELLAR", "globex", "hidden"]
        yield one
    finally:
        subprocess.run([str(sluice), "stop"], env=one.environment, capture_output=True, timeout=120)
        one.process.wait(timeout=60)


def told(place, text, asked):
    """What an answer tells of the hidden environment that was not in the question."""
    return [each for each in place.secrets if each in text and each not in asked]


def questions(place, name):
    """Ways to ask a view about what is hidden, made from the schema of its question."""
    schema = json.loads(place.get("root", f"/v1/views/{name}/schema")[1])["query"]
    unseen = place.unseen
    worth = {"about": [unseen["name"], unseen["deployment"], unseen["revision"], "hidden", unseen["flow"]],
             "name": [unseen["name"], unseen["deployment"], unseen["revision"], unseen["secret"], "cellar"],
             "fromEnv": ["hidden"], "toEnv": ["hidden"], "left": ["1"], "right": ["2"], "text": ["cel"],
             "revision": [unseen["revision"], unseen["name"]], "revisions": [unseen["revision"], unseen["name"]],
             "deployment": [unseen["deployment"], "cellar"], "flow": [unseen["flow"], "latest"], "action": ["Env/update"],
             "relation": ["Deployment", "Revision", "Env"], "key": [unseen["deployment"], unseen["revision"], "hidden"],
             "by": ["deployment,revision"], "ended": ["true"], "archived": ["true"], "misses": ["true"],
             "newest": ["true"], "plan": [unseen["plan"]], "rollout": [unseen["rollout"], unseen["name"]],
             "olderThan": ["2030-01-01T00:00:00.000Z"], "keepVersions": ["0"], "kind": ["DeploymentPipeline"],
             "pin": ["shop/hidden"], "mesh": ["m"], "node": ["n"], "requestId": ["r"], "webhook": ["w"], "files": [],
             "as": [], "query": ["cel"]}
    properties = schema.get("properties", {})
    known = {field: worth.get(field, [unseen[field]] if field in unseen else []) for field in properties}
    required = schema.get("required", [])
    if any(not known[field] for field in required):
        return
    first = {field: known[field][0] for field in required}
    yield first
    for field, values in known.items():
        for value in values:
            yield {**first, field: value}
            for other in ("environment", "deployment", "bundle", "customer"):
                if other in known and other != field and known[other]:
                    yield {**first, field: value, other: known[other][0]}


def test_no_view_tells_of_another_environment(place):
    views = [each["name"] for each in json.loads(place.get("root", "/v1/views")[1])["views"]]
    leaks, asked, shown_to_all = [], 0, set()
    for name in views:
        if name in ABOUT_THE_QUESTION:
            continue
        for query in questions(place, name):
            target = f"/v1/views/{name}?" + urllib.parse.urlencode(query)
            status, text = place.get("own", target)
            assert status < 500, (target, text)
            asked += 1
            if found := told(place, text, " ".join(query.values())):
                leaks.append((target, status, found))
            if told(place, place.get("all", target)[1], " ".join(query.values())):
                shown_to_all.add(name)
    assert not leaks, leaks[:10]
    assert asked > 350
    # Whoever may look everywhere is told by most of these questions: what is looked for would be found.
    assert {"audit", "deployment", "environment", "environments", "fleet", "flow", "flows", "instances", "plan", "plans",
            "revisions", "rollouts", "secrets", "status", "traffic", "usage", "why"} <= shown_to_all, shown_to_all


def test_no_other_read_tells_of_another_environment(place, root):
    concepts = [re.search(r"^concept (\w+)", path.read_text(), re.M).group(1)
                for path in (root / "src/deploy").rglob("*.concept")]
    targets = [f"/v1/state/{concept}" for concept in sorted(set(concepts))]
    targets += ["/v1/journal?from=1", "/v1/flows?limit=500", "/v1/flows?failed=true", "/metrics", "/v1/status"]
    for flow in place.flows:
        targets += [f"/v1/flows/{flow}", f"/v1/flows/{flow}/steps", f"/v1/flows/{flow}/answer?for_ms=0"]
    for name in (place.unseen["name"], place.unseen["deployment"], place.unseen["revision"], "cellar"):
        targets.append("/v1/logs?name=" + urllib.parse.quote(name))
    leaks, shown_to_all = [], 0
    for target in targets:
        status, text = place.get("own", target)
        assert status < 500, (target, text)
        if found := told(place, text, target):
            leaks.append((target, status, found))
        shown_to_all += bool(told(place, place.get("all", target)[1], target))
    assert not leaks, leaks[:10]
    assert shown_to_all > 20


def test_no_event_tells_of_another_environment(place):
    for query in ("", "&raw=true"):
        for who, hears in (("own", False), ("all", True)):
            wire = http.client.HTTPConnection(place.host, timeout=60)
            wire.request("GET", "/v1/events?from=1" + query, None, {"Authorization": "Bearer " + place.tokens[who]})
            answer, heard, last = wire.getresponse(), "", f"Last-{who}{len(query)}"
            place.ok("env", "update", "hidden", "--name", "First")
            place.ok("env", "update", "open", "--name", "Later", "--reason", last)
            while last not in heard:
                line = answer.readline().decode()
                assert line
                heard += line
            wire.close()
            assert bool(told(place, heard, "")) == hears, (who, query, told(place, heard, ""))


def test_what_is_asked_by_an_id_of_another_environment_is_denied_without_a_word_of_it(place):
    unseen = place.unseen
    calls = {"Traffic/set": {"deployment": unseen["deployment"], "entries": [{"revision": unseen["revision"], "weightBps": 10_000}]},
             "Revision/drain": {"revision": unseen["revision"]}, "Rollout/abort": {"rollout": unseen["rollout"]},
             "DeployPlan/execute": {"plan": unseen["plan"]}, "Deployment/pause": {"deployment": unseen["deployment"]}}
    for action, given in calls.items():
        for body in ({"input": given}, {"input": given, "dryRun": True}):
            status, text = place.get("own", f"/v1/actions/{action}", body)
            assert status == 403, (action, text)
            assert not [each for each in told(place, text, json.dumps(given)) if each != "hidden"], text
