"""Replicas with TLS: whom the router believes, and that requests pass as ever once it does. The replicas are Python's ssl."""

import ssl
import threading

import pytest
import upstreams
import wire
from certificates import Authority, write
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from router_process import deployment, revision, table


def server(chain, key, *protocols):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(chain, key)
    if protocols:
        made.set_alpn_protocols(protocols)
    return made


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "authority", "replicas")


@pytest.fixture
def secure(authority, begin):
    """An upstream with TLS whose certificate is of these names."""
    def start(name, *names, by=authority, script=None, protocols=()):
        tls = server(*by.sign(f"{name}-server", *names), *protocols)
        return begin(upstreams.Upstream(script, tls=tls) if script else upstreams.named(name, tls=tls))

    return start


def served(*replicas, connect_ms=10_000, **more):
    return table(deployment({**revision("r1", 10000), "replicas": replicas, **more}, timeouts={"connect_ms": connect_ms}),
                 access_log_bps=10000)


def at(upstream, authority, **more):
    return {"address": upstream.address, "ca": authority.pem, **more}


def test_requests_pass_and_connections_are_kept(router, secure, authority):
    behind = secure("r1", "shop.example")
    running = router(served(at(behind, authority, server_name="shop.example")), "--threads", "1")
    for size in [0, 1, 100_000, 3_000_000]:
        answer = wire.ask(running.endpoint, method="POST", body=b"x" * size)
        assert (answer.status, answer.get("X-Revision"), answer.body) == (200, "r1", b"x" * size)
    before = behind.taken
    for _ in range(50):
        assert wire.ask(running.endpoint).status == 200
    assert behind.taken <= before + 1, "connections are kept"
    with wire.WebSocket(running.endpoint) as socket:
        socket.echo(b"hello")


def test_without_a_name_the_certificate_is_of_the_address(router, secure, authority):
    behind, other = secure("r1", "127.0.0.1"), secure("r2", "127.0.0.2")
    assert wire.ask(router(served(at(behind, authority))).endpoint).status == 200
    assert wire.ask(router(served(at(other, authority))).endpoint).status == 502


@pytest.mark.parametrize("fault", ["another authority", "another name", "expired", "no TLS", "silence"])
def test_who_is_not_believed_gets_nothing(router, secure, authority, tmp_path, begin, fault, eventually):
    others = Authority(tmp_path / "others", "others")
    if fault == "another authority":
        bad = secure("bad", "shop.example", by=others)
    elif fault == "another name":
        bad = secure("bad", "evil.example", "*.shop.example")
    elif fault == "expired":
        bad = begin(upstreams.named("bad", tls=server(*authority.sign("expired", "shop.example", days=-1))))
    elif fault == "no TLS":
        bad = begin(upstreams.Upstream(lambda connection, stream: stream.more() or connection.sendall(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")))
        bad.address = bad.address.replace("tcp:", "tls:")
    else:
        bad = begin(upstreams.Upstream(lambda connection, stream: connection.recv(1 << 20) and connection.recv(1)))
        bad.address = bad.address.replace("tcp:", "tls:")
    place = at(bad, authority, server_name="shop.example")
    running = router(served(place, connect_ms=200 if fault == "silence" else 10_000))
    answer = wire.ask(running.endpoint, headers=[("Cookie", "secret=1")])
    assert answer.status == (504 if fault == "silence" else 502)
    assert bad.requests == [] and bad.taken >= 1
    assert b"secret" not in b"".join(bad.raw)
    expected = ("took no connection in time" if fault == "silence" else "TLS will not do")
    eventually(lambda: any(expected in line["error"] for line in running.access_log()), "the log does not say why")
    # Beside one that is believed nobody notices.
    good = secure("good", "shop.example")
    both = router(served(place, at(good, authority, server_name="shop.example"), connect_ms=2_000))
    for n in range(6):
        assert wire.ask(both.endpoint, method="POST", body=b"%d" % n).get("X-Revision") == "good"


def test_a_replica_that_is_restarted_is_found_again(router, secure, authority):
    behind = secure("r1", "shop.example")
    running = router(served(at(behind, authority, server_name="shop.example")))
    for _ in range(5):
        assert wire.ask(running.endpoint).status == 200
        behind.close_connections()


def test_an_answer_that_is_cut_off_is_cut_off_for_the_client(router, secure, authority):
    """Without a length only the end of TLS says that the answer is whole; a connection that just ends may have been cut."""
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        if whole.is_set():
            connection.unwrap()
        connection.close()

    whole = threading.Event()
    behind = secure("r1", "shop.example", script=script)
    running = router(served(at(behind, authority, server_name="shop.example")))
    with wire.Client(running.endpoint) as client:
        client.send(wire.request())
        came = b""
        with pytest.raises(ConnectionResetError):
            while piece := client.sock.recv(1 << 16):
                came += piece
            assert False, f"an orderly end behind {came!r}"
    whole.set()
    assert wire.ask(running.endpoint).body == b"half"


def test_http2_over_tls(router, secure, authority):
    def script(connection, stream):
        speaker = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        speaker.initiate_connection()
        connection.sendall(speaker.data_to_send())
        bodies, spoken = {}, connection.selected_alpn_protocol()
        while data := connection.recv(1 << 16):
            for event in speaker.receive_data(data):
                if isinstance(event, RequestReceived):
                    bodies[event.stream_id] = b""
                elif isinstance(event, DataReceived):
                    bodies[event.stream_id] += event.data
                    speaker.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamEnded):
                    speaker.send_headers(event.stream_id, [(":status", "200"), ("x-spoken", spoken)])
                    speaker.send_data(event.stream_id, bodies.pop(event.stream_id), end_stream=True)
            connection.sendall(speaker.data_to_send())

    behind = secure("r1", "shop.example", script=script, protocols=["h2"])
    running = router(served(at(behind, authority, server_name="shop.example"), transport="http2"), "--threads", "1")
    for n in range(20):
        answer = wire.ask(running.endpoint, method="POST", body=b"%d" % n)
        assert (answer.status, answer.get("x-spoken"), answer.body) == (200, "h2", b"%d" % n)
    assert behind.taken == 1, "all requests share a connection"
    plain = secure("r2", "shop.example", protocols=["http/1.1"])
    refused = router(served(at(plain, authority, server_name="shop.example"), transport="http2"))
    assert wire.ask(refused.endpoint).status == 502 and plain.requests == []


def test_a_place_that_is_no_good_is_quarantined(router, secure, authority):
    behind = secure("r1", "shop.example")
    running = router(None)
    said = running.load(served({"address": behind.address}))
    assert "whom to believe at a tls: address" in str(said["quarantined"]), said


class Whole:
    """TLS of which every piece is seen: what is said and that nothing more comes may leave in one piece."""

    def __init__(self, connection, context, **more):
        self.connection, self.came, self.going = connection, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.came, self.going, **more)
        self.until(self.tls.do_handshake)

    def until(self, step):
        while True:
            try:
                done = step()
                self.flush()
                return done
            except ssl.SSLWantReadError:
                self.flush()
                data = self.connection.recv(1 << 16)
                assert data, "the other end has closed"
                self.came.write(data)

    def flush(self):
        if data := self.going.read():
            self.connection.sendall(data)

    def recv(self, size):
        try:
            return self.until(lambda: self.tls.read(size))
        except ssl.SSLZeroReturnError:
            return b""

    def last(self, data):
        """The last bytes, and the end behind them, in one piece; the connection below stays open."""
        self.tls.write(data)
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()


def ending(authority, begin, answers, protocol):
    """A replica with TLS, to whose nth request `answers` says what the last bytes are."""
    made = server(*authority.sign("ending-server", "shop.example"), protocol)

    def script(connection, _):
        tls = Whole(connection, made, server_side=True)
        answers(tls, wire.Stream(tls))
        over.wait()

    over = threading.Event()
    behind = begin(upstreams.Upstream(script))
    behind.address, behind.over = behind.address.replace("tcp:", "tls:"), over
    return behind


def test_an_http2_replica_that_ends_behind_its_last_bytes_is_noticed(router, authority, begin):
    """The end of TLS comes with the half of an answer, and the connection below stays open."""
    def answers(tls, _):
        speaker = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        speaker.initiate_connection()
        while True:
            for event in speaker.receive_data(tls.recv(1 << 16)):
                if isinstance(event, RequestReceived):
                    speaker.send_headers(event.stream_id, [(":status", "200")])
                    speaker.send_data(event.stream_id, b"half")
                    tls.last(speaker.data_to_send())
                    return

    behind = ending(authority, begin, answers, "h2")
    try:
        running = router(served(at(behind, authority, server_name="shop.example"), transport="http2"))
        for _ in range(3):
            with pytest.raises((wire.Ended, ConnectionResetError)):
                wire.ask(running.endpoint)
        assert behind.taken == 3, "none of these connections is used again"
    finally:
        behind.over.set()


@pytest.mark.parametrize("ends", ["replica", "client"])
def test_an_end_behind_the_last_bytes_of_a_tunnel_is_passed_on(router, authority, begin, tmp_path, ends):
    heard = []

    def answers(tls, stream):
        wire.read_request(stream)
        switched = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: words\r\n\r\n"
        if ends == "replica":
            tls.last(switched + b"goodbye")
            return
        tls.tls.write(switched)
        tls.flush()
        heard.append(stream.rest())
        tls.last(b"heard")

    behind = ending(authority, begin, answers, "http/1.1")
    write(tmp_path / "certificates/app", "app.example")
    try:
        running = router(served(at(behind, authority, server_name="shop.example")), "--listen", "127.0.0.1:0,tls",
                         "--certificates", str(tmp_path / "certificates"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with wire.connect(running.facts["listen"][1].removesuffix(",tls")) as below:
            client = Whole(below, context, server_hostname="app.example")
            client.tls.write(wire.request(headers=[("Connection", "Upgrade"), ("Upgrade", "words")]))
            client.flush()
            stream = wire.Stream(client)
            assert wire.read_head(stream).status == 101
            if ends == "client":
                client.last(b"goodbye")
            assert stream.rest() == (b"heard" if ends == "client" else b"goodbye")
        if ends == "client":
            assert heard == [b"goodbye"]
    finally:
        behind.over.set()
