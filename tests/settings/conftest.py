"""Lets these tests import what the tests of `up` use, and gives them homes that end with them."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent.parent / "up")]

from up_home import Home  # noqa: E402


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Home(sluice, root, tmp_path)
    yield one
    one.stop()


@pytest.fixture
def mirror(home):
    """A bundle that asks for settings and answers with what it was told."""
    folder = home.folder / "mirror"
    folder.mkdir()
    (folder / "app.py").write_text(MIRROR)
    (folder / "bundle.yaml").write_text(BUNDLE)
    return folder


BUNDLE = '''name: mirror
version: "1.0.0"
run: [python3, app.py]
health: {path: /}
config:
  - {name: color, question: Which color?, choices: [red, blue, green], default: red, variable: COLOR}
  - {name: limit, question: How many?, type: integer, default: 3}
  - {name: dns, question: Where is the balancer?, required: false}
  - {name: api_key, question: Which key opens the store?, secret: true, required: false}
'''

MIRROR = '''import hashlib
import http.server
import json
import os
import signal

told = 0


def hear(*_):
    global told
    told += 1


signal.signal(signal.SIGHUP, hear)


class Mirror(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with open(os.environ["SLUICE_CONFIG"]) as file:
            config = json.load(file)
        key = os.environ.get("API_KEY")
        body = json.dumps({"config": config, "color": os.environ.get("COLOR"), "pid": os.getpid(), "told": told,
                           "revision": os.environ["SLUICE_REVISION"],
                           "key": key and hashlib.sha256(key.encode()).hexdigest()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Mirror).serve_forever()
'''
