"""A cluster (server.py), a home with a deployer's policy for it, and templates."""

import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from served import Deployer, Served

HERE = Path(__file__).parent


class TestCluster:
    """The API server, asked as the administrator."""
    __test__ = False

    def __init__(self, folder, *words):
        folder.mkdir(exist_ok=True)
        self.folder, self.kubeconfig = folder, folder / "kubeconfig"
        self.process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--folder", str(folder), *words],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def ask(self, method, path, body=None, kind="application/json"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={
            "Authorization": "Bearer admin-token", "Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or b"null")

    def space(self, name):
        self.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def get(self, resource, name, space="shop"):
        """The object, or None."""
        group = "apis/apps/v1" if resource in ("deployments", "statefulsets") else "api/v1"
        status, body = self.ask("GET", f"/{group}/namespaces/{space}/{resource}/{name}")
        return body if status == 200 else None

    def names(self, resource, space="shop"):
        group = "apis/apps/v1" if resource in ("deployments", "statefulsets") else "api/v1"
        found = self.ask("GET", f"/{group}/namespaces/{space}/{resource}")[1]["items"]
        return sorted(each["metadata"]["name"] for each in found if each["metadata"]["name"] != "kube-root-ca.crt"
                      and "inventory" not in each["metadata"]["name"])

    def apply(self, path, body, manager, force=False):
        return self.ask("PATCH", f"{path}?fieldManager={manager}" + ("&force=true" if force else ""), body,
                        "application/apply-patch+yaml")

    def log(self):
        return self.ask("GET", "/test/log")[1]["requests"]

    def fail(self, **how):
        self.ask("POST", "/test/fail", how)

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def api_server(tmp_path_factory):
    """api_server(*options): a server's folder, with its kubeconfig, and its URL."""
    with contextlib.ExitStack() as left:
        def start(*options):
            folder = tmp_path_factory.mktemp("kube")
            process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--folder", str(folder), *options],
                                       stdout=subprocess.PIPE, text=True)
            left.callback(process.wait)
            left.callback(process.kill)
            return folder, process.stdout.readline().strip()

        yield start


@pytest.fixture
def cluster(tmp_path):
    made = TestCluster(tmp_path / "cluster", "--settle")
    made.space("shop")
    yield made
    made.stop()


@pytest.fixture
def deployer(sluice, tmp_path, cluster):
    return Deployer(sluice, tmp_path, cluster)


@pytest.fixture
def make_deployer(sluice, tmp_path, cluster):
    def make(name, **policy):
        folder = tmp_path / name
        folder.mkdir()
        return Deployer(sluice, folder, cluster, **policy)

    return make


@pytest.fixture
def noop_deployer(sluice, tmp_path):
    return Deployer(sluice, tmp_path, None)


@pytest.fixture
def served(deployer):
    made = Served(deployer)
    yield made
    made.stop()
