"""Webhooks: a receiver gets each event that it wants, signed, again until it takes it, also after the control plane was
killed."""

import base64
import hashlib
import hmac
import http.server
import json
import signal
import subprocess
import threading

import pytest


class Receiver:
    """Takes what is posted, or answers as it is told."""

    def __init__(self):
        self.got, self.answers, self.lock = [], [], threading.Lock()
        self.open = threading.Event()  # while it is clear, whoever posts waits for an answer
        self.open.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    status = outer.answers.pop(0) if outer.answers else 200
                    outer.got.append((status, dict(self.headers), body))
                outer.open.wait(60)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/hook" % self.server.server_port

    def taken(self):
        with self.lock:
            return [(headers, json.loads(body)) for status, headers, body in self.got if status == 200]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def signed_with(secret, headers, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return wanted in headers["webhook-signature"].split(" ")


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(self, *words):
        return subprocess.run([str(self.sluice), *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              env=self.environment, timeout=120)

    def ok(self, *words):
        done = self.run(*words, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve"], stdout=log, stderr=log, cwd=self.root,
                                            env=self.environment)
        self.ok("status", "--wait", "60s")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=60)


@pytest.fixture
def place(sluice, root, tmp_path):
    one = Place(sluice, root, tmp_path)
    one.start()
    yield one
    one.end()


@pytest.fixture
def receiver():
    one = Receiver()
    yield one
    one.close()


def test_events_come_signed_and_filtered(place, receiver, eventually):
    place.ok("env", "create", "before")
    secret = place.ok("webhooks", "add", "team", receiver.url, "--allow-local", "--event", "environment.*")["secret"]
    chat = place.ok("webhooks", "add", "chat", receiver.url, "--allow-local", "--format", "slack", "--env", "two")
    place.ok("env", "create", "one")
    place.ok("env", "create", "two")
    eventually(lambda: len(receiver.taken()) == 3, lambda: str(receiver.got))
    events = [(headers, body) for headers, body in receiver.taken() if "specversion" in body]
    assert sorted(body["data"]["fields"]["environment"] for _, body in events) == ["one", "two"], "not those before"
    for status, headers, body in receiver.got:
        if b"specversion" not in body:
            continue
        assert signed_with(secret, headers, body)
        assert not signed_with(chat["secret"], headers, body)
        told = json.loads(body)
        assert headers["Content-Type"] == "application/cloudevents+json"
        assert (told["specversion"], told["type"]) == ("1.0", "sluice.environment.created")
        assert headers["webhook-id"].endswith("." + told["id"])
    texts = [body["text"] for _, body in receiver.taken() if "text" in body]
    assert len(texts) == 1 and texts[0].startswith("environment.created in two")
    listed = {each["name"]: each for each in place.ok("webhooks", "list")["webhooks"]}
    eventually(lambda: {each["name"]: each["delivered"] for each in place.ok("webhooks", "list")["webhooks"]}
               == {"team": 2, "chat": 1})
    assert listed["team"]["events"] == "environment.*"


def test_a_receiver_that_is_away_gets_the_same_again_also_after_a_kill(place, receiver, eventually):
    receiver.answers = [503, 500]
    place.ok("webhooks", "add", "team", receiver.url, "--allow-local", "--event", "environment.created")
    place.ok("env", "create", "one")
    eventually(lambda: len(receiver.got) >= 1)
    place.end(signal.SIGKILL)
    place.start()
    eventually(lambda: receiver.taken(), lambda: str(receiver.got))
    ids = {headers["webhook-id"] for _, headers, _ in receiver.got}
    assert len(ids) == 1, "a repeat can be told by its id"
    place.ok("env", "create", "two")
    eventually(lambda: len({headers["webhook-id"] for headers, _ in receiver.taken()}) == 2)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_being_delivered_when_the_server_went_comes_again(place, receiver, eventually, how):
    place.ok("webhooks", "add", "team", receiver.url, "--allow-local", "--event", "environment.created")
    receiver.open.clear()
    place.ok("env", "create", "one")
    eventually(lambda: len(receiver.got) == 1)
    ending = threading.Thread(target=place.end, args=[how])
    ending.start()
    if how == signal.SIGTERM:
        receiver.open.set()  # it ends in order, after what it was doing
    ending.join()
    taken = len(receiver.got)
    receiver.open.set()
    place.start()
    place.ok("env", "create", "two")
    eventually(lambda: {body["data"]["fields"]["environment"] for _, body in receiver.taken()} == {"one", "two"}
               and place.ok("webhooks", "list")["webhooks"][0]["delivered"] == 2, lambda: str(receiver.got))
    of_one = [headers["webhook-id"] for headers, body in receiver.taken()
              if body["data"]["fields"]["environment"] == "one"]
    assert len(set(of_one)) == 1 and (len(of_one) > 1 or how == signal.SIGTERM), "a repeat can be told by its id"
    assert taken == 1


def test_what_happens_while_nobody_serves_is_told_later(place, receiver, eventually):
    place.ok("webhooks", "add", "team", receiver.url, "--allow-local", "--event", "environment.created")
    place.end()
    place.ok("env", "create", "alone")
    assert not receiver.got
    place.start()
    eventually(lambda: [body["data"]["fields"]["environment"] for _, body in receiver.taken()] == ["alone"])


def test_tests_rotation_and_removal(place, receiver, eventually):
    first = place.ok("webhooks", "add", "team", receiver.url, "--allow-local", "--event", "environment.*")["secret"]
    assert place.ok("webhooks", "test", "team")["status"] == 200
    second = place.ok("webhooks", "rotate", "team")["secret"]
    assert second != first and second.startswith("whsec_")
    place.ok("webhooks", "test", "team")
    _, headers, body = receiver.got[-1]
    assert signed_with(first, headers, body) and signed_with(second, headers, body), "both sign for a day"
    receiver.answers = [302]
    refused = place.run("webhooks", "test", "team")
    assert refused.returncode == 1 and "redirects are not followed" in refused.stderr
    place.ok("webhooks", "remove", "team")
    assert place.run("webhooks", "test", "team").returncode == 5
    place.ok("env", "create", "unheard")
    assert not [one for _, _, one in receiver.got if b"unheard" in one]


def test_this_machine_is_refused_unless_allowed(place, receiver):
    place.ok("webhooks", "add", "inside", receiver.url)
    refused = place.run("webhooks", "test", "inside")
    assert refused.returncode != 0 and not receiver.got, refused.stderr
    place.ok("webhooks", "add", "meta", "http://169.254.169.254/latest/meta-data")
    assert place.run("webhooks", "test", "meta").returncode != 0
    for words in [("bad", "ftp://hooks.example"), ("bad", "nonsense")]:
        assert place.run("webhooks", "add", *words).returncode == 1


def test_secrets_are_for_admins_and_in_no_record(place, receiver, eventually):
    secret = place.ok("webhooks", "add", "team", receiver.url, "--allow-local")["secret"]
    place.ok("webhooks", "test", "team")
    place.end()
    for file in [place.folder / "serve.log", *[each for each in (place.home / "store").rglob("*") if each.is_file()]]:
        assert secret.encode() not in file.read_bytes(), file
    place.start()
