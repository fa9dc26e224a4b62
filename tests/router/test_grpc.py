"""Calls of gRPC through the router, by Debian's grpcio at both ends: all kinds, cancels, deadlines, large messages, a split,
and what the router itself answers."""

import collections
import concurrent.futures
import threading

import certificates
import grpc
import pytest
from router_process import deployment, revision, table


class Service(grpc.GenericRpcHandler):
    """Methods of bytes: what is sent comes back behind the name of who answers."""

    def __init__(self, name):
        self.name = name.encode()
        self.waiting, self.cancelled = threading.Event(), threading.Event()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), handlers=[self],
                                  options=[("grpc.max_receive_message_length", 8 << 20)])
        self.address = f"tcp:127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def service(self, details):
        kind, name = details.method.strip("/").split("/")
        method = getattr(self, name, None)
        return method and getattr(grpc, f"{kind}_rpc_method_handler")(method)

    def echo(self, message, context):
        context.set_trailing_metadata((("x-name", self.name.decode()),))
        return self.name + message

    def count(self, message, _):
        for n in range(int(message)):
            yield self.name + str(n).encode()

    def join(self, messages, _):
        return self.name + b"".join(messages)

    def converse(self, messages, _):
        for message in messages:
            yield self.name + message

    def fail(self, message, context):
        context.abort(grpc.StatusCode[message.decode()], "as it was told")

    def wait(self, _, context):
        context.add_callback(self.cancelled.set)
        self.waiting.set()
        self.cancelled.wait(60)
        return b""

    def stop(self):
        self.server.stop(0).wait(60)


@pytest.fixture
def service(begin):
    return lambda name: begin(Service(name))


@pytest.fixture(params=["clear", "tls"])
def calls(request, router, tmp_path, begin):
    """Starts a router before revisions that speak gRPC; `call(kind, method)` of what it gives is a stub."""
    chain = certificates.write(tmp_path / "certificates" / "app", "app.example")

    class Calls:
        def __init__(self, *revisions, **more):
            self.router = router(table(deployment(*[{**each, "transport": "http2"} for each in revisions], **more),
                                       access_log_bps=0), "--listen",
                                 "127.0.0.1:0,tls", "--certificates", str(tmp_path / "certificates"), "--threads", "2")
            options = [("grpc.default_authority", "app.example"), ("grpc.max_receive_message_length", 8 << 20),
                       ("grpc.ssl_target_name_override", "app.example"), ("grpc.enable_http_proxy", 0)]
            if request.param == "clear":
                self.channel = grpc.insecure_channel(self.router.endpoint, options=options)
            else:
                self.channel = grpc.secure_channel(self.router.facts["listen"][1].removesuffix(",tls"),
                                                   grpc.ssl_channel_credentials(chain.read_bytes()), options=options)
            begin(self)

        def call(self, kind, method):
            return getattr(self.channel, kind)(f"/{kind}/{method}")

        def stop(self):
            self.channel.close()

    return Calls


def test_all_kinds_of_calls_pass(calls, service):
    behind = calls(revision("r1", 10000, service("a").address))
    echoed, call = behind.call("unary_unary", "echo").with_call(b"hello", timeout=60)
    assert echoed == b"ahello" and ("x-name", "a") in [tuple(each) for each in call.trailing_metadata()]
    assert list(behind.call("unary_stream", "count")(b"200", timeout=60)) == [b"a%d" % n for n in range(200)]
    assert behind.call("stream_unary", "join")(iter([b"x", b"y" * 100_000, b"z"]), timeout=60) == b"ax" + b"y" * 100_000 + b"z"
    # Each message waits for the answer to the one before.
    answered, sent = threading.Semaphore(1), []

    def messages():
        for n in range(50):
            assert answered.acquire(timeout=60)
            sent.append(n)
            yield b"%d" % n

    came = []
    for answer in behind.call("stream_stream", "converse")(messages(), timeout=60):
        came.append(answer)
        assert len(sent) == len(came)
        answered.release()
    assert came == [b"a%d" % n for n in range(50)]


def test_a_message_of_4_mb_passes_both_ways(calls, service):
    behind = calls(revision("r1", 10000, service("a").address))
    message = bytes(range(256)) * (4 << 12)
    assert behind.call("unary_unary", "echo")(message, timeout=60) == b"a" + message


def test_the_split_is_exact_and_connections_are_shared(calls, service):
    first, second = service("a"), service("b")
    behind = calls(revision("r2", 1000, second.address), revision("r1", 9000, first.address))
    echo = behind.call("unary_unary", "echo")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = collections.Counter(pool.map(lambda _: echo(b"", timeout=60), range(500)))
    assert found == {b"a": 450, b"b": 50}


def test_a_deadline_and_a_cancel_reach_the_program(calls, service):
    one = service("a")
    behind = calls(revision("r1", 10000, one.address))
    call = behind.call("unary_unary", "wait").future(b"")
    assert one.waiting.wait(60)
    call.cancel()
    assert one.cancelled.wait(60)
    one.waiting.clear()
    one.cancelled.clear()
    with pytest.raises(grpc.RpcError) as late:
        behind.call("unary_unary", "wait")(b"", timeout=0.5)
    assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert one.cancelled.wait(60)
    assert behind.call("unary_unary", "echo")(b"!", timeout=60) == b"a!", "others go on"


def test_what_fails_is_counted_of_its_revision(calls, service, eventually):
    behind = calls(revision("r1", 10000, service("a").address))
    for status in ["UNAVAILABLE", "INTERNAL", "NOT_FOUND"]:
        with pytest.raises(grpc.RpcError) as failed:
            behind.call("unary_unary", "fail")(status.encode(), timeout=60)
        assert failed.value.code().name == status and failed.value.details() == "as it was told"
    behind.call("unary_unary", "echo")(b"", timeout=60)
    found = behind.router.revision_stats("r1")["status"]
    assert (found["2xx"], found["4xx"], found["5xx"]) == (1, 1, 2)
    eventually(lambda: sorted(line["grpc_status"] for line in behind.router.access_log()) == [13, 14], "they are not logged")


def test_what_the_router_answers_is_a_status(calls, service):
    gone = service("a")
    behind = calls(revision("r1", 10000, gone.address), prefixes=("/unary_unary/echo",))
    gone.stop()
    with pytest.raises(grpc.RpcError) as failed:
        behind.call("unary_unary", "echo")(b"", timeout=60)
    assert failed.value.code() == grpc.StatusCode.UNAVAILABLE and "502 Bad Gateway, request " in failed.value.details()
    with pytest.raises(grpc.RpcError) as lost:
        behind.call("unary_unary", "other")(b"", timeout=60)
    assert lost.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_program_that_is_restarted_fails_no_call_that_may_be_asked_again(calls, service):
    """A server that stops says GOAWAY: what it took it answers, and the rest goes to the other replica. Only a call whose
    body was still to come when it was refused cannot be asked again, and one that the server itself cancels is cancelled."""
    first, second = service("a"), service("b")
    behind = calls(revision("r1", 10000, first.address, second.address))
    echo = behind.call("unary_unary", "echo")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(echo, b"", timeout=60) for _ in range(400)]
        first.server.stop(60)
        failed = [each.exception() for each in asked if each.exception() is not None]
        assert {each.code() for each in failed} <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED} and len(failed) <= 8, failed
        assert {each.result() for each in asked if each.exception() is None} <= {b"a", b"b"}
    assert {echo(b"", timeout=60) for _ in range(20)} == {b"b"}
