"""Machines of a test: each a home of its own, in a network namespace of its own if the test has some, with what it starts."""

import base64
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HELLO = '''"""Answers with its version, to whoever can reach this machine."""
import http.server, os, sys
class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = os.environ["HELLO_VERSION"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("0.0.0.0", int(os.environ["PORT"])), Hello).serve_forever()
'''


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def hello(folder, version):
    """A bundle that answers with its version."""
    folder.mkdir(exist_ok=True)
    (folder / "app.py").write_text(HELLO)
    (folder / "bundle.yaml").write_text(f'name: hello\nversion: "{version}"\nrun: [python3, app.py]\n'
                                        f'env: {{HELLO_VERSION: "{version}"}}\nhealth: {{path: /}}\ndrain: 5s\n')
    return folder


class Machine:
    """A home and what runs on it. Its name is also that of its router."""

    def __init__(self, sluice, folder, name, space=None, address="127.0.0.1"):
        self.sluice, self.folder, self.name, self.space, self.address = sluice, folder / name, name, space, address
        self.folder.mkdir()
        self.home = self.folder / "h"
        self.running = {}

    def environment(self):
        return {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def words(self, words):
        there = ["ip", "netns", "exec", self.space] if self.space else []
        return [*there, str(self.sluice), *map(str, words)]

    def run(self, *words, code=0):
        done = subprocess.run(self.words(words), capture_output=True, text=True, cwd=self.folder, env=self.environment(),
                              timeout=120)
        assert code is None or done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def data(self, *words, **more):
        return json.loads(self.run(*words, "-o", "json", **more).stdout)

    def begin(self, name, *words):
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(self.words(words), stdout=log, stderr=log, cwd=self.folder,
                                                  env=self.environment())

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def end(self, name, how=signal.SIGTERM):
        process = self.running.pop(name)
        if process.poll() is None:
            process.send_signal(how)
        return process.wait(timeout=60)

    # ---- as a control plane

    def serve(self, port):
        self.url = f"https://{self.address}:{port}"
        self.begin("serve", "serve", "--listen", f"{self.address}:{port}", "--tls-own")
        assert self.run("status", "--wait", "60s", "-q", code=None).returncode == 0, self.log("serve")
        return self

    def routers(self):
        return {each["name"]: each for each in self.data("router", "list")["routers"]}

    # ---- as a router on another machine

    def join(self, plane, *words, environment="local"):
        made = plane.data("router", "token", "--environment", environment)
        self.run("router", "join", made["url"], "--token", made["token"], "--name", self.name, *words)
        return self

    def route(self, *words):
        self.begin("router", "router", "run", *words)
        return self

    def facts(self):
        """Of its router, once it listens."""
        return json.loads((self.home / "router" / self.name / "router.json").read_text())

    def generation(self):
        """That its router obeys."""
        with contextlib.suppress(OSError, ValueError):
            return self.ask({"op": "stats", "deployment": "-"})["generation"]
        return -1

    def ask(self, request):
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(60)
            asked.connect(str(self.home / "router" / self.name / "control.sock"))
            asked.sendall(json.dumps(request).encode() + b"\n")
            got = b""
            while not got.endswith(b"\n"):
                piece = asked.recv(65536)
                if not piece:
                    raise OSError("the router has gone")
                got += piece
        return json.loads(got)

    def orders(self):
        """The generations of the orders that its router has kept, in their order."""
        folder = self.home / "router" / self.name
        envelopes = [(folder / "snapshot").read_bytes().split(b"\n", 1)[0]]
        patches, at = (folder / "patches").read_bytes(), 0
        while at < len(patches):
            (size,) = struct.unpack_from("<Q", patches, at)
            envelopes.append(patches[at + 40:at + 40 + size].split(b"\n", 1)[0])
            at += 40 + size
        return [json.loads(base64.b64decode(json.loads(each)["payload"]))["generation"] for each in envelopes]

    def kill_router(self):
        """Master, worker and link, all at once."""
        pids = [self.facts()["pid"], self.ask({"op": "stats"})["worker_pid"]]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.running.pop("router").wait(timeout=60)

    def close(self):
        with contextlib.suppress(Exception):
            self.run("stop", "--timeout", "30s", code=None)
        for name in list(self.running):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.end(name, signal.SIGTERM)


class Network:
    """Machines on a bridge, each in a namespace; all of it goes at the end."""

    def __init__(self, sluice, names):
        self.tag = f"slr{os.getpid()}"
        self.folder = Path(tempfile.mkdtemp(prefix="slr-", dir="/tmp"))  # short: sockets are in it
        self.machines, self.spaces = {}, []
        switch = self.space("sw")
        self.ip("-n", switch, "link", "add", "br0", "type", "bridge")
        self.ip("-n", switch, "link", "set", "br0", "up")
        for i, name in enumerate(names):
            space = self.space(name)
            self.ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"p{i}", "netns", switch)
            self.ip("-n", switch, "link", "set", f"p{i}", "master", "br0", "up")
            self.ip("-n", space, "addr", "add", f"10.78.0.{i + 1}/24", "dev", "eth0")
            self.ip("-n", space, "link", "set", "eth0", "up")
            self.ip("-n", space, "link", "set", "lo", "up")
            self.machines[name] = Machine(sluice, self.folder, name, space, f"10.78.0.{i + 1}")

    def space(self, name):
        made = f"{self.tag}-{name}"
        if made not in self.spaces:
            self.ip("netns", "add", made)
            self.spaces.append(made)
        return made

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)

    def cut(self, name, port, heal=False):
        """Whether this machine's packets to that port of others get anywhere."""
        for chain, side in (("OUTPUT", "--dport"), ("INPUT", "--sport")):
            subprocess.run(["ip", "netns", "exec", self.space(name), "iptables", "-D" if heal else "-I", chain, "-p", "tcp",
                            side, str(port), "-j", "DROP"], check=True, capture_output=True, timeout=60)

    def close(self):
        for machine in reversed(self.machines.values()):
            machine.close()
        for space in self.spaces:
            pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout.split()
            for pid in pids:  # those of this network's own namespaces
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Load:
    """Requests to a machine's router from that machine, one after the other over connections that stay, until it is
    ended: what was answered by whom, and what was not."""

    CODE = '''import http.client, json, sys, threading
port, answers, failed = int(sys.argv[1]), {}, []
connection = None
print("begun", flush=True)
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
while not ended.wait(0.003):
    try:
        connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/", headers={"Host": "hello.example"})
        answer = connection.getresponse()
        body = answer.read().decode()
        if answer.status != 200:
            failed.append(f"{answer.status} {body[:80]}")
        answers[body] = answers.get(body, 0) + 1
        if answer.will_close:
            connection = None
    except Exception as error:
        failed.append(repr(error))
        connection = None
print(json.dumps({"answers": answers, "failed": failed}), flush=True)
'''

    def __init__(self, machine, port):
        there = ["ip", "netns", "exec", machine.space] if machine.space else []
        self.process = subprocess.Popen([*there, sys.executable, "-c", self.CODE, str(port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "begun\n"

    def end(self):
        said, _ = self.process.communicate("end\n", timeout=120)
        return json.loads(said)


def get(port, host="hello.example"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/", headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
