"""Changes under load, drains, kills and what is kept on disk. The load never retries and verifies every byte
(checker_load.h), so `failed` is what a client would have felt."""

import json
import os
import signal
import struct
import subprocess
import threading

import pytest
import wire
from router_process import DEPLOYMENT, Control, Key, deployment, revision, table


@pytest.fixture
def served(router, fast, tmp_path):
    """A router before r2 (at a Unix socket) and r1."""
    upstreams = {"r2": fast("r2", f"unix:{tmp_path}/r2"), "r1": fast("r1")}

    def split(weight, first=None, second=None, **more):
        return deployment(revision("r2", weight, upstreams["r2"].address, **(first or {})),
                          revision("r1", 10000 - weight, upstreams["r1"].address, **(second or {})), **more)

    def start(weight, *options, stored=False, **more):
        if stored:
            running = router(None, *options)
            assert running.load(table(split(weight, **more)))["ok"]
        else:
            running = router(table(split(weight, **more)), *options)
        running.split, running.upstreams = split, upstreams
        return running

    return start


def kinds_of(counts):
    return counts["failed"], counts["failures"]


# --- changes ---------------------------------------------------------------------------------------------------------


def test_a_change_counts_for_the_first_request_behind_its_acknowledgement(served):
    running = served(0)
    with wire.Client(running.endpoint) as client:
        for n in range(300):
            weight = 10000 if n % 2 else 0
            assert running.patch(running.split(weight))["ok"]
            assert client.ask(target="/b/1/10").get("X-Revision") == ("r2" if weight else "r1")
            assert wire.ask(running.endpoint, target="/b/1/10").get("X-Revision") == ("r2" if weight else "r1")


def test_a_thousand_changes_under_load_fail_nothing(served, load):
    running = served(5000, mode="session")
    checker = load(running.endpoint, "--connections", 16)
    checker.more(100)
    for n in range(1000):
        answer = running.patch(running.split(n * 37 % 10001, mode="session", generation=n + 1))
        assert answer["ok"] and answer["generation"] == n + 2
    checker.more(100)
    counts = checker.end()
    assert kinds_of(counts) == (0, {}) and counts["ok"] > 200


def test_replicas_that_change_under_load_fail_nothing(served, fast, load):
    """Ten deploys and ten rollbacks: each a new upstream, shifted to, and the old one gone."""
    running = served(0)
    checker = load(running.endpoint, "--connections", 16)
    checker.more(100)
    old = running.upstreams["r1"]
    for n in range(10):
        new = fast(f"v{n}")
        both = deployment(revision(f"v{n}", 0, new.address), revision("r1", 10000, old.address))
        shifted = deployment(revision(f"v{n}", 10000, new.address), revision("r1", 0, old.address))
        back = deployment(revision("r1", 10000, old.address), revision(f"v{n}", 0, new.address, state="draining"))
        for change in [both, shifted]:
            assert running.patch(change)["ok"]
        checker.until(lambda now: now["revisions"].get(f"v{n}", 0) > 50)
        assert running.patch(back)["ok"]
        while not running.ask(op="drain", deployment=DEPLOYMENT, revision=f"v{n}", ms=10000)["done"]:
            pass
        assert running.patch(deployment(revision("r1", 10000, old.address)))["ok"]
        new.stop()
        checker.more(100)
    assert kinds_of(checker.end()) == (0, {})


def test_whole_tables_under_load_fail_nothing(served, load):
    running = served(5000)
    others = [deployment(revision("r1", 10000, "unix:/nowhere"), name=f"d{n}", hosts=(f"host{n}.example",)) for n in range(5000)]
    checker = load(running.endpoint, "--connections", 16)
    checker.more(100)
    for n in range(10):
        answer = running.load(table(running.split(n * 1000), *others, generation=running.generation + 1))
        assert answer["ok"] and answer["quarantined"] == []
    checker.more(100)
    assert kinds_of(checker.end()) == (0, {})


def test_revisions_beyond_the_counters_are_still_told_apart(router, named):
    """More revisions than there are series to count them: requests, cookies and retries still find their own."""
    others = [deployment(revision("r1", 10000, "unix:/nowhere"), name=f"d{n}", hosts=(f"host{n}.example",)) for n in range(17_000)]
    last = [deployment(revision("r2", 5000, named(f"{name}-r2").address), revision("r1", 5000, named(f"{name}-r1").address),
                       name=name, hosts=(f"{name}.example",), mode="session", sticky={"key_header": "X-Session"}) for name in ("a", "b")]
    running = router(table(*others, *last))
    for host in ("a", "b"):
        visitors = [wire.Client(running.endpoint, cookies=True) for _ in range(10)]
        homes = [visitor.ask(host=f"{host}.example").get("X-Revision") for visitor in visitors]
        assert set(homes) == {f"{host}-r1", f"{host}-r2"}
        for _ in range(3):
            assert [visitor.ask(host=f"{host}.example").get("X-Revision") for visitor in visitors] == homes
        for visitor in visitors:
            visitor.close()
        pinned = [[wire.ask(running.endpoint, host=f"{host}.example", headers=[("X-Session", f"s{n}")]).get("X-Revision")
                   for n in range(20)] for _ in range(2)]
        assert pinned[0] == pinned[1] and set(pinned[0]) == {f"{host}-r1", f"{host}-r2"}


def test_a_table_file_is_read_again_on_sighup(served, eventually):
    running = served(0)
    (running.folder / "table.json").write_text(json.dumps(table(running.split(10000), generation=2)))
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: wire.ask(running.endpoint, target="/b/1/1").get("X-Revision") == "r2", "the file was not read again")
    (running.folder / "table.json").write_text("{")
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: running.said(), "a bad file is not told of")
    assert wire.ask(running.endpoint, target="/b/1/1").get("X-Revision") == "r2"


# --- orders that are refused -----------------------------------------------------------------------------------------


def test_orders_of_strangers_are_refused(served):
    running = served(0)
    for refused in [running.load(table(running.split(10000), generation=2), key=Key()),
                    running.patch(running.split(10000), key=Key()),
                    running.patch(running.split(10000), environment="prod"),
                    running.patch(running.split(10000), router="01JSOMEBODYELSE")]:
        assert not refused["ok"] and refused["generation"] == 1 and refused["message"]
    body = json.dumps({"schema": "sluice.router-patch.v1", "deployment": running.split(10000)}).encode()
    for order in ["", "{}", "x", running.order("patch", body, 2, 1)[:-10], running.order("load", body, 2),
                  running.order("patch", body + b" ", 2, 1), running.order("patch", body, 2, 1).replace('"sig": "', '"sig": "A')]:
        answer = running.ask(body, op="patch", order=order)
        assert not answer["ok"], order
    assert wire.ask(running.endpoint, target="/b/1/1").get("X-Revision") == "r1"
    assert running.patch(running.split(10000))["ok"]


def test_a_gap_asks_for_a_load(served):
    running = served(0)
    body = json.dumps({"schema": "sluice.router-patch.v1", "deployment": running.split(10000)}).encode()
    for generation, start in [(3, 2), (5, 1), (1, 0), (2, 0)]:
        answer = running.ask(body, op="patch", order=running.order("patch", body, generation, start))
        assert (answer["ok"], answer["code"], answer["needs"], answer["generation"]) == (False, "conflict", "load", 1)
    assert running.load(table(running.split(10000), generation=9))["ok"]
    assert not running.load(table(running.split(0), generation=9))["ok"], "another table of the same generation"
    assert running.load(table(running.split(10000), generation=9))["ok"], "the same again"
    assert not running.load(table(running.split(0), generation=8))["ok"]
    assert running.patch(running.split(5000))["generation"] == 10


def test_the_same_patch_again_is_acknowledged_again(served):
    running = served(0)
    body = json.dumps({"schema": "sluice.router-patch.v1", "deployment": running.split(10000)}).encode()
    order = running.order("patch", body, 2, 1)
    assert [running.ask(body, op="patch", order=order)["generation"] for _ in range(3)] == [2, 2, 2]


@pytest.mark.parametrize("line", [b"x\n", b"{}\n", b"[]\n", b'{"op":7}\n', b'{"op":"nothing"}\n', b'{"op":"stats","bytes":-1}\n',
                                  b'{"op":"load","order":"x","bytes":99999999999}\n', b"\0\n", b"[" * 60000 + b"\n", b"x" * 100_000 + b"\n",
                                  b'{"op":"drain"}\n', b'{"op":"hold","deployment":7,"ms":"x"}\n'])
def test_nonsense_on_the_control_socket_is_refused_and_harms_nothing(served, line):
    running = served(0)
    control = Control(running.facts["control"])
    try:
        control.sock.sendall(line)
        assert json.loads(control.stream.line())["ok"] is False
    except (wire.Ended, BrokenPipeError):
        pass  # too long to go on with
    control.close()
    assert running.stats()["generation"] == 1


BAD = {
    "weights": lambda d: d["revisions"][0].update(weight_bps=1),
    "twice": lambda d: d["revisions"].append(dict(d["revisions"][0], weight_bps=0)),
    "draining-with-weight": lambda d: d["revisions"][0].update(state="draining"),
    "address": lambda d: d["revisions"][0]["replicas"].append({"address": "tcp:localhost:80"}),
    "state": lambda d: d["revisions"][0].update(state="asleep"),
    "mode": lambda d: d["stickiness"].update(mode="often"),
    "unknown-field": lambda d: d.update(colour="red"),
    "host": lambda d: d["routes"].update(hosts=["a b"]),
    "same-route": lambda d: d["routes"].update(hosts=["app.example"]),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_deployment_that_is_wrong_is_quarantined_alone(router, named, name):
    good, other = named("good"), named("other")
    wrong = deployment(revision("r2", 5000, other.address), revision("r1", 5000, other.address), name="wrong", hosts=("wrong.example",))
    BAD[name](wrong)
    running = router(table(deployment(revision("r1", 10000, good.address))))
    answer = running.load(table(deployment(revision("r1", 10000, good.address)), wrong, generation=2))
    assert answer["ok"] and [one["deployment"] for one in answer["quarantined"]] == ["wrong"] and answer["quarantined"][0]["reason"]
    assert wire.ask(running.endpoint).get("X-Revision") == "good"
    assert wire.ask(running.endpoint, host="wrong.example").status == 404
    assert [one["deployment"] for one in running.stats()["quarantined"]] == ["wrong"]


def test_a_patch_that_is_wrong_leaves_the_deployment_as_it_was(served):
    running = served(0)
    wrong = running.split(0)
    wrong["revisions"][0]["weight_bps"] = 5
    answer = running.patch(wrong)
    assert not answer["ok"] or answer["quarantined"]
    assert wire.ask(running.endpoint, target="/b/1/1").get("X-Revision") == "r1"


def test_a_table_that_is_no_table_changes_nothing(served):
    running = served(0)
    for body in [b"", b"{", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, json.dumps({**table(), "generation": 0}).encode(),
                 json.dumps({**table(generation=2), "colour": 1}).encode(), json.dumps({**table(generation=2), "schema": "x"}).encode()]:
        assert not running.ask(body, op="load", order=running.order("load", body, 2))["ok"], body[:50]
    assert running.stats()["generation"] == 1 and wire.ask(running.endpoint, target="/b/1/1").status == 200


# --- drains ----------------------------------------------------------------------------------------------------------


def test_greentic20_a_drain_under_load_fails_nothing(served, load, eventually):
    """HTTP and WebSockets go on, new sessions stop, sockets get 1012, and the process behind can end."""
    running = served(5000, mode="session")
    checker = load(running.endpoint, "--connections", 16, "--sockets", 20, "--sticky", "--may-move")
    checker.until(lambda now: now["frames"] > 100 and set(now["socket_revisions"]) == {"r1", "r2"} and now["ok"] > 500)
    assert running.patch(running.split(0, mode="session", first={"state": "draining", "drain_seconds": 10}))["ok"]
    while True:
        answer = running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=10000)
        assert answer["ok"]
        if answer["done"]:
            break
    assert answer["in_flight"] == 0 and answer["websockets"] == 0
    running.upstreams["r2"].stop()
    checker.counts()
    before = checker.more(50)["revisions"]["r2"]
    counts = checker.more(500)
    assert counts["revisions"]["r2"] == before, "requests still reach it"
    counts = checker.until(lambda now: now["sockets_open"] == 20)
    counts = checker.end()
    assert kinds_of(counts) == (0, {})
    assert set(counts["socket_closes"]) == {"1012"} and counts["socket_closes"]["1012"] == counts["sockets_opened"] - 20


def test_websockets_stay_where_they_are_across_a_rollback(router, named):
    upstreams = {name: named(name) for name in ("r2", "r1")}

    def split(weight):
        return deployment(revision("r2", weight, upstreams["r2"].address), revision("r1", 10000 - weight, upstreams["r1"].address))

    running = router(table(split(10000)))
    with wire.WebSocket(running.endpoint) as socket_:
        assert socket_.opening.get("X-Revision") == "r2"
        assert socket_.echo(b"before") == (2, b"before")
        assert running.patch(split(0))["ok"]
        assert wire.ask(running.endpoint).get("X-Revision") == "r1"
        for n in range(50):
            assert socket_.echo(b"after %d" % n) == (2, b"after %d" % n)
        assert running.revision_stats("r2")["websockets"] == 1
        answer = running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=10000)
        opcode, payload = socket_.frame()
        assert opcode == 8 and struct.unpack(">H", payload[:2]) == (1012,)
        socket_.send_frame(payload, 8)
        assert socket_.closed()
        while not answer["done"]:
            answer = running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=10000)


def test_a_drain_waits_for_what_is_under_way_and_no_longer_than_asked(router, upstream, named, eventually):
    go = threading.Event()

    def script(connection, stream):
        while True:
            target = wire.read_request(stream).target
            if target == "/slow":
                go.wait(60)
            elif target == "/never":
                stream.more()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")

    slow, other = upstream(script), named("r1")

    def split(weight, state="ready"):
        return deployment(revision("r2", weight, slow.address, state=state), revision("r1", 10000 - weight, other.address))

    running = router(table(split(10000)))
    with wire.Client(running.endpoint) as first, wire.Client(running.endpoint) as second:
        first.send(wire.request(target="/slow"))
        second.send(wire.request(target="/never"))
        eventually(lambda: running.revision_stats("r2")["in_flight"] == 2, "they are not under way")
        assert running.patch(split(0, "draining"))["ok"]
        answer = running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=2000)
        assert not answer["done"] and answer["in_flight"] == 2
        go.set()
        assert first.answer().body == b"slow"
        assert wire.ask(running.endpoint).get("X-Revision") == "r1"
        # The other is cut when its time is over.
        try:
            assert second.answer().status in (502, 503, 504)
        except wire.Ended:
            pass
        eventually(lambda: running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=2000)["done"], "the drain does not end")


def test_a_drained_revision_that_is_ready_again_is_used_again(served):
    running = served(5000)
    assert running.patch(running.split(0, first={"state": "draining"}))["ok"]
    assert running.ask(op="drain", deployment=DEPLOYMENT, revision="r2", ms=100)["done"]
    assert running.patch(running.split(10000))["ok"]
    assert wire.ask(running.endpoint, target="/b/1/1").get("X-Revision") == "r2"


# --- ends and restarts -----------------------------------------------------------------------------------------------


def test_an_orderly_stop_finishes_what_is_under_way(router, upstream, eventually):
    go = threading.Event()

    def script(connection, stream):
        wire.read_request(stream)
        go.wait(60)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")

    running = router(table(deployment(revision("r1", 10000, upstream(script).address))), "--threads", "1")
    facts = running.folder / "home" / "router" / "main" / "router.json"
    assert json.loads(facts.read_text()) == running.facts
    with wire.Client(running.endpoint) as busy, wire.Client(running.endpoint) as idle:
        busy.send(wire.request())
        eventually(lambda: running.revision_stats("r1")["in_flight"] == 1, "it is not under way")
        running.process.send_signal(signal.SIGTERM)
        assert idle.closed()
        go.set()
        answer = busy.answer()
        assert answer.body == b"late" and answer.get("Connection").lower() == "close"
    assert running.process.wait(timeout=60) == 0
    assert not facts.exists()


def test_a_killed_worker_is_back_from_the_last_good_state(served, load, eventually):
    """Without the control plane. Only what was under way in that moment fails."""
    running = served(0, stored=True)
    for n in range(20):
        assert running.patch(running.split(10000 if n == 19 else 0))["ok"]
    checker = load(running.endpoint, "--connections", 8, "--churn", 10)
    checker.until(lambda now: now["ok"] > 200)
    worker = running.worker_pid()
    os.kill(worker, signal.SIGKILL)
    counts = checker.more(1000)
    assert counts["failed"] <= 8 and set(counts["failures"]) <= {"fresh", "reused", "cut"}, counts
    running.control.close()
    running.control = Control(running.facts["control"])
    stats = running.stats()
    assert stats["worker_pid"] != worker and stats["generation"] == 21
    checker.more(500)
    assert checker.end()["failed"] == counts["failed"]
    assert set(counts["revisions"]) == {"r2"}
    assert running.patch(running.split(0))["ok"]


def test_a_worker_that_is_killed_again_and_again_is_back_each_time(served, eventually):
    running = served(0, stored=True)
    for _ in range(3):
        worker = running.worker_pid()
        os.kill(worker, signal.SIGKILL)
        assert wire.ask(running.endpoint, target="/b/1/1").status == 200
        running.control.close()
        running.control = Control(running.facts["control"])
        assert running.worker_pid() != worker


def test_a_router_that_starts_again_has_its_last_state(served, router, sluice):
    running = served(0, stored=True)
    for n in range(5):
        assert running.patch(running.split(n))["ok"]
    running.stop()
    running.start()
    assert running.stats()["generation"] == 6 and running.admin("/readyz").status == 200
    assert wire.ask(running.endpoint, target="/b/1/1").status == 200


def state_of(running):
    return running.folder / "home" / "router" / "main"


@pytest.mark.parametrize("how", ["cut", "flipped", "more"])
def test_patches_that_are_damaged_are_left_out_from_there(served, how):
    running = served(0, stored=True)
    sizes = []
    for n in range(5):
        assert running.patch(running.split(n))["ok"]
        sizes.append((state_of(running) / "patches").stat().st_size)
    running.stop()
    patches = state_of(running) / "patches"
    data = bytearray(patches.read_bytes())
    if how == "cut":
        data = data[:sizes[3] - 10]
    elif how == "flipped":
        data[sizes[2] + 60] ^= 1
    else:
        data += b"\x10\0\0\0\0\0\0\0" + b"nonsense" * 6
    patches.write_bytes(data)
    running.start()
    expected = 6 if how == "more" else 4
    assert running.stats()["generation"] == expected
    running.generation = expected
    assert running.patch(running.split(77))["ok"], "the next patch follows what was read"
    running.stop()
    running.start()
    assert running.stats()["generation"] == expected + 1


@pytest.mark.parametrize("how", ["flipped", "cut", "another-key", "empty"])
def test_a_snapshot_that_does_not_verify_is_not_used(served, how):
    running = served(0, stored=True)
    running.stop()
    snapshot = state_of(running) / "snapshot"
    data = bytearray(snapshot.read_bytes())
    if how == "flipped":
        data[-50] ^= 1
    elif how == "cut":
        data = data[:-50]
    elif how == "empty":
        data = b""
    else:
        (running.folder / "trust.pem").write_bytes(Key().pem())
    snapshot.write_bytes(data)
    running.start()
    assert running.admin("/readyz").status == 503 and wire.ask(running.endpoint).status == 503


def test_a_second_router_of_the_same_name_is_refused(served, sluice, tmp_path):
    running = served(0)
    second = subprocess.run([str(sluice), "router", "run", "--listen", "127.0.0.1:0", "--trust", str(running.folder / "trust.pem")],
                            capture_output=True, text=True, timeout=60,
                            env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(running.folder / "home")})
    assert second.returncode != 0 and "main" in second.stderr


def test_usage_is_the_clients_own_count_even_after_a_kill(served, eventually):
    running = served(0, stored=True)
    sent = 0
    for _ in range(3):
        with wire.Client(running.endpoint) as client:
            for n in range(100):
                assert client.ask(target=f"/b/{n}/100").status == 200
                sent += 1
        eventually(lambda: sum(one["requests"] for one in running.ask(op="usage")["series"]) == sent, "some are not counted yet")
        os.kill(running.worker_pid(), signal.SIGKILL)
        assert wire.ask(running.endpoint, target="/b/1/1").status == 200
        sent += 1
        running.control.close()
        running.control = Control(running.facts["control"])
    usage = running.ask(op="usage")
    eventually(lambda: sum(one["requests"] for one in running.ask(op="usage")["series"]) == sent, "a kill has lost counts")
    series = [one for one in usage["series"] if one["revision"] == "r1"]
    assert len(series) == 1 and (series[0]["bundle"], series[0]["customer"], series[0]["tenant"]) == ("app", "acme", "default")
    assert running.ask(op="usage")["sequence"] > usage["sequence"] and running.ask(op="usage")["epoch"] == usage["epoch"]
