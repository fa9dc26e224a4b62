"""A rollback brings back the image, the setting and the secret together, as the program that runs says."""

import json
import urllib.request

APP = """import http.server, json, os
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        told = json.dumps({"version": "VERSION", "color": os.environ.get("COLOR"), "key": os.environ["API_KEY"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Page).serve_forever()
"""
BUNDLE = """name: hello
version: "{}.0"
run: [python3, app.py]
health: {{path: /}}
secrets: [API_KEY]
config: [{{name: color, question: Which?, default: none, variable: COLOR}}]
"""
TYPE = """apiVersion: openchoreo.dev/v1alpha1
kind: ComponentTypeDefinition
metadata: {name: bundle-app}
spec:
  workloadType: bundle
  schema:
    parameters: {color: string | default=red}
  resources:
    - id: app
      template:
        apiVersion: sluice.dev/v1
        kind: BundleDeployment
        metadata: {name: "${metadata.name}"}
        spec: {bundle: "${build.image}", customer: acme, config: {color: "${parameters.color}"}, routes: {pathPrefixes: [/]}}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Component
metadata: {name: hello}
spec: {componentType: bundle/bundle-app}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Workload
metadata: {name: hello}
spec: {image: none}
---
apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec: {promotionPaths: [{sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: prod}]}]}
"""
SETTINGS = """apiVersion: openchoreo.dev/v1alpha1
kind: EnvSettings
metadata: {name: hello-local}
spec: {owner: {componentName: hello}, environment: local, overrides: {color: green}}
"""


def test_a_rollback_brings_back_image_setting_and_secret(home):
    (home.folder / "type.yaml").write_text(TYPE)
    (home.folder / "settings.yaml").write_text(SETTINGS)
    home.run("apply", "-f", "type.yaml")
    for number in (1, 2):
        folder = home.folder / f"v{number}"
        folder.mkdir()
        (folder / "bundle.yaml").write_text(BUNDLE.format(number))
        (folder / "app.py").write_text(APP.replace("VERSION", str(number)))
        home.run("bundles", "build", folder, "--out", f"v{number}.bundle")
        home.run("releases", "create", "hello", "--bundle", f"v{number}.bundle", "--name", f"hello-{number}")

    def secret(value):
        home.run("secrets", "put", "local", "hello/API_KEY", input=value)

    def told():
        revision = home.pins()["hello", "local"]["revision"]
        (endpoint,) = [each["endpoint"] for each in home.data("runtime", "list") if each["component"] == revision]
        return json.loads(urllib.request.urlopen(endpoint, timeout=60).read())

    secret("one")
    home.run("pins", "set", "hello", "local", "hello-1")
    assert told() == {"version": "1", "color": "red", "key": "one"}
    secret("two")
    home.run("apply", "-f", "settings.yaml")
    home.run("pins", "set", "hello", "local", "hello-2")
    assert told() == {"version": "2", "color": "green", "key": "two"}
    history = home.data("pins", "history", "hello", "local")
    assert [(each["release"], each["secrets"][0]["version"]) for each in history] == [
        ("hello-2", "2"), ("hello-1", "2"), ("hello-1", "2"), ("hello-1", "1")]
    # Neither the release's bundle nor anything else is asked for again.
    home.run("pins", "rollback", "hello", "local", "--to", "1")
    assert told() == {"version": "1", "color": "red", "key": "one"}
    # What is put afterwards is for everybody, and the next move ends what was held.
    home.run("pins", "set", "hello", "local", "hello-2")
    assert told() == {"version": "2", "color": "green", "key": "two"}


STORED = """name: hello
version: "{}.0"
run: [python3, app.py]
health: {{path: /}}
secrets: [API_KEY]
config: [{{name: color, question: Which?, default: none, variable: COLOR}}]
storage: [{{name: data}}]
migrations: {{file: data/app.db}}
"""
SCHEMAS = [{"0001_init.sql": "CREATE TABLE guests (id INTEGER PRIMARY KEY, first TEXT);"},
           {"0002_name/expand.sql": "ALTER TABLE guests ADD COLUMN name TEXT;",
            "0002_name/migration.yaml": "copy: [{table: guests, key: [id], forward: {name: first}, back: {first: name}}]",
            "0002_name/contract.sql": "ALTER TABLE guests DROP COLUMN first;"}]


def test_a_lock_has_the_schema_that_the_database_had(home):
    """And no rollback leads behind what was removed of it."""
    (home.folder / "type.yaml").write_text(TYPE)
    home.run("apply", "-f", "type.yaml")
    home.run("secrets", "put", "local", "hello/API_KEY", input="one")
    files = {}
    for number in (1, 2):
        files |= SCHEMAS[number - 1]
        folder = home.folder / f"v{number}"
        for name, text in ({"bundle.yaml": STORED.format(number), "app.py": APP.replace("VERSION", str(number))} |
                           {f"migrations/{name}": text for name, text in files.items()}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        home.run("bundles", "build", folder, "--out", f"v{number}.bundle")
        home.run("releases", "create", "hello", "--bundle", f"v{number}.bundle", "--name", f"hello-{number}")
        home.run("pins", "set", "hello", "local", f"hello-{number}")

    def schemas():
        return [(each["release"], each["schema_of_storage"]["version"], each["schema_of_storage"]["phase"])
                for each in home.data("pins", "history", "hello", "local")]

    assert schemas() == [("hello-2", 2, "migrated"), ("hello-1", 1, "migrated")]
    ids = {each["schema_of_storage"]["database"] for each in home.data("pins", "history", "hello", "local")}
    assert len(ids) == 1 and "" not in ids, "both ran on the same database"
    # There and back, as long as both sides are there.
    home.run("pins", "rollback", "hello", "local", "--to", "1")
    home.run("pins", "set", "hello", "local", "hello-2")
    pins = home.pins()["hello", "local"]
    for each in home.data("revisions", "list", "local"):
        if each["revision_id"] != pins["revision"] and each["lifecycle"] == "ready":
            home.run("revisions", "drain", "local", each["revision_id"])
    home.run("migrate", "contract", "local", pins["revision"], "--yes")
    refused = home.run("pins", "rollback", "hello", "local", "--to", "1", code=None)
    assert refused.returncode != 0
    assert "it ran on the schema of migration 1, and migration 2 has removed what was there before" in refused.stderr
    assert "nothing was changed" in refused.stderr
    assert home.pins()["hello", "local"]["release"] == "hello-2"
