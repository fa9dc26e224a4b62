"""A rollback brings back the image, the setting, the secret and the schema together, as the program that runs says, or, in a
cluster, as the API server has it."""

import json
import urllib.request

APP = """import http.server, json, os, sqlite3
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with sqlite3.connect(os.environ["SLUICE_STORAGE_DATA"] + "/app.db") as db:
            guests = db.execute("SELECT " + os.environ["COLUMNS_TO_SHOW"] + " FROM guests").fetchall()
        told = json.dumps({"version": "VERSION", "color": os.environ.get("COLOR"), "key": os.environ["API_KEY"],
                           "guests": guests}).encode()
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
env: {{COLUMNS_TO_SHOW: "{}"}}
storage: [{{name: data}}]
migrations: {{file: data/app.db}}
secrets: [API_KEY]
config: [{{name: color, question: Which?, default: none, variable: COLOR}}]
"""
MIGRATIONS = {
    "0001_init.sql": "CREATE TABLE guests (id INTEGER PRIMARY KEY, first TEXT, last TEXT);\n"
                     "INSERT INTO guests (first, last) VALUES ('Mary Ann', 'Lee');\n",
    "0002_name/expand.sql": "ALTER TABLE guests ADD COLUMN name TEXT;\n",
    "0002_name/migration.yaml": "copy: [{table: guests, key: [id], forward: {name: \"first || ' ' || last\"}}]\n",
    "0002_name/contract.sql": "ALTER TABLE guests DROP COLUMN first;\nALTER TABLE guests DROP COLUMN last;\n",
}
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


def test_a_rollback_brings_back_image_setting_secret_and_schema(home):
    (home.folder / "type.yaml").write_text(TYPE)
    (home.folder / "settings.yaml").write_text(SETTINGS)
    home.run("apply", "-f", "type.yaml")
    for number, columns in ((1, "first, last"), (2, "name")):
        folder = home.folder / f"v{number}"
        files = {"bundle.yaml": BUNDLE.format(number, columns), "app.py": APP.replace("VERSION", str(number))}
        for name, text in (files | {f"migrations/{name}": text for name, text in MIGRATIONS.items()
                                    if name.startswith("0001") or number == 2}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
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
    before = {"version": "1", "color": "red", "key": "one", "guests": [["Mary Ann", "Lee"]]}
    after = {"version": "2", "color": "green", "key": "two", "guests": [["Mary Ann Lee"]]}
    assert told() == before
    secret("two")
    home.run("apply", "-f", "settings.yaml")
    home.run("pins", "set", "hello", "local", "hello-2")
    assert told() == after
    history = home.data("pins", "history", "hello", "local")
    assert [(each["release"], each["secrets"][0]["version"], each["schema_of_storage"]["version"]) for each in history] == [
        ("hello-2", "2", 2), ("hello-1", "2", 1), ("hello-1", "2", 1), ("hello-1", "1", 1)]
    # Neither the release's bundle nor anything else is asked for again.
    home.run("pins", "rollback", "hello", "local", "--to", "1")
    assert told() == before
    # What is put afterwards is for everybody, and the next move ends what was held.
    home.run("pins", "set", "hello", "local", "hello-2")
    assert told() == after
    # Once the old side is gone there is no way back to what needs it, and what runs is untouched.
    for each in home.data("revisions", "list", "local"):
        if each["revision_id"] != home.pins()["hello", "local"]["revision"] and each["lifecycle"] == "ready":
            home.run("revisions", "drain", "local", each["revision_id"])
    home.run("migrate", "contract", "local", home.pins()["hello", "local"]["revision"], "--yes")
    refused = home.run("pins", "rollback", "hello", "local", "--to", "1", code=7).stderr
    assert "it ran on the schema of migration 1, and migration 2 has removed what was there before" in refused
    assert "deploy a release that needs migration 2" in refused
    assert told() == after
