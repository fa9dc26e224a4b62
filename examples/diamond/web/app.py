"""Answers every request with its name and version, on the port that it is given."""

import http.server
import os
import signal
import sys

WHO = f"{os.environ['APP_NAME']} {os.environ['APP_VERSION']}"


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{WHO}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *words):
        pass


signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
print(f"{WHO} listens on port {os.environ['PORT']}", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
