"""What a rollout promises, on real traffic: each step once, waiting in words, a queue, and kills in every state."""

import contextlib
import os
import re
import subprocess

import pytest
from counted import Exported, Prometheus
from shop import Customers, version_of_shop
from up_home import get

from test_rollout import QUICK, rollout, serve, shares, start

SOAK = bool(os.environ.get("SLUICE_SOAK"))
STATES = ["queued", "running", "paused", "returning", "watching"]
VICTIMS = ["control plane", "router worker", "router master", "old version", "Prometheus"]
FEW = [("running", "router worker"), ("returning", "control plane"), ("running", "old version"), ("watching", "Prometheus")]


def invocations(home):
    """What was called in the flow of the newest rollout, as (action, variant, input)."""
    (flow, *_) = [each["flow"] for each in home.data("flow", "list")
                  if each["action"] == "Rollout/begin"]
    return [(each["action"], each.get("end", {}).get("variant"), each["input"])
            for each in home.data("flow", "trace", flow)["invocations"]]


def count(calls, action, variant=None):
    return len([each for each in calls if each[0] == action and variant in (None, each[1]) and not each[2].get("again")])


def test_three_healthy_steps_are_three_checks_three_analyses_and_one_marker_each(home, eventually):
    url = serve(home, {}, {})
    with Customers(url):
        start(home, "shop@2", "--steps", "20%:1s,50%:1s,80%:1s")
    calls = invocations(home)
    assert count(calls, "Health/checkKit") == count(calls, "Telemetry/analyze") == count(calls, "Rollout/judge", "ok") == 3
    assert count(calls, "Rollout/advance", "ok") == 4 and count(calls, "Rollout/advance", "complete") == 1
    assert count(calls, "Traffic/move") == count(calls, "Router/publish") == 4
    eventually(lambda: [each["status"] for each in home.data("telemetry", "markers")] == ["completed", "started"])


def test_a_bad_second_step_is_one_abort_and_nothing_further(home, eventually):
    url = serve(home, {}, {})
    with Customers(url):
        home.run("rollout", "start", "local", "shop@2", "--steps", "20%:1s,50%:100s", *QUICK)
        eventually(lambda: rollout(home)["step"] == 2)
        (second,) = [each["endpoint"] for each in home.data("runtime", "list") if each["name"] == "shop@2"]
        get(second.rstrip("/") + "/break")
        home.run("rollout", "status", "--wait", "--timeout", "110s", code=9)
    calls = invocations(home)
    assert count(calls, "Rollout/abort") == count(calls, "Rollout/returned", "ok") == 1
    assert count(calls, "Rollout/advance", "ok") == 2 and count(calls, "Rollout/advance", "complete") == 0
    eventually(lambda: [each["status"] for each in home.data("telemetry", "markers")] == ["rolledback", "started"])


def test_with_few_requests_why_says_how_many_more_and_when(home, eventually):
    url = serve(home, {}, {})
    home.run("rollout", "start", "local", "shop@2", "--steps", "50%:1s", *QUICK)

    def said():
        get(url)
        return " ".join(home.run("why", "shop@2").stdout.split())

    eventually(lambda: re.search(r"[\d,]+ more requests to shop@2 \(\S+ at [^)]+\)", said()), said)
    assert "Its rollout is running at step 1 of 2" in said()
    assert rollout(home)["status"] == "running"


def test_a_queue_runs_all_versions_and_supersede_ends_with_the_last(home):
    url = serve(home, {}, {}, {}, {})
    with Customers(url):
        for number in (2, 3, 4):
            home.run("rollout", "start", "local", f"shop@{number}", "--steps", "50%:1s", *QUICK)
        waiting = {each["canary"]["name"]: each["waits_for"] for each in home.data("rollout", "list")}
        assert waiting["shop@4"] == "waits until shop@3 has ended"
        home.run("rollout", "status", "shop@4", "--wait", "--timeout", "110s")
    ended = {each["canary"]["name"]: each["status"] for each in home.data("rollout", "list", "--ended")}
    assert ended == {"shop@2": "complete", "shop@3": "complete", "shop@4": "complete"}
    home.run("traffic", "set", "local", "shop@1=100%")
    with Customers(url):
        for number in (2, 3, 4):
            home.run("rollout", "start", "local", f"shop@{number}", "--steps", "50%:1s", "--concurrency", "supersede", *QUICK)
        home.run("rollout", "status", "shop@4", "--wait", "--timeout", "110s")
    newest = {}
    for each in home.data("rollout", "list", "--ended"):
        newest.setdefault(each["canary"]["name"], (each["status"], each["reason"]))
    assert newest["shop@2"] == newest["shop@3"] == ("superseded", "a newer rollout takes its place")
    assert newest["shop@4"][0] == "complete" and get(url) == (200, "4")


def kill(home, victim):
    pid = {"control plane": lambda: home.data("status")["pid"],
           "router worker": lambda: home.data("router", "stats", "--once")["worker_pid"],
           "router master": lambda: home.router()["pid"],
           "old version": lambda: [each["replicas"][0]["pid"] for each in home.data("runtime", "list")
                                   if each["name"] == "shop@1"][0]}[victim]()
    subprocess.run(["kill", "-9", str(pid)], check=True)
    if victim == "control plane":
        home.serving = subprocess.Popen([str(home.sluice), "serve"], env=home.environment(), cwd=home.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        home.run("status", "--wait", "60s")


@pytest.fixture
def measured(home, tmp_path):
    """Starts a Prometheus that counts a good rollout of shop@2: the options by which it is judged on that."""
    with contextlib.ExitStack() as ending:
        def start():
            revisions = sorted(home.data("revisions", "list", "local"), key=lambda each: each["sequence"])
            exported = ending.enter_context(Exported([each["revision_id"] for each in revisions[:2]]))
            start.prometheus = ending.enter_context(Prometheus(tmp_path, [exported.port]))
            (home.folder / "criteria.yaml").write_text(start.prometheus.criteria())
            return ["--criteria", "criteria.yaml"]

        yield start


@pytest.mark.parametrize("run", range(200 if SOAK else len(FEW)))
def test_a_kill_in_any_state_changes_nothing_of_the_end(home, eventually, measured, run):
    state = STATES[run % len(STATES)] if SOAK else FEW[run][0]
    victim = VICTIMS[run // len(STATES) % len(VICTIMS)] if SOAK else FEW[run][1]
    url = serve(home, {}, {}, *([{}] if state == "queued" else []))
    source = measured() if victim == "Prometheus" else []
    with Customers(url):
        if state == "queued":
            home.run("rollout", "start", "local", "shop@3", "--steps", "20%:1h", *QUICK)
        home.run("rollout", "start", "local", "shop@2", "--steps", "30%:2s,60%:2s", "--after", "5s", "--holdback", "20%",
                 *QUICK, *source, *(["--rollback-pause", "2s"] if state == "returning" else []))
        if state == "paused":
            eventually(lambda: rollout(home)["step"] >= 1)
            home.run("rollout", "pause")
        elif state == "returning":
            eventually(lambda: rollout(home)["step"] == 2)
            aborting = home.begin("rollout", "abort")  # it ends when traffic is back, or with the control plane
        eventually(lambda: rollout(home)["status"] == state and (state == "queued" or rollout(home)["step"] >= 1))
        if source:
            measured.prometheus.kill()
            measured.prometheus.start()
        else:
            kill(home, victim)
        if state == "queued":
            assert rollout(home)["status"] == "queued"
            home.run("rollout", "abort", "shop@3")
        if state == "paused":
            assert rollout(home)["status"] == "paused"
            home.run("rollout", "resume")
        home.run("rollout", "status", "--wait", "--timeout", "110s", code=9 if state == "returning" else 0)
        if state == "returning":
            aborting.communicate(timeout=60)
        else:
            eventually(lambda: rollout(home)["status"] == "complete")
    assert list(shares(home).values()) == [10_000]
    eventually(lambda: get(url) == (200, "1" if state == "returning" else "2"))  # once what was killed has started again
