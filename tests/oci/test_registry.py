"""Bundles in real registries (Debian's docker-registry), copied by skopeo, pulled, verified and run."""

import hashlib
import http.client
import http.server
import json
import os
import shutil
import subprocess
import threading

import pytest


def copy(source, target, *words):
    done = subprocess.run(["skopeo", "copy", "--quiet", "--src-tls-verify=false", "--dest-tls-verify=false", *words,
                           f"docker://{source}", f"docker://{target}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_copied_bundle_is_pulled_by_digest_verified_and_run(home, hello, registries):
    first, second = registries(), registries()
    pushed = home.data("bundles", "push", "hello.bundle", f"oci://{first}/team/hello:1.0")
    assert pushed["bundle"] == "hello" and not pushed["onlySignatures"]
    copy(f"{first}/team/hello:1.0", f"{second}/other/hello:1.0")

    pinned = f"oci://{second}/other/hello@{pushed['digest']}"
    pulled = home.data("bundles", "pull", pinned, "--out", "pulled.bundle")
    assert pulled["digest"] == pushed["digest"] and pulled["signatures"] == 1
    assert (home.folder / "pulled.bundle").read_bytes() == hello.read_bytes()
    home.run("bundles", "verify", "pulled.bundle")
    (home.folder / "pulled.bundle").write_text("mine")
    refused = home.run("bundles", "pull", pinned, "--out", "pulled.bundle", code=6)
    assert "pulled.bundle is there already; nothing was fetched" in refused.stderr
    assert (home.folder / "pulled.bundle").read_text() == "mine"
    home.run("bundles", "pull", pinned, "--out", "pulled.bundle", "--force")
    assert (home.folder / "pulled.bundle").read_bytes() == hello.read_bytes()

    added = home.data("bundles", "add", "local", pinned)
    home.run("revisions", "warm", "local", added["revision"])
    endpoint = home.data("revisions", "list", "local")[0]["endpoint"]
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://").rstrip("/"), timeout=60)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    # The same again is another revision of the same deployment.
    assert home.data("revisions", "stage", "local", f"oci://{first}/team/hello:1.0")["sequence"] == 2


def test_a_pack_is_copied_with_its_signatures_and_installed(home, hello, root, registries):
    pack = home.folder / "file"
    shutil.copytree(root / "examples/packs/telemetry-file", pack)
    first, second = registries(), registries()
    unsigned = home.run("pack", "push", pack, f"oci://{first}/packs/file:1", code=1)
    assert "has no signatures beside it; nothing was pushed" in unsigned.stderr
    signed = home.data("pack", "sign", pack)
    pushed = home.data("pack", "push", pack, f"oci://{first}/packs/file:1")
    assert pushed["bundle"] == "acme.telemetry.file" and pushed["version"] == "1.0.0"
    copy(f"{first}/packs/file:1", f"{second}/other/file:1")
    pulled = home.data("pack", "pull", f"oci://{second}/other/file@{pushed['digest']}", "--out", "file.pack")
    assert pulled["signatures"] == 1
    assert home.data("env-packs", "install", "file.pack")["digest"] == signed["digest"]
    # The signatures came along: with the key trusted for packs, it may be used outside local.
    kind = "acme.telemetry.file@1.0.0"
    home.run("env", "create", "prod")
    assert "may not be used in prod" in home.run("env-packs", "add", "prod", kind, code=11).stderr
    public = subprocess.run(["openssl", "pkey", "-in", home.home / "keys/operator.pem", "-pubout"], check=True,
                            capture_output=True, text=True).stdout
    (home.folder / "operator.pub").write_text(public)
    home.run("trust", "remove", signed["key"], code=None)
    home.run("trust", "add", "operator.pub", "--label", "packs", "--env", "prod", "--bundle", "packs")
    home.run("do", "EnvPack/admit", f"pack={kind}", "environment=prod")
    # A bundle is no pack, and a pack is no bundle.
    home.run("bundles", "push", "hello.bundle", f"oci://{first}/team/hello:1")
    refused = home.run("pack", "pull", f"oci://{first}/team/hello:1", "--out", "hello.pack", code=1)
    assert "is no pack; its type is 'application/vnd.sluice.bundle.v1'" in refused.stderr
    refused = home.run("bundles", "add", "local", f"oci://{first}/packs/file:1", code=1)
    assert "is no bundle; its type is 'application/vnd.sluice.pack.v1'" in refused.stderr
    assert not (home.folder / "hello.pack").exists()


def test_a_changed_signature_is_refused_as_for_files(home, hello, registries):
    registry = registries()
    sidecar = home.folder / "hello.bundle.sig.json"
    envelope = json.loads(sidecar.read_text())
    signature = envelope["signatures"][0]["sig"]
    envelope["signatures"][0]["sig"] = ("A" if signature[0] != "A" else "B") + signature[1:]
    sidecar.write_text(json.dumps(envelope))
    home.run("bundles", "push", "hello.bundle", f"oci://{registry}/hello:1")
    home.run("bundles", "pull", f"oci://{registry}/hello:1", "--out", "pulled.bundle")
    refused = home.run("bundles", "verify", "pulled.bundle", code=11)
    assert refused.stderr == home.run("bundles", "verify", "hello.bundle", code=11).stderr.replace(
        "hello.bundle", "pulled.bundle")
    sidecar.unlink()
    refused = home.run("bundles", "push", "hello.bundle", f"oci://{registry}/hello:2", code=1)
    assert "has no signatures beside it; nothing was pushed" in refused.stderr


def test_signatures_that_come_later_are_found(home, hello, registries):
    registry = registries()
    digest = home.data("bundles", "push", "hello.bundle", f"oci://{registry}/hello:1")["digest"]
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "second.pem"], cwd=home.folder, check=True)
    os.chmod(home.folder / "second.pem", 0o600)
    home.run("bundles", "sign", "hello.bundle", "--key", "second.pem")
    for _ in range(2):  # a second time changes nothing
        assert home.data("bundles", "push", "hello.bundle", f"oci://{registry}/hello@{digest}")["onlySignatures"]
    pulled = home.data("bundles", "pull", f"oci://{registry}/hello:1", "--out", "pulled.bundle")
    assert pulled["digest"] == digest and pulled["signatures"] == 2
    (home.folder / "other").mkdir()
    (home.folder / "other/bundle.yaml").write_text('name: other\nversion: "1"\nrun: [./x]\n')
    home.run("bundles", "build", "other", "--out", "other.bundle")
    refused = home.run("bundles", "push", "other.bundle", f"oci://{registry}/hello@{digest}", code=6)
    assert "is of another archive than other.bundle; nothing was pushed" in refused.stderr


CANARY = "canary-f3b1-password"
USERS = "ci:$2b$04$abcdefghijklmnopqrstuujLJ4fS677ZWAQSBBBPipdTayq3LbZ/S\n"  # its bcrypt


def test_an_environment_pulls_with_its_own_login(home, hello, registries, tmp_path):
    registry = registries(USERS)
    auth = tmp_path / "auth.json"
    auth.write_text("{}")
    refused = subprocess.run([home.sluice, "bundles", "push", "hello.bundle", f"oci://{registry}/hello:1"],
                             cwd=home.folder, env=home.environment() | {"REGISTRY_AUTH_FILE": str(auth)},
                             capture_output=True, text=True)
    assert refused.returncode == 4 and f"{registry} wants a login" in refused.stderr
    subprocess.run(["skopeo", "login", "--tls-verify=false", "--authfile", auth, "-u", "ci", "--password-stdin", registry],
                   input=CANARY, text=True, check=True, capture_output=True)
    subprocess.run([home.sluice, "bundles", "push", "hello.bundle", f"oci://{registry}/hello:1"], check=True,
                   cwd=home.folder, env=home.environment() | {"REGISTRY_AUTH_FILE": str(auth)}, capture_output=True)
    auth.unlink()

    refused = home.run("bundles", "add", "local", f"oci://{registry}/hello:1", code=4)
    assert f"sluice registry login local {registry} --username NAME" in refused.stderr
    wrong = home.run("registry", "login", "local", registry, "--username", "ci", input="wrong", code=4)
    assert "does not take the login" in wrong.stderr
    home.run("registry", "login", "local", registry, "--username", "ci", input=CANARY)
    assert [each["host"] for each in home.data("registry", "list", "local")] == [registry]
    home.run("bundles", "add", "local", f"oci://{registry}/hello:1")
    home.run("registry", "logout", "local", registry)
    assert home.data("registry", "list", "local") == []
    with_canary = subprocess.run(["grep", "-rl", CANARY, home.home], capture_output=True, text=True)
    assert with_canary.stdout == ""


class Unruly(http.server.BaseHTTPRequestHandler):
    """Passes requests on to a real registry, and spoils one thing that the test names."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.pass_on()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_GET

    def pass_on(self):
        self.server.seen.append((self.command, self.path, self.headers.get("Range")))
        fault = self.server.faults[0] if self.server.faults else None
        if fault and fault[0] == self.command and fault[1] in self.path:
            self.server.faults.pop(0)
            return self.spoil(fault[2])
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, answer = self.ask(body)
        self.answer(status, headers, answer)

    def ask(self, body=b""):
        connection = http.client.HTTPConnection(self.server.real, timeout=60)
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("connection",)}
        connection.request(self.command, self.path, body or None, kept | {"Host": self.headers["Host"]})
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()

    def answer(self, status, headers, body, length=None):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date"):
                self.send_header(name, value)
        given = dict((name.lower(), value) for name, value in headers).get("content-length", "0")
        self.send_header("Content-Length", given if self.command == "HEAD" else str(length or len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def spoil(self, how):
        if how == "half of the answer":
            status, headers, body = self.ask()
            self.answer(status, headers, body[:len(body) // 2], len(body))
            self.close_connection = True
        elif how == "other bytes":
            status, headers, body = self.ask()
            self.answer(status, headers, b"x" * len(body))
        elif how == "a manifest without end":
            self.answer(200, [("Content-Type", "application/vnd.oci.image.manifest.v1+json")], b" " * (100 << 20))
        elif how == "ill":
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.answer(503, [], b"")
        elif how == "realm elsewhere":
            self.answer(401, [("WWW-Authenticate", 'Bearer realm="https://elsewhere.example/token",service="x"')], b"")

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            pass

    def log_message(self, *_):
        pass


@pytest.fixture
def unruly(registries):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Unruly)
    server.daemon_threads = True
    server.real, server.faults, server.seen = registries(), [], []
    server.address = "127.0.0.1:%d" % server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def large(home):
    """A bundle of some megabytes that do not compress."""
    folder = home.folder / "large"
    folder.mkdir()
    (folder / "bundle.yaml").write_text('name: large\nversion: "1"\nrun: [./x]\ninclude: ["**"]\n')
    (folder / "noise").write_bytes(os.urandom(3 << 20))
    home.run("bundles", "build", "large", "--out", "large.bundle")
    return home.folder / "large.bundle"


def test_a_broken_download_goes_on_at_the_byte_where_it_broke(home, unruly):
    archive = large(home)
    home.run("bundles", "push", "large.bundle", f"oci://{unruly.address}/large:1")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    unruly.faults = [("GET", digest, "half of the answer")] * 2
    unruly.seen.clear()
    home.run("bundles", "pull", f"oci://{unruly.address}/large:1", "--out", "pulled.bundle")
    assert (home.folder / "pulled.bundle").read_bytes() == archive.read_bytes()
    size = archive.stat().st_size
    rest = size - size // 2
    assert [seen[2] for seen in unruly.seen if digest in seen[1]] == [
        None, f"bytes={size // 2}-", f"bytes={size // 2 + rest // 2}-"]


def test_an_upload_goes_on_after_the_registry_was_ill(home, unruly):
    large(home)
    unruly.faults = [("PATCH", "/uploads/", "ill"), ("PATCH", "/uploads/", "ill")]
    home.run("bundles", "push", "large.bundle", f"oci://{unruly.address}/large:1")
    home.run("bundles", "pull", f"oci://{unruly.address}/large:1", "--out", "pulled.bundle")


@pytest.mark.parametrize("fault, code, said", [
    (("GET", "/manifests/", "a manifest without end"), 1, "more than 4194304 bytes"),
    (("GET", "/manifests/", "other bytes"), 1, "is no JSON"),
    (("GET", "/blobs/", "other bytes"), 11, "has another digest"),
    (("GET", "/manifests/", "realm elsewhere"), 4, "elsewhere.example, which is another party's; it was not sent"),
], ids=lambda each: each[2] if isinstance(each, tuple) else "")
def test_what_a_registry_spoils_is_refused_and_leaves_nothing(home, hello, unruly, tmp_path, fault, code, said):
    home.run("bundles", "push", "hello.bundle", f"oci://{unruly.address}/hello:1")
    unruly.faults = [fault]
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"auths": {unruly.address: {"auth": "Y2k6c2VjcmV0"}}}))
    refused = subprocess.run([home.sluice, "bundles", "pull", f"oci://{unruly.address}/hello:1", "--out", "pulled.bundle"],
                             cwd=home.folder, env=home.environment() | {"REGISTRY_AUTH_FILE": str(auth)},
                             capture_output=True, text=True)
    assert refused.returncode == code, refused.stderr
    assert said in refused.stderr
    assert not list(home.folder.glob("pulled.bundle*"))


def test_a_full_disk_leaves_nothing_of_a_pull(home, hello, registries, tmp_path):
    registry = registries()
    home.run("bundles", "push", "hello.bundle", f"oci://{registry}/hello:1")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk needs root: {mounted.stderr.strip()}")
    try:
        refused = home.run("bundles", "pull", f"oci://{registry}/hello:1", "--out", small / "pulled.bundle", code=None)
        assert refused.returncode != 0 and "space" in refused.stderr.lower(), refused.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)
