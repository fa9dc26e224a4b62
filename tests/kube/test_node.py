"""The node of the tests' API server: pods run as processes, and what is seen of them is what a kubelet and the controllers of a
real cluster report."""

import json
import sys
import urllib.request

import pytest

from test_clients import kubectl

SERVES, FAILS, MISSING = ("sha256:" + letter * 64 for letter in "abc")
SERVER = """
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write((os.environ["WORD"] + " " + os.environ["SECRET"]).encode())
print("listening", flush=True)
http.server.HTTPServer((sys.argv[1], 8080), Answer).serve_forever()
"""


@pytest.fixture
def cluster(api_server, tmp_path):
    (tmp_path / "app.py").write_text(SERVER)
    (tmp_path / "node.json").write_text(json.dumps({"backoff_ms": 50, "capacity": {"cpu": 2}, "images": {
        SERVES: {"command": [sys.executable, str(tmp_path / "app.py"), "{ip}"]},
        FAILS: {"command": ["sh", "-c", "echo no configuration; exit 3"]}}}))
    return api_server("--tls", "--node", str(tmp_path / "node.json"))[0]


def deployment(image, replicas=2, cpu="100m"):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"terminationGracePeriodSeconds": 5, "containers": [{
                "name": "web", "image": f"registry.example/web@{image}", "ports": [{"containerPort": 8080}],
                "env": [{"name": "WORD", "value": "hello"},
                        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "one"}}}],
                "resources": {"requests": {"cpu": cpu}},
                "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}}]}}}}


def apply(folder, *objects):
    for each in objects:
        done = kubectl(folder, "apply", "--server-side", "--validate=false", "-f", "-", stdin=json.dumps(each))
        assert done.returncode == 0, done.stderr


def read(folder, what, *words):
    return json.loads(kubectl(folder, "get", what, *words, "-o", "json").stdout)


def waiting(folder):
    return [each["state"].get("waiting", {}).get("reason") for pod in read(folder, "pods")["items"]
            for each in pod["status"].get("containerStatuses", [])]


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"one": "sesame"}}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {
    "selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}}


def test_pods_run_on_addresses_of_their_own_and_are_endpoints_when_ready(cluster, eventually):
    apply(cluster, SECRET, SERVICE, deployment(SERVES))

    def addresses():
        return [address for each in read(cluster, "endpointslices")["items"] for one in each["endpoints"] or []
                if one["conditions"]["ready"] for address in one["addresses"]]

    eventually(lambda: len(set(addresses())) == 2)
    for address in addresses():
        assert urllib.request.urlopen(f"http://{address}:8080/", timeout=10).read() == b"hello sesame"
    eventually(lambda: read(cluster, "deployment", "web")["status"].get("availableReplicas") == 2)
    pod = read(cluster, "pods")["items"][0]["metadata"]["name"]
    assert kubectl(cluster, "logs", pod).stdout.startswith("listening\n")
    before = addresses()
    kubectl(cluster, "delete", "pod", pod, "--wait=false")
    eventually(lambda: len(addresses()) == 2 and set(addresses()) != set(before))
    kubectl(cluster, "delete", "deployment", "web", "--wait=false")
    eventually(lambda: read(cluster, "pods")["items"] == [])
    for address in before:
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://{address}:8080/", timeout=10)


@pytest.mark.parametrize("image, reason", [(FAILS, "CrashLoopBackOff"), (MISSING, "ImagePullBackOff")])
def test_a_pod_that_cannot_run_says_why(cluster, eventually, image, reason):
    apply(cluster, SECRET, deployment(image, replicas=1))
    eventually(lambda: waiting(cluster) == [reason])
    if image == FAILS:
        eventually(lambda: read(cluster, "pods")["items"][0]["status"]["containerStatuses"][0]["restartCount"] > 2)
        pod = read(cluster, "pods")["items"][0]
        assert pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 3
        assert "no configuration" in kubectl(cluster, "logs", "--previous", pod["metadata"]["name"]).stdout


def test_a_pod_without_its_secret_waits_for_it(cluster, eventually):
    apply(cluster, deployment(SERVES, replicas=1))
    eventually(lambda: waiting(cluster) == ["CreateContainerConfigError"])
    apply(cluster, SECRET)
    eventually(lambda: read(cluster, "deployment", "web")["status"].get("availableReplicas") == 1)


def test_a_pod_that_fits_nowhere_is_unschedulable(cluster, eventually):
    apply(cluster, SECRET, deployment(SERVES, replicas=1, cpu="3"))

    def message():
        return [each["message"] for pod in read(cluster, "pods")["items"] for each in pod["status"].get("conditions", [])
                if each.get("reason") == "Unschedulable"]

    eventually(lambda: message() == ["0/1 nodes are available: 1 Insufficient cpu."])
