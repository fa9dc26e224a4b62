"""The manifests that put a deployer into a cluster: they are taken, the program starts as they say, and its role is just what it
needs."""

import json
import os
import socket
import ssl
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
import yaml
from served import Served

MANIFESTS = Path(__file__).parents[2] / "packaging" / "k8s"
ACCOUNT = "system:serviceaccount:sluice:sluice-deployer"


def objects():
    return {(each["kind"], each["metadata"]["name"]): each for name in ("namespace", "rbac", "deployment", "service")
            for each in yaml.safe_load_all((MANIFESTS / f"{name}.yaml").read_text())}


def allowed_by(rules):
    return {f"{group}/{resource}:{verb}" for each in rules for group in each["apiGroups"] for resource in each["resources"]
            for verb in each["verbs"]}


@pytest.fixture
def installed(deployer, cluster):
    """The deployer of the manifests, as its own service account."""
    for (kind, name), each in objects().items():
        version, space = each["apiVersion"], each["metadata"].get("namespace")
        path = f"/{'apis' if '/' in version else 'api'}/{version}/" + (f"namespaces/{space}/" if space else "")
        assert cluster.apply(f"{path}{kind.lower()}s/{name}", each, "installer")[0] == 201, each
    status, made = cluster.ask("POST", "/api/v1/namespaces/sluice/serviceaccounts/sluice-deployer/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    assert status == 201
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"] = [{"name": "admin", "user": {"token": made["status"]["token"]}}]
    (deployer.folder / "bound").write_text(json.dumps(config))
    deployer.env["KUBECONFIG"] = str(deployer.folder / "bound")
    return deployer


def test_the_program_starts_as_the_manifest_says(installed, sluice, tmp_path):
    all_objects = objects()
    pod = all_objects["Deployment", "sluice-deployer"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "deployer.yml").write_text(all_objects["ConfigMap", "sluice-deployer"]["data"]["deployer.yml"])
    (tmp_path / "var").mkdir()
    places = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    assert places == {"/etc/sluice": "policy", "/var/lib/sluice": "home", "/tmp": "tmp"}
    env = {each["name"]: each["value"].replace("/var/lib/sluice", str(tmp_path / "var")).replace("/etc/sluice", str(tmp_path / "etc"))
           for each in container["env"]}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [str(port).join(each.split("7088")) for each in container["args"]]
    process = subprocess.Popen([sluice, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={"PATH": os.environ["PATH"], "KUBECONFIG": installed.env["KUBECONFIG"], **env})
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        end = time.monotonic() + 60
        for probe in ("livenessProbe", "readinessProbe"):
            what = container[probe]["httpGet"]
            assert (what["port"], what["scheme"]) == ("https", "HTTPS")
            while True:
                assert process.poll() is None and time.monotonic() < end, process.stderr.read()
                try:
                    with urllib.request.urlopen(f"https://127.0.0.1:{port}{what['path']}", context=trusting, timeout=20) as answer:
                        assert answer.read() == b"ok"
                        break
                except OSError:
                    time.sleep(0.05)
    finally:
        process.terminate()
        process.wait(60)


def test_the_calls_that_a_deployer_makes_are_those_that_its_role_allows(installed, cluster, sluice):
    deployer = installed
    deployer.policy(allowedNamespaces=["sluice"])
    extra = {"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: \"quite a secret\"}\n",
             "ingress.yaml": "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {defaultBackend: "
                             "{service: {name: \"${name}\", port: {number: 80}}}}\n"}
    deployer.write(**extra)
    served = Served(deployer)
    number = iter(range(100))

    def done(action, wanted, **more):
        request = f"r{next(number)}"
        status, body = served.ask("POST", "/deployments", served.request(action=action, namespace="sluice", requestId=request, **more))
        if action in ("deploy", "undeploy", "rollback"):
            body = served.ended(request)
        assert body["status"] == wanted, body
        return request

    try:
        for action, wanted in (("render", "rendered"), ("dryRun", "validated"), ("diff", "validated")):
            done(action, wanted)
        first = done("deploy", "deployed")
        text = (deployer.templates / "deployment.yaml").read_text()
        deployer.write(**{"deployment.yaml": text.replace("${replicas:1}", "2").replace(
            "  name: ${name}\nspec", "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})
        done("deploy", "failed", options={"timeoutSeconds": 1})
        done("status", "validated")
        (deployer.templates / "ingress.yaml").unlink()
        (deployer.templates / "secret.yaml").unlink()
        done("diff", "validated")
        done("deploy", "deployed", options={"waitForRollout": False, "pruneOverride": True})
        done("rollback", "rolledBack", rollbackSnapshotId=first, options={"waitForRollout": False})
        # Many of a kind are listed.
        deployer.write(**{"many.yaml": "".join(f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{i}}}\n" for i in range(20))})
        deployer.write(**extra)
        done("deploy", "deployed", options={"waitForRollout": False})
        done("undeploy", "deleted")
    finally:
        served.stop()
    made = set(cluster.ask("GET", "/test/calls")[1][ACCOUNT])
    role = objects()["Role", "sluice-deployer"]
    allowed = allowed_by(role["rules"])
    assert made <= allowed
    # Nothing is allowed that neither this nor a bundle that runs as pods needs.
    deployer.run("env-packs", "update", "local", "sluice.deployer.k8s@1.0.0")
    asked = subprocess.run([sluice, "credentials", "requirements", "local", "-o", "json"], env=deployer.env, capture_output=True,
                           text=True, timeout=60)
    pods = {each["capability"].removeprefix("k8s.rbac.allow:").replace("core/", "/") for each in json.loads(asked.stdout)["checks"]
            if each["capability"].startswith("k8s.rbac.allow:")}
    assert len(pods) > 20 and allowed == made | pods
