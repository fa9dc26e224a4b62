"""The next version of hello, with a fault: one request in five fails."""

import http.server
import itertools
import os
import signal
import sys

VERSION = os.environ["HELLO_VERSION"]
count = itertools.count(1)


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        fails = self.path != "/health" and next(count) % 5 == 0
        body = b"out of order\n" if fails else f"hello {VERSION}\n".encode()
        self.send_response(500 if fails else 200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hello).serve_forever()
