"""Bundles with an image run as pods: a judged canary under load, pods that move, and each way in which a pod does not come up.
The cluster is the tests' own (server/), whose node runs each image as a process on an address of its own."""

import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "rollout"), str(HERE.parent / "up")]

from shop import APP, Customers  # noqa: E402
from test_clients import kubectl  # noqa: E402
from up_home import Home, get  # noqa: E402

GOOD, BETTER, CRASHES, MISSING = ("sha256:" + letter * 64 for letter in "abcd")
QUICK = ["--interval", "1s", "--warm-up", "0s", "--settle", "0s"]


class ClusterHome(Home):
    def environment(self):
        return {**super().environment(), "KUBECONFIG": str(self.cluster / "kubeconfig")}

    def version(self, number, image, cpu=0.4):
        folder = self.folder / f"shop-{number}"
        folder.mkdir()
        (folder / "bundle.yaml").write_text(
            f'name: shop\nversion: "{number}.0.0"\nimage: registry.example/shop:{number}\nroutes: [{{path: /}}]\ndrain: 5s\n'
            f'health: {{path: /health, interval: 1s, start_within: 1m}}\nresources: {{cpu: {cpu}}}\n'
            f'env: {{VERSION: "{number}", ERRORS: "0", SLOW_SHARE: "0", SLOW_MS: "0"}}\n')
        (folder / "image.lock.json").write_text(json.dumps({
            "schema": "sluice.image-lock.v1", "reference": f"registry.example/shop:{number}", "digest": image, "platforms": {}}))
        return folder

    def pods(self):
        return json.loads(kubectl(self.cluster, "get", "pods", "-o", "json").stdout)["items"]


@pytest.fixture
def home(sluice, root, tmp_path, api_server):
    (tmp_path / "app.py").write_text(APP.replace('("127.0.0.1", int(os.environ["PORT"]))',
                                                 '(sys.argv[1], int(os.environ["PORT"]))'))
    serves = {"command": [sys.executable, str(tmp_path / "app.py"), "{ip}"]}
    (tmp_path / "node.json").write_text(json.dumps({"backoff_ms": 100, "capacity": {"cpu": 4}, "images": {
        GOOD: serves, BETTER: serves, CRASHES: {"command": ["sh", "-c", "echo no database; exit 3"]}}}))
    one = ClusterHome(sluice, root, tmp_path)
    one.cluster = api_server("--tls", "--node", str(tmp_path / "node.json"))[0]
    one.run("env-packs", "update", "local", "sluice.deployer.k8s@1.0.0")
    yield one
    one.stop()


def test_a_judged_canary_goes_from_5_to_100_percent_and_no_request_fails(home, eventually):
    url = home.up(home.version(1, GOOD))["urls"][0]
    assert get(url) == (200, "1")
    home.up(home.version(2, BETTER), "--share", "1%")
    home.run("traffic", "set", "local", "shop@1=100%")
    with Customers(url, threads=2) as customers:
        # Failures alone are judged: a pod that gets few requests wakes up slower on a busy machine.
        home.run("rollout", "start", "local", "shop@2", "--steps", "5%:1s,50%:1s", *QUICK, "--latency-floor", "1s", "--wait",
                 "--timeout", "110s")
    assert customers.failures == []
    assert {status for status, _ in customers.answers} == {200}
    assert {version for _, version in customers.answers} == {"1", "2"}
    assert get(url) == (200, "2")

    # A pod that the cluster puts somewhere else is found there.
    (pod,) = [each for each in home.pods() if each["spec"]["containers"][0]["image"].endswith(BETTER)]
    kubectl(home.cluster, "delete", "pod", pod["metadata"]["name"], "--wait=false")
    address = pod["status"]["podIP"]

    def moved():
        endpoints = [each["endpoint"] for each in home.data("runtime", "list") if each["name"] == "shop@2"]
        return endpoints and address not in endpoints[0]

    eventually(moved)
    assert get(url) == (200, "2")


@pytest.mark.parametrize("image, says", [(CRASHES, "no database"), (MISSING, "ErrImagePull")], ids=["crash", "image"])
def test_a_version_that_does_not_come_up_leaves_traffic_alone(home, image, says):
    url = home.up(home.version(1, GOOD))["urls"][0]
    done = home.run("up", home.version(2, image), "--detach", code=None)
    assert done.returncode != 0 and says in done.stderr, done.stderr
    assert get(url) == (200, "1")
    assert [each["spec"]["containers"][0]["image"] for each in home.pods()
            if "deletionTimestamp" not in each["metadata"]] == ["registry.example/shop@" + GOOD]


def test_a_quota_and_a_full_node_are_named(home):
    url = home.up(home.version(1, GOOD))["urls"][0]
    done = home.run("up", home.version(2, BETTER, cpu=20), "--detach", code=None)
    assert done.returncode != 0 and "Insufficient cpu" in done.stderr, done.stderr
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    assert kubectl(home.cluster, "apply", "--server-side", "--validate=false", "-f", "-", stdin=json.dumps(quota)).returncode == 0
    done = home.run("up", home.version(3, BETTER), "--detach", code=None)
    assert done.returncode != 0 and "exceeded quota: few" in done.stderr, done.stderr
    assert get(url) == (200, "1")


def test_what_is_missing_among_the_rights_is_found_and_made(home):
    def checks():
        return {each["capability"]: each["status"] for each in
                home.data("credentials", "requirements", "local", code=None)["checks"]}

    assert set(checks().values()) == {"pass"}
    done = home.run("credentials", "bootstrap", "local", "--admin-profile", "ops", input="admin-token\n")
    assert "admin-token" not in done.stdout + done.stderr
    role = json.loads(kubectl(home.cluster, "get", "role", "sluice-deployer", "-o", "json").stdout)
    assert {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]} in role["rules"]
    # From here on the checks ask as the service account, which may do this and nothing else.
    assert set(checks().values()) == {"pass"}
    role["rules"] = [each for each in role["rules"] if each["resources"] != ["secrets"]]
    kubectl(home.cluster, "replace", "-f", "-", "--validate=false", stdin=json.dumps(role))
    assert {name for name, status in checks().items() if status == "fail"} == {
        f"k8s.rbac.allow:core/secrets:{verb}" for verb in ("create", "patch", "list", "delete")}
