"""Bundles with an image run as pods: a judged canary under load, pods that move, and each way in which a pod does not come up.
The cluster is the tests' own (server/), whose node runs each image as a process on an address of its own."""

import base64
import json
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "rollout"), str(HERE.parent / "up")]

from shop import APP, Customers, Database  # noqa: E402
from test_clients import kubectl  # noqa: E402
from up_home import Home, get  # noqa: E402

GOOD, BETTER, CRASHES, MISSING, AWAY = ("sha256:" + letter * 64 for letter in "abcde")
# Failures alone are judged, and what is no worse passes after few requests: a busy machine is slow, and gets few done.
QUICK = "{interval: 1, alpha: 0.05, beta: 0.3, warmUp: 0, settle: 0, latencyFloor: 1000}"


class ClusterHome(Home):
    def environment(self):
        return {**super().environment(), "KUBECONFIG": str(self.kubeconfig)}

    def version(self, number, image, cpu=0.4, within="1m", database=""):
        folder = self.folder / f"shop-{number}"
        folder.mkdir()
        (folder / "bundle.yaml").write_text(
            f'name: shop\nversion: "{number}.0.0"\nimage: registry.example/shop:{number}\nroutes: [{{path: /}}]\ndrain: 5s\n'
            f'health: {{path: /health, interval: 1s, start_within: {within}}}\nresources: {{cpu: {cpu}}}\n'
            f'env: {{VERSION: "{number}", ERRORS: "0", SLOW_SHARE: "0", SLOW_MS: "0", DATABASE: "{database}"}}\n')
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
        GOOD: serves, BETTER: serves, AWAY: {**serves, "advertise": "127.250.0.9"}, CRASHES: {"command": ["sh", "-c", "echo no database; exit 3"]}}}))
    one = ClusterHome(sluice, root, tmp_path)
    one.cluster = api_server("--tls", "--node", str(tmp_path / "node.json"))[0]
    one.kubeconfig = one.cluster / "kubeconfig"
    one.run("env-packs", "update", "local", "sluice.deployer.k8s@1.0.0")
    yield one
    one.stop()


def test_a_judged_canary_goes_from_5_to_100_percent_and_no_request_fails(home, eventually):
    url = home.up(home.version(1, GOOD))["urls"][0]
    assert get(url) == (200, "1")
    home.up(home.version(2, BETTER), "--share", "1%")
    home.run("traffic", "set", "local", "shop@1=100%")
    (home.folder / "criteria.yaml").write_text(QUICK)
    with Customers(url, threads=2) as customers:
        home.run("rollout", "start", "local", "shop@2", "--steps", "5%:1s,50%:1s", "--criteria", home.folder / "criteria.yaml",
                 "--wait", "--timeout", "110s")
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
    eventually(lambda: get(url) == (200, "2"))


def test_traffic_leaves_a_version_of_which_no_pod_is_ready_and_pods_are_told_where_telemetry_goes(home, eventually):
    home.run("telemetry", "configure", "--endpoint", "http://otel.example:4318", "--sampling", "0.1")
    first, second = Database(), Database()
    try:
        home.up(home.version(1, GOOD, database=first.port))
        url = home.up(home.version(2, BETTER, database=second.port))["urls"][0]
        assert get(url) == (200, "2")
        for pod in home.pods():
            told = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
            assert told["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://otel.example:4318"
            assert told["OTEL_SERVICE_NAME"] == "shop" and told["OTEL_TRACES_SAMPLER_ARG"] == "0.1"
        second.stop()
        eventually(lambda: get(url) == (200, "1") and "failed" in
                   [each["lifecycle"] for each in home.data("revisions", "list", "local") if each["sequence"] == 2])
    finally:
        first.stop()
        second.stop()


def variant(home):
    """How the deployment of the last version ended in the cluster."""
    flow = [each["flow"] for each in home.data("audit", "list") if each.get("action") == "Deployment/up"][-1]
    (ends,) = set(re.findall(r"K8sRuntime\.deploy\.(\w+)", json.dumps(home.data("flow", "trace", flow))))
    return ends


@pytest.mark.parametrize("image, says, ends", [(CRASHES, "no database", "podCrashLoop"), (MISSING, "ErrImagePull", "imagePullFailed")],
                         ids=["crash", "image"])
def test_a_version_that_does_not_come_up_leaves_traffic_alone(home, image, says, ends):
    url = home.up(home.version(1, GOOD))["urls"][0]
    done = home.run("up", home.version(2, image), "--detach", code=None)
    assert done.returncode != 0 and says in done.stderr, done.stderr
    assert variant(home) == ends
    assert get(url) == (200, "1")
    assert [each["spec"]["containers"][0]["image"] for each in home.pods()
            if "deletionTimestamp" not in each["metadata"]] == ["registry.example/shop@" + GOOD]


def test_a_quota_and_a_full_node_are_named(home):
    url = home.up(home.version(1, GOOD))["urls"][0]
    done = home.run("up", home.version(2, BETTER, cpu=20, within="3s"), "--detach", code=None)
    assert done.returncode != 0 and "Insufficient cpu" in done.stderr, done.stderr
    assert variant(home) == "unschedulable"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    assert kubectl(home.cluster, "apply", "--server-side", "--validate=false", "-f", "-", stdin=json.dumps(quota)).returncode == 0
    done = home.run("up", home.version(3, BETTER), "--detach", code=None)
    assert done.returncode != 0 and "exceeded quota: few" in done.stderr, done.stderr
    assert variant(home) == "resourceQuotaExceeded"
    assert get(url) == (200, "1")


def checks(home):
    return {each["capability"]: each["status"] for each in
            home.data("credentials", "requirements", "local", code=None)["checks"]}


def failing(home):
    return {name for name, status in checks(home).items() if status == "fail"}


def raw(home, path, body=None):
    words = ["get", "--raw", path] if body is None else ["create", "--raw", path, "-f", "-"]
    done = kubectl(home.cluster, *words, stdin=body and json.dumps(body))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_Greentic29_what_the_role_lacks_is_found_and_made_and_the_token_renewed(home, eventually):
    assert failing(home) == set() and checks(home)["k8s.pods.reachable"] == "skipped"
    home.run("credentials", "bootstrap", "local", "--admin-profile", "ops", input="admin-token\n")
    # From here on the checks ask as the service account, which may do what its role says and nothing else.
    assert failing(home) == set()
    role = json.loads(kubectl(home.cluster, "get", "role", "sluice-deployer", "-o", "json").stdout)
    assert {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]} in role["rules"]
    for each in role["rules"]:
        if each["resources"] == ["secrets"]:
            each["verbs"].remove("patch")
    assert kubectl(home.cluster, "replace", "-f", "-", "--validate=false", stdin=json.dumps(role)).returncode == 0
    assert failing(home) == {"k8s.rbac.allow:core/secrets:patch"}
    assert "k8s.rbac.allow:core/secrets:patch" in home.run("env", "doctor", "local", code=None).stderr
    refused = home.run("up", home.version(1, GOOD), "--detach", code=None)
    assert refused.returncode != 0 and "local was found red; traffic stays as it was" in refused.stderr
    rules = home.home / "rules" / "local"
    assert "kubernetes_role_v1" in (rules / "sluice-deployer.tf").read_text()
    done = kubectl(home.cluster, "apply", "--server-side", "--force-conflicts", "--validate=false", "-f",
                   str(rules / "sluice-deployer.yaml"))
    assert done.returncode == 0, done.stderr
    assert failing(home) == set()

    def version():
        return int(home.data("secrets", "get", "local", "credentials/deployer")["version"])

    before = version()
    home.run("credentials", "rotate", "local", "--if-needed")
    assert version() == before
    raw(home, "/test/tokens", {"seconds": 15})  # what the cluster gives counts, not what was asked for
    home.run("credentials", "rotate", "local")
    assert version() == before + 1

    def renewed():
        home.run("credentials", "rotate", "local", "--if-needed")
        return version() >= before + 2

    eventually(renewed)
    assert failing(home) == set()
    admin = b"admin-token"
    for path in home.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            held = path.read_bytes()
            assert not any(form in held for form in (admin, admin.hex().encode(), base64.b64encode(admin).rstrip(b"="))), path


def test_pods_that_cannot_be_reached_are_found_before_anything_is_deployed(home):
    assert home.run("env", "doctor", "local").stderr == "local is green\n"
    assert checks(home)["k8s.pods.reachable"] == "skipped"
    away = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "away"}, "addressType": "IPv4",
            "ports": [{"name": "http", "port": 9, "protocol": "TCP"}],
            "endpoints": [{"addresses": ["127.250.0.9"], "conditions": {"ready": True}}]}
    made = kubectl(home.cluster, "apply", "--server-side", "--validate=false", "-f", "-", stdin=json.dumps(away))
    assert made.returncode == 0, made.stderr
    # The doctor finds it by itself, and nothing is begun in what it calls red.
    found = home.run("env", "doctor", "local", code=None)
    assert found.returncode != 0 and "the router cannot connect to pods: " in found.stderr, found.stderr
    refused = home.run("up", home.version(1, GOOD), "--detach", code=None)
    assert "local was found red; traffic stays as it was" in refused.stderr
    assert "sluice env doctor local, then sluice up again" in refused.stderr, refused.stderr
    assert failing(home) == {"k8s.pods.reachable"}
    assert "the deployer lacked k8s.pods.reachable" in home.run("env", "doctor", "local", code=None).stderr
    assert kubectl(home.cluster, "delete", "endpointslice", "away").returncode == 0
    assert failing(home) == set()
    assert home.run("env", "doctor", "local").stderr == "local is green\n"
    home.up(home.folder / "shop-1")
    assert checks(home)["k8s.pods.reachable"] == "pass"


def test_pods_that_the_router_cannot_reach_leave_traffic_alone(home):
    url = home.up(home.version(1, GOOD))["urls"][0]
    done = home.run("up", home.version(2, AWAY), "--detach", code=None)
    assert done.returncode != 0 and "the router cannot connect to http://127.250.0.9:" in done.stderr, done.stderr
    assert variant(home) == "podUnreachable"
    assert get(url) == (200, "1")


def test_other_secrets_come_in_other_pods_and_no_request_fails(home, eventually):
    folder = home.version(1, GOOD)
    with (folder / "bundle.yaml").open("a") as manifest:
        manifest.write("secrets: [ERRORS]\nsecrets_as: env\n")
    (folder / "bundle.yaml").write_text((folder / "bundle.yaml").read_text().replace('ERRORS: "0", ', ""))
    home.run("secrets", "put", "local", "shop/ERRORS", input="0\n")
    url = home.up(folder)["urls"][0]
    with Customers(url, threads=2) as customers:
        for value in ("0.0", "0.00", "0.000"):
            (before,) = home.pods()
            home.run("secrets", "put", "local", "shop/ERRORS", input=value + "\n")
            eventually(lambda: [pod["metadata"]["name"] for pod in home.pods()] not in ([], [before["metadata"]["name"]])
                       and len(home.pods()) == 1)
    assert customers.failures == []
    assert {status for status, _ in customers.answers} == {200}

    def held():
        secrets = json.loads(kubectl(home.cluster, "get", "secrets", "-o", "json").stdout)["items"]
        return [each["data"] for each in secrets if each["metadata"]["name"].startswith("sl-")]

    eventually(lambda: held() == [{"ERRORS": base64.b64encode(b"0.000").decode()}])


def test_the_calls_that_are_made_are_those_that_are_checked_and_installed(home, eventually):
    home.run("credentials", "bootstrap", "local", "--admin-profile", "ops", input="admin-token\n")
    # Nobody else's rights are used from here on: the kubeconfig says where the cluster is, and not who asks.
    config = json.loads((home.cluster / "kubeconfig").read_text())
    config["users"] = [{"name": "admin", "user": {}}]
    (home.cluster / "nobody").write_text(json.dumps(config))
    home.kubeconfig = home.cluster / "nobody"
    url = home.up(home.version(1, GOOD))["urls"][0]
    home.up(home.version(2, BETTER), "--share", "50%")
    assert get(url)[0] == 200
    assert home.run("up", home.version(3, CRASHES), "--detach", code=None).returncode != 0
    (pod,) = [each for each in home.pods() if each["spec"]["containers"][0]["image"].endswith(BETTER)]
    kubectl(home.cluster, "delete", "pod", pod["metadata"]["name"], "--wait=false")
    eventually(lambda: pod["status"]["podIP"] not in str([each for each in home.data("runtime", "list")]))
    # A token is renewed before it ends, and what comes then is done with the new one.
    version = lambda: int(home.data("secrets", "get", "local", "credentials/deployer")["version"])  # noqa: E731
    raw(home, "/test/tokens", {"seconds": 15})
    home.run("credentials", "rotate", "local")
    before = version()
    eventually(lambda: version() > before + 1)
    home.run("down", "shop", "--yes")
    eventually(lambda: home.pods() == [])
    made = set(raw(home, "/test/calls")["system:serviceaccount:default:sluice-deployer"])
    checked = {name.removeprefix("k8s.rbac.allow:").replace("core/", "/") for name in checks(home)
               if name.startswith("k8s.rbac.allow:")}
    role = json.loads(kubectl(home.cluster, "get", "role", "sluice-deployer", "-o", "json").stdout)
    installed = {f"{group}/{resource}:{verb}" for each in role["rules"] for group in each["apiGroups"]
                 for resource in each["resources"] for verb in each["verbs"]}
    assert made <= checked == installed
    # What is never called is not asked for; deployments are scaled by hand alone.
    assert checked - made <= {"apps/deployments:update", "/secrets:create", "/secrets:patch", "/secrets:delete"}
