"""What the router promises of requests, over each protocol that it speaks: HTTP/1.1 and HTTP/2, with TLS and in the clear."""

import collections
import os
import ssl
import subprocess
import threading

import certificates
import http2
import pytest
import wire
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from hyperframe.frame import GoAwayFrame
from router_process import DEPLOYMENT, deployment, revision, table

PROTOCOLS = ["h1", "h1+tls", "h2", "h2c"]
NAME = f"_sl_rev_{DEPLOYMENT}"


class Http1:
    """A client of one connection; header names in small letters."""

    def __init__(self, sock):
        self.sock, self.stream = sock, wire.Stream(sock)

    def ask(self, method="GET", target="/", headers=(), body=None):
        self.sock.sendall(wire.request(method, target, headers, body))
        answer = wire.read_answer(self.stream, method)
        return answer.status, {name.lower(): value for name, value in answer.headers}, answer.body


class Http2:
    """The same by python3-h2, which insists on the standard."""

    def __init__(self, sock):
        self.sock, self.h2 = sock, H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        self.sock.sendall(self.h2.data_to_send())

    def events(self):
        data = self.sock.recv(1 << 16)
        if not data:
            raise wire.Ended("the connection was closed")
        found = self.h2.receive_data(data)
        for event in found:
            if isinstance(event, DataReceived) and event.flow_controlled_length:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush()
        return found

    def ask(self, method="GET", target="/", headers=(), body=None):
        stream = self.h2.get_next_available_stream_id()
        fields = [(":method", method), (":scheme", "https"), (":authority", "app.example"), (":path", target),
                  *[(name.lower(), value) for name, value in headers]]
        self.h2.send_headers(stream, fields, end_stream=body is None)
        answer = {"status": None, "fields": {}, "body": b"", "ended": False}

        def take(event):
            if getattr(event, "stream_id", None) != stream:
                return
            assert not isinstance(event, StreamReset), event
            if isinstance(event, ResponseReceived):
                answer["fields"] = dict(event.headers)
                answer["status"] = int(answer["fields"][":status"])
            elif isinstance(event, DataReceived):
                answer["body"] += event.data
            elif isinstance(event, StreamEnded):
                answer["ended"] = True

        left = body or b""
        while left:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(left))
            if room:
                self.h2.send_data(stream, left[:room], end_stream=room == len(left))
                left = left[room:]
                self.flush()
            else:
                for event in self.events():
                    take(event)
        if body == b"":
            self.h2.end_stream(stream)
        self.flush()
        while not answer["ended"]:
            for event in self.events():
                take(event)
        return answer["status"], answer["fields"], answer["body"]


@pytest.fixture(params=PROTOCOLS)
def talk(request, router, tmp_path):
    """Starts a router; and clients of it that speak one of the protocols."""
    opened = []
    certificates.write(tmp_path / "certificates" / "app", "app.example")

    def start(served, *options):
        running = router(served, "--listen", "127.0.0.1:0,tls", "--certificates", str(tmp_path / "certificates"), *options)

        def client():
            if request.param in ("h1", "h2c"):
                sock = wire.connect(running.endpoint)
            else:
                made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
                made.set_alpn_protocols(["h2"] if request.param == "h2" else ["http/1.1"])
                sock = made.wrap_socket(wire.connect(running.facts["listen"][1].removesuffix(",tls")),
                                        server_hostname="app.example")
            opened.append(sock)
            return Http2(sock) if request.param in ("h2", "h2c") else Http1(sock)

        running.client = client
        return running

    start.protocol = request.param
    yield start
    for sock in opened:
        sock.close()


def two(named, weight, **more):
    behind = {name: named(name) for name in ("r2", "r1")}
    return behind, lambda now=weight, **change: deployment(
        revision("r2", now, behind["r2"].address, **change.pop("first", {})),
        revision("r1", 10000 - now, behind["r1"].address), **more, **change)


def test_the_split_is_exact(talk, named):
    _, split = two(named, 1000)
    client = talk(table(split())).client()
    found = collections.Counter(client.ask()[1]["x-revision"] for _ in range(200))
    assert found == {"r1": 180, "r2": 20}


def test_a_cookie_stays_with_its_revision(talk, named):
    behind, split = two(named, 5000, mode="session")
    running = talk(table(split()))
    client = running.client()
    _, fields, _ = client.ask()
    first, cookie = fields["x-revision"], fields["set-cookie"].split(";")[0]
    assert cookie.startswith(NAME)
    for _ in range(5):
        status, fields, _ = client.ask(headers=[("Cookie", "theme=dark"), ("Cookie", cookie)] if "h2" in talk.protocol
                                       else [("Cookie", f"theme=dark; {cookie}")])
        assert (status, fields["x-revision"]) == (200, first) and "set-cookie" not in fields
    assert behind[first].requests[-1].get("Cookie") == f"theme=dark; {cookie}"


def test_a_session_is_pinned_by_the_applications_key(talk, named):
    _, split = two(named, 5000, mode="session", sticky={"key_header": "x-session"})
    running = talk(table(split(), cookie_keys=[]))
    found = {key: {running.client().ask(headers=[("X-Session", key)])[1]["x-revision"] for _ in range(3)} for key in "abcdef"}
    assert all(len(each) == 1 for each in found.values()) and len(set.union(*found.values())) == 2


def test_a_held_request_waits_and_goes_on(talk, named, eventually):
    _, split = two(named, 10000)
    running = talk(table(split()))
    client = running.client()
    assert client.ask()[0] == 200
    assert running.ask(op="hold", deployment=DEPLOYMENT, ms=30000)["ok"]
    came = []
    thread = threading.Thread(target=lambda: came.append(client.ask("POST", body=b"hello")))
    thread.start()
    eventually(lambda: running.stats()["held"] == 1, "it is not held")
    assert running.ask(op="release", deployment=DEPLOYMENT)["ok"]
    thread.join(60)
    assert came[0][0] == 200 and came[0][2] == b"hello"


def test_a_drain_ends_when_nothing_is_under_way(talk, upstream, named, eventually):
    go = threading.Event()

    def slow(connection, stream):
        while True:
            wire.read_request(stream)
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Revision: r2\r\nContent-Length: 4\r\n\r\nsl")
            go.wait(60)
            connection.sendall(b"ow")

    behind, other = upstream(slow), named("r1")
    split = lambda now, **first: deployment(revision("r2", now, behind.address, **first),  # noqa: E731
                                            revision("r1", 10000 - now, other.address))
    running = talk(table(split(10000)))
    client, came = running.client(), []
    thread = threading.Thread(target=lambda: came.append(client.ask()))
    thread.start()
    eventually(lambda: running.revision_stats("r2")["in_flight"] == 1, "it is not under way")
    assert running.patch(split(0, state="draining", drain_seconds=30))["ok"]
    answer = running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=30000)
    assert (answer["in_flight"], answer["done"]) == (1, False)
    assert running.client().ask()[1]["x-revision"] == "r1"
    go.set()
    thread.join(60)
    assert came[0] == (200, came[0][1], b"slow")
    eventually(lambda: running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=30000)["done"], "it does not end")


def test_a_replica_that_is_not_there_is_not_asked_again(talk, named):
    behind, gone = named("r1"), named("gone")
    gone.stop()
    running = talk(table(deployment(revision("r1", 10000, gone.address, behind.address))))
    client = running.client()
    for n in range(20):
        assert client.ask("POST", f"/{n}", body=b"x" * n)[::2] == (200, b"x" * n)
    assert running.revision_stats("r1")["status"]["2xx"] == 20


@pytest.mark.parametrize("size", [0, 1, 70_000, 2_000_000])
def test_bodies_pass_both_ways(talk, named, size):
    body = os.urandom(size)
    client = talk(table(deployment(revision("r1", 10000, named("r1").address)))).client()
    for headers in [[], [("Content-Length", str(size))] if talk.protocol.startswith("h2") else []]:
        status, _, came = client.ask("PUT", headers=headers, body=body)
        assert status == 200 and came == body


def test_what_passed_is_counted_and_logged(talk, named, eventually):
    running = talk(table(deployment(revision("r1", 10000, named("r1").address)), access_log_bps=10000))
    client = running.client()
    for _ in range(7):
        assert client.ask("POST", "/a?b", body=b"hello")[0] == 200
    eventually(lambda: len(running.access_log()) == 7, "not all is logged")
    line = running.access_log()[0]
    assert (line["method"], line["host"], line["path"], line["status"]) == ("POST", "app.example", "/a", 200)
    assert line["protocol"] == ("HTTP/2" if talk.protocol.startswith("h2") else "HTTP/1.1")
    assert line["tls_version"] == ("" if talk.protocol in ("h1", "h2c") else "TLSv1.3")
    counts = running.revision_stats("r1")
    assert counts["requests"] == 7 and counts["in_flight"] == 0
    used = next(each for each in running.ask(op="usage")["series"] if each["revision"] == "r1")
    assert used["requests"] == 7 and used["bytes_in"] >= 35


def test_many_streams_run_side_by_side(router, upstream):
    """Of which the first takes longest."""
    order = []

    def script(connection, stream):
        while True:
            target = wire.read_request(stream).target
            if target == "/0":
                gate.wait(60)
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(target)}\r\n\r\n{target}".encode())

    gate = threading.Event()
    running = router(table(deployment(revision("r1", 10000, upstream(script).address))))
    client = Http2(wire.connect(running.endpoint))
    streams = {}
    for n in range(100):
        stream = client.h2.get_next_available_stream_id()
        client.h2.send_headers(stream, [(":method", "GET"), (":scheme", "http"), (":authority", "app.example"), (":path", f"/{n}")],
                               end_stream=True)
        streams[stream] = n
    client.flush()
    while len(order) < 100:
        for event in client.events():
            if isinstance(event, StreamEnded):
                order.append(streams[event.stream_id])
                if len(order) == 99:
                    gate.set()
    assert order[-1] == 0 and sorted(order) == list(range(100))
    client.sock.close()


def test_trailers_pass_both_ways(router, upstream):
    def script(connection, stream):
        while True:
            message = wire.read_request(stream)
            seen.append(message)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n")

    seen = []
    running = router(table(deployment(revision("r1", 10000, upstream(script).address))))
    client = Http2(wire.connect(running.endpoint))
    client.h2.send_headers(1, [(":method", "POST"), (":scheme", "http"), (":authority", "app.example"), (":path", "/")])
    client.h2.send_data(1, b"hello")
    client.h2.send_headers(1, [("x-own", "8")], end_stream=True)
    client.flush()
    found, ended = {}, False
    while not ended:
        for event in client.events():
            if isinstance(event, TrailersReceived):
                found = dict(event.headers)
            ended = ended or isinstance(event, StreamEnded)
    assert found == {"x-sum": "7"}
    assert seen[0].body == b"hello" and seen[0].trailers == [("x-own", "8")]
    client.sock.close()


def test_a_stop_says_good_bye_twice_and_lets_streams_finish(router, upstream, eventually):
    go = threading.Event()

    def script(connection, stream):
        while True:
            wire.read_request(stream)
            go.wait(60)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    running = router(table(deployment(revision("r1", 10000, upstream(script).address))))
    with http2.Raw(running.endpoint) as raw:
        raw.ask(1)
        eventually(lambda: running.revision_stats("r1")["in_flight"] == 1, "it is not under way")
        running.process.terminate()
        last = []
        while len(last) < 2:
            came = raw.frame()
            if isinstance(came, GoAwayFrame):
                last.append((came.last_stream_id, came.error_code))
        assert last == [((1 << 31) - 1, 0), (1, 0)]
        go.set()
        assert raw.answer(1)[2] == b"ok"
    assert running.process.wait(60) == 0


def test_curl_speaks_it(router, named):
    running = router(table(deployment(revision("r1", 10000, named("r1").address))))
    out = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-w", "%{http_version} %{http_code}", "-H", "Host: app.example",
                          "--data", "hello", f"http://{running.endpoint}/"], capture_output=True, text=True, timeout=60)
    assert out.stdout == "hello2 200", out.stderr
