"""Keeps carts, and serves them as the concept that cart.concept says. It answers the messages of docs/internals/packs.md, one a request."""

import http.server
import json
import os
import pathlib
import signal
import sys

CONCEPT = (pathlib.Path(__file__).parent / "cart.concept").read_text()
counts = {}


def act(action, ask):
    key = f"{ask['cart']}/{ask['item']}"
    if action == "look":
        return "ok", {"count": counts.get(key, 0)}
    counts[key] = counts.get(key, 0) + (ask["count"] if action == "put" else -ask["count"])
    return "ok", {"cart": ask["cart"], "item": ask["item"], "count": counts[key]}


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
