"""What a deployer makes of a cluster that misbehaves, of one that it has to share, and of a token that ends: a clear error, exact
progress, and a way on."""

import json
import urllib.request
from types import SimpleNamespace

import pytest
from served import Deployer, Served

APPLIED = {"ConfigMap/petstore-config": "ready", "Service/petstore": "ready", "Deployment/petstore": "failed"}


def states(answer):
    return {f"{each['kind']}/{each['name']}": each["state"] for each in answer["resources"]}


def deploy(served, request, **more):
    return served.ask("POST", "/deployments", served.request(action="deploy", requestId=request, **more))


def inventory(cluster, space="shop"):
    (found,) = [each for each in cluster.ask("GET", f"/api/v1/namespaces/{space}/configmaps")[1]["items"]
                if "inventory" in each["metadata"]["name"]]
    return {"apiVersion": "v1", "kind": "ConfigMap", **found}


@pytest.mark.parametrize("fault, says", [
    ({"status": 200, "body": "<html>"}, "the server answered something else than JSON"),
    ({"endless": True}, "more than"),
    ({"status": 500, "count": 1000}, "a failure of the test"),
    ({"status": 429, "count": 1000}, "Too many requests"),
    ({"status": 503, "count": 1000}, "a failure of the test"),
    ({"cut": True, "count": 1000}, "connection"),
    ({"half": "{\"kind\": ", "count": 1000}, "connection"),
], ids=["garbage", "endless", "500-storm", "429-storm", "503-storm", "cut", "half"])
def test_a_hostile_api_server_is_named_and_left(served, cluster, fault, says):
    cluster.fail(method="PATCH", path="/deployments/", **fault)
    deploy(served, "r1")
    ended = served.ended("r1")
    assert (ended["status"], ended["error"]["code"]) == ("failed", "kubernetesFailed")
    assert "Deployment/petstore" in ended["error"]["message"] and says in ended["error"]["message"]
    assert states(ended) == APPLIED and "lock" not in inventory(cluster)["data"]
    cluster.ask("POST", "/test/forget", {"failures": True})
    deploy(served, "r2")
    ended = served.ended("r2")
    assert ended["status"] == "deployed" and set(states(ended).values()) == {"ready"}


@pytest.mark.parametrize("fault", [{"status": 429, "count": 3}, {"cut": True, "count": 3}, {"half": "{", "count": 2},
                                   {"status": 500, "count": 2, "headers": {"Retry-After": "1"}}],
                         ids=["429", "cut", "half", "500-with-retry-after"])
def test_what_passes_is_not_noticed(served, cluster, fault):
    cluster.fail(path="/namespaces/shop/", **fault)
    deploy(served, "r1")
    assert served.ended("r1")["status"] == "deployed"


def test_a_namespace_that_is_being_deleted_takes_nothing(served, cluster):
    served.deployer.policy(allowedNamespaces=["shop", "ending"])
    cluster.space("ending")
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["test.example/hold"]}}
    assert cluster.ask("POST", "/api/v1/namespaces/ending/configmaps", held)[0] == 201
    cluster.ask("DELETE", "/api/v1/namespaces/ending")
    status, body = deploy(served, "r1", namespace="ending")
    assert (status, body["error"]["code"]) == (502, "kubernetesFailed") and "being terminated" in body["error"]["message"]
    assert cluster.names("deployments", "ending") == []


def test_a_token_that_has_ended_is_replaced_without_a_restart(deployer, cluster):
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "deployer"}}
    assert cluster.ask("POST", "/api/v1/namespaces/shop/serviceaccounts", account)[0] == 201
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "all"},
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "all"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"},
               "subjects": [{"kind": "ServiceAccount", "name": "deployer", "namespace": "shop"}]}
    for each in (role, binding):
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/shop/{each['kind'].lower()}s"
        assert cluster.ask("POST", path, each)[0] == 201
    file = deployer.folder / "token"

    def renew():
        made = cluster.ask("POST", "/api/v1/namespaces/shop/serviceaccounts/deployer/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})[1]
        file.write_text(made["status"]["token"] + "\n")

    renew()
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"] = [{"name": "admin", "user": {"tokenFile": str(file)}}]
    (deployer.folder / "kubeconfig").write_text(json.dumps(config))
    deployer.env["KUBECONFIG"] = str(deployer.folder / "kubeconfig")
    served = Served(deployer)
    try:
        deploy(served, "r1")
        assert served.ended("r1")["status"] == "deployed"
        cluster.ask("POST", "/test/tokens", {"end": True})
        status, body = deploy(served, "r2")
        assert (status, body["error"]["code"]) == (502, "kubernetesFailed") and "Unauthorized" in body["error"]["message"]
        renew()
        deploy(served, "r3")
        assert served.ended("r3")["status"] == "deployed"
    finally:
        served.stop()


def test_two_deployers_take_turns(make_deployer, cluster):
    one, two = make_deployer("one", deployerId="the-first"), make_deployer("two", deployerId="the-second")
    text = (one.templates / "deployment.yaml").read_text()
    one.write(**{"deployment.yaml": text.replace("  name: ${name}\nspec",
                                                 "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})
    first, second = Served(one), Served(two)
    try:
        assert deploy(first, "r1")[0] == 202
        for action in ("deploy", "undeploy"):
            status, body = second.ask("POST", "/deployments", second.request(action=action, requestId=f"busy-{action}"))
            assert (status, body["error"]["code"]) == (409, "busy")
            assert "the request r1 of the-first is at work on petstore" in body["error"]["message"]
        status, body = second.ask("POST", "/deployments", second.request(action="status"))
        assert status == 200 and body["ready"] is False
        assert second.ask("POST", "/deployments", second.request(action="diff"))[0] == 200
        first.ask("POST", "/deployments/r1/cancel")
        assert first.ended("r1")["status"] == "cancelled"
        two.write(**{"deployment.yaml": text})
        deploy(second, "r2", options={"waitForRollout": False})
        assert second.ended("r2")["status"] == "deployed"

        # The first is killed at work, and its lease ends: somebody else goes on, and it lets go when it is back.
        assert deploy(first, "r3", values={"name": "petstore", "replicas": 2,
                                           "image": {"repository": "registry.example/acme/petstore"}})[0] == 202
        first.process.kill()
        first.process.wait()
        held = inventory(cluster)
        held["data"]["lock"] = json.dumps({**json.loads(held["data"]["lock"]), "until": "2020-01-01T00:00:00Z"})
        path = f"/api/v1/namespaces/shop/configmaps/{held['metadata']['name']}"
        assert cluster.ask("PUT", path, held)[0] == 200
        deploy(second, "r4", options={"waitForRollout": False})
        assert second.ended("r4")["status"] == "deployed"
        listed = inventory(cluster)["data"]
        first = Served(one)
        ended = first.ended("r3")
        assert ended["error"]["code"] == "busy" and "lock of petstore was lost" in ended["error"]["message"]
        assert inventory(cluster)["data"] == listed and json.loads(listed["inventory"])["request"] == "r4"
    finally:
        first.stop()
        second.stop()


def test_a_bomb_of_aliases_is_refused(deployer):
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 9):
        bomb += f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n"
    deployer.only(**{"bomb.yaml": bomb})
    assert "bomb.yaml:" in deployer.cluster_run("render", code=7)["detail"]


def test_a_bookmark_says_its_version_and_nothing_else(cluster):
    """Not recorded, but so it is: what a client may go on from, without an object."""
    version = cluster.ask("GET", "/test/version")[1]["version"]
    path = f"/api/v1/namespaces/shop/configmaps?watch=1&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion={version}"
    request = urllib.request.Request(cluster.url + path, headers={"Authorization": "Bearer admin-token"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        events = [json.loads(line) for line in answer.read().splitlines()]
    marks = [each["object"] for each in events if each["type"] == "BOOKMARK"]
    assert marks == [{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}}]


@pytest.mark.parametrize("image, says", [("c", "container main crashes again and again"),
                                         ("d", "container main: its image cannot be pulled")], ids=["crash", "image"])
def test_pods_say_why_a_deployment_is_not_ready(sluice, tmp_path, api_server, image, says):
    (tmp_path / "node.json").write_text(json.dumps({"backoff_ms": 50, "images": {
        "sha256:" + "c" * 64: {"command": ["sh", "-c", "exit 3"]}}}))
    folder = api_server("--node", str(tmp_path / "node.json"))[0]
    one = Deployer(sluice, tmp_path, SimpleNamespace(kubeconfig=folder / "kubeconfig"), allowedNamespaces=["default"])
    one.write(**{"deployment.yaml": (one.templates / "deployment.yaml").read_text().replace(
        "${image.repository}:${image.tag:latest}", "registry.example/acme/petstore@sha256:" + image * 64)})
    refused = one.deploy("--timeout", "15s", "--request", "r1", space="default", code=1)
    assert "Deployment/petstore in default: " in refused["detail"] and says in refused["detail"]
    assert refused["detail"].endswith("; 2 of 3 objects are done") and refused["next"] == "sluice cluster show r1"


def test_a_quota_says_why_a_deployment_is_not_ready(deployer):
    deployer.write(**{"deployment.yaml": (deployer.templates / "deployment.yaml").read_text().replace(
        "  name: ${name}\nspec", "  name: ${name}\n  annotations: {test.sluice.dev/status: quota}\nspec")})
    assert "exceeded quota" in deployer.deploy("--timeout", "1s", code=1)["detail"]
