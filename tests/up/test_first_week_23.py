"""kill -9 of each process that serves, under load and with changes by an operator: the only requests that may fail are those
that were inside a program or a worker when it was killed. Nothing is ever asked twice."""

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import threading
import time

from up_home import get, running

# Each kill waits until everything is whole again, which takes seconds; ./dev soak does all of the kills.
KILLS = 60 if os.environ.get("SLUICE_SOAK") else 10

# It says which requests it has begun, so that those are known that were inside when it was killed.
APP = '''import http.server
import os
import signal
import socket
import sys

begun = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begun.connect(("127.0.0.1", int(os.environ["BEGUN"])))


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("X-Number"):
            begun.send(f"{os.getpid()} {self.headers['X-Number']}".encode())
        body = f"app {self.headers.get('X-Number')}".encode()
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
'''


class Numbered:
    """A load of requests that have numbers, each on a connection of its own."""

    def __init__(self, url, threads=4):
        self.port = int(url.rsplit(":", 1)[1].rstrip("/"))
        self.numbers, self.ending, self.good, self.bad = itertools.count(), threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]

    def run(self):
        while not self.ending.is_set():
            number, begun = next(self.numbers), time.monotonic()
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("GET", "/", headers={"X-Number": str(number), "Connection": "close"})
                answer = connection.getresponse()
                body, status = answer.read().decode(), answer.status
                connection.close()
                if (status, body) == (200, f"app {number}"):
                    self.good += 1
                    continue
                failure = f"{status} {body!r}"
            except (OSError, http.client.HTTPException) as error:
                failure = repr(error)
            self.bad.append((number, begun, time.monotonic(), failure))

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for each in self.threads:
            each.join()


class Begun:
    """Hears from the programs which requests they have begun; `by` has the last that had each."""

    def __init__(self):
        self.socket, self.by = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), {}
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.hear, daemon=True)
        self.thread.start()

    def hear(self):
        while said := self.socket.recv(100):
            pid, number = said.split()
            self.by[int(number)] = int(pid)

    def stop(self):
        self.socket.sendto(b"", self.socket.getsockname())
        self.thread.join()
        self.socket.close()


def is_gone(pid):
    """Whether the last of its threads has ended, and with it what its sockets had in their queues."""
    try:
        return not running(pid) and len(os.listdir(f"/proc/{pid}/task")) < 2
    except FileNotFoundError:
        return True


class Machine:
    """What runs, and how to kill it."""

    def __init__(self, home, eventually):
        self.home, self.eventually, self.kills, self.serves = home, eventually, [], []

    def states(self):
        return [json.loads(path.read_text()) for path in (self.home.home / "runtime/replicas").glob("*/state.json")]

    def programs(self):
        return sorted(each["program"]["pid"] for each in self.states()
                      if each["healthy"] and each.get("program") and running(each["program"]["pid"]))

    def master(self):
        return self.home.router()["pid"]

    def worker(self):
        return self.home.data("router", "stats")["worker_pid"]

    def serve(self):
        return self.home.status(code=None).get("pid")

    def is_whole(self):
        stats = json.loads(self.home.run("router", "stats", "-o", "json", code=None).stdout or "{}")
        return stats.get("pid") == self.master() and running(self.master()) and len(self.programs()) == 2

    def kill(self, kind):
        pid = {"master": self.master, "worker": self.worker, "serve": self.serve,
               "supervisor": lambda: self.states()[0]["supervisor"]["pid"],
               "application": lambda: self.programs()[0]}[kind]()
        program = self.programs()[0] if kind != "supervisor" else self.states()[0]["program"]["pid"]
        before = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        # A program ends with its supervisor, a moment later.
        gone = [pid, program] if kind == "supervisor" else [pid]
        while not all(map(is_gone, gone)):
            assert time.monotonic() < before + 60, f"{gone} run after a kill of {kind}"
        self.kills.append((kind, before, time.monotonic(), program))
        if kind == "serve":
            log = open(self.home.folder / "serve.log", "a")
            self.serves.append(subprocess.Popen([str(self.home.sluice), "serve", "--lock-timeout", "30s"], stdout=log, stderr=log,
                                                env=self.home.environment(), cwd=self.home.folder))
            self.eventually(lambda: self.serve() == self.serves[-1].pid)
        self.eventually(self.is_whole, lambda: f"after a kill of {kind}: {self.programs()}, router {self.home.router()}")

    def stop(self):
        self.home.stop()
        for each in self.serves:
            each.kill()
            each.wait(timeout=60)


def test_kills_cost_nothing_but_the_requests_inside(home, eventually):
    folder = home.folder / "app"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    begun = Begun()
    (folder / "bundle.yaml").write_text(f'name: app\nversion: "1.0.0"\nrun: [python3, app.py]\nreplicas: 2\n'
                                        f'env:\n  BEGUN: "{begun.port}"\n')
    url = home.up(folder)["urls"][0]
    machine = Machine(home, eventually)
    changes, over = [], threading.Event()

    def operator():
        """Changes what the routers obey, whoever is killed meanwhile."""
        for share in itertools.cycle(("10%", "20%")):
            if over.wait(0.5):
                return
            changes.append(home.run("config", "set", "local", f"access_log_share={share}", code=None).returncode)

    eventually(machine.is_whole)
    person = threading.Thread(target=operator)
    try:
        with Numbered(url) as load:
            person.start()
            for kind in itertools.islice(itertools.cycle(("master", "worker", "serve", "supervisor", "application")), KILLS):
                seen = load.good
                eventually(lambda: load.good > seen + 50, lambda: f"{load.bad[-3:]}")
                machine.kill(kind)
            seen = load.good
            eventually(lambda: load.good > seen + 50)
        over.set()
        person.join()
    finally:
        over.set()
        machine.stop()
        begun.stop()

    def is_inside(number, since, until):
        """Whether a program or a worker was killed with this request in it, or in the queue of a program's socket, where
        none has begun it."""
        return any(since <= after and before <= until
                   and (kind == "worker" or (kind in ("application", "supervisor") and begun.by.get(number) in (program, None)))
                   for kind, before, after, program in machine.kills)

    outside = [each for each in load.bad if not is_inside(*each[:3])]
    assert outside == [], f"{len(outside)} of {load.good} failed that were in nothing that was killed; kills: {machine.kills}"
    assert len(machine.kills) == KILLS and load.good > 50 * KILLS
    assert changes.count(0) > 0


def test_a_router_without_a_master_is_stopped_in_order(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.run("stop", "--control-plane")  # which would start another master
    master, worker = home.router()["pid"], home.data("router", "stats")["worker_pid"]
    os.kill(master, signal.SIGKILL)
    eventually(lambda: not running(master))
    assert get(url) == (200, "hello 1.0.0\n")
    assert f"stopped  router main, pid {worker}\n" in home.run("stop").stdout
    assert not running(worker)
    assert not (home.home / "router/main/router.json").exists()


def test_up_goes_on_with_a_router_whose_master_was_killed(home, eventually):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    worker = home.data("router", "stats")["worker_pid"]
    os.kill(home.router()["pid"], signal.SIGKILL)
    assert home.up(home.folder / "one")["urls"][0] == url
    eventually(lambda: home.data("router", "stats")["pid"] == home.router()["pid"] and running(home.router()["pid"]))
    assert home.data("router", "stats")["worker_pid"] == worker, "nothing was interrupted"
    assert get(url) == (200, "hello 1.0.0\n")
