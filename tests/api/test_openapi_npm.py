"""The description of the API: judged by the linters that others use, made into a typed client that deploys, and into
requests, valid and mutated, of which none makes the server fail."""

import http.client
import json
import os
import random
import shutil
import signal
import subprocess

import jsonschema
import pytest

ROUNDS = 50 if os.environ.get("SLUICE_SOAK") else 4  # requests for each operation


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"

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
        self.token = (self.home / "run/owner.token").read_text().strip()
        self.wire = None

    def request(self, method, target, body=None, **headers):
        """Status, headers and body; a connection is used until the server closes it."""
        if self.wire is None:
            self.wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        sent = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            self.wire.request(method, target, body, sent)
            answer = self.wire.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):  # it was silent for a minute, while the tools ran
            self.wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
            self.wire.request(method, target, body, sent)
            answer = self.wire.getresponse()
        text = answer.read()
        if answer.will_close:
            self.wire = None
        return answer.status, answer.headers, text


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("api"))
    one.start(eventually)
    try:
        one.ok("env", "list")
        one.description = json.loads(one.request("GET", "/v1/openapi.json")[2])
        (one.folder / "openapi.json").write_text(json.dumps(one.description))
        yield one
    finally:
        one.process.send_signal(signal.SIGTERM)
        one.process.wait(timeout=60)
        subprocess.run([str(sluice), "stop"], env=one.environment(), capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def tool(root):
    """Runs a program of the npm packages."""
    folder = root / "tests/api"
    assert (folder / "node_modules").is_dir(), "the packages are missing: ./dev test installs them"

    def run(name, *words, cwd=folder):
        environment = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"}
        done = subprocess.run([folder / "node_modules/.bin" / name, *map(str, words)], capture_output=True, text=True,
                              cwd=cwd, env=environment, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_linters_of_others_find_no_error(place, tool):
    tool("redocly", "lint", place.folder / "openapi.json")
    rules = place.folder / "rules.yaml"
    rules.write_text('extends: ["spectral:oas"]\n')
    tool("spectral", "lint", place.folder / "openapi.json", "-r", rules, "--fail-severity", "error")


def test_a_typed_client_is_made_of_it_and_deploys(place, tool, root):
    archive = place.folder / "hello.bundle"
    place.ok("bundles", "build", root / "examples/hello", "--out", archive)
    digests = []
    for path in [archive, next(place.folder.glob("hello.bundle?*"))]:
        digest = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]
        assert place.request("PUT", f"/v1/blobs/sha256:{digest}", path.read_bytes())[0] == 201
        digests.append("sha256:" + digest)
    client = place.folder / "client"
    client.mkdir()
    shutil.copy(root / "tests/api/client.ts", client)
    (client / "node_modules").symlink_to(root / "tests/api/node_modules")
    (client / "package.json").write_text('{"type": "module"}')
    tool("openapi-typescript", place.folder / "openapi.json", "-o", client / "schema.ts", cwd=client)
    (client / "tsconfig.json").write_text(json.dumps({"compilerOptions": {
        "strict": True, "target": "es2022", "module": "nodenext", "lib": ["es2022", "dom"], "types": [],
        "skipLibCheck": True}, "files": ["client.ts"]}))
    tool("tsc", "-p", ".", cwd=client)
    done = subprocess.run(["node", client / "client.js", place.url, place.token, *digests], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"generation": 1, "bundles": ["hello"], "refused": "conflict"}


class Maker:
    """Values that fit a schema, and values that nearly do."""

    def __init__(self, description, rng):
        self.description, self.rng = description, rng

    def value(self, schema, depth=0):
        while "$ref" in schema:
            part = self.description
            for name in schema["$ref"].split("/")[1:]:
                part = part[name.replace("~1", "/").replace("~0", "~")]
            schema = part
        for several in ("oneOf", "anyOf"):
            if several in schema:
                return self.value(self.rng.choice(schema[several]), depth)
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            kind = self.rng.choice(kind)
        if kind == "object":
            required = schema.get("required", [])
            return {name: self.value(each, depth + 1) for name, each in schema.get("properties", {}).items()
                    if name in required or (depth < 3 and self.rng.random() < 0.5)}
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.rng.randrange(3))]
        if kind == "integer":
            return self.rng.choice([0, 1, 7, -1, 10_000, 2**53, -2**63])
        return {"number": 0.5, "boolean": self.rng.random() < 0.5, "null": None}.get(
            kind, self.rng.choice(["local", "hello", "x1", "ä", "", "01M7Q4JYN7F74DZWWTPVQVKNX2", "sha256:" + "0" * 64]))

    def mutated(self, value):
        """One thing of it is wrong."""
        wrong = [None, [], {}, "x" * 5000, -1, 1e300, True, {"a": {"b": [[[[]]]]}}, "\u0000", "../../etc"]
        if isinstance(value, dict) and value and self.rng.random() < 0.7:
            name = self.rng.choice(sorted(value))
            kind = self.rng.randrange(3)
            if kind == 0:
                return {key: each for key, each in value.items() if key != name}
            if kind == 1:
                return {**value, name + "x": 1}
            return {**value, name: self.mutated(value[name])}
        return self.rng.choice(wrong)


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            # These end the server, never end themselves, or need a conversation of their own (tests/mcp).
            if path in ("/v1/stop", "/v1/events", "/mcp") or "snapshots" in path:
                continue
            yield path, method.upper(), operation


def test_generated_requests_never_make_it_fail(place):
    schemas, validators, matched = {"components": place.description["components"]}, {}, {}
    for path, method, operation, number in [(*each, number) for each in operations(place.description)
                                            for number in range(ROUNDS)]:
        # The same for an operation on every run, whatever other operations there are.
        seed = f"{method} {path} {number}"
        rng = random.Random(seed)
        maker = Maker(place.description, rng)
        broken = number % 2 == 1
        query, target = [], path
        for parameter in operation.get("parameters", []):
            if "$ref" in parameter:
                continue
            value = maker.value(parameter["schema"])
            value = maker.mutated(value) if broken and rng.random() < 0.3 else value
            text = value if isinstance(value, str) else json.dumps(value)
            text = "".join(f"%{byte:02X}" for byte in text.encode()) or "%20"
            if parameter["in"] == "path":
                target = target.replace("{" + parameter["name"] + "}", text)
            elif parameter["name"] == "for_ms":
                query.append("for_ms=100")
            elif parameter["in"] == "query" and (parameter.get("required") or rng.random() < 0.5):
                query.append(f"{parameter['name']}={text}")
        body = None
        if "requestBody" in operation and path.startswith("/v1/actions/"):
            given = maker.value(operation["requestBody"]["content"]["application/json"]["schema"])
            given["dryRun"] = True
            if broken:
                given["input"] = maker.mutated(given.get("input", {}))
            body = json.dumps(given)
            query.append("for_ms=100")
        elif method in ("POST", "PUT"):
            body = json.dumps(maker.mutated({"reason": "x"}))
        if broken and body and rng.random() < 0.1:
            body = body[:-1]
        target += "?" + "&".join(query) if query else ""
        status, headers, text = place.request(method, target, body)
        said = f"round {number}: {method} {target} {body} => {status} {text[:300]}"
        # Whoever asks for a position that does not come is told so when the time is up.
        assert status < 500 or (status == 504 and "at_least=" in target), said
        if status >= 400 and path in ("/v1/login/sso/start", "/v1/login/sso/callback"):
            assert headers["Content-Type"].startswith("text/html"), said  # browsers go there, not programs
        elif status >= 400 and method != "HEAD":
            assert headers["Content-Type"] == "application/problem+json", said
            problem = json.loads(text)
            assert problem["status"] == status and problem["detail"] and problem["code"], said
        elif headers["Content-Type"] == "application/json":
            answers = operation["responses"]
            (schema,) = [each["schema"] for each in (answers.get(str(status)) or answers["2XX"])["content"].values()]
            answer = json.loads(text)
            if body and path.startswith("/v1/actions/") and status == 200:
                # Of a dry run only what is known before: each field alone has to fit.
                ended = path.removeprefix("/v1/actions/").replace("/", ".") + "." + answer["variant"]
                known = place.description["components"]["schemas"][ended]["properties"]
                assert answer["fields"].keys() <= known.keys(), said
                schema = {"properties": {"fields": {"properties": known}}}
            validator = validators.setdefault(json.dumps(schema), jsonschema.Draft202012Validator({**schemas, **schema}))
            validator.validate(answer)
            matched[status] = matched.get(status, 0) + 1
    assert matched.get(200, 0) > 50, matched


def test_an_empty_key_is_refused_and_not_a_fault(place):
    for action, name in [("Router/publish", "environment"), ("Revision/warm", "revision"), ("Env/create", "environment")]:
        for dry in (False, True):
            status, _, text = place.request("POST", f"/v1/actions/{action}",
                                            json.dumps({"input": {name: ""}, "dryRun": dry}))
            problem = json.loads(text)
            assert (status, problem["code"]) == (400, "invalid"), text
            assert problem["detail"].startswith(f"{action}: {name} is empty"), text
