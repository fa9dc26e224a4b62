"""Upstreams on real sockets: one that records every byte and echoes what it understood, and scripted ones that break the
rules in every way."""

import base64
import hashlib
import json
import socket
import threading

import wire


class Upstream:
    """Listens on loopback (or at a path) and gives each connection to `script(connection, stream)` in a thread of its own;
    whatever the script raises because its peer has gone ends the connection."""

    def __init__(self, script=None, path=None, tls=None):
        self.listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        if path:
            self.listener.bind(str(path))
            self.address = f"unix:{path}"
        else:
            self.listener.bind(("127.0.0.1", 0))
            self.address = f"tcp:127.0.0.1:{self.listener.getsockname()[1]}"
        self.listener.listen(4096)
        self.tls = tls  # a context of Python's ssl; nothing: it speaks in the clear
        if tls:
            self.address = self.address.replace("tcp:", "tls:")
        self.script = script or self.echo
        self.lock = threading.Lock()
        self.raw = []           # the bytes of each connection
        self.requests = []      # that were understood, in the order in which they were answered
        self.open = set()
        self.taken = 0          # connections, whatever came of them
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.take, args=(connection,), daemon=True).start()

    def take(self, connection):
        if connection.family == socket.AF_INET:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.taken += 1
            number = len(self.raw)
            self.raw.append(b"")
            self.open.add(connection)

        def seen(piece):
            with self.lock:
                self.raw[number] += piece

        try:
            if self.tls:
                connection = self.secure(connection)
            self.script(connection, wire.Stream(connection, seen))
        except (wire.Ended, OSError):
            pass
        finally:
            with self.lock:
                self.open.discard(connection)
            connection.close()

    def secure(self, connection):
        secured = self.tls.wrap_socket(connection, server_side=True)
        with self.lock:
            self.open.discard(connection)
            self.open.add(secured)
        return secured

    def note(self, message):
        with self.lock:
            self.requests.append(message)
            return len(self.requests)

    def echo(self, connection, stream):
        """Answers each request with what it saw of it, as JSON."""
        while True:
            message = wire.read_request(stream)
            self.note(message)
            body = json.dumps({"method": message.method, "target": message.target, "headers": message.headers,
                               "body": message.body.decode("latin-1"), "trailers": message.trailers}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(head if message.method == "HEAD" else head + body)

    @property
    def bytes(self):
        with self.lock:
            return sum(map(len, self.raw))

    def forget(self):
        with self.lock:
            self.raw = [b"" for _ in self.raw]
            self.requests.clear()

    def close_connections(self):
        """Ends all that are open, as a server that restarts does."""
        with self.lock:
            for connection in list(self.open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        """Refuses new connections, and ends the open ones."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.close_connections()


def named(name, **more):
    """An upstream that says its name in X-Revision, echoes bodies, and speaks WebSocket."""

    def script(connection, stream):
        while True:
            message = wire.read_request(stream)
            upstream.note(message)
            if (message.get("Upgrade") or "").lower() == "websocket":
                accept = base64.b64encode(hashlib.sha1(
                    message.get("Sec-WebSocket-Key").encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
                connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                   f"Sec-WebSocket-Accept: {accept}\r\nX-Revision: {name}\r\n\r\n".encode())
                echo_frames(connection, stream)
                return
            head = f"HTTP/1.1 200 OK\r\nX-Revision: {name}\r\nContent-Length: {len(message.body)}\r\n\r\n".encode()
            connection.sendall(head if message.method == "HEAD" else head + message.body)

    upstream = Upstream(script, **more)
    return upstream


def echo_frames(connection, stream):
    while True:
        opcode, payload = wire.read_frame(stream)
        connection.sendall(wire.frame(payload, 10 if opcode == 9 else opcode))
        if opcode == 8:
            return
