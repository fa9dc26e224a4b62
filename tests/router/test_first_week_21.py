"""Every answer belongs to its request, whatever the application says besides."""

import threading

import pytest
import unruly
import wire
from router_process import deployment, revision, table


@pytest.fixture
def behind(router, begin):
    """Starts a router before an application of a kind."""
    def start(kind):
        return router(table(deployment(revision("r1", 10000, begin(unruly.Running(kind)).address)), access_log_bps=0),
                      "--threads", "1")

    return start


def test_every_answer_belongs_to_its_request_where_head_is_answered_with_a_body(behind):
    running = behind("head")
    counts = unruly.load(running.endpoint, 100_000)
    assert counts == {"gets": counts["gets"], "failed": 0, "chosen": 0, "others": 0}
    assert running.revision_stats("r1")["failures"] == 0, "no connection is kept after HEAD, so nothing comes on one"


def test_a_byte_on_an_idle_connection_closes_it_and_counts_against_the_replica(router, upstream, eventually):
    closed = threading.Event()

    def script(connection, stream):
        wire.read_request(stream)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        assert idle.wait(60)
        connection.sendall(b"H")
        try:
            assert connection.recv(1) == b""
        except ConnectionResetError:
            pass  # what it has said is not read any more
        closed.set()

    idle = threading.Event()
    running = router(table(deployment(revision("r1", 10000, upstream(script).address))), "--threads", "1")
    assert wire.ask(running.endpoint).body == b"ok"
    eventually(lambda: running.revision_stats("r1")["replicas"][0]["idle"] == 1, "it is not kept")
    idle.set()
    assert closed.wait(60), "the connection stays open"
    seen = running.revision_stats("r1")
    assert (seen["failures"], seen["replicas"][0]["idle"]) == (1, 0)


def test_every_answer_belongs_to_its_request_where_304_and_204_have_a_body(behind):
    running = behind("status")
    counts = unruly.load(running.endpoint, 2_000, heads=False)
    assert counts == {"gets": counts["gets"], "failed": 0, "chosen": 0, "others": 0}


def test_what_slips_through_between_look_and_send_is_counted(behind):
    """What comes right after the look, or behind the request, cannot be told from its answer. It is so once for each
    connection at most: what was the answer comes then, on an idle connection, and no connection is kept after that."""
    running, visitors = behind("unasked"), 16
    counts = unruly.load(running.endpoint, 2_000, visitors=visitors, attackers=0)
    print(counts)
    assert counts["chosen"] + counts["others"] + counts["failed"] <= visitors, counts
