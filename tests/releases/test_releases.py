"""Releases from files to traffic, by every door, and what a kill leaves."""

import base64
import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import tarfile

import pytest
import yaml

# The blocks of OpenChoreo's proposal, to the letter; what it leaves out is filled in.
PIPELINE = """
apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
    - sourceEnvironmentRef: {kind: Environment, name: production}
      targetEnvironmentRefs: [{kind: Environment, name: archive}]
"""
BY_GIT = """apiVersion: openchoreo.dev/v1alpha1
kind: Release
metadata:
  name: checkout-service-20251102-1
  labels:
    openchoreo.dev/component: checkout-service
spec:
  component:
    name: checkout-service
    gitRef:
      repository: https://github.com/myorg/openchoreo-infra
      revision: a1b2c3d4  # Git commit SHA
      path: components/checkout-service.yaml

  componentTypeDefinition:
    name: web-app
    gitRef:
      repository: https://github.com/myorg/openchoreo-infra
      revision: e5f6g7h8  # Git commit SHA
      path: component-types/web-app.yaml

  addons:
    - name: persistent-volume-claim
      gitRef:
        repository: https://github.com/myorg/openchoreo-infra
        revision: i9j0k1l2  # Git commit SHA
        path: addons/persistent-volume-claim.yaml

    - name: add-file-logging-sidecar
      gitRef:
        repository: https://github.com/myorg/openchoreo-infra
        revision: i9j0k1l2  # Git commit SHA
        path: addons/file-logging-sidecar.yaml

  workload:
    # Workload is always embedded (contains build output)
    apiVersion: openchoreo.dev/v1alpha1
    kind: Workload
    metadata:
      name: checkout-service
    spec:
      image: gcr.io/project/checkout-service:v1.2.3  # Built image
      endpoints:
        - name: api
          type: http
          port: 8080
          schemaPath: ./openapi/api.yaml
      connections:
        - name: productcatalog
          type: api
          params:
            projectName: gcp-microservice-demo
            componentName: productcatalog
            endpoint: grpc-endpoint
          inject:
            env:
              - name: PRODUCT_CATALOG_SERVICE_ADDR
                value: "{{ .host }}:{{ .port }}"
"""
RELEASE = """apiVersion: openchoreo.dev/v1alpha1
kind: Release
metadata:
  name: checkout-service-20251102-1
  labels:
    openchoreo.dev/component: checkout-service
    openchoreo.dev/version: v1.2.3
spec:
  component:
    name: checkout-service
    content:
      # Full embedded Component definition
      apiVersion: openchoreo.dev/v1alpha1
      kind: Component
      metadata:
        name: checkout-service
      spec:
        componentType: deployment/web-app
        parameters:
          lifecycle:
            terminationGracePeriodSeconds: 60
          resources:
            requests:
              cpu: 200m
              memory: 512Mi
        addons:
          - name: persistent-volume-claim
            instanceId: app-data
            config:
              volumeName: app-data-vol
              mountPath: /app/data

  componentTypeDefinition:
    name: web-app
    content:
      # Full embedded ComponentTypeDefinition
      apiVersion: openchoreo.dev/v1alpha1
      kind: ComponentTypeDefinition
      metadata:
        name: web-app
      spec:
        workloadType: deployment
        schema:
          parameters:
            lifecycle: {terminationGracePeriodSeconds: integer | default=30}
            resources:
              $default: {}
              requests: {$default: {}, cpu: string | default=100m, memory: string | default=256Mi}
              limits: {$default: {}, cpu: string | default=1, memory: string | default=512Mi}
            autoscaling:
              {$default: {}, enabled: boolean | default=false, minReplicas: integer | default=1, maxReplicas: integer | default=1}
        resources:
          - id: deployment
            template:
              apiVersion: apps/v1
              kind: Deployment
              metadata: {name: "${metadata.name}"}
              spec:
                replicas: ${parameters.autoscaling.minReplicas}
                template: {spec: {containers: [{name: main, image: "${build.image}", resources: "${parameters.resources}"}]}}

  addons:
    - name: persistent-volume-claim
      instanceId: app-data
      content:
        # Full embedded Addon definition
        apiVersion: openchoreo.dev/v1alpha1
        kind: Addon
        metadata:
          name: persistent-volume-claim
        spec:
          schema:
            parameters: {volumeName: string, mountPath: string}
            envOverrides: {size: string | default=10Gi, storageClass: string | default=standard}
          creates:
            - template:
                apiVersion: v1
                kind: PersistentVolumeClaim
                metadata: {name: "${metadata.name}-${instanceId}"}
                spec: {storageClassName: "${parameters.storageClass}", resources: {requests: {storage: "${parameters.size}"}}}
          patches: []

  workload:
    # Workload is always embedded
    apiVersion: openchoreo.dev/v1alpha1
    kind: Workload
    metadata:
      name: checkout-service
    spec:
      image: gcr.io/project/checkout-service:v1.2.3
      endpoints: [{name: api, type: http, port: 8080}]
      connections: []
"""
PIN = """apiVersion: openchoreo.dev/v1alpha1
kind: ReleasePin
metadata:
  name: checkout-service-production
  labels:
    openchoreo.dev/component: checkout-service
    openchoreo.dev/environment: production
spec:
  component: checkout-service
  environment: production
  releaseName: checkout-service-20251102-1  # Points to a Release

status:
  # Status fields managed by controller
  appliedRelease: checkout-service-20251102-1
  observedGeneration: 1
  conditions:
    - type: Ready
      status: "True"
      lastTransitionTime: "2025-10-27T10:00:00Z"
      reason: ReconcileSuccess
      message: "Release successfully applied"
"""
SETTINGS = """apiVersion: openchoreo.dev/v1alpha1
kind: EnvSettings
metadata:
  name: checkout-service-production
spec:
  owner:
    componentName: checkout-service
  environment: production

  overrides:
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
      limits:
        cpu: 2000m
        memory: 2Gi
    autoscaling:
      enabled: true
      minReplicas: 5
      maxReplicas: 50

  addonOverrides:
    persistent-volume-claim:
      app-data:
        size: 200Gi
        storageClass: premium
"""
PACKED = """apiVersion: openchoreo.dev/v1alpha1
kind: Release
metadata:
  name: checkout-service-v1.2.3
  annotations:
    openchoreo.dev/compression: gzip
spec:
  component:
    name: checkout-service
    content:
      # Stored compressed in etcd, automatically decompressed on read
      compressed: "PACKED"  # Base64-encoded gzip
"""


def test_the_blocks_of_the_proposal_apply(home):
    plain = home.environment
    # Its repository is not asked for: nobody is at this proxy.
    home.environment = lambda: {**plain(), "HTTPS_PROXY": "http://127.0.0.1:1"}
    packed = base64.b64encode(gzip.compress(json.dumps(
        next(yaml.safe_load_all(RELEASE))["spec"]["component"]["content"]).encode())).decode()
    rest = RELEASE[RELEASE.index("  componentTypeDefinition:"):]
    for name, text in {"pipeline": PIPELINE, "pin": PIN, "release": RELEASE, "settings": SETTINGS,
                       "git": BY_GIT.replace("20251102-1", "20251102-2"),
                       "packed": PACKED.replace("PACKED", packed) + rest}.items():
        (home.folder / f"{name}.yaml").write_text(text)
    # A pin may come before its release.
    home.run("apply", "-f", "pipeline.yaml", "-f", "pin.yaml", "-f", "settings.yaml")
    assert home.pins()["checkout-service", "production"]["message"] == "there is no release checkout-service-20251102-1"
    home.run("apply", "-f", "release.yaml")
    release = home.data("releases", "show", "checkout-service-20251102-1")
    assert release["ready"], release
    assert [each["role"] for each in release["parts"]] == ["component", "componentTypeDefinition", "addon", "workload"]
    assert home.run("apply", "-f", "release.yaml").stdout == "nothing changes\n"
    home.run("apply", "-f", "packed.yaml")
    assert home.data("releases", "show", "checkout-service-v1.2.3")["identity"] == release["identity"]
    (home.folder / "release.yaml").write_text(RELEASE.replace("cpu: 200m", "cpu: 300m"))
    assert "never changes; nothing was changed" in home.run("apply", "-f", "release.yaml", code=7).stderr
    # One that cannot be resolved is kept, and says why.
    home.run("apply", "-f", "git.yaml")
    release = home.data("releases", "show", "checkout-service-20251102-2")
    assert not release["ready"] and release["message"].startswith("component: "), release


def push_image(folder, where, says, *options):
    """An image without layers to speak of, as a real registry keeps it: the digest of its manifest."""
    folder.mkdir()

    def blob(data):
        digest = hashlib.sha256(data).hexdigest()
        (folder / digest).write_bytes(data)
        return {"digest": "sha256:" + digest, "size": len(data)}

    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w"):
        pass
    config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"Labels": {"says": says}},
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer.getvalue()).hexdigest()]}})
    oci = "application/vnd.oci.image."
    (folder / "manifest.json").write_text(json.dumps({
        "schemaVersion": 2, "mediaType": oci + "manifest.v1+json",
        "config": {"mediaType": oci + "config.v1+json", **blob(config.encode())},
        "layers": [{"mediaType": oci + "layer.v1.tar+gzip", **blob(gzip.compress(layer.getvalue()))}]}))
    (folder / "version").write_text("Directory Transport Version: 1.1\n")
    done = subprocess.run(["skopeo", "copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false", *options, f"dir:{folder}",
                           f"docker://{where}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return "sha256:" + hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()


PASSWORD = "canary-f3b1-password"
USERS = "ci:$2b$04$abcdefghijklmnopqrstuujLJ4fS677ZWAQSBBBPipdTayq3LbZ/S\n"  # its bcrypt


def component_of_image(image):
    return f"""apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {{name: main}}
spec: {{promotionPaths: [{{sourceEnvironmentRef: {{name: local}}, targetEnvironmentRefs: [{{name: staging}}]}}]}}
---
apiVersion: openchoreo.dev/v1alpha1
kind: ComponentTypeDefinition
metadata: {{name: web}}
spec:
  workloadType: deployment
  resources: [{{template: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: "${{metadata.name}}"}}, data: {{image: "${{build.image}}"}}}}}}]
---
apiVersion: openchoreo.dev/v1alpha1
kind: Component
metadata: {{name: shop}}
spec: {{componentType: deployment/web}}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Workload
metadata: {{name: shop}}
spec: {{image: "{image}"}}
"""


def test_a_tag_becomes_what_the_registry_has_for_it(home, registries):
    """The tag moves; the release does not."""
    where = registries() + "/acme/shop:1"
    (home.folder / "shop.yaml").write_text(component_of_image(where))
    home.run("apply", "-f", "shop.yaml")
    first = push_image(home.folder / "one", where, "one")
    assert home.data("releases", "create", "shop", "--name", "shop-1")["image"] == f"{where}@{first}"
    second = push_image(home.folder / "two", where, "two")
    assert home.data("releases", "show", "shop-1")["image"] == f"{where}@{first}"
    assert home.data("releases", "create", "shop", "--name", "shop-2")["image"] == f"{where}@{second}" != f"{where}@{first}"


@pytest.mark.parametrize("logged_in", ["local", "staging"])
def test_a_tag_is_asked_for_with_the_login_of_an_environment(home, registries, logged_in):
    """That of the first environment along the pipeline that has one; who has none gets a release with the tag."""
    host = registries(USERS)
    where = f"{host}/acme/shop:1"
    home.run("env", "create", "staging", "--extends", "local")
    (home.folder / "shop.yaml").write_text(component_of_image(where))
    home.run("apply", "-f", "shop.yaml")
    digest = push_image(home.folder / "one", where, "one", "--dest-creds", f"ci:{PASSWORD}")
    assert home.run("releases", "create", "shop", "--name", "shop-tag").stdout == (
        f"released  shop-tag; no registry gave a digest for {where}, so it runs in local alone\n")
    home.run("registry", "login", logged_in, host, "--username", "ci", input=PASSWORD)
    done = home.run("releases", "create", "shop", "--name", "shop-1", "-o", "json")
    assert json.loads(done.stdout)["image"] == f"{where}@{digest}"


def test_every_door_meets_the_same_rule(home):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("pins", "set", "hello", "local", "hello-1")
    said = "no environment before prod in main runs hello-1 of hello; nothing was changed"
    assert said in home.run("pins", "set", "hello", "prod", "hello-1", code=7).stderr
    (home.folder / "pin.yaml").write_text(
        "apiVersion: openchoreo.dev/v1alpha1\nkind: ReleasePin\nmetadata: {name: hello-prod}\n"
        "spec: {component: hello, environment: prod, releaseName: hello-1}\n")
    assert said in home.run("apply", "-f", "pin.yaml", code=7).stderr
    pins = json.dumps([{"component": "hello", "environment": "prod", "release": "hello-1", "state": "Active"}])
    assert said in home.run("do", "Pin/set", f"pins={pins}", code=7).stderr
    assert set(home.pins()) == {("hello", "local")}
    assert home.run("env", "promote", "local", "staging", "--kit", "hello").stdout == "promoted  hello in staging to hello-1\n"
    assert home.pins()["hello", "staging"]["applied_release"] == "hello-1"
    assert "hello" in home.run("promote", "--from", "local", "--to", "staging").stdout


# Ends the control plane before one of its syncs, once there is the file KILL_ARMED.
KILLING_SYNC = """
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <unistd.h>
static std::atomic<int> count;
static bool serves() {
  std::ifstream file("/proc/self/cmdline");
  return std::string(std::istreambuf_iterator<char>(file), {}).find(std::string(1, 0) + "serve" + std::string(1, 0)) != std::string::npos;
}
static const bool is_meant = serves();
static int call(const char* name, int fd) {
  if (is_meant && access(getenv("KILL_ARMED"), F_OK) == 0 && ++count == atoi(getenv("KILL_AT"))) raise(SIGKILL);
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, name))(fd);
}
extern "C" int fdatasync(int fd) { return call("fdatasync", fd); }
extern "C" int fsync(int fd) { return call("fsync", fd); }
"""
COMPONENTS = ["cart", "shop", "stock"]
EVERY = 1 if os.environ.get("SLUICE_SOAK") else 16


def test_a_kill_at_each_sync_leaves_a_promotion_whole(home, eventually):
    """All have moved or none, seen whenever the control plane is up again; once it is idle what was promoted runs, or
    what ran before. At every step in ./dev soak."""
    home.prepare(*COMPONENTS)
    (home.folder / "sync.cc").write_text(KILLING_SYNC)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", home.folder / "sync.so", home.folder / "sync.cc"], check=True)
    armed, plain, kills, at, version = home.folder / "armed", home.environment, 0, 1, 0

    def begin(**more):
        home.environment = lambda: {**plain(), **more}
        serve = home.begin("serve")
        home.environment = plain
        eventually(lambda: home.run("status", code=None).returncode == 0)
        return serve

    def end(serve):
        serve.terminate()
        serve.communicate(timeout=60)

    def releases(key):
        return {each[key].rpartition("-")[2] for each in home.pins("staging").values()}

    while True:
        version += 1
        serve = begin(LD_PRELOAD=str(home.folder / "sync.so"), KILL_AT=str(at), KILL_ARMED=str(armed))
        for name in COMPONENTS:
            home.release(name, f"1.0.{version}", f"{name}-{version}")
            home.run("pins", "set", name, "local", f"{name}-{version}")
        before = releases("release")
        armed.touch()
        promote = home.begin("promote", "--from", "local", "--to", "staging")
        eventually(lambda: promote.poll() == 0 or serve.poll() is not None)
        armed.unlink()
        if serve.poll() is None:
            assert releases("applied_release") == {str(version)}
            break
        promote.communicate(timeout=60)
        assert serve.returncode == -signal.SIGKILL
        kills += 1
        serve = begin()
        assert releases("release") in (before, {str(version)}), (at, home.pins("staging"))
        eventually(lambda: all("settledAt" in each for each in home.data("flow", "list")),
                   lambda: home.run("flow", "list").stdout)
        assert releases("applied_release") == releases("release") in (before, {str(version)}), at
        assert [each["ready"] for each in home.pins("staging").values()] in ([], [True] * 3)
        end(serve)
        at += EVERY
    end(serve)
    assert kills >= 2
