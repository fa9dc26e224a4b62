"""Releases of objects go into a cluster (tests/kube): applied, promoted, rolled back with what was pruned, and undeployed."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import yaml

KUBE = Path(__file__).parent.parent / "kube"

IMAGE = "registry.example/acme/shop@sha256:"
PIPELINE = """apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec: {promotionPaths: [{sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: production}]}]}
"""


@pytest.fixture
def made(home, root, tmp_path):
    sys.path[:0] = [str(KUBE)]
    spec = importlib.util.spec_from_file_location("kube_conftest", KUBE / "conftest.py")
    kube = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kube)
    cluster = kube.TestCluster(tmp_path / "cluster", "--settle")
    for space in ("local", "production"):
        cluster.space(space)
    (home.folder / "deployer.yml").write_text(yaml.safe_dump({
        "hostId": "pins", "allowedNamespaces": ["local", "production"], "allowedImageRegistries": ["registry.example/acme"],
        "prune": {"maxDeletePercent": 100, "sensitiveKinds": []}, "allowForce": True}))
    plain = home.environment
    home.environment = lambda: {**plain(), "KUBECONFIG": str(cluster.kubeconfig),
                                "LIGHT_DEPLOYER_CONFIG": str(home.folder / "deployer.yml"),
                                "LIGHT_DEPLOYER_TEMPLATE_BASE_DIR": str(home.folder)}
    home.run("env", "create", "production", "--extends", "local")
    checkout = root / "examples/checkout"
    service = (checkout / "checkout-service.yaml").read_text()
    # The claim of the addon is not the matter here.
    documents = [each for each in yaml.safe_load_all(service)]
    documents[0]["spec"].pop("addons")
    documents[1]["spec"]["image"] = IMAGE + "a" * 64
    documents[2]["spec"].pop("addonOverrides")
    (home.folder / "service.yaml").write_text(yaml.safe_dump_all(documents))
    (home.folder / "pipeline.yaml").write_text(PIPELINE)
    home.run("apply", "-f", "pipeline.yaml", "-f", checkout / "web-app.yaml", "-f", "service.yaml")
    home.documents = documents
    yield home, cluster
    cluster.stop()


def deployment(cluster, space):
    (name,) = cluster.names("deployments", space)
    spec = cluster.get("deployments", name, space)["spec"]
    return spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]


def test_a_release_goes_through_a_cluster_and_back(made):
    home, cluster = made
    home.run("releases", "create", "checkout-service", "--name", "one")
    home.run("pins", "set", "checkout-service", "local", "one")
    assert deployment(cluster, "local") == (1, IMAGE + "a" * 64)
    home.run("promote", "checkout-service", "--from", "local", "--to", "production")
    assert deployment(cluster, "production") == (5, IMAGE + "a" * 64), "with the settings of production"
    assert len(cluster.names("configmaps", "production")) == 1

    # The next release has no settings of its own any more: their ConfigMap is pruned.
    home.documents[0]["spec"]["parameters"] = {}
    home.documents[1]["spec"]["image"] = IMAGE + "b" * 64
    (home.folder / "service.yaml").write_text(yaml.safe_dump_all(home.documents))
    home.run("apply", "-f", "service.yaml")
    home.run("deploy", "checkout-service", "--environment", "local")
    two = home.pins()["checkout-service", "local"]["release"]
    assert deployment(cluster, "local") == (1, IMAGE + "b" * 64) and cluster.names("configmaps", "local") == []
    assert deployment(cluster, "production")[1] == IMAGE + "a" * 64
    home.run("promote", "--from", "local", "--to", "production")
    assert deployment(cluster, "production") == (5, IMAGE + "b" * 64)
    assert home.pins()["checkout-service", "production"]["release"] == two

    home.run("pins", "rollback", "checkout-service", "production")
    assert deployment(cluster, "production") == (5, IMAGE + "a" * 64)
    assert len(cluster.names("configmaps", "production")) == 1
    done = home.run("pins", "set", "checkout-service", "production", "one", "--undeploy")
    assert done.stdout == "undeployed  checkout-service in production\n"
    assert cluster.names("deployments", "production") == []


def test_outside_local_an_image_has_a_digest_and_a_cluster_may_say_no(made):
    home, cluster = made
    home.run("releases", "create", "checkout-service", "--name", "one", "--image", "registry.example/acme/shop:1")
    home.run("pins", "set", "checkout-service", "local", "one")
    assert "has no digest" in home.run("promote", "--from", "local", "--to", "production", code=7).stderr
    assert cluster.names("deployments", "production") == []
    # What the cluster refuses leaves the pin where it was.
    home.run("releases", "create", "checkout-service", "--name", "two", "--image", "other.example/shop@sha256:" + "c" * 64)
    assert "other.example" in home.run("pins", "set", "checkout-service", "local", "two", code=None).stderr
    pin = home.pins()["checkout-service", "local"]
    assert (pin["release"], pin["rejected"], pin["ready"]) == ("one", ["two"], True)
    assert deployment(cluster, "local") == (1, "registry.example/acme/shop:1")


TYPE = """apiVersion: openchoreo.dev/v1alpha1
kind: ComponentTypeDefinition
metadata: {name: with-schema}
spec:
  workloadType: deployment
  schema:
    parameters: {token: string, schema: integer}
    envOverrides: {color: string | default=red}
  resources:
    - template:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: "${metadata.name}", namespace: "${metadata.namespace}"}
        data: {color: "${parameters.color}"}
    - template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: "${metadata.name}", namespace: "${metadata.namespace}"}
        spec:
          replicas: 1
          selector: {matchLabels: "${metadata.podSelectors}"}
          template:
            metadata: {labels: "${metadata.podSelectors}"}
            spec:
              initContainers: [{name: migrate, image: "${build.image}", args: [migrate, --to, "${string(parameters.schema)}"]}]
              containers:
                - name: main
                  image: ${build.image}
                  env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: "${parameters.token}", key: value}}}]
                  envFrom: [{configMapRef: {name: "${metadata.name}"}}]
"""
COMPONENT = """apiVersion: openchoreo.dev/v1alpha1
kind: Component
metadata: {{name: guests}}
spec: {{componentType: deployment/with-schema, parameters: {{token: token-{0}, schema: {0}}}}}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Workload
metadata: {{name: guests}}
spec: {{image: "{1}"}}
---
apiVersion: openchoreo.dev/v1alpha1
kind: EnvSettings
metadata: {{name: guests-local}}
spec: {{owner: {{componentName: guests}}, environment: local, overrides: {{color: {2}}}}}
"""


def test_a_rollback_brings_back_image_setting_secret_and_schema(made):
    """What the pods are given; a container of theirs stands in for whoever migrates their database."""
    home, cluster = made

    def told():
        (name,) = cluster.names("deployments", "local")
        pod = cluster.get("deployments", name, "local")["spec"]["template"]["spec"]
        (settings,) = cluster.names("configmaps", "local")
        return (pod["containers"][0]["image"], cluster.get("configmaps", settings, "local")["data"]["color"],
                pod["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]["name"], pod["initContainers"][0]["args"][2])

    (home.folder / "type.yaml").write_text(TYPE)
    home.run("apply", "-f", "type.yaml")
    for number, digit, color in ((1, "a", "red"), (2, "b", "green")):
        (home.folder / "guests.yaml").write_text(COMPONENT.format(number, IMAGE + digit * 64, color))
        home.run("apply", "-f", "guests.yaml")
        home.run("deploy", "guests", "--env", "local")
        assert told() == (IMAGE + digit * 64, color, f"token-{number}", str(number))
    home.run("pins", "rollback", "guests", "local", "--to", "1")
    assert told() == (IMAGE + "a" * 64, "red", "token-1", "1")


def test_what_others_change_is_reported_or_corrected(made, eventually):
    home, cluster = made
    home.run("releases", "create", "checkout-service", "--name", "one")
    home.run("pins", "set", "checkout-service", "local", "one")
    (name,) = cluster.names("deployments", "local")

    def scale():
        cluster.apply(f"/apis/apps/v1/namespaces/local/deployments/{name}", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"replicas": 7}}, "scaler", force=True)

    def pin():
        return home.pins()["checkout-service", "local"]

    serve = home.begin("serve")
    try:
        scale()
        eventually(lambda: pin()["drift"] == [f"Deployment/{name} .spec.replicas (scaler)"], lambda: json.dumps(pin()))
        assert deployment(cluster, "local")[0] == 7 and pin()["ready"], "it is only said"
        assert "drift: correct" not in home.run("describe", "pin", "checkout-service-local").stdout
        home.run("pins", "set", "checkout-service", "local", "one", "--drift", "correct")
        assert "drift: correct" in home.run("describe", "pin", "checkout-service-local").stdout
        eventually(lambda: deployment(cluster, "local")[0] == 1 and pin()["drift"] == [] and pin()["ready"],
                   lambda: json.dumps(pin()))
        scale()
        eventually(lambda: deployment(cluster, "local")[0] == 1, lambda: json.dumps(pin()))
    finally:
        serve.terminate()
        serve.communicate(timeout=60)
