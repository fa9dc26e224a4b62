"""A deployer that listens, and its events."""

import http.client
import json
import signal
import socket
import subprocess
import time


class Served:
    """A deployer that listens, asked as its owner."""

    def __init__(self, deployer, *words):
        self.deployer = deployer
        for _ in range(20):  # the port may be taken by the time that it is used
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.log = (deployer.folder / "deployer.log").open("ab")
            self.process = subprocess.Popen([deployer.sluice, "deployer", "--listen", f"127.0.0.1:{self.port}", *words],
                                            env=deployer.env, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
            if self.is_up():
                break
        else:
            raise AssertionError((deployer.folder / "deployer.log").read_text())
        self.token = (deployer.home / "run" / "owner.token").read_text().strip()

    def is_up(self):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.ask("GET", "/health", token=None)
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def ask(self, method, path, body=None, token="", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.token}"
        connection.request(method, path, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self.answer = answer
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def request(self, **more):
        return {"hostId": "local", "instanceId": "petstore", "environment": "local", "clusterId": "local",
                "namespace": "shop", "values": {"name": "petstore", "image": {"repository": "registry.example/acme/petstore"}},
                "template": {"repoUrl": "local", "path": "k8s"}, **more}

    def rpc(self, method, **params):
        return self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[1]

    def ended(self, request):
        end = time.monotonic() + 60
        while True:
            status, body = self.ask("GET", f"/deployments/{request}")
            if status == 200 and body["status"] not in ("accepted", "applying"):
                return body
            assert time.monotonic() < end, body
            time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


def sse(text):
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            events.append((int(lines["id"]), json.loads(lines["data"])))
    return events
