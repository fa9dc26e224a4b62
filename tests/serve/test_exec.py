"""sluice exec through a sluice serve: over its socket, and over TCP with a token; with pipes and with a terminal, as an
action that is authorized and written down. And the logs of what runs there, for those who may read them."""

import fcntl
import http.client
import json
import os
import pty
import signal
import struct
import subprocess
import termios

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:olga], role: operator}
- {to: [user:lou], role: operator, environments: [local]}
- {to: [user:vic], role: viewer}
- {to: [user:far], role: operator, environments: [elsewhere]}
"""


class Place:
    """A home with hello in it, that sluice serve has at a port, and homes of people who come there with a token."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder = sluice, root, folder

    def environment(self, home):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.folder / home), "LANG": "C.UTF-8"}

    def run(self, *words, home="home", **more):
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=self.environment(home), timeout=120, **more)

    def ok(self, *words, home="home", **more):
        done = self.run(*words, "-o", "json", home=home, **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def entered(self):
        return [each for each in self.ok("audit", "list") if each.get("action") == "Runtime/enter"]


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("exec"))
    with open(one.folder / "serve.log", "a") as log:
        process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=root,
                                   env=one.environment("home"))
    try:
        eventually(lambda: (one.folder / "home/run/owner.token").exists() and "url" in one.ok("status", "--wait", "60s"))
        one.url = one.ok("status")["url"]
        one.ok("up", root / "examples/hello", "--detach")
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        one.ok("access", "policy", "apply", policy)
        one.tokens = {}
        for name in ("olga", "lou", "vic", "far"):
            one.tokens[name] = one.ok("access", "tokens", "create", "laptop", "--for", "user:" + name)["secret"]
            one.ok("login", one.url, home=name, input=one.tokens[name])
        yield one
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        one.run("stop")


@pytest.mark.parametrize("home", ["home", "olga"])
def test_input_output_errors_and_the_exit_code_pass(place, home):
    before = len(place.entered())
    done = place.run("exec", "hello", "--reason", "a look", "--", "sh", "-c",
                     "echo $SLUICE_VERSION; cat; echo wrong >&2; exit 9", home=home, input="typed\n")
    assert (done.returncode, done.stdout, done.stderr) == (9, "1.0.0\ntyped\n", "wrong\n")
    many = place.run("exec", "hello", "--", "sh", "-c", "seq 1 100000; kill -TERM $$", home=home, input="x" * 300_000)
    assert many.stdout == "".join(f"{i}\n" for i in range(1, 100_001))
    assert many.returncode == 128 + signal.SIGTERM
    assert place.run("exec", "hello", "--", "no-such-command", home=home).returncode == 127
    entered = place.entered()
    assert len(entered) == before + 3 and "echo" not in json.dumps(entered)
    if home == "olga":
        assert {each["caller"] for each in entered[-3:]} == {"user:olga"}


@pytest.mark.parametrize("home", ["home", "olga"])
def test_a_terminal_passes_keys_and_its_size(place, home):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen([str(place.sluice), "exec", "hello", "--", "sh", "-c",
                                "test -t 0 && stty size; until stty size | grep '34 77'; do :; done; read line; echo got $line; "
                                "exec cat"],
                               stdin=theirs, stdout=theirs, stderr=theirs, env=place.environment(home),
                               start_new_session=True)
    try:
        said = b""

        def until(text):
            nonlocal said
            while text not in said:
                said += os.read(ours, 4096)

        until(b"33 99")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 34, 77, 0, 0))
        until(b"34 77")
        os.write(ours, b"tea\n")
        until(b"got tea")
        os.write(ours, b"\x03")  # Ctrl-C is for the command
        assert process.wait(timeout=60) == 128 + signal.SIGINT
        assert termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


def test_the_command_ends_with_whoever_runs_it(place, eventually):
    process = subprocess.Popen([str(place.sluice), "exec", "hello", "--", "sh", "-c", "echo $$; exec sleep 1000"],
                               stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=place.environment("olga"))
    pid = int(process.stdout.readline())
    assert os.path.exists(f"/proc/{pid}")
    process.kill()
    process.wait()
    eventually(lambda: not os.path.exists(f"/proc/{pid}"))


def test_who_operates_one_environment_sees_and_enters_what_runs_there(place):
    assert [each["name"] for each in place.ok("runtime", "list", home="lou")] == ["hello@1"]
    assert place.ok("health", "check", "hello", home="lou")["check"]
    assert place.run("exec", "hello", "--", "echo", "there", home="lou").stdout == "there\n"
    assert "listens" in place.run("logs", "hello", home="lou").stdout
    assert place.ok("runtime", "list", home="far") == []
    for words in ("exec", "hello", "--", "true"), ("logs", "hello"):
        hidden = place.run(*words, home="far")
        assert hidden.returncode == 5 and "nothing that runs is called hello" in hidden.stderr, "not even that it is there"


def test_who_may_not_operate_may_not_enter(place):
    denied = place.run("exec", "hello", "--", "true", home="vic")
    assert denied.returncode == 4
    assert "user:vic may not call Runtime/enter" in denied.stderr
    assert any(each["caller"] == "user:vic" and each["step"] == "denied" for each in place.entered()), place.entered()


def test_without_a_connection_of_its_own_it_is_refused(place):
    wire = http.client.HTTPConnection(place.url.split("//")[1], timeout=60)
    wire.request("POST", "/v1/exec", json.dumps({"name": "hello", "command": ["true"]}),
                 {"Authorization": "Bearer " + place.tokens["olga"], "Content-Type": "application/json"})
    answer = wire.getresponse()
    assert (answer.status, answer.headers["Upgrade"]) == (426, "sluice-exec/1")
    assert json.loads(answer.read())["detail"] == "exec needs a connection of its own"
    for body in ({"name": "hello", "command": []}, {"name": "", "command": ["true"]}, {"command": ["true"]},
                 {"name": "hello", "command": ["true"], "terminal": 3}):
        wire.request("POST", "/v1/exec", json.dumps(body),
                     {"Authorization": "Bearer " + place.tokens["olga"], "Content-Type": "application/json",
                      "Connection": "Upgrade", "Upgrade": "sluice-exec/1"})
        answer = wire.getresponse()
        assert 400 <= answer.status < 500, body
        assert json.loads(answer.read())["detail"]


def logs(place, who, target):
    host, port = place.url.split("//")[1].split(":")
    wire = http.client.HTTPConnection(host, int(port), timeout=60)
    wire.request("GET", target, headers={"Authorization": "Bearer " + place.tokens[who]})
    return wire, wire.getresponse()


def test_logs_are_read_searched_and_followed_by_many_without_a_thread_each(place):
    _, whole = logs(place, "olga", "/v1/logs?name=hello&all=true")
    lines = [json.loads(line) for line in whole.read().splitlines()]
    assert [each for each in lines if "listens" in each["text"]] and lines == sorted(lines, key=lambda each: each["time"])
    _, found = logs(place, "olga", "/v1/logs?name=hello&search=listens")
    assert all("listens" in json.loads(line)["text"] for line in found.read().splitlines())
    for who, name, status in [("vic", "hello", 403), ("olga", "nobody", 404)]:
        _, refused = logs(place, who, f"/v1/logs?name={name}")
        assert refused.status == status and json.loads(refused.read())["detail"]
    pid = place.ok("status")["pid"]
    before = len(os.listdir(f"/proc/{pid}/task"))
    followers = [logs(place, "olga", "/v1/logs?name=hello&follow=true&all=true") for _ in range(150)]
    for _, answer in followers:
        while b"listens" not in answer.readline():
            pass
    (endpoint,) = [each["endpoint"] for each in place.ok("runtime", "list")]
    program = http.client.HTTPConnection(endpoint.split("//")[1].rstrip("/"), timeout=60)
    program.request("GET", "/something-new")
    program.getresponse().read()
    for _, answer in followers:
        while b"something-new" not in answer.readline():
            pass
    assert len(os.listdir(f"/proc/{pid}/task")) < before + 100
    for wire, _ in followers[1:]:
        wire.close()
    # Who may no longer read hears no more, although the connection is the same.
    policy = place.folder / "less.yaml"
    policy.write_text(POLICY.replace("role: operator", "role: viewer"))
    place.ok("access", "policy", "apply", policy)
    try:
        followers[0][1].read()
    finally:
        place.ok("access", "policy", "apply", place.folder / "policy.yaml")
