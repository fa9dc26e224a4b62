"""A thread that has warmed up answers without taking memory. The allocator says so itself: it prints its statistics
whenever so many bytes were asked for since it did so last, by whichever thread."""

import pytest
import wire
from router_process import deployment, revision, table

BYTES = 64 << 10
BATCH = 100


@pytest.fixture
def watched(router, fast):
    """A router, and how often it has asked for another 64 kB."""
    behind = {name: fast(name) for name in ("r2", "r1")}
    split = deployment(revision("r2", 100, behind["r2"].address), revision("r1", 9900, behind["r1"].address), mode="session")
    running = router(table(split, access_log_bps=0), "--threads", "1",
                     environment={"MALLOC_CONF": f"stats_interval:{BYTES},stats_interval_opts:gmdablxe"})
    return running, lambda: running.said().count("Begin jemalloc statistics")


def ask(sock, request, batches):
    for _ in range(batches):
        sock.sendall(request * BATCH)
        came = b""
        while came.count(b"\r\n\r\nok") < BATCH:
            piece = sock.recv(1 << 16)
            assert piece, came[-300:]
            came += piece
        assert came.count(b"HTTP/1.1 200 ") == BATCH


@pytest.mark.parametrize("known", [True, False])
def test_visitors_take_no_memory(watched, eventually, known):
    """Also those who come for the first time, and get a cookie."""
    running, times = watched
    cookie = wire.ask(running.endpoint).get("Set-Cookie").split(";")[0]
    cookies = f"theme=dark; {cookie}" if known else "theme=dark"
    request = wire.request(headers=[("Cookie", cookies), ("Accept-Encoding", "gzip"), ("X-Own", "1")])
    with wire.connect(running.endpoint) as sock:
        ask(sock, request, 10)
        before = times()
        ask(sock, request, 200)
        # One allocation a request, the smallest there is, would be told of twice; the rest of the process may need some.
        assert times() - before <= 1
    seen = times()

    def is_told():
        running.stats()
        return times() > seen

    eventually(is_told, "what takes memory is not told of either")
