"""sluice cluster against an API server: what a deployment does in the cluster, refuses, keeps and brings back."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading
import urllib.parse

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}}}\ndata: {{a: \"1\"}}\n"


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


def test_after_a_failed_deployment_the_last_good_one_is_gone_back_to(deployer, cluster):
    deployer.deploy("--request", "r1")
    deployer.values(name="petstore", log={"level": "debug"}, image={"repository": "registry.example/acme/petstore", "tag": "2"})
    deployer.deploy("--request", "r2")
    deployer.values(name="petstore", log={"level": "trace"}, image={"repository": "registry.example/acme/petstore", "tag": "3"})
    text = (deployer.templates / "deployment.yaml").read_text()
    deployer.write(**{"more.yaml": CONFIG.format("more"), "deployment.yaml": text.replace(
        "  name: ${name}\nspec", "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})
    assert "Deployment/petstore" in deployer.deploy("--request", "r3", "--timeout", "1s", code=1)["detail"]
    assert cluster.get("configmaps", "petstore-config")["data"] == {"level": "trace"}
    done = deployer.look("rollback", "--prune-override")
    assert (done["status"], done["snapshotId"]) == ("rolledBack", "r2")
    assert cluster.get("configmaps", "petstore-config")["data"] == {"level": "debug"}
    assert cluster.names("configmaps") == ["petstore-config"]
    assert deployer.look("rollback")["snapshotId"] == "r1"


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
    done = subprocess.run([deployer.sluice, *words, "-o", "json"], env=deployer.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def test_a_plugin_logs_in_and_may_warn(deployer, cluster):
    login = deployer.folder / "login.sh"
    login.write_text("#!/bin/sh\necho '{a warning}' >&2\ncase $KUBERNETES_EXEC_INFO in *127.0.0.1*) ;; *) exit 3 ;; esac\n"
                     "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"
                     "{\"token\":\"%s\"}}' \"$PROFILE\"\n")
    login.chmod(0o755)
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"] = [{"name": "admin", "user": {"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "./login.sh", "provideClusterInfo": True}}}]
    (deployer.folder / "plugged").write_text(json.dumps(config))
    deployer.env |= {"KUBECONFIG": str(deployer.folder / "plugged"), "PROFILE": "admin-token"}
    assert deployer.deploy()["status"] == "deployed"


class Gate:
    """Lets only those who show this certificate through to the API server."""

    def __init__(self, folder, cluster):
        self.to, self.shown = urllib.parse.urlsplit(cluster.url), 0
        for name in ("server", "client"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / f"{name}.key"),
                            "-out", str(folder / f"{name}.pem")], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        context.load_verify_locations(folder / "client.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        self.listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except ssl.SSLError:
                continue
            except OSError:
                return
            self.shown += 1
            server = socket.create_connection((self.to.hostname, self.to.port))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    @staticmethod
    def pass_on(one, other):
        with contextlib.suppress(OSError):
            while piece := one.recv(65536):
                other.sendall(piece)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


def test_a_plugin_may_have_a_certificate(deployer, cluster):
    gate = Gate(deployer.folder, cluster)
    said = {"clientCertificateData": (deployer.folder / "client.pem").read_text(),
            "clientKeyData": (deployer.folder / "client.key").read_text(), "token": "admin-token"}
    config = json.loads(cluster.kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": gate.url, "certificate-authority": str(deployer.folder / "server.pem")}
    config["users"] = [{"name": "admin", "user": {"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "cat", "args": [str(deployer.folder / "said")]}}}]
    (deployer.folder / "plugged").write_text(json.dumps(config))
    deployer.env["KUBECONFIG"] = str(deployer.folder / "plugged")
    (deployer.folder / "said").write_text(json.dumps({"kind": "ExecCredential", "status": said}))
    assert deployer.deploy()["status"] == "deployed" and gate.shown > 0
    (deployer.folder / "said").write_text(json.dumps({"kind": "ExecCredential", "status": {"token": "admin-token"}}))
    before = gate.shown
    assert gate.url.removeprefix("https://") in deployer.look("status", code=1)["detail"] and gate.shown == before
    gate.listener.close()


def test_a_kind_and_its_objects_come_together_and_go_again(deployer, cluster):
    deployer.policy(allowedKinds=["*"], blockedKinds=["Namespace"])
    deployer.only(**{
        "a-widget.yaml": "apiVersion: acme.example/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  size: ${size|int:3}\n",
        "z-kind.yaml": """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""})
    assert {each["action"] for each in deployer.cluster_run("dry-run")["resources"]} == {"added"}
    deployer.deploy()
    path = "/apis/acme.example/v1/namespaces/shop/widgets/w"
    assert cluster.ask("GET", path)[1]["spec"] == {"size": 3}
    deployer.values(size=4)
    deployer.deploy()
    assert cluster.ask("GET", path)[1]["spec"] == {"size": 4}
    deployer.look("undeploy")
    assert cluster.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.acme.example")[0] == 404
    gone = [each.split(" ")[1].split("/")[-1].split("?")[0] for each in cluster.log() if each.startswith("DELETE")]
    assert gone.index("w") < gone.index("widgets.acme.example")


def test_a_kind_without_namespaces_is_known_by_discovery(deployer, cluster):
    assert cluster.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gizmos.acme.example"},
        "spec": {"group": "acme.example", "scope": "Cluster", "names": {"plural": "gizmos", "singular": "gizmo", "kind": "Gizmo"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "properties": {"spec": {"type": "object", "properties": {
                         "size": {"type": "integer"}}}}}}}]}})[0] == 201
    deployer.policy(allowedKinds=["acme.example/Gizmo", "ConfigMap"])
    deployer.only(**{"a.yaml": CONFIG.format("a"), "g.yaml": "apiVersion: acme.example/v1\nkind: Gizmo\nmetadata: {name: g}\n"
                                                             "spec: {size: 3}\n"})
    deployer.deploy()
    path = "/apis/acme.example/v1/gizmos/g"
    made = cluster.ask("GET", path)[1]
    assert made["spec"] == {"size": 3} and "namespace" not in made["metadata"]
    assert deployer.look("status")["ready"]
    shown = deployer.cluster_run("diff")
    assert shown["unifiedDiff"] == "" and shown["unchanged"] == 2
    # A snapshot knows it, too.
    deployer.only(**{"a.yaml": CONFIG.format("a")})
    deployer.deploy("--prune-override")
    assert cluster.ask("GET", path)[0] == 404
    deployer.look("rollback")
    assert cluster.ask("GET", path)[0] == 200
    deployer.look("undeploy")
    assert cluster.ask("GET", path)[0] == 404


def test_a_namespace_comes_with_what_is_in_it(deployer, cluster):
    deployer.policy(allowedNamespaces=["fresh"], allowedKinds=["Namespace", "ConfigMap"], blockedKinds=[])
    deployer.only(**{"a.yaml": CONFIG.format("a"), "z.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n"})
    deployer.deploy(space="fresh")
    assert cluster.names("configmaps", "fresh") == ["a"]
    assert deployer.look("status", space="fresh")["ready"]
    # It goes last, and takes the inventory along.
    assert deployer.look("undeploy", space="fresh")["status"] == "deleted"
    assert cluster.ask("GET", "/api/v1/namespaces/fresh")[0] == 404


def test_the_last_ten_snapshots_stay(noop_deployer):
    for i in range(12):
        noop_deployer.values(name="petstore", log={"level": f"l{i}"},
                             image={"repository": "registry.example/acme/petstore", "tag": str(i)})
        noop_deployer.deploy("--request", f"r{i}")
    (instance,) = noop_deployer.run("cluster", "list")
    assert instance["snapshots"] == [f"r{i}" for i in range(2, 12)] and instance["snapshotId"] == "r11"
    assert "there is no snapshot r1 " in noop_deployer.look("rollback", "--to", "r1", code=5)["detail"]
    assert noop_deployer.look("rollback", "--to", "r2")["snapshotId"] == "r2"
    assert noop_deployer.look("rollback", "--to", "r11")["snapshotId"] == "r11"
    assert noop_deployer.look("rollback")["snapshotId"] == "r10"
