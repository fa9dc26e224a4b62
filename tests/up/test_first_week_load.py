"""Nothing ends production by accident: all that people do by mistake in a first week, one thing after the other, while the
checker asks a deployment beside it that they never mean. It never retries and verifies every byte; none may fail."""

import json
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from router_process import Checker
from up_home import Home, get, running

NOTES = '''import http.server
import os
import pathlib
import signal
import sys

notes = pathlib.Path(os.environ["SLUICE_STORAGE_NOTES"]) / "notes"


class Notes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.endswith("/write"):
            notes.write_text("kept")
        body = (notes.read_text() if notes.exists() else "nothing").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Notes).serve_forever()
'''


class HomeOnADisk(Home):
    """A home on a small file system of its own, in a mount namespace that its processes share."""

    def __init__(self, sluice, root, folder):
        super().__init__(sluice, root, folder)
        place = self.home
        place.mkdir(mode=0o700)
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && "
                                        f"mount -t tmpfs -o size=200m,mode=700 none {place} && echo there && exec sleep 3600"],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "there\n"
        self.place, self.home = place, Path(f"/proc/{self.holder.pid}/root{place}")
        self.sluice = folder / "sluice-there"
        self.sluice.write_text(f'#!/bin/sh\nexec nsenter --target={self.holder.pid} --mount --wd="$PWD" {sluice} "$@"\n')
        self.sluice.chmod(0o755)

    def environment(self):
        return {**super().environment(), "SLUICE_HOME": str(self.place)}

    def fill(self):
        """Leaves not a byte."""
        with open(self.home / "ballast", "ab", buffering=0) as ballast:
            for size in (1 << 20, 4096):
                try:
                    while ballast.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass
        with pytest.raises(OSError):
            (self.home / "more").write_bytes(b"\0" * 4096)

    def free(self):
        for name in ("ballast", "more"):
            (self.home / name).unlink(missing_ok=True)

    def stop(self):
        self.free()
        super().stop()
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


@pytest.fixture
def loaded(home, build_dir):
    yield from under_load(home, build_dir)


@pytest.fixture
def loaded_on_a_disk(sluice, root, tmp_path, build_dir):
    one = HomeOnADisk(sluice, root, tmp_path)
    try:
        yield from under_load(one, build_dir)
    finally:
        one.stop()


def under_load(home, build_dir):
    """A deployment for the host app.example that answers as the checker wants it, and the load on it."""
    folder = home.folder / "checked"
    folder.mkdir()
    shutil.copy2(build_dir / "router_checker", folder / "router_checker")
    (folder / "bundle.yaml").write_text('name: checked\nversion: "1.0.0"\nrun: [sh, -c, "exec ./router_checker upstream '
                                        '127.0.0.1:$PORT $SLUICE_VERSION"]\nhealth: { by: tcp }\n'
                                        'routes: [{ host: app.example }]\n')
    home.up(folder)
    listen = home.router()["listen"][0]
    checker = Checker(build_dir / "router_checker", listen, "--connections", 8, "--rate", 200, "--size", 1000)
    checker.more(20)
    home.checked, home.checker = folder, checker
    yield home
    if checker.process.poll() is None:
        checker.process.kill()
    checker.process.wait(timeout=60)
    checker.process.stdout.close()


def other(home, name, program=None):
    """Another bundle, at a path of its own."""
    folder = home.copy("hello", name)
    if program:
        (folder / "app.py").write_text(program)
    manifest = (folder / "bundle.yaml").read_text().replace("name: hello", f"name: {name}")
    more = "storage: [{ name: notes, size: 1MB }]\n" if program else ""
    (folder / "bundle.yaml").write_text(f"{manifest}routes: [{{ path: /{name} }}]\n{more}")
    return folder


def foreground(home, folder):
    up = subprocess.Popen([str(home.sluice), "up", str(folder)], env=home.environment(), cwd=home.folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert up.stdout.readline().startswith("up  ")
    return up


def at_once(home, folders):
    """Several ups at the same time: what each of them answers."""
    ups = [home.begin("up", folder, "--detach", "-o", "json") for folder in folders]
    said = [up.communicate(timeout=120) for up in ups]
    assert [up.returncode for up in ups] == [0] * len(ups), said
    return [json.loads(out) for out, _ in said]


def test_first_week_nothing_ends_production_by_accident_under_load(loaded, eventually):
    home, checker = loaded, loaded.checker

    # 1: the end of a foreground `up`, by Ctrl-C and by a closed terminal.
    for stop in (signal.SIGINT, signal.SIGHUP):
        with foreground(home, other(home, f"beside-{stop.name.lower()}")) as up:
            up.send_signal(stop)
            assert up.wait(60) == 0, up.stderr.read()
    names = {each["bundle_id"] for each in home.data("bundles", "list", "local")}
    assert "beside-sighup" in names
    checker.more(20)

    # 2: down keeps what is stored, and only --delete-data with --yes deletes it.
    folder = other(home, "notes", NOTES)
    url = home.up(folder)["urls"][0]
    assert get(url + "/write") == (200, "kept")
    home.run("down", "notes", "--delete-data", code=2)
    home.run("down", "notes")
    assert get(home.up(folder)["urls"][0]) == (200, "kept")
    home.run("down", "notes", "--delete-data", "--yes")
    checker.more(20)

    # 4: the same at once is one change; of others each has its turn.
    new = other(home, "fresh")
    assert len({each["revision"] for each in at_once(home, [new, new])}) == 1
    manifest = home.checked / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace('version: "1.0.0"', 'version: "2.0.0"'))
    assert len({each["revision"] for each in at_once(home, [home.checked] * 4)}) == 1
    checker.until(lambda now: now["revisions"].get("2.0.0", 0) > 20)
    home.run("traffic", "rollback", "local", "--bundle", "checked")
    seen = checker.counts()["revisions"]["1.0.0"]
    checker.until(lambda now: now["revisions"]["1.0.0"] > seen + 20)

    # 5: control plane and the router's master are killed; serve alone brings both back, where they were.
    pids = [home.status()["pid"], home.router()["pid"]]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not any(map(running, pids)))
    checker.more(20)
    with open(home.folder / "serve.log", "w") as log:
        serve = subprocess.Popen([str(home.sluice), "serve"], stdout=log, stderr=log, env=home.environment(), cwd=home.folder)
    try:
        eventually(lambda: home.router()["pid"] != pids[1] and running(home.router()["pid"]))
        home.run("traffic", "forward", "local", "--bundle", "checked")
        checker.more(20)
    finally:
        ended = threading.Thread(target=serve.wait)
        serve.send_signal(signal.SIGTERM)
        ended.start()
        ended.join(60)
    counts = checker.end()
    assert counts["failed"] == 0 and counts["ok"] > 140, counts


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system for programs of other users")
def test_first_week_nothing_fails_when_the_disk_is_full_under_load(loaded_on_a_disk):
    home, checker = loaded_on_a_disk, loaded_on_a_disk.checker
    manifest = home.checked / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace('version: "1.0.0"', 'version: "2.0.0"'))

    # 3: the disk is full while requests come. What is asked of the control plane is refused, and says why.
    home.fill()
    checker.more(50)
    refused = home.run("up", home.checked, "--detach", code=None)
    assert refused.returncode != 0 and "No space left" in refused.stdout + refused.stderr, refused
    refused = home.run("traffic", "clear", "local", "--bundle", "checked", code=None)
    assert refused.returncode != 0, refused
    checker.more(50)
    assert checker.counts()["revisions"].keys() == {"1.0.0"}

    # And then there is room again.
    home.free()
    home.up(home.checked)
    checker.until(lambda now: now["revisions"].get("2.0.0", 0) > 20)
    counts = checker.end()
    assert counts["failed"] == 0 and counts["ok"] > 140, counts
