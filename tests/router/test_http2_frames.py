"""What RFC 9113 says must be an error, frame by frame: of the stream or of the connection, and which. Nothing of it reaches
an application, and after an error of a stream the others go on."""

import struct
import subprocess
from pathlib import Path

import pytest
import router_process
import upstreams
import wire
from http2 import (CANCEL, COMPRESSION_ERROR, ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GET, POST, PREFACE,
                   PROTOCOL_ERROR, STREAM_CLOSED, Raw, frame, ping)
from hyperframe.frame import DataFrame, HeadersFrame
from router_process import deployment, revision, rss_kb, table

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, HAS_PRIORITY = 1, 1, 4, 8, 32


def number(value):
    return struct.pack(">I", value)


def setting(name, value):
    return struct.pack(">HI", name, value)


def head(*fields, flags=END_HEADERS | END_STREAM, stream=1, base=GET):
    """A head with more fields."""
    return lambda raw: raw.send(frame(HEADERS, flags, stream, raw.block([*base, *fields])))


def only(*fields):
    return head(*fields, base=[])


def sends(*frames):
    return lambda raw: raw.send(b"".join(frames))


def after(begin, *then):
    """One thing after another."""
    def run(raw):
        for each in (begin, *then):
            each(raw)

    return run


def without(name):
    return [(key, value) for key, value in GET if key != name]


open_post = head(base=POST, flags=END_HEADERS)


def of_stream(code):
    return "stream", code


def of_connection(code):
    return "connection", code


TAKEN = ("status", 200)
malformed = of_stream(PROTOCOL_ERROR)
broken = of_connection(PROTOCOL_ERROR)
too_long = of_connection(FRAME_SIZE_ERROR)

CASES = {
    # 8.2: fields
    "a name in capitals": (only(*GET, ("X-Own", "1")), malformed),
    "a name with one capital": (head(("x-oWn", "1")), malformed),
    "an empty name": (head(("", "1")), malformed),
    "a name with a blank": (head(("x own", "1")), malformed),
    "a name with a colon": (head(("x:own", "1")), malformed),
    "a name with CR": (head(("x\r", "1")), malformed),
    "a name with LF": (head(("x\n", "1")), malformed),
    "a name with NUL": (head(("x\0", "1")), malformed),
    "a name with DEL": (head(("x\x7f", "1")), malformed),
    "a name with eight bits": (head(("x\u00e9", "1")), malformed),
    "a name with a tab": (head(("x\t", "1")), malformed),
    "a name with a bracket": (head(("x(", "1")), malformed),
    "a name with a comma": (head(("x,", "1")), malformed),
    "a name with a slash": (head(("x/", "1")), malformed),
    "a value with CR": (head(("x", "a\rb")), malformed),
    "a value with LF": (head(("x", "a\nb")), malformed),
    "a value with CRLF and a field": (head(("x", "a\r\ntransfer-encoding: chunked")), malformed),
    "a value with a whole request": (head(("x", "a\r\n\r\nGET /evil HTTP/1.1\r\nhost: app.example\r\n\r\n")), malformed),
    "a value with NUL": (head(("x", "a\0b")), malformed),
    "a value with a bell": (head(("x", "a\x07b")), malformed),
    "a value with DEL": (head(("x", "a\x7fb")), malformed),
    "a value that begins with a blank": (head(("x", " a")), malformed),
    "a value that ends with a blank": (head(("x", "a ")), malformed),
    "a value that begins with a tab": (head(("x", "\ta")), malformed),
    "a value that ends with a tab": (head(("x", "a\t")), malformed),
    "connection": (head(("connection", "close")), malformed),
    "connection, empty": (head(("connection", "")), malformed),
    "keep-alive": (head(("keep-alive", "1")), malformed),
    "proxy-connection": (head(("proxy-connection", "keep-alive")), malformed),
    "transfer-encoding: chunked": (head(("transfer-encoding", "chunked")), malformed),
    "transfer-encoding: identity": (head(("transfer-encoding", "identity")), malformed),
    "upgrade: h2c": (head(("upgrade", "h2c")), malformed),
    "upgrade: websocket": (head(("upgrade", "websocket")), malformed),
    "te: gzip": (head(("te", "gzip")), malformed),
    "te: trailers, gzip": (head(("te", "trailers, gzip")), malformed),
    "te: trailers": (head(("te", "trailers")), ("status", 200)),
    # 8.3: pseudo-fields
    "no method": (only(*without(":method")), malformed),
    "no scheme": (only(*without(":scheme")), malformed),
    "no path": (only(*without(":path")), malformed),
    "no authority and no host": (only(*without(":authority")), malformed),
    "a host alone": (only(*without(":authority"), ("host", "app.example")), ("status", 200)),
    "a host that is the authority": (head(("host", "app.example")), ("status", 200)),
    "a host that is another": (head(("host", "evil.example")), malformed),
    "a host with another port": (head(("host", "app.example:81")), malformed),
    "two hosts": (head(("host", "app.example"), ("host", "app.example")), malformed),
    "nothing at all": (only(), malformed),
    "an empty method": (only((":method", ""), *GET[1:]), malformed),
    "an empty path": (only(*without(":path"), (":path", "")), malformed),
    "two methods": (only((":method", "GET"), *GET), malformed),
    "two paths": (only(*GET, (":path", "/evil")), malformed),
    "two schemes": (only(*GET, (":scheme", "http")), malformed),
    "two authorities": (only(*GET, (":authority", "app.example")), malformed),
    "a status": (only((":status", "200"), *GET), malformed),
    "an unknown pseudo-field": (only((":evil", "1"), *GET), malformed),
    "a protocol, which was not offered": (only((":protocol", "websocket"), *GET), malformed),
    "a pseudo-field behind a field": (only(*GET[:3], ("x", "1"), GET[3]), malformed),
    "a path without a slash": (only(*without(":path"), (":path", "evil")), malformed),
    "a path that is a URL": (only(*without(":path"), (":path", "http://app.example/")), malformed),
    "an asterisk of GET": (only(*without(":path"), (":path", "*")), malformed),
    "a path with a blank": (only(*without(":path"), (":path", "/a b")), malformed),
    "a path with a request line": (only(*without(":path"), (":path", "/ HTTP/1.1\r\nx: y")), malformed),
    "a path with a fragment": (only(*without(":path"), (":path", "/#a")), ("status", 400)),
    "a path with dots": (only(*without(":path"), (":path", "/a/../b")), ("status", 400)),
    "a path with an encoded NUL": (only(*without(":path"), (":path", "/%00")), ("status", 400)),
    "a method with a blank": (only((":method", "GET /evil"), *GET[1:]), malformed),
    "a method with CRLF": (only((":method", "GET / HTTP/1.1\r\nx:"), *GET[1:]), malformed),
    "an authority with a user": (only(*without(":authority"), (":authority", "a@app.example")), ("status", 400)),
    "an authority with a path": (only(*without(":authority"), (":authority", "app.example/x")), malformed),
    "an authority with CRLF": (only(*without(":authority"), (":authority", "app.example\r\nx: y")), malformed),
    "CONNECT": (only((":method", "CONNECT"), (":authority", "app.example:80")), ("status", 400)),
    "CONNECT with a path": (only((":method", "CONNECT"), *GET[1:]), malformed),
    # 8.1.1: lengths
    "a length without a body": (head(("content-length", "5")), malformed),
    "a length that is none": (head(("content-length", "x")), malformed),
    "a length with a sign": (head(("content-length", "+0")), malformed),
    "a negative length": (head(("content-length", "-1")), malformed),
    "two lengths": (head(("content-length", "0"), ("content-length", "0")), malformed),
    "a list of lengths": (head(("content-length", "0, 0")), malformed),
    "a length that is too large": (head(("content-length", "99999999999999999999")), malformed),
    "a body that is too long": (after(head(("content-length", "3"), base=POST, flags=END_HEADERS),
                                      sends(frame(DATA, END_STREAM, 1, b"hello"))), malformed),
    "a body that is too short": (after(head(("content-length", "7"), base=POST, flags=END_HEADERS),
                                       sends(frame(DATA, END_STREAM, 1, b"hello"))), malformed),
    # The application does not answer, or it might before the second frame is read.
    "a body that goes on": (after(head(("content-length", "5"), ("x", "slow"), base=POST, flags=END_HEADERS),
                                  sends(frame(DATA, 0, 1, b"hello"), frame(DATA, END_STREAM, 1, b"!"))), malformed),
    # trailers
    "trailers that do not end": (after(open_post, head(("x", "1"), base=[], flags=END_HEADERS)), malformed),
    "a pseudo-field among trailers": (after(open_post, only((":path", "/evil"))), malformed),
    "a connection field among trailers": (after(open_post, only(("connection", "close"))), malformed),
    "CRLF among trailers": (after(open_post, only(("x", "a\r\nb"))), malformed),
    # 3.4: the preface
    # 4.1: frames
    "a frame of unknown type": (after(sends(frame(77, 255, 0, b"hello")), head()), ("status", 200)),
    "an unknown frame on a stream": (after(open_post, sends(frame(77, 0, 1, b"x"), frame(DATA, END_STREAM, 1, b"x"))),
                                     ("status", 200)),
    "a frame that is too large": (sends(frame(DATA, 0, 1, b"", length=16_385)), too_long),
    "a head that is too large for a frame": (sends(frame(HEADERS, END_HEADERS, 1, b"", length=20_000)), too_long),
    "a reserved bit": (lambda raw: raw.send(frame(HEADERS, END_HEADERS | END_STREAM, 0x80000001, raw.block(GET))),
                       ("status", 200)),
    # 4.3: compression
    "an index of nothing": (sends(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\x0f")),
                            of_connection(COMPRESSION_ERROR)),
    "index zero": (sends(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x80")), of_connection(COMPRESSION_ERROR)),
    "a table beyond what is allowed": (sends(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x3f\xff\xff\x7f")),
                                       of_connection(COMPRESSION_ERROR)),
    "a string that is cut": (sends(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x40\x0aabc")),
                             of_connection(COMPRESSION_ERROR)),
    "bad Huffman code": (sends(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x40\x84\xff\xff\xff\xff\x01a")),
                         of_connection(COMPRESSION_ERROR)),
    "a table that grows behind a field": (lambda raw: raw.send(frame(HEADERS, END_HEADERS | END_STREAM, 1,
                                                                     raw.block(GET) + b"\x20")),
                                          of_connection(COMPRESSION_ERROR)),
    # 5.1: states
    "DATA on an idle stream": (sends(frame(DATA, END_STREAM, 1, b"x")), broken),
    "RST_STREAM on an idle stream": (sends(frame(RST_STREAM, 0, 1, number(CANCEL))), broken),
    "WINDOW_UPDATE on an idle stream": (sends(frame(WINDOW_UPDATE, 0, 1, number(1))), broken),
    "CONTINUATION on an idle stream": (sends(frame(CONTINUATION, END_HEADERS, 1, b"")), broken),
    "DATA on a stream that is half closed": (after(head(("x", "slow")), sends(frame(DATA, 0, 1, b"x"))),
                                             of_connection(STREAM_CLOSED)),
    "HEADERS on a stream that is half closed": (after(head(("x", "slow")), head()), of_connection(STREAM_CLOSED)),
    "an even stream": (head(stream=2), broken),
    "stream zero": (head(stream=0), broken),
    # 6.1: DATA
    "DATA on stream zero": (sends(frame(DATA, 0, 0, b"x")), broken),
    "padding longer than DATA": (after(open_post, sends(frame(DATA, PADDED, 1, b"\x05abc"))), broken),
    "padding as long as DATA": (after(open_post, sends(frame(DATA, PADDED, 1, b"\x04abc"))), broken),
    "padded DATA": (after(open_post, sends(frame(DATA, PADDED | END_STREAM, 1, b"\x02ab\0\0"))), ("status", 200)),
    "padded DATA without a length": (after(open_post, sends(frame(DATA, PADDED, 1, b""))), broken),
    # 6.2: HEADERS
    "padding longer than HEADERS": (sends(frame(HEADERS, END_HEADERS | PADDED, 1, b"\xff\x82")), broken),
    "a priority that is cut": (sends(frame(HEADERS, END_HEADERS | HAS_PRIORITY, 1, b"\0\0")), too_long),
    "HEADERS within another head": (after(head(flags=END_STREAM), head(stream=3)), broken),
    "DATA within a head": (after(head(flags=0), sends(frame(DATA, 0, 1, b"x"))), broken),
    "PING within a head": (after(head(flags=0), sends(ping())), broken),
    "an unknown frame within a head": (after(head(flags=0), sends(frame(77, 0, 1, b"x"))), broken),
    # 6.3: PRIORITY
    "PRIORITY that is too short": (sends(frame(PRIORITY, 0, 1, b"\0" * 4)), too_long),
    # 6.4: RST_STREAM
    "RST_STREAM on stream zero": (sends(frame(RST_STREAM, 0, 0, number(0))), broken),
    "RST_STREAM that is too short": (after(open_post, sends(frame(RST_STREAM, 0, 1, b"\0" * 3))), too_long),
    "RST_STREAM that is too long": (after(open_post, sends(frame(RST_STREAM, 0, 1, b"\0" * 5))), too_long),
    # 6.5: SETTINGS
    "SETTINGS on a stream": (sends(frame(SETTINGS, 0, 1)), broken),
    "SETTINGS of an odd length": (sends(frame(SETTINGS, 0, 0, b"\0" * 5)), too_long),
    "SETTINGS that acknowledge and set": (sends(frame(SETTINGS, ACK, 0, setting(3, 1))), too_long),
    "ENABLE_PUSH of 2": (sends(frame(SETTINGS, 0, 0, setting(2, 2))), broken),
    "a window beyond 2^31": (sends(frame(SETTINGS, 0, 0, setting(4, 1 << 31))), of_connection(FLOW_CONTROL_ERROR)),
    "frames below 2^14": (sends(frame(SETTINGS, 0, 0, setting(5, 16_383))), broken),
    "frames beyond 2^24": (sends(frame(SETTINGS, 0, 0, setting(5, 1 << 24))), broken),
    "an unknown setting": (after(sends(frame(SETTINGS, 0, 0, setting(0xfff, 1))), head()), ("status", 200)),
    # 6.6: PUSH_PROMISE
    "PUSH_PROMISE of a client": (sends(frame(PUSH_PROMISE, END_HEADERS, 1, number(2))), broken),
    # 6.7: PING
    "PING on a stream": (sends(frame(PING, 0, 1, b"\0" * 8)), broken),
    "PING that is too short": (sends(frame(PING, 0, 0, b"\0" * 7)), too_long),
    "PING that is too long": (sends(frame(PING, 0, 0, b"\0" * 9)), too_long),
    # 6.8: GOAWAY
    "GOAWAY on a stream": (sends(frame(GOAWAY, 0, 1, b"\0" * 8)), broken),
    "GOAWAY that is too short": (sends(frame(GOAWAY, 0, 0, b"\0" * 7)), too_long),
    # 6.9: WINDOW_UPDATE
    "a window that grows by nothing": (sends(frame(WINDOW_UPDATE, 0, 0, number(0))), broken),
    "a stream's window that grows by nothing": (after(head(("x", "slow")), sends(frame(WINDOW_UPDATE, 0, 1, number(0)))),
                                                broken),
    "WINDOW_UPDATE that is too short": (sends(frame(WINDOW_UPDATE, 0, 0, b"\0" * 3)), too_long),
    "a window that overflows": (sends(frame(WINDOW_UPDATE, 0, 0, number((1 << 31) - 1)) * 2),
                                of_connection(FLOW_CONTROL_ERROR)),
    "a stream's window that overflows": (after(head(("x", "slow")), sends(frame(WINDOW_UPDATE, 0, 1, number((1 << 31) - 1)))),
                                         of_stream(FLOW_CONTROL_ERROR)),
    # 6.10: CONTINUATION
    "CONTINUATION on stream zero": (after(head(flags=0), sends(frame(CONTINUATION, END_HEADERS, 0))), broken),
    "CONTINUATION of another stream": (after(head(flags=0), sends(frame(CONTINUATION, END_HEADERS, 3))), broken),
    "CONTINUATION behind a whole head": (after(head(("x", "slow")), sends(frame(CONTINUATION, END_HEADERS, 1))), broken),
    "a head in two frames": (lambda raw: (lambda block: raw.send(
        frame(HEADERS, END_STREAM, 1, block[:5]) + frame(CONTINUATION, END_HEADERS, 1, block[5:])))(raw.block(GET)),
        ("status", 200)),
    "a head in empty frames": (lambda raw: raw.send(frame(HEADERS, END_STREAM, 1, b"") + frame(CONTINUATION, 0, 1) +
                                                    frame(CONTINUATION, END_HEADERS, 1, raw.block(GET))), ("status", 200)),
    # what is allowed, at the edges
    "trailers": (after(open_post, sends(frame(DATA, 0, 1, b"x")), head(("x-own", "1"), base=[])), TAKEN),
    "an empty DATA that ends": (after(open_post, sends(frame(DATA, END_STREAM, 1, b""))), TAKEN),
    "flags that are not known": (head(flags=END_HEADERS | END_STREAM | 0x40), TAKEN),
    "padded HEADERS": (lambda raw: (lambda block: raw.send(
        frame(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, b"\x03" + block + b"\0" * 3)))(raw.block(GET)), TAKEN),
    "HEADERS with a priority": (lambda raw: raw.send(
        frame(HEADERS, END_HEADERS | END_STREAM | HAS_PRIORITY, 1, b"\0\0\0\0\x10" + raw.block(GET))), TAKEN),
    "a table of no bytes": (after(sends(frame(SETTINGS, 0, 0, setting(1, 0))), head()), TAKEN),
    "the largest window": (after(sends(frame(SETTINGS, 0, 0, setting(4, (1 << 31) - 1))), head()), TAKEN),
    "the largest frames": (after(sends(frame(SETTINGS, 0, 0, setting(5, (1 << 24) - 1))), head()), TAKEN),
    "one setting twice": (after(sends(frame(SETTINGS, 0, 0, setting(3, 1) + setting(3, 100))), head()), TAKEN),
    "a SETTINGS of nothing": (after(sends(frame(SETTINGS, 0, 0)), head()), TAKEN),
    "an answer to no PING": (after(sends(frame(PING, ACK, 0, b"\0" * 8)), head()), TAKEN),
    "a frame of the largest size": (after(open_post, sends(frame(DATA, END_STREAM, 1, b"x" * 16_384))), TAKEN),
    "crumbs of a cookie": (head(("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3")), TAKEN),
    "OPTIONS of everything": (only((":method", "OPTIONS"), *without(":path")[1:], (":path", "*")), TAKEN),
    "another scheme": (only(*without(":scheme"), (":scheme", "https")), TAKEN),
    # within a head nothing else comes
    "SETTINGS within a head": (after(head(flags=0), sends(frame(SETTINGS, 0, 0))), broken),
    "RST_STREAM within a head": (after(head(flags=0), sends(frame(RST_STREAM, 0, 1, number(CANCEL)))), broken),
    "WINDOW_UPDATE within a head": (after(head(flags=0), sends(frame(WINDOW_UPDATE, 0, 0, number(1)))), broken),
    "GOAWAY within a head": (after(head(flags=0), sends(frame(GOAWAY, 0, 0, b"\0" * 8))), broken),
    "PRIORITY within a head": (after(head(flags=0), sends(frame(PRIORITY, 0, 1, b"\0" * 5))), broken),
    "trailers with a name in capitals": (after(open_post, only(("X-Own", "1"))), malformed),
    "trailers with a length, which is dropped": (after(open_post, only(("content-length", "0"))), TAKEN),
    "trailers with transfer-encoding": (after(open_post, only(("transfer-encoding", "chunked"))), malformed),
    "ENABLE_PUSH of 2^32 - 1": (sends(frame(SETTINGS, 0, 0, setting(2, (1 << 32) - 1))), broken),
    "an ACK of SETTINGS with a byte": (sends(frame(SETTINGS, ACK, 0, b"\0")), too_long),
    # limits
    "a target that is too long": (only(*without(":path"), (":path", "/" + "a" * 9_000)), ("status", 400)),
    "too many fields": (head(*[(f"x{n}", "1") for n in range(150)]), ("status", 400)),
    "a head of 40 kB": (lambda raw: (lambda block: raw.send(b"".join(
        [frame(HEADERS, END_STREAM, 1, block[:16_000]), frame(CONTINUATION, 0, 1, block[16_000:32_000]),
         frame(CONTINUATION, END_HEADERS, 1, block[32_000:])])))(raw.block([*GET, *[(f"x{n}", "a" * 4_000) for n in range(10)]])),
        ("status", 400)),
}


@pytest.fixture(scope="module")
def shared(sluice, tmp_path_factory):
    """One router for all cases: none of them may harm the next one."""
    def script(connection, stream):
        while True:
            message = wire.read_request(stream)
            if message.get("x") == "slow":
                stream.more()  # until it ends
            behind.note(message)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    behind = upstreams.Upstream(script)
    running = router_process.Router(sluice, tmp_path_factory.mktemp("frames"))
    running.start(table(deployment(revision("r1", 10000, behind.address))), "--threads", "1")
    running.behind = behind
    yield running
    running.stop()
    behind.stop()


@pytest.mark.parametrize("name", CASES)
def test_each_case_ends_as_the_standard_says(shared, name):
    run, expected = CASES[name]
    before = len(shared.behind.requests)
    with Raw(shared.endpoint) as raw:
        run(raw)
        assert raw.outcome(1) == expected
        if expected[0] == "stream":
            assert raw.lives(7), "an error of a stream ended the connection"
    if expected[0] == "connection":
        with Raw(shared.endpoint) as raw:
            assert raw.lives(1)
    if expected == malformed and "window" not in name:
        reached = shared.behind.requests[before:]
        assert all(message.target == "/" and not message.body for message in reached), "it reached the application"


@pytest.mark.parametrize("preface", [PREFACE[:-1] + b"x", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", b"PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n"])
def test_a_preface_that_is_none_is_refused(shared, preface):
    with Raw(shared.endpoint, preface=preface) as raw:
        came = raw.stream.rest()
        assert b"400 Bad Request" in came


@pytest.mark.parametrize("ignored", [frame(PRIORITY, 0, 0, b"\0" * 5), frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") * 5_000,
                                     frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x82\x86\x84\x01\x01a")])
def test_what_is_passed_over(shared, ignored):
    """Priorities are not taken, which SETTINGS_NO_RFC7540_PRIORITIES has said; and a stream below the last one counts as
    over, whose frames may have been on their way."""
    before = len(shared.behind.requests)
    with Raw(shared.endpoint) as raw:
        raw.ask(5)
        assert raw.outcome(5) == ("status", 200)
        raw.send(ignored)
        assert raw.lives(7)
    assert len(shared.behind.requests) == before + 2


def flood(raw, piece, most=30_000):
    """Sends the same until the other end has had enough; the error of its GOAWAY."""
    raw.sock.settimeout(60)
    for _ in range(most // 100):
        raw.send(piece(100))
    kind, code = raw.outcome(0)
    assert kind == "connection"
    return code


FLOODS = {
    "PING": lambda raw: lambda count: ping() * count,
    "SETTINGS": lambda raw: lambda count: frame(SETTINGS, 0, 0, setting(3, 100)) * count,
    "empty DATA": lambda raw: lambda count: frame(DATA, 0, 1) * count,
}


@pytest.mark.parametrize("kind", FLOODS)
def test_frames_that_carry_nothing_end_the_connection(shared, kind):
    with Raw(shared.endpoint) as raw:
        open_post(raw)
        assert flood(raw, FLOODS[kind](raw)) == ENHANCE_YOUR_CALM
    with Raw(shared.endpoint) as raw:
        assert raw.lives(1)


@pytest.mark.parametrize("how", ["reset", "provoked"])
def test_rapid_resets_end_the_connection(shared, how):
    with Raw(shared.endpoint) as raw:
        stream = -1

        def piece(count):
            nonlocal stream
            data = b""
            for _ in range(count):
                stream += 2
                if how == "reset":
                    data += frame(HEADERS, END_HEADERS | END_STREAM, stream, raw.block(GET))
                    data += frame(RST_STREAM, 0, stream, number(CANCEL))
                else:
                    data += frame(HEADERS, END_HEADERS | END_STREAM, stream, raw.block([*GET, ("connection", "close")]))
            return data

        assert flood(raw, piece, 4_000) == ENHANCE_YOUR_CALM
    with Raw(shared.endpoint) as raw:
        assert raw.lives(1)


def test_a_head_that_never_ends_ends_the_connection(shared):
    with Raw(shared.endpoint) as raw:
        raw.send(frame(HEADERS, END_STREAM, 1, raw.block(GET)))
        for _ in range(200):
            raw.send(frame(CONTINUATION, 0, 1, b""))
        kind, code = raw.outcome(1)
        assert kind in ("connection", "closed") and code in (PROTOCOL_ERROR, ENHANCE_YOUR_CALM, 2, None)
    with Raw(shared.endpoint) as raw:
        assert raw.lives(1)


def test_a_compressed_bomb_takes_no_memory(shared):
    before = rss_kb(shared.worker_pid())
    with Raw(shared.endpoint) as raw:
        field = raw.encoder.encode([("x-bomb", "a" * 4_000)], huffman=False)  # takes its place in the table
        first = raw.block(GET) + field
        raw.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, first))
        assert raw.outcome(1)[0] in ("status", "stream")
        for stream in range(3, 63, 2):  # each is 60 MB, written in 15 kB
            raw.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, raw.block(GET) + b"\xbe" * 15_000))
            assert raw.outcome(stream) in [("status", 400), ("stream", PROTOCOL_ERROR), ("stream", ENHANCE_YOUR_CALM),
                                           ("connection", COMPRESSION_ERROR), ("connection", ENHANCE_YOUR_CALM), ("closed", None)]
    assert rss_kb(shared.worker_pid()) - before < 20_000


def test_windows_of_nothing_take_no_memory_and_keep_nobody_waiting(router, fast):
    """Who takes no byte of an answer has it wait at its application."""
    running = router(table(deployment(revision("r1", 10000, fast("r1").address))), "--threads", "1")
    answer = wire.ask(running.endpoint, target="/b/1/1000000")
    assert (answer.status, len(answer.body)) == (200, 1_000_000)
    before, opened = rss_kb(running.worker_pid()), []
    try:
        for _ in range(5):
            raw = Raw(running.endpoint, settings={4: 0})
            opened.append(raw)
            for stream in range(1, 200, 2):
                raw.ask(stream, [*GET[:2], (":path", "/b/1/1000000"), GET[3]])
            heads = set()
            while len(heads) < 100:
                came = raw.frame()
                assert not isinstance(came, DataFrame)
                if isinstance(came, HeadersFrame):
                    heads.add(came.stream_id)
        assert rss_kb(running.worker_pid()) - before < 60_000
        assert len(wire.ask(running.endpoint, target="/b/1/1000000").body) == 1_000_000
    finally:
        for raw in opened:
            raw.sock.close()


# --- what is hostile in HTTP/1.1, as HTTP/2 ----------------------------------------------------------------------------

HOSTILE = sorted((Path(__file__).parent / "hostile").glob("*.http"))


def as_fields(data):
    """The lines of a head as fields, however wrong, and what is behind it."""
    top, _, body = data.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").lstrip("\r\n").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    target = rest.rpartition(" ")[0]
    fields = [(":method", method), (":scheme", "http"), (":path", target)]
    for line in lines[1:]:
        name, _, value = line.partition(":")
        # A blank behind the colon is no part of a value; whatever else there is stays.
        fields.append((name.lower(), value.removeprefix(" ")))
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields], body[:16_000]


@pytest.mark.parametrize("batch", range(8))
def test_what_is_hostile_in_http_1_smuggles_nothing(shared, batch):
    """Some of it means nothing here, such as another version; none becomes two requests, or another than was sent."""
    for path in HOSTILE[batch::8]:
        fields, body = as_fields(path.read_bytes())
        shared.behind.forget()
        with Raw(shared.endpoint) as raw:
            block = raw.block(fields)
            raw.send(frame(HEADERS, 0 if len(block) > 16_000 else END_HEADERS, 1, block[:16_000]))
            for at in range(16_000, len(block), 16_000):
                raw.send(frame(CONTINUATION, END_HEADERS if at + 16_000 >= len(block) else 0, 1, block[at:at + 16_000]))
            raw.send(frame(DATA, END_STREAM, 1, body))
            outcome = raw.outcome(1)
        assert outcome[0] != "status" or outcome[1] in (200, 400, 404, 417), (path.stem, outcome)
        reached = shared.behind.requests
        if outcome[0] != "status":
            assert reached == [], path.stem
        assert len(reached) <= 1, path.stem
        for message in reached:
            assert message.body == body and message.method.encode() == fields[0][1], path.stem
            for name in ("Connection", "Keep-Alive", "Proxy-Connection", "Upgrade", "TE"):
                assert message.get(name) is None, path.stem


# --- beside HAProxy --------------------------------------------------------------------------------------------------

HAPROXY = """
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend in
  bind unix@{folder}/haproxy.sock proto h2
  default_backend out
backend out
  server one {upstream}
"""

# Where HAProxy 2.6 does otherwise, and why the router does not.
OTHERWISE = {
    # RFC 9113, 8.2.1 forbids control characters in a value, and blanks at its ends; HAProxy refuses CR, LF and NUL alone.
    **dict.fromkeys(["a value with a bell", "a value with DEL", "a value that begins with a blank", "a value that ends with a blank",
                     "a value that begins with a tab", "a value that ends with a tab"], TAKEN),
    # HAProxy takes the authority and drops the Host; who stands behind another proxy would have seen the other one.
    **dict.fromkeys(["a host that is another", "a host with another port", "two hosts"], TAKEN),
    # 8.3.1: a request has an authority or a Host; the authority has no user.
    **dict.fromkeys(["no authority and no host", "an authority with a user", "an authority with a path"], TAKEN),
    # 8.1.1: a length that is not that of the body is malformed, and of several one cannot tell which counts.
    **dict.fromkeys(["a length without a body", "two lengths", "a list of lengths"], TAKEN),
    # The router's own rules for HTTP/1.1, which hold here, too.
    **dict.fromkeys(["a path with dots", "a path with an encoded NUL", "a target that is too long", "too many fields", "CONNECT"], TAKEN),
    # 8.3.1: an asterisk is of OPTIONS; 8.5 and RFC 8441: :protocol only where it was offered.
    **dict.fromkeys(["an asterisk of GET", "a protocol, which was not offered"], TAKEN),
    # Refused by both, at another level: what the standard calls malformed is an error of the stream, and may be one of the
    # connection.
    "an empty name": of_connection(COMPRESSION_ERROR),
    "nothing at all": of_connection(FRAME_SIZE_ERROR),
    "a path with a fragment": malformed,
    "a method with a blank": ("status", 400),
    "trailers that do not end": broken,
    **dict.fromkeys(["a pseudo-field among trailers", "a connection field among trailers", "CRLF among trailers",
                     "trailers with a name in capitals", "trailers with transfer-encoding",
                     "trailers with a length, which is dropped"], of_stream(2)),
    "HEADERS on a stream that is half closed": broken,
    "DATA on a stream that is half closed": of_stream(STREAM_CLOSED),
    "padded DATA without a length": too_long,
    "a stream's window that grows by nothing": malformed,
    "a head of 40 kB": of_connection(2),
    # Both are allowed: 6.1 and 6.10. HAProxy does not take them.
    "padded DATA": broken,
    "a head in empty frames": of_connection(FRAME_SIZE_ERROR),
}


def test_haproxy_does_the_same_or_is_known_not_to(shared, tmp_path, eventually):
    (tmp_path / "haproxy.cfg").write_text(HAPROXY.format(folder=tmp_path, upstream=shared.behind.address.removeprefix("tcp:")))
    with open(tmp_path / "haproxy.log", "w") as log:
        running = subprocess.Popen(["/usr/sbin/haproxy", "-db", "-f", str(tmp_path / "haproxy.cfg")], stdout=log, stderr=log)
    try:
        eventually((tmp_path / "haproxy.sock").exists, "HAProxy did not start")
        found = {}
        for name, (run, expected) in CASES.items():
            with Raw(f"unix:{tmp_path}/haproxy.sock") as raw:
                run(raw)
                outcome = raw.outcome(1)
                if outcome != expected:
                    found[name] = outcome
        assert found == OTHERWISE
    finally:
        running.terminate()
        running.wait(60)
