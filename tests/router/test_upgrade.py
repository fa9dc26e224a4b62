"""A new worker at the same sockets: under load not a request fails and every one is counted once; what is connected stays
until it ends or the drain is over; one that does not serve changes nothing."""

import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time
from pathlib import Path

import certificates
import pytest
import wire
from http2 import GET, NO_ERROR, Raw
from hyperframe.frame import GoAwayFrame, HeadersFrame, RstStreamFrame
from router_process import deployment, revision, table

BYTES = [*GET[:2], (":path", "/b/1/10"), GET[3]]


@pytest.fixture
def served(router, fast, tmp_path):
    """A router before one upstream, with a listener in the clear and one with TLS."""
    upstream = fast("r1")
    certificates.write(tmp_path / "certificates" / "app", "app.example")

    def start(*options, upstream=upstream, **more):
        running = router(table(deployment(revision("r1", 10000, upstream.address), **more), access_log_bps=10000), "--listen",
                         "127.0.0.1:0,tls", "--certificates", str(tmp_path / "certificates"), *options)
        running.secure = running.facts["listen"][1].removesuffix(",tls")
        return running

    return start


def upgrade(running, *options, code=0):
    ran = subprocess.run([str(running.sluice), "router", "upgrade", "-o", "json", *options], capture_output=True, text=True,
                         timeout=120, env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(running.folder / "home")})
    assert ran.returncode == code, ran.stdout + ran.stderr + (running.folder / "router.log").read_text()
    running.control.close()
    running.control = running.open_control()
    return json.loads(ran.stdout) if code == 0 else ran.stderr


def sockets_listened_at(running, pid):
    """The inodes of the sockets that a process listens at where clients connect."""
    ports = {int(place.removesuffix(",tls").rsplit(":", 1)[1]) for place in running.facts["listen"]}
    listening = set()
    for line in open("/proc/net/tcp").read().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) in ports:
            listening.add(fields[9])
    held = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            continue
        if found and found[1] in listening:
            held.add(found[1])
    return held


def lives(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


def counted(running):
    return sum(each["requests"] for each in running.ask(op="usage")["series"])


class Streams:
    """Clients of HTTP/2, with TLS and without, that ask until they are told to stop, and go where GOAWAY says so. They try
    nothing again: a stream that was begun before GOAWAY is answered, or is a failure."""

    def __init__(self, running, count):
        self.running, self.stopped, self.lock, self.answered, self.failures = running, threading.Event(), threading.Lock(), 0, []
        self.threads = [threading.Thread(target=self.ask, args=(n % 2 == 0,)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def connect(self, secure):
        if not secure:
            return Raw(self.running.endpoint)
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        made.set_alpn_protocols(["h2"])
        return Raw(None, made.wrap_socket(wire.connect(self.running.secure), server_hostname="app.example"))

    def ask(self, secure):
        try:
            while not self.stopped.is_set():
                with self.connect(secure) as raw:
                    stream, goes_on = 1, True
                    while goes_on and not self.stopped.is_set():
                        raw.ask(stream, BYTES)
                        goes_on = self.take(raw, stream)
                        stream += 2
        except Exception as why:  # noqa: BLE001
            self.failures.append(repr(why))

    def take(self, raw, stream):
        """Reads one answer; whether the connection goes on."""
        goes_on = True
        while True:
            came = raw.frame()
            assert came is not None, "the connection was closed"
            if isinstance(came, GoAwayFrame):
                assert came.error_code == NO_ERROR and came.last_stream_id >= stream, came
                goes_on = False
            elif came.stream_id == stream:
                assert not isinstance(came, RstStreamFrame), came
                if isinstance(came, HeadersFrame):
                    assert dict(came.fields)[":status"] == "200", came.fields
                if "END_STREAM" in came.flags:
                    with self.lock:
                        self.answered += 1
                    return goes_on

    def more(self, count):
        start = self.answered
        while self.answered < start + count and not self.failures:
            time.sleep(0.01)

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)
        return self.answered


def test_twenty_upgrades_under_load_lose_no_request_and_no_count(served, load, eventually):
    running = served("--drain", "60s", "--threads", "2")
    checker = load(running.endpoint, "--connections", 16, "--sockets", 4, "--churn", 50)
    streams = Streams(running, 4)
    checker.more(50)
    workers = [running.worker_pid()]
    sockets = sockets_listened_at(running, workers[0])
    assert len(sockets) == 4
    for n in range(20):
        done = upgrade(running)
        assert (done["before_pid"], done["worker_pid"]) == (workers[-1], running.worker_pid())
        workers.append(done["worker_pid"])
        assert sockets_listened_at(running, workers[-1]) == sockets
        checker.more(50)
        streams.more(20)
    over_http2 = streams.end()
    counts = checker.end()
    assert (counts["failed"], counts["failures"], streams.failures) == (0, {}, [])
    assert len(set(workers)) == 21
    eventually(lambda: not any(lives(pid) for pid in workers[:-1]), "a worker of before does not end")
    opened = counts["ok"] + sum(counts["socket_revisions"].values()) + over_http2
    assert counted(running) == opened


def test_a_kept_connection_is_answered_once_more_and_told_to_go(served):
    running = served("--drain", "60s")
    with wire.Client(running.endpoint) as kept, wire.Client(running.endpoint) as other:
        for client in (kept, other):
            assert client.ask(target="/b/1/10").status == 200
        upgrade(running)
        answer = kept.ask(target="/b/1/10")
        assert (answer.status, answer.get("Connection")) == (200, "close")
        assert kept.closed()
        assert other.ask(target="/b/1/10").status == 200, "idle as it was, it was not closed"
    with wire.Client(running.endpoint) as fresh:
        for _ in range(3):
            assert fresh.ask(target="/b/1/10").get("Connection") != "close"


def test_http2_is_told_twice_and_streams_under_way_finish(served):
    running = served("--drain", "60s")
    with Raw(running.endpoint) as raw:
        raw.ask(1, BYTES)
        while not isinstance(raw.frame(), HeadersFrame):
            pass
        upgrade(running)
        ends = []
        raw.ask(3, BYTES)
        statuses = []
        while (came := raw.frame()) is not None:
            if isinstance(came, GoAwayFrame):
                ends.append((came.last_stream_id, came.error_code))
            if isinstance(came, HeadersFrame) and came.stream_id == 3:
                statuses.append(dict(came.fields)[":status"])
    assert statuses == ["200"]
    assert ends[0] == (2**31 - 1, NO_ERROR) and ends[-1] == (3, NO_ERROR) and len(ends) > 1


def test_a_websocket_stays_until_the_drain_is_over(served, named):
    running = served("--drain", "2s", upstream=named("r1"))
    with wire.WebSocket(running.endpoint) as socket:
        socket.echo(b"before")
        before = upgrade(running)["before_pid"]
        socket.echo(b"after")
        assert lives(before)
        opcode, payload = socket.frame()
        assert (opcode, int.from_bytes(payload[:2], "big")) == (8, 1012)


def test_another_number_of_threads_serves_all_sockets(served, load):
    running = served("--threads", "3", "--drain", "60s")
    checker = load(running.endpoint, "--connections", 8, "--churn", 5)
    for threads in ("1", "4", "2"):
        checker.more(50)
        upgrade(running, "--threads", threads)
        assert running.stats()["threads"] == int(threads)
    checker.more(50)
    counts = checker.end()
    assert (counts["failed"], counts["failures"]) == (0, {})


@pytest.mark.parametrize("binary", ["/bin/false", "/bin/sleep"])
def test_a_binary_that_does_not_serve_changes_nothing(served, load, binary):
    running = served("--threads", "2")
    checker = load(running.endpoint, "--connections", 8)
    checker.more(50)
    worker = running.worker_pid()
    said = upgrade(running, "--binary", binary, code=9)
    assert "the worker before serves on" in said
    assert running.worker_pid() == worker
    checker.more(50)
    counts = checker.end()
    assert (counts["failed"], counts["failures"]) == (0, {})
    assert upgrade(running)["before_pid"] == worker, "and the next one goes well"


def test_orders_are_kept_over_an_upgrade(router, fast):
    first, second = fast("r1"), fast("r2")
    running = router(None)
    assert running.load(table(deployment(revision("r1", 10000, first.address))))["ok"]
    assert running.patch(deployment(revision("r2", 10000, second.address)))["ok"]
    upgrade(running)
    assert running.stats()["generation"] == 2
    assert wire.ask(running.endpoint, target="/b/1/10").get("X-Revision") == "r2"
    assert running.patch(deployment(revision("r1", 10000, first.address)))["ok"]
    assert wire.ask(running.endpoint, target="/b/1/10").get("X-Revision") == "r1"


def test_pins_go_along(router, fast):
    upstreams = [fast("r2"), fast("r1")]
    running = router(table(deployment(revision("r2", 5000, upstreams[0].address), revision("r1", 5000, upstreams[1].address),
                                      mode="session", sticky={"key_header": "X-Session"}), cookie_keys=[]))

    def home_of(session):
        return wire.ask(running.endpoint, target="/b/1/1", headers=[("X-Session", session)]).get("X-Revision")

    homes = {f"s{n}": home_of(f"s{n}") for n in range(40)}
    assert set(homes.values()) == {"r1", "r2"}
    upgrade(running)
    assert {session: home_of(session) for session in homes} == homes


def test_proofs_for_an_authority_go_along(served):
    running = served()
    folder = Path(running.ask(op="certificates")["challenges_folder"])
    folder.mkdir(parents=True)
    (folder / "token-1.json").write_text(json.dumps(
        {"kind": "http-01", "name": "app.example", "token": "token-1", "key_authorization": "token-1.thumbprint"}))
    assert running.ask(op="certificates")["challenges"] == ["token-1"]

    def proof():
        return wire.ask(running.endpoint, target="/.well-known/acme-challenge/token-1").body

    assert proof() == b"token-1.thumbprint"
    upgrade(running)
    assert proof() == b"token-1.thumbprint"


def test_tls_sessions_are_resumed_by_the_new_one(served):
    running = served()
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE

    def ask(session=None):
        with made.wrap_socket(wire.connect(running.secure), server_hostname="app.example", session=session) as sock:
            sock.sendall(wire.request(target="/b/1/10"))
            assert wire.read_answer(wire.Stream(sock)).status == 200
            return sock.session, sock.session_reused

    session, _ = ask()
    upgrade(running)
    assert ask(session)[1]


def test_a_worker_that_dies_later_is_started_again_as_the_new_program(served, eventually):
    running = served()
    done = upgrade(running)
    os.kill(done["worker_pid"], signal.SIGKILL)
    assert wire.ask(running.endpoint, target="/b/1/10").status == 200
    eventually(lambda: running.open_control().ask(op="stats")["worker_pid"] != done["worker_pid"], "it is not there again")
    running.control = running.open_control()
    words = open(f"/proc/{running.worker_pid()}/cmdline").read().split("\0")
    assert words[1] == "router-worker"


def test_a_master_that_is_killed_after_an_upgrade_is_followed_by_one_that_can_upgrade(served, sluice, begin, eventually):
    running = served("--threads", "2")
    worker = upgrade(running)["worker_pid"]
    running.process.kill()
    running.process.wait(timeout=60)
    words = open(f"/proc/{worker}/cmdline").read()
    assert "router-worker" in words
    options = ["--listen", running.endpoint, "--listen", running.secure + ",tls", "--admin", running.facts["admin"], "--trust",
               str(running.folder / "trust.pem"), "--certificates", running.folder.parent / "certificates", "--access-log",
               str(running.folder / "access.log"), "--table", str(running.folder / "table.json")]
    again = subprocess.Popen([str(sluice), "router", "run", *map(str, options)], stdout=subprocess.PIPE, text=True,
                             env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(running.folder / "home")})
    try:
        assert json.loads(again.stdout.readline())["pid"] == again.pid
        assert running.open_control().ask(op="stats")["worker_pid"] == worker, "it was adopted"
        assert upgrade(running)["before_pid"] == worker
    finally:
        again.terminate()
        assert again.wait(timeout=60) == 0
        again.stdout.close()


def test_a_router_that_does_not_run_is_not_upgraded(sluice, tmp_path):
    ran = subprocess.run([str(sluice), "router", "upgrade"], capture_output=True, text=True, timeout=60,
                         env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(tmp_path / "home")})
    assert ran.returncode == 1 and "no router main runs in this home" in ran.stderr
