"""TLS: an address that others can reach needs a certificate; files are read again, and an authority of the home is pinned by
its fingerprint."""

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess

import pytest


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.log = folder / "serve.log"

    def run(self, *words, home=None):
        environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home or self.home), "LANG": "C.UTF-8"}
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=environment, timeout=120)

    def ok(self, *words, home=None):
        done = self.run(*words, "-o", "json", home=home)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def serving(self, eventually, *words):
        environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}
        with open(self.log, "w") as log:
            process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0", *map(str, words)], stdout=log,
                                       stderr=log, cwd=self.root, env=environment)
        try:
            eventually(lambda: "listening at" in self.log.read_text(), lambda: self.log.read_text())
            self.status = self.ok("status")
            self.port = int(self.status["url"].rsplit(":", 1)[1])
            self.process = process
            yield self
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)

    def get(self, roots, target="/healthz", **more):
        context = ssl.create_default_context(cafile=str(roots))
        if "cert" in more:
            context.load_cert_chain(*map(str, more["cert"]))
        wire = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=60)
        wire.request("GET", target, headers=more.get("headers", {}))
        answer = wire.getresponse()
        body = answer.read()
        der = wire.sock.getpeercert(True) if wire.sock else None
        wire.close()
        return answer.status, json.loads(body), der


def certificate(folder, name, *more):
    """A self-signed certificate for 127.0.0.1 made by openssl."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert,
                    *more], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def place(sluice, root, tmp_path):
    return Place(sluice, root, tmp_path)


def test_an_address_that_others_can_reach_needs_a_certificate(place):
    for where in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8400"]:
        refused = place.run("serve", "--listen", where)
        assert refused.returncode == 2 and "can be reached from elsewhere" in refused.stderr
        assert "--tls-own" in refused.stderr
    alone = place.run("serve", "--tls-own")
    assert alone.returncode == 2 and "--listen" in alone.stderr
    half = place.run("serve", "--listen", "127.0.0.1:0", "--tls-cert", place.folder / "none.pem")
    assert half.returncode == 2, half.stderr
    missing = place.run("serve", "--listen", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.key")
    assert missing.returncode == 5 and "none.pem" in missing.stderr
    assert not (place.home / "run/sluice.sock").exists()


def test_certificates_from_files_are_read_again(place, eventually):
    cert, key = place.folder / "server.pem", place.folder / "server.key"
    first, second = certificate(place.folder, "first"), certificate(place.folder, "second")

    def use(pair):
        for source, target in zip(pair, (cert, key)):
            new = target.with_suffix(".new")
            new.write_bytes(source.read_bytes())
            os.replace(new, target)

    use(first)
    with place.serving(eventually, "--tls-cert", cert, "--tls-key", key):
        assert place.status["url"].startswith("https://")
        status, body, _ = place.get(first[0])
        assert (status, body) == (200, {"status": "ok"})
        with pytest.raises(ssl.SSLError):
            place.get(second[0])
        with pytest.raises((http.client.HTTPException, OSError)):  # in the clear
            plain = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)
            plain.request("GET", "/healthz")
            plain.getresponse()
        use(second)

        def shows(pair):
            with contextlib.suppress(ssl.SSLError):
                return place.get(pair[0])[0] == 200

        eventually(lambda: shows(second), lambda: place.log.read_text())
        use((second[0], first[1]))
        eventually(lambda: "the one before stays: the key is not the certificate's" in place.log.read_text())
        assert place.get(second[0])[0] == 200
        use(first)
        place.process.send_signal(signal.SIGHUP)
        eventually(lambda: shows(first), lambda: place.log.read_text())
        assert place.process.poll() is None, "it is no wish to stop"


def test_a_certificate_of_the_home_is_shown_and_followed(place, eventually):
    """Also one that the running server itself renews."""
    place.ok("tls", "issue", "127.0.0.1", "--as", "server")
    kept = place.home / "tls/server"
    with place.serving(eventually, "--tls-cert", kept / "chain.pem", "--tls-key", kept / "key.pem"):
        status, _, first = place.get(place.home / "ca/chain.pem")
        assert status == 200
        place.ok("tls", "renew", "server")
        eventually(lambda: place.get(place.home / "ca/chain.pem")[2] != first, lambda: place.log.read_text())


def test_a_session_over_tls_is_for_tls_alone(place, eventually):
    pair = certificate(place.folder, "one")
    with place.serving(eventually, "--tls-cert", pair[0], "--tls-key", pair[1]):
        context = ssl.create_default_context(cafile=str(pair[0]))
        wire = http.client.HTTPSConnection("127.0.0.1", place.port, context=context, timeout=60)
        token = (place.home / "run/owner.token").read_text().strip()
        wire.request("POST", "/v1/login", json.dumps({"token": token}), {"Content-Type": "application/json"})
        answer = wire.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
        cookie = answer.getheader("Set-Cookie")
        assert cookie.startswith("__Host-sluice_session=") and "; Secure" in cookie
        wire.request("GET", "/v1/session", headers={"Cookie": cookie.split(";")[0]})
        answer = wire.getresponse()
        assert json.loads(answer.read())["owner"] is True
        wire.close()


def test_the_homes_authority_is_pinned(place, eventually, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    with place.serving(eventually, "--tls-own", "--tls-name", "shop.example"):
        url, fingerprint = place.status["url"], place.status["fingerprint"]
        assert fingerprint in place.log.read_text()
        token = tmp_path / "token"
        token.write_text((place.home / "run/owner.token").read_text())
        unknown = place.run("login", url, "--name", "far", "--token-file", token, home=elsewhere)
        assert unknown.returncode == 11 and fingerprint in unknown.stderr and "nothing was sent" in unknown.stderr
        wrong = place.run("login", url, "--name", "far", "--token-file", token, "--fingerprint", "sha256:" + "0" * 64,
                          home=elsewhere)
        assert wrong.returncode == 11 and "nothing was sent" in wrong.stderr
        place.ok("login", url, "--name", "far", "--token-file", token, "--fingerprint", fingerprint, home=elsewhere)
        assert place.ok("access", "whoami", home=elsewhere)["owner"] is True
        place.ok("env", "create", "made-over-tls", home=elsewhere)
        assert "made-over-tls" in json.dumps(place.ok("env", "list"))
        assert place.get(place.home / "keys/tls-ca.pem")[0] == 200
    port = place.port
    with place.serving(eventually, "--tls-own"):
        assert place.status["fingerprint"] == fingerprint, "it stays"
    # Somebody else at the same place gets nothing.
    other = Place(place.sluice, place.root, tmp_path / "other")
    other.folder.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(other.home), "LANG": "C.UTF-8"}
    with open(other.log, "w") as log:
        thief = subprocess.Popen([str(place.sluice), "serve", "--listen", f"127.0.0.1:{port}", "--tls-own"], stdout=log,
                                 stderr=log, cwd=place.root, env=environment)
    try:
        eventually(lambda: "listening at" in other.log.read_text(), lambda: other.log.read_text())
        refused = place.run("access", "whoami", home=elsewhere)
        assert refused.returncode == 11 and "nothing was sent" in refused.stderr
    finally:
        thief.send_signal(signal.SIGTERM)
        thief.wait(timeout=60)


def test_half_open_connections_keep_nobody_out(place, eventually):
    pair = certificate(place.folder, "busy")
    with place.serving(eventually, "--tls-cert", pair[0], "--tls-key", pair[1]), contextlib.ExitStack() as open_ones:
        for _ in range(100):
            one = open_ones.enter_context(socket.create_connection(("127.0.0.1", place.port), timeout=60))
            one.send(b"\x16\x03\x01")
        assert place.get(pair[0])[0] == 200


def test_a_clients_certificate_says_who_calls(place, eventually):
    pair = certificate(place.folder, "server")
    authority = certificate(place.folder, "authority")
    stranger = certificate(place.folder, "stranger")

    def client(name, extension):
        key, request, cert = (place.folder / f"{name}.{kind}" for kind in ("ckey", "csr", "cpem"))
        subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        f"/CN={name}", "-keyout", key, "-out", request], check=True, capture_output=True)
        extensions = place.folder / f"{name}.ext"
        extensions.write_text(extension)
        subprocess.run(["openssl", "x509", "-req", "-in", request, "-CA", authority[0], "-CAkey", authority[1], "-days", "2",
                        "-extfile", extensions, "-out", cert], check=True, capture_output=True)
        return cert, key

    ci = client("robot", "subjectAltName=URI:spiffe://shop.example/ci\nextendedKeyUsage=clientAuth\n")
    ann = client("ann", "extendedKeyUsage=clientAuth\n")
    bob = client("bob", "extendedKeyUsage=clientAuth\n")
    policy = place.folder / "policy.yaml"
    policy.write_text("schema: sluice.access-policy.v1\ngrants:\n- {to: [service:ci], role: viewer}\n"
                      "- {to: [user:ann], role: admin}\ncertificates:\n"
                      "- {spiffe: 'spiffe://shop.example/ci', as: service:ci}\n- {subject: CN=ann, as: user:ann}\n")
    with place.serving(eventually, "--tls-cert", pair[0], "--tls-key", pair[1], "--client-ca", authority[0]):
        place.ok("access", "policy", "apply", policy)
        assert place.get(pair[0], "/v1/session", cert=ci)[1]["caller"] == "service:ci"
        assert place.get(pair[0], "/v1/session", cert=ann)[1]["roles"] == ["admin"]
        assert place.get(pair[0], "/v1/session", cert=bob)[0] == 401, "nobody in the policy"
        assert place.get(pair[0], "/v1/session")[0] == 401, "none was shown"
        token = (place.home / "run/owner.token").read_text().strip()
        with_token = place.get(pair[0], "/v1/session", cert=ci, headers={"Authorization": "Bearer " + token})
        assert with_token[1]["owner"] is True, "a token comes first"
        with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
            place.get(pair[0], "/v1/session", cert=stranger)


def test_a_command_runs_in_a_replica_through_tls(place, eventually, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    with place.serving(eventually, "--tls-own"):
        try:
            place.ok("up", place.root / "examples/hello", "--detach")
            token = tmp_path / "token"
            token.write_text((place.home / "run/owner.token").read_text())
            place.ok("login", place.status["url"], "--name", "far", "--token-file", token, "--fingerprint",
                     place.status["fingerprint"], home=elsewhere)
            environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(elsewhere), "LANG": "C.UTF-8"}

            def run(script, typed):
                return subprocess.run([str(place.sluice), "exec", "hello", "--", "sh", "-c", script], input=typed,
                                      capture_output=True, text=True, env=environment, timeout=120)

            done = run("cat; echo wrong >&2; exit 9", "typed\n")
            assert (done.returncode, done.stdout, done.stderr) == (9, "typed\n", "wrong\n")
            many = "".join(f"{number}\n" for number in range(200_000))
            assert run("cat", many).stdout == many, "both ways at once, more than any buffer holds"
            assert "listens" in place.run("logs", "hello", home=elsewhere).stdout
            with subprocess.Popen([str(place.sluice), "logs", "hello", "--follow"], stdout=subprocess.PIPE, text=True,
                                  env=environment) as following:
                while "listens" not in following.stdout.readline():
                    pass
                following.terminate()
            lasting = subprocess.Popen([str(place.sluice), "exec", "hello", "--", "sh", "-c", "echo $$; exec sleep 1000"],
                                       stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment)
            pid = int(lasting.stdout.readline())
            assert os.path.exists(f"/proc/{pid}")
            lasting.kill()
            lasting.wait()
            eventually(lambda: not os.path.exists(f"/proc/{pid}"))
        finally:
            place.run("stop", home=elsewhere)
            place.run("down", "hello", "--yes")
