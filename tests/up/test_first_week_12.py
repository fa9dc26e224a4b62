"""Two customers of one bundle are told apart by --customer-id wherever a name is taken, and lists show whose what is."""

import pytest
from up_home import ask, get


@pytest.fixture
def two(home):
    """hello for acme and for other, each with a route and a version of its own."""
    for customer, version in (("acme", "1.0.0"), ("other", "2.0.0")):
        folder = home.copy("hello", customer, version)
        manifest = folder / "bundle.yaml"
        manifest.write_text(manifest.read_text() + f"routes: [{{ host: {customer}.example }}]\n")
        home.up(folder, "--customer-id", customer)
    return home


def test_first_week_12_a_name_of_two_customers_is_a_conflict_that_says_how_to_go_on(two):
    for words in (["logs", "hello"], ["exec", "hello", "--", "true"], ["why", "hello"], ["runtime", "show", "hello"],
                  ["runtime", "stop", "hello@1", "--dry-run"], ["revisions", "drain", "local", "hello@1"],
                  ["traffic", "show", "local"], ["scale", "hello", "2"], ["down", "hello"]):
        refused = two.run(*words, code=6)
        assert "--customer-id" in refused.stderr.splitlines()[-1], f"{words}: {refused.stderr}"


def test_first_week_12_the_customer_is_enough(two):
    assert "hello 2.0.0 listens" in two.run("logs", "hello", "--customer-id", "other").stdout
    assert "hello 1.0.0 listens" in two.run("logs", "hello@1", "--customer-id", "acme").stdout
    said = two.run("exec", "hello", "--customer-id", "other", "--", "sh", "-c", "echo $SLUICE_VERSION").stdout
    assert said == "2.0.0\n"
    assert two.data("why", "hello@1", "--customer-id", "acme")["kind"] == "revision"
    assert two.data("runtime", "show", "hello", "--customer-id", "acme")["version"] == "1.0.0"
    assert two.data("traffic", "show", "local", "--customer-id", "other")["entries"][0]["weight_bps"] == 10000
    two.run("revisions", "list", "local", "--customer-id", "other")
    two.run("traffic", "clear", "local", "--customer-id", "other", "--yes")
    two.run("revisions", "drain", "local", "hello@1", "--customer-id", "other")
    assert two.run("logs", "hello", "--customer-id", "nobody", code=5)


def test_first_week_12_lists_show_the_customer(two):
    for words in (["revisions", "list", "local"], ["runtime", "list"], ["bundles", "list", "local"], ["status"]):
        shown = two.run(*words).stdout
        assert "acme" in shown and "other" in shown, shown


def test_first_week_12_exec_enters_the_revision_with_most_traffic(home):
    folder = home.copy("hello", "app")
    url = home.up(folder)["urls"][0]
    home.change(folder, "2.0.0")
    home.up(folder, "--share", "10%")
    assert get(url)[0] == 200 and ask(url)[0] == 200
    version = ["--", "sh", "-c", "echo $SLUICE_VERSION"]
    assert home.run("exec", "hello", *version).stdout == "1.0.0\n"
    assert home.run("exec", "hello@2", *version).stdout == "2.0.0\n"
