"""Rollouts on real traffic: a router, real programs, customers who never stop asking, and the judge."""

import os
import pty
import subprocess
import termios
import threading
import time

import pytest
from shop import Customers, version_of_shop
from up_home import get

RUNS = range(100 if os.environ.get("SLUICE_SOAK") else 3)
AT_ONCE = ["--interval", "1s", "--warm-up", "0s", "--settle", "0s"]
QUICK = [*AT_ONCE, "--latency-floor", "20ms"]
BY_ERRORS = [*AT_ONCE, "--latency-floor", "5s"]  # how slow a busy machine was a minute ago is no measure of now


def serve(home, *versions):
    """All of these versions are ready, and the first has all traffic: its URL."""
    first, *others = [version_of_shop(home, number + 1, **each) for number, each in enumerate(versions)]
    url = home.up(first)["urls"][0]
    for each in others:
        home.up(each, "--share", "1%")
    home.run("traffic", "set", "local", "shop@1=100%")
    return url


def start(home, *words, code=0, judged=QUICK):
    return home.run("rollout", "start", "local", *words, *judged, "--wait", "--timeout", "110s", code=code)


def rollout(home, *words):
    return home.data("rollout", "status", *words)


def shares(home):
    return {each["revision_id"]: each["weight_bps"] for each in home.data("traffic", "show", "local")["entries"]}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("bad", [{"errors": 0.05}, {"slow_share": 0.05, "slow_ms": 120}], ids=["errors", "latency"])
def test_a_worse_version_is_aborted_at_the_first_step_and_gets_not_one_request_more(home, bad, run, eventually):
    url = serve(home, {"slow_share": 0.05, "slow_ms": 50}, {"slow_share": 0.05, "slow_ms": 50, **bad})
    with Customers(url) as customers:
        done = start(home, "shop@2", "--steps", "20%:100s,60%,100%", code=9)
        asked, aborted = len(customers.answers), time.monotonic()
        eventually(lambda: len(customers.answers) >= asked + 400)
    after = [version for (_, version), begun in zip(customers.answers, customers.begun) if begun > aborted]
    assert set(after) == {"1"}
    assert "2" in {version for _, version in customers.answers[:asked]}
    view = rollout(home, "shop@2")
    assert view["status"] == "aborted" and view["verdict"]["verdict"] == "unhealthy"
    assert view["reason"].startswith("shop@2 ") and "the odds that this is chance" in view["reason"]
    assert view["reason"] in done.stderr
    assert list(shares(home).values()) == [10_000]
    assert view["weight_obeyed_bps"] == 0 and view["weight_actual_bps"] is None, "what was seen last is older than the end"
    newest = home.data("traffic", "history", "local")[0]
    assert (newest["updated_by"], newest["why"]) == ("rollout", "rollout aborted: " + view["reason"])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("held", [0, 20], ids=["alone", "beside"])
def test_a_version_that_is_as_good_gets_everything_and_is_taken_back_when_it_turns_bad(home, held, run, eventually):
    """After 100% it is judged by what the old version did, or beside it if that keeps a share."""
    url = serve(home, {}, {})
    with Customers(url) as customers:
        start(home, "shop@2", "--steps", "50%", "--after", "1h", *(["--holdback", f"{held}%"] if held else []),
              judged=QUICK if held else BY_ERRORS)
        view, asked, moved = rollout(home), len(customers.answers), time.monotonic()
        assert view["status"] == "watching" and view["weight_asked_bps"] == 10_000 - held * 100
        assert sorted(shares(home).values()) == ([2_000, 8_000] if held else [10_000])
        eventually(lambda: len(customers.answers) >= asked + 400)
        after = [version for (_, version), begun in zip(customers.answers, customers.begun) if begun > moved]
        assert set(after) == ({"1", "2"} if held else {"2"})
        port = [each for each in home.data("runtime", "list") if each["name"] == "shop@2"][0]["endpoint"]
        get(port.rstrip("/") + "/break")
        subprocess.run([str(home.sluice), "rollout", "watch", "shop@2"], env=home.environment(), timeout=110,
                       capture_output=True, check=False)
        taken_back = time.monotonic()
        eventually(lambda: len(customers.begun) and customers.begun[-1] > taken_back)
    assert rollout(home)["status"] == "aborted" and "shop@2" in rollout(home)["reason"]
    assert {version for (_, version), begun in zip(customers.answers, customers.begun) if begun > taken_back} == {"1"}
    assert get(url) == (200, "1")


@pytest.mark.parametrize("strategy", ["blue-green", "immediate"])
def test_what_changes_over_at_once_is_judged_by_what_the_old_version_did(home, strategy, eventually):
    url = serve(home, {}, {})
    with Customers(url) as customers:
        eventually(lambda: len(customers.answers) >= 1_000)
        start(home, "shop@2", "--strategy", strategy, "--after", "1h", judged=BY_ERRORS)
        assert rollout(home)["status"] == "watching" and list(shares(home).values()) == [10_000]
        port = [each for each in home.data("runtime", "list") if each["name"] == "shop@2"][0]["endpoint"]
        get(port.rstrip("/") + "/break")
        eventually(lambda: rollout(home)["status"] == "aborted", lambda: rollout(home)["verdict"])
    assert "of last_hour_errors" in rollout(home)["reason"]
    assert get(url) == (200, "1")


def test_limits_hold_whatever_the_old_version_does(home):
    url = serve(home, {"errors": 0.1}, {"errors": 0.1})
    with Customers(url):
        start(home, "shop@2", "--steps", "20%:100s", "--max-error-rate", "2%", judged=BY_ERRORS, code=9)
    assert "more than the 2.0 % of max_error_rate" in rollout(home)["reason"]
    assert list(shares(home).values()) == [10_000]


def test_an_up_with_a_canary_is_a_rollout_but_not_of_the_first_version(home, eventually):
    url = home.up(version_of_shop(home, 1), "--canary", "20%")["urls"][0]
    assert list(shares(home).values()) == [10_000] and home.data("rollout", "list", "--ended") == []
    begun = home.run("up", version_of_shop(home, 2), "--detach", "--canary", "20%")
    assert "sluice rollout watch shop@2" in begun.stderr
    eventually(lambda: [each["status"] for each in home.data("rollout", "list")] == ["running"])
    view = rollout(home)
    assert (view["canary"]["name"], view["strategy"], view["weight_asked_bps"]) == ("shop@2", "canary", 2_000)
    assert [each["weight_bps"] for each in view["steps"]] == [2_000, 10_000]
    refused = home.run("up", version_of_shop(home, 3), "--detach", "--canary", "20%", code=6)
    assert "is running: wait for it, or abort it; traffic stays as it was" in refused.stderr
    home.run("rollout", "abort")
    assert list(shares(home).values()) == [10_000] and get(url) == (200, "1")


def test_with_few_requests_it_waits_and_says_how_many_more_it_needs(home):
    url = serve(home, {}, {})
    home.run("rollout", "start", "local", "shop@2", "--steps", "50%:1s", *QUICK)
    home.run("rollout", "status", "--wait", "--timeout", "3s", code=8)
    for _ in range(40):
        get(url)
    home.run("rollout", "status", "--wait", "--timeout", "3s", code=8)
    view = rollout(home)
    assert view["status"] == "running" and view["step"] == 1
    assert view["verdict"]["verdict"] == "insufficientData" and view["verdict"]["requests_needed"] > 500
    assert "more requests to shop@2" in view["waits_for"]
    home.run("rollout", "pause", "--reason", "not today")
    assert rollout(home)["waits_for"].startswith("paused at 50%: not today")
    home.run("rollout", "resume")
    home.run("rollout", "advance")
    home.run("rollout", "status", "--wait", "--timeout", "60s")
    assert rollout(home)["status"] == "complete"
    assert get(url) == (200, "2")
    assert home.run("rollout", "abort", code=6).stderr.startswith("error: it is complete already")


def test_a_control_plane_that_is_killed_goes_on_with_its_rollout(home, eventually):
    url = serve(home, {}, {"errors": 0.05})
    with Customers(url):
        home.run("rollout", "start", "local", "shop@2", "--steps", "20%:100s", *QUICK)
        eventually(lambda: rollout(home)["weight_asked_bps"] == 2_000)
        pid = home.data("status")["pid"]
        subprocess.run(["kill", "-9", str(pid)], check=True)
        home.serving = subprocess.Popen([str(home.sluice), "serve"], env=home.environment(), cwd=home.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        home.run("rollout", "status", "--wait", "--timeout", "110s", code=9)
    assert list(shares(home).values()) == [10_000]


def test_what_does_not_answer_is_taken_back_before_it_is_judged(home, eventually):
    serve(home, {}, {})
    (pid,) = [each["replicas"][0]["pid"] for each in home.data("runtime", "list") if each["name"] == "shop@2"]
    subprocess.run(["kill", "-STOP", str(pid)], check=True)
    try:
        home.run("rollout", "start", "local", "shop@2", "--steps", "10%:100s", *QUICK, "--wait", "--timeout", "110s", code=9)
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
    assert rollout(home)["reason"] == "the new revision does not answer its health check"
    assert list(shares(home).values()) == [10_000]


def test_a_rollout_pauses_when_the_old_version_does_not_answer(home):
    serve(home, {}, {})
    (pid,) = [each["replicas"][0]["pid"] for each in home.data("runtime", "list") if each["name"] == "shop@1"]
    subprocess.run(["kill", "-STOP", str(pid)], check=True)
    try:
        home.run("rollout", "start", "local", "shop@2", "--steps", "10%:100s", *QUICK, "--wait", "--timeout", "110s", code=7)
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
    assert rollout(home)["reason"] == "the revision before does not answer its health check"
    home.run("rollout", "resume")
    home.run("rollout", "abort")
    assert list(shares(home).values()) == [10_000]


def test_a_router_that_does_not_answer_is_named_and_does_not_hold_up_an_abort(home, eventually):
    url = serve(home, {}, {})
    home.run("rollout", "start", "local", "shop@2", "--steps", "20%:100s", *QUICK)
    eventually(lambda: rollout(home)["weight_obeyed_bps"] == 2_000)
    pids = [str(home.router()["pid"]), str(home.data("router", "stats", "--once")["worker_pid"])]
    subprocess.run(["kill", "-STOP", *pids], check=True)
    try:
        aborted = home.run("rollout", "abort")
        assert "warning: the router main does not obey it yet: the router at " in aborted.stderr
        view = rollout(home)
        assert view["status"] == "aborted" and view["weight_obeyed_bps"] is None
        assert "routers   main: the router at" in home.run("rollout", "status").stdout
    finally:
        subprocess.run(["kill", "-CONT", *pids], check=True)
    eventually(lambda: rollout(home)["weight_obeyed_bps"] == 0)
    assert {get(url) for _ in range(50)} == {(200, "1")}


def test_a_group_of_three_is_taken_back_in_order_when_one_turns_bad(home, eventually):
    names = ["cart", "list", "shop"]
    for name in names:
        url = home.up(version_of_shop(home, 1, name=name, path=f"/{name}"))["urls"][0]
        home.up(version_of_shop(home, 2, name=name, path=f"/{name}"), "--share", "1%")
        home.run("traffic", "set", "local", "--bundle", name, f"{name}@1=100%")
    with Customers(url, 2, "/cart"), Customers(url, 2, "/list"), Customers(url, 2, "/shop"):
        for place, name in enumerate(names):
            home.run("rollout", "start", "local", f"{name}@2", "--bundle", name, "--steps", "50%:100s", "--group", "all",
                     "--place", place, *QUICK)
        eventually(lambda: {rollout(home, name)["weight_asked_bps"] for name in names} == {5_000})
        (second,) = [each["endpoint"] for each in home.data("runtime", "list") if each["name"] == "list@2"]
        get(second.rstrip("/") + "/break")
        for name in names:
            home.run("rollout", "status", name, "--wait", "--timeout", "110s", code=9)
    views = [rollout(home, name) for name in names]
    assert [each["ended_at"] for each in views] == sorted((each["ended_at"] for each in views), reverse=True)
    assert all("list@2 fails" in each["reason"] for each in views), "all say which one it was"
    for name in names:
        entries = home.data("traffic", "show", "local", "--bundle", name)["entries"]
        assert [each["weight_bps"] for each in entries] == [10_000]


def test_who_watches_leads_with_keys(home):
    """On a terminal of 80 columns: each key is a call of its own, and no line is cut."""
    url = serve(home, {}, {})
    with Customers(url):
        home.run("rollout", "start", "local", "shop@2", "--steps", "20%:100s,60%:100s", *QUICK)
        near, far = pty.openpty()
        termios.tcsetwinsize(far, (30, 80))
        watching = subprocess.Popen([str(home.sluice), "rollout", "watch", "shop@2"], stdin=far, stdout=far, stderr=far,
                                    env=home.environment() | {"TERM": "xterm"}, start_new_session=True)
        os.close(far)
        seen = ""

        def until(text):
            nonlocal seen
            while text not in seen:
                seen += os.read(near, 65536).decode(errors="replace")

        until("step 1 of 3")
        for key, wanted in (b"p", "pause: ok"), (b"r", "resume: ok"), (b"a", "step 2 of 3"), (b"x", "✖ aborted"):
            os.write(near, key)
            until(wanted)
        assert watching.wait(timeout=60) == 9
        os.close(near)
    assert "was used for another" not in seen and "…" not in seen
    assert list(shares(home).values()) == [10_000]


def test_two_people_who_act_at_once_leave_one_defined_state(home):
    url = serve(home, {}, {})
    home.run("rollout", "start", "local", "shop@2", "--steps", "20%:100s,60%:100s", *QUICK)
    both = [subprocess.Popen([str(home.sluice), "rollout", verb, "shop@2"], env=home.environment(),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for verb in ("advance", "abort")]
    codes = [each.wait(timeout=110) for each in both]
    assert codes[1] == 0 and codes[0] in (0, 6), codes
    home.run("rollout", "status", "--wait", "--timeout", "110s", code=9)
    assert list(shares(home).values()) == [10_000]
    assert get(url) == (200, "1")


def test_blue_green_is_previewed_by_token_and_then_changes_at_once(home, eventually):
    url = serve(home, {}, {})
    home.run("rollout", "start", "local", "shop@2", "--strategy", "blue-green", "--pause", "1h", *QUICK)
    eventually(lambda: rollout(home)["step"] == 1 and rollout(home)["routers"][0]["obeys"])
    token = home.data("traffic", "token", "--revision", "shop@2")
    headers = {"X-Sluice-Debug-Token": token["token"], "X-Sluice-Deployment": token["deployment"],
               "X-Sluice-Revision": token["revision"]}
    assert get(url, headers) == (200, "2")
    assert {get(url) for _ in range(50)} == {(200, "1")}
    home.run("rollout", "advance")
    home.run("rollout", "status", "--wait", "--timeout", "60s")
    assert {get(url) for _ in range(50)} == {(200, "2")}


def rolling_shop(home, replicas, **second):
    """Two versions with so many replicas each; the first has all traffic: its URL."""
    for number, each in ((1, {}), (2, second)):
        folder = version_of_shop(home, number, **each)
        with (folder / "bundle.yaml").open("a") as manifest:
            manifest.write(f"replicas: {replicas}\n")
        up = home.up(folder, *(["--share", "1%"] if number == 2 else []))
    home.run("traffic", "set", "local", "shop@1=100%")
    return up["urls"][0]


def running(home):
    """How many replicas of each version Sluice runs."""
    return {each["name"]: len(each["replicas"]) for each in home.data("runtime", "list")}


class Census:
    """Looks again and again at how many replicas run, in the background."""

    def __init__(self, home):
        self.home, self.ending, self.seen = home, threading.Event(), []
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ending.is_set():
            self.seen.append(running(self.home))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def test_rolling_replaces_replicas_under_load_without_a_failed_request(home):
    url = rolling_shop(home, 3)
    with Customers(url) as customers, Census(home) as census:
        start(home, "shop@2", "--strategy", "rolling", "--batch", "1")
    assert {status for status, _ in customers.answers} == {200}
    assert customers.failures == []
    assert min(sum(each.values()) for each in census.seen) >= 3, "never fewer than before"
    view = rollout(home)
    assert view["status"] == "complete" and view["strategy"] == "rolling"
    assert [each["weight_bps"] for each in view["steps"]] == [2_500, 5_000, 7_500, 10_000]
    assert get(url) == (200, "2")


def test_rolling_gives_the_replaced_replicas_back_when_the_new_version_is_worse(home, eventually):
    url = rolling_shop(home, 2)
    with Customers(url) as customers:
        home.run("rollout", "start", "local", "shop@2", "--strategy", "rolling", "--pause", "2s", *QUICK)
        eventually(lambda: rollout(home)["step"] == 2 and running(home)["shop@1"] == 1)
        home.run("rollout", "pause")
        subprocess.run(["kill", "-9", str(home.data("status")["pid"])], check=True)
        home.run("up", home.folder / "shop-1", "--detach", code=None)  # starts the control plane again
        home.run("rollout", "abort")
        home.run("rollout", "status", "--wait", "--timeout", "110s", code=9)
    assert {status for status, _ in customers.answers} == {200}
    assert customers.failures == []
    assert list(shares(home).values()) == [10_000]
    eventually(lambda: running(home) == {"shop@1": 2, "shop@2": 2})
    assert get(url) == (200, "1")
