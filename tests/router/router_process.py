"""The router as tests drive it: tables, the process, and its control socket, spoken as docs/internals/router.md says and
not by the router's own code."""

import base64
import hashlib
import json
import os
import signal
import subprocess

import wire
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DEPLOYMENT = "01JABCDEFGHJKMNPQRSTVWXYZ0"


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pre_authentication_encoding(kind, body):
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)


class Key:
    """An operator's key."""

    def __init__(self):
        self.private = Ed25519PrivateKey.generate()
        self.raw = self.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.id = hashlib.sha256(self.raw).digest()[:16].hex()

    def pem(self):
        return self.private.public_key().public_bytes(serialization.Encoding.PEM,
                                                      serialization.PublicFormat.SubjectPublicKeyInfo)

    def sign(self, kind, body):
        return self.private.sign(pre_authentication_encoding(kind, body))

    def envelope(self, kind, body):
        return json.dumps({"payloadType": kind, "payload": base64.b64encode(body).decode(),
                           "signatures": [{"keyid": self.id, "sig": base64.b64encode(self.sign(kind, body)).decode()}]})

    def token(self, deployment, revision, expires, environment="local"):
        payload = json.dumps({"e": environment, "d": deployment, "r": revision, "x": int(expires)}).encode()
        return f"{unpadded(payload)}.{unpadded(self.sign('application/vnd.sluice.debug-token+json', payload))}"


def revision(name, weight, *addresses, **more):
    return {"id": name, "weight_bps": weight, "replicas": [{"address": address} for address in addresses], **more}


def deployment(*revisions, name=DEPLOYMENT, mode="none", hosts=("app.example",), prefixes=("/",), sticky=None, **more):
    """A deployment of a table. By default nothing sticks, so that a test of one thing is not one of cookies as well."""
    return {"id": name, "bundle": "app", "customer": "acme", "tenant": "default", "team": "default",
            "routes": {"hosts": list(hosts), "path_prefixes": list(prefixes)},
            "stickiness": {"mode": mode, "secure": False, **(sticky or {})}, "revisions": list(revisions), **more}


COOKIE_KEYS = [{"id": "k1", "key": unpadded(bytes(range(32)))}]


def table(*deployments, generation=1, **more):
    return {"schema": "sluice.router-table.v1", "environment": "local", "generation": generation, "cookie_keys": COOKIE_KEYS,
            "deployments": list(deployments), **more}


class Control:
    """A connection to the control socket."""

    def __init__(self, path):
        self.sock = wire.connect(f"unix:{path}")
        self.stream = wire.Stream(self.sock)

    def ask(self, body=b"", **request):
        if body:
            request["bytes"] = len(body)
        self.sock.sendall(json.dumps(request).encode() + b"\n" + body)
        return json.loads(self.stream.line())

    def close(self):
        self.sock.close()


class Router:
    """A router in a home of its own, from a table file."""

    def __init__(self, sluice, folder, key=None):
        self.sluice, self.folder, self.key = sluice, folder, key or Key()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process, self.generation, self.facts, self.control = None, 0, None, None
        (folder / "trust.pem").write_bytes(self.key.pem())

    def start(self, table=None, *options, environment=None, limits=None, before=()):
        words = [*before, str(self.sluice), "router", "run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--trust",
                 str(self.folder / "trust.pem"), *options]
        if "--access-log" not in options:
            words += ["--access-log", str(self.folder / "access.log")]
        if table is not None:
            (self.folder / "table.json").write_text(json.dumps(table))
            words += ["--table", str(self.folder / "table.json")]
            self.generation = table["generation"]
        (self.folder / "home").mkdir(mode=0o700, exist_ok=True)
        self.log = open(self.folder / "router.log", "a")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=limits,
                                        env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.folder / "home"),
                                             "LANG": "C.UTF-8", **(environment or {})})
        line = self.process.stdout.readline()
        assert line, f"the router did not start: {self.said()}"
        self.facts = json.loads(line)
        self.endpoint = self.facts["listen"][0]
        self.control = self.open_control()
        return self

    def open_control(self):
        return Control(self.facts["control"])

    def said(self):
        self.process.wait(timeout=60) if self.process.poll() is not None else None
        return (self.folder / "router.log").read_text()

    def ask(self, body=b"", **request):
        return self.control.ask(body, **request)

    def stats(self, deployment=None):
        return self.ask(op="stats", **({"deployment": deployment} if deployment else {}))

    def revision_stats(self, name, deployment=DEPLOYMENT):
        found = next(d for d in self.stats(deployment)["deployments"] if d["id"] == deployment)
        return next(r for r in found["revisions"] if r["id"] == name)

    def order(self, op, body, generation, start=None, key=None, environment="local", router="*"):
        payload = {"schema": "sluice.router-order.v1", "op": op, "environment": environment, "router": router,
                   "generation": generation, "digest": "sha256:" + hashlib.sha256(body).hexdigest()}
        if start is not None:
            payload["from"] = start
        return (key or self.key).envelope("application/vnd.sluice.router-order+json", json.dumps(payload).encode())

    def load(self, table, **more):
        body = json.dumps(table).encode()
        answer = self.ask(body, op="load", order=self.order("load", body, table["generation"], **more))
        if answer["ok"]:
            self.generation = answer["generation"]
        return answer

    def patch(self, deployment=None, removed=None, **more):
        """The next generation."""
        change = {"schema": "sluice.router-patch.v1"}
        change.update({"removed": removed} if removed else {"deployment": deployment})
        body = json.dumps(change).encode()
        answer = self.ask(body, op="patch", order=self.order("patch", body, self.generation + 1, self.generation, **more))
        if answer["ok"]:
            self.generation = answer["generation"]
        return answer

    def worker_pid(self):
        return self.stats()["worker_pid"]

    def admin(self, target):
        return wire.ask(self.facts["admin"], target=target)

    def access_log(self):
        return [json.loads(line) for line in (self.folder / "access.log").read_text().splitlines()]

    def stop(self, how=signal.SIGTERM):
        if self.control:
            self.control.close()
            self.control = None
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()
        return code


def rss_kb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise LookupError(pid)


class Checker:
    """The load checker, running; `counts` is the newest that it told."""

    def __init__(self, program, endpoint, *options):
        self.process = subprocess.Popen([str(program), "load", endpoint, *map(str, options)], stdout=subprocess.PIPE, text=True)
        self.last = None

    def counts(self):
        """The next counts, at most 100 ms away."""
        line = self.process.stdout.readline()
        assert line, "the checker has ended"
        self.last = json.loads(line)
        return self.last

    def until(self, holds):
        """Waits, by counts and not by time, until they are as asked."""
        while not holds(self.counts()):
            assert not self.last["done"], self.last
        return self.last

    def more(self, requests):
        """Waits for so many further answers."""
        start = self.counts()["requests"]
        return self.until(lambda now: now["requests"] >= start + requests)

    def end(self):
        """Ends the load in order; the last counts."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        for line in self.process.stdout:
            self.last = json.loads(line)
        self.process.wait(timeout=60)
        assert self.last["done"]
        return self.last
