"""A server that stands for an observability backend: it keeps what it was sent, and is away when it is told to be."""

import http.server
import json
import threading


class Backend:
    """Answers on a port of its own; `status` is what it answers."""

    def __init__(self):
        self.status, self.requests, backend = 200, [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                backend.requests.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(backend.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
