"""sluice up and what follows, end to end, with real processes: a folder to a URL, a change, a canary, a version that does
not start, kill -9 of the control plane under load, a router that comes back, drain, usage, and the end of all of it."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from up_home import Home, Load, ask, get, running


def test_what_runs_is_called_as_status_calls_it(home):
    first = home.up(home.root / "examples/hello")
    second = home.up(home.root / "examples/hello-v2", "--share", "10%")
    assert [each["name"] for each in home.data("runtime", "list")] == ["hello@1", "hello@2"]

    def speakers(*names):
        lines = home.run("logs", *names, "--grep", "listens").stdout.splitlines()
        return [(line.split()[1], line.split()[4]) for line in lines]

    both = [("hello@1.0", "1.0.0"), ("hello@2.0", "2.0.0")]
    assert speakers("hello") == both
    assert speakers(first["deployment"]) == both
    assert speakers("hello@2") == speakers("hello@2.0") == speakers(second["revision"]) == both[1:]
    assert speakers(second["revision"][-8:]) == both[1:]
    assert home.run("exec", "hello@2", "--", "sh", "-c", "echo $HELLO_VERSION").stdout == "2.0.0\n"
    assert home.data("runtime", "show", "hello@1")["name"] == "hello@1"
    several = home.run("runtime", "show", "hello", code=6)
    assert several.stderr == "error: several are called hello: hello@1, hello@2\nnext:  name one of them\n"
    unknown = home.run("logs", "hello@3", code=5)
    assert unknown.stderr == "error: nothing that runs is called hello@3\nnext:  sluice runtime list\n"


def test_what_serves_is_not_stopped_and_what_was_comes_back(home):
    first = home.up(home.root / "examples/hello")
    second = home.up(home.root / "examples/hello-v2", "--share", "10%")
    name = f"{second['revision']} gets 1000 bps of the traffic of {second['deployment']}"
    refused = home.run("runtime", "stop", "hello@2", code=6)
    clear = f"sluice traffic clear local --deployment {second['deployment']}"
    assert refused.stderr == f"error: {name}\nnext:  give its share to another revision, or: {clear}\n"
    (instance,) = [each["instance"] for each in home.data("runtime", "list") if each["name"] == "hello@2"]
    refused = home.data("kit", "run", "deploy", "Runtime/destroy", f"instance={instance}", code=1)
    assert refused["variant"] == "destroyFailed" and refused["fields"]["reason"].startswith("it is hello@2, which is ready")

    home.run("traffic", "set", "local", "hello@1=100%")
    assert home.run("runtime", "stop", "hello@2").stdout == f"stopped  hello@2 {instance}, 1 replica\n"
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    assert [each["name"] for each in home.data("runtime", "list")] == ["hello@1"]
    home.run("traffic", "set", "local", "hello@2=100%", code=6)
    home.run("revisions", "retry", "local", "hello@2")
    home.run("revisions", "warm", "local", "hello@2")
    home.run("traffic", "set", "local", "hello@2=100%")
    assert get(first["urls"][0]) == (200, "hello 2.0.0\n")


def test_a_folder_becomes_a_url_and_a_change_a_new_revision(home, eventually):
    folder = home.copy("hello", "app")
    first = home.up(folder)
    assert first["name"] == "hello@1" and first["changed"] is True
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    again = home.up(folder)
    assert again["changed"] is False and again["revision"] == first["revision"]
    assert home.run("up", folder, "--detach").stdout.startswith("unchanged  hello@1 gets 100%\nhttp://127.0.0.1:")

    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace("1.0.0", "1.1.0"))
    second = home.up(folder)
    assert second["name"] == "hello@2" and second["changed"] is True and second["urls"] == first["urls"]
    assert get(first["urls"][0]) == (200, "hello 1.1.0\n")

    back = home.run("traffic", "rollback", "local")
    assert "obeyed by the router main" in back.stderr
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")

    manifest.write_text(manifest.read_text().replace("1.1.0", "1.2.0"))
    home.up(folder)
    lifecycles = {name: each["lifecycle"] for name, each in home.revisions().items()}
    assert lifecycles == {"hello@1": "ready", "hello@2": "inactive", "hello@3": "ready"}, "others are drained, and stay"
    home.run("traffic", "rollback", "local")
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")


def test_the_way_back_leads_past_a_canary_that_was_given_up(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.up(home.copy("hello-v2", "two"), "--share", "5%")
    home.run("traffic", "rollback", "local")
    home.up(home.copy("hello", "three", version="3.0.0"))
    assert get(url) == (200, "hello 3.0.0\n")
    home.run("traffic", "rollback", "local")
    assert get(url) == (200, "hello 1.0.0\n")


def test_routes_of_a_changed_folder_count_once_it_gets_everything(home):
    folder = home.copy("hello", "one")
    url = home.up(folder)["urls"][0]
    with open(folder / "bundle.yaml", "a") as manifest:
        manifest.write("routes:\n  - host: shop.localhost\n    path: /\n")
    canary = home.run("up", folder, "--detach", "--share", "5%")
    assert "the routes stay as they are until it gets everything\n" in canary.stderr
    assert get(url)[0] == 200
    shop = home.up(folder)["urls"][0]
    assert shop == url.replace("127.0.0.1", "shop.localhost")
    assert get(shop)[0] == 200 and get(url)[0] == 404
    assert home.up(folder)["changed"] is False


def test_routes_that_another_has_are_refused_before_anything_is_changed(home):
    taken = home.copy("hello", "other")
    routes = "routes:\n  - host: shop.localhost\n    path: /\n"
    (taken / "bundle.yaml").write_text((taken / "bundle.yaml").read_text().replace("name: hello", "name: other") + routes)
    home.up(taken)
    folder = home.copy("hello", "one")
    url = home.up(folder)["urls"][0]
    with open(folder / "bundle.yaml", "a") as manifest:
        manifest.write(routes)
    refused = home.run("up", folder, "--detach", code=6)
    assert refused.stderr.startswith("error: shop.localhost/ is the route of ")
    assert "; traffic stays as it was\n" in refused.stderr
    assert get(url) == (200, "hello 1.0.0\n")
    assert [each["name"] for each in home.data("runtime", "list")] == ["hello@1", "other@1"]


def test_a_share_that_it_has_already_is_no_change(home):
    home.up(home.copy("hello", "one"))
    home.up(home.copy("hello-v2", "two"), "--share", "5%")
    home.run("traffic", "set", "local", "hello@1=95%", "hello@2=5%")
    assert home.up(home.folder / "two", "--share", "5%")["changed"] is False


def test_a_canary_gets_its_share(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    canary = home.up(home.copy("hello-v2", "two"), "--share", "5%")
    assert [each["weightBps"] for each in canary["weights"]] == [500, 9500]
    answers = [get(url)[1] for _ in range(1000)]
    assert answers.count("hello 2.0.0\n") == 50 and answers.count("hello 1.0.0\n") == 950

    def revisions():
        return {each["name"]: each for each in home.status()["environments"][0]["deployments"][0]["revisions"]}

    assert revisions()["hello@2"]["weight_asked_bps"] == revisions()["hello@2"]["weight_obeyed_bps"] == 500
    eventually(lambda: revisions()["hello@1"]["requests"] == 950, lambda: str(revisions()))
    assert home.up(home.folder / "two")["weights"] == [{"revision": canary["revision"], "weightBps": 10000}]
    assert {get(url)[1] for _ in range(20)} == {"hello 2.0.0\n"}


def test_a_bundle_says_who_stays_where_and_what_is_said_while_it_is_paused(home):
    def folder(name, to, words):
        made = home.copy(name, to)
        with open(made / "bundle.yaml", "a", encoding="utf-8") as manifest:
            manifest.write(words)
        return made

    def cookie():
        return ask(url)[1].get("Set-Cookie")

    url = home.up(folder("hello", "one", "stickiness: {mode: none}\n"))["urls"][0]
    assert cookie() is None
    two = folder("hello-v2", "two", "stickiness: {mode: session, key: {header: X-Session}, ttl: 10m}\n"
                 "paused: {page: pages/back.html, retry_after: 2m}\n")
    refused = home.run("up", two, "--detach", code=1)
    assert f"{two}/bundle.yaml:" in refused.stderr and "/paused/page: the page pages/back.html is not in the bundle" in refused.stderr
    (two / "pages").mkdir()
    (two / "pages/back.html").write_text("<h1>Back soon, très bientôt</h1>\n", encoding="utf-8")
    home.up(two, "--share", "50%")
    assert cookie().startswith("_sl_rev_") and "; Max-Age=600;" in cookie()
    seen = [{get(url, {"X-Session": f"visitor {i}"})[1] for _ in range(10)} for i in range(20)]
    assert sorted(map(len, seen)) == [1] * 20, "each stays where it was first"
    assert set().union(*seen) == {"hello 1.0.0\n", "hello 2.0.0\n"}

    home.run("bundles", "update", "local", "--status", "paused")
    status, headers, body = ask(url)
    assert (status, headers["Retry-After"], headers["Content-Type"]) == (503, "120", "text/html; charset=utf-8")
    assert body == "<h1>Back soon, très bientôt</h1>\n"
    home.run("bundles", "update", "local", "--status", "active")
    assert ask(url)[0] == 200

    home.run("traffic", "set", "local", "hello@1=100%")
    assert cookie() is None, "the mode is that of the newest revision which gets anything"


def test_a_version_that_does_not_start_changes_nothing(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    refused = home.run("up", home.copy("broken", "two"), "--detach", code=7)
    assert "traffic stays as it was" in refused.stderr
    assert "broken: there is no setting DATABASE_ADDRESS" in refused.stderr, "the last lines of its log"
    assert {get(url)[1] for _ in range(20)} == {"hello 1.0.0\n"}
    shares = {each["name"]: each["weight_asked_bps"]
              for each in home.status()["environments"][0]["deployments"][0]["revisions"]}
    assert shares["hello@1"] == 10000 and shares["hello@2"] == 0


def test_ten_deploys_and_rollbacks_while_the_control_plane_is_killed_cost_no_request(home, eventually):
    folder = home.copy("hello", "app")
    url = home.up(folder)["urls"][0]
    before = "hello 1.0.0\n"
    with Load(url) as load:
        eventually(lambda: len(load.good) > 50)
        for version in (f"{n}.0.0" for n in range(2, 12)):
            home.change(folder, version)
            home.up(folder)
            assert get(url) == (200, f"hello {version}\n")
            os.kill(home.status()["pid"], signal.SIGKILL)
            seen = len(load.good)
            eventually(lambda: len(load.good) > seen + 20)
            home.run("traffic", "rollback", "local")
            assert get(url) == (200, before), "without a control plane a command does it by itself"
            home.up(folder)
            assert get(url) == (200, f"hello {version}\n")
            before = f"hello {version}\n"
    assert load.bad == [] and len(load.good) > 200


def test_a_router_that_was_away_gets_the_newest(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.copy("hello-v2", "two")
    record = home.router()
    os.kill(record["pid"], signal.SIGKILL)
    eventually(lambda: not running(record["pid"]))
    away = home.run("up", home.folder / "two", "--detach", "-o", "json")
    url = json.loads(away.stdout)["urls"][0]
    eventually(lambda: get(url) == (200, "hello 2.0.0\n"))


def test_a_router_that_is_killed_comes_back_where_it_was(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    for _ in range(2):  # at once, and once more
        pid = home.router()["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: home.router()["pid"] != pid, "nobody starts it again")
        assert get(url) == (200, "hello 1.0.0\n"), "it obeys what it had on its disk"
    assert "the router main has ended; it is started again" in (home.home / "logs/serve.log").read_text()
    home.run("stop")
    assert not (home.home / "router/main/router.json").exists(), "who is stopped in order stays so"


def test_a_router_that_cannot_start_is_told_with_its_log(home, eventually):
    """Its control socket's path is too long here, that of the control plane is not."""
    with tempfile.TemporaryDirectory(prefix="u", dir="/tmp") as folder:
        home.home = Path(folder) / ("h" * (88 - len(folder) - 1))
        refused = home.run("up", home.root / "examples/hello", "--detach", code=1)
        assert "the router has ended before it was ready; its log says:" in refused.stderr
        assert "at most 107 bytes" in refused.stderr
        assert home.run("status", code=5).stdout.startswith("not running")  # nothing is left of what was begun


def test_homes_that_come_up_at_once_find_a_port_each(sluice, root, tmp_path):
    homes = [Home(sluice, root, tmp_path / str(n)) for n in range(4)]
    for each in homes:
        each.folder.mkdir()
    try:
        starting = [subprocess.Popen([str(sluice), "up", str(root / "examples/hello"), "--detach", "-o", "json"], text=True,
                                     env=each.environment(), stdout=subprocess.PIPE) for each in homes]
        urls = {json.loads(each.communicate(timeout=120)[0])["urls"][0] for each in starting}
        assert len(urls) == len(homes)
        assert {get(url)[0] for url in urls} == {200}
    finally:
        for each in homes:
            each.stop()


def test_two_folders_come_up_at_once_in_a_new_home(home):
    """They share the control plane and the router, whoever has started them."""
    folders = [home.root / "examples/hello", home.root / "examples/chat"]
    starting = [home.begin("up", folder, "--detach", "-o", "json") for folder in folders]
    for each in starting:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, err
        assert get(json.loads(out)["urls"][0])[0] == 200
    assert len(home.status()["environments"][0]["deployments"]) == 2


def test_no_router_is_said(home):
    home.run("bundles", "build", home.copy("hello", "one"), "--out", "hello.bundle")
    home.run("bundles", "add", "local", "hello.bundle")
    home.run("revisions", "warm", "local", "hello@1")
    done = home.run("traffic", "set", "local", "hello@1=100%")
    assert "no router serves local yet" in done.stderr
    assert "router" not in home.run("traffic", "set", "local", "hello@1=100%", "--no-wait").stderr


def test_a_token_leads_to_a_revision_without_a_share(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.run("bundles", "build", home.copy("hello-v2", "two"), "--out", "two.bundle")
    home.run("revisions", "stage", "local", "two.bundle")
    home.run("revisions", "warm", "local", "hello@2")
    token = home.data("traffic", "token", "--revision", "hello@2", "--ttl", "15m")
    headers = {"X-Sluice-Debug-Token": token["token"], "X-Sluice-Deployment": token["deployment"],
               "X-Sluice-Revision": token["revision"]}
    assert {get(url, headers)[1] for _ in range(20)} == {"hello 2.0.0\n"}
    headers.pop("X-Sluice-Debug-Token")
    assert {get(url, headers)[1] for _ in range(100)} == {"hello 1.0.0\n"}, "the public cannot choose"


def test_a_revision_says_whose_it_is(home):
    hello = home.up(home.copy("hello", "one"))
    chat = home.up(home.copy("chat", "two"))
    for each in (hello, chat):
        assert home.data("traffic", "token", "--revision", each["name"])["deployment"] == each["deployment"]
        assert home.data("traffic", "set", "local", each["name"] + "=100%")["deployment"] == each["deployment"]
    assert "there are 2 deployments" in home.run("traffic", "show", "local", code=6).stderr
    missing = home.run("traffic", "set", "local", "other@1=100%", code=5).stderr
    assert missing.startswith("error: there is no revision 'other@1' in local"), missing


def test_a_proxy_is_believed_as_long_as_it_is_trusted(home):
    url = home.up(home.patient())["urls"][0]
    said = {"X-Forwarded-For": "192.0.2.1"}
    assert get(url, said) == (200, "1.0.0 127.0.0.1")
    done = home.run("config", "set", "local", "trusted_proxies=10.0.0.0/8,127.0.0.1")
    assert done.stderr == "obeyed by the router main\n"
    assert get(url, said) == (200, "1.0.0 192.0.2.1, 127.0.0.1")
    home.run("config", "set", "local", "trusted_proxies=proxy.example", code=1)
    home.run("config", "set", "local", "trusted_proxies=")
    assert get(url, said) == (200, "1.0.0 127.0.0.1")


def test_every_request_is_logged_if_that_is_asked_for(home, eventually):
    answer = home.up(home.copy("hello", "one"))
    home.run("config", "set", "local", "access_log_share=100%")
    for _ in range(20):
        get(answer["urls"][0])
    log = home.home / "router/main/access.log"
    eventually(lambda: log.read_text().count("\n") == 20, log.read_text)
    line = json.loads(log.read_text().splitlines()[0])
    expected = {"env_id": "local", "tenant": "default", "team": "default", "customer_id": "local-dev", "bundle_id": "hello",
                "deployment_id": answer["deployment"], "revision_id": answer["revision"], "generation": 1,
                "pack_kind": "sluice.deployer.local-process@1.0.0", "status": 200}
    assert {name: line[name] for name in expected} == expected


def test_a_drained_revision_is_stopped(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.up(home.copy("hello-v2", "two"))
    replica = next(each for each in home.status()["environments"][0]["deployments"][0]["revisions"]
                   if each["name"] == "hello@1")["replicas"][0]
    home.run("revisions", "drain", "local", "hello@1", "--yes")
    assert not running(replica["pid"])
    assert get(url) == (200, "hello 2.0.0\n")


def test_usage_is_what_the_client_counted(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    sent = 0

    def ask(times):
        nonlocal sent
        for _ in range(times):
            assert get(url)[0] == 200
            sent += 1

    def counted():
        return [(each["bundle"], each["requests"]) for each in home.data("usage", "show", "--by", "bundle")]

    ask(40)
    eventually(lambda: counted() == [("hello", sent)], lambda: f"{counted()} of {sent}")
    worker = int(home.data("router", "stats")["worker_pid"])
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: home.data("router", "stats")["worker_pid"] != worker)
    ask(10)
    eventually(lambda: home.data("router", "stats")["deployments"][0]["revisions"][0]["requests"] == sent)
    router = home.router()["pid"]
    os.kill(router, signal.SIGKILL)
    eventually(lambda: not running(router))
    assert counted() == [("hello", sent)], "nobody is there to be asked, and nothing is lost"
    url = home.up(home.folder / "one")["urls"][0]
    ask(5)
    home.run("stop")
    assert counted() == [("hello", sent)]
    home.up(home.folder / "one")
    assert counted() == [("hello", sent)], "each once"


def test_router_stats_are_drawn_again_on_a_terminal(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.up(home.copy("hello-v2", "two"), "--share", "50%")
    for _ in range(40):
        get(url)

    def once():
        return [line.split() for line in home.run("router", "stats").stdout.splitlines()[1:]]

    eventually(lambda: [row[4] for row in once()[1:]] == ["20", "20"], lambda: str(once()))
    assert [row[:4] for row in once()] == [["DEPLOYMENT", "REVISION", "WEIGHT", "SHARE"], ["hello", "hello@2", "50%", "50%"],
                                           ["hello", "hello@1", "50%", "50%"]]
    ours, its = pty.openpty()
    screen = b""
    watch = subprocess.Popen([str(home.sluice), "router", "stats", "--interval", "100ms"], stdout=its, stderr=its, stdin=its,
                             env={**home.environment(), "TERM": "xterm", "COLUMNS": "100"})
    os.close(its)

    def drawn():
        nonlocal screen
        get(url)
        if select.select([ours], [], [], 0)[0]:
            screen += os.read(ours, 1 << 16)
        return screen

    try:
        eventually(lambda: re.search(rb"hello@1 +50% +\S+% +[1-9]\d*(\.\d)? ", drawn()), lambda: screen.decode())
        assert b" REQ/S " in screen and b"\x1b[?1049h" in screen
        frames = screen.count(b"\x1b[H")
        eventually(lambda: drawn().count(b"\x1b[H") > frames + 2)
        watch.send_signal(signal.SIGINT)
        assert watch.wait(timeout=60) == 0
        drawn()
        assert re.search(rb"\x1b\[\?1049lrouter main\r\ngeneration \d+, .*hello@1 [^\x1b]*\Z", screen, re.DOTALL), screen[-2000:]
    finally:
        os.close(ours)
        watch.kill()
        watch.wait()


def test_without_a_manifest_it_shows_one(home):
    (home.folder / "app").mkdir()
    (home.folder / "app/app.py").write_text("print('hi')\n")
    shown = home.run("up", home.folder / "app", code=5)
    assert shown.stdout.startswith('name: app\nversion: "0.1.0"\nrun: [')
    assert f"next:  sluice init {home.folder / 'app'}" in shown.stderr
    assert not home.home.exists(), "nothing was started"


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_all_where_there_is_nothing_else(home, ends):
    command = [str(home.sluice), "up", str(home.copy("hello", "one"))]
    with subprocess.Popen(command, env=home.environment(), cwd=home.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as up:
        assert up.stdout.readline() == "up  hello@1 gets 100%\n"
        url = up.stdout.readline().strip()
        assert get(url) == (200, "hello 1.0.0\n")
        status = home.status()
        pids = [status["pid"], home.router()["pid"],
                status["environments"][0]["deployments"][0]["revisions"][0]["replicas"][0]["pid"]]
        up.send_signal(ends)
        assert up.wait(timeout=60) == 0, up.stderr.read()
    assert not any(map(running, pids))


def test_a_terminal_that_goes_does_not_matter_to_nohup(home):
    with subprocess.Popen(["nohup", str(home.sluice), "up", str(home.copy("hello", "one"))], env=home.environment(),
                          cwd=home.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as up:
        assert up.stdout.readline() == "up  hello@1 gets 100%\n"
        url = up.stdout.readline().strip()
        up.send_signal(signal.SIGHUP)
        home.run("traffic", "show", "local")
        assert up.poll() is None and get(url) == (200, "hello 1.0.0\n")
        up.send_signal(signal.SIGTERM)
        assert up.wait(timeout=60) == 0


def test_stop_ends_everything_and_up_brings_it_back(home):
    folder = home.copy("hello", "one")
    home.up(folder)
    status = home.status()
    replica = status["environments"][0]["deployments"][0]["revisions"][0]["replicas"][0]["pid"]
    router = home.router()["pid"]
    stopped = home.run("stop").stdout
    assert stopped == f"stopped  router main, pid {router}\nstopped  pid {status['pid']}\nstopped  1 replica\n"
    assert not any(map(running, (status["pid"], router, replica)))
    assert home.run("status", code=5).stdout.startswith("not running\nlocal, router main does not run\n")
    # Whatever is asked or decided meanwhile, it stays so.
    home.run("usage", "show")
    home.run("config", "set", "local", "access_log_share=50%")
    home.run("traffic", "set", "local", "--bundle", "nope", "nope@1=100%", code=5)
    assert home.replicas() == []
    up = home.run("up", folder, "--detach", "-o", "json")
    assert "does not obey" not in up.stderr
    again = json.loads(up.stdout)
    assert again["name"] == "hello@1"
    assert get(again["urls"][0]) == (200, "hello 1.0.0\n")


def test_stop_of_the_control_plane_leaves_traffic_alone(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    pid = home.status()["pid"]
    assert home.run("stop", "--control-plane").stdout == f"stopped  pid {pid}\n"
    assert get(url) == (200, "hello 1.0.0\n")


def test_down_takes_one_deployment_away(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    other = home.copy("hello", "other")
    (other / "bundle.yaml").write_text((other / "bundle.yaml").read_text().replace("name: hello", "name: other"))
    second = home.up(other)["urls"][0]
    assert second.startswith("http://other.localhost:")
    home.run("down", "hello")
    assert get(url)[0] == 404
    assert get(second) == (200, "hello 1.0.0\n")
    assert [each["bundle"] for each in home.status()["environments"][0]["deployments"]] == ["other"]
    home.run("down", "other")
    local, = home.status()["environments"]
    assert local["deployments"] == [] and local["routers"][0]["running"] is True, "the router is still there"

