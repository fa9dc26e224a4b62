"""Releases from files to traffic, by every door, and what a kill leaves."""

import json
import os
import signal
import subprocess

import pytest

# The blocks of OpenChoreo's proposal, with what it leaves out filled in.
TYPES = """
apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
    - sourceEnvironmentRef: {kind: Environment, name: local}
      targetEnvironmentRefs: [{kind: Environment, name: production}]
"""
RELEASE = """
apiVersion: openchoreo.dev/v1alpha1
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
              requests: {cpu: string, memory: string}
        resources:
          - id: deployment
            template:
              apiVersion: apps/v1
              kind: Deployment
              metadata: {name: "${metadata.name}"}

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
          schema: {parameters: {volumeName: string, mountPath: string}}
          creates: []
          patches: []

  workload:
    # Workload is always embedded
    apiVersion: openchoreo.dev/v1alpha1
    kind: Workload
    metadata:
      name: checkout-service
    spec:
      image: gcr.io/project/checkout-service:v1.2.3
      endpoints:
        - name: api
          type: http
          port: 8080
          schemaPath: ./openapi/api.yaml
      connections: []
"""
BY_GIT = """
apiVersion: openchoreo.dev/v1alpha1
kind: Release
metadata:
  name: checkout-service-20251102-2
  labels:
    openchoreo.dev/component: checkout-service
spec:
  component:
    name: checkout-service
    gitRef:
      repository: https://127.0.0.1:1/myorg/openchoreo-infra
      revision: a1b2c3d4  # Git commit SHA
      path: components/checkout-service.yaml

  componentTypeDefinition:
    name: web-app
    gitRef:
      repository: https://127.0.0.1:1/myorg/openchoreo-infra
      revision: e5f6g7h8  # Git commit SHA
      path: component-types/web-app.yaml

  addons:
    - name: persistent-volume-claim
      gitRef:
        repository: https://127.0.0.1:1/myorg/openchoreo-infra
        revision: i9j0k1l2  # Git commit SHA
        path: addons/persistent-volume-claim.yaml

  workload:
    # Workload is always embedded (contains build output)
    apiVersion: openchoreo.dev/v1alpha1
    kind: Workload
    metadata:
      name: checkout-service
    spec:
      image: gcr.io/project/checkout-service:v1.2.3  # Built image
"""
SETTINGS = """
apiVersion: openchoreo.dev/v1alpha1
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
  addonOverrides:
    persistent-volume-claim:
      app-data:
        mountPath: /app/more
"""


def test_the_blocks_of_the_proposal_apply(home):
    for name, text in {"types": TYPES, "release": RELEASE, "settings": SETTINGS, "git": BY_GIT}.items():
        (home.folder / f"{name}.yaml").write_text(text)
    home.run("apply", "-f", "types.yaml", "-f", "release.yaml", "-f", "settings.yaml")
    release = home.data("releases", "show", "checkout-service-20251102-1")
    assert release["ready"], release
    assert [each["role"] for each in release["parts"]] == ["component", "componentTypeDefinition", "addon", "workload"]
    assert home.run("apply", "-f", "release.yaml").stdout == "nothing changes\n"
    (home.folder / "release.yaml").write_text(RELEASE.replace("cpu: 200m", "cpu: 300m"))
    assert "never changes" in home.run("apply", "-f", "release.yaml", code=7).stderr
    # One that cannot be resolved is kept, and says why.
    home.run("apply", "-f", "git.yaml")
    release = home.data("releases", "show", "checkout-service-20251102-2")
    assert not release["ready"] and release["message"].startswith("component: "), release


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
    assert "hello" in home.run("promote", "--from", "local", "--to", "staging").stdout
    assert home.pins()["hello", "staging"]["applied_release"] == "hello-1"


AT = {"at once": lambda pins: True,
      "as they have moved": lambda pins: len(pins) == 3,
      "as one is ready": lambda pins: any(each["ready"] for each in pins.values()),
      "as they are ready": lambda pins: len(pins) == 3 and all(each["ready"] for each in pins.values())}


@pytest.mark.parametrize("moment", AT)
def test_a_kill_leaves_a_promotion_whole(home, eventually, moment):
    names = ["cart", "shop", "stock"]
    home.prepare(*names)
    for name in names:
        home.release(name, "1.0.0", f"{name}-1")
        home.run("pins", "set", name, "local", f"{name}-1")
    serve = home.begin("serve")
    try:
        eventually(lambda: home.run("status", code=None).returncode == 0)
        promote = home.begin("promote", "--from", "local", "--to", "staging")
        eventually(lambda: AT[moment](home.pins("staging")))
        serve.send_signal(signal.SIGKILL)
        serve.communicate()
        promote.kill()
        promote.communicate()
        serve = home.begin("serve")

        def settled():
            pins = home.pins("staging")
            return not pins or (len(pins) == 3 and all(each["ready"] for each in pins.values()))

        eventually(settled, lambda: json.dumps(list(home.pins("staging").values())))
        assert len(home.pins("staging")) in (0, 3)
    finally:
        os.kill(serve.pid, signal.SIGTERM)
        serve.communicate(timeout=60)
        subprocess.run([str(home.sluice), "stop"], env=home.environment(), capture_output=True, timeout=60)
