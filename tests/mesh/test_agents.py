"""Five hosts, each a network namespace with a real agent and the vertex of the tests; the config server on one of them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NODES = ["hub", "ant", "bee", "cat", "dog"]  # dog only dials
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and iproute2")


def facade(network="10.77.0", role="[api]", signers="primary", port=8000, server=9000):
    keys = ", ".join(f"{{ name: {n}, cert: certs/management-planes/{n}.crt }}" for n in signers.split())
    nodes = "".join(
        f"  {name}: {{ vertices: [ {{ name: wire, kind: link, type: quic"
        + ("" if name == "dog" else f", address: {network}.{i + 1}:4433")
        + " }, { name: rete, kind: mesh, type: quic, uses: [wire] } ] }\n" for i, name in enumerate(NODES))
    return f"""rete:
  name: acme
  ca: {{ cert: certs/ca.crt }}
  signers:
    mgmt: {{ keys: [ {keys} ] }}
    ctrl: {{ keys: [ {{ name: primary, cert: certs/control-planes/primary.crt }} ] }}
nodes:
{nodes}services:
  config-server:    {{ at: hub, addr: 127.0.0.1:{server}, groups: [config-read] }}
  config-publisher: {{ at: hub, addr: 127.0.0.1:9001, groups: [config-write] }}
  api:              {{ at: ant, addr: 127.0.0.1:{port}, groups: [api] }}
  diary:            {{ at: bee, addr: 127.0.0.1:8000, groups: [private] }}
groups: {{ config-read: , config-write: , api: , private: }}
roles:
  node: {{ allow: [config-read] }}
  operator: {{ allow: [config-write] }}
  developer: {{ allow: {role} }}
users:
  olga: {{ roles: [operator], nodes: [ {{ at: hub }} ] }}
  alice: {{ roles: [developer], nodes: [ {{ at: dog }} ] }}
allowed_links:
  - type: enum
    links:
      - {{ a: hub, b: ant, via: wire }}
      - {{ a: hub, b: bee, via: wire }}
      - {{ a: ant, b: cat, via: wire }}
      - {{ a: bee, b: cat, via: wire }}
      - {{ a: cat, b: dog, via: wire }}
"""


class World:
    """The hosts, the operator's folder and the config server."""

    def __init__(self, sluice, folder, eventually):
        self.sluice, self.folder, self.eventually = sluice, folder, eventually
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        self.mesh = folder / "acme"
        self.mesh.mkdir(exist_ok=True)
        self.tag = f"sl{os.getpid() % 100000}"
        self.running, self.spaces = {}, []

    def run(self, *words, check=True):
        done = subprocess.run([self.sluice, *words], capture_output=True, text=True, env=self.environment(), timeout=120)
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def environment(self):
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def connect(self):
        """A switch in a namespace of its own, and a host with an address for each node."""
        switch = f"{self.tag}-sw"
        self.ip("netns", "add", switch)
        self.spaces.append(switch)
        self.ip("-n", switch, "link", "add", "br0", "type", "bridge")
        self.ip("-n", switch, "link", "set", "br0", "up")
        for i, node in enumerate(NODES):
            space = self.space(node)
            self.ip("netns", "add", space)
            self.spaces.append(space)
            self.ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"p{i}", "netns", switch)
            self.ip("-n", switch, "link", "set", f"p{i}", "master", "br0", "up")
            self.ip("-n", space, "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0")
            self.ip("-n", space, "link", "set", "eth0", "up")
            self.ip("-n", space, "link", "set", "lo", "up")

    def space(self, node):
        return f"{self.tag}-{node}"

    def start(self, name, node, *words):
        log = (self.folder / f"{name}.log").open("ab")
        self.running[name] = subprocess.Popen(["ip", "netns", "exec", self.space(node), *words], stdout=log, stderr=log,
                                              env=self.environment())

    def stop(self, name, how=signal.SIGTERM):
        process = self.running.pop(name)
        process.send_signal(how)
        process.wait(timeout=60)

    def agent(self, node, commit_timeout="10m"):
        """An agent that takes nothing back in the time of a test, however busy the machine is, unless it is to."""
        self.start(f"agent-{node}", node, self.sluice, "mesh", "agent", "run", "--root", self.folder / node, "--vertex",
                   HERE / "vertex.sh", "--poll", "500ms", "--commit-timeout", commit_timeout)

    def stop_agents(self):
        """The vertices go on."""
        for node in NODES:
            self.stop(f"agent-{node}", signal.SIGKILL)

    def start_agents(self, **how):
        for node in NODES:
            self.agent(node, **how)

    def sign(self, **changes):
        (self.mesh / "rete.yaml").write_text(facade(**changes))
        self.run("mesh", "ca", self.mesh)
        self.run("mesh", "sign", self.mesh)

    def publish(self, *words):
        return json.loads(self.run("mesh", "publish", self.mesh, *words, "-o", "json").stdout)

    def status(self):
        return {each["node"]: each for each in json.loads(self.run("mesh", "status", "-o", "json").stdout)}

    def on(self, node):
        return json.loads(self.run("mesh", "agent", "status", "--root", self.folder / node, "-o", "json").stdout)

    def sync(self, node):
        return json.loads(self.run("mesh", "agent", "sync", "--root", self.folder / node, "-o", "json").stdout)

    def all_current(self, nodes=NODES):
        def holds():
            seen = self.status()
            return all(seen[n]["state"] == "current" and seen[n]["held_version"] is None for n in nodes)

        self.eventually(holds, lambda: json.dumps(self.status(), indent=1) + self.logs())

    def logs(self):
        return "\n".join(f"--- {f}\n{f.read_text()[-2000:]}" for f in sorted(self.folder.rglob("*.log")))

    def dial(self, node, port, host):
        """What a service answers through a SOCKS5 port of a node; nothing if the vertex refuses."""
        code = ("import socket,sys\n"
                f"s=socket.create_connection(('127.0.0.1',{port}),10); s.sendall(b'\\x05\\x01\\x00'); s.recv(2)\n"
                f"h={host!r}.encode(); s.sendall(b'\\x05\\x01\\x00\\x03'+bytes([len(h)])+h+b'\\x00\\x50')\n"
                "r=s.recv(10)\n"
                "if r[1]: sys.exit(3)\n"
                "d=b''\n"
                "while p:=s.recv(99): d+=p\n"
                "print(d.decode(),end='')\n")
        done = subprocess.run(["ip", "netns", "exec", self.space(node), sys.executable, "-c", code], capture_output=True,
                              text=True, timeout=60)
        return done.stdout if done.returncode == 0 else None

    def close(self):
        for name in list(self.running):
            with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
                self.stop(name)
        with contextlib.suppress(Exception):
            self.run("stop", check=False)
        for space in self.spaces:
            pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout.split()
            for pid in pids:  # those of this world's own namespaces
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


SAYS = "import socket,sys\ns=socket.create_server(('127.0.0.1',int(sys.argv[1])))\nwhile True:\n p,_=s.accept(); p.sendall(sys.argv[2].encode()); p.close()\n"


@pytest.fixture(scope="module")
def enrolled(sluice, eventually, tmp_path_factory):
    """The operator's folder and each node as it was enrolled; made once, since passphrases are slow by intent."""
    made = World(sluice, tmp_path_factory.mktemp("enrolled"), eventually)
    made.sign()
    for node in NODES:
        bundle, passphrase = made.folder / f"{node}.bundle", made.folder / "passphrase"
        passphrase.write_text(made.run("mesh", "bundle", node, "--folder", made.mesh, "--out", bundle).stdout)
        made.run("mesh", "agent", "enrol", bundle, "--passphrase-file", passphrase, "--root", made.folder / node)
    return made.folder


@pytest.fixture
def world(sluice, eventually, enrolled):
    tmp_path = Path(tempfile.mkdtemp(prefix="mesh-"))  # a short name: sockets are in it
    for name in ("acme", *NODES):
        shutil.copytree(enrolled / name, tmp_path / name, symlinks=True)
    made = World(sluice, tmp_path, eventually)
    try:
        made.connect()
        made.start("serve", "hub", sluice, "serve", "--listen", "127.0.0.1:9000")
        eventually(lambda: any(made.home.rglob("sluice.sock")), made.logs)
        for port in (8000, 8001):
            made.start(f"api-{port}", "ant", sys.executable, "-c", SAYS, str(port), f"api at {port}")
        made.start("diary", "bee", sys.executable, "-c", SAYS, "8000", "secret")
        made.publish()
        for node in NODES:
            made.agent(node)
        yield made
    finally:
        made.close()
        shutil.rmtree(tmp_path, ignore_errors=True)


def port_of(world, node, principal):
    return json.loads((world.mesh / "ledger.json").read_text())["ports"][node][f"spiffe://acme/{principal}"]


def test_a_published_set_reaches_all_hosts_and_a_bad_one_is_taken_back(world):
    world.all_current()
    alice = port_of(world, "dog", "user/alice")
    assert world.dial("dog", alice, "api.acme.rete") == "api at 8000", world.logs()
    assert world.dial("dog", alice, "diary.acme.rete") is None
    # An edit reaches those whom it touches, staged as one.
    world.sign(port=8001)
    assert world.publish()["changed"] == ["ant"]
    world.all_current()
    assert world.on("ant")["version"] == 2
    assert os.readlink(world.folder / "ant/retes/acme").startswith("../sets/acme/v2-")
    world.eventually(lambda: world.dial("dog", alice, "api.acme.rete") == "api at 8001", world.logs)
    # Every host is said to be where it is not, and so is the config server: none reaches it over its set, and each goes
    # back.
    versions = {node: world.on(node)["version"] for node in NODES}
    world.stop_agents()
    world.sign(port=8001, network="10.78.0", server=9009)
    assert world.publish()["changed"] == sorted(NODES)
    world.start_agents(commit_timeout="5s")
    for some in (["hub"], ["ant", "bee"], ["cat"], ["dog"]):
        world.eventually(lambda some=some: all(world.status()[n]["state"] == "rejected" for n in some),
                         lambda: json.dumps(world.status(), indent=1) + world.logs())
    for node in NODES:
        seen = world.on(node)
        assert seen["version"] == versions[node] and "was taken back" in seen["trouble"], seen
    world.eventually(lambda: world.dial("dog", alice, "api.acme.rete") == "api at 8001", world.logs)
    # Going forward mends it.
    world.stop_agents()
    world.start_agents()
    world.sign(port=8001)
    world.publish()
    world.all_current()


def test_a_node_that_was_off_follows_the_signers_and_first_holds_the_others_back(world):
    world.all_current()
    world.stop("agent-dog")
    world.sign(signers="primary second")
    world.publish()
    world.all_current([n for n in NODES if n != "dog"])
    world.sign(signers="second")
    world.publish()
    world.sign(signers="second third")
    world.publish()
    world.sign(signers="third")
    world.publish()
    world.all_current([n for n in NODES if n != "dog"])
    assert world.on("dog")["version"] == 1
    world.agent("dog")
    world.all_current()
    state = json.loads((world.folder / "dog/state/acme/node.json").read_text())
    assert [s["spiffe_id"] for s in state["marks"]["trust"]["mgmt_signers"]] == [
        "spiffe://acme/management-plane/third"]
    # First bee: while its agent is off, nobody else gets the new set.
    world.stop("agent-bee")
    world.sign(signers="third", role="[api, private]")
    done = world.publish("--first", "bee")
    assert done["changed"] == ["bee"] and {"cat", "dog"} <= set(done["held"])
    before = world.on("dog")["version"]
    assert world.sync("dog")["outcome"] == "unchanged"
    seen = world.status()["dog"]
    assert (seen["held_version"], seen["waits_for"], seen["version"]) == (before + 1, ["bee"], before)
    alice = port_of(world, "dog", "user/alice")
    assert world.dial("dog", alice, "diary.acme.rete") is None
    world.agent("bee")
    world.all_current()
    assert world.on("dog")["version"] == before + 1
    world.eventually(lambda: world.dial("dog", alice, "diary.acme.rete") == "secret", world.logs)


def test_an_agent_that_is_killed_finds_its_vertices_again(world):
    world.all_current()
    before = {v["name"]: v["pid"] for v in world.on("cat")["vertices"]}
    world.stop("agent-cat", signal.SIGKILL)
    alice = port_of(world, "dog", "user/alice")
    assert world.dial("dog", alice, "api.acme.rete") == "api at 8000", "the vertices go on"
    world.agent("cat")
    world.eventually(lambda: world.on("cat")["running"], world.logs)
    assert {v["name"]: v["pid"] for v in world.on("cat")["vertices"]} == before
