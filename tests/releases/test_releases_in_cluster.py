"""Releases of objects go into a cluster (tests/kube): applied, promoted, rolled back with what was pruned, and undeployed."""

import importlib.util
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
        "prune": {"maxDeletePercent": 100, "sensitiveKinds": []}}))
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
    home.run("pins", "set", "checkout-service", "production", "one", "--undeploy")
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
