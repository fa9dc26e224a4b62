"""Several control planes on one store: an empty home joins, follows, forwards and takes over; whoever was paused, comes
late or shows a wrong token is told so."""

import concurrent.futures
import json
import shutil
import signal
import socket
import subprocess

from asking import request


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def named(name, port=None):
    return "--replica", name, "--listen", f"127.0.0.1:{port or free_port()}", "--tls-own"


def joined(plane, server, name, by):
    """An empty home that has joined."""
    made = by.data("replicas", "token")
    one = plane(name, server)
    one.run("replicas", "join", made["url"], "--token", made["token"])
    return one


def leads(plane):
    rows = json.loads(plane.run("replicas", "list", "-o", "json", code=None).stdout or "[]")
    return next((each["name"] for each in rows if each["leads"]), None)


def environments(plane):
    return sorted(each["environment_id"] for each in plane.data("env", "list"))


def test_an_empty_home_joins_follows_and_takes_over(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east)
    west.serve(*named("west"))
    rows = west.data("replicas", "list")
    assert [(each["name"], each["leads"]) for each in rows] == [("east", True), ("west", False)]
    assert east.data("replicas", "list")[0]["url"] == rows[0]["url"]
    assert "The replica east leads." in west.run("why", "local").stderr
    # What a follower is asked for is done by the one that leads, and is read everywhere.
    west.run("env", "create", "staging")
    assert environments(east) == environments(west) == ["local", "staging"]
    assert (west.home / "keys/operator.pem").read_text() == (east.home / "keys/operator.pem").read_text()
    refused = west.run("env", "create", "staging", code=None)
    assert refused.returncode == 6 and refused.stderr == east.run("env", "create", "staging",
                                                                  code=None).stderr
    east.end(signal.SIGKILL)
    eventually(lambda: leads(west) == "west", west.log)
    assert environments(west) == ["local", "staging"]
    west.run("env", "create", "prod")
    assert west.run("audit", "verify").returncode == 0
    east.serve(*named("east"))
    assert leads(east) == "west"
    assert environments(east) == ["local", "prod", "staging"]
    # Whoever ends in order makes room at once.
    west.end()
    eventually(lambda: leads(east) == "east", east.log)
    east.run("env", "create", "last")


def test_a_key_that_was_used_at_one_replica_is_used_at_all(started, plane):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    words = ["env", "create", "staging", "--idempotency-key", "k1"]
    first = west.run(*words)
    again = east.run(*words)
    assert again.stdout == first.stdout
    other = east.run("env", "create", "prod", "--idempotency-key", "k1", code=None)
    assert other.returncode == 6
    assert environments(west) == ["local", "staging"]


def test_a_leader_that_was_paused_ends_when_it_wakes(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    east.process.send_signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Whoever waits for the paused one is told so, and holds nobody up.
        waiting = pool.submit(request, west, "POST", "/v1/actions/Env/create", {"input": {"environment": "waited"}})
        eventually(lambda: leads(west) == "west", west.log)
        status, problem = waiting.result()
        assert status in (503, 504), problem
    west.run("env", "create", "staging")
    east.process.send_signal(signal.SIGCONT)
    eventually(lambda: east.process.poll() is not None, east.log)
    assert east.end() != 0
    assert "the lease on the store has lapsed" in east.log() or "another process has opened this store" in east.log()
    assert west.run("audit", "verify").returncode == 0
    assert set(environments(west)) - {"waited"} == {"local", "staging"}


def test_certificates_go_along_when_another_one_takes_over(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    east.run("tls", "issue", "shop.localhost")
    west = joined(plane, server, "west", east).serve(*named("west"))
    shown = (east.home / "tls/shop.localhost/key.pem").read_text()
    east.end(signal.SIGKILL)
    eventually(lambda: leads(west) == "west", west.log)
    assert (west.home / "tls/shop.localhost/key.pem").read_text() == shown
    assert (west.home / "ca/key.pem").read_text() == (east.home / "ca/key.pem").read_text()
    assert west.run("tls", "doctor").returncode == 0
    # The database alone does not tell them.
    assert "PRIVATE" not in server.sql("SELECT string_agg(encode(bytes, 'escape'), '') FROM sluice.file_part "
                                       "WHERE name LIKE 'tls/%' OR name LIKE 'ca/%'")


def test_what_was_acknowledged_survives_every_kill(started, plane, eventually):
    server = started()
    first = plane("a", server).serve(*named("a"))
    planes = [first, *(joined(plane, server, name, first) for name in "bc")]
    ports = {each: free_port() for each in planes}
    for each, name in zip(planes[1:], "bc"):
        each.serve(*named(name, ports[each]))
    acknowledged, tried = [], 0

    def create(at, name):
        done = at.run("env", "create", name, "--idempotency-key", name, code=None)
        return name if done.returncode == 0 else None

    for turn in range(3):
        leader = next(each for each in planes if leads(each) == each.folder.name)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            followers = [each for each in planes if each is not leader]
            calls = [pool.submit(create, followers[n % 2], f"e{turn}-{n}") for n in range(8)]
            tried += len(calls)
            eventually(lambda: sum(each.done() for each in calls) >= 2)
            leader.end(signal.SIGKILL)
            acknowledged += [each.result() for each in calls if each.result()]
        alive = [each for each in planes if each is not leader]
        eventually(lambda: leads(alive[0]) in [each.folder.name for each in alive], alive[0].log)
        leader.serve(*named(leader.folder.name, ports[leader]))
        # What nobody knows of is done once, under its key.
        for n in range(8):
            eventually(lambda: create(alive[0], f"e{turn}-{n}"))
        there = environments(alive[0])
        assert set(acknowledged) <= set(there)
        assert len(there) == len(set(there)) == tried + 1
    assert all(environments(each) == there for each in planes)
    assert planes[0].run("audit", "verify").returncode == 0


def test_wrong_tokens_and_names_are_told(started, plane, root, sluice):
    server = started()
    east = plane("east", server).serve(*named("east"))
    made = east.data("replicas", "token")

    def join(name, token, url=made["url"]):
        done = plane(name, server).run("replicas", "join", url, "--token", token, code=None)
        return done.returncode, done.stderr.splitlines()[0]

    assert join("x1", made["token"] + "0")[0] == 11  # another authority: nothing was sent
    secret, authority = made["token"].split(".")
    assert join("x2", f"slj_{'A' * 43}.{authority}") == (4, "error: this token is not one of this cluster's")
    assert join("x3", made["token"])[0] == 0
    assert join("x4", made["token"]) == (4, "error: this token was used already, and is good once")
    assert join("x3", made["token"])[1].startswith("error: this home is in use already")
    kept = east.home / "keys/join-tokens.json"
    assert secret not in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600

    x3 = plane("x3", server)
    (code, said) = x3.refused("--replica", "east")
    assert code == 6 and said.startswith("error: another replica is called east, and was heard of less than 10 seconds ago")
    alone = plane("alone", server)
    done = subprocess.run([str(sluice), "serve", "--replica", "b"], capture_output=True, text=True, cwd=alone.folder,
                          env=alone.environment(), timeout=60)
    assert done.returncode == 2 and "a replica needs a store that it shares with others" in done.stderr
    shutil.rmtree(x3.home)
