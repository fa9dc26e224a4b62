"""The tests' Kubernetes API server: what a real one answers, as far as a deployer meets it.

    python3 server.py --port 0 --folder DIR [--tls] [--settle]

It writes DIR/kubeconfig (a context for each user) and prints its URL. It is checked against recordings of a real server
(test_recordings.py); it holds none of their bodies but discovery. Not the real thing: objects live in memory, schedulers
and kubelets are not there, and of the controllers only as much as `--settle` says: a Deployment is ready as soon as it is
seen, unless its annotation test.sluice.dev/status says otherwise ("never", "quota").

Switches over HTTP, for tests: POST /test/fail {"after": n, "status": s | "cut": true, "count": c, "method": "PATCH"},
POST /test/compact, GET /test/log (the requests so far), POST /test/limit {"inflight": n}."""

import argparse
import base64
import copy
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

import fields
import kinds

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_BYTES = 3145728
STRIPPED = {(("f", "apiVersion"),), (("f", "kind"),), (("f", "metadata"),)} | {
    (("f", "metadata"), ("f", name)) for name in ("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation",
                                                  "managedFields", "resourceVersion", "deletionTimestamp",
                                                  "deletionGracePeriodSeconds")}
USERS = {"admin-token": "admin", "dev-token": "dev"}


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Refusal(Exception):
    def __init__(self, code, message, reason=None, details=None, metadata=None, text=None, headers=None):
        super().__init__(message)
        self.code, self.text, self.headers = code, text, headers or {}
        self.body = {"kind": "Status", "apiVersion": "v1", "metadata": metadata or {}, "status": "Failure",
                     "message": message, "code": code}
        if reason:
            self.body["reason"] = reason
        if details is not None:
            self.body["details"] = details


def plain(code, text):
    return Refusal(code, text, text=text)


class Kind:
    def __init__(self, group, version, resource, definition=None):
        self.group, self.version, self.name = group, version, resource["name"]
        self.kind, self.namespaced = resource["kind"], resource["namespaced"]
        self.definition = definition
        self.type = kinds.type_of(group, self.kind, definition)
        self.api_version = f"{group}/{version}" if group else version
        self.key = (group, self.name)

    def details(self, name=None, by_kind=False, **more):
        made = {"name": name} if name else {}
        if self.group:
            made["group"] = self.group
        return {**made, "kind": self.kind if by_kind else self.name, **more}

    def title(self):
        return f"{self.name}.{self.group}" if self.group else self.name

    def kind_title(self):
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def not_found(self, name):
        return Refusal(404, f'{self.title()} "{name}" not found', "NotFound", self.details(name))


class Cluster:
    """What is stored, with every change, so that watches can be replayed."""

    def __init__(self, settle):
        self.lock = threading.Condition(threading.RLock())
        self.version, self.compacted = 200, 0
        self.objects, self.events, self.log = {}, [], []
        self.settle, self.failures, self.addresses = settle, [], 0
        self.discovery = json.load(open(os.path.join(HERE, "discovery.json")))
        self.custom = {}
        with self.lock:
            self.begin()

    def begin(self):
        for name in ("default", "kube-system"):
            self.write(self.kind("", "v1", "namespaces"), None, {
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            self.furnish(name)

    def kind(self, group, version, resource):
        listed = self.resources(group, version)
        for each in listed:
            if each["name"] == resource:
                definition = self.custom.get((group, version), {}).get(resource)
                return Kind(group, version, each, definition and definition["schema"])
        if not listed and group not in {each["name"] for each in self.groups()} and group:
            raise plain(404, "404 page not found\n")
        raise Refusal(404, "the server could not find the requested resource", "NotFound", {})

    def groups(self):
        return self.discovery["/apis"]["groups"] + [{"name": "discovery.k8s.io"}, {"name": "apiextensions.k8s.io"}]

    def resources(self, group, version):
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        listed = list(self.discovery.get(path, {}).get("resources", []))
        for name, each in self.custom.get((group, version), {}).items():
            listed.append({"name": name, "singularName": each["singular"], "namespaced": each["namespaced"],
                           "kind": each["kind"], "verbs": ["delete", "deletecollection", "get", "list", "patch", "create",
                                                           "update", "watch"], "storageVersionHash": "x"})
            if each["status"]:
                listed.append({"name": name + "/status", "singularName": "", "namespaced": each["namespaced"],
                               "kind": each["kind"], "verbs": ["get", "patch", "update"]})
        return listed

    def address(self):
        self.addresses += 1
        return f"10.0.{self.addresses // 250}.{self.addresses % 250 + 1}"

    # ---- storing

    def record(self, what, kind, made, before=None):
        self.events.append((self.version, what, kind.key, copy.deepcopy(made), before))
        self.lock.notify_all()

    def write(self, kind, live, made):
        """Keeps an object under the next version."""
        metadata = made["metadata"]
        kinds.complete(kind.group, kind.kind, made, self.address)
        if live is None:
            metadata.setdefault("uid", str(uuid.uuid4()))
            metadata["creationTimestamp"] = now()
            if kind.kind in kinds.GENERATIONS or kind.definition:
                metadata["generation"] = 1
        elif "generation" in metadata and made.get("spec") != live.get("spec"):
            metadata["generation"] += 1
        self.version += 1
        metadata["resourceVersion"] = str(self.version)
        self.objects.setdefault(kind.key, {})[(metadata.get("namespace", ""), metadata["name"])] = made
        self.record("MODIFIED" if live else "ADDED", kind, made, live)
        self.control(kind, made)
        return made

    def drop(self, kind, made, keep_version=False):
        del self.objects[kind.key][(made["metadata"].get("namespace", ""), made["metadata"]["name"])]
        if not keep_version:
            self.version += 1
        gone = copy.deepcopy(made)
        gone["metadata"]["resourceVersion"] = str(self.version)
        self.record("DELETED", kind, gone, made)

    def furnish(self, name):
        """What the controllers put into every namespace."""
        for kind, body in (("serviceaccounts", {"kind": "ServiceAccount", "metadata": {"name": "default"}}),
                           ("configmaps", {"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "annotations": {
                               "kubernetes.io/description": "Contains a CA bundle that can be used to verify the "
                               "kube-apiserver when using internal endpoints such as the internal service IP or "
                               "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
                               "clusters."}}, "data": {"ca.crt": ""}})):
            known = self.kind("", "v1", kind)
            body["apiVersion"] = "v1"
            body["metadata"]["namespace"] = name
            body = self.managed_update(known, None, body, "kube-controller-manager")
            self.write(known, None, body)

    def control(self, kind, made):
        """The controllers, as far as there are any."""
        if kind.kind == "Namespace" and kind.group == "" and made["metadata"]["name"] not in ("default", "kube-system") \
                and made["status"]["phase"] == "Active" \
                and (made["metadata"]["name"], "default") not in self.objects.get(("", "serviceaccounts"), {}):
            self.furnish(made["metadata"]["name"])
        if kind.kind == "CustomResourceDefinition" and not (made["status"].get("conditions")):
            threading.Timer(0.05, self.establish, (kind, made["metadata"]["name"])).start()
        if kind.kind == "Deployment" and self.settle:
            self.settle_deployment(kind, made)

    def establish(self, kind, name):
        with self.lock:
            live = self.objects.get(kind.key, {}).get(("", name))
            if not live:
                return
            made, spec = copy.deepcopy(live), live["spec"]
            names = spec["names"]
            made["status"].update(acceptedNames=copy.deepcopy(names), conditions=[
                {"type": "NamesAccepted", "status": "True", "lastTransitionTime": now(), "reason": "NoConflicts",
                 "message": "no conflicts found"},
                {"type": "Established", "status": "True", "lastTransitionTime": now(), "reason": "InitialNamesAccepted",
                 "message": "the initial names have been accepted"}])
            made = self.managed_update(kind, live, made, "kube-apiserver", "status")
            self.write(kind, live, made)
            for each in spec["versions"]:
                if each["served"]:
                    self.custom.setdefault((spec["group"], each["name"]), {})[names["plural"]] = {
                        "singular": names.get("singular", ""), "kind": names["kind"],
                        "namespaced": spec["scope"] == "Namespaced", "schema": each["schema"]["openAPIV3Schema"],
                        "status": "status" in each.get("subresources", {})}

    def settle_deployment(self, kind, made):
        wanted, generation = made["spec"]["replicas"], made["metadata"]["generation"]
        how = made["metadata"].get("annotations", {}).get("test.sluice.dev/status", "ready")
        if made["status"].get("observedGeneration") == generation:
            return
        done = copy.deepcopy(made)
        status = {"observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted}
        if how == "ready":
            status.update(readyReplicas=wanted, availableReplicas=wanted, conditions=[
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "",
                 "lastTransitionTime": now(), "lastUpdateTime": now()}])
        elif how == "quota":
            status = {"observedGeneration": generation, "unavailableReplicas": wanted, "conditions": [
                {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "lastTransitionTime": now(),
                 "lastUpdateTime": now(), "message": "pods are forbidden: exceeded quota: q"}]}
        else:
            status.update(unavailableReplicas=wanted)
        done["status"] = status
        done["metadata"].setdefault("annotations", {}).setdefault("deployment.kubernetes.io/revision", "1")
        done = self.managed_update(kind, made, done, "kube-controller-manager", "status")
        self.write(kind, made, done)

    # ---- managed fields

    @staticmethod
    def entries(made):
        found = []
        for each in (made or {}).get("metadata", {}).get("managedFields", []):
            found.append([each, fields.from_fields_v1(each["fieldsV1"])])
        return found

    @staticmethod
    def bare(made):
        made = copy.deepcopy(made) if made else {}
        made.get("metadata", {}).pop("managedFields", None)
        return made

    def keep(self, made, entries):
        kept = []
        for entry, paths in entries:
            paths = {each for each in paths if each not in STRIPPED and each}
            if paths:
                kept.append({**entry, "fieldsV1": fields.to_fields_v1(paths)})
        kept.sort(key=lambda each: (each["operation"] != "Apply", each["time"] if each["operation"] != "Apply" else "",
                                    each["manager"]))
        made["metadata"].pop("managedFields", None)
        if kept:
            made["metadata"]["managedFields"] = kept
        return made

    def managed_update(self, kind, live, made, manager, subresource=None):
        """Who owns what after an object was replaced as a whole."""
        entries = self.entries(live)
        done = copy.deepcopy(made)
        kinds.complete(kind.group, kind.kind, done, lambda: "10.0.0.1")
        removed, changed, added = fields.compared(self.bare(live) if live else {}, self.bare(made), kind.type)
        new = {each for each in changed | added if each not in STRIPPED}
        for entry, paths in entries:
            paths -= removed | changed
        mine = next((each for each in entries if each[0]["manager"] == manager and each[0]["operation"] == "Update"
                     and each[0].get("subresource") == subresource), None)
        if new:
            if mine is None:
                entry = {"manager": manager, "operation": "Update", "apiVersion": kind.api_version, "time": now(),
                         "fieldsType": "FieldsV1"}
                if subresource:
                    entry["subresource"] = subresource
                mine = [entry, set()]
                entries.append(mine)
            mine[0]["time"] = now()
            mine[1] |= new
        return self.keep(copy.deepcopy(made), entries)

    def apply(self, kind, live, config, manager, force):
        """Server-side apply: the merged object, with what each manager owns of it."""
        name = config["metadata"]["name"]
        where = f"{config['metadata'].get('namespace', '') if not kind.definition else ''}/{name}"
        try:
            fields.check(config, kind.type)
        except fields.TypeFault as fault:
            raise Refusal(500, f"failed to create typed patch object ({where}; {kind.api_version}, Kind={kind.kind}): "
                               f"{fault}") from None
        config = self.bare(config)
        mine = {each for each in fields.owned(config, kind.type) if each not in STRIPPED}
        entries = self.entries(live)
        before = self.bare(live)
        made = fields.merged(before, config, kind.type) if live else copy.deepcopy(config)
        own = next((each for each in entries if each[0]["manager"] == manager and each[0]["operation"] == "Apply"), None)
        others = [each for each in entries if each is not own]
        if own:
            gone = {each for each in own[1] - mine if not any(each in paths for _, paths in others)}
            made = fields.without(made, kind.type, gone)
        removed, changed, added = fields.compared(before, made, kind.type)
        touched = (changed | added) & mine
        conflicts = []
        for entry, paths in others:
            for path in sorted(paths & touched):
                if path not in added or path in changed:
                    conflicts.append((entry, path))
        if conflicts and not force:
            self.refuse_conflicts(conflicts)
        for entry, paths in others:
            paths -= {path for other, path in conflicts if other is entry}
            paths -= removed
        if own is None:
            own = [{"manager": manager, "operation": "Apply", "apiVersion": kind.api_version, "time": now(),
                    "fieldsType": "FieldsV1"}, set()]
            others.append(own)
        else:
            others.append(own)
        if own[1] != mine or made != before:
            own[0]["time"] = now()
        own[1] = mine
        return self.keep(made, others)

    @staticmethod
    def refuse_conflicts(conflicts):
        def who(entry):
            text = f'conflict with "{entry["manager"]}"'
            if entry.get("subresource"):
                text += f' with subresource "{entry["subresource"]}"'
            return text + (f' using {entry["apiVersion"]}' if entry["operation"] == "Update" else "")

        causes = [{"reason": "FieldManagerConflict", "message": who(entry), "field": fields.shown(path)}
                  for entry, path in conflicts]
        if len(conflicts) == 1:
            text = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
        else:
            lines = {}
            for cause in causes:
                lines.setdefault(cause["message"], []).append(cause["field"])
            text = f"Apply failed with {len(conflicts)} conflicts: conflicts " + "\nconflicts ".join(
                message.removeprefix("conflict ") + ":\n- " + "\n- ".join(each) for message, each in lines.items())
        raise Refusal(409, text, "Conflict", {"causes": causes})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster = None

    def log_message(self, *_):
        pass

    def do(self):
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        url = urlsplit(self.path)
        self.query = dict(parse_qsl(url.query, keep_blank_values=True))
        try:
            if url.path.startswith("/test/"):
                return self.switch(url.path, raw)
            if self.fails(url.path):
                return None
            self.authenticate()
            if length > MOST_BYTES:
                raise Refusal(413, f"Request entity too large: limit is {MOST_BYTES}", "RequestEntityTooLarge")
            status, body = self.route(url.path, raw)
            if body is not None:
                self.answer(status, body)
        except Refusal as refusal:
            self.answer(refusal.code, refusal.body if refusal.text is None else refusal.text, refusal.headers)
        return None

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

    def answer(self, status, body, headers=None):
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    # ---- switches of the tests

    def switch(self, path, raw):
        body = json.loads(raw or b"{}")
        with self.cluster.lock:
            if path == "/test/fail":
                self.cluster.failures.append(body)
            elif path == "/test/compact":
                self.cluster.compacted = self.cluster.version
            elif path == "/test/log":
                return self.answer(200, {"requests": self.cluster.log})
            elif path == "/test/forget":
                self.cluster.log.clear()
            elif path == "/test/version":
                return self.answer(200, {"version": self.cluster.version})
        return self.answer(200, {})

    def fails(self, path):
        with self.cluster.lock:
            self.cluster.log.append(f"{self.command} {self.path}")
            for each in self.cluster.failures:
                if each.get("method") not in (None, self.command) or each.get("path", "") not in path:
                    continue
                if each.get("after", 0) > 0:
                    each["after"] -= 1
                    continue
                each["count"] = each.get("count", 1) - 1
                if each["count"] <= 0:
                    self.cluster.failures.remove(each)
                if each.get("cut"):
                    self.close_connection = True
                    self.connection.close()
                elif each["status"] == 429:
                    self.answer(429, "Too many requests, please try again later.\n", {"Retry-After": "1"})
                else:
                    self.answer(each["status"], each.get("body", Refusal(each["status"], "a failure of the test").body),
                                each.get("headers"))
                return True
        return False

    # ---- who, and may they

    def authenticate(self):
        said = self.headers.get("authorization", "")
        if not said:
            self.user = "system:anonymous"
        else:
            self.user = USERS.get(said.removeprefix("Bearer "))
            if self.user is None:
                raise Refusal(401, "Unauthorized", "Unauthorized")

    def authorize(self, verb, kind, namespace, name):
        if self.user == "admin":
            return
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        what = f'{kind.title()} "{name}" is' if name else f"{kind.title()} is"
        raise Refusal(403, f'{what} forbidden: User "{self.user}" cannot {verb} resource "{kind.name}" in API group '
                           f'"{kind.group}" {where}', "Forbidden", kind.details(name))

    # ---- routes

    def route(self, path, raw):
        cluster = self.cluster
        if path == "/readyz":
            return 200, "ok"
        if path in cluster.discovery and self.command == "GET":
            return 200, cluster.discovery[path]
        parts = [unquote(each) for each in path.strip("/").split("/")]
        if parts[:1] == ["api"] and len(parts) >= 2:
            group, version, rest = "", parts[1], parts[2:]
        elif parts[:1] == ["apis"] and len(parts) >= 3:
            group, version, rest = parts[1], parts[2], parts[3:]
        else:
            raise plain(404, "404 page not found\n")
        if not rest:
            if self.command != "GET" and (group, version) in (("", "v1"),):
                raise Refusal(405, "the server does not allow this method on the requested resource", "MethodNotAllowed", {})
            resources = cluster.resources(group, version)
            if not resources:
                raise plain(404, "404 page not found\n")
            return 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}",
                         "resources": resources}
        if group in ("authorization.k8s.io", "authentication.k8s.io"):
            return self.review(group, version, rest, raw)
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            namespace, rest = rest[1], rest[2:]
        with cluster.lock:
            kind = cluster.kind(group, version, rest[0])
        name, subresource = (rest + [None, None])[1:3]
        accept = self.headers.get("accept", "*/*")
        if not any(each in accept for each in ("json", "yaml", "*/*", "protobuf", "application/*")):
            raise Refusal(406, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
                               "application/vnd.kubernetes.protobuf", "NotAcceptable", {})
        if self.command == "GET" and name is None:
            if self.query.get("watch") in ("1", "true"):
                self.authorize("watch", kind, namespace, None)
                return self.watch(kind, namespace)
            self.authorize("list", kind, namespace, None)
            return self.list(kind, namespace)
        verb = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[self.command]
        self.authorize(verb if name or verb == "create" else "deletecollection", kind, namespace, name)
        if self.command == "GET":
            with cluster.lock:
                return 200, self.one(kind, namespace, name)
        if subresource == "token":
            return self.token(namespace, name, json.loads(raw))
        if self.command == "DELETE":
            return self.delete(kind, namespace, name, raw)
        return self.change(kind, namespace, name, subresource, raw)

    def one(self, kind, namespace, name):
        found = self.cluster.objects.get(kind.key, {}).get((namespace if kind.namespaced else "", name))
        if found is None:
            raise kind.not_found(name)
        return found

    # ---- reviews and tokens

    def review(self, group, version, rest, raw):
        body = json.loads(raw)
        if rest[0] == "selfsubjectreviews":
            raise Refusal(404, "the server could not find the requested resource", "NotFound", {})
        spec = body.get("spec", {})
        made = {"kind": body["kind"], "apiVersion": f"{group}/{version}", "metadata": {"creationTimestamp": None},
                "spec": spec}
        if rest[0] == "selfsubjectaccessreviews":
            made["status"] = {"allowed": self.user == "admin"}
            kind = fields.Struct({"resourceAttributes": fields.Struct({}, open=True, dotted=True)}, open=True)
        elif rest[0] == "selfsubjectrulesreviews":
            anybody = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
            made["spec"] = {}
            made["status"] = {"incomplete": False, "resourceRules": [
                {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
                 "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]}], "nonResourceRules": [
                {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                                                       "/openapi/*", "/readyz", "/version", "/version/"]},
                {"verbs": ["get"], "nonResourceURLs": anybody}]}
            return 201, made
        else:
            made["status"] = {"user": {}, "error": "invalid bearer token"}
            kind = fields.Struct({}, open=True)
        _, changed, added = fields.compared({}, {"spec": spec}, fields.Struct({"spec": kind}))
        made["metadata"]["managedFields"] = [{
            "manager": "unknown", "operation": "Update", "apiVersion": f"{group}/{version}", "time": now(),
            "fieldsType": "FieldsV1", "fieldsV1": fields.to_fields_v1(changed | added)}]
        return 201, made

    def token(self, namespace, name, body):
        seconds = body["spec"].get("expirationSeconds", 3600)
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return 201, {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {
            "name": name, "namespace": namespace, "creationTimestamp": now(), "managedFields": [{
                "manager": "unknown", "operation": "Update", "apiVersion": "authentication.k8s.io/v1", "time": now(),
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:expirationSeconds": {}}}, "subresource": "token"}]},
            "spec": {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": seconds, "boundObjectRef": None},
            "status": {"token": "<a JWT>", "expirationTimestamp": until}}

    # ---- lists and watches

    def selects(self, made):
        labels = made["metadata"].get("labels", {})
        for each in filter(None, self.query.get("labelSelector", "").split(",")):
            key, _, value = each.replace("==", "=").partition("=")
            if key.endswith("!"):
                if labels.get(key[:-1]) == value:
                    return False
            elif "=" in each and labels.get(key) != value or key not in labels:
                return False
        for each in filter(None, self.query.get("fieldSelector", "").split(",")):
            key, _, value = each.partition("=")
            at = made
            for part in key.split("."):
                at = at.get(part) if isinstance(at, dict) else None
            if at != value:
                return False
        return True

    def partial(self):
        return "as=PartialObjectMetadata" in self.headers.get("accept", "")

    def list(self, kind, namespace):
        cluster = self.cluster
        with cluster.lock:
            start, version = "", cluster.version
            if token := self.query.get("continue"):
                start, version = self.read_continue(token)
            if self.query.get("resourceVersionMatch") == "Exact" and int(self.query["resourceVersion"]) <= cluster.compacted:
                raise Refusal(410, "The resourceVersion for the provided list is too old.", "Expired")
            found = sorted((key, made) for key, made in cluster.objects.get(kind.key, {}).items()
                           if (not namespace or key[0] == namespace) and self.selects(made))
            found = [(key, made) for key, made in found if (key[1] if namespace else "/".join(key)) + "\0" > start]
            metadata, limit = {"resourceVersion": str(version)}, int(self.query.get("limit") or 0)
            if limit and len(found) > limit:
                last = found[limit - 1][0]
                metadata["continue"] = self.continue_token(version, (last[1] if namespace else "/".join(last)) + "\0")
                if not self.query.get("labelSelector") and not self.query.get("fieldSelector"):
                    metadata["remainingItemCount"] = len(found) - limit
                found = found[:limit]
            if self.partial():
                return 200, {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
                             "items": [{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                                        "metadata": made["metadata"]} for _, made in found]}
            items = [made if kind.definition else {name: each for name, each in made.items()
                                                   if name not in ("kind", "apiVersion")} for _, made in found]
            return 200, {"kind": kind.kind + "List", "apiVersion": kind.api_version, "metadata": metadata, "items": items}

    @staticmethod
    def continue_token(version, start):
        text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def read_continue(self, token):
        try:
            read = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        except ValueError:
            raise Refusal(400, "invalid continue token: continue key is not valid: invalid character '\\u009e' looking for "
                               "beginning of value", "BadRequest") from None
        if 0 <= read["rv"] <= self.cluster.compacted:
            raise Refusal(410, "The provided continue parameter is too old to display a consistent list result. You can start "
                               "a new list without the continue parameter, or use the continue token in this response to "
                               "retrieve the remainder of the results. Continuing with the provided token results in an "
                               "inconsistent list - objects that were created, modified, or deleted between the time the "
                               "first chunk was returned and now may show up in the list.", "Expired",
                          metadata={"continue": self.continue_token(-1, read["start"])})
        return read["start"], self.cluster.version if read["rv"] < 0 else read["rv"]

    def watch(self, kind, namespace):
        cluster = self.cluster
        until = time.monotonic() + float(self.query.get("timeoutSeconds", 60))
        version = self.query.get("resourceVersion")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with cluster.lock:
            if version and 0 < int(version) < cluster.compacted:
                self.chunk({"type": "ERROR", "object": Refusal(
                    410, f"too old resource version: {version} ({cluster.compacted})", "Expired").body})
                self.wfile.write(b"0\r\n\r\n")
                return None, None
            place = 0
            if not version or version == "0":
                for key, made in sorted(cluster.objects.get(kind.key, {}).items()):
                    if (not namespace or key[0] == namespace) and self.selects(made):
                        self.send_event("ADDED", made)
                place = len(cluster.events)
            bookmarks = self.query.get("allowWatchBookmarks") == "true"
            bookmark_at = time.monotonic() + 1
            while time.monotonic() < until:
                while place < len(cluster.events):
                    at, what, key, made, before = cluster.events[place]
                    place += 1
                    if key != kind.key or (version and at <= int(version)):
                        continue
                    if namespace and made["metadata"].get("namespace") != namespace:
                        continue
                    selected, was = self.selects(made), before is not None and self.selects(before)
                    if what == "DELETED" and was:
                        self.send_event("DELETED", made)
                    elif what != "DELETED" and selected:
                        self.send_event("MODIFIED" if was else "ADDED", made)
                    elif what != "DELETED" and was:
                        self.send_event("DELETED", {**before, "metadata": {
                            **before["metadata"], "resourceVersion": made["metadata"]["resourceVersion"]}})
                if bookmarks and time.monotonic() > bookmark_at:
                    bookmark_at = time.monotonic() + 60
                    self.chunk({"type": "BOOKMARK", "object": {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {
                        "resourceVersion": str(cluster.version)}}})
                cluster.lock.wait(min(0.2, max(0, until - time.monotonic())))
        self.wfile.write(b"0\r\n\r\n")
        return None, None

    def send_event(self, what, made):
        if self.partial():
            made = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
        self.chunk({"type": what, "object": made})

    def chunk(self, event):
        text = (json.dumps(event) + "\n").encode()
        self.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")
        self.wfile.flush()

    # ---- changes

    def change(self, kind, namespace, name, subresource, raw):
        cluster, how = self.cluster, (self.headers.get("content-type") or "").split(";")[0]
        manager = self.query.get("fieldManager") or "unknown"
        if self.command == "PATCH" and how not in (
                "application/apply-patch+yaml", "application/merge-patch+json", "application/json-patch+json",
                "application/strategic-merge-patch+json"):
            raise Refusal(415, "415: Unsupported Media Type", "UnsupportedMediaType", {})
        try:
            body = yaml.safe_load(raw) if how == "application/apply-patch+yaml" else json.loads(raw)
        except (ValueError, yaml.YAMLError) as fault:
            raise Refusal(400, f"error decoding patch: {fault}", "BadRequest") from None
        with cluster.lock:
            self.cluster_space(kind, namespace, body if isinstance(body, dict) else {}, name)
            live = cluster.objects.get(kind.key, {}).get((namespace if kind.namespaced else "",
                                                          name or body.get("metadata", {}).get("name")))
            if how == "application/apply-patch+yaml":
                if "fieldManager" not in self.query:
                    raise Refusal(422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for '
                                       "apply patch", "Invalid", {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [{
                                           "reason": "FieldValueRequired", "field": "fieldManager",
                                           "message": "Required value: is required for apply patch"}]})
                made = cluster.apply(kind, live, body, manager, self.query.get("force") == "true")
            else:
                made = self.replaced(kind, live, name, body, how)
                if self.command == "POST" and live is not None:
                    raise Refusal(409, f'{kind.title()} "{body["metadata"]["name"]}" already exists', "AlreadyExists",
                                  kind.details(body["metadata"]["name"]))
                if subresource == "status":
                    made = {**copy.deepcopy(live), "status": made.get("status")}
                made = cluster.managed_update(kind, live, made, manager, subresource)
            if kind.namespaced:
                made["metadata"]["namespace"] = namespace
            return self.store(kind, live, made)

    def cluster_space(self, kind, namespace, body, name):
        """The namespace must be there, be the object's own, and go on living."""
        said = body.get("metadata", {}).get("namespace")
        if kind.namespaced and said and said != namespace:
            raise Refusal(400, "the namespace of the provided object does not match the namespace sent on the request",
                          "BadRequest")
        if not kind.namespaced:
            return
        space = self.cluster.objects[("", "namespaces")].get(("", namespace))
        if space is None:
            raise Refusal(404, f'namespaces "{namespace}" not found', "NotFound", {"name": namespace, "kind": "namespaces"})

    def replaced(self, kind, live, name, body, how):
        if self.command == "POST":
            return copy.deepcopy(body)
        if live is None:
            raise kind.not_found(name)
        if self.command == "PUT":
            version = body["metadata"].get("resourceVersion")
            if version and version != live["metadata"]["resourceVersion"]:
                raise Refusal(409, f'Operation cannot be fulfilled on {kind.title()} "{name}": the object has been modified; '
                                   "please apply your changes to the latest version and try again", "Conflict",
                              kind.details(name))
            made = copy.deepcopy(body)
            for field in ("uid", "creationTimestamp", "generation"):
                if field in live["metadata"]:
                    made["metadata"][field] = live["metadata"][field]
            if "status" in live:
                made["status"] = copy.deepcopy(live["status"])
            return made
        if how == "application/json-patch+json":
            return self.json_patched(copy.deepcopy(live), body)
        return self.merge_patched(copy.deepcopy(live), body)

    def merge_patched(self, live, patch):
        for name, value in patch.items():
            if value is None:
                live.pop(name, None)
            elif isinstance(value, dict) and isinstance(live.get(name), dict):
                live[name] = self.merge_patched(live[name], value)
            else:
                live[name] = value
        return live

    @staticmethod
    def json_patched(live, patch):
        refused = Refusal(422, "the server rejected our request due to an error in our request", "Invalid", {})
        for each in patch:
            parts = [part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")[1:]]
            at = live
            for part in parts[:-1]:
                at = at[int(part)] if isinstance(at, list) else at.get(part)
                if at is None:
                    raise refused
            last = int(parts[-1]) if isinstance(at, list) and parts[-1] != "-" else parts[-1]
            if each["op"] in ("add", "replace"):
                if isinstance(at, list):
                    at.insert(len(at) if last == "-" else last, each["value"])
                else:
                    at[last] = each["value"]
            elif each["op"] == "remove":
                del at[last]
            elif each["op"] == "test" and at.get(last) != each["value"]:
                raise refused
        return live

    def store(self, kind, live, made):
        cluster, name, dry = self.cluster, made["metadata"]["name"], "dryRun" in self.query
        done = copy.deepcopy(made)
        kinds.complete(kind.group, kind.kind, done, cluster.address if not dry else lambda: "10.0.0.1")
        causes = [{"reason": reason, "message": message, "field": field}
                  for reason, message, field in kinds.faults(kind.kind, done, live, kind.definition)]
        if causes:
            text = ", ".join(f"{each['field']}: {each['message']}" for each in causes)
            text = f"[{text}]" if len(causes) > 1 else text
            raise Refusal(422, f'{kind.kind_title()} "{name}" is invalid: {text}', "Invalid",
                          kind.details(name, by_kind=True, causes=causes))
        if live is None:
            self.check_space(kind, done)
            self.check_quota(kind, done)
        else:
            if cluster.bare(done) == cluster.bare(live) and [
                    {**each, "time": ""} for each in done["metadata"].get("managedFields", [])] == [
                    {**each, "time": ""} for each in live["metadata"].get("managedFields", [])]:
                return 200, live
            if live["metadata"].get("deletionTimestamp") and not done["metadata"].get("finalizers"):
                gone = copy.deepcopy(done)
                if not dry:
                    cluster.drop(kind, live)
                return 200, gone
        if dry:
            done["metadata"].setdefault("uid", str(uuid.uuid4()))
            done["metadata"].setdefault("creationTimestamp", now())
            if live is None and (kind.kind in kinds.GENERATIONS or kind.definition):
                done["metadata"]["generation"] = 1
            return (200 if live else 201), done
        return (200 if live else 201), copy.deepcopy(self.written(kind, live, done))

    def written(self, kind, live, done):
        """As it was stored, before controllers touch it."""
        cluster = self.cluster
        kept = copy.deepcopy(done)
        result = {}

        def remember(what, key, made, before):
            result.setdefault("made", copy.deepcopy(made))

        original = cluster.record
        cluster.record = lambda what, k, m, b=None: (remember(what, k, m, b), original(what, k, m, b))
        try:
            cluster.write(kind, live, kept)
        finally:
            cluster.record = original
        return result["made"]

    def check_space(self, kind, made):
        space = self.cluster.objects[("", "namespaces")].get(("", made["metadata"].get("namespace", "")))
        if space and space["status"]["phase"] == "Terminating":
            name, where = made["metadata"]["name"], space["metadata"]["name"]
            raise Refusal(403, f'{kind.title()} "{name}" is forbidden: unable to create new content in namespace {where} '
                               "because it is being terminated", "Forbidden", kind.details(name, causes=[{
                                   "reason": "NamespaceTerminating", "message": f"namespace {where} is being terminated",
                                   "field": "metadata.namespace"}]))

    def check_quota(self, kind, made):
        namespace, name = made["metadata"].get("namespace", ""), made["metadata"]["name"]
        resource = "pods" if kind.kind == "Pod" else f"count/{kind.title()}"
        for (space, quota), each in self.cluster.objects.get(("", "resourcequotas"), {}).items():
            hard = each["spec"].get("hard", {}).get(resource)
            used = sum(1 for key in self.cluster.objects.get(kind.key, {}) if key[0] == namespace)
            if space == namespace and hard is not None and used >= int(hard):
                raise Refusal(403, f'{kind.title()} "{name}" is forbidden: exceeded quota: {quota}, requested: {resource}=1, '
                                   f"used: {resource}={used}, limited: {resource}={hard}", "Forbidden", kind.details(name))

    def delete(self, kind, namespace, name, raw):
        cluster, options = self.cluster, json.loads(raw) if raw else {}
        dry = "dryRun" in self.query or "dryRun" in options
        with cluster.lock:
            if name is None:
                found = [made for key, made in sorted(cluster.objects.get(kind.key, {}).items())
                         if key[0] == namespace and self.selects(made)]
                for made in found:
                    cluster.drop(kind, made)
                return 200, {"kind": kind.kind + "List", "apiVersion": kind.api_version,
                             "metadata": {"resourceVersion": str(cluster.version)},
                             "items": [{n: each for n, each in made.items() if n not in ("kind", "apiVersion")}
                                       for made in found]}
            live = self.one(kind, namespace, name)
            uid = options.get("preconditions", {}).get("uid")
            if uid and uid != live["metadata"]["uid"]:
                raise Refusal(409, f'Operation cannot be fulfilled on {kind.kind} "{name}": the UID in the precondition ({uid}) '
                                   f"does not match the UID in record ({live['metadata']['uid']}). The object might have been "
                                   "deleted and then recreated", "Conflict", {"name": name, "kind": kind.kind})
            made = copy.deepcopy(live)
            if kind.kind == "Namespace":
                made["metadata"].setdefault("deletionTimestamp", now())
                made["status"]["phase"] = "Terminating"
                result = copy.deepcopy(cluster.write(kind, live, made))
                threading.Timer(2, self.finish_space, (kind, name)).start()
                return 200, result
            if options.get("propagationPolicy") == "Foreground":
                made["metadata"].setdefault("finalizers", []).append("foregroundDeletion")
                threading.Timer(0.1, self.finish_foreground, (kind, namespace, name)).start()
            if made["metadata"].get("finalizers"):
                if not live["metadata"].get("deletionTimestamp"):
                    made["metadata"].update(deletionTimestamp=now(), deletionGracePeriodSeconds=0)
                    if "generation" in made["metadata"]:
                        made["metadata"]["generation"] += 1
                    live = cluster.write(kind, live, made)
                return 200, live
            if not dry:
                cluster.drop(kind, live)
            return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                         "details": kind.details(name, uid=live["metadata"]["uid"])}

    def finish_foreground(self, kind, namespace, name):
        with self.cluster.lock:
            live = self.cluster.objects.get(kind.key, {}).get((namespace, name))
            if live:
                self.cluster.drop(kind, live)

    def finish_space(self, kind, name):
        cluster = self.cluster
        with cluster.lock:
            left = False
            for (group, resource), held in list(cluster.objects.items()):
                for key, made in list(held.items()):
                    if key[0] != name:
                        continue
                    if made["metadata"].get("finalizers"):
                        left = True
                        continue
                    version = next((v for (g, v) in cluster.custom if g == group), None)
                    drop_kind = cluster.kind(group, made["apiVersion"].rsplit("/", 1)[-1] if version is None else version,
                                             resource)
                    cluster.drop(drop_kind, made)
            live = cluster.objects[("", "namespaces")].get(("", name))
            if live and not left:
                cluster.drop(kind, live)


def certificate(folder):
    """A certificate authority and what it signed for 127.0.0.1."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test ca",
        "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.pem")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=kube", "-keyout",
        f"{folder}/server.key", "-out", f"{folder}/server.csr")
    with open(f"{folder}/names.cnf", "w") as names:
        names.write("subjectAltName=IP:127.0.0.1\n")
    run("x509", "-req", "-in", f"{folder}/server.csr", "-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key", "-days", "2",
        "-CAcreateserial", "-extfile", f"{folder}/names.cnf", "-out", f"{folder}/server.pem")


def kubeconfig(url, folder, tls):
    cluster = {"server": url, **({"certificate-authority": "ca.pem"} if tls else {})}
    return {"apiVersion": "v1", "kind": "Config", "current-context": "admin",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}} for token, user in USERS.items()],
            "contexts": [{"name": user, "context": {"cluster": "test", "user": user, "namespace": "default"}}
                         for user in USERS.values()]}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        """A client that goes away is no error of the server."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--settle", action="store_true")
    given = parser.parse_args()
    Handler.cluster = Cluster(given.settle)
    server = Server(("127.0.0.1", given.port), Handler)
    if given.tls:
        certificate(given.folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{given.folder}/server.pem", f"{given.folder}/server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    url = f"{'https' if given.tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    with open(f"{given.folder}/kubeconfig", "w") as config:
        yaml.safe_dump(kubeconfig(url, given.folder, given.tls), config)
    print(url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
