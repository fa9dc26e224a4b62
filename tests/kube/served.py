"""A home whose deployer reaches a cluster, one that listens, and its events."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time

import yaml

PETSTORE = {
    "configmap.yaml": """apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}-config
data:
  level: ${log.level:info}
""",
    "deployment.yaml": """apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas:1}
  selector:
    matchLabels: {app: "${name}"}
  template:
    metadata:
      labels: {app: "${name}"}
    spec:
      containers:
        - name: main
          image: ${image.repository}:${image.tag:latest}
""",
    "service.yaml": """apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: {app: "${name}"}
  ports:
    - {name: http, port: 80, targetPort: 8080, protocol: TCP}
""",
}
VALUES = {"name": "petstore", "image": {"repository": "registry.example/acme/petstore", "tag": "1.27"}}
POLICY = {"hostId": "local", "clusterId": "local", "allowedNamespaces": ["shop"],
          "allowedImageRegistries": ["registry.example/acme"]}


class Deployer:
    """A home whose deployer reaches the cluster."""

    def __init__(self, sluice, folder, cluster, **policy):
        self.sluice, self.folder, self.home, self.cluster = sluice, folder, folder / "home", cluster
        self.templates, self.base = folder / "k8s", folder
        self.env = {**{name: value for name, value in os.environ.items() if not name.startswith(("LIGHT_", "KUBE"))},
                    "SLUICE_HOME": str(self.home), "LIGHT_DEPLOYER_CONFIG": str(folder / "deployer.yml"),
                    "LIGHT_DEPLOYER_TEMPLATE_BASE_DIR": str(folder), "NO_COLOR": "1"}
        if cluster:
            self.env["KUBECONFIG"] = str(cluster.kubeconfig)
        self.policy(**policy)
        self.write(**PETSTORE)
        self.values(**VALUES)

    def policy(self, **changes):
        (self.folder / "deployer.yml").write_text(yaml.safe_dump({**POLICY, **changes}))

    def write(self, **files):
        self.templates.mkdir(exist_ok=True)
        for name, text in files.items():
            (self.templates / name).write_text(text)

    def only(self, **files):
        for each in self.templates.glob("*"):
            each.unlink()
        self.write(**files)

    def values(self, **values):
        (self.folder / "values.yaml").write_text(yaml.safe_dump(values))

    def run(self, *words, code=0):
        done = subprocess.run([self.sluice, *words, "-o", "json"], env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout if code == 0 else done.stderr.strip().splitlines()[-1])

    def cluster_run(self, verb, *words, code=0, instance="petstore", templates=True, space="shop"):
        more = [str(self.templates), "--values", str(self.folder / "values.yaml")] if templates else []
        return self.run("cluster", verb, "local", instance, *more, "-n", space, *words, code=code)

    def deploy(self, *words, code=0, **more):
        return self.cluster_run("deploy", *words, code=code, **more)

    def look(self, verb, *words, code=0, **more):
        return self.cluster_run(verb, *words, code=code, templates=False, **more)


class Served:
    """A deployer that listens, asked as its owner."""

    def __init__(self, deployer, *words):
        self.deployer = deployer
        for _ in range(20):  # the port may be taken by the time that it is used
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.log = (deployer.folder / "deployer.log").open("ab")
            self.process = subprocess.Popen([deployer.sluice, "deployer", "--listen", f"127.0.0.1:{self.port}", *words],
                                            env=deployer.env, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
            if self.is_up():
                break
        else:
            raise AssertionError((deployer.folder / "deployer.log").read_text())
        self.token = (deployer.home / "run" / "owner.token").read_text().strip()

    def is_up(self):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.ask("GET", "/health", token=None)
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def ask(self, method, path, body=None, token="", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.token}"
        connection.request(method, path, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self.answer = answer
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def request(self, **more):
        return {"hostId": "local", "instanceId": "petstore", "environment": "local", "clusterId": "local",
                "namespace": "shop", "values": {"name": "petstore", "image": {"repository": "registry.example/acme/petstore"}},
                "template": {"repoUrl": "local", "path": "k8s"}, **more}

    def rpc(self, method, **params):
        return self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[1]

    def ended(self, request):
        end = time.monotonic() + 60
        while True:
            status, body = self.ask("GET", f"/deployments/{request}")
            if status == 200 and body["status"] not in ("accepted", "applying"):
                return body
            assert time.monotonic() < end, body
            time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


def sse(text):
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            events.append((int(lines["id"]), json.loads(lines["data"])))
    return events
