"""Real container engines that are the test's own, each with its own storage, networks and socket, and homes whose bundles
have images."""

import contextlib
import ctypes
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from images import make_layout
from up_home import Home

both_engines = pytest.mark.parametrize("engine", ["podman", "docker"], indirect=True)
FULL = "SLUICE_CONTAINERS" in os.environ  # as `./dev containers` says
in_full = pytest.mark.skipif(not FULL, reason="it takes long: ./dev containers runs it")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Engine:
    """An engine's service. Its socket's path is short, as the system wants it."""

    def __init__(self, folder):
        self.folder, self.place = folder, Path(tempfile.mkdtemp(prefix="p.", dir="/tmp"))
        self.socket = str(self.place / "sock")
        self.process = None
        self.start()

    def trust(self, *registries):
        """Plain HTTP is spoken with these from now on. Docker does that with all of the loopback."""

    def words(self):
        raise NotImplementedError

    def start(self):
        with (self.folder / "engine.log").open("ab") as log:
            self.process = subprocess.Popen(self.words(), stdout=log, stderr=log, cwd=self.folder,
                                            env=os.environ | self.variables())
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                if self.ask("GET", "/_ping", raw=True) == b"OK":
                    return
            assert time.monotonic() < end and self.process.poll() is None, (self.folder / "engine.log").read_text()
            time.sleep(0.02)

    def variables(self):
        return {}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, raw=False, good=True):
        connection = UnixConnection(self.socket)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        assert not good or answer.status < 400, content
        return content if raw else json.loads(content or b"null")

    def containers(self, **labels):
        """All, or those with these labels of Sluice's."""
        return [each for each in self.ask("GET", "/v1.41/containers/json?all=1")
                if all((each["Labels"] or {}).get(f"dev.sluice.{name}") == value for name, value in labels.items())]

    def networks(self):
        return [each["Name"] for each in self.ask("GET", "/v1.41/networks") if each["Name"].startswith("sluice-")]

    def end(self):
        with contextlib.suppress(OSError, AssertionError):
            for each in self.containers():
                self.ask("DELETE", f"/v1.41/containers/{each['Id']}?force=1&v=1", raw=True, good=False)
            for name in self.networks():
                self.ask("DELETE", f"/v1.41/networks/{name}", raw=True, good=False)
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
        # An engine that was killed leaves its folder mounted onto itself.
        subprocess.run(["umount", "--lazy", self.folder / "root"], capture_output=True)
        shutil.rmtree(self.folder / "root", ignore_errors=True)
        shutil.rmtree(self.place, ignore_errors=True)


class Podman(Engine):
    def __init__(self, folder):
        (folder / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n'
            '[engine]\nruntime = "runc"\nevents_logger = "file"\n')
        (folder / "registries.conf").write_text("")
        super().__init__(folder)

    def trust(self, *registries):
        (self.folder / "registries.conf").write_text(
            "".join(f'[[registry]]\nlocation = "{each}"\ninsecure = true\n' for each in registries))
        self.kill()
        self.start()

    def words(self):
        return ["podman", "--root", self.folder / "root", "--runroot", self.place / "run", "--tmpdir", self.place / "tmp",
                "--network-config-dir", self.folder / "net", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs",
                "system", "service", "--time", "0", f"unix://{self.socket}"]

    def variables(self):
        return {"CONTAINERS_CONF": str(self.folder / "containers.conf"),
                "CONTAINERS_REGISTRIES_CONF": str(self.folder / "registries.conf")}


class Docker(Engine):
    def kill(self):
        super().kill()
        # Its containerd dies with it. Where nobody reaps orphans, the next dockerd would take the dead one for a live one.
        (self.place / "run/containerd/containerd.pid").unlink(missing_ok=True)

    def words(self):
        return ["dockerd", "--data-root", self.folder / "root", "--exec-root", self.place / "run", "--pidfile",
                self.place / "pid", "--host", f"unix://{self.socket}", "--storage-driver", "vfs",
                "--default-ulimit", "nofile=1024:1024"]


@contextlib.contextmanager
def network_namespace():
    """This thread, and what it starts, in a network namespace of its own: the engine's networks and rules are no other's,
    and go with it. `ip netns exec` would hide control groups."""
    name = f"sluice-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"engines need a network namespace, and there is none to be had: {made.stderr.strip()}")
    subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as before, open(f"/run/netns/{name}") as inner:
        assert libc.setns(inner.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(before.fileno(), 0) == 0
            subprocess.run(["ip", "netns", "del", name], check=True)


class Held:
    """A request that waits at a gate."""

    def __init__(self, pattern, answered):
        self.pattern, self.answered = re.compile(pattern), answered
        self.arrived, self.released = threading.Event(), threading.Event()
        self.body = b""

    def wait(self):
        assert self.arrived.wait(60), f"nobody asked for {self.pattern.pattern}"
        return self

    def release(self):
        self.released.set()


class Gate:
    """Stands between Sluice and its engine and hands on what both say; a request can be made to wait there, before the
    engine hears of it or after the engine has answered it."""

    def __init__(self, engine):
        self.engine, self.socket = engine, str(engine.place / "gate")
        self.held = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def hold(self, pattern, answered=False):
        """The next request whose first line matches, such as `POST /v1.41/containers/create`."""
        self.held.append(Held(pattern, answered))
        return self.held[-1]

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one, _ = self.listener.accept()
                threading.Thread(target=self.relay, args=[one], daemon=True).start()

    def relay(self, one):
        with contextlib.suppress(OSError), one, socket.socket(socket.AF_UNIX) as other:
            said = b""
            while b"\r\n\r\n" not in said:
                more = one.recv(65536)
                if not more:
                    return
                said += more
            first = said.split(b"\r\n", 1)[0].decode()
            held = next((each for each in self.held if each.pattern.match(first)), None)
            if held:
                self.held.remove(held)
                held.body = said
            if held and not held.answered:
                held.arrived.set()
                held.released.wait()
            other.connect(self.engine.socket)
            other.sendall(said)
            threading.Thread(target=self.copy, args=[one, other], daemon=True).start()
            while True:
                answer = other.recv(65536)
                if held and held.answered:
                    held.arrived.set()
                    held.released.wait()
                if not answer:
                    return
                one.sendall(answer)

    @staticmethod
    def copy(one, other):
        with contextlib.suppress(OSError):
            while more := one.recv(65536):
                other.sendall(more)
            other.shutdown(socket.SHUT_RDWR)

    def end(self):
        for each in self.held:
            each.release()
        self.listener.close()


class ContainerHome(Home):
    """A home whose bundles have images, and an engine for them. Its path is short, as those of sockets must be."""

    def __init__(self, sluice, root, folder, engine, name="h"):
        super().__init__(sluice, root, folder)
        self.engine, self.socket, self.home = engine, engine.socket, engine.place / name

    def environment(self):
        return super().environment() | {"DOCKER_HOST": f"unix://{self.socket}"}

    def ended(self, action="LocalRuntime/deploy"):
        """How the last such step of the last `up` ended: its variant and fields."""
        up = [each["flow"] for each in self.data("audit", "list") if each.get("action") == "Deployment/up"][-1]
        steps = self.data("flow", "trace", up)["invocations"]
        end = [each["end"] for each in steps if each["action"] == action][-1]
        return end["variant"], end["fields"]

    def supervisors(self):
        return [json.loads(each.read_text())["supervisor"]["pid"]
                for each in (self.home / "runtime/replicas").glob("*/state.json")]

    def logs(self):
        """The lines of each replica's log, those that are gone included."""
        found = {}
        for each in {path.parent for path in self.home.glob("runtime/replicas*/**/replica.log")}:
            files = sorted(each.glob("replica.log*"), key=lambda f: -int(f.suffix[1:]) if f.suffix != ".log" else 0)
            found[str(each)] = [line for f in files for line in f.read_text().splitlines()]
        return found

    def bundle(self, program, to="shop", version="1.0.0", more="", image="./image", **config):
        """A bundle with an image; `program` is laid out in it unless the image is in a registry."""
        folder = self.folder / to
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if image == "./image":
            (folder / "image").mkdir()
            make_layout(folder / "image", program, **config)
        (folder / "bundle.yaml").write_text(
            f'name: shop\nversion: "{version}"\nimage: {image}\nhealth: {{path: /health}}\n{more}')
        return folder
