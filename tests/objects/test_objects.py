"""Environments, deployments, revisions and traffic end to end: from an empty home by commands alone, with real
processes. Each command is a controller of its own, which ends; what runs is found again by the next."""

import http.client
import json
import os
import socket
import subprocess
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest


class Home:
    """A home, and sluice with it."""

    def __init__(self, sluice, root, folder):
        self.program, self.root, self.folder = sluice, root, folder

    def run(self, *words, code=0, before=()):
        done = subprocess.run([*before, str(self.program), *map(str, words)], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.folder / "home"),
                                   "LANG": "C.UTF-8", "COLUMNS": "100"})
        assert code is None or done.returncode == code, f"{words}\n{done.stdout}{done.stderr}"
        return done

    def json(self, *words, code=0, before=()):
        done = self.run(*words, "-o", "json", code=code, before=before)
        return json.loads(done.stdout if code == 0 else done.stderr.splitlines()[-1])

    def bundle(self, name):
        """An example as a signed archive."""
        out = self.folder / f"{name}.bundle"
        if not out.exists():
            self.run("bundles", "build", self.root / "examples" / name, "--out", out)
        return out

    def ready(self, name="hello", **where):
        """Adds and warms an example; its deployment and its revision."""
        added = self.json("bundles", "add", where.get("env", "local"), self.bundle(name), *where.get("options", []))
        self.run("revisions", "warm", where.get("env", "local"), added["revision"])
        return added["deployment"], added["revision"]

    def replicas(self):
        folder = self.folder / "home" / "runtime" / "replicas"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def home(sluice, root):
    with tempfile.TemporaryDirectory(prefix="sluice-obj-") as folder:
        home = Home(sluice, root, Path(folder))
        yield home
        # What serves is not destroyed, so nobody may be routed to it first.
        for each in home.json("revisions", "list", "local"):
            if each["lifecycle"] == "ready":
                home.run("traffic", "clear", "local", "--deployment", each["deployment_id"], "--yes", code=None)
        for each in home.json("runtime", "list"):
            home.run("runtime", "stop", each["instance"])
        assert home.replicas() == []


def get(endpoint, path="/"):
    with urllib.request.urlopen(endpoint + path, timeout=30) as answer:
        return answer.read().decode()


def test_greentic01_an_empty_home_gets_local_once(home):
    assert [each["environment_id"] for each in home.json("env", "list")] == ["local"]
    packs = home.json("env-packs", "list", "local")
    assert [each["kind"] for each in packs] == [
        "sluice.deployer.local-process@1.0.0", "sluice.secrets.store@1.0.0", "sluice.sessions.memory@1.0.0",
        "sluice.state.memory@1.0.0", "sluice.telemetry.stdout@1.0.0"]
    home.run("env-packs", "remove", "local", "secrets", "--yes")
    assert "sluice.secrets.store@1.0.0" in home.run("env-packs", "list", "local").stdout, "it came back at once"
    home.run("env", "destroy", "local", "--yes")
    home.run("env", "destroy", "local", "--yes")
    assert "made the environment local" in home.run("env", "show", "local").stderr


def test_from_a_bundle_to_traffic_and_back(home):
    deployment, first = home.ready("hello")
    shown = home.json("revisions", "list", "local")
    assert [each["lifecycle"] for each in shown] == ["ready"]
    assert get(shown[0]["endpoint"]) == "hello 1.0.0\n"
    assert shown[0]["signature"] == "verified"
    split = home.json("traffic", "set", "local", "hello@1=100%")
    assert (split["generation"], split["entries"]) == (1, [{"revision": first, "weightBps": 10000}])
    # A second version beside the first, from a folder of the same bundle.
    v2 = home.folder / "v2"
    v2.mkdir()
    for name in ("app.py", "bundle.yaml"):
        text = (home.root / "examples" / "hello" / name).read_text().replace("1.0.0", "2.0.0")
        (v2 / name).write_text(text)
    home.run("bundles", "build", v2, "--out", "v2.bundle")
    second = home.json("revisions", "stage", "local", "v2.bundle")["revision"]
    home.run("revisions", "warm", "local", "hello@2")
    endpoints = {each["sequence"]: each["endpoint"] for each in home.json("revisions", "list", "local")}
    assert (get(endpoints[1]), get(endpoints[2])) == ("hello 1.0.0\n", "hello 2.0.0\n"), "side by side"
    home.run("traffic", "set", "local", "--bundle", "hello", "hello@2=1%", "hello@1=rest")
    shown = home.json("traffic", "show", "local", "--deployment", deployment)
    assert {each["revision_id"]: each["weight_bps"] for each in shown["entries"]} == {first: 9900, second: 100}
    # A swap of a pack restarts nothing.
    before = home.replicas()
    home.run("env-packs", "update", "local", "acme.telemetry.otlp@1.0.0")
    assert home.replicas() == before and get(endpoints[1]) == "hello 1.0.0\n"
    # Back, and forward again.
    assert home.json("traffic", "rollback", "local")["entries"] == [{"revision": first, "weightBps": 10000}]
    assert home.json("traffic", "forward", "local")["generation"] == 4
    refused = home.json("revisions", "archive", "local", "hello@2", "--yes", code=6)
    assert "100 bps" in refused["detail"] and deployment in refused["detail"]
    home.run("traffic", "set", "local", "hello@1=100%", "hello@2=0%")
    home.run("revisions", "archive", "local", "hello@2", "--yes")
    shown = home.json("traffic", "show", "local")
    assert [each["revision_id"] for each in shown["entries"]] == [first], "the entry without weight went with it"
    assert len(home.replicas()) == 1
    # Nothing is a dead end.
    home.run("bundles", "remove", "local", "--yes", code=6)
    home.run("traffic", "clear", "local", "--yes")
    home.run("bundles", "remove", "local", "--yes", code=6)
    home.run("revisions", "archive", "local", "hello@1", "--yes")
    assert home.replicas() == []
    assert "add --yes" in home.run("bundles", "update", "local", "--status", "archived", code=2).stderr
    home.run("bundles", "update", "local", "--status", "archived", "--yes")
    home.run("bundles", "remove", "local", "--yes")
    assert home.json("bundles", "list", "local") == []
    home.run("env", "destroy", "local", "--yes")


def test_greentic03_three_bundles_are_three_deployments(home):
    for name in ("one", "two", "three"):
        (home.folder / name).mkdir()
        (home.folder / name / "bundle.yaml").write_text(f"name: {name}\nversion: '1'\nrun: [./run]\n")
        home.run("bundles", "build", name, "--out", f"{name}.bundle")
        home.json("bundles", "add", "local", f"{name}.bundle")
    listed = home.json("revisions", "list", "local")
    assert sorted(each["sequence"] for each in listed) == [1, 1, 1]
    assert len({each["deployment_id"] for each in listed}) == 3


def test_greentic04_two_customers_of_one_bundle(home):
    one = home.json("bundles", "add", "local", home.bundle("hello"), "--customer-id", "acme")
    two = home.json("bundles", "add", "local", home.bundle("hello"), "--customer-id", "other")
    assert one["deployment"] != two["deployment"] and one["sequence"] == two["sequence"] == 1
    problem = home.json("bundles", "add", "local", home.bundle("hello"), "--customer-id", "acme", code=6)
    assert "already" in problem["detail"]
    ambiguous = home.json("traffic", "show", "local", "--bundle", "hello", code=6)
    assert one["deployment"] in ambiguous["detail"] and two["deployment"] in ambiguous["detail"]
    home.run("env", "create", "prod-eu", "--extends", "local")
    required = home.run("bundles", "add", "prod-eu", home.bundle("hello"), code=1)
    assert "none is named" in required.stderr


@contextmanager
def serving(home):
    """A `sluice serve` of the home, for as long as it is used."""
    with subprocess.Popen([str(home.program), "serve"], stderr=subprocess.PIPE, text=True, cwd=home.folder,
                          env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(home.folder / "home")}) as server:
        try:
            home.run("status", "--wait", "60s")
            yield
            home.run("stop")
            assert server.wait(timeout=60) == 0, server.stderr.read()
        finally:  # a test that fails does not wait for it for ever
            server.kill()


def at_once(home, count, *words):
    """The same command so many times at once."""
    def once(_):
        return subprocess.run([str(home.program), *words, "--lock-timeout", "90s"], capture_output=True, text=True,
                              timeout=120, env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(home.folder / "home")})
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(once, range(count)))


@pytest.mark.parametrize("served", [False, True], ids=["alone", "served"])
def test_greentic12_of_sixteen_with_one_generation_one_wins(home, served):
    home.ready("hello")
    home.run("traffic", "set", "local", "hello@1=100%")
    with serving(home) if served else nullcontext():
        done = at_once(home, 16, "traffic", "set", "local", "hello@1=100%", "--expect-generation", "1")
        assert sorted(each.returncode for each in done) == [0] + [6] * 15, [each.stderr for each in done]
        for each in done:
            assert each.returncode == 0 or "expected generation 1, it is at 2" in each.stderr, each.stderr
        assert home.json("traffic", "show", "local")["generation"] == 2


def test_greentic04_two_customers_have_histories_of_their_own(home):
    one, first = home.ready("hello", options=["--customer-id", "acme"])
    two, second = home.ready("hello", options=["--customer-id", "other"])
    for _ in range(3):
        home.run("traffic", "set", "local", "--deployment", one, f"{first}=100%")
    home.run("traffic", "set", "local", "--deployment", two, f"{second}=100%")
    home.run("traffic", "rollback", "local", "--deployment", one)
    assert home.json("traffic", "show", "local", "--deployment", one)["generation"] == 4
    assert home.json("traffic", "show", "local", "--deployment", two)["generation"] == 1
    assert len(home.json("traffic", "history", "local", "--deployment", two)) == 1


def test_greentic12_two_at_once_on_two_deployments_both_land(home):
    splits = []
    for customer in ("acme", "other"):
        deployment, revision = home.ready("hello", options=["--customer-id", customer])
        splits.append(["traffic", "set", "local", "--deployment", deployment, f"{revision}=100%"])
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda words: at_once(home, 1, *words)[0], splits))
    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    assert len(home.json("env", "show", "local")["traffic_splits"]) == 2


@pytest.mark.parametrize("served", [False, True], ids=["alone", "served"])
def test_greentic14_one_key_is_one_change(home, served):
    home.ready("hello")
    with serving(home) if served else nullcontext():
        done = at_once(home, 50, "traffic", "set", "local", "hello@1=100%", "--idempotency-key", "k1", "-o", "json")
        assert [each.returncode for each in done] == [0] * len(done), [each.stderr for each in done]
        assert len({each.stdout for each in done}) == 1
        assert home.json("traffic", "show", "local")["generation"] == 1
        records = [each for each in home.json("audit", "list") if each.get("action") == "Traffic/set"]
        assert len(records) == 1, "what was answered before is written no second time"
        home.run("traffic", "clear", "local", "--yes", "--idempotency-key", "k1", code=6)
        assert home.json("traffic", "show", "local")["generation"] == 1


def killed_after(home, seconds, *words):
    """Whether a command had ended before it was killed."""
    process = subprocess.Popen([str(home.program), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=home.folder, env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(home.folder / "home")})
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    return process.returncode == 0


def test_greentic16_a_split_is_the_old_one_or_the_new_one_whenever_it_is_killed(home):
    deployment, first = home.ready("hello")
    home.json("revisions", "stage", "local", home.bundle("hello"))
    home.run("revisions", "warm", "local", "hello@2")
    home.run("traffic", "set", "local", "hello@1=100%")
    generation = 1
    for attempt in range(24):
        wanted = ["hello@1=100%", "hello@2=0%"] if attempt % 2 else ["hello@2=100%", "hello@1=0%"]
        done = killed_after(home, 0.004 * attempt, "traffic", "set", "local", *wanted)
        split = home.json("traffic", "show", "local")
        assert sum(each["weight_bps"] for each in split["entries"]) == 10000
        assert split["generation"] in ((generation + 1,) if done else (generation, generation + 1))
        generation = split["generation"]
    home.run("audit", "verify")


def test_greentic18_there_is_a_record_for_each_change_and_none_besides(home):
    home.run("env", "list")
    for attempt in range(24):
        killed_after(home, 0.004 * attempt, "config", "set", "local", f"region=r{attempt}")
    changes = home.json("config", "show", "local")["generation"]
    records = [each for each in home.json("audit", "list") if each["action"] == "Config/set"]
    assert len([each for each in records if each["outcome"] == "ok"]) == changes
    home.run("audit", "verify")


def test_greentic18_where_nothing_can_be_recorded_nothing_is_changed(home):
    home.run("config", "set", "local", "region=eu")
    place = home.folder / "home"
    # In a mount namespace of its own, without root in a user namespace, also in a chroot.
    as_root = [] if os.getuid() == 0 else ["--map-root-user"]
    read_only = ["unshare", *as_root, "--mount", "--propagation", "unchanged", "sh", "-c",
                 "{ mount --make-rprivate / 2>/dev/null || ! grep -q ' shared:' /proc/self/mountinfo; } && "
                 f'mount --bind "{place}" "{place}" && mount -o remount,bind,ro "{place}" && exec "$@"', "sh"]
    for words in (["config", "set", "local", "region=us"], ["env", "create", "prod"], ["env", "destroy", "local", "--yes"]):
        refused = home.run(*words, code=1, before=read_only)
        assert "Read-only file system; nothing was changed" in refused.stderr
        assert "next:  make the disk writable, or use another place" in refused.stderr
    assert home.json("config", "show", "local", before=read_only)["host_config"]["region"] == "eu", "reading goes on"
    assert home.json("config", "show", "local")["generation"] == 1
    home.run("audit", "verify")


def test_greentic19_a_failed_check_is_kept_and_retried(home):
    added = home.json("bundles", "add", "local", home.bundle("broken"))
    problem = home.json("revisions", "warm", "local", added["revision"], code=7)
    assert problem["detail"].startswith("provider-health: it ended with exit code 1")
    (revision,) = home.json("revisions", "list", "local")
    assert (revision["lifecycle"], revision["failure"]["check"]) == ("failed", "provider-health")
    assert home.replicas() == []
    home.run("traffic", "set", "local", "hello-broken@1=100%", code=5)
    refused = home.run("traffic", "set", "local", f"{added['revision']}=100%", code=6)
    assert f"is failed, not ready\nnext:  sluice revisions retry local {added['revision']}" in refused.stderr
    home.run("revisions", "retry", "local", added["revision"])
    assert home.json("revisions", "list", "local")[0]["lifecycle"] == "staged"


def changed(home, name, text, example="hello"):
    """A bundle made of an example with other or further lines in its manifest."""
    folder = home.folder / name
    folder.mkdir()
    for file in (home.root / "examples" / example).iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace("name: hello", f"name: {name}") + text)
    home.run("bundles", "build", folder, "--out", f"{name}.bundle")
    return f"{name}.bundle"


def test_greentic19_what_a_bundle_needs_is_looked_at_before_it_is_started(home):
    cases = [("keyed", "secrets: [TOKEN]\n", "runtime-config", "there is no secret keyed/TOKEN in local"),
             ("large", "storage: [{ name: data, size: 9000000GB }]\n", "provider-health", "it stores data")]
    for name, text, check, says in cases:
        home.json("bundles", "add", "local", changed(home, name, text))
        problem = home.json("revisions", "warm", "local", f"{name}@1", code=7)
        assert problem["detail"].startswith(check + ": ") and says in problem["detail"]
        (revision,) = home.json("revisions", "list", "local", "--bundle", name)
        assert (revision["lifecycle"], revision["failure"]["check"]) == ("failed", check)
    assert home.replicas() == []


def test_greentic19_the_retry_path_reaches_ready(home):
    added = home.json("bundles", "add", "local", home.bundle("hello"))
    revoked = home.folder / "revoked.json"
    lists = {"schema": "sluice.revocation-list.v1", "revoked": []}
    revoked.write_text(json.dumps(lists))
    home.run("env", "update", "local", "--revocation-list", revoked, "--require-revocation-list", "true")
    lists["revoked"] = [{"digest": added["bundleDigest"], "reason": "it mines"}]
    revoked.write_text(json.dumps(lists))
    problem = home.json("revisions", "warm", "local", "hello@1", code=7)
    assert problem["detail"] == "signature-status: the bundle is revoked: it mines"
    home.run("traffic", "set", "local", "hello@1=100%", code=6)
    lists["revoked"] = []
    revoked.write_text(json.dumps(lists))
    home.run("revisions", "retry", "local", "hello@1")
    home.run("env", "update", "local", "--revocation-list", "")
    assert "requires a revocation list" in home.run("revisions", "warm", "local", "hello@1", code=7).stderr
    home.run("env", "update", "local", "--revocation-list", revoked)
    home.run("revisions", "warm", "local", "hello@1")
    home.run("traffic", "set", "local", "hello@1=100%")


def test_what_was_staged_is_what_is_started(home):
    added = home.json("bundles", "add", "local", home.bundle("hello"))
    archive = home.folder / "home" / "blobs" / "bundles" / added["revision"] / "archive.bundle"
    archive.write_bytes(archive.read_bytes() + b"x")
    problem = home.json("revisions", "warm", "local", "hello@1", code=7)
    assert problem["detail"].startswith("signature-status: ") and "not the archive that was staged" in problem["detail"]
    assert home.replicas() == []


def size_of(folder):
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) if folder.exists() else 0


def test_greentic21_an_archived_revision_takes_no_room(home):
    deployment, first = home.ready("hello")
    place = home.folder / "home"
    home.run("revisions", "stage", "local", home.bundle("hello"))
    home.run("traffic", "set", "local", "hello@1=100%")
    refused = home.json("revisions", "archive", "local", "hello@1", "--yes", code=6)
    assert deployment in refused["detail"] and "10000 bps" in refused["detail"]
    (shown,) = [each for each in home.json("revisions", "list", "local") if each["sequence"] == 1]
    lock = json.loads(Path(shown["pack_list_lock_ref"].removeprefix("file://")).read_text())
    assert lock["packs"][0]["digest"] == shown["bundle_digest"]
    assert Path(shown["signature_sidecar_ref"].removeprefix("file://")).read_text() == \
        (home.folder / "hello.bundle.sig.json").read_text()
    home.run("traffic", "clear", "local", "--yes")
    home.run("revisions", "archive", "local", "hello@1", "--yes")
    assert get_folders(place / "blobs" / "bundles") == [home.json("revisions", "list", "local")[0]["revision_id"]]
    assert size_of(place / "runtime" / "bundles") == 0, "nothing runs from what was unpacked"
    home.run("revisions", "archive", "local", "hello@2", "--yes")
    assert size_of(place / "blobs" / "bundles") == 0
    archived = [each for each in home.json("revisions", "list", "local", "--archived")]
    assert [each["pack_list_lock_ref"] for each in archived] == [None, None]


def test_a_revision_is_archived_while_it_is_warmed(home, eventually):
    """Of a program that never answers; whoever warms it hears of it."""
    folder = home.folder / "deaf"
    folder.mkdir()
    (folder / "bundle.yaml").write_text("name: deaf\nversion: '1'\nrun: [sleep, '600']\n"
                                        "health:\n  path: /health\n  start_within: 10m\n")
    home.run("bundles", "build", folder, "--out", "deaf.bundle")
    added = home.json("bundles", "add", "local", "deaf.bundle")
    with serving(home):
        with subprocess.Popen([str(home.program), "revisions", "warm", "local", "deaf@1"], stderr=subprocess.PIPE, text=True,
                              env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(home.folder / "home")}) as warming:
            eventually(lambda: home.replicas() != [], "it is being started")
            archived = home.run("revisions", "archive", "local", "deaf@1", "--yes")
            assert archived.stdout.startswith("archived  deaf@1")
            assert warming.wait(timeout=60) == 7
            said = warming.stderr.read()
            assert "it was archived in the meantime" in said and "sluice revisions list local --archived" in said
        eventually(lambda: home.replicas() == [], "it is stopped")
        eventually(lambda: get_folders(home.folder / "home" / "blobs" / "bundles") == [], "its room is given back")
    assert home.run("revisions", "archive", "local", "deaf@1", "--yes").stdout.startswith("archived  deaf@1")
    assert home.json("revisions", "list", "local") == []
    assert home.json("revisions", "list", "local", "--archived")[0]["revision_id"] == added["revision"]


def test_a_rollback_leaves_out_what_got_nothing_and_is_archived(home):
    deployment, first = home.ready("hello")
    second = home.json("revisions", "stage", "local", home.bundle("hello"))["revision"]
    home.run("revisions", "warm", "local", "hello@2")
    home.run("traffic", "set", "local", "hello@2=100%", "hello@1=0%")
    home.run("traffic", "set", "local", "hello@2=100%")
    home.run("revisions", "archive", "local", "hello@1", "--yes")
    assert home.json("traffic", "rollback", "local")["entries"] == [{"revision": second, "weightBps": 10000}]


class Socket(http.client.HTTPConnection):
    """The API of a home's `sluice serve`."""

    def __init__(self, home):
        super().__init__("sluice")
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(home.folder / "home" / "run" / "sluice.sock"))

    def post(self, action, **input):
        self.request("POST", f"/v1/actions/{action}", json.dumps({"input": input}), {"Content-Type": "application/json"})
        answer = self.getresponse()
        return answer.status, json.load(answer)


def test_nobody_speaks_for_syncs_or_for_others(home):
    deployment, revision = home.ready("hello")
    home.run("traffic", "set", "local", "hello@1=100%", "--idempotency-key", "k7")
    me = f"uid:{os.getuid()}"
    before = home.json("config", "show", "local")
    instance = home.json("runtime", "list")[0]["instance"]
    with serving(home):
        api = Socket(home)
        for action, input in (("Config/correct", {"environment": "local", "key": "alb", "value": "evil"}),
                              ("Revision/move", {"revision": revision, "endpoint": "http://evil.example"}),
                              ("Revision/fail", {"revision": revision, "check": "x", "message": "y"}),
                              ("LocalRuntime/destroy", {"instance": instance})):
            status, problem = api.post(action, **input)
            assert status == 403 and problem["detail"] == f"{action} is called by syncs alone; nothing was changed"
        entries = [{"revision": revision, "weightBps": 10000}]
        status, problem = api.post("Traffic/set", deployment=deployment, entries=entries, caller="mallory")
        assert status == 400 and "caller is for the engine to fill in" in problem["detail"]
    refused = home.run("kit", "run", "deploy", "Revision/fail", f"revision={revision}", "check=x", "message=y", code=4)
    assert "called by syncs alone" in refused.stderr
    denied = [each["action"] for each in home.json("audit", "list") if each["step"] == "denied"]
    assert {"Config/correct", "Revision/fail", "LocalRuntime/destroy"} <= set(denied)
    assert len(home.replicas()) == 1, "what gets traffic goes on"
    answers = home.folder / "answers.yaml"
    answers.write_text("caller: mallory\n")
    home.run("traffic", "set", "local", "hello@1=100%", "--answers", answers, code=1)
    split = home.json("traffic", "show", "local")
    assert (split["generation"], split["updated_by"], split["idempotency_key"]) == (1, me, "k7")
    home.run("traffic", "set", "local", "hello@1=100%")
    split = home.json("traffic", "show", "local")
    assert split["updated_by"] == me and len(split["idempotency_key"]) == 26, "one is made where none is given"
    assert home.json("config", "show", "local") == before
    assert home.json("revisions", "list", "local")[0]["lifecycle"] == "ready"
    schema = json.loads(home.run("traffic", "set", "--schema").stdout)
    assert not {"caller", "callerKey"} & set(schema["properties"])


def get_folders(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_stored_outlives_revisions_and_is_there_for_the_next_deployment(home):
    bundle = changed(home, "keeper", "storage: [{ name: data, size: 1KB }]\n")
    home.json("bundles", "add", "local", bundle)
    home.run("revisions", "warm", "local", "keeper@1")
    storage = home.folder / "home" / "runtime" / "storage"
    (kept,) = storage.iterdir()
    (kept / "data" / "mark").write_text("1")
    home.json("revisions", "stage", "local", bundle)
    home.run("revisions", "warm", "local", "keeper@2")
    home.run("revisions", "archive", "local", "keeper@1", "--yes")
    home.run("revisions", "archive", "local", "keeper@2", "--yes")
    assert (kept / "data" / "mark").read_text() == "1"
    home.run("bundles", "remove", "local", "--yes")
    home.json("bundles", "add", "local", bundle)
    home.run("revisions", "warm", "local", "keeper@1")
    assert get_folders(storage) == [kept.name]
    assert (kept / "data" / "mark").read_text() == "1"


def test_who_allowed_it_can_be_looked_up(home):
    home.ready("hello")
    home.run("traffic", "set", "local", "hello@1=100%", "--reason", "the launch")
    home.run("traffic", "set", "local", "hello@1=100%")
    split = home.json("traffic", "show", "local")
    assert split["previous_split_ref"] == f"traffic-splits/{split['deployment_id']}/1"
    past = home.json("traffic", "history", "local")[1]
    (record,) = home.json("audit", "list", "--flow", past["authorization_ref"].removeprefix("audit:"))
    assert (record["action"], record["reason"]) == ("Traffic/set", "the launch")
    (deployment,) = home.json("bundles", "list", "local")
    assert deployment["usage"]["meter_endpoint"] == "usage://local/local-dev/hello"
    (record,) = home.json("audit", "list", "--flow", deployment["authorization_ref"].removeprefix("audit:"))
    assert record["action"] == "Deployment/add"


def test_an_unsigned_bundle_is_refused_outside_local(home):
    home.run("env", "create", "prod-eu", "--extends", "local")
    problem = home.json("bundles", "add", "prod-eu", home.bundle("hello"), "--customer-id", "acme", code=11)
    (revision,) = home.json("revisions", "list", "prod-eu")
    assert revision["lifecycle"] == "failed" and revision["failure"]["check"] == "signature-status"
    home.run("trust", "bootstrap", "--env", "prod-eu")
    home.run("revisions", "retry", "prod-eu", revision["revision_id"])
    assert problem["code"] == "verification_failed"


def test_staged_revisions_are_kept_within_the_environments_count(home):
    home.run("env", "update", "local", "--staged-max-count", "2")
    home.json("bundles", "add", "local", home.bundle("hello"))
    for _ in range(3):
        home.json("revisions", "stage", "local", home.bundle("hello"))
    assert [each["sequence"] for each in home.json("revisions", "list", "local")] == [3, 4]


def test_archived_revisions_are_kept_as_long_as_the_environment_says(home):
    home.json("bundles", "add", "local", home.bundle("hello"))
    home.run("revisions", "archive", "local", "hello@1", "--yes")
    home.json("revisions", "stage", "local", home.bundle("hello"))
    assert [each["sequence"] for each in home.json("revisions", "list", "local", "--archived")] == [1, 2]
    home.run("env", "update", "local", "--archived-max-age-days", "0")
    home.json("revisions", "stage", "local", home.bundle("hello"))
    assert [each["sequence"] for each in home.json("revisions", "list", "local", "--archived")] == [2, 3]


def test_what_is_staged_again_counts_for_the_environments_count(home):
    home.json("bundles", "add", "local", home.bundle("hello"))
    home.run("revisions", "warm", "local", "hello@1")
    home.run("revisions", "drain", "local", "hello@1", "--yes")
    home.json("revisions", "stage", "local", home.bundle("hello"))
    home.run("env", "update", "local", "--staged-max-count", "1")
    home.run("revisions", "retry", "local", "hello@1")
    assert [each["sequence"] for each in home.json("revisions", "list", "local")] == [1], "the newest is kept"


@pytest.mark.parametrize("words, says, step", [
    (["revisions", "drain", "local", "hello@1", "--yes"], "is staged, not ready", "sluice revisions warm local {revision}"),
    (["revisions", "retry", "local", "hello@1"], "is staged, not failed", "sluice revisions warm local {revision}"),
    (["traffic", "rollback", "local", "--steps", "2"], "the history goes back only 1 step, not 2",
     "sluice traffic history local --deployment {deployment}"),
    (["traffic", "rollback", "local", "--steps", "0"], "expected one step or more",
     "sluice traffic history local --deployment {deployment}"),
    (["traffic", "forward", "local"], "there is nothing to go forward to",
     "sluice traffic history local --deployment {deployment}"),
    (["env", "create", "local"], "there is an environment local already", "sluice env show local"),
    (["bundles", "add", "local", "{bundle}", "--customer-id", "x", "--host", "a.example"], "is the route of",
     "sluice bundles list local"),
])
def test_a_refusal_names_the_command_that_leads_on(home, words, says, step):
    deployment, revision = home.ready("hello", options=["--host", "a.example"])
    home.run("traffic", "set", "local", "hello@1=100%")
    home.run("traffic", "clear", "local", "--yes")
    if "hello@1" in words:
        home.run("revisions", "drain", "local", "hello@1", "--yes")
        home.run("revisions", "retry", "local", "hello@1")
    names = {"deployment": deployment, "revision": revision, "bundle": home.bundle("hello")}
    refused = home.run(*[each.format(**names) for each in words], code=6)
    assert says in refused.stderr and f"next:  {step.format(**names)}\n" in refused.stderr, refused.stderr


@pytest.mark.parametrize("words, code, says", [
    (["env", "create", ".."], 1, "an environment is named by"),
    (["env", "show", "lokal"], 5, "did you mean local?"),
    (["traffic", "show", "local"], 5, "there is no deployment in local"),
    (["traffic", "show", "local", "--deployment", ""], 2, "--deployment is empty; nothing was changed"),
    (["bundles", "remove", "local", "--customer-id", "", "--yes"], 2, "--customer-id is empty; nothing was changed"),
    (["env", "destroy", "local"], 2, "add --yes"),
    (["config", "set", "local", "regoin=eu"], 1, "did you mean region?"),
    (["env-packs", "add", "local", "nothing", "--slot", "iac"], 1, "names no pack"),
    (["bundles", "add", "local", "none.bundle"], 5, "none.bundle"),
    (["revisions", "warm", "local", "shop@1"], 5, "there is no revision 'shop@1'"),
])
def test_bad_input_is_told_and_changes_nothing(home, words, code, says):
    home.run("env", "list")
    before = home.run("env", "show", "local", "-o", "json").stdout
    assert says in home.run(*words, code=code).stderr
    assert home.run("env", "show", "local", "-o", "json").stdout == before


def test_config_is_kept_and_shown(home):
    home.run("config", "set", "local", "region=eu-west", "public_base_url=https://shop.example/")
    shown = home.json("config", "show", "local")
    assert shown["host_config"] == {"env_id": "local", "region": "eu-west", "public_base_url": "https://shop.example"}
    schema = json.loads(home.run("traffic", "set", "--schema").stdout)
    assert set(schema["required"]) >= {"deployment", "entries"}
