"""HTTP/2 as frames on a socket: what the tests send, and what came. Frames are written by hyperframe and heads by hpack, so
that every frame can be wrong."""

import struct

import wire
from hpack import Decoder, Encoder
from hyperframe.frame import (ContinuationFrame, DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame,
                              SettingsFrame, WindowUpdateFrame)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR, \
    REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM = range(12)

GET = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "app.example")]
POST = [(":method", "POST"), *GET[1:]]


def frame(kind, flags, stream, payload=b"", length=None):
    """Any frame at all."""
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Raw:
    """A connection of frames."""

    def __init__(self, endpoint, sock=None, settings=None, preface=PREFACE):
        self.sock = sock or wire.connect(endpoint)
        self.stream = wire.Stream(self.sock)
        self.encoder, self.decoder = Encoder(), Decoder()
        self.send(preface)
        if settings is not False:
            self.send(SettingsFrame(0, settings=settings or {}).serialize())

    def send(self, data):
        try:
            self.sock.sendall(data)
        except ConnectionError:
            pass  # what was answered before is still to be read

    def block(self, fields):
        return self.encoder.encode(fields, huffman=False)

    def head(self, stream, fields, *flags):
        made = HeadersFrame(stream, self.block(fields), flags=["END_HEADERS", *flags])
        self.send(made.serialize())

    def ask(self, stream, fields=GET):
        self.head(stream, fields, "END_STREAM")

    def data(self, stream, content, *flags):
        self.send(DataFrame(stream, content, flags=list(flags)).serialize())

    def frame(self):
        """The next frame; nothing at the end."""
        try:
            header = self.stream.take(9)
        except wire.Ended as ended:
            assert "nothing came" not in str(ended)
            return None
        made, size = Frame.parse_frame_header(memoryview(header))
        made.parse_body(memoryview(self.stream.take(size)))
        if isinstance(made, SettingsFrame) and "ACK" not in made.flags:
            self.send(SettingsFrame(0, flags=["ACK"]).serialize())
        if isinstance(made, (HeadersFrame, ContinuationFrame)):
            made.fields = self.decoder.decode(made.data)
        return made

    def outcome(self, stream):
        """What becomes of a stream: ("status", N), or ("stream" or "connection", its error), or ("closed", None)."""
        while True:
            came = self.frame()
            if came is None:
                return "closed", None
            if isinstance(came, GoAwayFrame):
                return "connection", came.error_code
            if isinstance(came, RstStreamFrame) and came.stream_id == stream:
                return "stream", came.error_code
            if isinstance(came, HeadersFrame) and came.stream_id == stream and not came.fields[0][1].startswith("1"):
                return "status", int(came.fields[0][1])

    def answer(self, stream):
        """A whole answer: status, fields, body, trailers."""
        status, fields, body, trailers = None, {}, b"", {}
        while True:
            came = self.frame()
            assert came is not None and not isinstance(came, GoAwayFrame), came
            if came.stream_id != stream:
                continue
            assert not isinstance(came, RstStreamFrame), came
            if isinstance(came, HeadersFrame):
                if status is None:
                    fields = dict(came.fields)
                    status = int(fields[":status"])
                    if status < 200:
                        status = None
                        continue
                else:
                    trailers = dict(came.fields)
            if isinstance(came, DataFrame):
                body += came.data
                if came.data and "END_STREAM" not in came.flags:
                    self.send(WindowUpdateFrame(0, window_increment=len(came.data)).serialize() +
                              WindowUpdateFrame(stream, window_increment=len(came.data)).serialize())
            if "END_STREAM" in came.flags:
                return status, fields, body, trailers

    def lives(self, stream):
        """Whether the connection still answers."""
        self.ask(stream)
        return self.outcome(stream) == ("status", 200)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()


def ping(data=b"\0" * 8, **more):
    return PingFrame(0, data, **more).serialize()
