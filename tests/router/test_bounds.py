"""A router bound by its operator, with the key that signs orders in the wrong hands: this test signs whatever it likes."""

import json
import os
import subprocess

import pytest
import wire
from router_process import Key, deployment, revision, table

KIND = "application/vnd.sluice.router-bounds+json"


def bounds(version, hosts=("app.example",), **more):
    return {"schema": "sluice.router-bounds.v1", "environment": "local", "version": version,
            "deployments": [{"bundles": [{"type": "enum", "members": ["app"]}],
                             "hosts": [{"type": "enum", "members": list(hosts)}],
                             "prefixes": [{"type": "below", "prefix": "/"}],
                             "revisions": [{"type": "any"}],
                             "upstreams": [{"type": "cidr", "network": "127.0.0.1/32"}]}],
            "trusted_proxies": [], "debug_keys": [], **more}


@pytest.fixture
def bound(router, named, tmp_path):
    """A bound router before an upstream that says `good`, the way to give it other bounds, and that upstream."""
    operator, upstream = Key(), named("good")
    (tmp_path / "bounds.pub").write_bytes(operator.pem())
    file = tmp_path / "bounds.signed"

    def give(document, key=operator):
        fresh = tmp_path / "fresh"
        fresh.write_text(key.envelope(KIND, json.dumps(document).encode()))
        os.rename(fresh, file)

    give(bounds(1))
    one = router(None, "--bounds", str(file), "--bounds-trust", str(tmp_path / "bounds.pub"))
    assert one.load(table(deployment(revision("r1", 10000, upstream.address))))["ok"]
    return one, give, upstream


def status(one, host):
    return wire.ask(one.endpoint, host=host).status


def test_a_stolen_order_key_adds_no_route_and_no_upstream(bound, named):
    one, _, upstream = bound
    assert status(one, "app.example") == 200
    elsewhere = deployment(revision("r1", 10000, "tcp:127.0.0.2:80"))
    bank = deployment(revision("r1", 10000, upstream.address), name="bank", hosts=["bank.example"])
    answer = one.load(table(elsewhere, bank, generation=2))
    assert answer["ok"] and len(answer["quarantined"]) == 2
    assert "the upstream tcp:127.0.0.2:80" in json.dumps(answer)
    assert status(one, "app.example") == 200, "it goes on as it was"
    assert status(one, "bank.example") == 404
    assert one.patch(bank)["ok"]
    assert status(one, "bank.example") == 404
    refused = one.load(table(elsewhere, generation=9, trusted_proxies=["0.0.0.0/0"]))
    assert not refused["ok"] and refused["code"] == "denied" and "0.0.0.0/0 goes beyond" in refused["message"]
    refused = one.load(table(elsewhere, generation=9, debug_keys=["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]))
    assert not refused["ok"] and "debug key" in refused["message"]


def test_bounds_only_grow_in_version_and_need_their_own_key(bound):
    one, give, upstream = bound
    wide = table(deployment(revision("r1", 10000, upstream.address), hosts=["app.example", "bank.example"]), generation=2)
    give(bounds(2, hosts=["app.example", "bank.example"]), key=one.key)
    refused = one.load(wide)
    assert not refused["ok"] and "not signed by a key that counts" in refused["message"]
    assert "not signed" in one.stats()["bounds"]["error"]
    assert status(one, "app.example") == 200
    give(bounds(2, hosts=["app.example", "bank.example"]))
    assert one.load(wide)["ok"]
    assert status(one, "bank.example") == 200
    assert one.stats()["bounds"] == {"version": 2, "expires_at": None, "error": ""}
    give(bounds(1))
    refused = one.load(dict(wide, generation=3))
    assert not refused["ok"] and "version 2 was obeyed before" in refused["message"]
    give(bounds(3, expires_at="2020-01-01T00:00:00Z"))
    refused = one.load(dict(wide, generation=3))
    assert not refused["ok"] and "expired" in refused["message"]
    assert status(one, "bank.example") == 200, "what is served stays"


def test_the_key_of_orders_cannot_be_that_of_bounds(sluice, tmp_path):
    key = Key()
    (tmp_path / "pub").write_bytes(key.pem())
    (tmp_path / "bounds").write_text(key.envelope(KIND, json.dumps(bounds(1)).encode()))
    done = subprocess.run([sluice, "router", "run", "--trust", tmp_path / "pub", "--bounds", tmp_path / "bounds",
                           "--bounds-trust", tmp_path / "pub"], capture_output=True, text=True, timeout=60,
                          env={"HOME": str(tmp_path)})
    assert done.returncode == 2 and "may also sign orders" in done.stderr
