"""Records a home with a given sluice, for the tests of later versions: `record.py SLUICE ARCHIVE`.

Paths in a home are absolute, so a recorded home is always unpacked at PLACE. It has a deployment with two replicas, data
that a deployment which is gone has left, and flows that a kill -9 interrupted: a warm that waits for a program to become
healthy, and a repair that follows from an attempt which was given up. Programs become healthy once PLACE/go is there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

PLACE = Path("/tmp/sluice-recorded-home")
APP = '''import http.server
import os
import socketserver


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if os.environ["WAITS"] == "no" or os.path.exists("/tmp/sluice-recorded-home/go") else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def address_string(self):
        return "-"


open(os.environ["SLUICE_STORAGE_DATA"] + "/kept", "a").write("x")
socketserver.UnixStreamServer(os.environ["SLUICE_SOCKET"], Answer).serve_forever()
'''


def wait(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.01)


class Recording:
    def __init__(self, sluice):
        self.sluice = sluice
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir()

    def words(self, *words):
        environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(PLACE / "home"), "LANG": "C.UTF-8"}
        return {"args": [self.sluice, *map(str, words)], "env": environment, "cwd": PLACE, "text": True}

    def run(self, *words, code=0):
        done = subprocess.run(**self.words(*words), capture_output=True, timeout=120)
        assert code is None or done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}"
        return done.stdout

    def data(self, *words):
        return json.loads(self.run(*words, "-o", "json"))

    def bundle(self, name, version, waits):
        folder = PLACE / f"{name}-{version}"
        folder.mkdir()
        (folder / "app.py").write_text(APP)
        (folder / "bundle.yaml").write_text(
            f'name: {name}\nversion: "{version}"\nrun: [python3, app.py]\nlisten: unix\nenv: {{WAITS: "{waits}"}}\n'
            'health: {path: /, start_within: 600s}\nstorage: [{name: data, size: 1MB}]\ndrain: 1s\n')
        archive = PLACE / f"{name}-{version}.bundle"
        self.run("bundles", "build", folder, "--out", archive)
        return archive

    def kill_within(self, holds, *words):
        """Kills a command once something holds that it is about to do."""
        process = subprocess.Popen(**self.words(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(holds)
        assert process.poll() is None, "it ended before that"
        process.kill()
        process.wait()

    def replicas(self):
        return sorted(path.parent for path in (PLACE / "home/runtime/replicas").glob("*/state.json"))

    def end_programs(self):
        for folder in self.replicas():
            state = json.loads((folder / "state.json").read_text())
            for one in (state.get("supervisor"), state.get("program")):
                try:
                    os.kill(one["pid"], signal.SIGKILL)
                except (ProcessLookupError, TypeError):
                    pass

    def kept(self):
        """A deployment with traffic and two replicas, and what another has left."""
        for name in ("notes", "gone"):
            self.run("bundles", "add", "local", self.bundle(name, "1", "no"), "--host", f"{name}.example")
            self.run("revisions", "warm", "local", f"{name}@1")
            self.run("traffic", "set", "local", "--bundle", name, f"{name}@1=100%")
        gone = next(each for each in self.data("bundles", "list", "local") if each["bundle_id"] == "gone")
        self.run("do", "Deployment/down", f"deployment={gone['deployment_id']}", "deleteData=false")
        self.notes = self.data("runtime", "list")[0]["instance"]
        self.run("do", "LocalRuntime/scale", f"instance={self.notes}", "replicas=2")

    def interrupted(self):
        """A warm, and the end of an archived revision: its room cannot be given back as long as something is mounted
        there, so that is tried again and again, in a flow of its own."""
        self.run("revisions", "stage", "local", self.bundle("notes", "2", "no"))
        shelf = max((PLACE / "home/blobs/bundles").iterdir())
        self.run("revisions", "stage", "local", self.bundle("notes", "3", "yes"))
        (shelf / "held").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", shelf / "held"], check=True)
        try:
            self.kill_within(lambda: any("FreeArchived" in str(each) and "settled" not in str(each)
                                         for each in self.data("flow", "list")),
                             "revisions", "archive", "local", "notes@2", "--yes")
            self.kill_within(lambda: len(self.replicas()) == 3, "revisions", "warm", "local", "notes@3")
        finally:
            subprocess.run(["umount", shelf / "held"], check=True)
            (shelf / "held").rmdir()


if __name__ == "__main__":
    recording = Recording(sys.argv[1])
    recording.kept()
    recording.interrupted()
    recording.end_programs()
    with tarfile.open(sys.argv[2], "w:xz") as archive:
        archive.add(PLACE / "home", "home", filter=lambda entry: None if entry.name.endswith((".lock", "lock")) else entry)
    shutil.rmtree(PLACE)
