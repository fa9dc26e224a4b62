"""A vertex for tests: the data plane of a mesh over plain TCP, without encryption, just enough to show that what passes is
what the set allows. Started by the agent as `vertex.py FOLDER NAME`.

A mesh vertex offers SOCKS5 for its principals, sends each stream along the labels of its ctrl artifact, hop by hop, and
hands it to the upstream of the service at the end. Whoever dials writes one line first: which vertex it is, and the
label. A link vertex only answers the agent."""

import contextlib
import json
import os
import socket
import sys
import threading
from pathlib import Path

NAME = sys.argv[2]


def rules(entries):
    return {(each["target"], who) for each in entries or [] for who in each["allow"]}


class Set:
    """What the artifacts of one set say, as tables."""

    def __init__(self, folder):
        folder = Path(folder)
        mgmt = json.loads((folder / "mgmt/vertices" / f"{NAME}.json").read_text())
        self.version, self.node, self.payload = mgmt["version"], mgmt["node"], mgmt["payload"]
        self.id = f"{mgmt['signature']['key_id'].split('/management-plane')[0]}/vertex/{self.node}/{NAME}"
        self.ingress, self.egress = rules(self.payload.get("ingress")), rules(self.payload.get("egress"))
        self.upstreams = {w["spiffe_id"]: io["upstream"] for w in self.payload["workloads"] for io in w["io"]
                          if io["kind"] == "tcp"}
        self.listens = {io["listen"]: w["spiffe_id"] for w in self.payload["workloads"] for io in w["io"]
                        if io["kind"] == "socks5"}
        if self.payload["kind"] == "link":
            return
        ctrl = json.loads((folder / "ctrl/vertices" / f"{NAME}.json").read_text())
        self.ctrl_version, self.ctrl = ctrl["version"], ctrl["payload"]
        self.links, self.wires = {}, []
        below = {a["name"]: json.loads((folder / "mgmt/vertices" / f"{a['name']}.json").read_text())["payload"]
                 for a in self.payload["connection_manager"]["adapters"] if a["type"] == "florio"}
        for name, link in below.items():
            self.wires += [a["listen"] for a in link["connection_manager"]["adapters"] if "listen" in a]
        for rule in self.payload["links"]:
            for member in rule["members"]:
                link = below[member["via"]["adapter"]]
                lower = next(m for r in link["links"] for m in r["members"] if m["name"] == member["name"])
                self.links[member["name"]] = (member["peer"], lower["via"].get("addr"))

    def link_to(self, peer):
        return next(name for name, (other, _) in self.links.items() if other == peer)


current = Set(sys.argv[1])


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def splice(one, other):
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                sink.sendall(piece)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    back = threading.Thread(target=copy, args=(other, one), daemon=True)
    back.start()
    copy(one, other)
    back.join()
    one.close()
    other.close()


def dial(link, label):
    peer = socket.create_connection(address(current.links[link][1]), timeout=5)
    peer.settimeout(None)
    peer.sendall(json.dumps({"peer": current.id, "label": label}).encode() + b"\n")
    return peer


def deliver(target, initiator):
    if (target, initiator) not in current.ingress:
        raise PermissionError(f"{initiator} may not reach {target}")
    upstream = socket.create_connection(address(current.upstreams[target]), timeout=5)
    upstream.settimeout(None)
    return upstream


def line_of(peer):
    line = b""
    while not line.endswith(b"\n"):
        piece = peer.recv(1)
        if not piece:
            raise ConnectionError
        line += piece
    return line


def take_wire(peer):
    """A stream from a neighbour: passed on by its label, or delivered."""
    hello = json.loads(line_of(peer))
    at = {"link": current.link_to(hello["peer"]), "label": hello["label"]}
    for row in current.ctrl["forwarding_table"]:
        if row["in"] == at:
            return splice(peer, dial(row["out"]["link"], row["out"]["label"]))
    for binding in current.ctrl["label_bindings"]:
        if binding["scope"] == "ingress" and binding["in"] == at:
            return splice(peer, deliver(binding["target"], binding["initiator"]))
    raise PermissionError(f"{at} means nothing here")


def take_socks(peer, principal):
    """SOCKS5 by name, for the principal whose port this is."""
    greeting = peer.recv(2)
    peer.recv(greeting[1])
    peer.sendall(b"\x05\x00")
    head = peer.recv(5)
    host = peer.recv(head[4]).decode()
    peer.recv(2)
    domain = principal.split("/")[2]
    parts = host.removesuffix(f".{domain}.rete").split(".")
    target = f"spiffe://{domain}/service/" + "/".join(reversed(parts))
    try:
        if (target, principal) not in current.egress:
            raise PermissionError(f"{principal} may not dial {target}")
        far = None
        if target in current.upstreams:
            far = deliver(target, principal)
        for binding in current.ctrl["label_bindings"] if far is None else []:
            if (binding["scope"], binding["target"], binding["initiator"]) == ("egress", target, principal):
                with contextlib.suppress(OSError):
                    far = dial(binding["out"]["link"], binding["out"]["label"])
                    break
        if far is None:
            raise ConnectionError("no way works")
    except (OSError, PermissionError) as error:
        peer.sendall(b"\x05\x02\x00\x01" + bytes(6))
        peer.close()
        raise error
    peer.sendall(b"\x05\x00\x00\x01" + bytes(6))
    splice(peer, far)


listeners = {}


def listen(where, handle, *more):
    if where in listeners:
        listeners[where] = (handle, more)
        return
    server = socket.create_server(address(where), backlog=64)
    listeners[where] = (handle, more)

    def accept():
        while True:
            peer, _ = server.accept()
            handle, more = listeners[where]
            threading.Thread(target=guarded, args=(handle, peer, *more), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def guarded(handle, peer, *more):
    try:
        handle(peer, *more)
    except Exception as error:  # noqa: BLE001 - one stream ends, the others go on
        print("refused", type(error).__name__, error, flush=True)
        peer.close()


def serve():
    if current.payload["kind"] == "mesh":
        for where in current.wires:
            listen(where, take_wire)
    for where, principal in current.listens.items():
        listen(where, take_socks, principal)
    print("obeys", current.version, getattr(current, "ctrl_version", 0), flush=True)


place = os.environ["SLUICE_VERTEX_SOCKET"]
with contextlib.suppress(FileNotFoundError):
    os.remove(place)
agent = socket.socket(socket.AF_UNIX)
agent.bind(place)
agent.listen(8)
serve()
while True:
    told, _ = agent.accept()
    with contextlib.suppress(ConnectionError):
        folder = line_of(told).decode().strip().removeprefix("set ")
        current = Set(folder)
        serve()
        told.sendall(b"taken\n")
