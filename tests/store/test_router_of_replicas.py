"""A router on another machine obeys whichever replica leads: it joins at one that follows, and goes over when another takes
the lead."""

import signal
import sys
from pathlib import Path

import pytest
from test_replicas import joined, leads, named

sys.path.insert(0, str(Path(__file__).parents[1] / "router"))

import machines  # noqa: E402


@pytest.fixture
def edge(sluice, tmp_path):
    made = machines.Machine(sluice, tmp_path, "edge")
    yield made
    made.close()


def obeys(plane):
    done = plane.run("router", "list", "-o", "json", code=None)
    if done.returncode != 0:
        return False
    rows = {each["name"]: each for each in machines.json.loads(done.stdout)["routers"]}
    return "edge" in rows and rows["edge"]["reachable"] and rows["edge"]["generation"] == rows["edge"]["newest"] > 0


def test_a_router_goes_over_to_the_replica_that_leads(started, plane, edge, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east)
    west.serve(*named("west"))
    url = next(each["url"] for each in west.data("replicas", "list") if each["name"] == "west")
    token = west.data("router", "token")["token"]
    # Whoever it asks, the one that leads lets it in; one that follows points there.
    edge.run("router", "join", url, "--token", token, "--name", "edge", "--listen", "127.0.0.1:0")
    edge.route()
    east.run("up", machines.hello(east.folder / "hello", "1.0.0"), "--detach", "--port", machines.free_port())
    eventually(lambda: obeys(east), lambda: edge.log("router"))
    before = edge.generation()
    east.end(signal.SIGKILL)
    eventually(lambda: leads(west) == "west", west.log)
    eventually(lambda: obeys(west), lambda: edge.log("router"))
    west.run("config", "set", "local", "connections_per_address=99")
    eventually(lambda: obeys(west) and edge.generation() > before, lambda: edge.log("router"))
    assert edge.ask({"op": "stats"})["environment"] == "local"
    assert edge.orders() == sorted(set(edge.orders()))
