"""A chat room over WebSocket (RFC 6455): what one says, everybody in the room hears. GET /health answers 200."""

import asyncio
import base64
import hashlib
import os
import signal
import struct

KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
MOST_HEAD_BYTES = 16 << 10
MOST_MESSAGE_BYTES = 64 << 10
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
SERVICE_RESTART, TOO_BIG, PROTOCOL_ERROR = 1012, 1009, 1002

room = set()


def frame(kind, payload):
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | kind, size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", 0x80 | kind, 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 127, size)
    return head + payload


def close_frame(code):
    return frame(CLOSE, struct.pack("!H", code))


class Refused(Exception):
    """The connection ends with this code."""


async def read_frame(reader):
    first, second = await reader.readexactly(2)
    if first & 0x70 or not first & 0x80 or not second & 0x80:
        raise Refused(PROTOCOL_ERROR)  # fragments and extensions are not spoken here; clients mask
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack("!Q", await reader.readexactly(8))
    if size > MOST_MESSAGE_BYTES:
        raise Refused(TOO_BIG)
    mask = await reader.readexactly(4)
    payload = await reader.readexactly(size)
    return first & 0x0F, bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


async def chat(reader, writer):
    room.add(writer)
    try:
        while True:
            kind, payload = await read_frame(reader)
            if kind == TEXT:
                for each in list(room):
                    each.write(frame(TEXT, payload))
                await asyncio.gather(*(each.drain() for each in list(room)), return_exceptions=True)
            elif kind == PING:
                writer.write(frame(PONG, payload))
            elif kind == CLOSE:
                writer.write(frame(CLOSE, payload[:2]))
                return
    except Refused as refused:
        writer.write(close_frame(refused.args[0]))
    finally:
        room.discard(writer)


async def serve(reader, writer):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        key = headers.get("sec-websocket-key")
        if key and headers.get("upgrade", "").lower() == "websocket":
            accept = base64.b64encode(hashlib.sha1((key + KEY_SUFFIX).encode()).digest()).decode()
            writer.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
            await chat(reader, writer)
        else:
            body = b"chat 1.0.0\n"
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]), limit=MOST_HEAD_BYTES)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    server.close()
    for each in list(room):
        each.write(close_frame(SERVICE_RESTART))
        await each.drain()


asyncio.run(main())
