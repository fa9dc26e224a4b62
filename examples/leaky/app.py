"""Answers every twentieth request with an error: 5 % of them, always the same ones."""

import http.server
import itertools
import os
import signal
import sys

VERSION = "2.3.0-leaky"
EVERY = 20

numbers = itertools.count(1)


class Leaky(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        bad = self.path != "/health" and next(numbers) % EVERY == 0
        body = b"leaked\n" if bad else f"hello {VERSION}\n".encode()
        self.send_response(500 if bad else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Hello-Version", VERSION)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *words):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Leaky).serve_forever()
