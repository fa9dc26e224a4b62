"""The scenarios 1 to 32 in which Light-Deployer was looked at: what each of them should come to, by the number that it has
there."""

import base64
import json
import subprocess

import pytest
from served import sse

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}}}\ndata: {{a: \"1\"}}\n"


def actions(answer):
    return {f"{each['kind']}/{each['name']}": each["action"] for each in answer["resources"]}


def states(answer):
    return {f"{each['kind']}/{each['name']}": each["state"] for each in answer["resources"]}


def changes(cluster):
    """Requests that change something in the namespace."""
    words = ("PATCH ", "PUT ", "DELETE ", "POST /api/v1/namespaces/shop/")
    return [each for each in cluster.log() if each.startswith(words) and "dryRun=All" not in each]


def asked(served, **more):
    """The code and the body of a deploy, or of another action."""
    return served.ask("POST", "/deployments", served.request(**{"action": "deploy", **more}))


def test_LightDeployer01_render_is_in_order_and_its_hash_is_stable(deployer):
    first = deployer.cluster_run("render")
    assert [f"{each['kind']}/{each['name']}" for each in first["resources"]] == [
        "ConfigMap/petstore-config", "Deployment/petstore", "Service/petstore"]
    assert first["manifestHash"] == deployer.cluster_run("render")["manifestHash"]
    deployer.values(name="petstore", image={"repository": "registry.example/acme/petstore", "tag": "2"})
    assert first["manifestHash"] != deployer.cluster_run("render")["manifestHash"]


def test_LightDeployer02_all_missing_values_are_named_with_their_places(served):
    status, body = asked(served, action="render", values={"image": {"tag": "1"}})
    assert status == 422
    assert (body["status"], body["action"], body["namespace"], body["error"]["code"]) == (
        "failed", "render", "shop", "renderFailed")
    for place in ("configmap.yaml:4:9", "deployment.yaml:4:9", "service.yaml:4:9", "`name`", "`image.repository`"):
        assert place in body["error"]["message"]


def test_LightDeployer03_defaults(deployer, cluster):
    deployer.only(**{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  level: ${log.level:info}\n"
                               "  empty: \"${x:}\"\n  rest: ${a:b:c}\n  left: echo $${HOME}\n"})
    deployer.deploy()
    assert cluster.get("configmaps", "a")["data"] == {"level": "info", "empty": "", "rest": "b:c", "left": "echo ${HOME}"}


def test_LightDeployer04_an_integer_default_is_an_integer_and_text_is_text(deployer, cluster):
    deployer.values(name="petstore", image={"repository": "registry.example/acme/a", "tag": 3})
    deployer.deploy()
    live = cluster.get("deployments", "petstore")
    assert live["spec"]["replicas"] == 1
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/acme/a:3"


def test_LightDeployer05_labels_names_and_variables_are_strings(deployer, cluster):
    deployer.policy(allowedKinds=["Pod", "ConfigMap"])
    deployer.only(**{"a.yaml": """apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: {version: "${tag}"}
  annotations:
    plain: ${tag}
spec:
  containers:
    - name: main
      image: registry.example/acme/a:${tag}
      args:
        - ${port:8080}
      env:
        - name: PORT
          value: ${port:8080}
        - name: DEBUG
          value: ${debug}
"""})
    deployer.values(tag="1.10", name="123", debug=True)
    deployer.deploy("--no-wait")
    made = cluster.get("pods", "123")
    assert made["metadata"]["labels"]["version"] == made["metadata"]["annotations"]["plain"] == "1.10"
    container = made["spec"]["containers"][0]
    assert container["args"] == ["8080"]
    assert {each["name"]: each["value"] for each in container["env"]} == {"PORT": "8080", "DEBUG": "true"}


def test_LightDeployer06_a_type_may_be_said(deployer, cluster):
    deployer.policy(allowedKinds=["Pod"])
    deployer.only(**{"a.yaml": """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  automountServiceAccountToken: ${ro|bool:true}
  terminationGracePeriodSeconds: ${grace|int:7}
  nodeSelector: ${nodes|json}
  containers:
    - {name: main, image: "registry.example/acme/a:1"}
"""})
    deployer.values(nodes={"disk": "fast"}, grace="9")
    deployer.deploy("--no-wait")
    spec = cluster.get("pods", "p")["spec"]
    assert spec["automountServiceAccountToken"] is True and spec["terminationGracePeriodSeconds"] == 9
    assert spec["nodeSelector"] == {"disk": "fast"}


@pytest.mark.parametrize("text, values, says", [
    ("${x:d}", {"x": None}, None), ("${x}", {"x": None}, "missing value for placeholder `x`"), ("${}", {}, "names no value"),
    ("${abc", {}, "a.yaml:5:6: this placeholder has no }"), ("${x}", {"x": {"not": "a text"}}, "`x` is a map"),
    ("a ${x}", {"x": [1]}, "`x` is a list")], ids=["LightDeployer07-default", "LightDeployer07-missing", "LightDeployer08-empty",
                                                  "LightDeployer08-open", "LightDeployer09-map", "LightDeployer09-list"])
def test_what_is_no_value_and_no_placeholder(deployer, text, values, says):
    deployer.only(**{"a.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  b: {text}\n"})
    deployer.values(**values)
    if says is None:
        deployer.cluster_run("render")
    else:
        assert says in deployer.cluster_run("render", code=7)["detail"]


def test_LightDeployer09_json_is_said(deployer, cluster):
    deployer.only(**{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: ${x|json}\n"})
    deployer.values(x={"not": "a text"})
    deployer.deploy()
    assert json.loads(cluster.get("configmaps", "a")["data"]["b"]) == {"not": "a text"}


def test_LightDeployer10_empty_documents_are_none(deployer):
    deployer.only(**{"a.yaml": CONFIG.format("a") + "---\n---\n" + CONFIG.format("b")})
    assert list(actions(deployer.cluster_run("render"))) == ["ConfigMap/a", "ConfigMap/b"]
    # And nothing at all is no reason to remove everything.
    deployer.deploy()
    deployer.only(**{"a.yaml": "---\n"})
    assert "the templates make no objects" in deployer.deploy("--prune-override", code=7)["detail"]


def test_LightDeployer11_an_object_has_a_kind(deployer):
    deployer.only(**{"a.yaml": "apiVersion: v1\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: b}\n",
                     "b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${b}\"}\n"})
    said = deployer.cluster_run("render", code=7)["detail"]
    for fault in ("a.yaml:1:1: missing required field `kind`", "a.yaml:4:1: missing required field `apiVersion`",
                  "b.yaml:3:19: missing value for placeholder `b`"):
        assert fault in said


POD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{template: {{spec: {0}}}}}\n"


@pytest.mark.parametrize("template, why", [
    ("apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n", "resource kind is blocked: Namespace"),
    ("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\n", "resource kind is not allowed: apps/StatefulSet"),
    ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n",
     "namespace is not allowed: kube-system"),
    (POD.format("{containers: [{name: main, image: other.example/x}]}"),
     "image registry is not allowed: other.example/x of container main in Deployment/d"),
    (POD.format("{initContainers: [{name: first, image: registry.example/acme-evil/x}]}"), "container first"),
    (POD.format("{hostNetwork: true, containers: [{name: main, image: registry.example/acme/x}]}"), "hostNetwork"),
    (POD.format("{volumes: [{name: v, hostPath: {path: /}}], containers: [{name: main, image: registry.example/acme/x}]}"),
     "hostPath volume v"),
], ids=["LightDeployer12-blocked", "LightDeployer12-kind", "LightDeployer15", "LightDeployer17", "LightDeployer17-init",
        "host-network", "host-path"])
def test_the_policy_is_checked_on_what_was_rendered(deployer, cluster, template, why):
    deployer.only(**{"a.yaml": template})
    for verb in ("render", "dry-run", "diff", "deploy"):
        assert why in deployer.cluster_run(verb, code=4)["detail"]
    assert changes(cluster) == []


def test_LightDeployer13_a_kind_that_the_policy_adds_is_found_by_discovery(deployer, cluster):
    deployer.policy(allowedKinds=["StatefulSet"])
    deployer.only(**{"a.yaml": "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {serviceName: s, replicas: 0, "
                               "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "
                               "[{name: main, image: registry.example/acme/x}]}}}\n"})
    deployer.deploy("--no-wait")
    assert cluster.names("statefulsets") == ["s"]


def test_LightDeployer14_another_namespace_is_refused(served):
    status, body = asked(served, namespace="other")
    assert (status, body["error"]["code"]) == (403, "policyDenied")
    assert "namespace is not allowed: other" in body["error"]["message"]
    assert (body["action"], body["namespace"]) == ("deploy", "other")


@pytest.mark.parametrize("policy, url", [
    ({"allowedRepoHosts": ["github.example"]}, "https://gitlab.example/x.git"),
    ({"allowedRepoHosts": ["github.example"]}, "https://github.example.evil/x.git"),
    ({"allowedRepoPrefixes": ["https://github.example"]}, "https://github.example.evil/x"),
    ({"allowedRepoPrefixes": ["https://github.example/acme"]}, "https://github.example/acme-evil/x"),
    ({"allowedRepoPrefixes": ["https://github.example/acme"]}, "https://github.example/acme/../evil/x"),
    ({"allowedRepoPrefixes": ["https://github.example/acme"]}, "https://github.example/acme/%2e%2E/evil/x"),
    ({"allowedRepoHosts": []}, "https://github.example/x"), ({}, "https://github.example/x"),
    ({"allowedRepoHosts": ["*"]}, "file:///etc"), ({"allowedRepoHosts": ["*"]}, "http://github.example/x"),
    ({"allowedRepoHosts": ["*"]}, "ssh://git@github.example/x")])
def test_LightDeployer16_repositories_are_compared_by_whole_parts(deployer, policy, url):
    deployer.policy(**policy)
    words = ["cluster", "render", "local", "petstore", "-n", "shop", "--repo", url]
    assert f"repository is not allowed: {url}" in deployer.run(*words, code=4)["detail"]


def test_LightDeployer18_another_cluster_or_host_is_refused(served):
    status, body = asked(served, clusterId="prod")
    assert (status, body["error"]["code"]) == (409, "wrongCluster")
    assert "serves the cluster local, not prod" in body["error"]["message"]
    status, body = asked(served, hostId="h2")
    assert (status, body["error"]["code"]) == (403, "policyDenied") and "host is not allowed: h2" in body["error"]["message"]


def test_LightDeployer19_secrets_are_never_shown(deployer, cluster):
    deployer.only(**{"s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {key: \"${key}\"}\n"})
    deployer.values(key="$(base64 f)")
    assert "secret data key `key`" in deployer.cluster_run("diff", code=7)["detail"]
    coded = base64.b64encode(b"the very first secret").decode()
    deployer.values(key=coded[:8] + "\n" + coded[8:])
    shown = deployer.cluster_run("diff")
    assert "<REDACTED>" in shown["unifiedDiff"] and coded not in str(shown) and "the very first" not in str(shown)
    deployer.deploy()
    assert cluster.get("secrets", "s")["data"] == {"key": coded}


def test_LightDeployer20_what_is_the_same_is_unchanged_and_not_touched(deployer, cluster):
    deployer.deploy()

    def versions():
        return {(what, name): cluster.get(what, name)["metadata"]["resourceVersion"]
                for what in ("configmaps", "deployments", "services") for name in cluster.names(what)}

    before = versions()
    shown = deployer.cluster_run("diff")
    assert shown["unifiedDiff"] == "" and set(actions(shown).values()) == {"unchanged"} and shown["unchanged"] == 3
    done = deployer.deploy("--request", "again")
    assert done["status"] == "deployed" and len(before) == 3 and versions() == before
    deployer.values(name="petstore", replicas=2, image={"repository": "registry.example/acme/petstore", "tag": "1.27"})
    shown = deployer.cluster_run("diff")
    assert actions(shown) == {"ConfigMap/petstore-config": "unchanged", "Deployment/petstore": "modified",
                              "Service/petstore": "unchanged"}
    assert "-  replicas: 1\n+  replicas: 2\n" in shown["unifiedDiff"] and "request-id" not in shown["unifiedDiff"]


def test_LightDeployer21_a_prune_beyond_the_ceiling_needs_an_override(served, deployer, cluster):
    def has(count):
        deployer.only(**{f"{i}.yaml": CONFIG.format(f"c{i}") for i in range(count)})

    has(10)
    served.ended(asked(served, requestId="r1")[1]["requestId"])
    has(7)
    assert served.ended(asked(served, requestId="r2")[1]["requestId"])["status"] == "deployed"
    assert cluster.names("configmaps") == [f"c{i}" for i in range(7)]
    has(4)
    status, body = asked(served, requestId="r3")
    assert (status, body["status"], body["error"]["code"]) == (422, "requiresOverride", "requiresOverride")
    assert "prune would delete 3 of 7 tracked resources (42%)" in body["error"]["message"]
    # What is too dangerous to do may be looked at.
    status, body = asked(served, action="diff")
    assert status == 200 and body["diff"]["deleted"] == 3 and "42%" in body["diff"]["overrideNeeded"]
    assert len(cluster.names("configmaps")) == 7
    asked(served, requestId="r4", options={"pruneOverride": True})
    assert served.ended("r4")["status"] == "deployed" and cluster.names("configmaps") == [f"c{i}" for i in range(4)]
    # One of three is more than 30 %; a count limits besides.
    has(3)
    deployer.policy(prune={"maxDeletePercent": 50, "maxDeleteCount": 0})
    assert asked(served, requestId="r5")[0] == 422
    deployer.policy(prune={"maxDeletePercent": 50, "maxDeleteCount": 1})
    asked(served, requestId="r6")
    assert served.ended("r6")["status"] == "deployed"
    has(2)
    deployer.policy()
    status, body = asked(served, requestId="r7")
    assert status == 422 and "1 of 3 tracked resources (33%)" in body["error"]["message"]


def test_LightDeployer22_a_policy_without_prune_keeps_orphans(deployer, cluster):
    deployer.only(**{"a.yaml": CONFIG.format("a"), "b.yaml": CONFIG.format("b")})
    deployer.deploy()
    deployer.policy(prune={"enabled": False})
    deployer.only(**{"a.yaml": CONFIG.format("a")})
    done = deployer.deploy()
    assert cluster.names("configmaps") == ["a", "b"]
    assert actions(deployer.run("cluster", "show", done["requestId"])) == {
        "ConfigMap/a": "unchanged", "ConfigMap/b": "orphaned"}
    # It is still the instance's, and goes with it.
    deployer.look("undeploy")
    assert cluster.names("configmaps") == []


def test_LightDeployer23_undeploy_needs_no_template_and_asks_for_sensitive_kinds(served, deployer, cluster):
    deployer.policy(allowedKinds=["ConfigMap", "PersistentVolumeClaim"])
    deployer.only(**{"a.yaml": CONFIG.format("a"),
                     "p.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p}\nspec: {accessModes: "
                               "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"})
    asked(served, requestId="r1", options={"waitForRollout": False})
    assert served.ended("r1")["status"] == "deployed"
    deployer.only()
    plain = {name: value for name, value in served.request(action="undeploy").items() if name not in ("values", "template")}
    status, body = served.ask("POST", "/deployments", {**plain, "requestId": "r2"})
    assert (status, body["action"]) == (422, "undeploy") and "PersistentVolumeClaim" in body["error"]["message"]
    assert cluster.names("configmaps") == ["a"]
    served.ask("POST", "/deployments", {**plain, "requestId": "r3", "options": {"pruneOverride": True}})
    assert served.ended("r3")["status"] == "deleted"
    assert cluster.names("configmaps") == cluster.names("persistentvolumeclaims") == []
    # Nothing is said to be deleted before it is.
    told = [event["status"] for _, event in sse(served.ask("GET", "/events?request_id=r3")[1])]
    assert told == ["applying"] * 3 + ["deleted"]


def test_LightDeployer24_a_dry_run_changes_nothing(served, cluster):
    status, body = asked(served, options={"dryRun": True})
    assert status == 200 and body["status"] == "validated" and "snapshotId" not in body
    assert cluster.names("deployments") == cluster.names("configmaps") == [] and changes(cluster) == []
    assert [each for each in cluster.log() if "dryRun=All" in each]
    assert set(actions(asked(served, action="dryRun")[1]).values()) == {"added"}


def never_ready(deployer):
    deployer.write(**{"deployment.yaml": (deployer.templates / "deployment.yaml").read_text().replace(
        "  name: ${name}\nspec", "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})


def test_LightDeployer25_one_request_at_a_time(served, deployer, cluster):
    never_ready(deployer)
    status, body = asked(served, requestId="r1")
    assert status == 202
    again, same = asked(served, requestId="r1")
    assert again == 202 and same["requestId"] == "r1" and same["manifestHash"] == body["manifestHash"]
    status, body = asked(served, requestId="r2")
    assert (status, body["error"]["code"]) == (409, "busy") and "r1" in body["error"]["message"]
    status, body = asked(served, requestId="r1", namespace="other")
    assert (status, body["error"]["code"]) == (409, "conflict")
    status, body = served.ask("POST", "/deployments/r1/cancel")
    assert status == 202
    ended = served.ended("r1")
    assert ended["status"] == "cancelled" and states(ended)["ConfigMap/petstore-config"] == "ready"
    assert asked(served, requestId="r1")[1]["status"] == "cancelled"
    assert served.ask("POST", "/deployments/r1/cancel")[0] == 409
    served.ended(asked(served, requestId="r3", options={"waitForRollout": False})[1]["requestId"])


def test_LightDeployer26_status_is_live(served, deployer, cluster):
    never_ready(deployer)
    asked(served, requestId="r1", options={"timeoutSeconds": 1})
    ended = served.ended("r1")
    assert ended["error"]["code"] == "notReady" and "0 of 1 replicas are available" in ended["error"]["message"]
    status, body = asked(served, action="status")
    assert status == 200 and body["ready"] is False
    assert states(body) == {"ConfigMap/petstore-config": "ready", "Service/petstore": "ready",
                            "Deployment/petstore": "applied"}
    cluster.ask("DELETE", "/api/v1/namespaces/shop/services/petstore")
    assert states(asked(served, action="status")[1])["Service/petstore"] == "gone"
    status, body = asked(served, action="status", instanceId="none")
    assert (status, body["action"], body["error"]["code"]) == (404, "status", "notFound")


def test_LightDeployer27_the_wire_of_mcp(served):
    def code(message):
        return served.ask("POST", "/mcp", message)[1]["error"]["code"]

    assert code({"jsonrpc": "1.0", "id": 1, "method": "ping"}) == -32600
    assert code({"jsonrpc": "2.0", "id": 1, "method": "foo"}) == -32601
    assert code({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}) == -32601
    for params in ({"name": "deployment.scale"}, {}, {"name": "deployment.render", "arguments": {"hostId": "h"}},
                   {"name": "deployment.render", "arguments": 1}):
        assert code({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) == -32602
    assert code("{\"jsonrpc\": ") == -32700
    status, body = served.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (status, body) == (202, "")


def test_LightDeployer28_no_path_leads_out_of_the_templates(deployer):
    words = ["cluster", "render", "local", "petstore", "-n", "shop", "--values", str(deployer.folder / "values.yaml")]
    outside = deployer.folder.parent / f"{deployer.folder.name}-outside"
    outside.mkdir()
    (outside / "a.yaml").write_text(CONFIG.format("outside"))
    (deployer.folder / "inside").symlink_to(outside)
    (deployer.templates / "link.yaml").symlink_to(outside / "a.yaml")
    for path in (str(outside), f"../{outside.name}", f"k8s/../../{outside.name}"):
        assert "leads out" in deployer.run(*words, "--path", path, code=4)["detail"]
    for path in ("inside", "none"):
        refused = deployer.run(*words, "--path", path, code=7)["detail"]
        assert f"there is no template '{path}'" in refused and str(deployer.folder) not in refused
    assert len(deployer.run(*words, "--path", "k8s")["resources"]) == 3


def test_LightDeployer31_a_failed_deployment_says_how_far_it_came_and_goes_on(served, cluster):
    cluster.fail(method="PATCH", path="/deployments/", status=422, after=0, count=1)
    asked(served, requestId="r1")
    ended = served.ended("r1")
    assert ended["status"] == "failed" and ended["error"]["code"] == "kubernetesFailed"
    assert "Deployment/petstore" in ended["error"]["message"]
    assert states(ended) == {"ConfigMap/petstore-config": "ready", "Service/petstore": "ready", "Deployment/petstore": "failed"}
    assert asked(served, requestId="r1")[1]["status"] == "failed"
    asked(served, requestId="r2")
    ended = served.ended("r2")
    assert ended["status"] == "deployed" and actions(ended) == {
        "ConfigMap/petstore-config": "unchanged", "Service/petstore": "unchanged", "Deployment/petstore": "added"}


def test_LightDeployer32_events_resume_and_end(served):
    asked(served, requestId="r1")
    events = sse(served.ask("GET", "/events?request_id=r1")[1])
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert events[0][1]["message"] == "deployment request accepted"
    assert events[-1][1]["status"] == "deployed" and events[-1][1]["message"] == "processed 3 resources"
    assert {each["message"] for _, each in events} >= {"Added ConfigMap/petstore-config", "Added Deployment/petstore"}
    for last in range(len(events) + 1):
        resumed = served.ask("GET", "/events?requestId=r1", headers={"Last-Event-ID": str(last)})[1]
        assert sse(resumed) == events[last:]
    assert served.ask("GET", "/events?request_id=none")[0] == 404
    assert served.ask("GET", "/events?request_id=r1", headers={"Last-Event-ID": "x"})[0] == 400


# ---- what was found besides

def test_two_tenants_with_one_instance_id_leave_each_other_alone(deployer, cluster):
    deployer.policy(hostId="", callers=[{"caller": "*", "hostIds": ["h1", "h2"]}])
    deployer.only(**{"a.yaml": CONFIG.format('"${who}"')})
    for host in ("h1", "h2"):
        deployer.values(who=f"of-{host}")
        deployer.deploy("--host", host)
    assert cluster.names("configmaps") == ["of-h1", "of-h2"]
    assert "it belongs to the instance petstore of the host h2" in deployer.deploy("--host", "h1", code=6)["detail"]
    deployer.look("undeploy", "--host", "h1")
    assert cluster.names("configmaps") == ["of-h2"]


def test_a_policy_that_is_not_there_allows_nothing(deployer):
    (deployer.folder / "deployer.yml").unlink()
    assert "there is no policy" in deployer.cluster_run("render", code=4)["detail"]
    done = subprocess.run([deployer.sluice, "deployer", "--listen", "127.0.0.1:1"], env=deployer.env, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 5 and "there is no policy" in done.stderr


def test_ready_says_when_the_cluster_is_away(served, cluster):
    assert served.ask("GET", "/ready", token=None) == (200, "ok")
    cluster.stop()
    status, text = served.ask("GET", "/ready", token=None)
    assert status == 503 and "the cluster does not answer" in text
    status, body = asked(served, requestId="r1")
    assert (status, body["error"]["code"]) == (502, "kubernetesFailed")
