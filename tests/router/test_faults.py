"""Upstreams that die, lie, stall and talk out of turn, clients that crawl or vanish, and bodies far larger than memory: what
the others see of it (nothing), and what the router keeps of it (nothing)."""

import resource
import select
import socket
import threading
import time
import zlib

import pytest
import wire
from router_process import deployment, revision, rss_kb, table

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def one(*addresses, **more):
    return table(deployment(revision("r1", 10000, *addresses), **more))


def once(answer, then=None):
    """A script that answers one request with these bytes and ends the connection, or goes on with `then`."""
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(answer)
        if then:
            then(connection, stream)

    return script


def honest(connection, stream):
    while True:
        wire.read_request(stream)
        connection.sendall(OK)


def reset(connection, _=None):
    """Ends a connection the hard way."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


# --- upstreams that die ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 500,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + b"x" * 500,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
], ids=["length", "inside-a-chunk", "between-chunks", "before-the-end"])
@pytest.mark.parametrize("how", ["closes", "resets"])
def test_an_answer_that_is_cut_off_is_cut_off_for_the_client(router, upstream, answer, how):
    endpoint = router(one(upstream(once(answer, reset if how == "resets" else None)).address)).endpoint
    with wire.Client(endpoint) as client:
        client.send(wire.request() + wire.request(target="/2"))
        came = client.stream.rest()
    # Never an answer that looks whole, and nothing behind it.
    if came.startswith(b"HTTP/1.1 502"):  # a reset may overtake what was sent before it
        return
    assert came.startswith(b"HTTP/1.1 200 OK\r\n") and came.count(b"HTTP/1.1") == 1
    assert not came.endswith(b"0\r\n\r\n") and came.count(b"x") <= 500


@pytest.mark.parametrize("answer, how, version", [
    (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500, "resets", "1.1"),
    (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500, "resets", "1.0"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "closes", "1.0"),
], ids=["until-close", "until-close-1.0", "chunks-1.0"])
def test_a_client_that_could_not_see_that_an_answer_is_cut_off_is_reset(router, upstream, answer, how, version):
    """Where the end of the connection is the end of the answer, an orderly end would make it whole."""
    passed = threading.Event()

    def then(connection, stream):
        assert passed.wait(60)
        if how == "resets":
            reset(connection)

    endpoint = router(one(upstream(once(answer, then)).address)).endpoint
    with wire.Client(endpoint) as client:
        client.send(f"GET / HTTP/{version}\r\nHost: app.example\r\n\r\n".encode())
        came = client.stream.take(20)
        passed.set()
        with pytest.raises(ConnectionResetError):
            while piece := client.sock.recv(1 << 16):
                came += piece
            assert False, f"an orderly end behind {came!r}"


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Le"])
def test_an_upstream_that_ends_before_its_answer_gives_502(router, upstream, answer):
    with wire.Client(router(one(upstream(once(answer)).address)).endpoint) as client:
        for _ in range(3):
            assert client.ask("POST", body=b"once").status == 502


GARBAGE = {
    "words": b"hello\r\n\r\n",
    "nothing-but-zeros": b"\0" * 1000,
    "a-request": b"GET / HTTP/1.1\r\nHost: app.example\r\n\r\n",
    "http-2": b"\0\0\x12\x04\0\0\0\0\0" + b"\0" * 18,
    "tls": b"\x15\x03\x01\0\x02\x02\x46",
    "version": b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "status-of-two-digits": b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
    "status-of-letters": b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
    "status-zero": b"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
    "length-and-coding": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "negative-length": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n",
    "coding-unknown": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: cow\r\n\r\nmoo",
    "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "fold": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
    "nul-in-a-field": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok",
    "space-before-colon": b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
    "no-colon": b"HTTP/1.1 200 OK\r\nfoo\r\nContent-Length: 2\r\n\r\nok",
    "bare-cr": b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nok",
    "huge-head": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200000 + b"\r\nContent-Length: 2\r\n\r\nok",
    "endless-head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 40000,
}


@pytest.mark.parametrize("name", sorted(GARBAGE))
def test_garbage_from_an_upstream_gives_502(router, upstream, name):
    with wire.Client(router(one(upstream(once(GARBAGE[name])).address)).endpoint) as client:
        for _ in range(2):
            answer = client.ask()
            assert answer.status == 502 and b"hello" not in answer.body


@pytest.mark.parametrize("chunks", [b"zz\r\n", b"-5\r\nhello\r\n", b"5\nhello\n0\n\n", b"5\r\nhelloXX0\r\n\r\n",
                                    b"FFFFFFFFFFFFFFFFF\r\n", b"0\r\nContent-Length: 5\r\n\r\n"])
def test_bad_chunks_from_an_upstream_never_look_whole(router, upstream, chunks):
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n" + chunks
    with wire.Client(router(one(upstream(once(answer)).address)).endpoint) as client:
        client.send(wire.request() + wire.request(target="/2", headers=[("Connection", "close")]))
        came = client.stream.rest()
    if came.startswith(b"HTTP/1.1 502"):  # it was found before anything was passed on
        assert came.count(b"HTTP/1.1 502") == came.count(b"HTTP/1.1") == 2
    else:
        assert came.count(b"HTTP/1.1") == 1 and not came.endswith(b"\r\n0\r\n\r\n")


# --- upstreams that talk out of turn ---------------------------------------------------------------------------------


def test_what_an_upstream_says_unasked_is_no_answer(router, upstream):
    """An answer on an idle connection would be the next client's."""
    said = threading.Event()

    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(OK)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        said.set()
        honest(connection, stream)

    with wire.Client(router(one(upstream(script).address), "--threads", "1").endpoint) as client:
        for _ in range(20):
            said.clear()
            assert client.ask().body == b"ok"
            assert said.wait(60)  # it is there before the next is asked


def test_what_follows_an_answer_at_once_is_no_answer(router, upstream):
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    with wire.Client(router(one(upstream(once(OK + forged, honest)).address), "--threads", "1").endpoint) as client:
        for _ in range(20):
            assert client.ask().body == b"ok"


def test_a_body_to_head_is_no_answer(router, upstream):
    def script(connection, stream):
        while True:
            wire.read_request(stream)
            connection.sendall(OK)  # with its body, which HEAD must not have

    with wire.Client(router(one(upstream(script).address), "--threads", "1").endpoint) as client:
        assert client.ask("HEAD").status == 200
        assert client.ask().body == b"ok"


def test_an_idle_connection_that_the_upstream_closes_costs_nothing(router, upstream, eventually):
    behind = upstream(honest)
    running = router(one(behind.address), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        for n in range(50):
            assert client.ask("GET" if n % 2 else "POST", body=None if n % 2 else b"x" * 100).body == b"ok"
            behind.close_connections()


def test_an_upstream_that_closes_under_the_request_costs_nothing_if_it_is_safe(router, upstream):
    """It ends a kept connection in the very moment in which the next request comes."""
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(OK)
        wire.read_request(stream)  # and gone, without a byte

    with wire.Client(router(one(upstream(script).address), "--threads", "1").endpoint) as client:
        assert [client.ask(target=f"/{n}").status for n in range(30)] == [200] * 30


def test_what_may_not_be_repeated_is_not(router, upstream):
    """A POST that an upstream has read is not sent again."""
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(OK)
        behind.note(wire.read_request(stream))

    behind = upstream(script)
    running = router(one(behind.address), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        assert client.ask().status == 200
        # Larger than what is kept for another try.
        assert client.ask("POST", "/pay", body=b"x" * 200000).status == 502
    assert [request.target for request in behind.requests] == ["/pay"]


def test_an_early_answer_reaches_a_client_that_still_sends(router, upstream):
    def script(connection, stream):
        wire.read_head(stream)
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")

    came = wire.exchange(router(one(upstream(script).address)).endpoint,
                         wire.request("POST", body=b"x" * 20_000_000))
    assert came.startswith(b"HTTP/1.1 403") and came.endswith(b"\r\n\r\nno")


def test_an_early_answer_of_one_that_reads_on_leaves_the_order_intact(router, upstream):
    def script(connection, stream):
        while True:
            message = wire.read_head(stream)
            connection.sendall(OK)
            wire.read_body(stream, message)

    with wire.Client(router(one(upstream(script).address)).endpoint) as client:
        for _ in range(3):
            client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: 100000\r\n\r\n")
            answer = client.answer()
            assert answer.body == b"ok"
            if answer.get("Connection") == "close":  # the router may close instead of reading on
                return
            client.send(b"x" * 100000)


# --- upstreams that do nothing ---------------------------------------------------------------------------------------


SHORT = {"connect_ms": 300, "first_byte_ms": 300, "idle_ms": 300, "stream_idle_ms": 300}


def test_an_upstream_that_never_answers_gives_504(router, upstream):
    def script(_, stream):
        wire.read_request(stream)
        stream.more()

    with wire.Client(router(one(upstream(script).address, timeouts=SHORT)).endpoint) as client:
        for _ in range(2):
            assert client.ask().status == 504


def test_an_upstream_that_never_accepts_gives_504(router):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:  # takes the places in its queue
            each.setblocking(False)
            each.connect_ex(address)
        running = router(one(f"tcp:127.0.0.1:{address[1]}", timeouts=SHORT))
        assert wire.ask(running.endpoint).status == 504
        for each in waiting:
            each.close()


def test_an_answer_that_stalls_is_ended(router, upstream):
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        stream.more()

    with wire.Client(router(one(upstream(script).address, timeouts=SHORT)).endpoint) as client:
        client.send(wire.request())
        assert client.stream.rest().endswith(b"half")


def test_a_body_that_stalls_is_ended(router, upstream):
    running = router(one(upstream().address, timeouts=SHORT))
    with wire.Client(running.endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: 1000\r\n\r\nhalf")
        assert client.stream.rest().startswith(b"HTTP/1.1 408")


def test_a_dead_replica_costs_no_request(router, upstream, eventually):
    alive, dead = upstream(honest), upstream(honest)
    dead.stop()
    running = router(one(dead.address, alive.address), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        assert [client.ask("POST" if n % 2 else "GET", body=b"x" if n % 2 else None).status for n in range(100)] == [200] * 100
    replicas = {replica["address"]: replica for replica in running.revision_stats("r1")["replicas"]}
    assert replicas[dead.address]["ejected"] and not replicas[alive.address]["ejected"]


def test_a_replica_that_comes_back_is_used_again(router, upstream, tmp_path, eventually):
    first, second = upstream(honest), upstream(honest, path=tmp_path / "a")
    second.stop()
    (tmp_path / "a").unlink()
    running = router(one(first.address, f"unix:{tmp_path}/a"), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        for _ in range(20):
            assert client.ask().status == 200
        back = upstream(honest, path=tmp_path / "a")

        def is_used():
            assert client.ask().status == 200
            return back.bytes > 0

        eventually(is_used, "a replica that came back gets nothing")


def test_a_revision_that_is_down_does_not_take_the_deployment_along(router, upstream, tmp_path):
    """Failures at once: others with weight answer."""
    alive = upstream(honest)
    down = deployment(revision("r2", 5000, f"unix:{tmp_path}/nobody"), revision("r1", 5000, alive.address))
    with wire.Client(router(table(down), "--threads", "1").endpoint) as client:
        statuses = [client.ask().status for _ in range(200)]
    assert set(statuses) <= {200, 502} and statuses[50:] == [200] * 150


# --- clients ---------------------------------------------------------------------------------------------------------


def test_a_client_that_vanishes_takes_its_request_along(router, upstream, eventually):
    ended = threading.Event()

    def script(connection, stream):
        wire.read_request(stream)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            ended.set()

    running = router(one(upstream(script).address))
    client = wire.Client(running.endpoint)
    client.send(wire.request())
    client.stream.take(100000)
    client.close()
    assert ended.wait(60), "the upstream still sends to nobody"
    eventually(lambda: running.revision_stats("r1")["in_flight"] == 0, "the request still counts")


def test_slow_clients_do_not_slow_the_others(router, upstream, eventually):
    """As many as the limits allow, up to 10,000, each with a piece of a head; they are shown the door in the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = min(10_000, hard - 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, many + 500)), hard))
    behind = upstream(honest)
    running = router(table(deployment(revision("r1", 10000, behind.address)), connections_per_address=2 * many))
    slow = []
    try:
        for n in range(many):
            sock = wire.connect(running.endpoint)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: app.exa"[:1 + n % 30])
            slow.append(sock)
        eventually(lambda: running.stats()["connections"] >= many, "not all of them are connected")
        with wire.Client(running.endpoint) as client:
            assert [client.ask().status for _ in range(1000)] == [200] * 1000
        assert behind.bytes > 0
        # Ten seconds from the first byte of a head.
        eventually(lambda: running.stats()["connections"] < many / 100, "slow heads are waited for without end")
        assert wire.ask(running.endpoint).status == 200
    finally:
        for sock in slow:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_answers_that_nobody_reads_take_no_memory(router, upstream, eventually):
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    running = router(one(upstream(script).address))
    pid = running.worker_pid()
    clients = [wire.Client(running.endpoint) for _ in range(200)]
    for client in clients:
        client.send(wire.request())
    for client in clients:
        client.stream.take(1000)
    assert rss_kb(pid) < 60_000
    for client in clients:
        client.close()
    eventually(lambda: running.revision_stats("r1")["in_flight"] == 0, "their requests still count")


# --- more than memory ------------------------------------------------------------------------------------------------

PIECE = bytes(i * 31 % 251 for i in range(1 << 20))
PIECES = 1024  # 1 GB


def crc_of_all():
    crc = 0
    for _ in range(PIECES):
        crc = zlib.crc32(PIECE, crc)
    return crc


def read_slowly_then_fast(sock, total, first=b""):
    """Reads 1 MB a second for two seconds, then as fast as it comes; the checksum."""
    crc, read, began = zlib.crc32(first), len(first), time.monotonic()
    buffer = bytearray(1 << 20)
    while read < total:
        behind_s = read / 1e6 - (time.monotonic() - began)
        if read < 2_000_000 and behind_s > 0:
            select.select([], [], [], behind_s)  # the reader's pace is what is tested
        count = sock.recv_into(buffer, min(len(buffer), 100_000 if read < 2_000_000 else len(buffer), total - read))
        assert count, f"the connection ended after {read} bytes"
        crc = zlib.crc32(memoryview(buffer)[:count], crc)
        read += count
    return crc


class Peak:
    """The most memory that a process takes while something goes on."""

    def __init__(self, pid):
        self.pid, self.before, self.most, self.over = pid, rss_kb(pid), 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, rss_kb(self.pid))

    def growth_kb(self):
        self.over.set()
        self.thread.join()
        return self.most - self.before


def test_a_gigabyte_down_past_a_slow_reader(router, upstream):
    def script(connection, stream):
        while True:
            if wire.read_request(stream).target == "/warm":
                connection.sendall(OK)
                continue
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (PIECES << 20))
            for _ in range(PIECES):
                connection.sendall(PIECE)

    running = router(one(upstream(script).address), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        for _ in range(10):
            client.ask(target="/warm")
        peak = Peak(running.worker_pid())
        client.send(wire.request())
        wire.read_head(client.stream)
        assert read_slowly_then_fast(client.sock, PIECES << 20, client.stream.buffer) == crc_of_all()
        assert peak.growth_kb() < 2048
        client.stream.buffer = b""
        assert client.ask(target="/warm").status == 200


def test_a_gigabyte_up_past_a_slow_reader(router, upstream):
    crcs = []

    def script(connection, stream):
        while True:
            head = wire.read_head(stream)
            if head.target != "/warm":
                crcs.append(read_slowly_then_fast(connection, PIECES << 20, stream.buffer))
                stream.buffer = b""
            connection.sendall(OK)

    running = router(one(upstream(script).address), "--threads", "1")
    with wire.Client(running.endpoint) as client:
        for _ in range(10):
            client.ask(target="/warm")
        peak = Peak(running.worker_pid())
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: %d\r\n\r\n" % (PIECES << 20))
        for _ in range(PIECES):
            client.send(PIECE)
        assert client.answer().status == 200
        assert peak.growth_kb() < 2048
    assert crcs == [crc_of_all()]
