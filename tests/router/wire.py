"""HTTP/1.1 and WebSocket as bytes on a socket: what the tests send, and what came. The reader of requests is for honest
input alone, as it is meant to say what a request is that nobody doubts."""

import base64
import hashlib
import os
import select
import socket
import struct
import time
from dataclasses import dataclass, field

PATIENCE = 60  # seconds until a test gives up waiting for bytes


class Ended(Exception):
    """The connection ended, or nothing came."""


@dataclass
class Message:
    """A request or an answer; `line` is its first line."""
    line: str
    headers: list
    body: bytes = b""
    trailers: list = field(default_factory=list)
    chunked: bool = False
    interim: list = field(default_factory=list)  # status codes of the 1xx before an answer

    @property
    def status(self):
        return int(self.line.split(" ")[1])

    @property
    def method(self):
        return self.line.split(" ")[0]

    @property
    def target(self):
        return self.line.split(" ")[1]

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def get(self, name, default=None):
        return next(iter(self.all(name)), default)


class Stream:
    """Bytes from a socket, taken by line or by count."""

    def __init__(self, sock, seen=None):
        self.sock, self.buffer, self.seen = sock, b"", seen

    def more(self):
        try:
            piece = self.sock.recv(1 << 16)
        except ConnectionError as broken:
            raise Ended(f"the connection broke: {broken}") from broken
        except TimeoutError as late:
            raise Ended("nothing came") from late
        if not piece:
            raise Ended("the connection was closed")
        if self.seen is not None:
            self.seen(piece)
        self.buffer += piece

    def line(self):
        while b"\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.rstrip(b"\r").decode("latin-1")

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def rest(self):
        """Everything until the end."""
        try:
            while True:
                self.more()
        except Ended as end:
            if "nothing" in str(end):
                raise
        taken, self.buffer = self.buffer, b""
        return taken


def read_fields(stream):
    fields = []
    while line := stream.line():
        name, value = line.split(":", 1)
        fields.append((name, value.strip(" \t")))
    return fields


def read_chunks(stream):
    body = b""
    while size := int(stream.line().split(";")[0], 16):
        body += stream.take(size)
        assert stream.take(2) == b"\r\n"
    return body, read_fields(stream)


def read_head(stream):
    line = stream.line()
    while not line:
        line = stream.line()
    return Message(line, read_fields(stream))


def read_body(stream, message):
    if "chunked" in (message.get("Transfer-Encoding") or "").lower():
        message.chunked = True
        message.body, message.trailers = read_chunks(stream)
    elif message.get("Content-Length") is not None:
        message.body = stream.take(int(message.get("Content-Length")))


def read_request(stream):
    message = read_head(stream)
    read_body(stream, message)
    return message


def read_answer(stream, method="GET"):
    """One final answer, with the 1xx before it."""
    interim = []
    message = read_head(stream)
    while message.status // 100 == 1 and message.status != 101:
        interim.append(message.status)
        message = read_head(stream)
    message.interim = interim
    if method != "HEAD" and message.status not in (101, 204, 304):
        if message.get("Content-Length") is None and message.get("Transfer-Encoding") is None:
            message.body = stream.rest()
        else:
            read_body(stream, message)
    return message


def requests_of(data):
    """The requests that a file holds."""

    class Held:
        def __init__(self):
            self.left = data

        def recv(self, _):
            piece, self.left = self.left, b""
            return piece

    stream, found = Stream(Held()), []
    try:
        while True:
            found.append(read_request(stream))
    except Ended:
        assert not stream.buffer.strip(b"\r\n"), f"not a request: {stream.buffer!r}"
    return found


def connect(endpoint):
    """A socket to "unix:PATH" or "HOST:PORT"."""
    if endpoint.startswith("unix:"):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(endpoint.removeprefix("unix:"))
    else:
        host, port = endpoint.removeprefix("tcp:").rsplit(":", 1)
        sock = socket.create_connection((host, int(port)), timeout=PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def exchange(endpoint, data):
    """Sends raw bytes, reads while it sends, and answers everything that came until the other end closed. A reset ends it,
    too: whoever refuses a request that is still coming cannot take all of it."""
    came, sent = b"", 0
    with connect(endpoint) as sock:
        sock.setblocking(False)
        end = time.monotonic() + PATIENCE
        while True:
            ready = select.select([sock], [sock] if sent < len(data) else [], [], max(0, end - time.monotonic()))
            if not ready[0] and not ready[1]:
                raise Ended(f"the connection stays open, after {came!r}")
            try:
                if ready[0]:
                    piece = sock.recv(1 << 16)
                    if not piece:
                        return came
                    came += piece
                elif ready[1]:
                    sent += sock.send(data[sent:sent + (1 << 16)])
            except BlockingIOError:
                continue
            except ConnectionError:
                return came


def request(method="GET", target="/", headers=(), body=None, host="app.example"):
    """The bytes of a request."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


class Client:
    """A connection that asks one thing after another, and keeps cookies if it is told to."""

    def __init__(self, endpoint, cookies=False):
        self.sock = connect(endpoint)
        self.stream = Stream(self.sock)
        self.cookies = {} if cookies else None

    def send(self, data):
        self.sock.sendall(data)

    def ask(self, method="GET", target="/", headers=(), body=None, host="app.example"):
        headers = list(headers)
        if self.cookies:
            headers.append(("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items())))
        self.send(request(method, target, headers, body, host))
        answer = self.answer(method)
        if self.cookies is not None:
            for cookie in answer.all("Set-Cookie"):
                name, value = cookie.split(";")[0].split("=", 1)
                self.cookies[name] = value
        return answer

    def answer(self, method="GET"):
        return read_answer(self.stream, method)

    def closed(self):
        """Whether the other end closes, with nothing more to say."""
        return self.stream.rest() == b""

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def ask(endpoint, *words, **more):
    """One request on a connection of its own."""
    with Client(endpoint) as client:
        return client.ask(*words, **more)


class WebSocket(Client):
    """A WebSocket, opened."""

    def __init__(self, endpoint, target="/socket", headers=(), host="app.example"):
        super().__init__(endpoint)
        key = base64.b64encode(os.urandom(16)).decode()
        self.opening = self.ask("GET", target, [("Connection", "Upgrade"), ("Upgrade", "websocket"),
                                                ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key), *headers], host=host)
        assert self.opening.status == 101, self.opening
        expected = base64.b64encode(hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
        assert self.opening.get("Sec-WebSocket-Accept") == expected

    def send_frame(self, payload, opcode=2):
        size = len(payload)
        head = bytes([0x80 | opcode]) + (bytes([0x80 | size]) if size < 126 else
                                         struct.pack(">BH", 0x80 | 126, size) if size < 1 << 16 else
                                         struct.pack(">BQ", 0x80 | 127, size))
        mask = os.urandom(4)
        self.send(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def frame(self):
        """Opcode and payload."""
        return read_frame(self.stream)

    def echo(self, payload):
        self.send_frame(payload)
        return self.frame()


def read_frame(stream):
    first, second = stream.take(2)
    size = second & 0x7F
    if size == 126:
        size, = struct.unpack(">H", stream.take(2))
    elif size == 127:
        size, = struct.unpack(">Q", stream.take(8))
    mask = stream.take(4) if second & 0x80 else b"\0\0\0\0"
    return first & 0x0F, bytes(byte ^ mask[i % 4] for i, byte in enumerate(stream.take(size)))


def frame(payload, opcode=2):
    """A frame from a server."""
    size = len(payload)
    return bytes([0x80 | opcode]) + (bytes([size]) if size < 126 else struct.pack(">BH", 126, size)) + payload
