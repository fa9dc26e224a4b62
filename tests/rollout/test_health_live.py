"""Health of what runs: a message through the routers, the invariants of a concept in the program that serves it, and
what becomes of a version that stops to answer."""

import subprocess

import pytest
from shop import Database, version_of_shop
from up_home import get


def stock(home, name, **env):
    folder = home.copy("stock", name)
    if env:
        with (folder / "bundle.yaml").open("a") as manifest:
            manifest.write("env:\n" + "".join(f'  {key}: "{value}"\n' for key, value in env.items()))
    return folder


def test_an_invariant_is_tried_in_a_tenant_that_is_forgotten(home):
    home.up(stock(home, "good"))
    (endpoint,) = [each["endpoint"] for each in home.data("runtime", "list") if each["name"] == "stock@1"]
    assert home.data("health", "invariant", "stock@1")["check"]
    home.run("health", "invariant", "stock@1", "--invariant", "takenOnce")
    assert get(endpoint) == (200, '{"tenants": 0}'), "nothing is left behind"
    none = home.run("health", "invariant", "stock@1", "--invariant", "other", code=5)
    assert "Stock has no invariant other; there is takenOnce" in none.stderr
    home.up(stock(home, "bad", FORGETFUL="1"), "--share", "1%")
    bad = home.run("health", "invariant", "stock@2", code=7)
    assert 'stock@2 violates takenOnce: expected take {"item":"pen","count":1} -> tooFew, got ok' in bad.stderr
    home.up(home.copy("hello", "hello"))
    assert "it declares no concept" in home.run("health", "invariant", "hello@1", code=5).stderr


def test_a_message_goes_through_every_router_to_each_revision(home):
    home.up(home.copy("hello", "one"))
    home.up(home.copy("hello", "two", "1.0.1"), "--share", "10%")
    assert home.data("health", "path", "hello")["roundTripMs"] >= 0
    assert home.data("health", "path", "hello@2")["check"]
    (pid,) = [each["replicas"][0]["pid"] for each in home.data("runtime", "list") if each["name"] == "hello@2"]
    subprocess.run(["kill", "-STOP", str(pid)], check=True)
    try:
        late = home.run("health", "path", "hello", code=7)
        assert "hello did not answer a message through the routers within 5000 ms" in late.stderr
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=True)


@pytest.fixture
def databases():
    both = [Database(), Database()]
    yield both
    for each in both:
        each.stop()


def two_shops(home, databases):
    """shop@2 serves and shop@1 is warm, each with a database of its own: the URL."""
    for number, database in enumerate(databases, 1):
        up = home.up(version_of_shop(home, number, database=database.port))
    return up["urls"][0]


def lifecycles(home):
    return {each["sequence"]: each["lifecycle"] for each in home.data("revisions", "list", "local")}


def why(home, name):
    return " ".join(home.run("why", name).stdout.split())


def test_traffic_leaves_a_version_of_which_nothing_answers(home, databases, eventually):
    url = two_shops(home, databases)
    assert get(url) == (200, "2")
    databases[1].stop()
    eventually(lambda: get(url) == (200, "1") and lifecycles(home)[2] == "failed")
    assert {get(url) for _ in range(50)} == {(200, "1")}
    assert "none of its replicas answered; its traffic went to shop@1" in why(home, "shop@2")
    assert home.data("traffic", "history", "local")[0]["updated_by"] == "sluice:health"


def test_what_takes_every_version_down_fails_none_of_them(home, databases, eventually):
    url = two_shops(home, databases)
    for each in databases:
        each.stop()
    eventually(lambda: "no replica of shop@2 answers, and shop@1 does not either" in why(home, "shop@2"),
               lambda: why(home, "shop@2"))
    assert lifecycles(home) == {1: "ready", 2: "ready"}
    databases[:] = [Database(each.port) for each in databases]
    eventually(lambda: get(url) == (200, "2"))
    eventually(lambda: "does not either" not in why(home, "shop@2"), lambda: why(home, "shop@2"))
    assert lifecycles(home) == {1: "ready", 2: "ready"}
