"""A branch of a real Git server (tests/git) is kept applied: deploy, promote by a merge, a bad commit, a force-push, and a
server that is away. The repository gets no commit. Git meets the same rules as every other door."""

import hashlib
import hmac
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / each) for each in ("git", "docs")]

from promoting import Team  # noqa: E402
from test_docs import agrees, blocks, commands  # noqa: E402
from test_git import git, servers  # noqa: E402, F401

PIN = """apiVersion: openchoreo.dev/v1alpha1
kind: ReleasePin
metadata: {{name: hello-{0}}}
spec: {{component: hello, environment: {0}, releaseName: {1}}}
"""
SETTINGS = """apiVersion: openchoreo.dev/v1alpha1
kind: EnvSettings
metadata: {{name: hello-{0}}}
spec: {{owner: {{componentName: hello}}, environment: {0}, overrides: {{{1}}}}}
"""


@pytest.fixture
def repository(servers, home, root):  # noqa: F811
    """A working copy, with a server that the home believes; push() brings its commits there."""
    work = home.folder / "infra"
    shutil.copytree(root / "examples/promotion", work / "sluice")
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "first")
    server = servers()
    bare = server.serve("public/infra.git", work)
    git(work, "remote", "add", "origin", str(bare))
    plain = home.environment
    home.environment = lambda: {**plain(), "GIT_SSL_CAINFO": str(server.folder / "cert.pem")}

    class Repository:
        url = server.url("public/infra.git")

        @staticmethod
        def push(message, *words, **files):
            for name, text in files.items():
                (work / "sluice" / f"{name}.yaml").write_text(text)
            git(work, "add", "-A")
            git(work, "commit", "-qm", message, *words)
            git(work, "push", "-qf", "origin", "HEAD:main")
            return git(work, "rev-parse", "HEAD")

        @staticmethod
        def head():
            return git(bare, "rev-parse", "main")

        hide = staticmethod(lambda: bare.rename(bare.with_suffix(".away")))
        show = staticmethod(lambda: bare.with_suffix(".away").rename(bare))

    return Repository


class Socket(http.client.HTTPConnection):
    """The API at the home's socket."""

    def __init__(self, home):
        super().__init__("sluice", timeout=60)
        self.path = str(next(home.home.rglob("*.sock")))

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def post(self, path, body, **headers):
        self.request("POST", path, body, {"Content-Type": "application/json", **headers})
        answer = self.getresponse()
        return answer.status, json.loads(answer.read())


def source(home):
    (one,) = home.data("git", "list")
    return one


def test_a_branch_is_followed(home, repository):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    repository.push("deploy", local=PIN.format("local", "hello-1"))
    home.run("git", "watch", repository.url, "--path", "sluice", "--prune")
    assert source(home)["status"] == "synced"
    assert home.pins()["hello", "local"]["ready"]

    # A promotion by a merge; what skips an environment is refused with the server's sentence.
    commit = repository.push("promote", staging=PIN.format("staging", "hello-1"))
    home.run("git", "sync", "infra")
    assert home.pins()["hello", "staging"]["applied_release"] == "hello-1" and source(home)["applied"] == commit
    refused = repository.push("skip", prod=PIN.format("prod", "hello-1"))
    assert "hello-1 of hello has" in home.run("git", "sync", "infra", code=7).stderr
    assert (source(home)["status"], source(home)["commit"], source(home)["applied"]) == ("refused", refused, commit)

    # A fault has its place, and nothing else of the commit counts.
    repository.push("bad", prod="kind: Cat\n", staging=PIN.format("staging", "hello-none"))
    assert "prod.yaml:1:1" in home.run("git", "sync", "infra", code=7).stderr
    assert home.pins()["hello", "staging"]["release"] == "hello-1"

    # History that was rewritten is a commit like any other; what it has no longer is undeployed.
    (home.folder / "infra/sluice/prod.yaml").unlink()
    (home.folder / "infra/sluice/staging.yaml").unlink()
    rewritten = repository.push("deploy", "--amend")
    home.run("git", "sync", "infra")
    assert source(home)["applied"] == rewritten
    assert home.pins()["hello", "staging"]["state"] == "Undeploy" and home.pins()["hello", "local"]["ready"]

    # What a commit with a pin that may not move says besides counts for nothing either.
    (home.folder / "infra/sluice/new.yaml").write_text(PIN.format("prod", "hello-1"))
    refused = repository.push("half", settings=SETTINGS.format("local", "replicas: 2"))
    home.run("git", "sync", "infra", code=7)
    assert (source(home)["status"], source(home)["applied"]) == ("refused", rewritten)
    assert "EnvSettings" not in home.run("get").stdout
    assert len(home.data("pins", "history", "hello", "local")) == 1
    (home.folder / "infra/sluice/new.yaml").unlink()
    (home.folder / "infra/sluice/settings.yaml").unlink()
    rewritten = repository.push("without")
    home.run("git", "sync", "infra")

    # While the server is away everything runs on.
    repository.hide()
    home.run("git", "sync", "infra", code=1)
    assert source(home)["status"] == "failed" and home.pins()["hello", "local"]["ready"]
    repository.show()
    home.run("git", "sync", "infra")
    assert source(home)["status"] == "synced"
    assert repository.head() == rewritten, "nothing was written there"


MORE = {"nothing": "", "soaking": ", soakSeconds: 3600", "approvalNeeded": ", approvals: 2"}
FREEZE = "\n  freezes: [{name: always, from: 2000-01-01T00:00, until: 2999-01-01T00:00}]"


def pipeline(more="nothing", freeze=""):
    return f"""apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {{name: main}}
spec:
  promotionPaths:
    - {{sourceEnvironmentRef: {{name: local}}, targetEnvironmentRefs: [{{name: staging{MORE[more]}}}]}}
    - {{sourceEnvironmentRef: {{name: staging}}, targetEnvironmentRefs: [{{name: prod}}]}}{freeze}
"""


# Each rule by itself: what makes it hold, where hello-1 is to go then, what is said, and what ends it again.
RULES = [
    ("pathMissing", None, "qa", "qa is no environment of main, which hello takes", None),
    ("notInSource", None, "prod", "no environment before prod in main runs hello-1 of hello", None),
    ("notHealthy", {"settings.yaml": SETTINGS.format("local", "nonsense: 1")}, "staging", "hello-1 of hello is not ready in local",
     {"settings.yaml": SETTINGS.format("local", "replicas: 1")}),
    ("soaking", {"pipeline.yaml": pipeline("soaking")}, "staging", "hello-1 of hello has .* s left before it may go to staging",
     {"pipeline.yaml": pipeline()}),
    ("approvalNeeded", {"pipeline.yaml": pipeline("approvalNeeded")}, "staging",
     "2 other people must agree before hello-1 of hello goes to staging", {"pipeline.yaml": pipeline()}),
    ("frozen", {"pipeline.yaml": pipeline(freeze=FREEZE)}, "staging", "staging is frozen by always, until 2999", {"pipeline.yaml": pipeline()}),
    ("stopped", ["pipelines", "stop", "main", "--reason", "fire"], "staging", "main is stopped: fire", ["pipelines", "resume", "main"]),
    ("renderFailed", {"settings.yaml": SETTINGS.format("staging", "nonsense: 1")}, "staging", "hello cannot run in staging: .*nonsense",
     {"settings.yaml": SETTINGS.format("staging", "replicas: 1")}),
    ("rejected", ["releases", "reject", "hello-1", "--reason", "slow"], "staging", "hello-1 of hello was rejected: slow", None),
]


def test_a_commit_that_people_agree_to_is_applied_whole(home, repository, eventually):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("pins", "set", "hello", "local", "hello-1")
    (home.folder / "infra/sluice/pipeline.yaml").write_text(pipeline("approvalNeeded").replace("approvals: 2", "approvals: 1"))
    first = repository.push("deploy", local=PIN.format("local", "hello-1"))
    home.run("git", "watch", repository.url, "--path", "sluice")
    commit = repository.push("promote", staging=PIN.format("staging", "hello-1"),
                             settings=SETTINGS.format("staging", "replicas: 2"))
    said = home.run("git", "sync", "infra", code=10).stderr
    assert "1 other people must agree before hello-1 of hello goes to staging; nothing was changed" in said
    one = source(home)
    assert (one["status"], one["commit"], one["applied"]) == ("waiting", commit, first)
    assert set(home.pins()) == {("hello", "local")}
    team = Team(home, eventually)
    try:
        assert team.agree("bob")["reason"] == "a commit of infra"
        eventually(lambda: source(home)["applied"] == commit, lambda: json.dumps(source(home)))
        assert source(home)["status"] == "synced"
        eventually(lambda: home.pins()["hello", "staging"]["ready"])
        assert "replicas: 2" in home.run("describe", "EnvSettings", "hello-staging").stdout
    finally:
        team.stop()


def test_every_rule_refuses_by_every_door(home, repository, eventually):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("pins", "set", "hello", "local", "hello-1")
    serve = home.begin("serve")
    try:
        eventually(lambda: home.run("status", code=None).returncode == 0)
        home.run("git", "watch", repository.url, "--path", "pins", code=None)

        def do(what):
            if isinstance(what, list):
                home.run(*what)
            for name, text in (what if isinstance(what, dict) else {}).items():
                (home.folder / name).write_text(text)
                home.run("apply", "-f", name)

        for variant, begin, to, said, end in RULES:
            do(begin)
            code = 10 if variant == "approvalNeeded" else 7

            def refused(door, text):
                assert re.search(f"{said}.*; nothing was changed", text, re.S), (variant, door, text)
                assert set(home.pins()) == {("hello", "local")}, (variant, door)

            refused("cli", home.run("pins", "set", "hello", to, "hello-1", code=code).stderr)
            if to == "staging":
                refused("promote", home.run("promote", "--from", "local", "--to", to, code=code).stderr)
                refused("env promote", home.run("env", "promote", "local", to, "--kit", "hello", code=7).stderr)
            status, answer = Socket(home).post("/v1/actions/Pin/set", json.dumps({"input": {
                "pins": [{"component": "hello", "environment": to, "release": "hello-1", "state": "Active", "drift": "report"}]}}))
            assert answer["variant"] == variant and status == (202 if code == 10 else 422), answer
            refused("api", answer["detail"])
            (home.folder / "pin.yaml").write_text(PIN.format(to, "hello-1"))
            refused("apply", home.run("apply", "-f", "pin.yaml", code=code).stderr)
            (home.folder / "infra/pins").mkdir(exist_ok=True)
            (home.folder / "infra/pins/pin.yaml").write_text(PIN.format(to, "hello-1") + f"# {variant}\n")
            commit = repository.push(variant)
            eventually(lambda: (home.run("git", "sync", "infra", code=None), source(home)["commit"] == commit)[1])
            ends = "waiting" if variant == "approvalNeeded" else "refused"
            eventually(lambda: source(home)["status"] == ends, lambda: json.dumps(source(home)))
            refused("git", source(home)["message"])
            do(end)
            if variant == "notHealthy":
                eventually(lambda: home.pins()["hello", "local"]["ready"], lambda: json.dumps(list(home.pins().values())))
    finally:
        serve.terminate()
        serve.communicate(timeout=60)


def test_a_forge_says_that_there_is_something_new(home, repository, eventually):
    """GitHub, Gitea and GitLab, each as it proves who it is; what is forged leads to nothing."""
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("git", "watch", repository.url, "--path", "sluice")
    plain = home.environment
    home.environment = lambda: {**plain(), "GIT_WEBHOOK_SECRET": "s3same"}
    serve = home.begin("serve")
    try:
        eventually(lambda: home.run("status", code=None).returncode == 0)
        body = json.dumps({"ref": "refs/heads/main"})
        mac = hmac.new(b"s3same", body.encode(), hashlib.sha256).hexdigest()
        forged = hmac.new(b"another", body.encode(), hashlib.sha256).hexdigest()
        before = len(home.data("flow", "list"))
        for header, value in {"X-Hub-Signature-256": "sha256=" + forged, "X-Gitea-Signature": forged,
                              "X-Gitlab-Token": "another", "X-Other": mac}.items():
            status, answer = Socket(home).post("/v1/git/infra/hook", body, **{header: value})
            assert (status, answer["code"]) == (403, "denied"), (header, answer)
        assert len(home.data("flow", "list")) == before, "nothing was looked at"
        for number, (header, value) in enumerate({"X-Hub-Signature-256": "sha256=" + mac, "X-Gitea-Signature": mac,
                                                  "X-Gitlab-Token": "s3same"}.items()):
            commit = repository.push(header, note=f"# {number}\n", local=PIN.format("local", "hello-1"))
            status, answer = Socket(home).post("/v1/git/infra/hook", body, **{header: value})
            assert (status, answer["source"]) == (202, "infra"), answer
            home.run("flow", "wait", answer["flow"], code=None)
            eventually(lambda: source(home)["applied"] == commit, lambda: json.dumps(source(home)))
        assert home.pins()["hello", "local"]["release"] == "hello-1"
    finally:
        serve.terminate()
        serve.communicate(timeout=60)


def test_what_went_back_is_out_of_sync_until_the_next_commit(home, repository):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    repository.push("deploy", local=PIN.format("local", "hello-1"))
    home.run("git", "watch", repository.url, "--path", "sluice")
    broken = home.copy("hello", "hello-2", "2.0.0")
    (broken / "bundle.yaml").write_text((broken / "bundle.yaml").read_text() + "\nsecrets: [NOBODY_HAS_IT]\n")
    home.release("hello", "2.0.0", "hello-2")
    commit = repository.push("break", local=PIN.format("local", "hello-2"))
    home.run("git", "sync", "infra")
    seen = source(home)
    assert (seen["status"], seen["applied"]) == ("OutOfSync", commit), seen
    assert seen["out_of_sync"][0]["says"] == "hello-2" and "NOBODY_HAS_IT" in seen["out_of_sync"][0]["rejected"]
    assert home.pins()["hello", "local"]["release"] == "hello-1" and home.pins()["hello", "local"]["ready"]
    assert home.run("git", "sync", "infra").stdout.startswith("nothing new")
    assert home.pins()["hello", "local"]["release"] == "hello-1", "the same commit is not tried again"
    repository.push("back", local=PIN.format("local", "hello-1"))
    home.run("git", "sync", "infra")
    assert source(home)["status"] == "synced"


def test_a_running_control_plane_looks_by_itself(home, repository, eventually):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("git", "watch", repository.url, "--path", "sluice")
    serve = home.begin("serve")
    try:
        repository.push("deploy", local=PIN.format("local", "hello-1"))
        eventually(lambda: home.pins().get(("hello", "local"), {}).get("ready"))
    finally:
        serve.terminate()
        serve.communicate(timeout=60)


def test_the_guide_shows_what_is_printed(home, repository, root):
    """docs/guide/gitops.md, with the tests' server in place of its own."""
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    repository.push("first", local=PIN.format("local", "hello-1"))
    shown = [block for words, block, _ in blocks((root / "docs/guide/gitops.md").read_text()) if words == ["sh"]]
    assert len(shown) == 2
    for number, block in enumerate(shown):
        if number == 1:
            (home.folder / "infra/sluice/pins").mkdir()
            repository.push("bad", **{"pins/shop": "apiVersion: openchoreo.dev/v1alpha1\nkind: ReleasePin\n"
                                      "metadata: {name: shop}\nspec:\n  enviroment: local\n"})
            home.run("git", "sync", "infra", code=7)
        for command, expected, _ in commands(block):
            words = command.replace("https://git.example/acme/infra.git", repository.url).split()
            assert words[0] == "sluice"
            printed = home.run(*words[1:]).stdout
            expected = [re.sub(r"\b[0-9a-f]{12}\b", "…", line) for line in expected]
            assert agrees(expected, printed.splitlines()), (command, printed)


def test_a_release_names_a_commit(home, repository, root):
    definitions = Path(home.folder / "infra/sluice")
    commit = repository.push("more", note="# nothing\n")
    reference = f"gitRef: {{repository: \"{repository.url}\", revision: {commit}, path: sluice/%s}}"
    (home.folder / "release.yaml").write_text(f"""apiVersion: openchoreo.dev/v1alpha1
kind: Release
metadata: {{name: hello-git}}
spec:
  component: {{name: hello, {reference % 'hello.yaml'}}}
  componentTypeDefinition: {{name: bundle-app, {reference % 'bundle-app.yaml'}}}
  workload: {{apiVersion: openchoreo.dev/v1alpha1, kind: Workload, metadata: {{name: hello}}, spec: {{image: none, endpoints: [{{name: web, type: http, port: 80}}]}}}}
""")
    home.run("apply", "-f", definitions)
    home.run("apply", "-f", "release.yaml")
    fetched = home.data("releases", "show", "hello-git")
    assert fetched["ready"], fetched["message"]
    home.run("releases", "create", "hello", "--name", "hello-here")
    assert home.data("releases", "show", "hello-here")["identity"] == fetched["identity"]
    # It was fetched once: nobody asks for it again.
    repository.hide()
    assert home.run("apply", "-f", "release.yaml").stdout == "nothing changes\n"
    done = subprocess.run(["sed", "s/hello-git/hello-away/; s/hello.yaml/other.yaml/", "release.yaml"], cwd=home.folder,
                          capture_output=True, text=True, check=True)
    (home.folder / "away.yaml").write_text(done.stdout)
    home.run("apply", "-f", "away.yaml")
    assert not home.data("releases", "show", "hello-away")["ready"]
