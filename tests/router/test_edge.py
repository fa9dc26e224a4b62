"""The router at the edge, with TLS: which certificate is shown to whom, what a connection may ask for, and what the clear
is told. The clients are Python's ssl and curl."""

import os
import signal
import ssl
import subprocess

import certificates
import pytest
import wire
from cryptography import x509
from router_process import deployment, revision, table


@pytest.fixture
def edge(router, named, tmp_path):
    """A router with a listener in the clear and one with TLS, and two certificates."""
    behind = named("r1")

    def start(*options, **more):
        folder = tmp_path / "certificates"
        certificates.write(folder / "app", "app.example", "*.wild.example")
        certificates.write(folder / "other", "other.example")
        (folder / "README").write_text("what certbot puts there")
        served = deployment(revision("r1", 10000, behind.address), hosts=("app.example", "other.example", "*.wild.example"),
                            **more)
        running = router(table(served, access_log_bps=10000), "--listen", "127.0.0.1:0,tls", "--certificates", str(folder),
                         *options)
        running.behind, running.certificates = behind, folder
        running.secure = running.facts["listen"][1].removesuffix(",tls")
        return running

    return start


def context(*, highest=None, ciphers=None, protocols=None):
    """Of a client that trusts anybody, and looks itself."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if highest:
        made.maximum_version = highest
    if ciphers:
        made.set_ciphers(ciphers)
    if protocols:
        made.set_alpn_protocols(protocols)
    return made


def secure(running, name, made=None, session=None):
    return (made or context()).wrap_socket(wire.connect(running.secure), server_hostname=name, session=session)


def ask(sock, host="app.example", **more):
    sock.sendall(wire.request(host=host, **more))
    return wire.read_answer(wire.Stream(sock))


def names_shown(sock):
    shown = x509.load_der_x509_certificate(sock.getpeercert(binary_form=True))
    return shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(x509.DNSName)


def shown_for(running, name, made=None):
    """The names of the certificate that is shown for this one; nothing if the name is refused."""
    try:
        with secure(running, name, made) as sock:
            return names_shown(sock)
    except ssl.SSLError as refused:
        assert "unrecognized name" in str(refused) or "handshake failure" in str(refused)
        return []


def test_requests_come_over_tls_and_the_application_learns_of_it(edge):
    running = edge()
    with secure(running, "app.example") as sock:
        assert sock.version() == "TLSv1.3"
        for _ in range(3):
            assert ask(sock).get("X-Revision") == "r1"
    assert running.behind.requests[0].get("X-Forwarded-Proto") == "https"
    assert running.behind.requests[0].get("X-Forwarded-Port") == running.secure.rsplit(":")[-1]
    assert wire.ask(running.endpoint).get("X-Revision") == "r1"
    assert running.behind.requests[-1].get("X-Forwarded-Proto") == "http"


@pytest.mark.parametrize("size", [100, 40_000, 3_000_000])
def test_bodies_pass_both_ways(edge, size):
    body = os.urandom(size)
    for highest in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
        with secure(edge(), "app.example", context(highest=highest)) as sock:
            answer = ask(sock, method="POST", body=body)
            assert answer.body == body


def test_the_certificate_is_that_of_the_name(edge, eventually):
    running = edge()
    for name, shown in [("app.example", "app.example"), ("OTHER.example", "other.example"), ("a.wild.example", "app.example")]:
        assert shown_for(running, name)[0] == shown
    for name in ["none.example", "a.b.wild.example", "wild.example"]:
        assert shown_for(running, name) == []
    certificates.write(running.certificates / "default", "fallback.example")
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: shown_for(running, "none.example") == ["fallback.example"], "the default was not read")
    assert shown_for(running, "other.example") == ["other.example"]


def test_of_one_name_there_may_be_a_certificate_for_each_kind_of_key(edge, eventually):
    running = edge()
    certificates.write(running.certificates / "app-rsa", "app.example", "rsa.example", kind="rsa")
    running.process.send_signal(signal.SIGHUP)

    def shown(ciphers):
        return shown_for(running, "app.example", context(highest=ssl.TLSVersion.TLSv1_2, ciphers=ciphers))

    eventually(lambda: shown("ECDHE-RSA-AES128-GCM-SHA256") == ["app.example", "rsa.example"], "the RSA one was not read")
    assert shown("ECDHE-ECDSA-AES128-GCM-SHA256") == ["app.example", "*.wild.example"]


def test_a_bad_pair_is_left_out_alone(edge, eventually):
    running = edge()
    assert shown_for(running, "other.example") == ["other.example"]
    (running.certificates / "other" / "privkey.pem").write_text("nothing")
    certificates.write(running.certificates / "old", "old.example", days=-1)
    certificates.write(running.certificates / "app", "app.example", "new.example")
    running.process.send_signal(signal.SIGHUP)

    eventually(lambda: shown_for(running, "new.example") == ["app.example", "new.example"], "they were not read again")
    assert shown_for(running, "other.example") == ["other.example"], "the one before stays"
    said = (running.folder / "router.log").read_text()
    assert "certificate other is left out, and the one before stays: the private key cannot be read" in said
    assert "certificate old is left out: the certificate has expired on " in said


def test_a_host_that_the_certificate_is_not_of_is_misdirected(edge):
    running = edge()
    with secure(running, "app.example") as sock:
        answer = ask(sock, host="other.example")
        assert answer.status == 421
        assert ask(sock, host="APP.example:8443").status == 200, "the connection is as good as before"
        assert ask(sock, host="x.wild.example").status == 200, "the same certificate is of it"
    assert [message.get("Host") for message in running.behind.requests] == ["APP.example:8443", "x.wild.example"]


def test_the_clear_is_redirected_and_tls_is_to_stay(edge):
    running = edge(tls={"redirect": True, "hsts_s": 3600})
    answer = wire.ask(running.endpoint, target="/a?b=c")
    port = running.secure.rsplit(":")[-1]
    assert (answer.status, answer.get("Location")) == (308, f"https://app.example:{port}/a?b=c")
    assert answer.get("Strict-Transport-Security") is None
    with secure(running, "app.example") as sock:
        answer = ask(sock)
        assert (answer.status, answer.get("Strict-Transport-Security")) == (200, "max-age=3600")
    assert len(running.behind.requests) == 1


@pytest.mark.parametrize("highest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_are_resumed_by_every_thread_and_by_the_next_worker(edge, eventually, highest):
    running = edge("--threads", "2")
    made = context(highest=highest)

    def one(session=None):
        with secure(running, "app.example", made, session) as sock:
            assert ask(sock).status == 200
            return sock.session, sock.session_reused

    session, reused = one()
    assert not reused
    for _ in range(8):  # the kernel spreads connections over the threads
        assert one(session)[1]
    worker = running.worker_pid()
    os.kill(worker, signal.SIGKILL)
    assert one(session)[1], "another worker"
    eventually(lambda: running.open_control().ask(op="stats")["worker_pid"] != worker, "the worker was not killed")


def test_each_resumption_brings_a_ticket_for_the_next(edge):
    """Clients of TLS 1.3 use a ticket once."""
    running, made = edge(), context()
    session, used = None, set()
    for n in range(6):
        with secure(running, "app.example", made, session) as sock:
            assert ask(sock).status == 200
            assert sock.session_reused == (n > 0)
            session = sock.session
        assert session.id not in used, "the same ticket again"
        used.add(session.id)


def test_handshakes_that_are_cut_slow_or_garbled_harm_nobody(edge):
    running = edge("--threads", "1")
    hello = hello_of("app.example")
    opened = []
    for size in range(0, len(hello), 7):
        sock = wire.connect(running.secure)
        sock.sendall(hello[:size])
        opened.append(sock)
    for spoilt in [b"\0" * 300, b"GET / HTTP/1.1\r\n\r\n", hello[:20] + b"\xff" * 300, b"\x16\x03\x01\xff\xff" + os.urandom(2000)]:
        with wire.connect(running.secure) as sock:
            sock.sendall(spoilt)
            try:
                while sock.recv(1 << 16):
                    pass
            except ConnectionError:
                pass
    with secure(running, "app.example") as sock:
        assert ask(sock).status == 200
    for sock in opened:
        sock.close()
    slow = wire.connect(running.secure)
    for byte in range(0, len(hello), 3):
        slow.sendall(hello[byte:byte + 3])
    assert slow.recv(1) == b"\x16"
    slow.close()


def hello_of(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context().wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def test_nothing_older_than_tls_1_2_is_spoken(edge):
    running = edge()
    out = subprocess.run(["openssl", "s_client", "-connect", running.secure, "-servername", "app.example", "-tls1_1", "-cipher",
                          "ALL:@SECLEVEL=0"], input="", capture_output=True, text=True, timeout=60)
    assert out.returncode != 0 and "alert protocol version" in out.stderr
    with secure(running, "app.example", context(highest=ssl.TLSVersion.TLSv1_2)) as sock:
        name = sock.cipher()[0]
        assert sock.version() == "TLSv1.2" and name.startswith("ECDHE") and ("GCM" in name or "CHACHA" in name)


def test_it_is_counted_and_logged(edge, eventually):
    running = edge()
    with secure(running, "app.example") as sock:
        ask(sock)
    with pytest.raises(ssl.SSLError):
        secure(running, "none.example")
    text = running.admin("/metrics").body.decode()
    assert 'sluice_router_tls_handshakes_total{environment="local",version="1.3"} 1\n' in text
    assert 'sluice_router_tls_failed_total{environment="local"} 1\n' in text
    assert 'sluice_router_certificate_days{environment="local",certificate="app"} 89\n' in text
    eventually(lambda: any(line["sni"] == "app.example" and line["tls_version"] == "TLSv1.3" and line["protocol"] == "HTTP/1.1"
                           for line in running.access_log()), "the log does not say how the request came")


def test_curl_trusts_it_by_its_authority(edge):
    running = edge()
    out = subprocess.run(["curl", "-sS", "--cacert", str(running.certificates / "app" / "fullchain.pem"), "--resolve",
                          f"app.example:{running.secure.rsplit(':')[-1]}:127.0.0.1", "-D", "-",
                          f"https://app.example:{running.secure.rsplit(':')[-1]}/"],
                         capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith("HTTP/2 200") and "x-revision: r1" in out.stdout


def test_what_does_not_say_how_to_listen_is_refused(sluice, tmp_path):
    def run(*words):
        return subprocess.run([str(sluice), "router", "run", "--table", str(tmp_path / "none.json"), *words],
                              capture_output=True, text=True, timeout=60,
                              env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"})

    out = run("--listen", "127.0.0.1:0,ssl")
    assert out.returncode == 2 and "does not say how to listen" in out.stderr


# --- PROXY headers --------------------------------------------------------------------------------------------------

V2 = b"\r\n\r\n\0\r\nQUIT\n"


@pytest.fixture
def behind_a_proxy(router, named, tmp_path):
    """A router that trusts whoever is on this machine, with a listener for PROXY headers and one for these and TLS."""
    behind = named("r1")
    certificates.write(tmp_path / "certificates" / "app", "app.example")

    def start(trusted=("127.0.0.1/32",)):
        served = deployment(revision("r1", 10000, behind.address))
        running = router(table(served, trusted_proxies=list(trusted)), "--listen", "127.0.0.1:0,proxy", "--listen",
                         "127.0.0.1:0,tls,proxy", "--certificates", str(tmp_path / "certificates"))
        running.behind = behind
        _, clear, both = running.facts["listen"]
        running.proxied, running.secure = clear.removesuffix(",proxy"), both.removesuffix(",tls,proxy")
        return running

    return start


@pytest.mark.parametrize("header", [b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\n",
                                    V2 + b"\x21\x11\0\x0c\xc0\0\2\7\xc0\0\2\1\x9c\x40\x01\xbb",
                                    V2 + b"\x21\x11\0\x10\xc0\0\2\7\xc0\0\2\1\x9c\x40\x01\xbb\x04\0\1x"])
@pytest.mark.parametrize("secured", [False, True])
def test_a_header_names_the_client(behind_a_proxy, header, secured):
    running = behind_a_proxy()
    with wire.connect(running.secure if secured else running.proxied) as sock:
        sock.sendall(header)
        if secured:
            sock = context().wrap_socket(sock, server_hostname="app.example")
        assert ask(sock).status == 200
        sock.close()
    seen = running.behind.requests[0]
    assert (seen.get("X-Forwarded-For"), seen.get("X-Forwarded-Port")) == ("192.0.2.7", "443")
    assert seen.get("X-Forwarded-Proto") == ("https" if secured else "http")


def test_strangers_and_garbage_are_turned_away(behind_a_proxy):
    running = behind_a_proxy()
    for bad in [wire.request(), b"PROXY TCP4 nobody 192.0.2.1 1 2\r\n" + wire.request(), V2 + b"\x21\x11\xff\xff" + b"x" * 3000]:
        assert wire.exchange(running.proxied, bad) == b""
    stranger = behind_a_proxy(trusted=["192.0.2.0/24"])
    assert wire.exchange(stranger.proxied, b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\n" + wire.request()) == b""
    assert running.behind.requests == []


def test_curl_speaks_for_somebody(behind_a_proxy):
    running = behind_a_proxy()
    out = subprocess.run(["curl", "-sS", "--haproxy-protocol", "-H", "Host: app.example", "-o", "/dev/null", "-w", "%{http_code}",
                          f"http://{running.proxied}/"], capture_output=True, text=True, timeout=60)
    assert out.stdout == "200", out.stderr
    assert running.behind.requests[0].get("X-Forwarded-For") == "127.0.0.1"
