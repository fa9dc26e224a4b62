"""Lets these tests import what stands beside them and what the tests of `up` use, and gives them homes that end with
them."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "up")]

from up_home import Home  # noqa: E402


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()


@pytest.fixture
def keeper(home):
    """A bundle that answers with the hash of its secret, or with how it is ill, and that can be told to fail."""
    folder = home.folder / "keeper"
    folder.mkdir()
    (folder / "app.py").write_text(KEEPER)
    (folder / "bundle.yaml").write_text('name: keeper\nversion: "1.0.0"\nrun: [python3, app.py]\nhealth: {path: /health}\n'
                                        'secrets: [TOKEN]\nreplicas: 3\ndrain: 20s\n')
    return folder


KEEPER = '''import hashlib
import http.server
import os
import signal
import sys

value = os.environ["TOKEN"]
if value.startswith("/proc/self/fd/"):
    value = open(value).read()
if value.startswith("bad"):
    sys.exit("it does not like its secret")


class Keeper(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{os.getpid()} {hashlib.sha256(value.encode()).hexdigest()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Keeper).serve_forever()
'''
