"""What replicas answer that do not lead: reads from what is committed, also while nobody leads, and calls as whoever
leads answers them, also where that one is lost in between."""

import concurrent.futures
import http.client
import json
import signal
import socket
import ssl
import subprocess

import pytest

from asking import request
from remote_contract import CHECKS
from remote_contract import Server as Contract
from test_replicas import environments, free_port, joined, leads, named


def over_tls(plane, port, method, target, token=None, body=None, headers=None, cert=None):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if cert:
        context.load_cert_chain(*map(str, cert))
    wire = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    given = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    try:
        wire.request(method, target, None if body is None else json.dumps(body), given)
        answer = wire.getresponse()
        return answer.status, json.loads(answer.read() or b"null"), answer.headers
    finally:
        wire.close()


def test_a_follower_answers_reads_itself(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    # What was changed anywhere is read here: the answer has seen the position that the change was answered with.
    status, changed = request(east, "POST", "/v1/actions/Env/create", {"input": {"environment": "staging"}})
    assert status == 200
    at = changed["position"]
    status, shown = request(west, "GET", f"/v1/views/environments?at_least={at}")
    assert status == 200 and "staging" in [each["environment_id"] for each in shown]
    assert request(west, "GET", f"/v1/position?at_least={at}")[1]["position"] >= at
    east.process.send_signal(signal.SIGSTOP)
    # Nobody else can have answered these.
    assert environments(west) == ["local", "staging"]
    assert request(west, "GET", "/v1/state/Env")[1]["position"] >= at
    assert request(west, "GET", "/v1/flows")[0] == 200
    assert request(west, "GET", f"/v1/journal?from={at}")[1]["rows"]
    assert request(west, "GET", "/v1/openapi.json")[0] == 200
    eventually(lambda: leads(west) == "west", west.log)
    late, problem = request(west, "GET", "/v1/views/environments?at_least=100000&for_ms=50")
    assert late == 504 and problem["detail"].startswith("position 100000 is not there: the newest is ")


def test_events_are_followed_at_a_follower(started, plane):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    wire = http.client.HTTPConnection("sluice", timeout=60)
    wire.sock = socket.socket(socket.AF_UNIX)
    wire.sock.connect(str(west.home / "run/sluice.sock"))
    try:
        wire.request("GET", "/v1/events?types=environment.created")
        answer = wire.getresponse()
        assert answer.status == 200 and answer.readline().startswith(b": from ")
        east.run("env", "create", "staging")
        lines = iter(answer.readline, b"")
        at = int(next(each for each in lines if each.startswith(b"id: "))[4:])
        event = json.loads(next(each for each in lines if each.startswith(b"data: "))[6:])
        assert event["environment"] == "staging"
        assert request(west, "GET", f"/v1/journal?from={at}")[1]["rows"][0]["seq"] == at
    finally:
        wire.close()


def test_who_may_not_see_all_sees_as_much_at_a_follower(started, plane, tmp_path):
    server = started()
    ports = {name: free_port() for name in ("east", "west")}
    east = plane("east", server).serve(*named("east", ports["east"]))
    west = joined(plane, server, "west", east).serve(*named("west", ports["west"]))
    for name in ("staging", "prod"):
        east.run("env", "create", name)
    policy = tmp_path / "policy.yaml"
    policy.write_text("schema: sluice.access-policy.v1\ngrants:\n"
                      "- {to: [user:ann], role: viewer, environments: [staging]}\n")
    east.run("access", "policy", "apply", policy)
    token = east.data("access", "tokens", "create", "laptop", "--for", "user:ann")["secret"]
    answers = {}
    for each, port in ports.items():
        status, shown, headers = over_tls(east, port, "GET", "/v1/views/environments", token)
        answers[each] = (status, [row["environment_id"] for row in shown])
        assert headers["ETag"].strip('"').isdigit()
    assert answers["west"] == answers["east"] == (200, ["staging"])
    # What is denied is written down, by the one that leads.
    for each in ports.values():
        status, said, _ = over_tls(east, each, "POST", "/v1/actions/Env/create", token, {"input": {"environment": "x"}})
        assert status == 403, said
    assert over_tls(east, ports["west"], "GET", "/v1/views/environments", "slt_wrong")[0] == 401


def test_each_replica_keeps_the_contract(started, plane):
    server = started()
    ports = {name: free_port() for name in ("east", "west")}
    east = plane("east", server).serve(*named("east", ports["east"]))
    joined(plane, server, "west", east).serve(*named("west", ports["west"]))
    token = (east.home / "run/owner.token").read_text().strip()
    for port in ports.values():
        for check in CHECKS:
            check(Contract(f"https://127.0.0.1:{port}", token))


def client_certificate(folder, name):
    def run(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    authority, key, cert, wish = (folder / each for each in ("ca.pem", "key.pem", "cert.pem", "wish.csr"))
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
        "/CN=authority", "-keyout", folder / "ca.key", "-out", authority)
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", key,
        "-out", wish)
    (folder / "ext").write_text("extendedKeyUsage=clientAuth\n")
    run("x509", "-req", "-in", wish, "-CA", authority, "-CAkey", folder / "ca.key", "-days", "2", "-extfile",
        folder / "ext", "-out", cert)
    return authority, (cert, key)


def test_a_client_with_a_certificate_is_who_they_are_at_a_follower(started, plane, tmp_path):
    server = started()
    authority, certificate = client_certificate(tmp_path, "ann")
    port = free_port()
    east = plane("east", server).serve(*named("east"), "--client-ca", authority)
    west = joined(plane, server, "west", east).serve(*named("west", port), "--client-ca", authority)
    policy = tmp_path / "policy.yaml"
    policy.write_text("schema: sluice.access-policy.v1\ngrants:\n- {to: [user:ann], role: admin}\n"
                      "certificates:\n- {subject: CN=ann, as: user:ann}\n")
    east.run("access", "policy", "apply", policy)
    status, said, _ = over_tls(west, port, "GET", "/v1/session", cert=certificate)
    assert (status, said["caller"], said["owner"]) == (200, "user:ann", False)
    status, said, _ = over_tls(west, port, "POST", "/v1/actions/Env/create", cert=certificate,
                               body={"input": {"environment": "hers"}})
    assert status == 200, said
    made = next(each for each in east.data("audit", "list") if each.get("environment") == "hers")
    assert made["caller"] == "user:ann"
    assert over_tls(west, port, "GET", "/v1/views/environments", cert=certificate)[0] == 200
    # Nobody becomes another one by saying so: the header is taken from a replica alone.
    token = east.data("access", "tokens", "create", "laptop", "--for", "user:bob")["secret"]
    shown = {"Sluice-Client-Certificate": "".join(certificate[0].read_text().splitlines())}
    for at in (port, int(leads_at(east).rsplit(":", 1)[1])):
        status, said, _ = over_tls(west, at, "GET", "/v1/session", token, headers=shown)
        assert (status, said["caller"]) == (200, "user:bob")


def leads_at(plane):
    return next(each["url"] for each in plane.data("replicas", "list") if each["leads"])


@pytest.mark.parametrize("how", ["kill", "pause"])
@pytest.mark.parametrize("replicas", [2, 3])
def test_a_call_under_a_key_is_answered_by_the_next_leader(started, plane, eventually, how, replicas):
    server = started()
    first = plane("a", server).serve(*named("a"))
    planes = [first, *(joined(plane, server, name, first).serve(*named(name)) for name in "bc"[:replicas - 1])]
    asked = planes[-1]
    # It gets the call, and is lost before it can do anything.
    first.process.send_signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(asked.run, "env", "create", "staging", "--idempotency-key", "k1", code=None)
        eventually(lambda: any(leads(each) not in (None, "a") for each in planes[1:]), asked.log)
        if how == "kill":
            first.end(signal.SIGKILL)
        done = waiting.result()
    assert done.returncode == 0, done.stderr + asked.log()
    if how == "pause":
        first.process.send_signal(signal.SIGCONT)
        eventually(lambda: first.process.poll() is not None)
        first.end()
    again = asked.run("env", "create", "staging", "--idempotency-key", "k1")
    assert again.stdout == done.stdout
    assert environments(asked) == ["local", "staging"]
    made = [each for each in asked.data("audit", "list") if each["action"] == "Env/create" and each["outcome"] == "ok"]
    assert len(made) == 1
    assert asked.run("audit", "verify").returncode == 0
