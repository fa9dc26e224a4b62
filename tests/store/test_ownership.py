"""Programs belong to the replica of the control plane that started them: one that leads elsewhere leaves them alone, says
on whose machine they are, and goes on with all that needs no machine."""

import json
import os
import signal
import subprocess

from asking import request
from test_replicas import joined, leads, named
from test_serve_on_postgres import get


def pids(plane):
    """The programs of a home that run."""
    found = []
    for state in sorted((plane.home / "runtime/replicas").glob("*/state.json")):
        said = json.loads(state.read_text())
        if said["phase"] == "running" and os.path.exists(f"/proc/{said['program']['pid']}"):
            found.append(said["program"]["pid"])
    return found


def starting(plane):
    """The supervisors of a home's programs that are not healthy yet."""
    states = [json.loads(each.read_text()) for each in (plane.home / "runtime/replicas").glob("*/state.json")]
    return [each["supervisor"]["pid"] for each in states if each["phase"] == "starting"]


ELSEWHERE = "it is on the machine of the replica east, and west leads: it is left alone until east leads again"


def test_programs_of_another_machine_are_left_alone(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    url = east.data("up", east.root / "examples/hello", "--detach")["urls"][0]
    east.run("up", east.root / "examples/hello-v2", "--share", "10%", "--detach")
    before = pids(east)
    assert len(before) == 2
    west = joined(plane, server, "west", east).serve(*named("west"))
    east.end(signal.SIGKILL)
    eventually(lambda: leads(west) == "west", west.log)

    rows = request(west, "GET", "/v1/state/LocalRuntime")[1]["rows"]
    assert [each["value"]["machine"] for each in rows] == ["east", "east"]
    service, instance = rows[0]["key"], rows[0]["value"]["instance"]
    status, said = request(west, "POST", "/v1/actions/LocalRuntime/repair", {"input": {"service": service}})
    assert (status, said["variant"], said["detail"]) == (503, "engine.unavailable", ELSEWHERE)
    refused = west.run("do", "Runtime/scale", f"instance={instance}", "replicas=2", code=None)
    assert refused.returncode != 0 and ELSEWHERE in refused.stdout + refused.stderr
    refused = west.run("do", "Runtime/healthCheck", f"instance={instance}", code=None)
    assert refused.returncode != 0
    # What needs no machine goes on.
    west.run("traffic", "set", "local", "hello@1=50%", "hello@2=50%")
    west.run("traffic", "rollback", "local")
    # One whose supervisor is lost is nobody's to start again, but its own machine's.
    lost = next((east.home / "runtime/replicas").glob("*.0"))
    supervisor = json.loads((lost / "state.json").read_text())["supervisor"]["pid"]
    os.kill(supervisor, signal.SIGKILL)
    eventually(lambda: len(pids(east)) == 1)
    (kept,) = pids(east)
    west.run("env", "create", "staging")
    assert pids(east) == [kept] and pids(west) == []

    east.serve(*named("east"))
    west.end()
    eventually(lambda: leads(east) == "east", east.log)
    eventually(lambda: len(pids(east)) == 2 and kept in pids(east), east.log)
    east.run("do", "Runtime/scale", f"instance={instance}", "replicas=2")
    eventually(lambda: get(url)[0] == 200)
    assert pids(west) == []
    assert east.run("audit", "verify").returncode == 0


def test_what_another_machine_should_stop_is_stopped_when_it_leads_again(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    east.run("up", east.root / "examples/hello", "--detach")
    (program,) = pids(east)
    west = joined(plane, server, "west", east).serve(*named("west"))
    east.end(signal.SIGKILL)
    eventually(lambda: leads(west) == "west", west.log)
    west.run("down", "hello", "--yes")
    assert pids(east) == [program]
    east.serve(*named("east"))
    west.end()
    eventually(lambda: leads(east) == "east", east.log)
    eventually(lambda: pids(east) == [], east.log)
    eventually(lambda: not request(east, "GET", "/v1/state/LocalRuntime")[1]["rows"], east.log)


def test_a_start_that_its_replica_did_not_see_to_its_end_is_undone_when_it_leads_again(started, plane, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    slow = east.folder / "slow"
    slow.mkdir()
    (slow / "bundle.yaml").write_text("name: slow\nversion: '1'\nrun: [./app]\nhealth: {start_within: 300s}\n")
    (slow / "app").write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    (slow / "app").chmod(0o755)
    with subprocess.Popen([str(east.sluice), "up", str(slow), "--detach"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=east.environment()) as asked:
        eventually(lambda: starting(east))
        east.end(signal.SIGKILL)
        asked.kill()
    (supervisor,) = starting(east)
    eventually(lambda: leads(west) == "west", west.log)
    # Whether it was started nobody can say here; it is not started once more, and not ended.
    eventually(lambda: [each["value"]["lifecycle"] for each in request(west, "GET", "/v1/state/Revision")[1]["rows"]]
               == ["failed"], west.log)
    assert starting(east) == [supervisor] and not starting(west)
    east.serve(*named("east"))
    west.end()
    eventually(lambda: leads(east) == "east", east.log)
    eventually(lambda: not starting(east), east.log)
    eventually(lambda: not os.path.exists(f"/proc/{supervisor}"))
    assert east.run("audit", "verify").returncode == 0
