"""What a client may rely on at any server, whoever runs it: checks that need its URL and a token that may create
environments. They make environments of their own, and remove them."""

import concurrent.futures
import contextlib
import http.client
import json
import ssl
import urllib.parse
import uuid


class Server:
    def __init__(self, url, token):
        self.url, self.token = urllib.parse.urlsplit(url), token

    def connect(self):
        if self.url.scheme == "http":
            return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=120, context=context)

    def ask(self, method, target, body=None, **headers):
        """Status, bytes and headers."""
        wire = self.connect()
        try:
            wire.request(method, target, None if body is None else json.dumps(body),
                         {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}",
                          **{name.replace("_", "-"): value for name, value in headers.items()}})
            answer = wire.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            wire.close()

    def act(self, action, headers=None, **input):
        return self.ask("POST", f"/v1/actions/{action}", {"input": input}, **(headers or {}))

    def read(self, target):
        status, body, headers = self.ask("GET", target)
        assert status == 200, body
        return json.loads(body), headers

    def row(self, environment, at_least=0):
        rows = self.read(f"/v1/state/Env?prefix={environment}&at_least={at_least}")[0]["rows"]
        return next(each for each in rows if each["key"] == environment)

    def records(self, action, environment):
        """What the journal has of such calls."""
        found, first = [], 1
        while rows := self.read(f"/v1/journal?from={first}")[0]["rows"]:
            first = rows[-1]["seq"] + 1
            for each in rows:
                record = json.loads(each["record"])
                asked = record.get("root", {}).get("input", {})
                if record.get("action") == action and asked.get("environment") == environment:
                    found.append(record)
        return found

    @contextlib.contextmanager
    def environment(self):
        name = f"contract-{uuid.uuid4().hex[:12]}"
        status, body, _ = self.act("Env/create", environment=name)
        assert status == 200, body
        try:
            yield name
        finally:
            self.act("Env/destroy", environment=name)


def a_change_says_who_decided_what_and_where_its_record_is(server):
    with server.environment() as name:
        status, body, headers = server.act("Env/update", environment=name, name="First")
        said = json.loads(body)
        assert status == 200 and headers["ETag"] == f'"{said["generation"]}"'
        assert said["authorized"] and said["code"] == "ok" and said["variant"] == "ok"
        record = json.loads(server.read(f"/v1/journal?from={said['position']}")[0]["rows"][0]["record"])
        assert (record["action"], record["flow"], record["id"]) == ("Env/update", said["flow"], said["invocation"])
        assert server.row(name, said["position"])["generation"] == said["generation"]


def a_read_carries_its_position_and_a_strong_tag(server):
    with server.environment() as name:
        at = json.loads(server.act("Env/update", environment=name, name="First")[1])["position"]
        status, body, headers = server.ask("GET", f"/v1/views/environment?environment={name}&at_least={at}")
        assert status == 200 and json.loads(body)["environment_id"] == name
        tag = headers["ETag"]
        assert tag.startswith('"') and int(tag.strip('"')) >= at
        again = server.ask("GET", "/v1/views/environments", If_None_Match=server.read("/v1/views/environments")[1]["ETag"])
        assert again[0] in (200, 304)  # whether anybody has changed something meanwhile
        assert again[0] == 200 or again[1] == b""


def a_stale_change_is_refused_with_both_generations(server):
    with server.environment() as name:
        seen = server.row(name)["generation"]
        assert server.act("Env/update", {"If-Match": f'"{seen}"'}, environment=name, name="First")[0] == 200
        status, body, headers = server.act("Env/update", {"If-Match": f'"{seen}"'}, environment=name, name="Second")
        said = json.loads(body)
        assert status == 412 and (said["fields"]["expected"], said["fields"]["actual"]) == (seen, seen + 1)
        assert headers["ETag"] == f'"{seen + 1}"'
        assert server.row(name)["value"]["name"] == "First"


def a_replay_is_equal_to_the_byte_and_marked(server):
    with server.environment() as name:
        key = {"Idempotency-Key": uuid.uuid4().hex}
        status, first, headers = server.act("Env/update", key, environment=name, name="First")
        assert status == 200 and headers["Idempotency-Replayed"] is None
        assert json.loads(headers["Sluice-Flow-Now"])["state"] in ("running", "settled")
        status, again, replayed = server.act("Env/update", key, environment=name, name="First")
        assert (status, again) == (200, first) and replayed["Idempotency-Replayed"] == "true"
        assert replayed["ETag"] == headers["ETag"]
        assert len(server.records("Env/update", name)) == 1
        status, body, _ = server.act("Env/update", key, environment=name, name="Other")
        assert status == 409 and "was used for another request" in json.loads(body)["detail"]


def a_retry_that_comes_late_overwrites_nothing(server):
    with server.environment() as name:
        key = {"Idempotency-Key": uuid.uuid4().hex}
        first = server.act("Env/update", key, environment=name, name="First")
        assert server.act("Env/update", environment=name, name="Second")[0] == 200
        late = server.act("Env/update", key, environment=name, name="First")
        assert late[:2] == first[:2] and late[2]["Idempotency-Replayed"] == "true"
        assert server.row(name)["value"]["name"] == "Second"


def fifty_duplicates_at_once_are_one_change(server):
    with server.environment() as name:
        before = server.row(name)["generation"]
        key = {"Idempotency-Key": uuid.uuid4().hex}
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            calls = [pool.submit(server.act, "Env/update", key, environment=name, name="Once") for _ in range(50)]
            answers = {call.result()[:2] for call in calls}
        assert len(answers) == 1 and answers.pop()[0] == 200
        assert server.row(name)["generation"] == before + 1
        assert len(server.records("Env/update", name)) == 1


def a_call_of_nobody_changes_nothing(server):
    before = server.read("/v1/position")[0]["position"]
    for token in ("", "slt_unknown", "x"):
        assert Server(server.url.geturl(), token).act("Env/create", environment="never")[0] == 401
    assert all('"never"' not in row["record"] for row in server.read(f"/v1/journal?from={before + 1}")[0]["rows"])


CHECKS = [a_change_says_who_decided_what_and_where_its_record_is, a_read_carries_its_position_and_a_strong_tag,
          a_stale_change_is_refused_with_both_generations, a_replay_is_equal_to_the_byte_and_marked,
          a_retry_that_comes_late_overwrites_nothing, fifty_duplicates_at_once_are_one_change,
          a_call_of_nobody_changes_nothing]
