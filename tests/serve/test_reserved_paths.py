"""POST /deployments/{stage,warm,activate,rollback,complete-drain}: the names by which other tools know the life of a
revision, by environment, deployment and revision."""

import http.client
import json
import signal
import subprocess

import pytest


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def ok(self, *words):
        done = subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              cwd=self.root, env=self.environment(), timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def post(self, step, **body):
        wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        wire.request("POST", f"/deployments/{step}", json.dumps(body),
                     {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        answer = wire.getresponse()
        text = answer.read()
        wire.close()
        return answer.status, json.loads(text)


@pytest.fixture
def place(sluice, root, tmp_path, eventually):
    one = Place(sluice, root, tmp_path)
    with open(tmp_path / "serve.log", "a") as log:
        process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=root,
                                   env=one.environment())
    try:
        eventually(lambda: (one.home / "run/owner.token").exists() and "url" in one.ok("status", "--wait", "60s"))
        one.url = one.ok("status")["url"]
        one.token = (one.home / "run/owner.token").read_text().strip()
        yield one
    finally:
        subprocess.run([str(sluice), "stop"], env=one.environment(), capture_output=True, timeout=120)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def test_a_revision_is_warmed_activated_and_drained(place, root):
    archive = place.folder / "hello.bundle"
    place.ok("bundles", "build", root / "examples/hello", "--out", archive)
    place.ok("bundles", "add", "local", archive)
    revision = place.ok("revisions", "list", "local")[0]
    of = {"environment": "local", "deployment_id": revision["deployment_id"], "revision_id": revision["revision_id"]}
    assert place.post("activate", **of)[0] == 409, "it is not ready yet"
    status, said = place.post("warm", **of, reason="spring")
    assert (status, said["action"], said["variant"]) == (200, "Revision/warm", "ok"), said
    status, said = place.post("activate", **of)
    assert (status, said["fields"]["entries"]) == (200, [{"revision": of["revision_id"], "weightBps": 10000}]), said
    status, said = place.post("rollback", environment="local", deployment_id=of["deployment_id"])
    assert (status, said["action"]) == (409, "Traffic/rollback"), said
    place.ok("traffic", "clear", "local", "--yes")
    status, said = place.post("complete-drain", **of)
    assert (status, said["variant"]) == (200, "ok"), said
    assert place.ok("revisions", "list", "local")[0]["lifecycle"] == "inactive"


def test_what_is_missing_or_elsewhere_is_refused(place):
    place.ok("env", "list")
    assert place.post("warm", environment="local", deployment_id="x")[1]["detail"] == "the body needs revision_id"
    assert place.post("rollback", environment="local")[1]["detail"] == "the body needs deployment_id"
    assert place.post("rollback", environment="local", deployment_id="nowhere")[0] == 404
    assert place.post("launch", environment="local", deployment_id="x")[0] == 404
