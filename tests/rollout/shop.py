"""A program that answers with its version, and fails or dawdles as often as it is told, or while its database
is away; and customers who ask it."""

import http.client
import socketserver
import threading
import time

APP = '''import http.server
import os
import random
import signal
import socket
import sys
import time

VERSION, ERRORS = os.environ["VERSION"], float(os.environ["ERRORS"])
DATABASE = os.environ.get("DATABASE")  # its port
SLOW_SHARE, SLOW_MS = float(os.environ["SLOW_SHARE"]), float(os.environ["SLOW_MS"])
broken = False


def has_database():
    try:
        socket.create_connection(("127.0.0.1", int(DATABASE)), timeout=1).close()
        return True
    except OSError:
        return False


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global broken
        if self.path == "/break":
            broken = True
        asked = self.path not in ("/health", "/break")
        fails = asked and random.random() < (0.5 if broken else ERRORS) or DATABASE and not has_database()
        if asked and random.random() < SLOW_SHARE:
            time.sleep(SLOW_MS / 1000)
        body = VERSION.encode()
        self.send_response(500 if fails else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
'''


def version_of_shop(home, number, errors=0.0, slow_share=0.0, slow_ms=0, name="shop", path="/", database=""):
    """A folder with this version."""
    folder = home.folder / f"{name}-{number}"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "bundle.yaml").write_text(
        f'name: {name}\nversion: "{number}.0.0"\nrun: [python3, app.py]\nhealth:\n  path: /health\n'
        f'routes: [{{path: {path}}}]\n'
        f'env:\n  VERSION: "{number}"\n  ERRORS: "{errors}"\n  SLOW_SHARE: "{slow_share}"\n  SLOW_MS: "{slow_ms}"\n'
        f'  DATABASE: "{database}"\n')
    return folder


class Database(socketserver.ThreadingTCPServer):
    """Takes connections while it runs."""

    allow_reuse_address = True
    request_queue_size = 128  # a program that waits for its database longer than a second takes it for away

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), socketserver.BaseRequestHandler)
        self.port = self.server_address[1]
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def stop(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class Customers:
    """Ask again and again, each on a connection of their own, until they are told to stop."""

    def __init__(self, url, threads=4, path="/"):
        self.path = path
        self.port, self.ending = int(url.rsplit(":", 1)[1].split("/")[0]), threading.Event()
        self.noting = threading.Lock()
        self.threads = [threading.Thread(target=self.ask) for _ in range(threads)]
        self.answers = []  # (status, version)
        self.begun = []  # when each of them was asked
        self.failures = []  # requests that got no answer

    def one(self, connection):
        begun = time.monotonic()
        connection.request("GET", self.path)
        answer = connection.getresponse()
        text = answer.read().decode()
        with self.noting:
            self.answers.append((answer.status, text))
            self.begun.append(begun)

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.ending.is_set():
            try:
                self.one(connection)
            except (OSError, http.client.HTTPException) as failure:
                self.failures.append(repr(failure))
                connection.close()
        connection.close()

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for each in self.threads:
            each.join()
