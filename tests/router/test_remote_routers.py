"""Routers on other machines: they join with a token, obey over a connection of their own, serve without the control plane,
and are told what they may not do. Here all are on loopback; tests/router/test_three_machines.py has a network."""

import datetime
import json
import os
import signal
import socket
import ssl
import subprocess
from urllib.parse import urlsplit

import machines
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from machines import Machine


@pytest.fixture
def machine(sluice, tmp_path):
    made = []

    def make(name):
        made.append(Machine(sluice, tmp_path, name))
        return made[-1]
    yield make
    for one in reversed(made):
        one.close()


@pytest.fixture
def plane(machine):
    return machine("plane").serve(machines.free_port())


@pytest.fixture
def edge(plane, machine, eventually):
    """A router that has joined and obeys."""
    one = machine("edge").join(plane, "--listen", "127.0.0.1:0").route()
    eventually(lambda: linked(plane, "edge"), lambda: one.log("router"))
    return one


def linked(plane, name):
    known = plane.routers().get(name)
    return known is not None and known["reachable"]


def obeys(plane, router):
    """Whether it has the newest table that there is, and the control plane knows."""
    known = plane.routers()[router.name]
    return known["generation"] == known["newest"] == router.generation() > 0


def up(plane, version="1.0.0"):
    return plane.data("up", machines.hello(plane.folder / "hello", version), "--detach", "--port", str(machines.free_port()))


def port_of(router):
    return int(router.facts()["listen"][0].rsplit(":", 1)[1])


def hello_through(router):
    return machines.get(port_of(router))


def test_a_router_joins_obeys_and_is_seen(plane, edge, eventually):
    up(plane)
    eventually(lambda: obeys(plane, edge))
    assert hello_through(edge) == (200, "1.0.0")
    shown = plane.routers()["edge"]
    assert (shown["environment"], shown["machine"], shown["address"]) == ("local", socket.gethostname(), "127.0.0.1")
    assert shown["listen"] == edge.facts()["listen"] and shown["generation"] == shown["newest"]
    assert 23 * 3600 < shown["certificate_s"] <= 24 * 3600
    assert "edge" in plane.run("router", "list").stdout and "h" in plane.run("router", "list").stdout.split()[-1]
    # A change is done when it has acknowledged: nobody waits after the command.
    up(plane, "2.0.0")
    assert hello_through(edge) == (200, "2.0.0")
    plane.run("rollback", "--yes")
    assert hello_through(edge) == (200, "1.0.0")
    assert edge.orders() == sorted(set(edge.orders())), "no order was done twice"
    usage = plane.data("usage", "show")
    assert "hello" in json.dumps(usage)


def test_it_serves_while_nobody_leads_and_obeys_again(plane, edge, eventually):
    up(plane)
    eventually(lambda: obeys(plane, edge))
    plane.end("serve", signal.SIGKILL)
    assert hello_through(edge) == (200, "1.0.0")
    # Also when its own processes have all ended meanwhile.
    edge.kill_router()
    edge.route()
    eventually(lambda: edge.generation() > 0, lambda: edge.log("router"))
    assert hello_through(edge) == (200, "1.0.0")
    plane.serve(urlsplit(plane.url).port)
    up(plane, "2.0.0")
    eventually(lambda: hello_through(edge) == (200, "2.0.0"), lambda: edge.log("router"))


def test_a_change_waits_for_those_that_live_and_names_the_one_that_does_not(plane, edge, eventually):
    up(plane)
    eventually(lambda: obeys(plane, edge))
    edge.kill_router()
    done = up(plane, "2.0.0")
    assert done["urls"]
    shown = plane.routers()["edge"]
    assert shown["generation"] < shown["newest"] and shown["trouble"], shown
    assert "Router edge of local obeys table" in plane.run("why", "hello").stdout
    assert f"router edge is not linked on {socket.gethostname()}, certificate 23 h" in plane.run("status").stdout
    edge.route()
    eventually(lambda: obeys(plane, edge), lambda: edge.log("router"))
    eventually(lambda: plane.routers()["edge"]["trouble"] == "")
    assert hello_through(edge) == (200, "2.0.0")


def test_its_key_never_leaves_it_and_certificates_come_with_theirs(plane, edge, eventually):
    key = (edge.home / "router/link.key")
    assert key.stat().st_mode & 0o777 == 0o600
    line = key.read_bytes().splitlines()[1]
    for file in plane.home.rglob("*"):
        assert not file.is_file() or line not in file.read_bytes(), file
    up(plane)
    eventually(lambda: obeys(plane, edge))
    plane.run("tls", "issue", "shop.test")
    eventually(lambda: (edge.home / "tls/shop.test/key.pem").exists(), lambda: edge.log("router"))
    assert (edge.home / "tls/shop.test/chain.pem").read_text() == (plane.home / "tls/shop.test/chain.pem").read_text()
    assert (edge.home / "tls/shop.test/key.pem").stat().st_mode & 0o777 == 0o600


def test_what_may_not_join_is_told(plane, machine):
    nowhere = plane.run("router", "token", "--environment", "locale", code=None)
    assert nowhere.returncode != 0 and "there is no environment 'locale'; did you mean local?" in nowhere.stderr
    made = plane.data("router", "token")
    one = machine("one")
    one.run("router", "join", made["url"], "--token", made["token"], "--name", "one")
    again = machine("again").run("router", "join", made["url"], "--token", made["token"], "--name", "again", code=None)
    assert again.returncode != 0 and "this token was used already, and is good once" in again.stderr
    other = machine("other").serve(machines.free_port())
    foreign = machine("foreign").run("router", "join", made["url"], "--token", other.data("router", "token")["token"], code=None)
    assert foreign.returncode != 0 and "and this token is for" in foreign.stderr and "nothing was sent" in foreign.stderr
    taken = machine("taken").run("router", "join", made["url"], "--token", plane.data("router", "token")["token"], "--name",
                                 "one", code=None)
    assert taken.returncode == 6 and "there is a router one already" in taken.stderr
    replica = machine("replica").run("replicas", "join", made["url"], "--token", plane.data("router", "token")["token"],
                                     code=None)
    assert replica.returncode != 0
    assert plane.run("replicas", "list", code=None).returncode != 0


def end_certificate(plane, router):
    """Gives the router a certificate for its key that has ended a moment ago."""
    ca = x509.load_pem_x509_certificate((plane.home / "keys/router-ca.pem").read_bytes())
    signer = serialization.load_pem_private_key((plane.home / "keys/router-ca.key").read_bytes(), None)
    key = serialization.load_pem_private_key((router.home / "router/link.key").read_bytes(), None)
    now = datetime.datetime.now(datetime.timezone.utc)
    ended = (x509.CertificateBuilder().subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "router edge")]))
             .issuer_name(ca.subject).public_key(key.public_key()).serial_number(7)
             .not_valid_before(now - datetime.timedelta(seconds=50)).not_valid_after(now - datetime.timedelta(seconds=2))
             .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier("spiffe://sluice/router/edge")]), False)
             .sign(signer, hashes.SHA256()))
    (router.home / "router/link.pem").write_bytes(ended.public_bytes(serialization.Encoding.PEM)
                                                  + (plane.home / "keys/router-ca.pem").read_bytes())


def holds(router):
    shown = x509.load_pem_x509_certificate((router.home / "router/link.pem").read_bytes())
    return shown.not_valid_after > datetime.datetime.utcnow()


def test_a_certificate_that_has_ended_stops_nothing_and_is_renewed_by_its_key(plane, edge, eventually):
    up(plane)
    eventually(lambda: obeys(plane, edge))
    plane.end("serve")
    edge.kill_router()
    end_certificate(plane, edge)
    assert not holds(edge)
    edge.route()
    eventually(lambda: edge.generation() > 0, lambda: edge.log("router"))
    assert hello_through(edge) == (200, "1.0.0")
    plane.serve(urlsplit(plane.url).port)
    eventually(lambda: holds(edge), lambda: edge.log("router"))
    eventually(lambda: obeys(plane, edge), lambda: edge.log("router"))


class Link:
    """What a program gets that asks for the link with a router's certificate."""

    def __init__(self, plane, of, name, versions="1-1"):
        place = urlsplit(plane.url)
        context = ssl.create_default_context(cadata=json.loads((of.home / "router/link.json").read_text())["ca"])
        context.load_cert_chain(of.home / "router/link.pem", of.home / "router/link.key")
        with socket.create_connection((place.hostname, place.port), timeout=60) as plain, \
                context.wrap_socket(plain, server_hostname=place.hostname) as wire:
            wire.sendall(f"GET /v1/routers/{name}/link HTTP/1.1\r\nHost: {place.hostname}\r\nConnection: Upgrade\r\n"
                         f"Upgrade: sluice-router\r\nSluice-Router-Link: {versions}\r\n\r\n".encode())
            got = b""
            while b"\r\n\r\n" not in got or (b" 101 " not in got[:13] and b"}" not in got):
                piece = wire.recv(65536)
                if not piece:
                    break
                got += piece
        self.status, self.text = int(got[9:12]), got.decode()


def test_a_certificate_is_for_one_router_and_a_link_for_versions_that_both_speak(plane, machine, eventually):
    a, b = machine("a").join(plane), machine("b").join(plane)
    eventually(lambda: Link(plane, a, "a").status == 101)
    refused = Link(plane, a, "b")
    assert refused.status == 403 and "this certificate is of the router a, and not of b" in refused.text
    newer = Link(plane, b, "b", "2-3")
    assert newer.status == 409 and "speaks version 2-3 of the link, which is newer than this end's, 1-1" in newer.text
    plane.run("router", "remove", "b", "--yes")
    removed = Link(plane, b, "b")
    assert removed.status == 403 and "the router with this certificate was removed here" in removed.text
    assert "b" not in plane.routers()


def test_an_order_that_another_has_signed_is_refused_by_the_router(plane, edge, eventually):
    up(plane)
    eventually(lambda: obeys(plane, edge))
    before = edge.generation()
    # The control plane is genuine, its key is not: as if somebody had exchanged it.
    other = plane.folder / "other"
    subprocess.run([str(plane.sluice), "env", "list"], env=plane.environment() | {"SLUICE_HOME": str(other)}, check=True,
                   capture_output=True, timeout=60)
    plane.end("serve")
    kept = (plane.home / "keys/operator.pem").read_bytes()
    (plane.home / "keys/operator.pem").write_bytes((other / "keys/operator.pem").read_bytes())
    plane.serve(urlsplit(plane.url).port)
    plane.run("config", "set", "local", "connections_per_address=99")
    eventually(lambda: "is not signed by a key that this router trusts" in plane.routers()["edge"]["trouble"],
               lambda: json.dumps(plane.routers()))
    assert edge.generation() == before and hello_through(edge) == (200, "1.0.0")
    plane.end("serve")
    (plane.home / "keys/operator.pem").write_bytes(kept)
    os.chmod(plane.home / "keys/operator.pem", 0o600)
    plane.serve(urlsplit(plane.url).port)
    eventually(lambda: obeys(plane, edge) and plane.routers()["edge"]["trouble"] == "")
