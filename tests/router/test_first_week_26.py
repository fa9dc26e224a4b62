"""Smaller doors past the router: h2c, names with an underscore, X-Real-IP, lengths of what has none, bodies that trickle."""

import json
import select

import pytest
import wire
from router_process import deployment, revision, table


def one(address, **more):
    return table(deployment(revision("r1", 10000, address), **more))


def says(answer):
    def script(connection, stream):
        while True:
            wire.read_request(stream)
            connection.sendall(answer)

    return script


def reached(router, upstream, headers):
    """What an application sees of a request with these headers, by name."""
    answer = wire.ask(router(one(upstream().address)).endpoint, headers=headers)
    return [(name.lower(), value) for name, value in json.loads(answer.body)["headers"]]


@pytest.mark.parametrize("upgrade", [["foo, h2c"], ["websocket,h2c"], ["h2c, foo"], ["foo", "h2c"], ["H2C;x"], ["HTTP/2.0"]])
def test_no_h2c_passes(router, upstream, upgrade):
    seen = dict(reached(router, upstream, [("Connection", "Upgrade, HTTP2-Settings"), ("HTTP2-Settings", "AAMAAABk"),
                                           *(("Upgrade", each) for each in upgrade)]))
    assert not {"upgrade", "connection", "http2-settings"} & set(seen)


def test_names_with_an_underscore_reach_no_application(router, upstream):
    seen = reached(router, upstream, [("X_Forwarded_For", "9.9.9.9"), ("X_Sluice_Tenant", "evil"), ("X-Own", "1"),
                                      ("Transfer_Encoding", "chunked"), ("X-Forwarded_For", "9.9.9.9")])
    assert ("x-own", "1") in seen
    assert [name for name, _ in seen if "_" in name] == [] and "9.9.9.9" not in str(seen)


@pytest.mark.parametrize("trusted", [False, True])
def test_x_real_ip_is_replaced_like_the_others(router, upstream, trusted):
    more = {"trusted_proxies": ["127.0.0.0/8"]} if trusted else {}
    running = router({**one(upstream().address), **more})
    answer = wire.ask(running.endpoint, headers=[("X-Real-IP", "9.9.9.9")])
    seen = [value for name, value in json.loads(answer.body)["headers"] if name.lower() == "x-real-ip"]
    assert seen == ["9.9.9.9" if trusted else "127.0.0.1"]


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
], ids=["103", "204-length", "204-chunked"])
def test_what_has_no_body_has_no_length(router, upstream, answer):
    with wire.Client(router(one(upstream(says(answer)).address)).endpoint) as client:
        client.send(wire.request())
        came = b""
        while b"\r\n\r\n" not in came:
            came += client.sock.recv(1 << 16)
    head = came.split(b"\r\n\r\n")[0].lower()
    assert head.startswith((b"http/1.1 103 ", b"http/1.1 204 "))
    assert b"content-length" not in head and b"transfer-encoding" not in head


@pytest.mark.parametrize("framing, piece", [("Content-Length: 100000", b"x"), ("Transfer-Encoding: chunked", b"1\r\nx\r\n")])
def test_a_body_that_trickles_holds_no_request_for_ever(router, upstream, framing, piece):
    """A byte comes well within the time that a byte may take, again and again."""
    running = router(one(upstream().address, timeouts={"idle_ms": 2000}))
    with wire.Client(running.endpoint) as client:
        client.send(f"POST / HTTP/1.1\r\nHost: app.example\r\n{framing}\r\n\r\n".encode())
        for _ in range(1000):
            if select.select([client.sock], [], [], 0.2)[0]:  # the client's pace is what is tested
                break
            client.send(piece)
        assert client.answer().status == 408
    assert running.revision_stats("r1")["failures"] == 0
