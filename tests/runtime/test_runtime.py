"""Runtime end to end: the examples run as processes that outlive the command that started them, and are rolled out over
each other. Each command is a controller of its own, which ends; what runs is found again by the next."""

import base64
import hashlib
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest


class Machine:
    """A home, and sluice with it."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"

    def words(self, *words):
        return {"args": [str(self.sluice), *map(str, words)], "cwd": self.root, "text": True,
                "env": {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}}

    def run(self, *words, **more):
        return subprocess.run(**self.words(*words), capture_output=True, timeout=120, **more)

    def act(self, action, given=None, **arguments):
        """The variant that an action ended in, and its fields; `given` are arguments that no command line may show."""
        action = action if "/" in action else f"Runtime/{action}"
        if given is None:
            done = self.run("kit", "run", "deploy", action, "-o", "json",
                            *(f"{name}={value}" for name, value in arguments.items()))
        else:
            done = self.run("kit", "run", "deploy", action, "-o", "json", "--input", "-",
                            input=json.dumps({**{name: str(value) for name, value in arguments.items()}, **given}))
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        return said["variant"], said["fields"]

    def example(self, name):
        return self.root / "examples" / name

    def replicas(self):
        """The states of all replicas, by name."""
        files = sorted((self.home / "runtime" / "replicas").glob("[!.]*/state.json"))
        return {path.parent.name: json.loads(path.read_text()) for path in files}

    def bundle(self, name, app, manifest):
        """The folder of a bundle of one program in Python."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "app").write_text("#!/usr/bin/python3\n" + app)
        (folder / "app").chmod(0o755)
        (folder / "bundle.yaml").write_text(f"name: {name}\nversion: \"1\"\nrun: [./app]\nlisten: unix\n" + manifest)
        return folder


def get(endpoint, path="/"):
    if endpoint.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(endpoint.removeprefix("unix:"))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n".encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read().decode()
    with urllib.request.urlopen(endpoint + path, timeout=30) as answer:
        return answer.status, answer.read().decode()


SERVER = """
import http.server, os, socketserver
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"well")
    def log_message(self, *words):
        pass
class Server(socketserver.UnixStreamServer):
    def get_request(self):
        return super().get_request()[0], ("", 0)
Server(os.environ["SLUICE_SOCKET"], Answers).serve_forever()
"""


@pytest.fixture
def machine(sluice, root):
    with tempfile.TemporaryDirectory(prefix="sluice-rt-") as folder:
        os.chmod(folder, 0o755)
        machine = Machine(sluice, root, Path(folder))
        variant, fields = machine.act("provision", concept="hello", runtimeType="local", config="{}")
        assert variant == "ok"
        machine.instance = fields["instance"]
        yield machine
        assert machine.act("destroy", instance=machine.instance)[0] == "ok"
        assert machine.replicas() == {}


def deploy(machine, name, version):
    return machine.act("deploy", instance=machine.instance, artifact=machine.example(name), version=version)


def test_examples_are_rolled_out_over_each_other(machine):
    assert machine.act("healthCheck", instance=machine.instance)[0] == "unreachable"
    variant, first = deploy(machine, "hello", "1.0.0")
    assert variant == "ok", first
    assert get(first["endpoint"]) == (200, "hello 1.0.0\n")
    assert machine.act("healthCheck", instance=machine.instance)[0] == "ok"
    assert machine.act("rollback", instance=machine.instance)[0] == "noHistory"
    variant, second = deploy(machine, "hello-v2", "2.0.0")
    assert variant == "ok", second
    assert get(second["endpoint"], "/health") == (200, "hello 2.0.0\n")
    with pytest.raises(urllib.error.URLError):
        get(first["endpoint"])
    assert len(machine.replicas()) == 1

    variant, failed = deploy(machine, "broken", "2.1.0-broken")
    assert variant == "deployFailed"
    assert failed["reason"] == "it ended with exit code 1, 5 times without ever being healthy"
    assert any(line.startswith("err ") for line in failed["lastLines"]), failed
    assert get(second["endpoint"]) == (200, "hello 2.0.0\n"), "what ran before goes on"
    assert len(machine.replicas()) == 1

    assert deploy(machine, "leaky", "3.0.0")[0] == "ok"
    for version, history in (("2.0.0", ["1.0.0", "2.0.0"]), ("1.0.0", ["1.0.0"])):
        variant, back = machine.act("rollback", instance=machine.instance)
        assert (variant, back["previousVersion"]) == ("ok", version)
        variant, shown = machine.act("show", instance=machine.instance)
        assert [each["version"] for each in shown["history"]] == history
        (listed,) = json.loads(machine.run("runtime", "list", "-o", "json").stdout)
        assert get(listed["endpoint"]) == (200, f"hello {version}\n"), "the registry says where it is"
        assert listed["endpoint"] == back["endpoint"] == listed["replicas"][0]["endpoint"]
    assert machine.act("rollback", instance=machine.instance)[0] == "noHistory"


def test_a_program_runs_as_nobody_and_sees_a_read_only_bundle(machine):
    assert deploy(machine, "hello", "1.0.0")[0] == "ok"
    (state,) = machine.replicas().values()
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{state['program']['pid']}/status").read_text().splitlines())
    assert status["NoNewPrivs"] == "1"
    if os.geteuid() == 0:
        assert status["Uid"].split() == ["65532"] * 4
        mounts = Path(f"/proc/{state['program']['pid']}/mountinfo").read_text()
        (bundle,) = [line for line in mounts.splitlines() if line.split()[4] == str(machine.example("hello"))]
        assert bundle.split()[5].split(",")[0] == "ro"


@pytest.mark.parametrize("name, version", [("slow", "2.2.0-slow"), ("leaky", "2.3.0-leaky")])
def test_the_examples_that_misbehave_do_so(machine, name, version):
    variant, fields = deploy(machine, name, version)
    assert variant == "ok", fields
    statuses = []
    for _ in range(40):
        try:
            statuses.append(get(fields["endpoint"])[0])
        except urllib.error.HTTPError as error:
            statuses.append(error.code)
    assert statuses.count(500) == (2 if name == "leaky" else 0)
    assert statuses.count(200) == 40 - statuses.count(500)


def test_what_cannot_be_deployed_is_named(machine, tmp_path):
    variant, fields = machine.act("deploy", instance=machine.instance, artifact=tmp_path, version="1")
    assert variant == "deployFailed"
    assert "bundle.yaml" in fields["reason"]
    variant, fields = machine.act("provision", concept="other", runtimeType="local", config='{"replicas":0}')
    assert (variant, fields["reason"]) == ("provisionFailed", "/replicas: expected 1 to 1000 replicas")


def kill_replica(machine, name=None):
    """Ends a replica with its supervisor, as a mishap would."""
    name, state = next((each for each in machine.replicas().items() if name in (None, each[0])))
    for process in (state["supervisor"], state["program"]):
        try:
            os.kill(process["pid"], signal.SIGKILL)
        except ProcessLookupError:
            pass  # the program ends with its supervisor
    return name, state


def reached(endpoint):
    try:
        return get(endpoint)[0] == 200
    except OSError:
        return False


def test_a_lost_replica_is_replaced_by_the_next_command(machine, eventually):
    _, deployed = deploy(machine, "hello", "1.0.0")
    name, before = kill_replica(machine)
    eventually(lambda: not reached(deployed["endpoint"]))
    assert machine.run("runtime", "list").returncode == 0
    assert machine.run("kit", "run", "deploy").returncode == 0
    after = machine.replicas()[name]
    assert after["phase"] == "running" and after["healthy"]
    assert after["supervisor"] != before["supervisor"]
    assert reached(deployed["endpoint"])
    listed = machine.run("audit", "list", "-o", "json")
    assert any(each["caller"] == "sluice:observer" for each in json.loads(listed.stdout)), listed.stdout


def test_a_lost_replica_is_replaced_while_a_controller_runs(machine, eventually):
    _, deployed = deploy(machine, "hello", "1.0.0")
    # A controller that has something to wait for: a program that is healthy once it is told to be.
    waiter = machine.bundle("waiter", "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n" + SERVER,
                            "health: { start_within: 10m }\n")
    variant, other = machine.act("provision", concept="waiter", runtimeType="local", config="{}")
    controller = subprocess.Popen(**machine.words("kit", "run", "deploy", "Runtime/deploy", f"instance={other['instance']}",
                                                  f"artifact={waiter}", "version=1"), stdout=subprocess.PIPE)
    try:
        eventually(lambda: len(machine.replicas()) == 2)
        hello = next(name for name, state in machine.replicas().items() if state["healthy"])
        kill_replica(machine, hello)
        eventually(lambda: not reached(deployed["endpoint"]))
        eventually(lambda: reached(deployed["endpoint"]))
        assert controller.poll() is None, "it was the one that repaired"
    finally:
        (waiter / "go").touch()
        assert controller.wait(60) == 0
    assert machine.act("destroy", instance=other["instance"])[0] == "ok"


def test_what_runs_is_listed_followed_and_stopped(machine):
    deploy(machine, "hello", "1.0.0")
    listed = machine.run("runtime", "list").stdout.splitlines()
    assert listed[0].split() == ["NAME", "CUSTOMER", "INSTANCE", "TYPE", "VERSION", "STATUS", "HEALTHY", "ENDPOINT"]
    assert listed[1].split()[:6] == ["hello", machine.instance, "local", "1.0.0", "running", "1/1"]
    shown = json.loads(machine.run("runtime", "show", "hello", "-o", "json").stdout)
    endpoint = shown["endpoint"]
    follower = subprocess.Popen(**machine.words("logs", "hello", "-f", "--grep", "GET"), stdout=subprocess.PIPE)
    assert get(endpoint, "/")[0] == 200
    line = follower.stdout.readline()
    assert line.split()[1:3] == ["hello.0", "out"] and '"GET / HTTP/1.1" 200' in line
    follower.send_signal(signal.SIGINT)
    assert follower.wait(30) == 0
    done = machine.run("runtime", "stop", "hello")
    assert done.stdout == f"stopped  hello {machine.instance}, 1 replica\n"
    assert not reached(endpoint)


def test_following_goes_on_with_what_comes_later(machine):
    assert deploy(machine, "hello", "1.0.0")[0] == "ok"
    follower = subprocess.Popen(**machine.words("logs", "hello", "-f", "--grep", "listens"), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def heard():
        _, label, _, text = follower.stdout.readline().split(maxsplit=3)
        return label, text.split(" listens")[0]

    assert heard() == ("hello.0", "hello 1.0.0")
    assert deploy(machine, "hello-v2", "2.0.0")[0] == "ok"
    assert heard() == ("hello.0", "hello 2.0.0")
    assert machine.act("Runtime/scale", instance=machine.instance, replicas=2)[0] == "ok"
    assert heard() == ("hello.1", "hello 2.0.0")
    assert machine.run("runtime", "stop", "hello").returncode == 0
    out, err = follower.communicate(timeout=60)
    assert (out, err, follower.returncode) == ("", "Everything that it followed has stopped.\n", 0)


def test_a_command_runs_in_a_replicas_place(machine):
    bundle = machine.bundle("hello", SERVER, "env: { COLOR: blue }\nsecrets: [TOKEN]\n")
    variant, _ = machine.act("deploy", instance=machine.instance, artifact=bundle, version="1",
                             given={"secrets": json.dumps({"TOKEN": "t0p-of-the-test", "OTHER": "o"})})
    assert variant == "ok"
    done = machine.run("exec", "hello", "--", "sh", "-c", "echo $COLOR $TOKEN $OTHER. $PWD; cat; id -u; exit 9", input="in")
    user = "65532" if os.geteuid() == 0 else str(os.geteuid())
    assert done.stdout == f"blue t0p-of-the-test . {bundle}\nin{user}\n"
    assert done.returncode == 9
    audit = machine.run("audit", "list", "-o", "json").stdout
    entered = [each for each in json.loads(audit) if each["action"] == "Runtime/enter"]
    assert [each["outcome"] for each in entered] == ["ok"] and "echo" not in audit
    missing = machine.run("exec", "hello", "--", "no-such-command")
    assert (missing.returncode, missing.stderr) == (127, "error: there is no program no-such-command on PATH\n")


REPORT = """
import json, os
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.environ["HOME"]))))
print(json.dumps({
    "uid": os.getuid(),
    "home": sorted(tried(lambda: os.listdir(home))),
    "store": tried(lambda: open(home + "/store/store.db", "rb").read(1)),
    "others": sorted(tried(lambda: os.listdir(home + "/runtime/replicas"))),
    "bundle": tried(lambda: open("new", "w").close()),
    "descriptors": [tried(lambda: os.readlink("/proc/self/fd/" + str(each))) for each in range(3, 100)],
    "color": json.load(open(os.environ["SLUICE_CONFIG"]))["color"],
    "secret": len(open(os.environ["TOKEN"]).read()),
}), flush=True)
"""


def processes_with(secret, file):
    """The pids of processes whose command line or environment has the secret."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if secret.encode() in Path(f"/proc/{pid}/{file}").read_bytes():
                found.add(int(pid))
        except OSError:
            pass
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a program a user and a view of its own")
def test_a_program_sees_nothing_of_sluices_and_keeps_its_secrets(machine):
    secret = "s3cr3t-" + os.urandom(8).hex()
    for as_ in ("file", "env"):
        app = REPORT if as_ == "file" else ""
        bundle = machine.bundle(f"app-{as_}", app + SERVER, f"secrets: [TOKEN]\nsecrets_as: {as_}\n")
        variant, made = machine.act("provision", concept=as_, runtimeType="local", config='{"config":{"color":"blue"}}')
        assert variant == "ok"
        variant, fields = machine.act("deploy", instance=made["instance"], artifact=bundle, version="1",
                                      given={"secrets": json.dumps({"TOKEN": secret})})
        assert variant == "ok", fields
        shown = json.loads(machine.run("runtime", "show", as_, "-o", "json").stdout)["replicas"][0]
        if as_ == "file":
            (line,) = machine.run("logs", as_, "--grep", "uid", "-o", "json").stdout.splitlines()
            report = json.loads(json.loads(line)["text"])
            first, *others = report.pop("descriptors")
            assert first.startswith("/memfd:TOKEN") and set(others) == {"FileNotFoundError"}
            assert report == {"uid": 65532, "home": ["runtime"], "store": "FileNotFoundError",
                              "others": [shown["replica"]], "bundle": "OSError", "color": "blue", "secret": len(secret)}
        holders = processes_with(secret, "environ")
        assert holders == (set() if as_ == "file" else {shown["pid"]})
        assert processes_with(secret, "cmdline") == set()
        for path in machine.home.rglob("*"):
            if path.is_file():
                assert secret.encode() not in path.read_bytes(), path
        assert machine.act("destroy", instance=made["instance"])[0] == "ok"


SPY = """
import os
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
found = {}
for pid in filter(str.isdigit, os.listdir("/proc")):
    place = "/proc/" + pid
    if int(pid) != os.getpid() and tried(lambda: os.stat(place).st_uid) == os.getuid():
        found[pid] = [tried(lambda: open(place + each, "rb").read() and "open") for each in ("/environ", "/fd/3", "/maps")]
print("found", found, flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can keep programs of one user apart")
def test_workloads_of_one_user_do_not_see_each_others_secrets(machine):
    instances, pids = [], []
    for name, app in (("holder", SERVER), ("spy", SPY + SERVER)):
        bundle = machine.bundle(name, app, "secrets: [TOKEN]\nsecrets_as: file\n")
        variant, made = machine.act("provision", concept=name, runtimeType="local", config="{}")
        assert variant == "ok"
        instances.append(made["instance"])
        variant, fields = machine.act("deploy", instance=made["instance"], artifact=bundle, version="1",
                                      given={"secrets": json.dumps({"TOKEN": "s3cr3t"})})
        assert variant == "ok", fields
        pids.append(json.loads(machine.run("runtime", "show", name, "-o", "json").stdout)["replicas"][0]["pid"])
    (line,) = machine.run("logs", "spy", "--grep", "^found", "-o", "json").stdout.splitlines()
    if "no user namespace" not in machine.run("logs", "spy").stdout:
        assert f"'{pids[0]}': ['PermissionError', 'PermissionError', 'PermissionError']" in line
    # Whoever may run a command in its place may see what is its own.
    done = machine.run("exec", "holder", "--", "cat", f"/proc/{pids[0]}/fd/3")
    assert (done.returncode, done.stdout) == (0, "s3cr3t")
    for instance in instances:
        assert machine.act("destroy", instance=instance)[0] == "ok"


def test_storage_outlives_versions(machine):
    app = ("import os\nplace = os.environ['SLUICE_STORAGE_DATA'] + '/visits'\n"
           "visits = int(open(place).read()) + 1 if os.path.exists(place) else 1\n"
           "open(place, 'w').write(str(visits))\nprint('visit', visits, flush=True)\n")
    bundle = machine.bundle("hello", app + SERVER, "storage: [{ name: data }]\n")
    for visit in (1, 2):
        assert machine.act("deploy", instance=machine.instance, artifact=bundle, version=str(visit))[0] == "ok"
        assert machine.run("logs", "hello", "--grep", "^visit").stdout.split()[-2:] == ["visit", str(visit)]


def test_a_bundle_that_is_built_runs(machine, tmp_path):
    archive = tmp_path / "hello.bundle"
    built = machine.run("bundles", "build", machine.example("hello-cpp"), "--out", archive)
    assert built.returncode == 0, built.stderr
    variant, fields = machine.act("deploy", instance=machine.instance, artifact=archive, version="3.0.0")
    assert variant == "ok", fields
    assert get(fields["endpoint"]) == (200, "hello 3.0.0\n")
    assert get(fields["endpoint"], "/health") == (200, "hello 3.0.0\n")


class WebSocket:
    """A client that says a text and hears frames (RFC 6455)."""

    def __init__(self, endpoint):
        host, port = endpoint.removeprefix("http://").split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall((f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.stream = self.connection.makefile("rb")
        assert b" 101 " in self.stream.readline()
        headers = {}
        while (line := self.stream.readline().strip()):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        proof = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        assert headers["sec-websocket-accept"] == base64.b64encode(proof).decode()

    def say(self, text):
        payload, mask = text.encode(), os.urandom(4)
        assert len(payload) < 126
        self.connection.sendall(bytes([0x81, 0x80 | len(payload)]) + mask +
                                bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def hear(self):
        first, size = self.stream.read(2)
        assert size < 126
        return first & 0x0F, self.stream.read(size)


def test_people_chat_until_the_server_is_replaced(machine):
    variant, fields = deploy(machine, "chat", "1.0.0")
    assert variant == "ok", fields
    ann, bob = WebSocket(fields["endpoint"]), WebSocket(fields["endpoint"])
    ann.say("hello, bob")
    assert ann.hear() == bob.hear() == (1, b"hello, bob")
    bob.say("hello, ann")
    assert ann.hear() == bob.hear() == (1, b"hello, ann")
    assert deploy(machine, "chat", "1.0.1")[0] == "ok"
    assert ann.hear() == bob.hear() == (8, struct.pack("!H", 1012)), "the one before is stopped, and says so"


def test_what_a_program_said_last_is_told_to_whoever_deployed_it(machine):
    bundle = machine.bundle("mute", "raise SystemExit('no settings')\n", "")
    words = ["kit", "run", "deploy", "Runtime/deploy", f"instance={machine.instance}", f"artifact={bundle}", "version=1"]
    done = machine.run(*words)
    first, *lines = done.stdout.splitlines()
    assert first.endswith("reason=it ended with exit code 1, 5 times without ever being healthy")
    assert "  err no settings" in lines
    flow = done.stderr.split()[1].rstrip(",")
    assert "\nSaid last\n" in machine.run("flow", "trace", flow).stdout
    assert "err no settings" in " ".join(machine.run("why", flow).stdout.split())


def test_a_version_is_its_bytes_not_its_path(machine, tmp_path):
    archive = tmp_path / "app.bundle"
    for name, version in (("hello", "1.0.0"), ("hello-v2", "2.0.0")):
        assert machine.run("bundles", "build", machine.example(name), "--out", archive).returncode == 0
        assert machine.act("deploy", instance=machine.instance, artifact=archive, version=version)[0] == "ok"
    variant, back = machine.act("rollback", instance=machine.instance)
    assert (variant, get(back["endpoint"])) == ("ok", (200, "hello 1.0.0\n"))
    hashes = [each["artifactHash"] for each in machine.act("show", instance=machine.instance)[1]["history"]]
    assert [each[:7] for each in hashes] == ["sha256:"] and len(hashes[0]) == 71
    unpacked = machine.home / "runtime" / "bundles"
    assert hashes[0].removeprefix("sha256:") in [path.name for path in unpacked.iterdir()]
    assert machine.run("runtime", "stop", "hello").returncode == 0
    assert list(unpacked.iterdir()) == []


def test_weights_are_answered_by_who_splits_traffic(machine):
    variant, fields = machine.act("setTrafficWeight", instance=machine.instance, weight=5000)
    assert (variant, fields["reason"]) == ("notRouted", "nothing splits traffic between it and others")
    variant, fields = machine.act("setTrafficWeight", instance=machine.instance, weight=10000)
    assert (variant, fields["newWeight"]) == ("ok", 10000)


def test_the_world_brings_about_every_failure(machine):
    """What Runtime answers besides ok, each made by what really happened."""
    instance = machine.instance
    assert machine.act("provision", concept="hello", runtimeType="local", config="{}")[0] == "alreadyProvisioned"
    variant, fields = machine.act("provision", concept="other", runtimeType="lambda", config="{}")
    assert (variant, fields["reason"]) == (
        "provisionFailed",
        "nothing here has made it run as lambda: nothing is left that could answer Runtime/provision")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        variant, fields = machine.act("provision", concept="other", runtimeType="local", config=f'{{"port":{port}}}')
        assert (variant, fields["reason"]) == ("provisionFailed", f"port {port} is in use")

    def failure(name, app, manifest=""):
        variant, fields = machine.act("deploy", instance=instance, artifact=machine.bundle(name, app, manifest), version="1")
        assert variant == "deployFailed", fields
        assert machine.replicas() == {}, "nothing of it is left"
        return fields["reason"]

    greedy = "blocks = []\nwhile True: blocks.append(b'x' * (1 << 20))\n"
    assert failure("greedy", greedy, "resources: { memory: 64MB }\n") == (
        "it used up its 64 MB of memory, 5 times without ever being healthy")
    assert failure("quitter", "pass\n") == "it ended with exit code 0, 5 times without ever being healthy"
    assert failure("mute", "import time\ntime.sleep(1000)\n", "health: { start_within: 1s }\n") == (
        "it was not healthy within 1000 ms: it has no socket yet")
    assert failure("secretive", SERVER, "secrets: [TOKEN, DB]\n") == (
        "it has no TOKEN, DB among its secrets: none were given; give them with the deployment, as a JSON object of texts")
    assert failure("asker", SERVER, "config: [{ name: region, question: Where? }]\n") == (
        "its config does not fit: /region: region has no answer: Where?")
    folder = machine.bundle("plain", SERVER, "")
    (folder / "app").chmod(0o644)
    variant, fields = machine.act("deploy", instance=instance, artifact=folder, version="1")
    assert (variant, fields["reason"]) == ("deployFailed", "./app is not an executable file")

    slow = "import time, http.server\nend = http.server.BaseHTTPRequestHandler.end_headers\n" \
           "http.server.BaseHTTPRequestHandler.end_headers = lambda self: (time.sleep(0.7), end(self))\n"
    first = machine.bundle("first", slow + SERVER, "health: { timeout: 20s }\n")
    assert machine.act("deploy", instance=instance, artifact=first, version="1")[0] == "ok"
    assert machine.act("healthCheck", instance=instance)[0] == "degraded"
    assert machine.act("deploy", instance=instance, artifact=machine.bundle("second", SERVER, ""), version="2")[0] == "ok"
    (first / "app").unlink()
    variant, fields = machine.act("rollback", instance=instance)
    assert variant == "rollbackFailed" and fields["reason"].startswith("there is no program ./app in the bundle")
    (name,) = machine.replicas()
    launch = machine.home / "runtime" / "replicas" / name / "launch.json"
    text = launch.read_text()
    launch.write_text("{")
    variant, fields = machine.act("destroy", instance=instance)
    assert variant == "destroyFailed" and "the JSON text ends too early" in fields["reason"]
    launch.write_text(text)
