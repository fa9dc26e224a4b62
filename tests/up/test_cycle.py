"""The whole life of an environment in this machine's own processes, from its making to its end, with traffic through a
router of its own. Every step is asked for twice, as who has lost the answer would."""

import json

from up_home import Load, get, running


class Twice:
    """Runs each command twice under one idempotency key; the answers must be the same."""

    def __init__(self, home):
        self.home, self.steps = home, 0

    def __call__(self, *words):
        self.steps += 1
        first, second = (self.home.data(*words, "--idempotency-key", f"step-{self.steps}") for _ in range(2))
        assert first == second, words
        return first


def test_greentic30_a_full_cycle_with_two_bundles_for_two_customers(home, eventually):
    twice = Twice(home)
    twice("env", "create", "staging", "--extends", "local")
    twice("env-packs", "remove", "staging", "telemetry", "--yes")
    twice("env-packs", "add", "staging", "sluice.telemetry.stdout@1.0.0")
    twice("trust", "bootstrap", "--env", "staging")
    router = home.begin("router", "run", "--name", "staging", "--listen", "127.0.0.1:0")
    serve = home.begin("serve")
    try:
        port = json.loads(router.stdout.readline())["listen"][0].rsplit(":", 1)[1]
        home.run("status", "--wait", "30s")
        urls = {}
        for customer, bundle in [("acme", "shop"), ("globex", "tea")]:
            for n in (1, 2):
                folder = home.copy("hello", f"{bundle}{n}", version=f"{n}.0.0")
                manifest = folder / "bundle.yaml"
                manifest.write_text(manifest.read_text().replace("name: hello", f"name: {bundle}"))
                home.run("bundles", "build", folder, "--out", f"{bundle}{n}.bundle")
            twice("bundles", "add", "staging", f"{bundle}1.bundle", "--customer-id", customer, "--host", f"{bundle}.localhost")
            twice("revisions", "stage", "staging", f"{bundle}2.bundle")
            for n in (1, 2):
                twice("revisions", "warm", "staging", f"{bundle}@{n}")
            twice("traffic", "set", "staging", f"{bundle}@1=50%", f"{bundle}@2=rest", "--bundle", bundle)
            urls[bundle] = f"http://{bundle}.localhost:{port}/"
        for url in urls.values():
            answers = [get(url)[1] for _ in range(100)]
            assert (answers.count("hello 1.0.0\n"), answers.count("hello 2.0.0\n")) == (50, 50)
        pids = home.replicas()
        assert len(pids) == 4
        with Load(urls["shop"]) as shop, Load(urls["tea"]) as tea:
            for bundle, url in urls.items():
                named = ("staging", "--bundle", bundle)
                twice("traffic", "set", *named, f"{bundle}@2=100%")
                assert {get(url)[1] for _ in range(20)} == {"hello 2.0.0\n"}
                twice("traffic", "rollback", *named)
                assert {get(url)[1] for _ in range(20)} == {"hello 1.0.0\n", "hello 2.0.0\n"}
                twice("traffic", "forward", *named)
                twice("revisions", "drain", "staging", f"{bundle}@1", "--yes")
                assert {get(url)[1] for _ in range(20)} == {"hello 2.0.0\n"}
            eventually(lambda: len(shop.good) > 50 and len(tea.good) > 50)
        assert shop.bad == [] and tea.bad == []
        assert sum(map(running, pids)) == 2, "what was drained is stopped"
        for bundle, url in urls.items():
            named = ("staging", "--bundle", bundle)
            twice("revisions", "archive", "staging", f"{bundle}@1", "--yes")
            twice("traffic", "clear", *named, "--yes")
            twice("revisions", "archive", "staging", f"{bundle}@2", "--yes")
            twice("bundles", "remove", *named, "--yes")
            assert get(url)[0] == 404
        assert not any(map(running, pids))
        twice("env", "destroy", "staging", "--yes")
        assert [each["environment_id"] for each in home.data("env", "list")] == ["local"]
    finally:
        for process in (router, serve):
            process.terminate()
            process.communicate(timeout=60)
