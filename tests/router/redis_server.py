"""A real Redis on loopback, and enough of its protocol to look into it."""

import signal
import socket
import subprocess
import time

import wire


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Redis:
    """A redis-server that keeps nothing on disk. It can be stopped, killed and started again at the same port."""

    def __init__(self, folder, password=None, port=None):
        self.folder, self.password, self.port = folder, password, port or free_port()
        self.process = None
        self.folder.mkdir(parents=True, exist_ok=True)

    def start(self):
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                 "--dir", str(self.folder), "--logfile", str(self.folder / "redis.log")]
        if self.password:
            words += ["--requirepass", self.password]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            assert self.process.poll() is None, (self.folder / "redis.log").read_text()
            assert time.monotonic() < end, "redis-server does not answer"
            try:
                if self.ask("PING") == "PONG":
                    return self
            except (OSError, wire.Ended):
                time.sleep(0.01)

    def url(self, database=""):
        return f"redis://{f':{self.password}@' if self.password else ''}127.0.0.1:{self.port}{database}"

    def ask(self, *words):
        """The answer to one command."""
        with wire.connect(f"127.0.0.1:{self.port}") as sock:
            stream = wire.Stream(sock)
            if self.password:
                send(sock, "AUTH", self.password)
                reply(stream)
            send(sock, *words)
            return reply(stream)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=60)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()


def send(sock, *words):
    sock.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words))


def reply(stream):
    line = stream.line()
    kind, rest = line[0], line[1:]
    if kind == "$":
        return None if rest == "-1" else stream.take(int(rest) + 2)[:-2].decode()
    if kind == "*":
        return [reply(stream) for _ in range(int(rest))]
    assert kind in "+:", line
    return int(rest) if kind == ":" else rest
