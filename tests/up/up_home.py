"""A home of its own with real processes, requests that are never repeated, and a load that counts what fails."""

import fcntl
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path


class Home:
    """A home of its own, and sluice with it. What it has started is stopped at the end."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder = sluice, root, folder
        self.home = folder / "h"

    def environment(self):
        return {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def run(self, *words, code=0, **more):
        done = subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment(), timeout=120, **more)
        assert code is None or done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def data(self, *words, **more):
        return json.loads(self.run(*words, "-o", "json", **more).stdout)

    def own_port(self):
        """Options for an address that no other test takes while this one's router is away."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return "--port", str(free.getsockname()[1])

    def up(self, folder, *words, **more):
        if "--tls" not in words:
            return self.data("up", folder, "--detach", *words, **more)
        # All homes of a machine look at port 8443 first: two at the same moment would both take it.
        with open(Path(tempfile.gettempdir()) / "sluice-tests-8443.lock", "w") as one:
            fcntl.flock(one, fcntl.LOCK_EX)
            return self.data("up", folder, "--detach", *words, **more)

    def copy(self, name, to, version=None):
        """A copy of an example, perhaps with another version."""
        folder = self.folder / to
        shutil.copytree(self.root / "examples" / name, folder)
        if version:
            self.change(folder, version)
        return folder

    @staticmethod
    def change(folder, version):
        """Another version of what is in the folder."""
        manifest = folder / "bundle.yaml"
        manifest.write_text(re.sub(r"\d+\.\d\.\d", version, manifest.read_text()))

    def patient(self, to="patient", version="1.0.0"):
        """A program that answers when it has got the whole body of a request, with its version and what it was told
        of who asks."""
        folder = self.folder / to
        folder.mkdir()
        (folder / "app.py").write_text(PATIENT)
        (folder / "bundle.yaml").write_text(f'name: patient\nversion: "{version}"\nrun: [python3, app.py]\n'
                                            f'env:\n  VERSION: "{version}"\ndrain: 30s\n')
        return folder

    def stop(self):
        return self.run("stop", "--timeout", "60s", code=None)

    def router(self):
        return json.loads((self.home / "router/main/router.json").read_text())

    def status(self, **more):
        return self.data("status", **more)

    def revisions(self):
        """Of the first deployment, by name."""
        return {each["name"]: each for each in self.status(code=None)["environments"][0]["deployments"][0]["revisions"]}

    def replicas(self):
        """The pids of all programs that run, also of those that are not known to be healthy."""
        pids = []
        for state in (self.home / "runtime/replicas").glob("*/state.json"):
            program = json.loads(state.read_text()).get("program") or {}
            pids += [program["pid"]] if running(program.get("pid")) else []
        return sorted(pids)

    def begin(self, *words):
        """Starts a command and does not wait for its end."""
        return subprocess.Popen([str(self.sluice), *map(str, words)], env=self.environment(), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


PATIENT = '''import http.server
import os
import signal
import sys


class Patient(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(self.headers.get("X-Forwarded-For", ""))

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def answer(self, text):
        body = f"{os.environ['VERSION']} {text}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Patient).serve_forever()
'''


class UnderWay:
    """A request of which the second half comes when that is asked for."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(url.rsplit(":", 1)[1].rstrip("/")), timeout=60)
        self.connection.putrequest("POST", "/")
        self.connection.putheader("Content-Length", "10")
        self.connection.endheaders(b"first")

    def finish(self):
        """Its answer."""
        self.connection.send(b"-last")
        answer = self.connection.getresponse()
        try:
            return answer.status, answer.read().decode()
        finally:
            self.connection.close()


def ask(url, headers=None):
    """One request on a connection of its own, without retries: the status, the headers and the body."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", int(host.rsplit(":", 1)[1]), timeout=30)
    try:
        connection.request("GET", "/" + path, headers={"Host": host, **(headers or {})})
        answer = connection.getresponse()
        body = answer.read()
        assert len(body) == int(answer.headers.get("Content-Length", len(body)))
        return answer.status, answer.headers, body.decode()
    finally:
        connection.close()


def get(url, headers=None):
    """The status and the body."""
    status, _, body = ask(url, headers)
    return status, body


class Load:
    """Asks again and again until it is told to stop, and never retries: what is not 200, or has another body than one of
    the examples would answer, has failed."""

    def __init__(self, url, threads=2, body=r"hello \d+\.\d\.\d\n"):
        self.url, self.ending, self.good, self.bad, self.body = url, threading.Event(), [], [], re.compile(body)
        self.threads = [threading.Thread(target=self.ask) for _ in range(threads)]

    def ask(self):
        while not self.ending.is_set():
            try:
                status, body = get(self.url)
                (self.good if status == 200 and self.body.fullmatch(body) else self.bad).append((status, body))
            except Exception as error:
                self.bad.append(repr(error))
                self.ending.wait(0.01)

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for each in self.threads:
            each.join()


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
