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
