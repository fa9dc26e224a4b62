"""sluice cluster against an API server: what a deployment does in the cluster, refuses, keeps and brings back."""

import base64

import pytest

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}}}\ndata: {{a: \"1\"}}\n"


def actions(answer):
    return {f"{each['kind']}/{each['name']}": each["action"] for each in answer["resources"]}


def test_a_folder_of_templates_becomes_objects_and_goes_again(deployer, cluster):
    done = deployer.deploy()
    assert done["status"] == "deployed" and done["snapshotId"] == done["requestId"]
    live = cluster.get("deployments", "petstore")
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/acme/petstore:1.27"
    assert live["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "light-deployer", "lightapi.net/host-id": "local",
        "lightapi.net/instance-id": "petstore", "lightapi.net/request-id": done["requestId"]}
    status = deployer.look("status")
    assert status["ready"] and {each["state"] for each in status["resources"]} == {"ready"}
    assert status["snapshotId"] == done["requestId"]
    assert deployer.look("undeploy")["status"] == "deleted"
    assert cluster.names("configmaps") == cluster.names("services") == cluster.names("deployments") == []
    assert deployer.look("status", code=5)["detail"].startswith("there is no instance petstore")


def test_LightDeployer01_render_is_in_order_and_its_hash_is_stable(deployer, make_deployer):
    first = deployer.cluster_run("render")
    assert [f"{each['kind']}/{each['name']}" for each in first["resources"]] == [
        "ConfigMap/petstore-config", "Deployment/petstore", "Service/petstore"]
    assert first["manifestHash"] == deployer.cluster_run("render")["manifestHash"]
    deployer.values(name="petstore", image={"repository": "registry.example/acme/petstore", "tag": "2"})
    assert first["manifestHash"] != deployer.cluster_run("render")["manifestHash"]


def test_LightDeployer02_all_missing_values_are_named_with_their_places(deployer):
    deployer.values(image={"tag": "1"})
    refused = deployer.cluster_run("render", code=7)
    for place in ("configmap.yaml:4:9", "deployment.yaml:4:9", "service.yaml:4:9", "`name`", "`image.repository`"):
        assert place in refused["detail"]


def test_LightDeployer03_to_11_what_placeholders_become(deployer, cluster):
    deployer.only(**{"a.yaml": """apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {version: "${tag}"}
data:
  level: ${log.level:info}
  empty: "${x:}"
  rest: ${a:b:c}
  tag: ${tag}
---
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  automountServiceAccountToken: ${ro|bool:true}
  terminationGracePeriodSeconds: ${grace|int:7}
  containers:
    - {name: main, image: "registry.example/acme/a:${tag}"}
"""})
    deployer.policy(allowedKinds=["ConfigMap", "Pod"])
    deployer.values(tag="1.10")
    deployer.deploy("--no-wait")
    made = cluster.get("configmaps", "a")
    assert made["data"] == {"level": "info", "empty": "", "rest": "b:c", "tag": "1.10"}
    assert made["metadata"]["labels"]["version"] == "1.10"
    spec = cluster.get("pods", "p")["spec"]
    assert spec["automountServiceAccountToken"] is True and spec["terminationGracePeriodSeconds"] == 7
    assert spec["containers"][0]["image"] == "registry.example/acme/a:1.10"

    deployer.only(**{"a.yaml": CONFIG.format("${tag") })
    assert "a.yaml:3:" in deployer.cluster_run("render", code=7)["detail"]
    deployer.only(**{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: ${tag}\n"})
    deployer.values(tag={"not": "a text"})
    assert "`tag`" in deployer.cluster_run("render", code=7)["detail"]
    deployer.values(tag=None)
    assert "missing value for placeholder `tag`" in deployer.cluster_run("render", code=7)["detail"]
    deployer.only(**{"a.yaml": "apiVersion: v1\nmetadata: {name: a}\n"})
    assert "missing required field `kind`" in deployer.cluster_run("render", code=7)["detail"]


@pytest.mark.parametrize("template, why", [
    ("apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n", "resource kind is blocked: Namespace"),
    ("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\n", "resource kind is not allowed: apps/StatefulSet"),
    ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n",
     "namespace is not allowed: kube-system"),
    ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: "
     "[{name: main, image: other.example/x}]}}}\n", "main"),
    ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {hostNetwork: true, containers: "
     "[{name: main, image: registry.example/acme/x}]}}}\n", "hostNetwork"),
], ids=["LightDeployer12-blocked", "LightDeployer12-kind", "LightDeployer15", "LightDeployer17", "host-network"])
def test_the_policy_is_checked_on_what_was_rendered(deployer, cluster, template, why):
    deployer.only(**{"a.yaml": template})
    before = len([each for each in cluster.log() if each.startswith(("PATCH", "POST", "PUT"))])
    for verb in ("render", "deploy"):
        assert why in deployer.cluster_run(verb, code=4)["detail"]
    assert len([each for each in cluster.log() if each.startswith(("PATCH", "POST", "PUT"))]) == before


def test_LightDeployer13_a_kind_that_the_policy_adds_is_found_by_discovery(deployer, cluster):
    deployer.policy(allowedKinds=["StatefulSet"])
    deployer.only(**{"a.yaml": "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {serviceName: s, replicas: 0, "
                               "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "
                               "[{name: main, image: registry.example/acme/x}]}}}\n"})
    deployer.deploy("--no-wait")
    assert cluster.names("statefulsets") == ["s"]


def test_LightDeployer14_18_other_namespaces_clusters_and_hosts_are_refused(deployer):
    assert "namespace is not allowed: other" in deployer.deploy(space="other", code=4)["detail"]
    refused = deployer.deploy("--cluster-id", "prod", code=6)
    assert "serves the cluster local, not prod" in refused["detail"]
    assert "host is not allowed: h2" in deployer.deploy("--host", "h2", code=4)["detail"]


def test_LightDeployer19_secrets_are_never_shown(deployer, cluster):
    deployer.only(**{"s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {key: \"${key}\"}\n"})
    deployer.values(key="not base64!")
    assert "secret data key `key`" in deployer.cluster_run("diff", code=7)["detail"]
    coded = base64.b64encode(b"the very first secret").decode()
    deployer.values(key=coded[:8] + "\n" + coded[8:])
    shown = deployer.cluster_run("diff")
    assert "<REDACTED>" in shown["unifiedDiff"] and coded not in str(shown) and "the very first" not in str(shown)
    deployer.deploy()
    assert cluster.get("secrets", "s")["data"] == {"key": coded}


def test_LightDeployer20_what_is_the_same_is_unchanged_and_not_touched(deployer, cluster):
    deployer.deploy()
    before = cluster.ask("GET", "/test/version")[1]["version"]
    shown = deployer.cluster_run("diff")
    assert shown["unifiedDiff"] == "" and set(actions(shown).values()) == {"unchanged"} and shown["unchanged"] == 3
    deployer.deploy()
    inventory = [each for each in cluster.ask("GET", "/api/v1/namespaces/shop/configmaps")[1]["items"]
                 if "inventory" in each["metadata"]["name"]]
    live = cluster.get("deployments", "petstore")
    assert int(live["metadata"]["resourceVersion"]) <= before < int(inventory[0]["metadata"]["resourceVersion"])
    deployer.values(name="petstore", replicas=2, image={"repository": "registry.example/acme/petstore", "tag": "1.27"})
    shown = deployer.cluster_run("diff")
    assert actions(shown) == {"ConfigMap/petstore-config": "unchanged", "Deployment/petstore": "modified",
                              "Service/petstore": "unchanged"}
    assert "-  replicas: 1\n+  replicas: 2\n" in shown["unifiedDiff"]


def test_LightDeployer21_a_prune_beyond_the_ceiling_needs_an_override(deployer, cluster):
    deployer.only(**{f"{i}.yaml": CONFIG.format(f"c{i}") for i in range(10)})
    deployer.deploy()
    deployer.only(**{f"{i}.yaml": CONFIG.format(f"c{i}") for i in range(7)})
    deployer.deploy()
    assert cluster.names("configmaps") == [f"c{i}" for i in range(7)]
    deployer.only(**{f"{i}.yaml": CONFIG.format(f"c{i}") for i in range(4)})
    refused = deployer.deploy(code=7)
    assert "prune would delete 3 of 7 tracked resources (42%)" in refused["detail"]
    shown = deployer.cluster_run("diff")
    assert shown["pruned"] == 3 and "42%" in shown["overrideNeeded"]
    assert len(cluster.names("configmaps")) == 7
    deployer.deploy("--prune-override")
    assert cluster.names("configmaps") == [f"c{i}" for i in range(4)]


def test_LightDeployer22_a_policy_without_prune_keeps_orphans(deployer, cluster):
    deployer.only(**{"a.yaml": CONFIG.format("a"), "b.yaml": CONFIG.format("b")})
    deployer.deploy()
    deployer.policy(prune={"enabled": False})
    deployer.only(**{"a.yaml": CONFIG.format("a")})
    done = deployer.deploy()
    assert cluster.names("configmaps") == ["a", "b"]
    shown = deployer.run("cluster", "show", done["requestId"])
    assert actions(shown) == {"ConfigMap/a": "unchanged", "ConfigMap/b": "orphaned"}


def test_LightDeployer23_undeploy_needs_no_template_and_asks_for_sensitive_kinds(deployer, cluster):
    deployer.policy(allowedKinds=["ConfigMap", "PersistentVolumeClaim"])
    deployer.only(**{"a.yaml": CONFIG.format("a"),
                     "p.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p}\nspec: {accessModes: "
                               "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"})
    deployer.deploy("--no-wait")
    assert "PersistentVolumeClaim" in deployer.look("undeploy", code=7)["detail"]
    assert cluster.names("configmaps") == ["a"]
    deployer.look("undeploy", "--prune-override")
    assert cluster.names("configmaps") == cluster.names("persistentvolumeclaims") == []


def test_LightDeployer24_a_dry_run_changes_nothing(deployer, cluster):
    done = deployer.deploy("--server-dry-run")
    assert done["status"] == "validated" and "snapshotId" not in done
    assert cluster.names("deployments") == cluster.names("configmaps") == []
    assert not [each for each in cluster.log() if each.startswith("PATCH") and "dryRun=All" not in each]
    assert set(actions(deployer.cluster_run("dry-run")).values()) == {"added"}


def test_LightDeployer25_one_request_at_a_time(deployer, make_deployer, cluster):
    deployer.deploy()
    deployer.deploy("--request", "r1")
    assert "r1 was used before" in deployer.deploy("--request", "r1", code=1)["detail"]
    # Another deployer's lock.
    path = next(each for each in cluster.ask("GET", "/api/v1/namespaces/shop/configmaps")[1]["items"]
                if "inventory" in each["metadata"]["name"])
    path |= {"apiVersion": "v1", "kind": "ConfigMap"}
    path["data"]["lock"] = '{"request":"other","deployer":"theirs","until":"2099-01-01T00:00:00Z"}'
    assert cluster.ask("PUT", f"/api/v1/namespaces/shop/configmaps/{path['metadata']['name']}", path)[0] == 200
    refused = make_deployer("second").deploy(code=6)
    assert "the request other of theirs is at work on petstore" in refused["detail"]


def test_LightDeployer26_status_says_what_is_not_ready(deployer, cluster):
    deployer.write(**{"deployment.yaml": (deployer.templates / "deployment.yaml").read_text().replace(
        "  name: ${name}\nspec", "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})
    refused = deployer.deploy("--timeout", "1s", code=1)
    assert "Deployment/petstore" in refused["detail"] and "0 of 1 replicas are available" in refused["detail"]
    status = deployer.look("status")
    assert not status["ready"]
    states = {f"{each['kind']}/{each['name']}": each["state"] for each in status["resources"]}
    assert states == {"ConfigMap/petstore-config": "ready", "Service/petstore": "ready", "Deployment/petstore": "applied"}


def test_LightDeployer28_no_path_leads_out_of_the_templates(deployer):
    words = ["cluster", "render", "local", "petstore", "-n", "shop"]
    (deployer.folder / "out").mkdir()
    (deployer.folder / "inside").symlink_to("/etc")
    for path in ("/etc", "a/../../b", "inside"):
        assert deployer.run(*words, "--path", path, code=4 if path != "inside" else 7)["detail"]
    assert len(deployer.run(*words, "--path", "k8s", "--values", str(deployer.folder / "values.yaml"))["resources"]) == 3


def test_LightDeployer31_a_failed_deployment_says_how_far_it_came_and_goes_on(deployer, cluster):
    cluster.fail(method="PATCH", path="/deployments/", status=422, after=0, count=1)
    refused = deployer.deploy("--request", "r1", code=1)
    assert "Deployment/petstore" in refused["detail"]
    shown = deployer.run("cluster", "show", "r1")
    assert shown["status"] == "failed" and shown["why"] == "kubernetesFailed"
    states = {f"{each['kind']}/{each['name']}": each["state"] for each in shown["resources"]}
    assert states == {"ConfigMap/petstore-config": "ready", "Service/petstore": "ready", "Deployment/petstore": "failed"}
    again = deployer.deploy("--request", "r2")
    assert actions(deployer.run("cluster", "show", again["requestId"])) == {
        "ConfigMap/petstore-config": "unchanged", "Service/petstore": "unchanged", "Deployment/petstore": "added"}


def test_another_managers_field_stays_and_is_named(deployer, cluster):
    deployer.deploy()
    path = "/apis/apps/v1/namespaces/shop/deployments/petstore"
    assert cluster.apply(path, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "petstore"},
                                "spec": {"replicas": 5}}, "scaler", force=True)[0] == 200
    shown = deployer.cluster_run("diff")
    assert [(each["field"], each["manager"]) for each in shown["drift"]] == [(".spec.replicas", "scaler")]
    refused = deployer.deploy(code=6)
    assert "scaler" in refused["detail"] and ".spec.replicas" in refused["detail"]
    assert cluster.get("deployments", "petstore")["spec"]["replicas"] == 5
    assert "not allowed" in deployer.deploy("--force", code=4)["detail"]
    deployer.policy(allowForce=True)
    deployer.deploy("--force")
    assert cluster.get("deployments", "petstore")["spec"]["replicas"] == 1


def test_rollback_restores_what_was_applied_without_the_templates(deployer, cluster):
    deployer.deploy("--request", "r1")
    deployer.values(name="petstore", log={"level": "debug"},
                    image={"repository": "registry.example/acme/petstore", "tag": "2"})
    deployer.deploy("--request", "r2")
    assert cluster.get("configmaps", "petstore-config")["data"] == {"level": "debug"}
    deployer.only()
    done = deployer.look("rollback")
    assert done["status"] == "rolledBack" and done["snapshotId"] == "r1"
    assert cluster.get("configmaps", "petstore-config")["data"] == {"level": "info"}
    assert "there is nothing before" in deployer.look("rollback", code=5)["detail"]
    assert deployer.look("rollback", "--to", "r2")["snapshotId"] == "r2"
    assert cluster.get("configmaps", "petstore-config")["data"] == {"level": "debug"}
    assert "there is no snapshot r9" in deployer.look("rollback", "--to", "r9", code=5)["detail"]


def test_what_light_deployer_has_installed_is_taken_over(deployer, cluster):
    labels = {"app.kubernetes.io/managed-by": "light-deployer", "lightapi.net/host-id": "local",
              "lightapi.net/instance-id": "petstore", "lightapi.net/request-id": "old"}
    for name, host in (("mine", "local"), ("theirs", "other")):
        cluster.apply(f"/api/v1/namespaces/shop/configmaps/{name}", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {
                **labels, "lightapi.net/host-id": host}}, "data": {"a": "1"}}, "light-deployer")
    deployer.deploy("--prune-override")
    assert cluster.names("configmaps") == ["petstore-config", "theirs"]


def test_waves_come_one_after_the_other(deployer, cluster):
    deployer.only(**{"z.yaml": CONFIG.format("first").replace("{name: first}", "{name: first, annotations: "
                                                              "{sluice.dev/wave: \"0\"}}"),
                     "a.yaml": CONFIG.format("last").replace("{name: last}", "{name: last, annotations: "
                                                             "{sluice.dev/wave: \"9\"}}"),
                     "m.yaml": CONFIG.format("middle")})
    deployer.deploy()
    order = [each.split("/configmaps/")[1].split("?")[0] for each in cluster.log()
             if each.startswith("PATCH") and "dryRun" not in each]
    assert order == ["first", "middle", "last"]


def test_noop_says_so(noop_deployer):
    done = noop_deployer.deploy()
    assert done["status"] == "deployed"
    assert noop_deployer.run("cluster", "show", done["requestId"])["noop"] is True
    assert noop_deployer.cluster_run("render")["noop"] is True


def test_a_policy_is_tested_before_it_is_used(deployer):
    assert deployer.run("cluster", "policy", "test")["denied"] == []
    words = ["cluster", "policy", "test", str(deployer.templates), "--values", str(deployer.folder / "values.yaml"), "-n"]
    assert deployer.run(*words, "shop")["objects"] == 3
    denied = subprocess_json(deployer, *words, "other")
    assert {each["why"] for each in denied["denied"]} == {"namespace is not allowed: other"}
    deployer.policy(allowedNamespace=["shop"])
    assert "allowedNamespace" in deployer.run("cluster", "policy", "test", code=1)["detail"]


def subprocess_json(deployer, *words):
    import json
    import subprocess
    done = subprocess.run([deployer.sluice, *words, "-o", "json"], env=deployer.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)
