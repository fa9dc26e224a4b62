"""Session pins in a real Redis: they outlive a router and are shared by many, and a Redis that dies, hangs or refuses costs no
request. A look-up that was late is made up for behind the request's back, so tests wait until what is asked holds, and count."""

import json
import os
import signal

import pytest
import redis_server
import wire
from router_process import DEPLOYMENT, Router, deployment, revision, table

HASH = f"sl:rev_pin:local:{DEPLOYMENT}:default"
STICKY = {"key_header": "X-Session", "ttl_s": 40}


@pytest.fixture
def redis(tmp_path, begin):
    """Starts a Redis."""
    return lambda **more: begin(redis_server.Redis(tmp_path / "redis", **more)).start()


@pytest.fixture
def shop(router, fast):
    """Starts routers before one r1 and one r2, half of the sessions for each. Without cookies: only pins make them stay."""
    upstreams = {"r2": fast("r2"), "r1": fast("r1")}

    def made(url, generation=1):
        return table(deployment(revision("r2", 5000, upstreams["r2"].address), revision("r1", 5000, upstreams["r1"].address),
                                mode="session", sticky=STICKY),
                     generation=generation, cookie_keys=[], **({"pins": {"redis": url}} if url else {}))

    def start(url, *options):
        running = router(made(url), *options)
        running.made = made
        return running

    return start


def home_of(running, session):
    answer = wire.ask(running.endpoint, target="/b/1/1", headers=[("X-Session", session)])
    assert answer.status == 200
    return answer.get("X-Revision")


def pins(running):
    return running.stats()["pins"]


def pinned(running, redis, eventually, count=24, prefix="s"):
    """So many sessions with their homes, once all of them are in Redis."""
    before = redis.ask("HLEN", HASH)
    eventually(lambda: pins(running)["redis"] == "connected", lambda: f"not connected: {pins(running)}")
    homes = {f"{prefix}{n}": home_of(running, f"{prefix}{n}") for n in range(count)}
    assert set(homes.values()) == {"r1", "r2"}
    # What could not be written at once is written when it is used in another quarter of its time.
    eventually(lambda: redis.ask("HLEN", HASH) >= before + count or not [home_of(running, session) for session in homes],
               lambda: f"not all are written: {pins(running)}")
    return homes


def stays(running, homes, eventually):
    eventually(lambda: {session: home_of(running, session) for session in homes} == homes, "sessions have moved")


# --- pins that last --------------------------------------------------------------------------------------------------


def test_pins_survive_a_kill_of_the_router(shop, redis, sluice, begin, eventually):
    server = redis()
    running = shop(server.url())
    homes = pinned(running, server, eventually)
    for pid in [running.facts["pid"], running.worker_pid()]:
        os.kill(pid, signal.SIGKILL)
    running.process.wait(timeout=60)
    again = begin(Router(sluice, running.folder, running.key).start(running.made(server.url())))
    stays(again, homes, eventually)
    assert pins(again)["hits"] > 0


def test_pins_are_shared_by_two_routers(shop, redis, eventually):
    server = redis()
    first, second = shop(server.url()), shop(server.url())
    homes = pinned(first, server, eventually)
    stays(second, homes, eventually)
    more = pinned(second, server, eventually, prefix="t")
    stays(first, {**homes, **more}, eventually)


def test_without_redis_two_routers_differ(shop):
    """So that the tests above prove something."""
    first, second = shop(None), shop(None)

    def homes(router, name):
        return [home_of(router, f"{name}{n}") for n in range(24)]

    differ = homes(first, "s") != homes(second, "s")
    home_of(second, "alone")  # if they were in step, they are no longer
    assert differ or homes(first, "t") != homes(second, "t")
    assert pins(first)["redis"] == "none"


def test_two_routers_that_see_a_session_at_once_agree_in_the_end(shop, redis, eventually):
    server = redis()
    routers = [shop(server.url()), shop(server.url())]
    for each in routers:
        eventually(lambda each=each: pins(each)["redis"] == "connected")
    for n in range(24):
        clients = [wire.Client(each.endpoint) for each in routers]
        for client in clients:
            client.send(wire.request(target="/b/1/1", headers=[("X-Session", f"s{n}")]))
        for client in clients:
            assert client.answer().status == 200
            client.close()
    eventually(lambda: [home_of(routers[0], f"s{n}") for n in range(24)] == [home_of(routers[1], f"s{n}") for n in range(24)])


def test_what_is_in_redis_is_as_documented_and_names_no_session(shop, redis, eventually):
    server = redis()
    homes = pinned(shop(server.url()), server, eventually, prefix="secret-session-")
    assert server.ask("KEYS", "*") == [HASH]
    stored = server.ask("HGETALL", HASH)
    fields, values = stored[::2], stored[1::2]
    assert not [field for field in fields if "secret" in field] and {len(field) for field in fields} == {22}
    now = int(server.ask("TIME")[0])
    assert sorted(value.split(":")[0] for value in values) == sorted(homes.values())
    assert all(now - 600 <= int(value.split(":")[1]) <= now + 600 for value in values)
    assert 0 < server.ask("TTL", HASH) <= 100


def test_pins_that_have_run_out_are_removed_from_redis(shop, redis, eventually):
    server = redis()
    running = shop(server.url())
    for n in range(200):
        server.ask("HSET", HASH, f"old{n}", "r1:1000000000")
    pinned(running, server, lambda *_: None, count=64)
    sessions = iter(range(10**6))

    def gone():
        home_of(running, f"more{next(sessions)}")
        return not [field for field in server.ask("HKEYS", HASH) if field.startswith("old")]

    eventually(gone, "what has run out is still there")


# --- a Redis in trouble ----------------------------------------------------------------------------------------------


def test_a_redis_that_is_killed_under_load_fails_nothing(shop, redis, load, eventually):
    server = redis()
    running = shop(server.url(), "--threads", "2")
    eventually(lambda: pins(running)["redis"] == "connected")
    checker = load(running.endpoint, "--connections", 16, "--sessions")
    for _ in range(3):
        checker.more(200)
        eventually(lambda: pins(running)["writes"] > 0)
        server.kill()
        checker.more(200)
        eventually(lambda: pins(running)["redis"] == "down")
        checker.more(200)
        server.start()
        eventually(lambda: pins(running)["redis"] == "connected", lambda: f"it is not found again: {pins(running)}")
        hits = server.ask("HLEN", HASH)
        eventually(lambda: server.ask("HLEN", HASH) > hits, "nothing is written any more")
    counts = checker.end()
    assert (counts["failed"], counts["failures"]) == (0, {}) and counts["ok"] > 1000


def test_requests_go_on_while_redis_hangs(shop, redis, load, eventually):
    server = redis()
    running = shop(server.url())
    homes = pinned(running, server, eventually)
    server.signal(signal.SIGSTOP)
    try:
        for n in range(40):
            assert home_of(running, f"hung{n}") in {"r1", "r2"}
        assert {session: home_of(running, session) for session in homes} == homes, "the memory knows these"
        checker = load(running.endpoint, "--connections", 16, "--sessions")
        checker.more(500)
        assert pins(running)["timeouts"] > 0 and pins(running)["redis"] == "down"
    finally:
        server.signal(signal.SIGCONT)
    eventually(lambda: pins(running)["redis"] == "connected", "it is not found again")
    checker.more(500)
    counts = checker.end()
    assert (counts["failed"], counts["failures"]) == (0, {})


def test_a_redis_that_comes_later_is_found(shop, redis, eventually):
    port = redis_server.free_port()
    running = shop(f"redis://127.0.0.1:{port}")
    assert home_of(running, "early") in {"r1", "r2"}
    eventually(lambda: pins(running)["error"] == "it cannot be reached")
    server = redis(port=port)
    pinned(running, server, eventually)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"+OK\r\n+OK\r\n+OK\r\n", b"*-5\r\n", b"\0" * 5000,
                                  b"-DENIED\r\n", b"+PONG\r\n:1\r\n:1\r\n:1\r\n"],
                         ids=["closes", "http", "too-much", "bad-length", "zeros", "denies", "numbers"])
def test_what_is_no_redis_is_no_trouble(shop, upstream, said, eventually):
    def script(connection, stream):
        stream.line()
        connection.sendall(said)

    liar = upstream(script)
    running = shop(f"redis://{liar.address.removeprefix('tcp:')}")
    for n in range(50):
        assert home_of(running, f"s{n}") in {"r1", "r2"}
    eventually(lambda: pins(running)["redis"] == "down" and pins(running)["error"])
    assert [home_of(running, "s1") for _ in range(5)] == [home_of(running, "s1")] * 5


# --- who is let in ---------------------------------------------------------------------------------------------------


def test_a_password_and_a_database_are_used_and_never_told(shop, redis, eventually):
    server = redis(password="hunter2")
    running = shop(server.url("/3"))
    eventually(lambda: pins(running)["redis"] == "connected")
    home_of(running, "ann")
    eventually(lambda: "db3" in server.ask("INFO", "keyspace"))
    wrong = shop(server.url("/3").replace("hunter2", "hunter22"))
    eventually(lambda: pins(wrong)["error"] == "it refuses the password")
    missing = shop(server.url().replace(":hunter2@", ""))
    eventually(lambda: pins(missing)["error"] == "it wants a password")
    assert not wrong.load(wrong.made("redis://:hunter2@host:port", generation=2))["ok"]
    for each in (running, wrong, missing):
        told = json.dumps(each.stats()) + each.admin("/metrics").body.decode() + (each.folder / "router.log").read_text()
        assert "hunter2" not in told


def test_the_address_of_redis_changes_with_the_table(shop, redis, eventually):
    server = redis()
    running = shop(None)
    home_of(running, "before")
    assert running.load(running.made(server.url(), generation=2))["ok"]
    pinned(running, server, eventually)
    metrics = running.admin("/metrics").body.decode()
    assert 'sluice_router_pins_redis_up{environment="local"} 1\n' in metrics
    assert 'sluice_router_pin_lookups_total{environment="local",result="miss"}' in metrics
    assert running.load(running.made(None, generation=3))["ok"]
    written = server.ask("HLEN", HASH)
    assert home_of(running, "after") in {"r1", "r2"}
    assert pins(running)["redis"] == "none" and server.ask("HLEN", HASH) == written
