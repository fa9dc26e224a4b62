"""Descriptors: both sides are within the budget, nobody is shut out by silent connections, and no replica is blamed."""

import resource
import socket
import threading

import pytest
import wire
from router_process import deployment, revision, table

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def files(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def silent(endpoint, source, count):
    """Connections from another address of loopback that say nothing."""
    host, port = endpoint.rsplit(":", 1)
    return [socket.create_connection((host, int(port)), timeout=60, source_address=(source, 0)) for _ in range(count)]


@pytest.fixture
def small(router, named):
    """A router with few descriptors, which may all be of one address if it is said."""
    def start(count, **more):
        return router(table(deployment(revision("r1", 10000, named("r1").address)), **more), "--threads", "1",
                      limits=files(count))

    return start


@pytest.mark.parametrize("count", [600, 290], ids=["by-its-budget", "by-the-kernel"])
def test_silent_connections_shut_nobody_out_and_no_replica_is_blamed(small, count):
    running = small(count, connections_per_address=10_000)
    held = silent(running.endpoint, "127.0.0.2", 2 * count)
    try:
        with wire.Client(running.endpoint) as visitor:
            assert [visitor.ask().status for _ in range(20)] == [200] * 20
        assert [wire.ask(running.endpoint).status for _ in range(50)] == [200] * 50
    finally:
        for one in held:
            one.close()
    seen = running.revision_stats("r1")
    assert (seen["status"]["5xx"], seen["failures"], seen["replicas"][0]["ejected"]) == (0, 0, False)


def test_requests_on_both_sides_stay_within_the_budget(router, upstream, eventually):
    """Half of the budget can be served at once. Whoever comes then is turned away before it is let in, and gets no 502."""
    go_on = threading.Event()

    def script(connection, stream):
        while True:
            wire.read_request(stream)
            assert go_on.wait(60)
            connection.sendall(OK)

    running = router(table(deployment(revision("r1", 10000, upstream(script).address)), connections_per_address=10_000),
                     "--threads", "1", limits=files(600))
    served = (600 - 256) // 2
    clients = [wire.Client(running.endpoint) for _ in range(served)]
    for client in clients:
        client.send(wire.request())
    eventually(lambda: running.revision_stats("r1")["in_flight"] == served, "not all of them are served")
    late = wire.connect(running.endpoint)
    assert late.recv(100) == b"", "it is let in though there is no room"
    late.close()
    go_on.set()
    assert [client.answer().status for client in clients] == [200] * served
    for client in clients:
        client.close()
    seen = running.revision_stats("r1")
    assert (seen["failures"], seen["status"]["5xx"]) == (0, 0)


@pytest.mark.parametrize("more, most", [({"connections_per_address": 30}, 30), ({}, (600 - 256) // 2)], ids=["said", "half"])
def test_an_address_has_only_so_many_connections(small, eventually, more, most):
    running = small(600, **more)
    held = silent(running.endpoint, "127.0.0.2", most + 50)
    try:
        eventually(lambda: running.stats()["connections"] == most, "more are let in, or fewer")
        assert wire.ask(running.endpoint).status == 200
    finally:
        for one in held:
            one.close()
    eventually(lambda: running.stats()["connections"] == 0, "they count though they are gone")
    with silent(running.endpoint, "127.0.0.2", 1)[0] as again:
        again.sendall(wire.request())
        assert again.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_trusted_proxy_has_as_many_as_it_likes(small, eventually):
    running = small(600, connections_per_address=10, trusted_proxies=["127.0.0.2/32"])
    held = silent(running.endpoint, "127.0.0.2", 100)
    eventually(lambda: running.stats()["connections"] == 100, "not all of them are let in")
    for one in held:
        one.close()
