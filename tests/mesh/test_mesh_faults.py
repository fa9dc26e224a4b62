"""A node whose config server lies, whose disk is full, or whose agent is killed: the last good set stays in force, and
status says why."""

import base64
import contextlib
import copy
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
from datetime import datetime, timedelta, timezone

import pytest
import verify_mesh
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID
from operator_folder import Node, OperatorFolder


@pytest.fixture(scope="module")
def enrolled(sluice, tmp_path_factory):
    """A mesh with two versions of web, and web as it was enrolled with the first; made once, copied for each test."""
    place = tmp_path_factory.mktemp("enrolled")
    folder = OperatorFolder(sluice, place)
    folder.enrol("web")
    folder.enrol("hub")
    first = folder.artifacts()
    folder.serve_at(8001)
    return place, first


@pytest.fixture
def mesh(sluice, enrolled, tmp_path):
    place, first = enrolled
    shutil.copytree(place, tmp_path, symlinks=True, dirs_exist_ok=True)
    made = OperatorFolder.__new__(OperatorFolder)
    made.sluice, made.place, made.folder, made.first = sluice, tmp_path, tmp_path / "acme", first
    return made


def node_of(mesh, name="web"):
    return Node(mesh, mesh.place / name)


class LyingServer:
    """A config server that answers what it is told to: `answer(handler)` for each request."""

    def __init__(self, answer, tls=None):
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(handler):  # noqa: N805
                self.asked.append(handler.path)
                with contextlib.suppress(OSError):
                    answer(handler)

            def do_POST(handler):  # noqa: N805
                handler.rfile.read(int(handler.headers["Content-Length"]))
                send(handler, 200, b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def send(handler, status, body=b""):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def serves(mgmt, ctrl=()):
    """Answers a node with these artifacts."""
    def answer(handler):
        artifacts = mgmt if "/mgmt/" in handler.path else ctrl
        if not artifacts:
            return send(handler, 304)
        send(handler, 200, json.dumps({"artifacts": list(artifacts), "chain": []}).encode())

    return answer


def stays(mesh, answer, says, version=1, patience="30s"):
    """The node asks such a server, keeps its set, and says why."""
    node = node_of(mesh)
    before = os.readlink(node.root / "retes/acme")
    with LyingServer(answer) as server:
        done = node.sync("--direct", server.url, "--patience", patience, code=None)
        assert done.returncode != 0, (done.stdout, says)
        assert server.asked
    status = node.status()
    assert status["version"] == version
    assert says in status["trouble"], status
    assert os.readlink(node.root / "retes/acme") == before


def test_a_server_that_freezes_or_never_ends(mesh):
    ended = threading.Event()

    def freezes(_):
        ended.wait(60)

    def drips(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while not ended.wait(0.02):
            handler.wfile.write(b"1\r\n \r\n")

    def pours(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        while not ended.is_set():
            handler.wfile.write(piece)

    stays(mesh, freezes, "no answer within 400 ms", patience="400ms")
    stays(mesh, drips, "no answer within 400 ms", patience="400ms")
    stays(mesh, pours, "67108864 bytes")
    ended.set()


def test_a_server_that_serves_no_set_of_this_node(mesh):
    second = mesh.artifacts()
    ctrl = mesh.artifacts(plane="ctrl")
    stays(mesh, lambda handler: send(handler, 200, b"<html>"), "expected")
    stays(mesh, lambda handler: send(handler, 500), "answered 500")
    mixed = [second[0], *mesh.first[1:]]
    stays(mesh, serves(mixed, ctrl), "a set has one version")
    stays(mesh, serves(mesh.artifacts("hub"), mesh.artifacts("hub", "ctrl")), "hub")
    forged = copy.deepcopy(second)
    forged[0]["payload"]["vertices"] = []
    stays(mesh, serves(forged[:1], ()), "")
    forged = copy.deepcopy(second)
    forged[-1]["payload"]["workloads"] = []
    stays(mesh, serves(forged, ctrl), "does not hold")


def test_a_server_that_replays_or_has_two_contents_of_one_version(mesh, sluice, tmp_path):
    node = node_of(mesh)
    second, ctrl = mesh.artifacts(), mesh.artifacts(plane="ctrl")
    fork = OperatorFolder.__new__(OperatorFolder)
    fork.sluice, fork.place, fork.folder = sluice, tmp_path, tmp_path / "fork"
    shutil.copytree(mesh.folder, fork.folder)
    with LyingServer(serves(second, ctrl)) as server:
        assert node.sync("--direct", server.url).stdout.startswith("changed")
    node.folder.run("agent", "confirm", "--root", node.root)
    stays(mesh, serves(mesh.first, ()), "older than version 2", version=2)
    # Two operators with two ledgers sign the same number twice.
    mesh.serve_at(8002)
    fork.serve_at(8003)
    with LyingServer(serves(mesh.artifacts(), mesh.artifacts(plane="ctrl"))) as server:
        assert node.sync("--direct", server.url).stdout.startswith("changed")
    node.folder.run("agent", "confirm", "--root", node.root)
    stays(mesh, serves(fork.artifacts(), fork.artifacts(plane="ctrl")), "two contents", version=3)


def with_ctrl_key(mesh, envelope, **payload):
    """An artifact as whoever has the ctrl key would sign it: as the documentation says, and with what they like in it."""
    made = copy.deepcopy(envelope)
    made["payload"].update(payload)
    made["version"] += 1
    key = serialization.load_pem_private_key((mesh.folder / "keys/control-planes/primary.key").read_bytes(), None)
    key_id = "spiffe://acme/control-plane/primary"
    value = key.sign(verify_mesh.signed_bytes(made, "acme", key_id))
    made["signature"] = {"alg": "ed25519", "key_id": key_id, "value": base64.b64encode(value).decode()}
    return made


def test_a_stolen_ctrl_key_gives_no_access_link_or_route(mesh):
    mgmt, (ctrl,) = mesh.artifacts(), mesh.artifacts(plane="ctrl")
    says = ctrl["payload"]
    link = says["active_links"][0]
    olga = {"scope": "ingress", "target": "spiffe://acme/service/api", "initiator": "spiffe://acme/user/olga",
            "in": {"link": link, "label": 999}}
    away = {"in": {"link": link, "label": 998}, "out": {"link": "ghost", "label": 5}}
    for forged, why in ((with_ctrl_key(mesh, ctrl, label_bindings=[*says["label_bindings"], olga]), "rule 3"),
                        (with_ctrl_key(mesh, ctrl, active_links=[*says["active_links"], "ghost"]), "rule 1"),
                        (with_ctrl_key(mesh, ctrl, forwarding_table=[*says["forwarding_table"], away]), "rule 2")):
        stays(mesh, serves(mgmt, [forged]), why)
    # Nor does it count for what only the operator says.
    agent = next(each for each in mgmt if each["kind"] == "agent")
    others = [each for each in mgmt if each["kind"] != "agent"]
    lower = {**agent, "version": agent["version"] - 1}
    stays(mesh, serves([with_ctrl_key(mesh, lower), *others], [ctrl]), "spiffe://acme/control-plane/primary")
    # What it may do: fewer links and paths than the operator allows.
    with LyingServer(serves(mgmt, [with_ctrl_key(mesh, ctrl, label_bindings=[], forwarding_table=[])])) as server:
        assert node_of(mesh).sync("--direct", server.url).stdout.startswith("changed")


def certificate(mesh, days=1, ca=None, host="config-server.acme.rete"):
    """A server's certificate of the mesh's CA, or of another; expired if days are negative."""
    now = datetime.now(timezone.utc)
    key = Ed25519PrivateKey.generate()
    if ca is None:
        issuer = x509.load_pem_x509_certificate((mesh.folder / "certs/ca.crt").read_bytes()).subject
        signer = serialization.load_pem_private_key((mesh.folder / "keys/ca.key").read_bytes(), None)
    else:
        issuer, signer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "another")]), ca
    made = (x509.CertificateBuilder().subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")]))
            .issuer_name(issuer).public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30)).not_valid_after(now + timedelta(days=days))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False).sign(signer, None))
    file = mesh.place / f"server-{made.serial_number}.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return file


def tls_of(mesh, file):
    """Asks clients for a certificate of the mesh's CA."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(mesh.folder / "certs/ca.crt")
    return context


def test_direct_is_mutual_tls_with_the_mesh_s_authority(mesh):
    node = node_of(mesh)
    for bad in (certificate(mesh, days=-1), certificate(mesh, ca=Ed25519PrivateKey.generate()),
                certificate(mesh, host="config-server.other.rete")):
        with LyingServer(serves(mesh.artifacts(), mesh.artifacts(plane="ctrl")), tls_of(mesh, bad)) as server:
            assert node.sync("--direct", server.url, code=None).returncode != 0
            assert not server.asked
        status = node.status()
        assert status["version"] == 1 and "certificate" in status["trouble"], status
    with LyingServer(serves(mesh.artifacts(), mesh.artifacts(plane="ctrl")),
                     tls_of(mesh, certificate(mesh))) as server:
        assert node.sync("--direct", server.url).stdout == "changed  version 2  rete\n"
        assert node.sync("--direct", server.url, code=None).returncode == 0
    assert node.status()["trouble"] == ""


def strace_works():
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True)
    return done.returncode == 0


@pytest.mark.skipif(shutil.which("strace") is None or not strace_works(), reason="needs strace")
def test_an_agent_killed_at_each_write_leaves_the_old_set_or_the_new(mesh, tmp_path):
    calls = "fsync,fdatasync,rename,renameat,renameat2,symlink,symlinkat,mkdir,mkdirat,unlink,unlinkat,rmdir,ftruncate"
    seen = {1: 0, 2: 0}
    for n in range(1, 200):
        root = tmp_path / f"killed-{n}"
        shutil.copytree(mesh.place / "web", root, symlinks=True)
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={calls}:signal=SIGKILL:when={n}", mesh.sluice, "mesh",
             "agent", "sync", "--root", root, "--from", mesh.folder / "compiled"],
            capture_output=True, text=True, timeout=60, env={"HOME": str(tmp_path)})
        killed = done.returncode in (-9, 137)
        link = os.readlink(root / "retes/acme")
        assert (root / "retes" / link / "mgmt/agent.json").exists(), "a set in force is whole"
        node = Node(mesh, root)
        version = node.status()["version"]
        seen[version] += 1
        assert node.state()["marks"]["mgmt"]["version"] >= version
        assert {json.loads(f.read_text())["version"] for f in (root / "retes/acme/mgmt").rglob("*.json")} == {version}
        # It goes on from there.
        node.sync("--from", mesh.folder / "compiled")
        assert node.status()["version"] == 2
        shutil.rmtree(root)
        if not killed:
            break
    assert not killed and n > 15 and seen[1] > 5 and seen[2] > 1, (n, seen)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a small disk")
def test_a_full_disk_keeps_the_set_in_force(mesh, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", small], check=True)
    try:
        shutil.copytree(mesh.place / "web", small / "web", symlinks=True)
        node = Node(mesh, small / "web")
        with contextlib.suppress(OSError), (small / "filler").open("wb") as filler:
            while True:
                filler.write(b"x" * 4096)
                filler.flush()
        done = node.sync("--from", mesh.folder / "compiled", code=None)
        assert done.returncode != 0 and "space" in done.stderr.lower(), done.stderr
        assert node.status()["version"] == 1
        (small / "filler").unlink()
        assert node.sync("--from", mesh.folder / "compiled").stdout.startswith("changed")
        assert node.status()["version"] == 2
    finally:
        subprocess.run(["umount", small], check=True)


def test_the_real_server_over_tls_gives_a_node_its_own(mesh, sluice, eventually):
    """sluice serve with the certificate of the service config-server, as hub has it; web asks without a vertex."""
    home = mesh.place / "home"
    home.mkdir(mode=0o700)
    environment = {"HOME": str(mesh.place), "SLUICE_HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    certs = mesh.place / "hub/identity/acme/certs"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def run(*words, code=0):
        done = subprocess.run([sluice, *map(str, words)], capture_output=True, text=True, env=environment, timeout=120)
        assert code is None or done.returncode == code, (words, done.stdout, done.stderr)
        return done

    log = (mesh.place / "serve.log").open("wb")
    serving = subprocess.Popen([sluice, "serve", "--listen", f"127.0.0.1:{port}", "--tls-cert",
                                certs / "service.config-server.crt", "--tls-key", certs / "service.config-server.key"],
                               env=environment, stdout=log, stderr=log)
    try:
        eventually(lambda: run("mesh", "status", code=None).returncode == 0 and any(home.rglob("sluice.sock")),
                   lambda: (mesh.place / "serve.log").read_text())
        done = json.loads(run("mesh", "publish", mesh.folder, "-o", "json").stdout)
        assert done["changed"] == ["hub", "laptop", "web"]
        url = f"https://127.0.0.1:{port}"
        web = node_of(mesh)
        assert web.sync("--direct", url).stdout == "changed  version 2  rete\n"
        assert web.sync("--direct", url).stdout == "confirmed  version 2\n"
        seen = {each["node"]: each for each in json.loads(run("mesh", "status", "-o", "json").stdout)}
        assert (seen["web"]["state"], seen["web"]["reported_version"]) == ("current", 2)
        assert seen["laptop"]["state"] == "unseen"
        # A name that is not its own: the certificate says who asks.
        state = web.state()
        (web.root / "state/acme/node.json").write_text(json.dumps({**state, "node": "hub"}))
        shutil.copy(web.root / "identity/acme/certs/node.web.crt", web.root / "identity/acme/certs/node.hub.crt")
        shutil.copy(web.root / "identity/acme/certs/node.web.key", web.root / "identity/acme/certs/node.hub.key")
        assert "answered 403" in web.sync("--direct", url, code=None).stderr
        (web.root / "state/acme/node.json").write_text(json.dumps(state))
        # Over HTTP, as a control plane publishes.
        (place,) = home.rglob("sluice.sock")

        def post(plane, artifacts):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(place))
                body = json.dumps({"mesh": "acme", "artifacts": artifacts, "chain": []}).encode()
                connection.sendall(f"POST /publish/{plane} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                   f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

        assert "409" in (older := post("mgmt", mesh.first)) and "is older than version 2" in older, older
        assert " 200 " in post("ctrl", mesh.artifacts(plane="ctrl"))
        assert " 400 " in (mixed := post("ctrl", mesh.artifacts())) and "mgmt artifacts among those of ctrl" in mixed, mixed
        assert " 404 " in post("other", [])
        # Published the same again; an older tree is refused; a revoked node gets nothing.
        assert json.loads(run("mesh", "publish", mesh.folder, "-o", "json").stdout)["changed"] == []
        run("do", "Mesh/revoke", "mesh=acme", "node=web", "reason=stolen")
        assert "answered 403" in web.sync("--direct", url, code=None).stderr
        assert "revoked" in run("mesh", "status").stdout
        assert web.status()["version"] == 2, "it keeps what it has"
    finally:
        serving.terminate()
        serving.wait(timeout=60)
