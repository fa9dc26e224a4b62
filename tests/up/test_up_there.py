"""sluice up after a login: the folder is packed and signed here, and comes up on that server."""

import signal
import subprocess

from up_home import Home, get

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:dan], role: deployer, environments: [local, staging]}
- {to: [user:vic], role: viewer}
"""


def test_a_folder_comes_up_on_the_server_of_the_context(home, sluice, root, tmp_path, eventually):
    with open(home.folder / "serve.log", "a") as log:
        serve = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=home.folder,
                                 env=home.environment())
    people = {}
    try:
        eventually(lambda: "url" in home.data("status", code=None))
        url = home.up(home.copy("hello", "first"))["urls"][0]
        server = home.data("status")["url"]
        (home.folder / "policy.yaml").write_text(POLICY)
        home.run("access", "policy", "apply", "policy.yaml")
        home.run("env", "create", "staging", "--extends", "local")
        for name in ("dan", "vic"):
            folder = tmp_path / name
            folder.mkdir()
            people[name] = Home(sluice, root, folder)
            token = home.data("access", "tokens", "create", "laptop", "--for", f"user:{name}")["secret"]
            people[name].run("login", server, input=token)

        dan = people["dan"]
        folder = dan.copy("hello", "mine", version="2.0.0")
        done = dan.run("up", folder)
        assert done.stdout.startswith("up  hello@2 gets 100%\n") and f"it runs on {server} and goes on there" in done.stderr
        assert get(url) == (200, "hello 2.0.0\n")
        assert dan.data("up", folder)["changed"] is False
        assert not (dan.home / "router").exists(), "nothing is started here"
        last = home.data("deploy", "list")[0]
        assert (last["origin"], last["created_by"]) == ("up", "user:dan"), last

        # The server decides: whose rights, whose signatures.
        refused = dan.run("up", folder, "--env", "staging", "--customer-id", "acme", code=11)
        assert "which is not in the trust root" in refused.stderr, refused.stderr
        vic = people["vic"]
        vic.run("up", vic.copy("hello", "mine"), code=4)
        dan.run("up", folder, "--port", "8099", code=2)
        assert get(url) == (200, "hello 2.0.0\n")
        refused = home.run("up", home.folder / "first", "--env", "staging", code=2)
        assert "nothing was changed" in refused.stderr
    finally:
        serve.send_signal(signal.SIGTERM)
        serve.wait(timeout=60)
