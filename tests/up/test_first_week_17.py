"""FirstWeek17: `why` takes what people have, and says what a program answers that is waited for."""

import re
import subprocess

from test_first_week_11 import sick


def test_why_takes_a_revision_a_deployment_an_environment_and_a_router(home):
    up = home.up(home.root / "examples/hello")
    told = home.run("why", "hello@1").stdout
    assert told.startswith("hello@1 is ready and gets 100% of the traffic.\n")
    assert "hello for local-dev in local is active.\nhello@1 is ready" in home.run("why", "hello").stdout
    assert "hello@1 is ready" in home.run("why", "local").stdout.replace("\n    ", " ")
    routers = home.data("status")["environments"][0]["routers"]
    assert re.match(rf"Router {routers[0]['name']} of local obeys table \d+, the newest\.\n",
                    home.run("why", routers[0]["name"]).stdout)
    assert home.data("why", "hello@1")["kind"] == "revision"
    assert "PublishOn" not in told and up


def test_why_says_what_health_answered_and_how_much_longer_it_will_wait(home, eventually):
    home.run("bundles", "build", sick(home, "60s"), "--out", "sick.bundle")
    home.run("bundles", "add", "local", "sick.bundle")
    serve = subprocess.Popen([str(home.sluice), "serve"], env=home.environment(), cwd=home.folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        home.run("status", "--wait", "20s")
        warm = subprocess.Popen([str(home.sluice), "revisions", "warm", "local", "sick@1"], env=home.environment(),
                                cwd=home.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def told():
                return " ".join(home.run("why", "sick@1").stdout.split())
            eventually(lambda: "503" in told())
            text = told()
            assert re.search(r"Its program started \d+ s ago and is not healthy yet: it .*503.*; it has \d+ s more to "
                             r"become healthy\.", text), text
            assert "Revision/warm" in text and "RouteWarm" not in text
            assert len(home.run("why", "sick@1", "--rules").stdout) > len(home.run("why", "sick@1").stdout)
        finally:
            home.run("flow", "cancel", "latest", code=None)
            warm.wait(60)
    finally:
        serve.terminate()
        serve.wait(60)
