"""A router whose disk is full, read-only or gone: it serves, counts in memory what it cannot keep, and says so. The disks are
real ones, small, in a mount namespace of the router's own."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
import wire
from router_process import Control, Router, deployment, revision, table

SIZE_KB = 1024


class RouterOnADisk(Router):
    """A router whose home is a file system of its own."""

    def __init__(self, sluice, key=None):
        # Short, for the name of the control socket as it is seen from outside.
        super().__init__(sluice, Path(tempfile.mkdtemp(prefix="d", dir="/tmp")), key)

    def start(self, table=None, *options, full=False, read_only=False, **more):
        home = self.folder / "home"
        steps = [f"mount -t tmpfs -o size={SIZE_KB}k,mode=700 none {home}"]
        if read_only:
            steps += [f"mkdir -p -m 700 {home}/router/main", f"mount -o remount,ro {home}"]
        if full:
            steps += [f"mkdir -p -m 700 {home}/router/main", f"cat /dev/zero >{home}/ballast 2>/dev/null || true"]
        # Without root in a user namespace, also in a chroot.
        as_root = [] if os.getuid() == 0 else ["--map-root-user"]
        before = ["unshare", *as_root, "--mount", "--propagation", "unchanged", "sh", "-c",
                  "{ mount --make-rprivate / 2>/dev/null || ! grep -q ' shared:' /proc/self/mountinfo; } && "
                  + " && ".join(steps) + ' && exec "$@"', "sh"]
        return super().start(table, "--access-log", str(home / "access.log"), *options, before=before, **more)

    def start_again(self, *options):
        """After a kill of all its processes, on the same disk."""
        kept = [os.open(f"/proc/{self.process.pid}/ns/{kind}", os.O_RDONLY) for kind in ("user", "mnt")]
        worker = self.worker_pid()
        self.control.close()
        for pid in (self.process.pid, worker):
            os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()
        as_root = [] if os.getuid() == 0 else [f"--user=/proc/{os.getpid()}/fd/{kept[0]}", "--preserve-credentials"]
        before = ["nsenter", *as_root, f"--mount=/proc/{os.getpid()}/fd/{kept[1]}", f"--wd={self.folder}"]
        super().start(None, "--access-log", "none", *options, before=before)
        for fd in kept:
            os.close(fd)

    def command(self, *words):
        """What a command says that sees the same disk."""
        as_root = [] if os.getuid() == 0 else ["--user", "--preserve-credentials"]
        done = subprocess.run(["nsenter", f"--target={self.process.pid}", *as_root, "--mount", f"--wd={self.folder}",
                               str(self.sluice), *words], capture_output=True, text=True, timeout=60,
                              env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.folder / "home"), "NO_COLOR": "1"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def home(self):
        return Path(f"/proc/{self.process.pid}/root{self.folder}/home")

    def open_control(self):
        path = Path(f"/proc/{self.process.pid}/root{self.facts['control']}")
        return Control(path) if path.exists() else None

    def reopen_control(self):
        self.control.close()
        self.control = self.open_control()

    def fill(self):
        """Leaves not a byte."""
        with open(self.home() / "ballast", "ab", buffering=0) as ballast:
            for size in (65536, 4096):
                try:
                    while ballast.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass
        with pytest.raises(OSError):
            (self.home() / "more").write_bytes(b"\0" * 4096)

    def free(self):
        for name in ("ballast", "more"):
            (self.home() / name).unlink(missing_ok=True)

    def stop(self, how=signal.SIGTERM):
        code = super().stop(how)
        shutil.rmtree(self.folder)
        return code


@pytest.fixture
def on_disk(sluice, begin):
    return lambda *words, **more: begin(RouterOnADisk(sluice).start(*words, **more))


def many(address, count, generation=1, first=0):
    return table(*(deployment(revision(f"r{n}", 10000, address), name=f"d{n}", hosts=(f"h{n}.example",))
                   for n in range(first, first + count)), deployment(revision("r1", 10000, address)), generation=generation,
                 access_log_bps=10000)


def ask_each(running, first, count):
    """One request to each, over connections that are kept."""
    with wire.Client(running.endpoint) as client:
        for n in range(first, first + count):
            assert client.ask(target="/b/1/10", host=f"h{n}.example").status == 200, n


def requests_in(usage):
    return sum(each["requests"] for each in usage["series"])


def test_a_disk_that_is_full_before_the_first_request(on_disk, fast, eventually):
    running = on_disk()
    assert running.load(many(fast("r").address, 100))["ok"]
    worker = running.worker_pid()
    running.fill()
    ask_each(running, 0, 100)
    assert running.worker_pid() == worker
    eventually(lambda: requests_in(running.ask(op="usage")) == 100, "the room for them was there before")
    assert running.stats()["counters"] == {"kept": True, "error": ""}


def test_a_table_that_comes_while_the_disk_is_full(on_disk, fast, eventually):
    running = on_disk()
    behind = fast("r").address
    assert running.load(many(behind, 10))["ok"]
    ask_each(running, 0, 10)
    running.fill()
    assert running.load(many(behind, 200, generation=2))["ok"]
    ask_each(running, 0, 200)
    counters = running.stats()["counters"]
    assert not counters["kept"] and "No space left on device" in counters["error"]
    assert b"sluice_router_counters_in_memory{environment=\"local\"} 1\n" in running.admin("/metrics").body
    shown = running.command("router", "stats", "--once")
    assert "\ncounters: in memory, and lost when the router ends: " in shown and "\ntable: not kept on disk: " in shown

    def counted():
        usage = running.ask(op="usage")
        return requests_in(usage) + requests_in(usage["memory"]) if "memory" in usage else 0

    eventually(lambda: counted() == 210)
    usage = running.ask(op="usage")
    assert requests_in(usage["memory"]) > 0 and usage["memory"]["epoch"] != usage["epoch"]
    assert "No space left on device" in usage["memory"]["error"]
    # The next worker finds them again, with the table that the disk has.
    worker = running.worker_pid()
    os.kill(worker, signal.SIGKILL)
    running.reopen_control()
    assert running.worker_pid() != worker
    assert counted() == 210 and running.ask(op="usage")["memory"]["epoch"] == usage["memory"]["epoch"]


def test_counts_that_were_lost_with_the_router_are_named(on_disk, fast, eventually):
    running = on_disk()
    behind = fast("r").address
    assert running.load(many(behind, 10))["ok"]
    ask_each(running, 0, 10)
    eventually(lambda: requests_in(running.ask(op="usage")) == 10)
    assert running.ask(op="usage")["lost"] == ""
    running.fill()
    assert running.load(many(behind, 200, generation=2))["ok"]
    ask_each(running, 0, 200)
    eventually(lambda: requests_in(running.ask(op="usage").get("memory", {"series": []})) > 0)
    before = running.ask(op="usage")
    running.free()
    running.start_again()
    after = running.ask(op="usage")
    assert requests_in(after) == requests_in(before) and after["epoch"] == before["epoch"]
    assert after["lost"] == before["memory"]["epoch"] and "memory" not in after


def test_a_disk_that_fills_up_under_load(on_disk, fast, load):
    running = on_disk()
    behind = fast("r").address
    assert running.load(many(behind, 10))["ok"]
    worker = running.worker_pid()
    traffic = load(running.endpoint, "--connections", 8)
    traffic.more(500)
    for turn in range(4):
        running.fill()
        traffic.more(500)
        # What changes meanwhile is obeyed, and would be lost with the router: who sent it is asked for a load.
        change = deployment(revision("r1", 10000, behind), timeouts={"connect_ms": 1000 + turn})
        patched = running.patch(change)
        assert patched["ok"]
        ask_each(running, 0, 10)
        running.free()
        if turn % 2:
            assert running.load(many(behind, 10 + 50 * turn, generation=running.generation + 1))["ok"]
            ask_each(running, 0, 10 + 50 * turn)
    ended = traffic.end()
    assert ended["failed"] == 0, ended
    assert running.worker_pid() == worker


def test_what_could_not_be_kept_is_asked_for_again(on_disk, fast):
    running = on_disk()
    behind = fast("r").address
    assert running.load(many(behind, 10))["ok"]
    assert running.patch(deployment(revision("r1", 10000, behind)))["wants_load"] is False
    running.fill()
    while True:  # the last block of the patches' file may have room yet
        patched = running.patch(deployment(revision("r1", 10000, behind)))
        assert patched["ok"]
        if patched["wants_load"]:
            break
    assert "No space left on device" in running.stats()["state"]["error"]
    running.free()
    assert running.patch(deployment(revision("r1", 10000, behind)))["wants_load"], "it would not follow what is kept"
    assert running.load(many(behind, 10, generation=running.generation + 1))["ok"]
    assert running.stats()["state"]["error"] == ""
    assert running.patch(deployment(revision("r1", 10000, behind)))["wants_load"] is False


def test_loads_of_tables_while_the_disk_comes_and_goes(on_disk, fast, load):
    running = on_disk()
    behind = fast("r").address
    assert running.load(many(behind, 1))["ok"]
    traffic = load(running.endpoint, "--connections", 8)
    for turn in range(12):
        running.fill() if turn % 2 else running.free()
        assert running.load(many(behind, 100 * turn, generation=running.generation + 1))["ok"]
        traffic.more(100)
    ended = traffic.end()
    assert ended["failed"] == 0, ended
    assert not running.stats()["counters"]["kept"]


def test_a_disk_that_is_full_at_the_start(on_disk, fast, load, eventually):
    running = on_disk(many(fast("r").address, 100), full=True)
    traffic = load(running.endpoint, "--connections", 8)
    traffic.more(500)
    ended = traffic.end()
    assert ended["failed"] == 0, ended
    ask_each(running, 0, 100)
    assert not running.stats()["counters"]["kept"]
    running.free()
    eventually(lambda: (running.home() / "router/main/router.json").exists(), "nobody is told where it listens")


def test_a_disk_that_is_read_only(on_disk, fast, load):
    running = on_disk(many(fast("r").address, 100), read_only=True)
    assert running.control is None, "a control socket needs a place"
    traffic = load(running.endpoint, "--connections", 8)
    traffic.more(500)
    ended = traffic.end()
    assert ended["failed"] == 0, ended
    ask_each(running, 0, 100)
    assert b"sluice_router_counters_in_memory{environment=\"local\"} 1\n" in running.admin("/metrics").body
    assert "Read-only file system" in (running.folder / "router.log").read_text()
