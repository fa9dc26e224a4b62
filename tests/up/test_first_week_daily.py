"""What people read and do next in daily use: next steps that lead on, and tables that fit."""

import re
import subprocess

import pytest
from up_home import get

SECRET = 'secrets: [API_KEY, OTHER]\n'


def with_secret(home, name="app"):
    folder = home.copy("hello", name)
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text() + SECRET)
    return folder


def test_first_week_13_a_missing_secret_names_the_command_that_puts_it(home):
    folder = with_secret(home)
    refused = home.run("up", folder, "--detach", *home.own_port(), code=7).stderr
    assert ("there is no secret hello/API_KEY in local; there is no secret hello/OTHER in local; traffic stays as it was\n"
            in refused), refused
    assert ("next:  sluice secrets put local hello/API_KEY, then sluice secrets put local hello/OTHER, then sluice up again\n"
            in refused), refused
    for name in ("API_KEY", "OTHER"):
        (home.folder / "value").write_text("x")
        home.run("secrets", "put", "local", f"hello/{name}", "--file", "value")
    url = home.up(folder)["urls"][0]
    assert get(url) == (200, "hello 1.0.0\n")
    refused = home.run("secrets", "rotate", "local", "hello/NONE", code=5).stderr
    assert refused.endswith("next:  sluice secrets put local hello/NONE\n"), refused


def test_first_week_06_a_mistyped_setting_is_named(home):
    folder = home.copy("hello", "app")
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "config: [{name: greeting, question: How?, default: hi}]\n")
    home.up(folder)
    for words in (["--set", "greetin=x"], ["--unset", "greetin"]):
        refused = home.run("up", folder, "--detach", *words, code=1).stderr
        assert "hello has no setting greetin; did you mean greeting?" in refused, refused


def test_first_week_12_two_customers_and_a_bad_name_lead_on(home):
    folder = home.copy("hello", "app")
    home.up(folder, "--customer-id", "acme")
    second = home.copy("hello", "second")
    manifest = second / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "routes: [{path: /other}]\n")
    home.up(second, "--customer-id", "globex")
    refused = home.run("up", folder, "--detach", code=6).stderr
    assert "for 2 customers: acme, globex; nothing was changed\nnext:  name one of them with --customer-id\n" in refused, refused
    refused = home.run("up", folder, "--detach", "--customer-id", "a b", code=1).stderr
    assert "'a b' cannot be a customer: a name has letters, digits, -, _ and ." in refused, refused
    assert "flow trace" not in refused


def test_first_week_17_why_of_a_failed_revision_speaks_in_sentences(home):
    home.run("up", with_secret(home), "--detach", code=7)
    told = home.run("why", "hello@1").stdout
    assert "lastLines" not in told and "failed[" not in told and "is settled" not in told, told
    assert "Deployment/up ended at" in told
    assert "failed[" in home.run("why", "hello@1", "--rules").stdout


def test_first_week_05_after_a_power_cut_serve_is_the_only_next_step(home):
    home.up(home.copy("hello", "app"))
    home.run("stop")
    done = home.run("status", code=5)
    assert [line for line in (done.stdout + done.stderr).splitlines() if "next:" in line] == [
        "The control plane does not run; next: sluice serve"]


def test_first_week_20_help_begins_with_up(home):
    assert re.search(r"Examples\n +sluice up ", home.run("--help").stdout)


@pytest.mark.parametrize("words", [["deploy", "list"], ["revisions", "list", "local"], ["runtime", "list"], ["flow", "list"],
                                   ["audit", "list"], ["traffic", "history", "local"], ["bundles", "list", "local"]],
                         ids=" ".join)
def test_first_week_20_tables_fit_80_columns_and_cut_no_name(home_with_history, words):
    """In a terminal of 80 columns what commands take stays whole: names, plans, the ends of ids; and so do times."""
    home = home_with_history
    done = subprocess.run(["script", "-qec", "stty cols 80 rows 50; " + " ".join([str(home.sluice), *words]), "/dev/null"],
                          capture_output=True, text=True, cwd=home.folder, env=home.environment() | {"TERM": "xterm"},
                          timeout=120)
    lines = done.stdout.replace("\r", "").splitlines()
    assert lines and max(map(len, lines)) <= 80, done.stdout
    text = "\n".join(lines)
    if words[0] in ("flow", "audit"):
        assert re.search(r"\d\d:\d\d:\d\d(?!…)", text), text
    if words == ["deploy", "list"]:
        for plan in home.data("deploy", "list"):
            assert re.search(re.escape(plan["plan_id"]) + r"(\s|$)", text), text
    if words[0] in ("revisions", "runtime"):
        assert re.search(r"frontend-with-a-name@1(\s|$)", text), text


@pytest.fixture(scope="module")
def home_with_history(sluice, root, tmp_path_factory):
    from up_home import Home
    one = Home(sluice, root, tmp_path_factory.mktemp("history"))
    folder = one.copy("hello", "app")
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace("name: hello", "name: frontend-with-a-name"))
    one.up(folder, "--customer-id", "a-customer-of-ours")
    one.change(folder, "2.0.0")
    one.up(folder, "--customer-id", "a-customer-of-ours")
    yield one
    one.stop()
