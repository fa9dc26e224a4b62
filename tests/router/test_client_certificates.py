"""Clients that show a certificate: whom the router lets in, what the application learns, who may say which revision, and that
nobody gets in by another name. The clients are Python's ssl and curl."""

import ssl
import subprocess

import certificates
import pytest
import wire
from certificates import Authority
from http2 import Raw
from router_process import deployment, revision, table

WEB, TESTER = "spiffe://shop.example/web", "spiffe://shop.example/tester"
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture
def place(router, named, tmp_path):
    """A router whose pay.example is for clients with a certificate, whose app.example wants one, and whose open.example
    asks for none."""

    class Place:
        ours, theirs = Authority(tmp_path / "ours", "ours"), Authority(tmp_path / "theirs", "theirs")
        behind = {name: named(name) for name in ("pay", "app", "app-next", "open")}

        def document(self, pay=None, app=None):
            def one(name, *revisions, **more):
                return deployment(*revisions, name=name.upper(), hosts=[f"{name}.example"], **more)

            return table(one("pay", revision("pay", 10000, self.behind["pay"].address),
                             tls=pay or {"client": "required", "client_ca": self.ours.pem}),
                         one("app", revision("app-next", 0, self.behind["app-next"].address),
                             revision("app", 10000, self.behind["app"].address),
                             tls=app or {"client": "wanted", "client_ca": self.ours.pem, "trusted_callers": [TESTER]}),
                         one("open", revision("open", 10000, self.behind["open"].address)), access_log_bps=10000)

        def start(self, *options, **more):
            folder = tmp_path / "certificates"
            certificates.write(folder / "all", "pay.example", "app.example", "open.example")
            self.router = router(self.document(**more), "--listen", "127.0.0.1:0,tls", "--certificates", str(folder), *options)
            self.secure = self.router.facts["listen"][1].removesuffix(",tls")
            return self

        def load(self, **more):
            assert self.router.load({**self.document(**more), "generation": self.router.generation + 1})["ok"]

        def context(self, shown=None, highest=None):
            made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
            if highest:
                made.maximum_version = highest
            if shown:
                made.load_cert_chain(*shown)
            return made

        def connect(self, name, context, session=None):
            return context.wrap_socket(wire.connect(self.secure), server_hostname=name, session=session)

        def ask(self, name, shown=None, host=None, highest=None, headers=()):
            """The answer, or nothing if the router does not speak with such a client."""
            try:
                with self.connect(name, self.context(shown, highest)) as sock:
                    sock.sendall(wire.request(host=host or name, headers=headers))
                    return wire.read_answer(wire.Stream(sock))
            except (ssl.SSLError, ConnectionError, wire.Ended):
                return None

    return Place()


@pytest.mark.parametrize("highest", VERSIONS)
def test_who_is_let_in(place, highest):
    place.start()
    good = place.ours.sign("web", WEB)
    for shown in [None, place.theirs.sign("web", WEB), place.ours.sign("old", WEB, days=-1)]:
        assert place.ask("pay.example", shown, highest=highest) is None
    assert place.behind["pay"].requests == []
    assert place.ask("pay.example", good, highest=highest).get("X-Revision") == "pay"
    assert place.ask("app.example", highest=highest).get("X-Revision") == "app"
    assert place.ask("app.example", good, highest=highest).get("X-Revision") == "app"
    assert place.ask("app.example", place.theirs.sign("web", WEB), highest=highest) is None, "a bad one is worse than none"
    assert place.ask("open.example", place.theirs.sign("web", WEB), highest=highest).get("X-Revision") == "open"


def test_the_application_learns_who_it_is(place):
    place.start()
    lies = [("X-Sluice-Client-Id", "spiffe://shop.example/admin"), ("X_Sluice_Client_Id", "spiffe://shop.example/admin")]
    for shown, told in [(place.ours.sign("web", "web.example", WEB), WEB), (place.ours.sign("plain"), "CN=plain"), (None, None)]:
        assert place.ask("app.example", shown, headers=lies).status == 200
        seen = place.behind["app"].requests[-1]
        assert [value for name, value in seen.headers if "client" in name.lower()] == ([told] if told else [])
    assert wire.ask(place.router.endpoint, headers=lies, host="app.example").status == 200
    assert place.behind["app"].requests[-1].get("X-Sluice-Client-Id") is None


@pytest.mark.parametrize("highest", VERSIONS)
def test_nobody_gets_in_by_another_name(place, highest):
    place.start()
    good, bad = place.ours.sign("web", WEB), place.theirs.sign("web", WEB)
    for name, shown in [("open.example", None), ("open.example", bad), ("app.example", None), ("app.example", good)]:
        answer = place.ask(name, shown, host="pay.example", highest=highest)
        assert answer.status == 421, (name, shown)
    assert place.ask("pay.example", good, host="open.example", highest=highest).status == 421
    assert place.behind["pay"].requests == [] and place.behind["open"].requests == []
    # Nor in the clear, whatever it says of how it came.
    for headers in [(), [("X-Forwarded-Proto", "https"), ("X-Sluice-Client-Id", WEB)]]:
        assert wire.ask(place.router.endpoint, host="pay.example", headers=headers).status == 403
    assert place.behind["pay"].requests == []


def test_over_http2_too(place):
    place.start()
    made = place.context(place.ours.sign("web", WEB))
    made.set_alpn_protocols(["h2"])
    with Raw(None, place.connect("app.example", made)) as raw:
        for stream, host, status in [(1, "app.example", "200"), (3, "pay.example", "421"), (5, "app.example", "200")]:
            raw.ask(stream, [(":method", "GET"), (":scheme", "https"), (":authority", host), (":path", "/")])
            assert raw.answer(stream)[0] == int(status), host
    assert {message.get("X-Sluice-Client-Id") for message in place.behind["app"].requests} == {WEB}


@pytest.mark.parametrize("highest", VERSIONS)
def test_a_session_is_not_resumed_under_another_rule(place, highest):
    place.start()
    made = place.context(place.ours.sign("web", WEB), highest)

    def one(name, session=None):
        with place.connect(name, made, session) as sock:
            sock.sendall(wire.request(host=name))
            assert wire.read_answer(wire.Stream(sock)).status == 200
            return sock.session, sock.session_reused

    session, _ = one("app.example")
    assert one("app.example", session)[1]
    assert place.behind["app"].requests[-1].get("X-Sluice-Client-Id") == WEB, "it is known with its session"
    assert not one("pay.example", session)[1]
    # The rule changes: what was asked under the one before is not enough.
    session, _ = one("app.example")
    place.load(app={"client": "wanted", "client_ca": place.ours.pem + place.theirs.pem})
    assert not one("app.example", session)[1]


def test_a_rule_that_changes_counts_at_once(place):
    place.start()
    assert place.ask("open.example").status == 200
    with place.connect("app.example", place.context()) as kept:
        def ask():
            kept.sendall(wire.request(host="app.example"))
            return wire.read_answer(stream)

        stream = wire.Stream(kept)
        assert ask().status == 200
        place.load(app={"client": "required", "client_ca": place.ours.pem})
        assert ask().status == 421, "it was asked for less"
    assert place.ask("app.example") is None
    assert place.ask("app.example", place.ours.sign("web", WEB)).status == 200


def test_a_trusted_caller_says_which_revision(place, eventually):
    place.start()
    which = [("X-Sluice-Deployment", "APP"), ("X-Sluice-Revision", "app-next")]
    tester, web = place.ours.sign("tester", TESTER), place.ours.sign("web", WEB)
    for _ in range(3):
        answer = place.ask("app.example", tester, headers=which)
        assert (answer.get("X-Revision"), answer.get("X-Sluice-Revision")) == ("app-next", "app-next")
    assert all(message.get("X-Sluice-Revision") is None for message in place.behind["app-next"].requests)
    for shown in [web, None]:
        assert place.ask("app.example", shown, headers=which).get("X-Revision") == "app", "of others it is passed over"
    refused = place.ask("app.example", tester, headers=[("X-Sluice-Deployment", "PAY"), which[1]])
    assert refused.status == 403 and b"another than X-Sluice-Deployment" in refused.body
    assert place.ask("app.example", tester).get("X-Revision") == "app", "without the headers it is one of many"
    eventually(lambda: [line["revision_id"] for line in place.router.access_log() if line["reason"] == "caller"] ==
               ["app-next"] * 3, "the log does not say who chose it")


def test_curl_shows_one(place):
    place.start()
    chain, key = place.ours.sign("web", WEB)
    port = place.secure.rsplit(":")[-1]
    words = ["curl", "-sS", "-k", "--resolve", f"pay.example:{port}:127.0.0.1", f"https://pay.example:{port}/", "-o", "/dev/null",
             "-w", "%{http_version} %{http_code}"]
    out = subprocess.run([*words, "--cert", chain, "--key", key], capture_output=True, text=True, timeout=60)
    assert out.stdout == "2 200", out.stderr
    assert subprocess.run(words, capture_output=True, text=True, timeout=60).returncode != 0
