"""What a program counts, and a real Prometheus that reads it."""

import http.server
import json
import socket
import subprocess
import threading
import urllib.request


class Exported(threading.Thread):
    """Counters of two revisions, as a program exports them for Prometheus."""

    def __init__(self, ids):
        super().__init__()
        self.ids, self.requests, self.failing, exported = ids, 0, 0.0, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                exported.requests += 500
                text = ""
                for name, share in zip(exported.ids, (0.0, exported.failing)):
                    for code, number in ("200", 1 - share), ("500", share):
                        text += f'shop_requests_total{{revision="{name}",code="{code}"}} {exported.requests * number}\n'
                body = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def run(self):
        self.server.serve_forever()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.join()
        self.server.server_close()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    """A real one, which scrapes these ports every second."""

    def __init__(self, folder, ports):
        self.port = free_port()
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n  - job_name: test\n"
            f"    static_configs: [{{targets: {[f'127.0.0.1:{each}' for each in ports]}}}]\n")
        self.words = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                      f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def criteria(self):
        """Of a rollout that is judged on what it has read of `Exported`, looked at every second."""
        return f"""interval: 1
warmUp: 0
settle: 0
source:
  type: prometheus
  url: {self.url}
  requests: sum(shop_requests_total{{revision="$revision"}})
  failed: sum(shop_requests_total{{revision="$revision",code=~"5.."}})
"""

    def ask(self, query):
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/query?query={query}", timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []
