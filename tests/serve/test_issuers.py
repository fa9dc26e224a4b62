"""Tokens of an OpenID issuer: a pipeline shows one instead of a secret, and is the service that the policy binds to it."""

import base64
import http.client
import http.server
import json
import signal
import subprocess
import threading
import time

import pytest


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Discovery and keys over HTTP; openssl signs."""

    def __init__(self, folder):
        self.folder, self.key, self.id, self.asked = folder, None, "", 0
        self.change("k1")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked += 1
                said = {"keys": [outer.jwk]} if self.path == "/jwks" else \
                    {"issuer": outer.url, "jwks_uri": outer.url + "/jwks"}
                body = json.dumps(said).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def change(self, name):
        self.id, self.key = name, self.folder / f"{name}.pem"
        subprocess.run(["openssl", "genrsa", "-out", self.key, "2048"], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], check=True, capture_output=True,
                                 text=True).stdout.strip().split("=")[1]
        self.jwk = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": name, "n": url64(bytes.fromhex(modulus)),
                    "e": url64(b"\x01\x00\x01")}

    def token(self, subject, header=None, signed=True, **claims):
        now = int(time.time())
        body = {"iss": self.url, "aud": "sluice", "sub": subject, "iat": now, "exp": now + 300, **claims}
        text = ".".join(url64(json.dumps(part).encode())
                        for part in ({"alg": "RS256", "kid": self.id, **(header or {})}, body))
        if not signed:
            return text + "."
        made = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=text.encode(), check=True,
                              capture_output=True).stdout
        return text + "." + url64(made)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def issuer(tmp_path):
    one = Issuer(tmp_path)
    yield one
    one.close()


def test_a_pipeline_needs_no_secret(sluice, root, tmp_path, eventually, issuer):
    home = tmp_path / "home"
    environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home), "LANG": "C.UTF-8"}

    def ok(*words):
        done = subprocess.run([str(sluice), *map(str, words), "-o", "json"], capture_output=True, text=True, cwd=root,
                              env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with open(tmp_path / "serve.log", "w") as log:
        process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=root,
                                   env=environment)
    try:
        eventually(lambda: (home / "run/owner.token").exists() and "url" in ok("status", "--wait", "60s"))
        where = ok("status")["url"].split("//")[1]

        def send(token, method="GET", target="/v1/session", body=None):
            wire = http.client.HTTPConnection(where, timeout=60)
            wire.request(method, target, None if body is None else json.dumps(body),
                         {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            answer = wire.getresponse()
            said = json.loads(answer.read())
            wire.close()
            return answer.status, said

        good = issuer.token("repo:shop/app:ref:refs/heads/main")
        assert send(good)[0] == 401 and issuer.asked == 0, "an issuer that the policy does not know is not asked"
        policy = tmp_path / "policy.yaml"
        policy.write_text("schema: sluice.access-policy.v1\ngrants:\n- {to: [service:ci], role: operator}\n"
                          f"issuers:\n- issuer: {issuer.url}\n  audience: sluice\n  services:\n"
                          "  - {subject: 'repo:shop/app:ref:refs/heads/*', as: service:ci}\n")
        ok("access", "policy", "apply", policy)
        status, said = send(good)
        assert status == 200 and (said["caller"], said["roles"]) == ("service:ci", ["operator"]), said
        status, said = send(good, "POST", "/v1/actions/Env/create", {"input": {"environment": "built"}})
        assert status in (200, 400), said
        now = int(time.time())
        for bad in [issuer.token("repo:fork/app:ref:refs/heads/main"), issuer.token("repo:shop/app:ref:refs/tags/v1"),
                    issuer.token("repo:shop/app:ref:refs/heads/main", aud="other"),
                    issuer.token("repo:shop/app:ref:refs/heads/main", exp=now - 120),
                    issuer.token("repo:shop/app:ref:refs/heads/main", iat=now + 600),
                    issuer.token("repo:shop/app:ref:refs/heads/main", {"alg": "none"}, signed=False),
                    issuer.token("repo:shop/app:ref:refs/heads/main", {"alg": "HS256"}), good[:-4] + "AAAA"]:
            status, said = send(bad)
            assert status == 401, said
        assert send(good, "POST", "/v1/login", {"token": good})[0] == 400, "a session is for people"
        denied = send(good, "POST", "/v1/actions/Access/list", {"input": {}})
        assert denied[0] == 403
        for file in [tmp_path / "serve.log", *[each for each in (home / "store").rglob("*") if each.is_file()]]:
            assert good.encode() not in file.read_bytes(), file
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
