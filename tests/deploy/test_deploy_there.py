"""sluice deploy after a login: components are packed and signed here, and the plan is made and executed on that server."""

import signal
import subprocess

from test_deploy import answers, app
from up_home import Home

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:dan], role: deployer, environments: [local]}
- {to: [user:vic], role: viewer}
"""


def routers(home):
    """Those that the environments of a home know, with where they listen."""
    return [(each["name"], each["listen"]) for one in home.status()["environments"] for each in one["routers"]]


def test_an_app_is_deployed_on_the_server_of_the_context(home, sluice, root, tmp_path, eventually):
    with open(home.folder / "serve.log", "a") as log:
        serve = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=home.folder,
                                 env=home.environment())
    try:
        eventually(lambda: "url" in home.data("status", code=None))
        home.up(home.copy("hello", "first"))
        home.run("down", "hello", "--yes")
        server, known = home.status()["url"], routers(home)
        (home.folder / "policy.yaml").write_text(POLICY)
        home.run("access", "policy", "apply", "policy.yaml")
        people = {}
        for name in ("dan", "vic"):
            folder = tmp_path / name
            folder.mkdir()
            people[name] = Home(sluice, root, folder)
            people[name].run("login", server, input=home.data("access", "tokens", "create", "laptop", "--for",
                                                              f"user:{name}")["secret"])
        dan, vic = people["dan"], people["vic"]
        folder = app(dan)
        done = dan.run("deploy", folder, "--yes")
        assert answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}
        port = known[0][1][0].rsplit(":", 1)[1]
        assert f"http://127.0.0.1:{port}/cart\n" in done.stdout and "✔ traffic-split/web done" in done.stdout, done.stdout
        assert [each["status"] for each in dan.data("deploy", "status")["nodes"]] == ["done"] * 12
        dan.change(folder / "cart", "1.1.0")
        plan = dan.data("deploy", "plan", folder)
        assert dan.data("deploy", "execute", plan["plan_id"])["phase"] == "complete"
        assert answers(home)["cart"] == (200, "cart 1.1.0\n")
        assert home.data("deploy", "list")[0]["created_by"] == "user:dan"
        assert dan.data("rollback", "--yes")["phase"] == "rolledBack"
        assert answers(home)["cart"] == (200, "cart 1.0.0\n")
        assert not (dan.home / "router").exists() and routers(home) == known, "nothing is started here"
        vic.run("deploy", app(vic), "--yes", code=4)
        assert dan.data("deploy", "destroy", "--yes")["phase"] == "complete"
    finally:
        serve.send_signal(signal.SIGTERM)
        serve.wait(timeout=60)
