#!/usr/bin/python3
"""Applications that say more than they were asked, and a load that knows whose answer is whose. The tests import it; the
benchmark of the router runs it, beside other proxies:

    unruly.py app KIND             listens on loopback, and prints its port
    unruly.py load PORT GETS       asks so many times, and prints the counts as JSON

KIND is `head` (HEAD is answered as GET is, body and all), `status` (304 and 204 have a body) or `unasked` (an answer that
nobody asked for, on a connection that is idle)."""

import json
import random
import selectors
import socket
import subprocess
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHOSEN = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nchosen"  # by the attacker, for whoever asks next


class Application(BaseHTTPRequestHandler):
    """Answers with the path that was asked for, head and body in two writes, as http.server does."""
    protocol_version = "HTTP/1.1"
    kind = "head"

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        status = 200
        if self.kind == "status" and path.startswith("/!"):
            status = random.choice([204, 304])
        body = (path.removeprefix("/!") if path.startswith("/!") else path).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)) if status == 200 else "0")
        self.end_headers()
        self.wfile.write(body)
        if self.kind == "unasked" and random.random() < 0.1:
            threading.Timer(random.random() * 0.01, self.say_more).start()

    def do_HEAD(self):
        if self.kind == "head":
            return self.do_GET()
        self.send_response(200)
        self.end_headers()

    def say_more(self):
        try:
            self.connection.sendall(CHOSEN)
        except (OSError, ValueError):
            pass

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        """Who cuts it off is no error."""


def serve(kind):
    Application.kind = kind
    server = Server(("127.0.0.1", 0), Application)
    print(server.server_address[1], flush=True)
    server.serve_forever()


class Running:
    """An application in a process of its own."""

    def __init__(self, kind):
        self.process = subprocess.Popen([sys.executable, __file__, "app", kind], stdout=subprocess.PIPE, text=True)
        self.address = f"tcp:127.0.0.1:{int(self.process.stdout.readline())}"

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Asking:
    """A connection of a visitor, who asks for a path of its own each time, or of the attacker."""

    def __init__(self, load, number, attacks):
        self.load, self.number, self.attacks, self.count = load, number, attacks, 0
        self.sock, self.came = None, b""
        self.ask()

    def ask(self):
        self.came = b""
        if self.sock is None:
            self.sock = socket.create_connection(("127.0.0.1", self.load.port))
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.load.selector.register(self.sock, selectors.EVENT_READ, self)
        self.count += 1
        if self.attacks:
            self.path = "/!" + urllib.parse.quote(CHOSEN.decode())
            method = "HEAD" if self.load.heads else "GET"
        else:
            self.path, method = f"/{self.number}/{self.count}", "GET"
        self.bodiless = method == "HEAD"
        self.sock.sendall(f"{method} {self.path} HTTP/1.1\r\nHost: app.example\r\n\r\n".encode())

    def take(self):
        """Whether the answer is whole."""
        try:
            piece = self.sock.recv(1 << 16)
        except ConnectionError:
            piece = b""
        self.came += piece
        if not piece:
            self.drop()
            return self.judge(None, b"")
        end = self.came.find(b"\r\n\r\n")
        if end < 0:
            return False
        head, body = self.came[:end].decode("latin-1").lower(), self.came[end + 4:]
        status = head.split(" ")[1]
        size = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")), 0)
        if self.bodiless or status in ("204", "304"):
            size = 0
        if len(body) < size:
            return False
        if "connection: close" in head:
            self.drop()
        return self.judge(status, body)

    def drop(self):
        self.load.selector.unregister(self.sock)
        self.sock.close()
        self.sock = None

    def judge(self, status, body):
        if self.attacks:
            return True
        counts = self.load.counts
        counts["gets"] += 1
        if status is None or status != "200":
            counts["failed"] += 1
        elif body == b"chosen":
            counts["chosen"] += 1
        elif body != self.path.encode():
            counts["others"] += 1
        return True


class Load:
    def __init__(self, port, gets, heads=True, visitors=16, attackers=4):
        self.port, self.heads = port, heads
        self.selector = selectors.DefaultSelector()
        self.counts = {"gets": 0, "failed": 0, "chosen": 0, "others": 0}
        self.asking = [Asking(self, number, number >= visitors) for number in range(visitors + attackers)]
        while self.counts["gets"] < gets:
            events = self.selector.select(60)
            assert events, "nothing comes any more"
            for key, _ in events:
                if key.data.take():
                    key.data.ask()
        for one in self.asking:
            if one.sock:
                one.drop()
        self.selector.close()


def load(endpoint, gets, **more):
    """gets, and of those: failed (no 200), chosen (the attacker's answer), others (that of another request)."""
    return Load(int(endpoint.rsplit(":", 1)[-1]), gets, **more).counts


if __name__ == "__main__":
    if sys.argv[1] == "app":
        serve(sys.argv[2])
    else:
        print(json.dumps(load(sys.argv[2], int(sys.argv[3]))))
