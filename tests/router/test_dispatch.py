"""Which revision answers: routes, weights, the three modes of stickiness, pins, debug tokens and holds. What is statistical
elsewhere is exact here: weights follow a sequence of low discrepancy."""

import base64
import collections
import hashlib
import hmac
import json
import re
import threading
import time

import pytest
import wire
from router_process import DEPLOYMENT, Key, deployment, revision, rss_kb, table, unpadded

NAME = f"_sl_rev_{DEPLOYMENT}"


def revisions_of(endpoint, requests):
    """The revision that answered each of many requests, sent 100 at a time on one connection. The answers are all alike
    and are not read one by one, of which there would be hundreds of thousands."""
    found = []
    with wire.connect(endpoint) as sock:
        for start in range(0, len(requests), 100):
            batch, came = requests[start:start + 100], b""
            sock.sendall(b"".join(batch))
            while came.count(b"\r\n\r\nok") < len(batch):
                piece = sock.recv(1 << 16)
                assert piece, came[-500:]
                came += piece
            assert came.count(b"HTTP/1.1 200 OK\r\n") == len(batch) and came.endswith(b"\r\n\r\nok")
            found += [name.decode() for name in re.findall(rb"\r\nX-Revision: (\S+)\r\n", came)]
    assert len(found) == len(requests)
    return found


def counts_of(endpoint, requests):
    return collections.Counter(revisions_of(endpoint, requests))


@pytest.fixture
def pair(router, fast):
    """A router before r2 and r1 with these weights."""
    upstreams = {name: fast(name) for name in ("r2", "r1")}

    def split(weight, **more):
        more.setdefault("name", DEPLOYMENT)
        return deployment(revision("r2", weight, upstreams["r2"].address), revision("r1", 10000 - weight, upstreams["r1"].address), **more)

    def start(weight, *options, keys=None, **more):
        running = router(table(split(weight, **more), **(keys or {})), *options)
        running.split = split
        return running

    return start


# --- routes ----------------------------------------------------------------------------------------------------------


def test_the_most_exact_route_counts(router, named):
    names = ["exact", "deeper", "wild", "wilder", "any", "any-deep"]
    behind = {name: named(name) for name in names}
    routes = {"exact": (["shop.app.example"], ["/"]), "deeper": (["shop.app.example"], ["/cart/items"]),
              "wild": (["*.app.example"], ["/"]), "wilder": (["*.example"], ["/"]), "any": ([], ["/"]), "any-deep": ([], ["/deep"])}
    endpoint = router(table(*(deployment(revision("r1", 10000, behind[name].address), name=name, hosts=hosts, prefixes=prefixes)
                              for name, (hosts, prefixes) in routes.items()))).endpoint
    for host, path, expected in [
        ("shop.app.example", "/", "exact"), ("SHOP.App.Example:8080", "/x", "exact"), ("shop.app.example", "/cart/items", "deeper"),
        ("shop.app.example", "/cart/items/7?x", "deeper"), ("shop.app.example", "/cart/itemsx", "exact"), ("shop.app.example", "/cart", "exact"),
        ("a.app.example", "/cart/items", "wild"), ("a.b.app.example", "/", "wild"), ("app.example", "/", "wilder"), ("other.example", "/", "wilder"),
        ("example", "/", "any"), ("192.0.2.1", "/", "any"), ("192.0.2.1", "/deep/x", "any-deep"), ("192.0.2.1", "/deeper", "any"),
        ("shop.app.example", "/deep", "exact"), ("shop.app.example.", "/", "exact"),
    ]:
        answer = wire.ask(endpoint, target=path, host=host)
        assert (host, path, answer.get("X-Revision")) == (host, path, expected)


def test_a_tenant_is_believed_from_a_trusted_peer_alone(router, named):
    common, special = named("common"), named("special")
    deployments = [deployment(revision("r1", 10000, common.address), name="common"),
                   {**deployment(revision("r1", 10000, special.address), name="special"),
                    "routes": {"hosts": ["app.example"], "path_prefixes": ["/"], "tenant": "gold"}}]
    said = [("X-Sluice-Tenant", "gold")]
    assert wire.ask(router(table(*deployments)).endpoint, headers=said).get("X-Revision") == "common"
    trusting = router(table(*deployments, trusted_proxies=["127.0.0.1/32"]))
    assert wire.ask(trusting.endpoint, headers=said).get("X-Revision") == "special"
    assert wire.ask(trusting.endpoint).get("X-Revision") == "common"


# --- weights ---------------------------------------------------------------------------------------------------------


def test_greentic06_one_percent_of_a_thousand_is_ten(router, fast):
    new, old, other = fast("new"), fast("old"), fast("other")
    running = router(table(deployment(revision("new", 100, new.address), revision("old", 9900, old.address)),
                           deployment(revision("other", 10000, other.address), name="other", hosts=("other.example",))))
    for _ in range(3):
        assert counts_of(running.endpoint, [wire.request()] * 1000) == {"new": 10, "old": 990}
    assert running.revision_stats("other", "other")["requests"] == 0


def test_greentic07_ten_percent_of_ten_thousand_is_a_thousand(pair):
    assert counts_of(pair(1000).endpoint, [wire.request()] * 10000) == {"r2": 1000, "r1": 9000}


def test_greentic08_no_weight_is_no_request(pair):
    running = pair(0)
    assert counts_of(running.endpoint, [wire.request()] * 10000) == {"r1": 10000}
    assert running.patch(running.split(1))["ok"]
    assert counts_of(running.endpoint, [wire.request()] * 20000) == {"r2": 2, "r1": 19998}


def test_many_connections_and_threads_share_one_sequence(pair, load):
    checker = load(pair(100, "--threads", "2").endpoint, "--connections", 32, "--requests", 10000, "--size", 10, "--post", 0)
    counts = checker.until(lambda now: now["done"])
    assert counts["failed"] == 0 and counts["ok"] >= 10000
    whole = counts["ok"] // 1000
    assert whole * 10 <= counts["revisions"]["r2"] <= whole * 10 + 10


def test_all_weights_zero_is_503(router, named):
    assert wire.ask(router(table(deployment(revision("r1", 0, named("r1").address)))).endpoint).status == 503


# --- cookies ---------------------------------------------------------------------------------------------------------


def cookie_of(answer):
    """Name, value and attributes of the one cookie that an answer sets."""
    cookie, = answer.all("Set-Cookie")
    pair_, *attributes = re.split("; *", cookie)
    return *pair_.split("=", 1), attributes


def claims_of(value):
    text = value.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def forged(claims, key=bytes(range(32))):
    text = unpadded(json.dumps(claims, separators=(",", ":")).encode())
    return f"{text}.{unpadded(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


def with_cookie(value):
    return [("Cookie", f"a=b; {NAME}={value}; c=d")]


def good_claims(**more):
    return {"e": "local", "t": "default", "d": DEPLOYMENT, "r": "r2", "g": 0, "x": int(time.time()) + 1000, "k": "k1", **more}


def test_the_cookie_has_the_claims_and_attributes_that_are_documented(pair):
    answer = wire.ask(pair(10000, mode="session", prefixes=("/shop",)).endpoint, target="/shop/a")
    name, value, attributes = cookie_of(answer)
    claims = claims_of(value)
    assert name == NAME and sorted(attributes) == ["HttpOnly", "Max-Age=3600", "Path=/shop", "SameSite=Lax"]
    assert abs(claims.pop("x") - time.time() - 3600) < 60
    assert claims == {"e": "local", "t": "default", "d": DEPLOYMENT, "r": "r2", "g": 0, "k": "k1"}
    assert value == forged(claims_of(value)), "the mac is HMAC-SHA-256 over the text of the claims"


def test_a_secure_cookie_says_so(pair):
    assert "Secure" in cookie_of(wire.ask(pair(0, mode="session", sticky={"secure": True}).endpoint))[2]


def test_greentic09_a_hundred_requests_with_a_cookie_are_one_revision(pair):
    running = pair(5000, mode="session")
    seen = set()
    for _ in range(6):
        with wire.Client(running.endpoint, cookies=True) as client:
            first = client.ask().get("X-Revision")
            answers = [client.ask() for _ in range(100)]
        assert {answer.get("X-Revision") for answer in answers} == {first}
        assert all(answer.all("Set-Cookie") == [] for answer in answers)
        seen.add(first)
    assert seen == {"r1", "r2"}


def test_greentic09_any_flipped_bit_makes_a_new_cookie(pair):
    running = pair(1, mode="session")
    value = forged(good_claims())
    assert wire.ask(running.endpoint, headers=with_cookie(value)).get("X-Revision") == "r2"
    allowed = re.compile(r"[!#$%&'()*+./0-9:<=>?@A-Z\[\]^_`a-z{|}~-]")
    flipped = []
    for place, letter in enumerate(value):
        for bit in range(8):
            changed = chr(ord(letter) ^ 1 << bit)
            if allowed.fullmatch(changed):
                flipped.append(value[:place] + changed + value[place + 1:])
    assert len(flipped) > 800
    by_weight = []
    with wire.Client(running.endpoint) as client:
        for one in flipped + [value[:-1], value + "A", value.split(".")[0], "." + value.split(".")[1], ".", "", value * 20]:
            answer = client.ask(headers=with_cookie(one))
            assert (one, len(answer.all("Set-Cookie"))) == (one, 1), "a cookie that counts is not issued again"
            if answer.get("X-Revision") == "r2":
                by_weight.append(one)
    assert len(by_weight) <= 1, "of ten thousand new visitors exactly one belongs there"
    # The last minute's memory of good cookies is not fooled, either.
    assert wire.ask(running.endpoint, headers=with_cookie(value)).get("X-Revision") == "r2"


@pytest.mark.parametrize("change", [{"e": "prod"}, {"t": "other"}, {"d": "01JOTHER"}, {"x": 1}, {"r": "r9"}, {"r": 7},
                                    {"x": "soon"}, {"x": -1}, {"extra": 1}, {"b": 5}])
def test_greentic09_a_cookie_for_something_else_is_ignored(pair, change):
    running = pair(1, mode="session")
    answer = wire.ask(running.endpoint, headers=with_cookie(forged(good_claims(**change))))
    if change in ({"extra": 1}, {"b": 5}) and answer.get("X-Revision") == "r2":
        return  # signed by us: what else it says may be read or not
    assert answer.get("X-Revision") == "r1" and len(answer.all("Set-Cookie")) == 1


def test_a_cookie_survives_ten_changes_of_the_split(pair):
    running = pair(5000, mode="session")
    visitors = [wire.Client(running.endpoint, cookies=True) for _ in range(20)]
    homes = [visitor.ask().get("X-Revision") for visitor in visitors]
    assert set(homes) == {"r1", "r2"}
    for n, weight in enumerate([1, 9999, 50, 7500, 2500, 9000, 100, 6000, 3000, 5000]):
        assert running.patch(running.split(weight, mode="session", generation=n + 1))["ok"]
        assert [visitor.ask().get("X-Revision") for visitor in visitors] == homes
    # Only a revision without weight is left.
    assert running.patch(running.split(0, mode="session"))["ok"]
    assert {visitor.ask().get("X-Revision") for visitor in visitors} == {"r1"}
    for visitor in visitors:
        visitor.close()


def test_keys_rotate(pair):
    old, new = {"id": "k1", "key": unpadded(bytes(range(32)))}, {"id": "k2", "key": unpadded(b"n" * 32)}
    running = pair(1, mode="session", keys={"cookie_keys": [new, old]})
    assert wire.ask(running.endpoint, headers=with_cookie(forged(good_claims()))).get("X-Revision") == "r2"
    assert claims_of(cookie_of(wire.ask(running.endpoint))[1])["k"] == "k2"
    retired = table(running.split(1, mode="session"), generation=2, cookie_keys=[new])
    assert running.load(retired)["ok"]
    assert wire.ask(running.endpoint, headers=with_cookie(forged(good_claims()))).get("X-Revision") == "r1"
    fresh = forged(good_claims(k="k2"), b"n" * 32)
    assert wire.ask(running.endpoint, headers=with_cookie(fresh)).get("X-Revision") == "r2"


def test_a_cookie_is_renewed_in_its_second_half(pair):
    running = pair(1, mode="session")
    old = forged(good_claims(x=int(time.time()) + 600))
    answer = wire.ask(running.endpoint, headers=with_cookie(old))
    assert answer.get("X-Revision") == "r2" and claims_of(cookie_of(answer)[1])["x"] > time.time() + 3000
    fresh = forged(good_claims(x=int(time.time()) + 3000))
    assert wire.ask(running.endpoint, headers=with_cookie(fresh)).all("Set-Cookie") == []


def test_without_keys_there_are_no_cookies(pair):
    answer = wire.ask(pair(0, mode="session", keys={"cookie_keys": []}).endpoint)
    assert answer.get("X-Revision") == "r1" and answer.all("Set-Cookie") == []


def test_an_applications_own_cookies_are_left_alone(router, upstream):
    def script(connection, stream):
        while True:
            behind.note(wire.read_request(stream))
            connection.sendall(b"HTTP/1.1 200 OK\r\nSet-Cookie: own=1\r\nSet-Cookie: two=2; Path=/x\r\nContent-Length: 0\r\n\r\n")

    behind = upstream(script)
    answer = wire.ask(router(table(deployment(revision("r1", 10000, behind.address), mode="session"))).endpoint,
                      headers=[("Cookie", "own=0")])
    assert [cookie for cookie in answer.all("Set-Cookie") if NAME not in cookie] == ["own=1", "two=2; Path=/x"]
    assert len(answer.all("Set-Cookie")) == 3 and behind.requests[0].get("Cookie") == "own=0"


# --- buckets ---------------------------------------------------------------------------------------------------------


def test_greentic11_a_ramp_moves_nobody_backwards(pair):
    running = pair(100, mode="bucket")
    visitors = [wire.Client(running.endpoint, cookies=True) for _ in range(300)]
    homes = [visitor.ask().get("X-Revision") for visitor in visitors]
    backwards = 0
    for weight in [100, 500, 2500, 5000, 10000]:
        assert running.patch(running.split(weight, mode="bucket"))["ok"]
        now = [visitor.ask().get("X-Revision") for visitor in visitors]
        backwards += sum(before == "r2" and after == "r1" for before, after in zip(homes, now))
        assert abs(now.count("r2") - 300 * weight / 10000) <= 3
        homes = now
    assert backwards == 0 and set(homes) == {"r2"}
    for visitor in visitors:
        visitor.close()


def test_new_visitors_are_shared_out_by_weight(pair):
    """Within 0.1 % over 100,000."""
    counts = counts_of(pair(2500, mode="bucket").endpoint, [wire.request()] * 100_000)
    assert abs(counts["r2"] - 25_000) <= 100 and counts.total() == 100_000


def test_buckets_of_a_header_are_shared_out_by_weight_and_stay(pair):
    """Within 0.5 % over 100,000 users, the same ones each time, and forwards alone."""
    running = pair(2500, mode="bucket", sticky={"key_header": "X-User"})
    asks = [wire.request(headers=[("X-User", f"user-{n}@app.example")]) for n in range(100_000)]
    first = revisions_of(running.endpoint, asks)
    assert abs(first.count("r2") - 25_000) <= 500
    assert revisions_of(running.endpoint, asks[:2000]) == first[:2000]
    assert running.patch(running.split(5000, mode="bucket", sticky={"key_header": "X-User"}))["ok"]
    later = revisions_of(running.endpoint, asks[:20_000])
    assert not any(before == "r2" and after == "r1" for before, after in zip(first, later))
    assert abs(later.count("r2") - 10_000) <= 200


def test_a_key_in_a_cookie_is_a_key_too(pair):
    running = pair(5000, mode="bucket", sticky={"key_cookie": "user"})
    homes = [wire.ask(running.endpoint, headers=[("Cookie", f"x=y; user=u{n}")]).get("X-Revision") for n in range(40)]
    again = [wire.ask(running.endpoint, headers=[("Cookie", f"user=u{n}; z=1")]).get("X-Revision") for n in range(40)]
    assert homes == again and set(homes) == {"r1", "r2"}


# --- pins ------------------------------------------------------------------------------------------------------------


def test_a_session_key_is_pinned_without_any_cookie(pair):
    running = pair(5000, mode="session", sticky={"key_header": "X-Session"})
    asks = [wire.request(headers=[("X-Session", f"s{n}")]) for n in range(200)]
    homes = revisions_of(running.endpoint, asks)
    assert set(homes) == {"r1", "r2"}
    assert revisions_of(running.endpoint, asks) == homes
    assert running.patch(running.split(9999, mode="session", sticky={"key_header": "X-Session"}))["ok"]
    assert revisions_of(running.endpoint, asks) == homes


def test_greentic13_pins_are_bounded_and_the_newest_stay(pair):
    running = pair(5000, "--threads", "1", mode="session", sticky={"key_header": "X-Session"})
    asks = [wire.request(headers=[("X-Session", f"session-number-{n}")]) for n in range(32_768)]
    homes = revisions_of(running.endpoint, asks[:16_384])
    full_kb = rss_kb(running.worker_pid())
    homes += revisions_of(running.endpoint, asks[16_384:])
    assert rss_kb(running.worker_pid()) - full_kb < 1000, "more than 16,384 are kept"
    assert running.patch(running.split(1, mode="session", sticky={"key_header": "X-Session"}))["ok"]
    # What is least recently used goes first, as far as a table of fixed size knows it.
    stayed = sum(now == before for now, before in zip(revisions_of(running.endpoint, asks[-2000:]), homes[-2000:]))
    assert stayed >= 1980, stayed
    assert revisions_of(running.endpoint, asks[:1000]).count("r2") <= 20, "the oldest are still pinned"


# --- debug tokens ----------------------------------------------------------------------------------------------------


def pin(token, revision_="r2", name=DEPLOYMENT):
    return [("X-Sluice-Debug-Token", token), ("X-Sluice-Deployment", name), ("X-Sluice-Revision", revision_)]


@pytest.fixture
def watched(pair):
    """A router whose debug tokens one key may mint; r2 has no weight."""
    key = Key()
    running = pair(0, mode="session", keys={"debug_keys": [base64.b64encode(key.raw).decode()]})
    running.debug_key = key
    return running


def test_greentic10_a_token_reaches_a_revision_without_weight(watched):
    for scope in ["r2", "*"]:
        token = watched.debug_key.token(DEPLOYMENT, scope, time.time() + 900)
        answers = [wire.ask(watched.endpoint, headers=pin(token)) for _ in range(20)]
        assert {answer.get("X-Revision") for answer in answers} == {"r2"}
        assert all(answer.all("Set-Cookie") == [] for answer in answers), "a look is not a visit"


def test_greentic10_the_public_is_ignored_a_hundred_times(watched):
    with wire.Client(watched.endpoint) as client:
        for _ in range(100):
            answer = client.ask(headers=pin("")[1:])
            assert answer.get("X-Revision") == "r1"


def test_greentic10_only_a_token_that_is_right_counts(watched):
    key, soon = watched.debug_key, time.time() + 900
    good = key.token(DEPLOYMENT, "r2", soon)
    for name, token in {
        "another key": Key().token(DEPLOYMENT, "r2", soon), "expired": key.token(DEPLOYMENT, "r2", time.time() - 1),
        "another deployment": key.token("01JOTHER", "r2", soon), "another revision": key.token(DEPLOYMENT, "r1", soon),
        "another environment": key.token(DEPLOYMENT, "r2", soon, environment="prod"), "cut": good[:-1], "longer": good + "A",
        "flipped": good[:10] + chr(ord(good[10]) ^ 1) + good[11:], "no signature": good.split(".")[0] + ".", "nothing": "",
    }.items():
        assert (name, wire.ask(watched.endpoint, headers=pin(token)).status) == (name, 403)
    assert wire.ask(watched.endpoint, headers=pin(good)).get("X-Revision") == "r2"
    assert wire.ask(watched.endpoint, headers=pin(key.token(DEPLOYMENT, "*", soon), "r9")).status == 403


def test_a_token_wins_over_a_cookie(watched):
    with wire.Client(watched.endpoint, cookies=True) as client:
        assert client.ask().get("X-Revision") == "r1"
        assert client.ask(headers=pin(watched.debug_key.token(DEPLOYMENT, "*", time.time() + 60))).get("X-Revision") == "r2"
        assert client.ask().get("X-Revision") == "r1"


# --- holds -----------------------------------------------------------------------------------------------------------


def test_a_hold_makes_requests_wait_until_it_is_released(pair, eventually):
    running = pair(0)
    assert running.ask(op="hold", deployment=DEPLOYMENT, ms=30000)["ok"]
    statuses = []
    waiting = [threading.Thread(target=lambda: statuses.append(wire.ask(running.endpoint).status)) for _ in range(10)]
    for thread in waiting:
        thread.start()
    eventually(lambda: running.stats()["held"] == 10, "they do not wait")
    assert statuses == []
    assert running.ask(op="release", deployment=DEPLOYMENT)["ok"]
    for thread in waiting:
        thread.join(60)
    assert statuses == [200] * 10


def test_a_hold_ends_with_the_change_that_it_was_for(pair, eventually):
    running = pair(0)
    assert running.ask(op="hold", deployment=DEPLOYMENT, ms=30000)["ok"]
    with wire.Client(running.endpoint) as client:
        client.send(wire.request())
        eventually(lambda: running.stats()["held"] == 1, "it does not wait")
        assert running.patch(running.split(10000))["ok"]
        client.sock.settimeout(15)  # well before the hold would end by itself
        assert client.answer().get("X-Revision") == "r2"


def test_a_hold_that_nobody_releases_ends_by_itself(pair):
    running = pair(0)
    assert running.ask(op="hold", deployment=DEPLOYMENT, ms=200)["ok"]
    assert wire.ask(running.endpoint).status == 200
    assert not running.ask(op="hold", deployment=DEPLOYMENT, ms=30001)["ok"]
    assert not running.ask(op="hold", deployment="nobody", ms=100)["ok"]


def test_a_hold_holds_one_deployment(router, named):
    running = router(table(deployment(revision("r1", 10000, named("a").address)),
                           deployment(revision("r1", 10000, named("b").address), name="other", hosts=("other.example",))))
    assert running.ask(op="hold", deployment=DEPLOYMENT, ms=30000)["ok"]
    assert wire.ask(running.endpoint, host="other.example").status == 200
