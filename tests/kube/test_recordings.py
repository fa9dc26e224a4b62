"""The tests' API server answers what a real one did: every exchange of the recordings is replayed, in order, with the names of
the recordings and with every object renamed.

What no two servers have in common is left out of the comparison: uids, times, versions, addresses, suffixes of generated
names, continue tokens, JWTs and hashes. While its controllers are at work, the real server's answers to changes of a Deployment
show how far they had come; there (MOVING) their part of it is left out. It is compared where the recordings waited for it."""

import json
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOKENS = {"admin": "admin-token", "user without rights": "dev-token", "unknown token": "nobody"}
MOVING = {"first": {23, 49}, "second": set()}
# How far the controllers of the real server had come before an exchange of the first recording.
HOLD, STEP, GO = ("/test/hold", {"controllers": True}), ("/test/step", {}), ("/test/hold", {})
PACE = {18: [HOLD], 20: [STEP], 22: [GO]}
NOISE = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "lastUpdateTime",
         "expirationTimestamp", "clusterIP", "clusterIPs", "storageVersionHash", "serverAddress", "firstTimestamp",
         "lastTimestamp", "startedAt", "finishedAt", "pod-template-hash", "endpoints.kubernetes.io/last-change-trigger-time", "token", "continue"}
LETTERS = "[bcdfghjklmnpqrstvwxz2456789]"
MASKS = [(re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
         (re.compile(rf"-{LETTERS}{{8,10}}(?![a-z0-9])"), "-<hash>"), (re.compile(rf"-{LETTERS}{{5}}(?![a-z0-9])"), "-<suffix>"),
         (re.compile(r"\.[0-9a-f]{16}$"), ".<when>"), (re.compile(r"too old resource version: 1 \(\d+\)"), "too old <version>")]
OBJECTS = ["shop", "web", "bad", "c[012]?", "s", "ext", "fin", "u", "p", "imm", "q[0-9]?", "l[0-5]", "a", "b", "big", "late", "h27"]
RENAMED = re.compile(r"""(?x)(?:(?<!/data/)(?<=/) | (?<=namespace\ ) | (?<=quota:\ ) | (?<=ame":\ ") | (?<="namespace":\ ") | (?<=app=)
    | (?<=app%3D) | (?<=service-name%3D) | (?<=service-name":\ ") | (?<="app":\ ") | (?<=\ \\") | (?<=:\\") | (?<=container=)
    | (?<=object\ \())(?P<name>""" + "|".join(OBJECTS) + r""")(?=[?"/;,\\]|-[0-9]|-[a-z]{5}|-"|\ because|\ is\ being|$)""")


def recorded(name, rename):
    text = (HERE / "recordings" / f"{name}.jsonl").read_text()
    for line in text.splitlines():
        read = json.loads(line)
        if isinstance(read["response"]["body"], str) and '"type"' in read["response"]["body"]:
            read["response"]["body"] = [json.loads(each) for each in read["response"]["body"].splitlines()]
        elif "watch=1" in read["request"]["path"] and isinstance(read["response"]["body"], dict):
            read["response"]["body"] = [read["response"]["body"]]
        yield renamed(read) if rename else read


def renamed(value):
    text = RENAMED.sub(lambda found: "a-" + found["name"], json.dumps(value, ensure_ascii=False))
    return json.loads(text.replace("widget", "gadget").replace("Widget", "Gadget"))


def comparable(value, key=None):
    if key in NOISE:
        return None if value is None else f"<{key}>"
    if isinstance(value, dict):
        value = {masked(name): comparable(each, name) for name, each in value.items()}
        if isinstance(value.get("managedFields"), list):
            # Entries of one second stand in the order of their managers; a replay takes less than a second.
            value["managedFields"].sort(key=lambda each: (each["operation"], each["manager"], each.get("subresource", "")))
        return value
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return masked(value) if isinstance(value, str) else value


def masked(text):
    for pattern, said in MASKS:
        text = pattern.sub(said, text)
    return text


def settled(value):
    """Without what the controllers write into a Deployment; of its states in a row that are then the same, the first."""
    if isinstance(value, list):
        states = []
        for each in value:
            each = comparable(settled(each["object"]))
            states += [] if states[-1:] == [each] else [each]
        return states
    value = json.loads(json.dumps(value))
    value.pop("status", None)
    annotations = value["metadata"].get("annotations", {})
    annotations.pop("deployment.kubernetes.io/revision", None)
    if not annotations:
        value["metadata"].pop("annotations", None)
    value["metadata"]["managedFields"] = [each for each in value["metadata"].get("managedFields", [])
                                          if each["manager"] != "kube-controller-manager"]
    return value


@pytest.fixture
def url(tmp_path):
    process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--folder", str(tmp_path), "--controllers"],
                               stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()


class Replay:
    def __init__(self, url, rename):
        self.url, self.rename, self.known, self.versions = url, rename, {}, {}

    def ask(self, request):
        body, headers, path = request.get("body"), {}, request["path"]
        if body == "(3.2 MB)":
            data = b'{"data": {"a": "' + b"x" * 3_200_000 + b'"}}'
        elif body is None:
            data = None
        else:
            data = self.here(body if isinstance(body, str) else json.dumps(body)).encode()
        if request["as"] in TOKENS:
            headers["Authorization"] = "Bearer " + TOKENS[request["as"]]
        if request.get("content_type"):
            headers["Content-Type"] = request["content_type"]
        if request.get("accept"):
            headers["Accept"] = request["accept"]
        asked = urllib.request.Request(self.url + self.here(path), data=data, headers=headers, method=request["method"])
        try:
            with urllib.request.urlopen(asked, timeout=20) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            status, text = refusal.code, refusal.read().decode()
        if "watch=1" in path and status == 200:
            return status, [json.loads(line) for line in text.splitlines()] or ""
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def here(self, text):
        for old, new in self.known.items():
            text = text.replace(old, new)
        for old, new in self.versions.items():
            text = text.replace(f"resourceVersion={old}&", f"resourceVersion={new}&")
        return text

    def learn(self, there, here, key=None):
        """Which uid, generated name and continue token here stands for which one there."""
        if isinstance(there, dict) and isinstance(here, dict):
            for name in there.keys() & here.keys():
                self.learn(there[name], here[name], name)
        elif isinstance(there, list) and isinstance(here, list):
            for one, other in zip(there, here):
                self.learn(one, other)
        elif key in ("uid", "continue") or key == "name" and "<suffix>" in masked(str(there)):
            if there != here and isinstance(here, str):
                self.known[there] = here

    def version(self):
        return self.ask({"method": "GET", "path": "/test/version", "as": "admin"})[1]["version"]

    def change(self, number, moment):
        """What was done between the recorded exchanges, or during a watch."""
        def send(method, path, body=None, how=None):
            request = {"method": method, "path": path, "as": "admin", "content_type": how, "body": body}
            return self.ask(renamed(request) if self.rename else request)

        def apply(name, label, text):
            send("PATCH", f"/api/v1/namespaces/ext/configmaps/{name}?fieldManager=sluice", {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"set": label}},
                "data": {"a": text}}, "application/apply-patch+yaml")

        if moment == "before":
            if number == 30:
                # The recorded pod was bound in the second in which its kubelet spoke.
                pod = self.ask({"method": "GET", "path": self.last["path"].replace("/binding", ""), "as": "admin"})[1]
                self.known["2026-11-17T13:45:21Z"] = pod["status"]["conditions"][0]["lastTransitionTime"]
            elif number == 36:
                send("POST", "/test/hold", {"definitions": True})
            elif number == 38:
                send("POST", "/test/hold", {})
                deadline = time.monotonic() + 20
                while send("GET", "/apis/acme.example/v1")[0] != 200:
                    assert time.monotonic() < deadline
            elif number == 52:
                send("DELETE", "/api/v1/namespaces/ext/resourcequotas/q")
                for item in range(6):
                    apply(f"l{item}", "l", str(item))
            elif number == 55:
                for item in range(3):
                    apply("l0", "l", f"n{item}")
                send("POST", "/test/compact", {"watches": False})
            elif number in (59, 60, 61):
                self.versions.setdefault({59: 355, 60: 357, 61: 357}[number], self.version())
            elif number == 68:
                send("POST", "/test/compact", {})
            elif number == 69:
                send("POST", "/test/limit", {"inflight": 0})
        elif number == 59:
            apply("l1", "l", "w")
            send("DELETE", "/api/v1/namespaces/ext/configmaps/l2")
        elif number == 60:
            apply("l3", "other", "3")


@pytest.mark.parametrize("rename", [False, True], ids=["as-recorded", "renamed"])
@pytest.mark.parametrize("name", ["first", "second"])
def test_every_exchange_is_answered_as_it_was_recorded(url, name, rename):
    replay, different, compared = Replay(url, rename), [], 0
    for number, each in enumerate(recorded(name, rename)):
        request, wanted = each["request"], each["response"]
        if name == "second":
            replay.change(number, "before")
        elif number in PACE:
            for path, body in PACE[number]:
                replay.ask({"method": "POST", "path": path, "as": "admin", "body": body})
        if name == "first" and number == 43:
            request["accept"] = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        # What a watch is to tell has happened, or happens while it waits; a second is enough to hear of it.
        request["path"] = re.sub(r"timeoutSeconds=\d", "timeoutSeconds=1", request["path"])
        during = name == "second" and number in (59, 60)
        meanwhile = threading.Timer(0.2, replay.change, (number, "during")) if during else None
        deadline = time.monotonic() + 20
        if meanwhile:
            meanwhile.start()
        while True:
            status, body = replay.ask(request)
            answered, there = (status, body), (wanted["status"], wanted["body"])
            if number in MOVING[name]:
                answered, there = (status, settled(body)), (wanted["status"], settled(wanted["body"]))
            answered, there = comparable(list(answered)), comparable(list(there))
            # What controllers are about to write is read until it is there.
            if answered == there or request["method"] != "GET" or time.monotonic() > deadline:
                break
        if meanwhile:
            meanwhile.join()
        replay.last = request
        replay.learn(wanted["body"], body)
        replay.ask({"method": "GET", "path": "/test/idle", "as": "admin"})
        compared += 1
        if answered != there:
            different.append(f"{number} {each['case']}\n  recorded {there}\n  answered {answered}")
    assert not different, f"{len(different)} of {compared}:\n" + "\n".join(different)
    assert compared == {"first": 56, "second": 70}[name]
