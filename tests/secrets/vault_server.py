"""A server that follows the documented HTTP API of HashiCorp Vault as far as clients of its key-value store, version 2,
need it: tokens, AppRole and Kubernetes logins, versions, sealing. It keeps a log of what it was asked."""

import datetime
import http.server
import json
import re
import secrets
import ssl
import threading


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


class Vault:
    def __init__(self, certificate=None):
        self.sealed, self.tokens, self.values, self.log = False, {}, {}, []
        self.slow = {}  # parts of paths, and how often they get no answer while their clients wait
        self.raw = None  # a status and the bytes that are said in place of every answer
        self.roles = {"role": "secret-id"}
        self.root = self.token()
        vault = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with vault.lock:
                    slow = next((part for part, left in vault.slow.items() if part in self.path and left > 0), None)
                    if slow:
                        vault.slow[slow] -= 1
                if slow:
                    self.connection.recv(1)  # until the client has had enough
                    self.close_connection = True
                    return
                with vault.lock:
                    status, said = vault.answer(self.command, self.path, self.headers.get("X-Vault-Token"),
                                                json.loads(body) if body else {})
                    vault.log.append((self.command, self.path, status))
                text = json.dumps(said).encode() if said is not None else b""
                if vault.raw is not None:
                    status, text = vault.raw
                self.send_response(status)
                if text:
                    self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = do_LIST = answer

            def log_message(self, *_):
                pass

        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def token(self, ttl=3600):
        token = "hvs." + secrets.token_hex(12)
        self.tokens[token] = ttl
        return token

    def asked(self, part):
        """How often a path with this part was asked for."""
        return sum(1 for _, path, _ in self.log if part in path)

    def auth(self, token):
        return {"auth": {"client_token": token, "lease_duration": self.tokens[token], "renewable": True,
                         "policies": ["default"], "token_type": "service"}}

    def answer(self, method, path, token, body):
        path, _, query = path.partition("?")
        path = path.removeprefix("/v1/")
        if path == "sys/seal-status":
            return 200, {"type": "shamir", "initialized": True, "sealed": self.sealed, "t": 1, "n": 1, "progress": 0}
        if path == "sys/health":
            return (503 if self.sealed else 200), {"initialized": True, "sealed": self.sealed, "standby": False}
        if self.sealed:
            return 503, {"errors": ["Vault is sealed"]}
        if path == "auth/approle/login":
            if self.roles.get(body.get("role_id")) != body.get("secret_id"):
                return 400, {"errors": ["invalid role or secret ID"]}
            return 200, self.auth(self.token())
        if token not in self.tokens:
            return 403, {"errors": ["permission denied"]}
        if path == "auth/token/lookup-self":
            return 200, {"data": {"ttl": self.tokens[token], "renewable": True, "id": token, "type": "service"}}
        if path == "auth/token/renew-self":
            return 200, self.auth(token)
        if match := re.fullmatch(r"secret/(data|metadata)/(.+)", path):
            return self.kv(method, match.group(1), match.group(2), query, body)
        return 404, {"errors": []}

    def kv(self, method, kind, name, query, body):
        versions = self.values.get(name, [])
        about = [{"created_time": at, "deletion_time": "", "destroyed": False, "version": i + 1}
                 for i, (at, _) in enumerate(versions)]
        if kind == "metadata":
            if method == "DELETE":
                self.values.pop(name, None)
                return 204, None
            if not versions:
                return 404, {"errors": []}
            return 200, {"data": {"current_version": len(versions), "oldest_version": 1, "max_versions": 0,
                                  "versions": {str(each["version"]): each for each in about}}}
        if method in ("POST", "PUT"):
            self.values.setdefault(name, []).append((now(), body["data"]))
            return 200, {"data": {"created_time": now(), "deletion_time": "", "destroyed": False,
                                  "version": len(self.values[name])}}
        version = int(query.partition("=")[2] or len(versions)) if versions else 0
        if not 1 <= version <= len(versions):
            return 404, {"errors": []}
        return 200, {"data": {"data": versions[version - 1][1], "metadata": about[version - 1]}}
