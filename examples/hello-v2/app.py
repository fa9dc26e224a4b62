"""Answers every request with its version, on the port that it is given."""

import http.server
import os
import signal
import sys

VERSION = os.environ["HELLO_VERSION"]


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        known = self.path in ("/", "/health")
        body = f"hello {VERSION}\n".encode() if known else b"not found\n"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Hello-Version", VERSION)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *words):
        if self.path != "/health":
            print(format % words, flush=True)


def stop(signal_number, frame):
    print("hello: goes", flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hello)
print(f"hello {VERSION} listens on port {os.environ['PORT']}", flush=True)
server.serve_forever()
