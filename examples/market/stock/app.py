"""Keeps a stock, and serves it as the concept that stock.concept says. It answers the messages of docs/internals/packs.md, one a request."""

import http.server
import json
import os
import pathlib
import signal
import sys

CONCEPT = (pathlib.Path(__file__).parent / "stock.concept").read_text()
counts = {}


def act(action, ask):
    have = counts.get(ask["item"], 0)
    if action == "look":
        return "ok", {"count": have}
    if action == "take" and have < ask["count"]:
        return "tooFew", {"item": ask["item"], "count": have}
    counts[ask["item"]] = have + (ask["count"] if action == "add" else -ask["count"])
    return "ok", {"item": ask["item"], "count": counts[ask["item"]]}


def answer(message):
    if "describe" in message:
        return {"complete": {"protocol": 1, "concept": CONCEPT}}
    ask = message.get("invoke") or message["query"]
    variant, fields = act(ask["action"], ask["input"])
    return {"complete": {"variant": variant, "fields": fields}}


class Served(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.say(200, json.dumps(counts))

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/.well-known/sluice-concept":
            return self.say(404, "{}")
        self.say(200, json.dumps({"id": message["id"], **answer(message)}))

    def say(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Served).serve_forever()
