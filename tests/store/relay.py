"""Stands between a control plane and its PostgreSQL server, and does to the wire what a network does."""

import socket
import threading

DEADLINE = 120  # seconds, after which a wire that nobody mends is given up


class Relay:
    """Passes everything on, until it is told otherwise:
    `cut = True`: nothing passes, and nobody is told;
    hold(words): a connection on which these come to the server is held from there on, until let_go(), whatever is cut;
    break_after(count): after so many more messages, in either direction, all wires are cut, and both ends are told."""

    def __init__(self, folder, server):
        self.server, self.is_cut, self.ending, self.pairs = server, False, False, []
        self.held_words, self.held, self.left, self.broken = None, 0, None, 0
        self.lock = threading.Condition()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        self.listener.listen()
        self.address = f"postgresql://sluice@/postgres?host={folder}"
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def cut(self):
        return self.is_cut

    @cut.setter
    def cut(self, value):
        with self.lock:
            self.is_cut = value
            self.lock.notify_all()

    def hold(self, words):
        self.held_words = words

    def let_go(self):
        with self.lock:
            self.held_words = None
            self.lock.notify_all()

    def break_after(self, count):
        self.left = count

    def accept(self):
        while not self.ending:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            there = socket.socket(socket.AF_UNIX)
            try:
                there.connect(str(self.server.folder / ".s.PGSQL.5432"))
            except OSError:
                client.close()
                continue
            self.pairs += [client, there]
            threading.Thread(target=self.pass_on, args=(client, there, Messages(True), True), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(there, client, Messages(False), False), daemon=True).start()

    def pass_on(self, one, other, messages, to_server):
        while True:
            try:
                some = one.recv(65536)
                with self.lock:
                    self.lock.wait_for(lambda: not self.is_cut or self.ending, DEADLINE)
                if some and to_server:
                    self.wait_if_held(some)
                if not some:
                    other.shutdown(socket.SHUT_RDWR)
                    return
                for each in messages.whole(some):
                    other.sendall(each)
                    if self.is_last():
                        return
            except OSError:
                return

    def wait_if_held(self, some):
        if self.held_words is None or self.held_words not in some:
            return
        with self.lock:
            self.held += 1
            self.lock.wait_for(lambda: self.held_words is None or self.ending, DEADLINE)
            self.held -= 1

    def is_last(self):
        with self.lock:
            if self.left is None:
                return False
            self.left -= 1
            if self.left > 0:
                return False
            self.left = None
            self.broken += 1
        for each in self.pairs:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return True

    def close(self):
        with self.lock:
            self.ending = True
            self.lock.notify_all()
        self.listener.close()
        for each in self.pairs:
            each.close()


class Messages:
    """Cuts a stream of bytes into the messages of PostgreSQL's protocol: a letter, a length, and as much as that says;
    the first one of a client has no letter."""

    def __init__(self, of_client):
        self.left, self.first = b"", of_client

    def whole(self, some):
        self.left += some
        while True:
            before = 0 if self.first else 1
            if len(self.left) < before + 4:
                return
            end = before + int.from_bytes(self.left[before:before + 4], "big")
            if len(self.left) < end:
                return
            message, self.left = self.left[:end], self.left[end:]
            # A client that asks for encryption gets a letter alone, and begins anew.
            self.first = self.first and end == 8
            yield message
