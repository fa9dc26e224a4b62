"""Certificates by ACME, from Debian's pebble, which refuses every second good nonce: both ways of proof, renewals, an account
that is bound, refusals, and a control plane that is killed at each request."""

import http.server
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from urllib.parse import urlsplit

import pytest
from cryptography import x509


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Pebble:
    """An authority that proves names at the ports of a router; all names are this machine."""

    def __init__(self, folder, http_port, tls_port, **more):
        self.folder = folder
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                        str(folder / "key.pem"), "-out", str(folder / "cert.pem")], check=True, capture_output=True)
        self.port, dns = free_port(), free_port()
        (folder / "config.json").write_text(json.dumps({"pebble": {
            "listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{free_port()}",
            "certificate": str(folder / "cert.pem"), "privateKey": str(folder / "key.pem"), "httpPort": http_port,
            "tlsPort": tls_port, "ocspResponderURL": "", "externalAccountBindingRequired": False,
            "domainBlocklist": ["blocked.invalid"], **more}}))
        self.log = open(folder / "log", "w")
        self.words = ["pebble", "-strict", "-config", str(folder / "config.json"), "-dnsserver", f"127.0.0.1:{dns}"]
        self.processes = [self.begin(words) for words in [
            ["pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dns01", f"127.0.0.1:{dns}", "-http01",
             "", "-https01", "", "-tlsalpn01", "", "-management", f"127.0.0.1:{free_port()}"], self.words]]

    def begin(self, words):
        return subprocess.Popen(words, stdout=self.log, stderr=self.log, env={
            "PATH": os.environ["PATH"], "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "50"})

    def restart(self):
        self.processes[1].kill()
        self.processes[1].wait(timeout=60)
        self.processes[1] = self.begin(self.words)

    def said(self):
        return (self.folder / "log").read_text()

    def listens(self):
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", self.port)) == 0

    def options(self, port=None):
        return ["--provider", "acme", "--directory", f"https://localhost:{port or self.port}/dir", "--directory-ca",
                str(self.folder / "cert.pem")]

    def issued(self):
        """How many certificates it has issued."""
        return len(re.findall(r"Issued certificate serial", self.said()))

    def stop(self):
        for each in self.processes:
            each.kill()
            each.wait(timeout=60)
        self.log.close()


@pytest.fixture
def pebble(home, eventually):
    """A home that serves with TLS, and an authority beside it."""
    started = []

    def start(**more):
        urls = home.up(home.root / "examples/hello", *home.own_port(), "--tls")["urls"]
        ports = [urlsplit(url).port for url in urls]
        one = Pebble(home.folder / "pebble", *ports, **more)
        started.append(one)
        eventually(one.listens, "pebble did not start")
        one.secure = ports[1]
        return one

    yield start
    for one in started:
        one.stop()


def shown(port, name):
    """The certificate that a router shows for a name."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        with made.wrap_socket(sock, server_hostname=name) as secure:
            return x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))


@pytest.mark.parametrize("challenge", ["http-01", "tls-alpn-01"])
def test_an_authority_is_given_the_proof(home, pebble, challenge):
    ca = pebble()
    issued = home.data("tls", "issue", "shop.invalid", "www.shop.invalid", *ca.options(), "--challenge", challenge, "--email",
                       "me@shop.invalid")
    assert issued["names"] == ["shop.invalid", "www.shop.invalid"] and "Pebble Intermediate CA" in issued["issuer"]
    first = shown(ca.secure, "www.shop.invalid")
    assert "Pebble Intermediate CA" in first.issuer.rfc4514_string()
    home.run("tls", "renew", "shop.invalid")
    assert shown(ca.secure, "shop.invalid").serial_number != first.serial_number
    assert ca.issued() == 2
    assert list((home.home / "tls/.challenges").iterdir()) == [] and list((home.home / "acme/orders").iterdir()) == []
    keys = [path.read_bytes().splitlines()[1] for path in [*home.home.glob("acme/accounts/*/key.pem"),
                                                           home.home / "tls/shop.invalid/key.pem"]]
    assert len(keys) == 2
    for file in home.home.rglob("*"):
        if file.is_file() and file.name != "key.pem":
            assert not any(line in file.read_bytes() for line in keys), file


def test_what_was_issued_is_renewed_before_it_runs_out(home, pebble):
    """At two thirds of its 90 seconds, by nobody's order."""
    ca = pebble(certificateValidityPeriod=90)
    home.run("tls", "issue", "shop.invalid", *ca.options())
    first = shown(ca.secure, "shop.invalid")
    end = time.monotonic() + 180
    while shown(ca.secure, "shop.invalid").serial_number == first.serial_number:
        assert time.monotonic() < end, "nobody renewed it"
        time.sleep(0.1)
    assert ca.issued() == 2
    assert shown(ca.secure, "shop.invalid").not_valid_before < first.not_valid_after, "it was in time"


def test_an_account_is_bound_to_one_that_is_known(home, pebble):
    key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
    ca = pebble(externalAccountBindingRequired=True, externalAccountMACKeys={"kid-1": key})
    refused = home.run("tls", "issue", "shop.invalid", *ca.options(), code=1)
    assert "the authority refuses" in refused.stderr
    (home.folder / "binding").write_text(key + "\n")
    home.run("tls", "issue", "shop.invalid", *ca.options(), "--account-id", "kid-1", "--account-key", "binding")
    home.run("tls", "renew", "shop.invalid")
    assert ca.issued() == 2


def test_what_the_authority_refuses_or_cannot_prove_changes_nothing(home, pebble):
    ca = pebble()
    refused = home.run("tls", "issue", "blocked.invalid", *ca.options(), code=1)
    assert "the authority refuses" in refused.stderr
    home.run("tls", "issue", "shop.invalid", *ca.options())
    before = shown(ca.secure, "shop.invalid").serial_number
    ca.stop()
    failed = home.run("tls", "renew", "shop.invalid", code=1)
    assert "localhost" in failed.stderr
    assert shown(ca.secure, "shop.invalid").serial_number == before
    (listed,) = [each for each in home.data("tls", "list")["certificates"] if each["certificate"] == "shop.invalid"]
    assert listed["problem"] != ""
    assert "could not be renewed" in home.run("tls", "doctor", code=1).stdout


def test_an_account_that_the_authority_forgot_is_registered_again(home, pebble, eventually):
    """Pebble keeps its accounts in memory alone: after its restart it knows none."""
    ca = pebble()
    home.run("tls", "issue", "shop.invalid", *ca.options())
    (account,) = home.home.glob("acme/accounts/*")
    before = {name: (account / name).read_text() for name in ("url", "key.pem")}
    first = shown(ca.secure, "shop.invalid").serial_number
    ca.restart()
    eventually(ca.listens, "pebble did not start again")
    home.run("tls", "renew", "shop.invalid")
    assert shown(ca.secure, "shop.invalid").serial_number != first
    assert ca.said().count("There are now 1 accounts in memory") == 2
    assert (account / "url").read_text() != before["url"]
    assert (account / "key.pem").read_text() == before["key.pem"]


def test_an_authority_that_is_somebody_else_is_not_believed(home, pebble):
    ca = pebble()
    options = [each for each in ca.options() if not each.endswith(".pem")]
    options.remove("--directory-ca")
    refused = home.run("tls", "issue", "shop.invalid", *options, code=1)
    assert "certificate" in refused.stderr
    assert ca.issued() == 0


@pytest.mark.parametrize("challenge", ["http-01", "tls-alpn-01"])
def test_all_routers_give_the_proof_before_it_is_asked_for(home, pebble, challenge):
    """The authority looks at one that serves another environment, and has nothing else to say."""
    home.run("env", "create", "staging")
    beside = home.begin("router", "run", "--name", "staging", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0,tls")
    try:
        clear, secure = (int(place.removesuffix(",tls").rsplit(":", 1)[1])
                         for place in json.loads(beside.stdout.readline())["listen"])
        ca = pebble(httpPort=clear, tlsPort=secure)
        home.run("tls", "issue", "shop.invalid", *ca.options(), "--challenge", challenge)
        assert ca.issued() == 1
        first = shown(ca.secure, "shop.invalid").serial_number
        assert shown(secure, "shop.invalid").serial_number == first, "both show it"
        home.run("tls", "renew", "shop.invalid")
        assert {shown(port, "shop.invalid").serial_number for port in (ca.secure, secure)} != {first}
        assert shown(secure, "shop.invalid").serial_number == shown(ca.secure, "shop.invalid").serial_number
    finally:
        beside.terminate()
        beside.communicate(timeout=60)


class Liar(http.server.BaseHTTPRequestHandler):
    """An authority that goes along up to a point."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.tell("directory")

    def do_HEAD(self):
        self.say(200, b"", nonce="nonce" not in self.server.lies)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert {"protected", "payload", "signature"} == set(asked)
        self.tell("finalize" if self.path == "/order-1" else self.path[1:])

    def tell(self, what):
        base = f"https://localhost:{self.server.server_address[1]}"
        answers = {
            "directory": {"newNonce": base + "/nonce", "newAccount": base + "/account", "newOrder": base + "/order"},
            "account": {"status": "valid"},
            "order": {"status": "ready", "authorizations": [], "finalize": base + "/finalize"},
            "finalize": {"status": "valid", "certificate": base + "/certificate"},
            "certificate": self.server.certificate,
        }
        lie = self.server.lies[what] if what in self.server.lies else answers[what]
        status, body = lie if isinstance(lie, tuple) else (201 if what in ("account", "order") else 200, lie)
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.say(status, body.replace(b"https://localhost:PORT", base.encode()), location=f"{base}/{what}-1")

    def say(self, status, body, nonce=True, **headers):
        self.send_response(status)
        for name, value in {**headers, **self.server.lies.get("headers", {})}.items():
            self.send_header(name, value)
        if nonce:
            self.send_header("Replay-Nonce", "bm9uY2U")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


LIES = {
    "a directory that is none": ({"directory": b"<html>"}, "is no ACME directory"),
    "a directory without orders": ({"directory": {"newNonce": "https://localhost/"}}, "is no ACME directory"),
    "a directory that leads into the clear": ({"directory": {
        "newNonce": "http://localhost/", "newAccount": "http://localhost/", "newOrder": "http://localhost/"}},
        "no https:// URL"),
    "no nonce": ({"nonce": True}, "gives no nonce"),
    "its nonces are none": ({"account": (400, {"type": "urn:ietf:params:acme:error:badNonce"})}, "takes none of its own nonces"),
    "an order that leads nowhere": ({"order": {"status": "ready", "finalize": 7}}, "no https:// URL"),
    "an order without authorizations": ({"order": {"status": "pending"}}, "has no authorizations"),
    "a proof for somebody else": ({
        "order": {"status": "pending", "authorizations": ["https://localhost:PORT/authorization"]},
        "authorization": {"status": "pending", "identifier": {"type": "dns", "value": "bank.invalid"},
                          "challenges": [{"type": "http-01", "token": "abc", "url": "https://localhost:PORT/challenge"}]}},
        "wants a proof for bank.invalid, which nobody asked for"),
    "an order that is over": ({"finalize": {"status": "invalid", "error": {"detail": "no\x1b[31m more"}}}, "ended the order"),
    "a limit": ({"order": (429, {"type": "urn:ietf:params:acme:error:rateLimited", "detail": "too many"}),
                 "headers": {"Retry-After": "3600"}}, "too many; it says to come again in 3600 s"),
    "an error of its own": ({"order": (500, b"oops")}, "status 500"),
    "no certificate": ({"certificate": b"nothing"}, "sends no certificate"),
    "a certificate of somebody else": ({}, "is not of shop.invalid"),
    "an answer without end": ({"certificate": b" " * (2 << 20)}, ""),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_authority_that_lies_changes_nothing(home, tmp_path, lie):
    lies, words = LIES[lie]
    home.up(home.root / "examples/hello", *home.own_port(), "--tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(tmp_path / "key.pem"),
                    "-out", str(tmp_path / "cert.pem")], check=True, capture_output=True)
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    liar.socket = secured.wrap_socket(liar.socket, server_side=True)
    liar.daemon_threads, liar.lies, liar.certificate = True, lies, (tmp_path / "cert.pem").read_bytes()
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    try:
        before = home.data("tls", "list")["certificates"]
        failed = home.run("tls", "issue", "shop.invalid", "--provider", "acme", "--directory",
                          f"https://localhost:{liar.server_address[1]}/directory", "--directory-ca", tmp_path / "cert.pem",
                          code=None)
        assert failed.returncode != 0 and words in failed.stderr and "\x1b" not in failed.stderr, failed.stderr
        assert home.data("tls", "list")["certificates"] == before
        assert not (home.home / "tls/shop.invalid").exists()
        challenges = home.home / "tls/.challenges"
        assert not challenges.exists() or list(challenges.iterdir()) == []
    finally:
        liar.shutdown()
        liar.server_close()


class Tap:
    """Passes a connection on, and calls `at` when the nth piece comes from the client; what comes then is not passed on."""

    def __init__(self, to, count, at):
        self.to, self.left, self.at = to, count, at
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.mutex = threading.Lock()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                there = socket.create_connection(("127.0.0.1", self.to))
            except OSError:  # the authority has ended with its test
                client.close()
                continue
            threading.Thread(target=self.copy, args=(client, there, True), daemon=True).start()
            threading.Thread(target=self.copy, args=(there, client, False), daemon=True).start()

    def copy(self, source, to, counted):
        try:
            while data := source.recv(1 << 16):
                with self.mutex:
                    self.left -= counted
                    due = counted and self.left == 0
                if due:
                    self.at()
                to.sendall(data)
        except OSError:
            pass
        for sock in (source, to):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def refuses(path):
    """Whether nobody listens there; who was killed may do so for a moment, until its last thread has ended."""
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect_ex(str(path)) != 0


# Of each request a piece or two, and some for each connection; ./dev soak does both ways of proof.
KILLS = [(challenge, step) for challenge in ["http-01", "tls-alpn-01"][:2 if os.environ.get("SLUICE_SOAK") else 1]
         for step in range(1, 41 if os.environ.get("SLUICE_SOAK") else 31)]


@pytest.mark.parametrize("challenge, step", KILLS)
def test_a_control_plane_that_is_killed_loses_no_order(home, pebble, eventually, challenge, step):
    """However far it was: after its next start the order goes on, and one certificate comes of it."""
    ca = pebble()
    killed, serving = threading.Event(), home.status()["pid"]

    def kill():
        os.kill(serving, signal.SIGKILL)
        killed.set()

    tap, serve = Tap(ca.port, step, kill), None
    try:
        asking = home.begin("tls", "issue", "shop.invalid", *ca.options(tap.port), "--challenge", challenge)
        asking.communicate(timeout=120)
        if killed.is_set():
            eventually(lambda: refuses(home.home / "run/sluice.sock"), "the control plane is still there")
            serve = home.begin("serve")
            eventually(lambda: any(each["certificate"] == "shop.invalid"
                                   for each in home.data("tls", "list")["certificates"]),
                       lambda: "no certificate came of it: " + ca.said()[-3000:])
        assert "Pebble" in shown(ca.secure, "shop.invalid").issuer.rfc4514_string()
        assert ca.issued() == 1
        assert list((home.home / "acme/orders").iterdir()) == []
    finally:
        tap.close()
        if serve:
            home.run("stop", "--control-plane", code=None)
            serve.communicate(timeout=60)
