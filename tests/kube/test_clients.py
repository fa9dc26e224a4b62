"""Clients that others wrote drive the tests' API server: kubectl, and the official client for Node.js."""

import json
import subprocess
import threading
from pathlib import Path

HERE = Path(__file__).parent
SETTINGS = """apiVersion: v1
kind: ConfigMap
metadata: {name: settings, finalizers: [sluice.dev/hold]}
data: {a: "%s"}
"""


def kubectl(folder, *words, stdin=None):
    return subprocess.run(["kubectl", "--kubeconfig", str(folder / "kubeconfig"), "--cache-dir", str(folder / "cache"), *words],
                          input=stdin, capture_output=True, text=True, timeout=60)


def test_kubectl_applies_conflicts_watches_and_waits_for_finalizers(api_server, eventually):
    folder, _ = api_server("--tls", "--controllers")

    def apply(manager, text, *more):
        return kubectl(folder, "apply", "--server-side", "--validate=false", "--field-manager", manager, "-f", "-", *more,
                       stdin=text)

    assert apply("one", SETTINGS % 1).stdout == "configmap/settings serverside-applied\n"
    lines = []
    watch = subprocess.Popen(["kubectl", "--kubeconfig", str(folder / "kubeconfig"), "--cache-dir", str(folder / "cache"), "get",
                              "configmap", "settings", "--watch", "-o", "jsonpath={.data.a}{\"\\n\"}"], stdout=subprocess.PIPE, text=True)
    reader = threading.Thread(target=lambda: lines.extend(iter(watch.stdout.readline, "")))
    reader.start()
    eventually(lambda: lines == ["1\n"])
    refused = apply("two", SETTINGS % 2)
    assert refused.returncode == 1 and 'conflict with "one": .data.a' in refused.stderr
    assert apply("two", SETTINGS % 2, "--force-conflicts").stdout == "configmap/settings serverside-applied\n"
    eventually(lambda: "2\n" in lines)
    watch.terminate()
    watch.wait()
    reader.join()

    assert "deleted" in kubectl(folder, "delete", "configmap", "settings", "--wait=false").stdout
    held = json.loads(kubectl(folder, "get", "configmap", "settings", "-o", "json").stdout)
    assert held["metadata"]["deletionTimestamp"] and held["metadata"]["finalizers"] == ["sluice.dev/hold"]
    assert kubectl(folder, "patch", "configmap", "settings", "--type=merge", "-p",
                   '{"metadata": {"finalizers": null}}').returncode == 0
    assert "NotFound" in kubectl(folder, "get", "configmap", "settings").stderr


def test_the_client_for_node_applies_conflicts_watches_and_waits_for_finalizers(api_server):
    folder, _ = api_server("--tls")
    done = subprocess.run(["node", str(HERE / "cluster.mjs"), str(folder / "kubeconfig")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    saw = json.loads(done.stdout)
    assert saw["managers"] == [["one", "Apply"]]
    assert saw["conflict"] == [409, [{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}]]
    assert saw["forced"] == {"a": "2"}
    assert saw["held"] is True and saw["after"] == 404
    assert saw["events"] == [["MODIFIED", "2", False], ["MODIFIED", "2", True], ["DELETED", "2", True]]
