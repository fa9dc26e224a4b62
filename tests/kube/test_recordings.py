"""The tests' API server answers what a real one did: every exchange of the recordings is replayed, in order.

What no two servers have in common is left out of the comparison: uids, times, versions, addresses, suffixes of generated
names, continue tokens, JWTs and hashes. What the real server's controllers wrote into a Deployment is left out as well, as
this server has none; the exchanges that are about nothing else are listed in CONTROLLERS."""

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOKENS = {"admin": "admin-token", "user without rights": "dev-token", "unknown token": "nobody"}
# About pods, their kubelets, ReplicaSets, EndpointSlices, the scale subresource and a server with low limits.
CONTROLLERS = {"second": {22, 23, 24, 25, 26, 27, 29, 30, 31, 32, 33, 34, 35, 63, 69}, "first": set()}
# What other requests did meanwhile, or what needs a compaction in between.
WATCHES = {"second": {56, 59, 60, 61, 68}, "first": {47, 48, 49}}
NOISE = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "lastUpdateTime",
         "expirationTimestamp", "clusterIP", "clusterIPs", "storageVersionHash", "serverAddress"}


def exchanges(name):
    return [json.loads(line) for line in (HERE / "recordings" / f"{name}.jsonl").read_text().splitlines()]


def comparable(value, key=None):
    if key in NOISE:
        return None if value is None else f"<{key}>"
    if isinstance(value, dict):
        value = {name: comparable(each, name) for name, each in value.items()}
        if value.get("kind") == "Deployment" and "metadata" in value:
            value.pop("status", None)
            annotations = value["metadata"].pop("annotations", None) or {}
            left = {name: each for name, each in annotations.items() if name != "deployment.kubernetes.io/revision"}
            if left:
                value["metadata"]["annotations"] = left
        if isinstance(value.get("managedFields"), list):
            # Entries of the same time stand in the order of their managers; a replay takes less than a second.
            value["managedFields"] = sorted((each for each in value["managedFields"]
                                             if each["manager"] != "kube-controller-manager"),
                                            key=lambda each: (each["operation"], each["manager"]))
            if not value["managedFields"]:
                value.pop("managedFields")
        if "continue" in value:
            value["continue"] = "<continue>"
        return value
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
                      lambda m: m.group() if set(m.group()) <= set("0-") else "<uid>", value)
    return value


@pytest.fixture
def url(tmp_path):
    process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--folder", str(tmp_path)], stdout=subprocess.PIPE,
                               text=True)
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()


class Replay:
    def __init__(self, url):
        self.url, self.uids, self.token = url, {}, None

    def ask(self, request):
        body, headers = request.get("body"), {}
        path = request["path"]
        if self.token and "continue=eyJ" in path:
            path = re.sub(r"continue=[^&]+", "continue=" + self.token, path)
        if body == "(3.2 MB)":
            data = b'{"data": {"a": "' + b"x" * 3_200_000 + b'"}}'
        elif body is None:
            data = None
        else:
            text = body if isinstance(body, str) else json.dumps(body)
            for old, new in self.uids.items():
                text = text.replace(old, new)
            data = text.encode()
        if request["as"] in TOKENS:
            headers["Authorization"] = "Bearer " + TOKENS[request["as"]]
        if request.get("content_type"):
            headers["Content-Type"] = request["content_type"]
        if request.get("accept"):
            headers["Accept"] = request["accept"]
        asked = urllib.request.Request(self.url + path, data=data, headers=headers, method=request["method"])
        try:
            with urllib.request.urlopen(asked, timeout=20) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            status, text = refusal.code, refusal.read().decode()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def learn(self, recorded, answered):
        """Which uid here stands for which one there."""
        if isinstance(recorded, dict) and isinstance(answered, dict):
            there, here = (each.get("metadata") or {} for each in (recorded, answered))
            if there.get("uid") and here.get("uid"):
                self.uids[there["uid"]] = here["uid"]
            self.token = here.get("continue", self.token)


def between(replay, number):
    """What was done between the recorded exchanges."""
    def apply(name, label, text):
        replay.ask({"method": "PATCH", "path": f"/api/v1/namespaces/ext/configmaps/{name}?fieldManager=sluice", "as": "admin",
                    "content_type": "application/apply-patch+yaml", "body": {
                        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"set": label}},
                        "data": {"a": text}}})

    def delete(path):
        replay.ask({"method": "DELETE", "path": f"/api/v1/namespaces/ext/{path}", "as": "admin"})

    if number == 38:
        deadline = time.monotonic() + 20
        while replay.ask({"method": "GET", "path": "/apis/acme.example/v1", "as": "admin"})[0] != 200:
            assert time.monotonic() < deadline
    elif number == 52:
        delete("resourcequotas/q")
        for item in range(6):
            apply(f"l{item}", "l", str(item))
    elif number == 62:
        apply("l0", "l", "n2")
        apply("l1", "l", "w")
        delete("configmaps/l2")
        apply("l3", "other", "3")


@pytest.mark.parametrize("name", ["first", "second"])
def test_every_exchange_is_answered_as_it_was_recorded(url, name):
    replay, different, compared = Replay(url), [], 0
    for number, each in enumerate(exchanges(name)):
        request, recorded = each["request"], each["response"]
        if number in CONTROLLERS[name] | WATCHES[name]:
            continue
        if name == "second" and each["case"].startswith("a continue token after compaction"):
            replay.ask({"method": "POST", "path": "/test/compact", "as": "admin", "body": {}})
        if name == "second":
            between(replay, number)
        if name == "first" and number == 43:
            request = {**request, "accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
        status, body = replay.ask(request)
        replay.learn(recorded["body"], body)
        compared += 1
        if (status, comparable(body)) != (recorded["status"], comparable(recorded["body"])):
            different.append(f"{number} {each['case']}\n  recorded {recorded['status']} {comparable(recorded['body'])}\n"
                             f"  answered {status} {comparable(body)}")
    assert not different, f"{len(different)} of {compared}:\n" + "\n".join(different)
