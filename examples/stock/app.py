"""Keeps a stock for each tenant, and serves it as the concept that stock.concept says: one message a request."""

import http.server
import json
import os
import pathlib
import signal
import sys

FORGETFUL = os.environ.get("FORGETFUL") == "1"  # a fault to be found: what is taken stays
CONCEPT = (pathlib.Path(__file__).parent / "stock.concept").read_text()
stocks = {}


def act(tenant, action, item, count):
    stock = stocks.setdefault(tenant, {})
    have = stock.get(item, 0)
    if action == "take" and have < count:
        return {"variant": "tooFew", "fields": {"item": item, "count": have}}
    left = have + count if action == "add" else have if FORGETFUL else have - count
    stock[item] = left
    return {"variant": "ok", "fields": {"item": item, "count": have - count if action == "take" else left}}


def answer(message):
    if "describe" in message:
        return {"complete": {"protocol": 1, "concept": CONCEPT}}
    if "forget" in message:
        stocks.pop(message["forget"]["tenant"], None)
        return {"complete": {}}
    ask = message.get("invoke") or message.get("query")
    return {"complete": act(ask["tenant"], ask["action"], **ask["input"])}


class Stock(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.say(200, json.dumps({"tenants": len(stocks)}))

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
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Stock).serve_forever()
