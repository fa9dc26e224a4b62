"""Three replicas under load while the one that leads is killed, paused and cut off from the database: what callers were
told is linearizable. SLUICE_SOAK=1: 200 runs in place of 10; SLUICE_RUNS: so many."""

import concurrent.futures
import http.client
import os
import random
import signal
import threading
import time

import pytest
from asking import request
from histories import check, linearizable, save
from relay import Relay

from test_replicas import free_port, joined, named

RUNS = int(os.environ.get("SLUICE_RUNS", 200 if os.environ.get("SLUICE_SOAK") else 10))
KEYS = ["r0", "r1", "r2"]


def operation(what, value, call, end, result="ok", expected=None):
    return {"process": 0, "key": "k", "what": what, "value": value, "result": result, "call": call, "end": end,
            "expected": expected}


@pytest.mark.parametrize("holds, operations", [
    (True, [operation("write", "a", 0, 1), operation("read", "a", 2, 3)]),
    (False, [operation("write", "a", 0, 1), operation("read", "0", 2, 3)]),
    # They overlap: either order is one.
    (True, [operation("write", "a", 0, 5), operation("read", "0", 1, 2), operation("read", "a", 3, 4)]),
    (False, [operation("write", "a", 0, 5), operation("read", "a", 1, 2), operation("read", "0", 3, 4)]),
    # A write that nobody knows of may happen late, or never, but not before it was called, and not undo itself.
    (True, [operation("write", "a", 0, 1, "unknown"), operation("read", "0", 2, 3), operation("read", "a", 4, 5)]),
    (False, [operation("write", "a", 0, 1, "unknown"), operation("read", "a", 2, 3), operation("read", "0", 4, 5)]),
    (False, [operation("read", "a", 0, 1), operation("write", "a", 2, 3, "unknown")]),
    (False, [operation("write", "a", 0, 1, "failed"), operation("read", "a", 2, 3)]),
    # A write that was acknowledged and is lost.
    (False, [operation("write", "a", 0, 1), operation("write", "b", 2, 3), operation("read", "a", 4, 5)]),
    # A change that expects what is there no longer: it may be done before the other one, but not after it.
    (True, [operation("change", "a", 0, 1, "unknown", "0"), operation("change", "b", 2, 3, expected="a")]),
    (False, [operation("change", "a", 0, 1, "unknown", "0"), operation("change", "b", 2, 3, expected="0"),
             operation("read", "b", 4, 5), operation("read", "a", 6, 7)]),
    (False, [operation("change", "a", 0, 1, expected="0"), operation("change", "b", 2, 3, expected="0")]),
])
def test_the_checker_finds_what_cannot_be(holds, operations):
    assert linearizable(operations, "0") == holds


class Caller:
    """Reads and writes the names of environments at any replica, and writes down what came of it."""

    def __init__(self, number, planes, seed):
        self.number, self.planes, self.random, self.history = number, planes, random.Random(f"{seed}-{number}"), []

    def run(self, stop):
        count = 0
        while not stop.is_set():
            count += 1
            plane, key = self.random.choice(self.planes), self.random.choice(KEYS)
            write = self.random.random() < 0.5
            value = f"v{self.number}.{count}" if write else None
            call = time.monotonic()
            result, value = self.write(plane, key, value) if write else self.read(plane, key)
            self.history.append({"process": self.number, "key": key, "what": "write" if write else "read",
                                 "value": value, "result": result, "call": call, "end": time.monotonic()})
            stop.wait(0.02)

    def write(self, plane, key, value):
        try:
            status, said = request(plane, "POST", "/v1/actions/Env/update?wait=answer",
                                   {"input": {"environment": key, "name": value}})
        except (OSError, http.client.HTTPException, ValueError) as error:
            # Where nobody listens nothing was sent.
            return ("failed" if isinstance(error, (FileNotFoundError, ConnectionRefusedError)) else "unknown"), value
        if status == 503 and " does not answer at " in said.get("detail", ""):
            return "failed", value  # a follower could not pass it on
        return ("ok" if status < 300 else "unknown"), value

    def read(self, plane, key):
        try:
            status, said = request(plane, "GET", "/v1/views/environments")
        except (OSError, http.client.HTTPException, ValueError):
            return "unknown", None
        if status != 200:
            return "unknown", None
        return "ok", next(each["name"] for each in said if each["environment_id"] == key)


def leader(planes):
    for each in planes:
        try:
            status, said = request(each, "GET", "/v1/status")
            if status == 200 and said.get("leader") == said.get("replica"):
                return each
        except (OSError, http.client.HTTPException, ValueError):
            continue
    return None


def there(plane, key):
    """The name of an environment, and the generation of its row."""
    status, said = request(plane, "GET", f"/v1/state/Env?prefix={key}")
    assert status == 200
    row = next(each for each in said["rows"] if each["key"] == key)
    return row["value"]["name"], row["generation"]


# What keeps a leader of before from writing: its token is compared in each batch, and each record has a place of its own.
WITHOUT_THE_FENCE = """
CREATE OR REPLACE FUNCTION sluice.begin_batch(own int8, number int8) RETURNS void LANGUAGE sql AS
  'UPDATE sluice.fence SET batch = batch + 1';
ALTER TABLE sluice.journal DROP CONSTRAINT journal_pkey;
"""


@pytest.mark.parametrize("fenced", [True, False])
def test_the_checker_finds_the_fault_of_a_store_without_the_fence(started, plane, tmp_path, eventually, fenced):
    """A commit of the leader is under way to the server while another one takes over, and arrives after that."""
    server = started()
    first = plane("a", server)
    relay = Relay(tmp_path, server)
    first.address = relay.address
    history = []

    def record(process, what, value, result, call, expected=None):
        history.append({"process": process, "key": "r", "what": what, "value": value, "result": result, "call": call,
                        "end": time.monotonic(), "expected": expected})

    def change(process, at, value, expected, generation):
        call = time.monotonic()
        try:
            status, _ = request(at, "POST", "/v1/actions/Env/update?wait=answer",
                                {"input": {"environment": "r", "name": value}}, {"If-Match": f'"{generation}"'})
            result = "ok" if status < 300 else "unknown"
        except (OSError, http.client.HTTPException, ValueError):
            result = "unknown"
        record(process, "change", value, result, call, expected)
        return result

    def read(process, at):
        call = time.monotonic()
        value, _ = there(at, "r")
        record(process, "read", value, "ok", call)
        return value
    try:
        first.serve(*named("a"))
        second = joined(plane, server, "b", first).serve(*named("b"))
        first.run("env", "create", "r")
        first.run("do", "Env/update", "environment=r", "name=start")
        if not fenced:
            server.sql(WITHOUT_THE_FENCE)
        _, generation = there(first, "r")
        relay.hold(b"sluice.begin_batch")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            late = pool.submit(change, 0, first, "late", "start", generation)
            eventually(lambda: relay.held == 1)
            relay.cut = True
            eventually(lambda: leader([second]) is second, second.log)
            assert change(1, second, "next", "start", generation) == "ok"
            assert read(1, second) == "next"
            eventually(lambda: first.process.poll() is not None, first.log)
            assert late.result() == "unknown"
        batches = server.sql("SELECT batch FROM sluice.fence")
        relay.let_go()
        eventually(lambda: relay.held == 0)
        if not fenced:
            eventually(lambda: server.sql("SELECT batch FROM sluice.fence") != batches)
        read(2, second)
        save(history, tmp_path / "history.jsonl")
        wrong = check(history, {"r": "start"})
        assert sorted(wrong) == ([] if fenced else ["r"]), history
    finally:
        relay.close()


def test_what_callers_were_told_is_linearizable(started, plane, tmp_path, eventually):
    server = started()
    first = plane("a", server)
    planes, relays, ports = [first], {}, {}

    def serve(each):
        each.serve(*named(each.folder.name, ports[each]))

    try:
        for name in "abc":
            each = first if name == "a" else joined(plane, server, name, first)
            if name != "a":
                planes.append(each)
            folder = tmp_path / f"relay-{name}"
            folder.mkdir()
            relays[each], ports[each] = Relay(folder, server), free_port()
            each.address = relays[each].address
            serve(each)
        for key in KEYS:
            first.run("env", "create", key)
            first.run("do", "Env/update", f"environment={key}", "name=start")
        chosen = random.Random(32)
        for run in range(RUNS):
            initial = {each["environment_id"]: each["name"] for each in planes[0].data("env", "list")}
            stop = threading.Event()
            callers = [Caller(number, planes, run) for number in range(4)]
            with concurrent.futures.ThreadPoolExecutor(len(callers)) as pool:
                load = [pool.submit(each.run, stop) for each in callers]
                try:
                    eventually(lambda: all(len(each.history) > 5 for each in callers))
                    leads = leader(planes)
                    fault = chosen.choice(["kill", "pause", "cut"])
                    if fault == "kill":
                        leads.end(signal.SIGKILL)
                    elif fault == "pause":
                        leads.process.send_signal(signal.SIGSTOP)
                    else:
                        relays[leads].cut = True
                    others = [each for each in planes if each is not leads]
                    eventually(lambda: leader(others) in others, lambda: others[0].log() + others[1].log())
                    if fault == "pause":
                        leads.process.send_signal(signal.SIGCONT)
                    if fault != "kill":  # it finds out by itself, and ends
                        eventually(lambda: leads.process.poll() is not None, leads.log)
                    relays[leads].cut = False
                    leads.end()
                    serve(leads)
                    before = [len(each.history) for each in callers]
                    eventually(lambda: all(len(each.history) > n + 5 for each, n in zip(callers, before)))
                finally:
                    stop.set()
                for each in load:
                    each.result()
            history = sorted((line for each in callers for line in each.history), key=lambda line: line["call"])
            save(history, tmp_path / f"history-{run}.jsonl")
            wrong = check(history, initial)
            assert not wrong, f"run {run}, {fault}: {tmp_path}/history-{run}.jsonl: {sorted(wrong)}"
            assert sum(each["result"] == "ok" and each["what"] == "write" for each in history) > 10
        assert planes[0].run("audit", "verify").returncode == 0
    finally:
        for each in planes:
            if each.process is not None:
                each.process.send_signal(signal.SIGCONT)
            each.end(signal.SIGKILL)
        for each in relays.values():
            each.close()
