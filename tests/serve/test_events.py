"""Typed events: filters, where to begin again, the end of a flow, and that a restart of the server loses none."""

import contextlib
import http.client
import itertools
import json
import signal
import subprocess
import threading

import pytest


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def ok(self, *words):
        done = subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              cwd=self.root, env=self.environment(), timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, eventually):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=self.environment())
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.url = self.ok("status")["url"]
        self.token = (self.home / "run/owner.token").read_text().strip()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=60)
        (self.home / "run/owner.token").unlink(missing_ok=True)  # as it stays after a kill

    def get(self, target, **headers):
        wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        wire.request("GET", target, None, {"Authorization": "Bearer " + self.token,
                                           **{name.replace("_", "-"): value for name, value in headers.items()}})
        return wire.getresponse()

    def act(self, action, wait="settled", **input):
        wire = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        wire.request("POST", f"/v1/actions/{action}?wait={wait}", json.dumps({"input": input, "reason": "a test"}),
                     {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        answer = wire.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.fixture
def place(sluice, root, tmp_path, eventually):
    one = Place(sluice, root, tmp_path)
    one.start(eventually)
    yield one
    one.stop()


def events(answer):
    """(id, type, data) one by one, until the stream ends."""
    event = {}
    for line in answer:
        text = line.decode().rstrip("\n")
        if not text:
            if "event" in event:
                yield event.get("id"), event["event"], json.loads(event["data"])
            event = {}
        elif not text.startswith(":"):
            name, _, value = text.partition(": ")
            event[name] = value


def test_events_are_typed_and_chosen(place):
    place.act("Env/create", environment="staging")
    place.act("Env/create", environment="prod")
    place.act("Env/update", environment="staging", name="Staging")
    place.act("Env/destroy", environment="staging")
    heard = events(place.get("/v1/events?from=1&types=environment.*&environment=staging"))
    got = [next(heard) for _ in range(3)]
    assert [kind for _, kind, _ in got] == ["environment.created", "environment.updated", "environment.destroyed"]
    number, kind, first = got[0]
    assert first["event"] == kind and first["id"] == int(number) and first["environment"] == "staging"
    assert first["action"] == "Env/create" and first["variant"] == "ok" and first["reason"] == "a test"
    assert first["caller"].startswith("uid:") and first["fields"]["generation"] == 1
    again = events(place.get("/v1/events?object=staging", Last_Event_ID=number))
    assert next(again)[1] == "environment.updated"
    answer = place.get("/v1/events?types=environment.create")
    assert answer.status == 400
    assert json.loads(answer.read())["detail"] == "there is no event 'environment.create'; did you mean environment.created?"
    names = {each["event"] for each in json.loads(place.get("/v1/events/types").read())["types"]}
    assert {"rollout.advanced", "revision.failed", "traffic.changed"} <= names


def test_who_follows_a_flow_is_told_of_its_end(place):
    _, done = place.act("Env/create", environment="staging")
    heard = list(events(place.get(f"/v1/events?from=1&flow={done['flow']}")))
    assert [kind for _, kind, _ in heard] == ["environment.created", "end"]
    assert heard[-1][2] == {"flow": done["flow"], "state": "settled"}
    assert place.get("/v1/events?flow=01M7Q4JYN7F74DZWWTPVQVKNX2").status == 404


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_loses_no_event(place, eventually, how):
    heard = events(place.get("/v1/events?from=1&types=environment.created"))
    place.act("Env/create", environment="a1")
    last, _, data = next(heard)
    assert data["fields"]["environment"] == "a1"
    place.act("Env/create", environment="a2")
    place.stop(how)
    place.start(eventually)
    place.act("Env/create", environment="a3")
    heard = events(place.get("/v1/events?types=environment.created", Last_Event_ID=last))
    assert [next(heard)[2]["fields"]["environment"] for _ in range(2)] == ["a2", "a3"]


def test_who_follows_while_the_server_is_killed_again_and_again_misses_nothing(place, eventually):
    """Somebody changes things without a pause, somebody follows, and the server goes in the middle of both."""
    done, ending = [], threading.Event()

    def change():
        for number in itertools.count():
            if ending.is_set():
                return
            while True:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    wire = http.client.HTTPConnection(place.url.split("//")[1], timeout=60)
                    wire.request("POST", "/v1/actions/Env/create", json.dumps({"input": {"environment": f"e{number}"}}),
                                 {"Authorization": "Bearer " + place.token, "Content-Type": "application/json",
                                  "Idempotency-Key": f"k{number}"})
                    answer = wire.getresponse()
                    answer.read()
                    if answer.status == 200:
                        break
                if ending.wait(0.02):
                    return
            done.append(f"e{number}")

    writer = threading.Thread(target=change)
    heard, ids, last = [], [], None
    where = "/v1/events?types=environment.created&from=1"
    writer.start()
    try:
        for enough, how in [(15, signal.SIGKILL), (30, signal.SIGTERM), (45, signal.SIGKILL), (60, None)]:
            answer = place.get(where, **({"Last_Event_ID": last} if last else {}))
            where = "/v1/events?types=environment.created"
            for last, _, data in events(answer):
                heard.append(data["fields"]["environment"])
                ids.append(int(last))
                if len(heard) >= enough:
                    break
            if how is not None:
                place.stop(how)
                place.start(eventually)
    finally:
        ending.set()
        writer.join()
    assert ids == sorted(set(ids)), "each once, in the order in which they happened"
    assert heard == [f"e{number}" for number in range(len(heard))], "and none is missing"
    assert len(done) >= 59
