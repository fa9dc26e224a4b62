"""Real container engines that are the test's own, each with its own storage, networks and socket, and homes whose bundles
have images."""

import contextlib
import ctypes
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from images import make_layout
from up_home import Home

both_engines = pytest.mark.parametrize("engine", ["podman", "docker"], indirect=True)


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
        """Plain HTTP is spoken with these from the next start on."""

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

    def words(self):
        return ["podman", "--root", self.folder / "root", "--runroot", self.place / "run", "--tmpdir", self.place / "tmp",
                "--network-config-dir", self.folder / "net", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs",
                "system", "service", "--time", "0", f"unix://{self.socket}"]

    def variables(self):
        return {"CONTAINERS_CONF": str(self.folder / "containers.conf"),
                "CONTAINERS_REGISTRIES_CONF": str(self.folder / "registries.conf")}


class Docker(Engine):
    """dockerd, in a network namespace that the test is in, too: ports are published there."""

    def words(self):
        return ["dockerd", "--data-root", self.folder / "root", "--exec-root", self.place / "run", "--pidfile",
                self.place / "pid", "--host", f"unix://{self.socket}", "--storage-driver", "vfs",
                "--default-ulimit", "nofile=1024:1024"]


@contextlib.contextmanager
def network_namespace():
    """This thread, and what it starts, in a network namespace of its own. `ip netns exec` would hide control groups."""
    name = f"sluice-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as before, open(f"/run/netns/{name}") as inner:
        assert libc.setns(inner.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(before.fileno(), 0) == 0
            subprocess.run(["ip", "netns", "del", name], check=True)


class ContainerHome(Home):
    """A home whose bundles have images, and an engine for them."""

    def __init__(self, sluice, root, folder, engine):
        super().__init__(sluice, root, folder)
        self.engine = engine

    def environment(self):
        return super().environment() | {"DOCKER_HOST": f"unix://{self.engine.socket}"}

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
