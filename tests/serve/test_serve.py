"""sluice serve, end to end: the same commands with and without it, who may use it, many clients at once, kill -9 in the
middle, and its end."""

import concurrent.futures
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess

import pytest

KIT = "examples/kits/orders"
TEA = ["item=tea", "count=2", "address=1 Lock Lane"]
ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Home:
    """A home, a mailbox, and sluice with both; perhaps a serve."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder = sluice, root, folder
        self.home = folder / "home"
        (folder / "mailbox").mkdir()
        self.server = None

    def environment(self):
        return {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "ORDERS_MAILBOX": str(self.folder / "mailbox"),
                "LANG": "C.UTF-8"}

    def words(self, *words):
        return [str(self.sluice), *map(str, words)]

    def run(self, *words, before=(), timeout=120, **more):
        return subprocess.run([*before, *self.words(*words)], capture_output=True, text=True, cwd=self.root,
                              env=self.environment(), timeout=timeout, **more)

    def kit(self, *words, **more):
        return self.run("kit", "run", KIT, *words, **more)

    def serve(self, kit=KIT, *words, ready=True):
        log = open(self.folder / "serve.log", "a")
        self.server = subprocess.Popen(self.words("serve", *([kit] if kit else []), *words), stdout=log, stderr=log,
                                       cwd=self.root, env=self.environment())
        if ready:
            assert self.run("status", "--wait", "60s", "-q").returncode == 0, self.log()
        return self.server

    def log(self):
        return (self.folder / "serve.log").read_text()

    def end(self, how=signal.SIGKILL):
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(how)
        code = self.server.wait(timeout=60) if self.server is not None else None
        self.server = None
        return code

    def request(self, method, target, body=None, headers=None):
        """Straight to the socket; answers the status and the JSON."""
        connection = http.client.HTTPConnection("sluice")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.home / "run/sluice.sock"))
        text = None if body is None else json.dumps(body)
        connection.request(method, target, text, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None


@pytest.fixture
def home(sluice_orders, root, tmp_path):
    one = Home(sluice_orders, root, tmp_path)
    yield one
    if one.server is not None:
        one.end()


def anonymous(text):
    """The same text whatever the ids, the times and the pids are. Ids are numbered as they come."""
    seen = {}
    text = ID.sub(lambda m: seen.setdefault(m.group(), f"ID{len(seen)}"), text)
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{8}\b", "SHORT", text)
    text = TIME.sub("TIME", text)
    text = re.sub(r"[0-9a-f]{64}", "HASH", text)
    text = re.sub(r"key [0-9a-f]{32}|\b[0-9a-f]{32}\b", "KEY", text)
    text = re.sub(r'"(at|due)Ms": \d+', r'"\1Ms": N', text)
    return re.sub(r" \d+(\.\d)? (ms|s|min)\b", " SOON", text)


def comparable(done):
    return done.returncode, anonymous(done.stdout), anonymous(done.stderr)


# Every command that goes to the engine or the store, with good and with bad calls. {flow} is the newest flow's id.
COMMANDS = [
    ["flow", "list"], ["flow", "show", "latest"], ["audit", "list"], ["flow", "dead", "list"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=50", "--reason", "spring"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=0"],
    ["kit", "run", KIT, "Stock/look", "item=tea"],
    ["kit", "run", KIT, "Stock/look", "item=jam"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=1", "--idempotency-key", "k1"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=1", "--idempotency-key", "k1"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=2", "--idempotency-key", "k1"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=1", "--expect-generation", "2"],
    ["kit", "run", KIT, "Stock/add", "item=tea", "count=1", "--expect-generation", "2"],
    ["kit", "run", KIT, "Stock/add", "item=ä\U0001f980", "count=1", "-o", "json"],
    ["kit", "run", KIT, "Stock/reserve", "item=tea", "count=600"],
    ["kit", "run", KIT, "Order/plce", *TEA],
    ["kit", "run", KIT, "Order/place", "item=tea"],
    ["kit", "run", KIT, "Order/place", *TEA, "--wait", "all"],
    ["kit", "run", KIT, "Order/place", *TEA, "--wait", "settled", "-o", "json"],
    ["kit", "run", KIT, "Order/place", "item=jam", "count=1", "address=x"],
    ["kit", "run", KIT],
    ["kit", "run", KIT, "-o", "json"],
    ["flow", "list"], ["flow", "list", "--failed", "-o", "json"], ["flow", "list", "--limit", "2"],
    ["flow", "show", "latest"], ["flow", "trace", "latest", "--gates"], ["flow", "trace", "{flow}", "-o", "json"],
    ["why", "latest"], ["why", "{flow}"], ["why", "AAAAAA"], ["flow", "show", "x"],
    ["flow", "cancel", "{flow}"], ["flow", "move", "{flow}"], ["flow", "resolve", "latest", "--retry"],
    ["flow", "dead", "list", "-o", "json"], ["flow", "dead", "retry", "{flow}"],
    ["audit", "list"], ["audit", "list", "--flow", "latest", "-o", "json"],
]


def test_every_command_says_the_same_with_and_without_serve(sluice_orders, root, tmp_path):
    homes = []
    for name in ("alone", "served"):
        (tmp_path / name).mkdir()
        homes.append(Home(sluice_orders, root, tmp_path / name))
    alone, served = homes
    # The store is there in both: what differs is who has it.
    for each in homes:
        assert each.kit("Stock/add", "item=tea", "count=5").returncode == 0
    served.serve()
    try:
        for words in COMMANDS:
            results = []
            for each in homes:
                line = words
                if "{flow}" in words:
                    newest = json.loads(each.run("flow", "list", "-o", "json", "--limit", "1").stdout)[0]["flow"]
                    line = [word.replace("{flow}", newest) for word in words]
                results.append(comparable(each.run(*line)))
            assert results[1] == results[0], words
        # When a head is signed differs: at the end of each command, and every minute.
        for each in homes:
            assert each.run("audit", "verify").stdout.startswith("The journal holds.\n")
    finally:
        log = served.log()
        assert served.end(signal.SIGTERM) == 0, log
    assert "serving the kit orders" in log and "Stock/add => ok in " in log


def test_sluices_own_kit_is_served_without_naming_it(home):
    assert home.run("trust", "bootstrap").returncode == 0
    home.serve(kit=None)
    for words in [["trust", "list"], ["trust", "list", "-o", "json"], ["artifact", "list"],
                  ["trust", "remove", "00"], ["artifact", "build", "README.md"], ["artifact", "list"],
                  ["bundles", "verify", "README.md"]]:
        through = home.run(*words)
        assert "store.lock" not in through.stderr, words
    assert home.run("trust", "list").stdout.count("\n") == 2
    assert json.loads(home.run("artifact", "list", "-o", "json").stdout)[0]["conceptName"] == "README.md"
    refused = home.kit("Stock/add", "item=tea", "count=1")
    assert refused.returncode == 6
    assert refused.stderr.startswith("error: sluice serve runs the kit ")
    assert home.run("stop").returncode == 0
    assert home.kit("Stock/add", "item=tea", "count=1").returncode == 0


def test_status_and_stop(home):
    nothing = home.run("status")
    assert (nothing.returncode, nothing.stdout) == (5, "not running\n")
    assert not home.home.exists()
    assert home.run("stop").stdout == "not running\n"
    server = home.serve()
    status = json.loads(home.run("status", "-o", "json").stdout)
    assert status["running"] is True and status["pid"] == server.pid and status["kit"] == "orders"
    assert status["openFlows"] == 0 and status["storeBytes"] > 0
    text = home.run("status").stdout
    assert text.startswith(f"running  pid {server.pid} since ")
    stopped = home.run("stop", "--reason", "upgrade")
    assert (stopped.returncode, stopped.stdout) == (0, f"stopped  pid {server.pid}\n")
    assert server.wait(timeout=60) == 0
    assert "asked to stop: upgrade" in home.log() and home.log().endswith("stopped\n")
    assert not (home.home / "run/sluice.sock").exists()
    assert home.run("status").returncode == 5


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(home, how):
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=5").returncode == 0
    assert home.end(how) == 0
    assert home.log().endswith("stopped\n")
    assert home.kit("Stock/look", "item=tea").stdout == "ok  item=tea onShelf=5\n"


def test_a_second_one_is_refused_and_names_the_first(home):
    server = home.serve()
    second = home.run("serve", KIT)
    assert second.returncode == 6
    assert second.stderr.startswith(f"error: sluice serve runs already: pid {server.pid} on ")
    assert second.stderr.endswith("next:  sluice stop\n")
    assert home.kit("Stock/add", "item=tea", "count=5").returncode == 0


def test_a_socket_that_was_left_behind_is_replaced(home):
    home.serve()
    home.end(signal.SIGKILL)
    assert (home.home / "run/sluice.sock").exists()
    assert home.run("status").returncode == 5
    assert home.kit("Stock/add", "item=tea", "count=5").returncode == 0
    home.serve()
    assert home.kit("Stock/look", "item=tea").stdout == "ok  item=tea onShelf=5\n"


def test_places_where_it_cannot_listen(sluice_orders, root, tmp_path):
    deep = tmp_path / ("a" * 100)
    deep.mkdir()
    long = Home(sluice_orders, root, deep)
    refused = long.run("serve", KIT)
    assert refused.returncode == 1
    assert re.match(r"error: the path of the home's socket has \d+ bytes, and the system takes 107: ", refused.stderr)
    assert "next:  export SLUICE_HOME=/a/shorter/path\n" in refused.stderr
    assert not long.home.exists()
    assert long.kit("Stock/add", "item=tea", "count=5").returncode == 0, "commands do without it"
    assert long.run("status").returncode == 5
    (tmp_path / "other").mkdir()
    other = Home(sluice_orders, root, tmp_path / "other")
    assert other.kit("Stock/add", "item=tea", "count=5").returncode == 0
    (other.home / "run/sluice.sock").write_text("mine")
    refused = other.run("serve", KIT)
    assert refused.returncode == 6
    assert "run/sluice.sock is there and is no socket" in refused.stderr


def test_a_disk_that_cannot_be_written_is_told(home):
    # In a mount namespace of its own, without root in a user namespace, also in a chroot.
    as_root = [] if os.getuid() == 0 else ["--map-root-user"]
    read_only = ["unshare", *as_root, "--mount", "--propagation", "unchanged", "sh", "-c",
                 "{ mount --make-rprivate / 2>/dev/null || ! grep -q ' shared:' /proc/self/mountinfo; } && "
                 f'mount --bind "{home.home}" "{home.home}" && mount -o remount,bind,ro "{home.home}" && exec "$@"', "sh"]
    assert home.kit("Stock/add", "item=tea", "count=1").returncode == 0
    refused = home.run("serve", KIT, before=read_only)
    assert refused.returncode == 1
    assert "Read-only file system" in refused.stderr


def test_another_user_is_denied_and_recorded(home):
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("switching users needs root and setpriv")
    nobody = ["setpriv", "--ruid=65534"]
    home.serve()
    done = home.kit("Stock/add", "item=tea", "count=1", before=nobody)
    assert done.returncode == 4
    assert done.stderr.startswith("error: uid:65534 may not call Stock/add\n")
    assert home.kit("Stock/look", "item=tea", before=nobody).returncode == 4
    listed = home.run("flow", "list", before=nobody)
    assert listed.returncode == 4
    assert listed.stderr.startswith("error: uid:65534 may not run sluice flow list on this home\n")
    assert home.run("stop", before=nobody).returncode == 4
    records = json.loads(home.run("audit", "list", "-o", "json").stdout)
    denied = [record["action"] for record in records if record["step"] == "denied"]
    assert denied == ["Stock/add", "Stock/look", "flow list", "stop"]
    assert {record["caller"] for record in records if record["step"] == "denied"} == {"uid:65534"}
    assert home.run("status").returncode == 0


def test_timers_and_effects_go_on_without_anybody_waiting(home):
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=5").returncode == 0
    status, started = home.request("POST", "/v1/actions/Order/place?wait=start",
                                   {"input": {"item": "tea", "count": 2, "address": "1 Lock Lane"}})
    assert status == 202
    status, flow = home.request("GET", f"/v1/flows/{started['flow']}?until=all&for_ms=60000")
    assert (status, flow["state"]) == (200, "settled")
    assert any((home.folder / "mailbox").iterdir())


def test_waiting_ends_with_ctrl_c_and_the_flow_goes_on(home):
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=5").returncode == 0
    process = subprocess.Popen(home.words("kit", "run", KIT, "Order/place", *TEA, "--verbose"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, cwd=home.root, env=home.environment())
    flow = next(line.split()[1] for line in process.stderr if line.startswith("flow: "))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"error: stopped waiting for flow {flow}, which goes on in sluice serve\n" in errors
    assert home.request("GET", f"/v1/flows/{flow}?until=settled&for_ms=60000")[1]["state"] == "settled"


def test_rules_that_change_are_loaded(home, root, tmp_path, eventually):
    kit = tmp_path / "kit"
    kit.mkdir()
    for pattern in ("*.concept", "*.sync", "*.yaml"):
        for file in (root / KIT).glob(pattern):
            shutil.copy(file, kit)
    home.serve(kit)
    guards = kit / "guards.sync"
    guards.write_text(guards.read_text() + """
guard NoTea
  before { Stock/add: [ item: ?item ] }
  require { filter(?item = "coffee") }
  else engine.refused[ message: "only coffee" ]
""")
    eventually(lambda: "has changed: flows that begin now" in home.log(), home.log)
    refused = home.run("kit", "run", kit, "Stock/add", "item=tea", "count=1")
    assert refused.returncode == 7
    assert refused.stdout == "engine.refused  message=only coffee\n"


def test_sixteen_clients_and_a_thousand_calls(home):
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=1").returncode == 0

    def calls(n):
        return [home.request("POST", "/v1/actions/Stock/add", {"input": {"item": "tea", "count": 1}},
                             {"Idempotency-Key": f"{n}-{i}"})[0] for i in range(60)]

    def commands(n):
        return [home.kit("Stock/add", "item=tea", "count=1") for _ in range(3)]

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        called = [pool.submit(calls, n) for n in range(16)]
        ran = [pool.submit(commands, n) for n in range(16)]
        assert {status for each in called for status in each.result()} == {200}
        for each in ran:
            for done in each.result():
                assert (done.returncode, "lock" in done.stderr) == (0, False), done.stderr
    assert home.kit("Stock/look", "item=tea").stdout == f"ok  item=tea onShelf={1 + 16 * 60 + 16 * 3}\n"
    assert home.run("audit", "verify").returncode == 0


def test_one_expected_generation_has_one_winner(home):
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=1").returncode == 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda _: home.kit("Stock/add", "item=tea", "count=1", "--expect-generation", "1"), range(16)))
    assert sorted(one.returncode for one in done) == [0] + [6] * 15
    assert all("engine.conflict" in one.stdout for one in done if one.returncode == 6)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        same = list(pool.map(lambda _: home.kit("Stock/add", "item=jam", "count=1", "--idempotency-key", "k"), range(50)))
    assert {(one.returncode, one.stdout, one.stderr) for one in same} == {(0, "ok  item=jam onShelf=1\n", same[0].stderr)}


def test_events_can_be_resumed(home):
    home.serve()
    for count in (1, 2, 3):
        assert home.kit("Stock/add", "item=tea", f"count={count}").returncode == 0
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(60)
        wire.connect(str(home.home / "run/sluice.sock"))
        wire.sendall(b"GET /v1/events?raw=true HTTP/1.1\r\nHost: h\r\nLast-Event-ID: 1\r\n\r\n")
        got = b""
        while b"id: 3\n" not in got:
            got += wire.recv(65536)
        assert home.kit("Stock/add", "item=tea", "count=4").returncode == 0
        while b"id: 4\n" not in got:
            got += wire.recv(65536)
    assert b"id: 1\n" not in got and b"event: step\ndata: {" in got


def test_nothing_acknowledged_is_lost_when_it_is_killed(home, eventually):
    """kill -9 at random moments while clients call: what was acknowledged is there, what broke off can be repeated under
    its key, and is done once."""
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    home.serve()
    assert home.kit("Stock/add", "item=tea", "count=1").returncode == 0
    acknowledged, unknown = 0, []
    for kill in range(12):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            calls = [pool.submit(home.kit, "Stock/add", "item=tea", "count=1", "--lock-timeout", "60s") for _ in range(12)]
            enough = chance.randrange(9)
            eventually(lambda: sum(call.done() for call in calls) >= enough)
            home.end(signal.SIGKILL)
            for call in calls:
                done = call.result()
                if done.returncode == 0:
                    acknowledged += 1
                    continue
                assert done.returncode == 8, f"seed {seed}: {done.stderr}"
                key = re.search(r"next:  sluice kit run .* Stock/add .* --idempotency-key ([0-9A-Z]{26})\n", done.stderr)
                assert key, f"seed {seed}: {done.stderr}"
                unknown.append(key.group(1))
        home.serve()
    for key in unknown:
        again = home.kit("Stock/add", "item=tea", "count=1", "--idempotency-key", key)
        assert again.returncode == 0, f"seed {seed}: {again.stderr}"
        assert home.kit("Stock/add", "item=tea", "count=1", "--idempotency-key", key).stdout == again.stdout
    there = json.loads(home.kit("Stock/look", "item=tea", "-o", "json").stdout)["fields"]["onShelf"]
    assert there == 1 + acknowledged + len(unknown), f"seed {seed}: {acknowledged} and {len(unknown)}"
    assert acknowledged + len(unknown) == 12 * 12
    home.end(signal.SIGTERM)
    assert home.run("audit", "verify").returncode == 0


def test_bad_requests_are_refused_and_change_nothing(home):
    home.serve()

    def answer(data):
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(60)
            wire.connect(str(home.home / "run/sluice.sock"))
            wire.sendall(data)
            got = b""
            while chunk := wire.recv(65536):
                got += chunk
            return got.split(b"\r\n")[0].decode()

    assert answer(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100) + b"\r\n\r\n").startswith("HTTP/1.1 400")
    assert answer(b"GET / HTTP/1.1\r\nHost: h\r\nA: " + b"a" * 20_000).startswith("HTTP/1.1 431")
    assert answer(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n").startswith("HTTP/1.1 413")
    assert answer(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n").startswith("HTTP/1.1 400")
    deep = {"input": {}}
    status, problem = home.request("POST", "/v1/actions/Stock/add", deep)
    assert (status, problem["code"]) == (400, "invalid")
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(60)
        wire.connect(str(home.home / "run/sluice.sock"))
        body = b'{"input":' + b"[" * 100_000
        wire.sendall(b"POST /v1/actions/Stock/add HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert wire.recv(65536).startswith(b"HTTP/1.1 4")
    assert home.request("GET", "/v1/status")[1]["position"] == 0
