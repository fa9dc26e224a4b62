"""Takes 10 ms for a request, and as much again for each other one that is under way: its latency rises with load."""

import http.server
import os
import signal
import sys
import threading
import time

VERSION = "2.2.0-slow"
STEP_S = 0.01

under_way = 0
guard = threading.Lock()


class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global under_way
        if self.path != "/health":
            with guard:
                under_way += 1
                wait_s = STEP_S * under_way
            time.sleep(wait_s)
            with guard:
                under_way -= 1
        body = f"hello {VERSION}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Hello-Version", VERSION)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *words):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Slow).serve_forever()
