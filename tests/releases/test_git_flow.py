"""A branch of a real Git server (tests/git) is kept applied: deploy, promote by a merge, a bad commit, a force-push, and a
server that is away. The repository gets no commit."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "git"))

from test_git import git, servers  # noqa: E402, F401

PIN = """apiVersion: openchoreo.dev/v1alpha1
kind: ReleasePin
metadata: {{name: hello-{0}}}
spec: {{component: hello, environment: {0}, releaseName: {1}}}
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

    # While the server is away everything runs on.
    repository.hide()
    home.run("git", "sync", "infra", code=1)
    assert source(home)["status"] == "failed" and home.pins()["hello", "local"]["ready"]
    repository.show()
    home.run("git", "sync", "infra")
    assert source(home)["status"] == "synced"
    assert repository.head() == rewritten, "nothing was written there"


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
