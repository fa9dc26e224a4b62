"""What passes through the router, and how: framing, interim answers, upgrades, streams, and the fields that it adds and
takes away. Real sockets at both ends."""

import json
import re
import threading

import pytest
import wire
from router_process import DEPLOYMENT, deployment, revision, table


def one(upstream, **more):
    """A table with one deployment of one revision."""
    return table(deployment(revision("r1", 10000, upstream.address), **more))


def says(answer, **more):
    """A script that reads requests and answers each with the same bytes."""
    def script(connection, stream):
        while True:
            wire.read_request(stream)
            connection.sendall(answer)

    return script


# --- connections and order ------------------------------------------------------------------------------------------


def test_a_connection_is_kept_on_both_sides(router, upstream):
    behind = upstream()
    with wire.Client(router(one(behind), "--threads", "1").endpoint) as client:
        for n in range(50):
            assert json.loads(client.ask(target=f"/{n}").body)["target"] == f"/{n}"
    assert len(behind.raw) == 1


def test_a_unix_socket_is_an_upstream_like_any_other(router, upstream, tmp_path):
    behind = upstream(path=tmp_path / "s")
    with wire.Client(router(one(behind)).endpoint) as client:
        assert client.ask("POST", "/a", body=b"x" * 100000).status == 200
    assert behind.requests[0].body == b"x" * 100000


def test_pipelined_requests_are_answered_in_order_though_the_first_takes_longest(router, upstream):
    go = threading.Event()

    def script(connection, stream):
        while True:
            target = wire.read_request(stream).target
            if target == "/0":
                go.wait(60)
            elif target == "/9":
                go.set()
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(target)}\r\n\r\n{target}".encode())

    # /9 opens the gate of /0 if they are asked for at once; if the router asks one after another it is opened here.
    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(b"".join(wire.request(target=f"/{n}") for n in range(10)))
        go.set()
        assert [client.answer().body.decode() for _ in range(10)] == [f"/{n}" for n in range(10)]


def test_a_client_that_wants_to_close_is_closed(router, upstream):
    with wire.Client(router(one(upstream())).endpoint) as client:
        answer = client.ask(headers=[("Connection", "close")])
        assert answer.status == 200 and answer.get("Connection").lower() == "close"
        assert client.closed()


def test_a_client_of_1_0_is_closed_unless_it_asks(router, upstream):
    endpoint = router(one(upstream())).endpoint
    with wire.Client(endpoint) as client:
        client.send(b"GET / HTTP/1.0\r\nHost: app.example\r\n\r\n")
        assert client.answer().status == 200
        assert client.closed()
    with wire.Client(endpoint) as client:
        for _ in range(2):
            client.send(b"GET / HTTP/1.0\r\nHost: app.example\r\nConnection: keep-alive\r\n\r\n")
            answer = client.answer()
            assert answer.status == 200 and answer.get("Connection").lower() == "keep-alive"


def test_an_upstream_that_closes_is_not_the_clients_concern(router, upstream):
    closes = upstream(says(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"))
    with wire.Client(router(one(closes), "--threads", "1").endpoint) as client:
        for _ in range(5):
            answer = client.ask()
            assert answer.body == b"ok" and (answer.get("Connection") or "").lower() != "close"
    assert len(closes.raw) == 5


def test_a_request_behind_a_refused_one_is_not_answered(router, upstream):
    behind = upstream()
    came = wire.exchange(router(one(behind)).endpoint,
                         wire.request(target="/1") + b"GET / HTTP/1.1\r\n\r\n" + wire.request(target="/3"))
    assert came.count(b"HTTP/1.1 200") == 1 and came.count(b"HTTP/1.1 400") == 1
    assert came.index(b"HTTP/1.1 200") < came.index(b"HTTP/1.1 400")
    assert [request.target for request in behind.requests] == ["/1"]


# --- bodies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 1000, 16384, 65536, 1_000_000])
def test_bodies_of_both_kinds_pass_both_ways(router, upstream, size):
    body = bytes(i * 7 % 256 for i in range(size))

    def script(connection, stream):
        while True:
            came = wire.read_request(stream)
            if came.chunked:
                answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                pieces = [came.body[i:i + 1013] for i in range(0, len(came.body), 1013)]
                answer += b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
            else:
                answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(came.body), came.body)
            connection.sendall(answer)

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        answer = client.ask("POST", "/", body=body)
        assert answer.body == body and not answer.chunked
        pieces = [body[i:i + 777] for i in range(0, size, 777)]
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n")
        answer = client.answer()
        assert answer.body == body and answer.chunked


def test_trailers_pass_both_ways(router, upstream):
    def script(connection, stream):
        while True:
            came = wire.read_request(stream)
            behind.note(came)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
                               b"2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")

    behind = upstream(script)
    with wire.Client(router(one(behind)).endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nTrailer: X-Mine\r\nTransfer-Encoding: chunked\r\n\r\n"
                    b"3\r\nabc\r\n0\r\nX-Mine: 9\r\n\r\n")
        answer = client.answer()
        assert answer.body == b"ok" and answer.trailers == [("X-Sum", "7")]
        assert client.ask().status == 200
    assert behind.requests[0].trailers == [("X-Mine", "9")]


def test_an_answer_that_ends_with_its_connection_is_passed_on(router, upstream):
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"z" * 100000)

    endpoint = router(one(upstream(script))).endpoint
    assert wire.ask(endpoint).body == b"z" * 100000
    with wire.Client(endpoint) as client:
        client.send(b"GET / HTTP/1.0\r\nHost: app.example\r\n\r\n")
        assert client.answer().body == b"z" * 100000


def test_a_client_of_1_0_gets_no_chunks(router, upstream):
    behind = upstream(says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"))
    with wire.Client(router(one(behind)).endpoint) as client:
        client.send(b"GET / HTTP/1.0\r\nHost: app.example\r\n\r\n")
        answer = client.answer()
        assert not answer.chunked and answer.body == b"abcdefg"


def test_an_upstream_of_1_0_is_understood(router, upstream):
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold")

    assert wire.ask(router(one(upstream(script))).endpoint).body == b"old"


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 599 Weird But Valid\r\nContent-Length: 0\r\n\r\n",
])
def test_answers_without_a_body_leave_the_connection_usable(router, upstream, answer):
    with wire.Client(router(one(upstream(says(answer)))).endpoint) as client:
        for _ in range(3):
            assert client.ask().status == int(answer.split()[1])


def test_head_gets_the_head_alone(router, upstream):
    behind = upstream(says(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n"))
    with wire.Client(router(one(behind)).endpoint) as client:
        for _ in range(3):
            answer = client.ask("HEAD")
            assert answer.status == 200 and answer.get("Content-Length") == "12345"


# --- interim answers -------------------------------------------------------------------------------------------------


def test_a_client_that_waits_to_be_asked_is_asked(router, upstream):
    def script(connection, stream):
        message = wire.read_head(stream)
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        wire.read_body(stream, message)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(message.body), message.body))

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        assert wire.read_head(client.stream).status == 100
        client.send(b"hello")
        answer = client.answer()
        assert answer.status == 200 and answer.body == b"hello"


def test_an_upstream_that_refuses_a_body_needs_not_read_it(router, upstream):
    def script(connection, stream):
        wire.read_head(stream)
        connection.sendall(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
        # Asked or not, the client hears the answer.
        assert client.answer().status == 413


def test_another_expectation_is_refused(router, upstream):
    behind = upstream()
    assert wire.ask(router(one(behind)).endpoint, headers=[("Expect", "a miracle")]).status == 417
    assert behind.bytes == 0


def test_early_hints_are_passed_on(router, upstream):
    behind = upstream(says(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    with wire.Client(router(one(behind)).endpoint) as client:
        for _ in range(2):
            answer = client.ask()
            assert answer.interim == [103] and answer.body == b"ok"


# --- upgrades and streams --------------------------------------------------------------------------------------------


def test_a_websocket_passes(router, named):
    endpoint = router(one(named("r1"))).endpoint
    with wire.WebSocket(endpoint) as socket_:
        for size in [0, 1, 125, 126, 1000, 65535]:
            assert socket_.echo(b"x" * size) == (2, b"x" * size)
        socket_.send_frame(b"ping", 9)
        assert socket_.frame() == (10, b"ping")
        socket_.send_frame(b"\x03\xe8", 8)
        assert socket_.frame() == (8, b"\x03\xe8")
        assert socket_.closed()


def test_bytes_that_follow_an_upgrade_at_once_are_not_lost(router, upstream):
    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: cow\r\n\r\nmoo")
        assert stream.take(5) == b"hello"
        connection.sendall(b"end")

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(wire.request(headers=[("Connection", "upgrade"), ("Upgrade", "cow")]))
        assert client.answer().status == 101
        assert client.stream.take(3) == b"moo"
        client.send(b"hello")
        assert client.stream.rest() == b"end"


def test_an_upgrade_that_is_not_taken_is_a_request(router, upstream):
    behind = upstream()
    with wire.Client(router(one(behind)).endpoint) as client:
        for _ in range(2):
            assert client.ask(headers=[("Connection", "Upgrade"), ("Upgrade", "cow")]).status == 200
    assert behind.requests[0].get("Upgrade") == "cow"


def test_http_2_in_clear_is_not_offered_upstream(router, upstream):
    behind = upstream()
    answer = wire.ask(router(one(behind)).endpoint, headers=[("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"),
                                                             ("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA")])
    assert answer.status == 200
    assert behind.requests[0].get("Upgrade") is None and behind.requests[0].get("HTTP2-Settings") is None


def test_a_101_that_nobody_asked_for_is_not_passed_on(router, upstream):
    behind = upstream(says(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: cow\r\n\r\n"))
    assert wire.ask(router(one(behind)).endpoint).status == 502


def test_events_arrive_while_the_answer_goes_on(router, upstream):
    go = threading.Semaphore(0)

    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for n in range(20):
            go.acquire(timeout=60)
            event = f"data: {n}\n\n".encode()
            connection.sendall(b"%x\r\n%s\r\n" % (len(event), event))
        connection.sendall(b"0\r\n\r\n")

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(wire.request())
        assert wire.read_head(client.stream).status == 200
        for n in range(20):
            go.release()  # the next is sent only when the one before has come
            size = int(client.stream.line(), 16)
            assert client.stream.take(size + 2) == f"data: {n}\n\n\r\n".encode()
        assert client.stream.line() == "0"


def test_a_body_arrives_while_the_request_goes_on(router, upstream):
    got = threading.Semaphore(0)

    def script(connection, stream):
        wire.read_head(stream)
        for n in range(20):
            assert stream.take(10) == b"%010d" % n
            got.release()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: 200\r\n\r\n")
        for n in range(20):
            client.send(b"%010d" % n)
            assert got.acquire(timeout=60), "a piece did not arrive before the next was sent"
        assert client.answer().status == 200


def test_both_ways_at_once(router, upstream):
    """An upstream that answers what comes while it comes, as gRPC-like services do."""
    def script(connection, stream):
        wire.read_head(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20):
            connection.sendall(b"a\r\n%s\r\n" % stream.take(10))
        connection.sendall(b"0\r\n\r\n")

    with wire.Client(router(one(upstream(script))).endpoint) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: 200\r\n\r\n")
        assert wire.read_head(client.stream).status == 200
        for n in range(20):
            client.send(b"%010d" % n)
            assert client.stream.line() == "a" and client.stream.take(12) == b"%010d\r\n" % n


# --- fields ----------------------------------------------------------------------------------------------------------


FORGED = [("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "forged.example"),
          ("X-Forwarded-Port", "1"), ("X-Real-IP", "192.0.2.1"), ("Forwarded", "for=192.0.2.1")]


def test_what_a_stranger_says_of_its_origin_is_replaced(router, upstream):
    behind = upstream()
    endpoint = router(one(behind)).endpoint
    wire.ask(endpoint, headers=FORGED)
    seen = behind.requests[0]
    assert seen.all("X-Forwarded-For") == ["127.0.0.1"]
    assert seen.all("X-Forwarded-Proto") == ["http"]
    assert seen.all("X-Forwarded-Host") == ["app.example"]
    assert seen.all("X-Forwarded-Port") == [endpoint.rsplit(":", 1)[1]]
    assert len(seen.all("Forwarded")) == 1 and "192.0.2.1" not in seen.get("Forwarded")
    assert "for=127.0.0.1" in seen.get("Forwarded") and "proto=http" in seen.get("Forwarded")


def test_what_a_trusted_proxy_says_is_believed(router, upstream):
    behind = upstream()
    wire.ask(router(table(deployment(revision("r1", 10000, behind.address)), trusted_proxies=["127.0.0.0/8"])).endpoint,
             headers=FORGED)
    seen = behind.requests[0]
    assert re.split(", *", ", ".join(seen.all("X-Forwarded-For"))) == ["192.0.2.1", "127.0.0.1"]
    assert seen.all("X-Forwarded-Proto") == ["https"] and seen.all("X-Forwarded-Host") == ["forged.example"]
    assert ", ".join(seen.all("Forwarded")).startswith("for=192.0.2.1")
    assert "for=127.0.0.1" in ", ".join(seen.all("Forwarded"))


@pytest.mark.parametrize("options", ["content-length", "transfer-encoding", "host", "cookie", "x-forwarded-for",
                                     "traceparent", "close, Content-Length, Host"])
def test_connection_cannot_take_away_what_is_not_its_own(router, upstream, options):
    """Naming a field in Connection has been used to strip framing, the host and who asks."""
    behind = upstream()
    with wire.Client(router(one(behind)).endpoint) as client:
        answer = client.ask("POST", "/a", [("Connection", options), ("Cookie", "a=b")], b"hello")
    if answer.status == 400:
        assert behind.bytes == 0
        return
    seen, = behind.requests
    assert seen.body == b"hello" and seen.get("Host") == "app.example"
    assert seen.get("X-Forwarded-For") == "127.0.0.1" and seen.get("traceparent")


def test_what_is_of_one_connection_ends_at_the_router(router, upstream):
    behind = upstream(says(b"HTTP/1.1 200 OK\r\nConnection: X-Own, keep-alive\r\nKeep-Alive: timeout=1\r\nX-Own: 1\r\n"
                           b"Proxy-Authenticate: Basic\r\nX-Kept: 2\r\nContent-Length: 0\r\n\r\n"))
    answer = wire.ask(router(one(behind)).endpoint)
    assert answer.get("X-Own") is None and answer.get("Keep-Alive") is None and answer.get("X-Kept") == "2"


def test_a_trace_is_passed_on_or_begun(router, upstream):
    behind = upstream()
    endpoint = router(one(behind)).endpoint
    given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    wire.ask(endpoint, headers=[("traceparent", given), ("tracestate", "a=b")])
    for broken in ["x", given.upper(), given.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32), given[:-1], "ff" + given[2:]]:
        wire.ask(endpoint, headers=[("traceparent", broken), ("tracestate", "a=b")])
    wire.ask(endpoint, headers=[("tracestate", "a=b")])
    first, *others = [request.all("traceparent") for request in behind.requests]
    assert len(first) == 1 and first[0].split("-")[1] == given.split("-")[1]
    assert [request.get("tracestate") for request in behind.requests] == ["a=b"] + [None] * 6
    begun = [one[0] for one in others if len(one) == 1 and re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", one[0])]
    assert len(begun) == 6 == len(set(begun)) and not any(given.split("-")[1] in text for text in begun)


def test_what_is_meant_for_the_router_does_not_reach_the_application(router, upstream):
    behind = upstream()
    wire.ask(router(one(behind)).endpoint, headers=[("X-Sluice-Deployment", "d"), ("x-sluice-revision", "r"),
                                                    ("X-SLUICE-TENANT", "t"), ("X-Sluice-Team", "t")])
    assert [name for name, _ in behind.requests[0].headers if name.lower().startswith("x-sluice")] == []


# --- the router's own answers ----------------------------------------------------------------------------------------


def test_an_unknown_host_gets_404_and_learns_nothing(router, upstream):
    behind = upstream()
    answer = wire.ask(router(one(behind)).endpoint, host="other.example")
    assert answer.status == 404 and behind.bytes == 0
    assert b"app.example" not in answer.body and DEPLOYMENT.encode() not in answer.body and b"r1" not in answer.body


def test_an_error_tells_a_stranger_nothing_and_the_operator_why(router, eventually, tmp_path):
    dead = f"unix:{tmp_path}/nobody"
    one_router = router(table(deployment(revision("r1", 10000, dead))))
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = wire.ask(one_router.endpoint, headers=[("traceparent", f"00-{trace}-00f067aa0ba902b7-01")])
    assert answer.status == 502 and trace.encode() in answer.body
    assert str(tmp_path).encode() not in answer.body and b"nobody" not in answer.body
    page = wire.ask(one_router.endpoint, headers=[("Accept", "text/html,*/*")])
    assert page.get("Content-Type").startswith("text/html") and b"<" in page.body

    def logged():
        return [line for line in one_router.access_log() if line["trace"] == trace]

    eventually(lambda: (one_router.folder / "access.log").exists() and logged(), "the error is not in the access log")
    line, = logged()
    assert line["status"] == 502 and line["error"] and line["deployment_id"] == DEPLOYMENT and line["revision_id"] == "r1"


@pytest.mark.parametrize("refused, status, why", [
    (b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a broken percent-encoding"),
    (b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", 404, "no deployment has such a route"),
])
def test_what_is_refused_is_in_the_access_log_whatever_its_share(router, upstream, eventually, refused, status, why):
    running = router(table(deployment(revision("r1", 10000, upstream().address)), access_log_bps=0))
    with wire.Client(running.endpoint) as client:
        client.send(refused)
        answer = client.answer()
    assert answer.status == status
    number = re.search(rb"^\d+ [A-Za-z ]+, request ([0-9a-f]{32})\n$", answer.body).group(1).decode()
    eventually(lambda: (running.folder / "access.log").exists() and running.access_log(), "the refusal is not in the access log")
    line, = running.access_log()
    assert (line["trace"], line["status"], line["error"], line["peer"]) == (number, status, why, "127.0.0.1")


def test_a_paused_deployment_shows_its_page(router, upstream):
    behind = upstream()
    paused = deployment(revision("r1", 10000, behind.address), status="paused", paused_page="<h1>Back at nine</h1>", retry_after_s=77)
    answer = wire.ask(router(table(paused)).endpoint)
    assert answer.status == 503 and answer.get("Retry-After") == "77" and answer.body == b"<h1>Back at nine</h1>"
    assert answer.get("Content-Type") == "text/html; charset=utf-8" and behind.bytes == 0


def test_without_a_table_nothing_is_served(router):
    bare = router()
    assert wire.ask(bare.endpoint).status == 503
    assert bare.admin("/healthz").status == 200 and bare.admin("/readyz").status == 503


def test_the_admin_port_says_how_it_is(router, upstream, eventually):
    behind = upstream()
    running = router(one(behind))
    for n in range(7):
        wire.ask(running.endpoint, target=f"/{n}")
    assert running.admin("/readyz").status == 200 and running.admin("/nothing").status == 404
    # A request counts when all is done, which may be a moment after its answer has come.
    eventually(lambda: running.revision_stats("r1")["requests"] == 7, "some are not counted yet")
    metrics = running.admin("/metrics").body.decode()
    counts = {}
    for labels, count in re.findall(r'^sluice_router_requests_total\{([^}]*)\} (\d+)$', metrics, re.M):
        labels = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        counts[labels.pop("class")] = int(count)
        assert labels == {"environment": "local", "deployment": DEPLOYMENT, "revision": "r1"}
    assert {name: count for name, count in counts.items() if count} == {"2xx": 7}
    assert 'sluice_router_request_duration_seconds_count{' in metrics


def test_the_access_log_names_everything(router, upstream, eventually):
    running = router(table(deployment(revision("r1", 10000, upstream().address), pack_kind="sluice.deployer.local@1.0.0",
                                      generation=7), access_log_bps=10000))
    wire.ask(running.endpoint, target="/cart?secret=1")
    eventually(lambda: (running.folder / "access.log").exists() and running.access_log(), "nothing is logged")
    line, = running.access_log()
    expected = {"env_id": "local", "tenant": "default", "team": "default", "customer_id": "acme", "deployment_id": DEPLOYMENT,
                "bundle_id": "app", "revision_id": "r1", "pack_kind": "sluice.deployer.local@1.0.0", "generation": 7,
                "reason": "weight", "method": "GET", "host": "app.example", "path": "/cart", "status": 200, "peer": "127.0.0.1"}
    assert {name: line[name] for name in expected} == expected
    assert "secret" not in json.dumps(line)
