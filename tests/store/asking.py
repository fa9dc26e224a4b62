"""Asks a control plane at its home's socket, as its owner."""

import http.client
import json
import socket


def request(plane, method, target, body=None, headers=None):
    connection = http.client.HTTPConnection("sluice", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    try:
        connection.sock.connect(str(plane.home / "run/sluice.sock"))
        connection.request(method, target, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()
