"""What makes a day with Sluice pleasant: words of other tools, logs without health checks, a status that fits a screen, usage
by the hour and by shares, more replicas with one command."""

import os
import subprocess

import pytest
from up_home import Load, get

NOISY = '''import http.server
import os
import signal
import sys


class Noisy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, form, *words):
        print(form % words, file=sys.stderr, flush=True)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Noisy).serve_forever()
'''


@pytest.mark.parametrize("word, meant", [("ps", "status"), ("ls", "status"), ("run", "up"), ("start", "up"), ("push", "up"),
                                         ("release", "up"), ("rm", "down"), ("tail", "logs"),
                                         ("ssh", "exec"),
                                         ("undo", "traffic rollback"), ("top", "router stats")])
def test_first_week_20a_words_of_other_tools_get_a_suggestion(home, word, meant):
    refused = home.run(word, code=2)
    assert refused.stderr == f"error: unknown command '{word}'; did you mean 'sluice {meant}'?\nnext:  sluice help {meant}\n"
    home.run("help", *meant.split())


def test_first_week_20b_deploy_leads_to_up_and_rollback_takes_it_back(home):
    folder = home.copy("hello", "one")
    assert home.run("deploy", folder, code=5).stderr.endswith(f"next:  sluice up {folder}\n")
    url = home.up(folder)["urls"][0]
    # The first version has nothing before it, and goes on serving.
    refused = home.run("rollback", "--yes", code=6).stderr
    assert "so there is nothing to go back to; nothing was changed" in refused, refused
    assert refused.endswith("next:  sluice down hello --env local removes it\n")
    assert get(url) == (200, "hello 1.0.0\n")
    for version in ("1.1.0", "1.2.0"):
        home.change(folder, version)
        home.up(folder)
    # Each rollback goes one step further back, until nothing is left to go back to.
    for version in ("1.1.0", "1.0.0"):
        assert home.run("rollback", "--yes").stdout.startswith("rolledBack ")
        assert get(url) == (200, f"hello {version}\n")
    home.run("rollback", "--yes", code=6)
    assert get(url) == (200, "hello 1.0.0\n")


def test_first_week_20c_init_suggests_up(home):
    (home.folder / "app").mkdir()
    (home.folder / "app/main.py").write_text("print(1)\n")
    done = home.run("init", "app", "--run", "python3 main.py", "--yes")
    assert done.stderr == "next: sluice up app\n"


def noisy(home, health):
    folder = home.folder / "noisy"
    folder.mkdir()
    (folder / "app.py").write_text(NOISY)
    (folder / "bundle.yaml").write_text(f'name: noisy\nversion: "1.0.0"\nrun: [python3, app.py]\n{health}')
    return home.up(folder)["urls"][0]


def test_first_week_20d_health_checks_do_not_fill_the_logs(home, eventually):
    url = noisy(home, "health: { path: /health, interval: 100ms }\n")
    assert get(url + "page")[0] == 200
    eventually(lambda: home.run("logs", "noisy", "--all").stdout.count("GET /health") > 3)
    shown = home.run("logs", "noisy").stdout
    assert "GET /health" not in shown and "GET /page" in shown and "is healthy" in shown


def test_first_week_20d_of_a_check_of_the_front_page_one_line_is_left_out_and_no_visitor(home, eventually):
    url = noisy(home, "health: { path: /, interval: 1h }\n")
    eventually(lambda: home.run("logs", "noisy", "--all").stdout.count('"GET / ') >= 1)
    before = home.run("logs", "noisy").stdout.count('"GET / ')
    for _ in range(3):
        assert get(url)[0] == 200
    eventually(lambda: home.run("logs", "noisy").stdout.count('"GET / ') == before + 3)


def test_first_week_20e_status_fits_80_columns(home):
    folder = home.copy("hello", "one")
    manifest = folder / "bundle.yaml"
    long = "a-bundle-with-quite-a-long-name"
    manifest.write_text(manifest.read_text().replace("name: hello", f"name: {long}"))
    home.up(folder, "--customer-id", "a-customer-with-a-long-name-too")
    home.change(folder, "2.0.0")
    home.up(folder, "--customer-id", "a-customer-with-a-long-name-too", "--share", "0.01%")
    shown = home.run("status").stdout
    own = [line for line in shown.splitlines() if str(home.home) not in line]
    assert [line for line in own if len(line) > 80] == []
    assert f"{long}@2 ready, gets 0.01%" in shown


def test_first_week_20f_usage_is_kept_by_the_hour_and_shared(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    for _ in range(10):
        assert get(url)[0] == 200
    home.run("bundles", "update", "local", "--bundle", "hello", "--revenue-share", "agency-a:30%,sluice:70%")
    by_bundle = ["usage", "show", "--by", "bundle"]
    assert home.data(*by_bundle)[0]["requests"] == 10
    assert home.data(*by_bundle, "--since", "1h")[0]["requests"] == 10
    assert home.data(*by_bundle, "--since", "2h", "--until", "2100-01-01")[0]["requests"] == 10
    assert home.data(*by_bundle, "--until", "2h") == []
    assert home.data(*by_bundle, "--since", "2100-01-01T00:00:00Z") == []
    shares = {each["party"]: each["requests"] for each in home.data(*by_bundle, "--revenue", "--since", "1h")}
    assert shares == {"agency-a": 3, "sluice": 7}
    assert "PARTY" in home.run(*by_bundle, "--revenue").stdout
    refused = home.run(*by_bundle, "--since", "yesterday", code=2)
    assert "expected a day (2026-03-01)" in refused.stderr


def test_first_week_20g_scale_holds_for_what_runs_and_for_what_comes(home):
    folder = home.copy("hello", "one")
    url = home.up(folder)["urls"][0]
    with Load(url) as load:
        assert "scaled  hello for local-dev to 3 replicas: hello@1" in home.run("scale", "hello", "3").stdout
        assert len(home.revisions()["hello@1"]["replicas"]) == 3 and len(home.replicas()) == 3
        home.change(folder, "2.0.0")
        home.up(folder)
        assert len(home.revisions()["hello@2"]["replicas"]) == 3, "the next version has as many"
        home.run("scale", "hello", "1")
        assert len(home.revisions()["hello@2"]["replicas"]) == 1
        home.run("traffic", "rollback", "local")
        assert len(home.revisions()["hello@1"]["replicas"]) == 1
    assert load.bad == [] and len(load.good) > 0
    assert "expected 1 to 1000 replicas" in home.run("scale", "hello", "0", code=1).stderr
    home.run("scale", "nothing", "2", code=5)


def test_first_week_20h_completion_knows_what_the_home_has(home):
    def names(kind):
        return home.run("completion", "names", kind).stdout.split()

    assert names("bundles") == [] and not (home.home / "store").exists(), "asking makes nothing"
    up = home.up(home.copy("hello", "one"), "--customer-id", "acme")
    home.run("env", "create", "staging")
    assert names("environments") == ["local", "staging"]
    assert names("bundles") == ["hello"] and names("customers") == ["acme"]
    assert names("deployments") == [up["deployment"]]
    assert names("revisions") == ["hello@1"] and names("things") == ["hello", "hello@1"]
    assert "latest" in names("flows") and len(names("flows")) > 1
    home.run("completion", "bash", "revisions", code=2)


@pytest.mark.parametrize("line, words", [
    ("sluice env show st", {"staging"}), ("sluice traffic set local hel", {"hello@1"}),
    ("sluice revisions warm local h", {"hello@1"}), ("sluice revisions warm l", {"local"}),
    ("sluice logs he", {"hello", "hello@1"}), ("sluice down --env s", {"staging"}), ("sluice flow show la", {"latest"})])
def test_first_week_20i_bash_offers_them_in_their_places(home, line, words):
    home.up(home.copy("hello", "one"))
    home.run("env", "create", "staging")
    script = 'source <("$0" completion bash); PATH=$1:$PATH; read -ra COMP_WORDS <<<"$2"; ' \
             'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sluice; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", script, home.sluice, home.sluice.parent, line], capture_output=True, text=True,
                          env={**home.environment(), "HOME": str(home.folder), "PATH": os.environ["PATH"]}, timeout=60)
    assert set(done.stdout.split()) == words, done.stderr
