"""Templates come from real Git servers (tests/git), as far as the policy allows it; a token goes to its host alone."""

import base64
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "git"))

from test_git import git, servers  # noqa: E402, F401


@pytest.fixture
def shop(deployer, tmp_path):
    """A repository whose folder deploy/shop holds the deployer's own templates; main is one commit further than the tag v1."""
    folder = tmp_path / "work"
    shutil.copytree(deployer.templates, folder / "deploy" / "shop")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", "v1")
    (folder / "deploy" / "shop" / "more.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second")
    return folder


@pytest.fixture
def start(servers, deployer, shop):  # noqa: F811
    """One more server that has the repository, at public/ and at private/; the deployer believes its certificate."""
    roots = deployer.folder / "roots.pem"

    def make(other=None):
        server = servers(other)
        for place in ("public", "private"):
            server.serve(f"{place}/shop.git", shop)
        roots.write_text((roots.read_text() if roots.exists() else "") + (server.folder / "cert.pem").read_text())
        deployer.env["SSL_CERT_FILE"] = str(roots)
        return server

    return make


def render(deployer, url, ref="main", code=0):
    return deployer.run("cluster", "render", "local", "petstore", "-n", "shop", "--values", str(deployer.folder / "values.yaml"),
                        "--repo", url, "--ref", ref, "--path", "deploy/shop", code=code)


def test_LightDeployer29_the_same_commit_and_values_have_the_same_hash(deployer, start, shop):
    server = start()
    deployer.policy(allowedRepoHosts=["localhost"])
    url = server.url("public/shop.git")
    first = render(deployer, url, "v1")
    assert first["commit"] == git(shop, "rev-parse", "v1") and len(first["resources"]) == 3
    deployer.env["LIGHT_DEPLOYER_REMOTE_CACHE_DIR"] = str(deployer.folder)
    assert render(deployer, url, first["commit"])["manifestHash"] == render(deployer, url, "v1")["manifestHash"]
    # Nor does it say where the templates are from.
    assert first["manifestHash"] == deployer.cluster_run("render")["manifestHash"]
    second = render(deployer, url)
    assert second["commit"] == git(shop, "rev-parse", "main") and second["manifestHash"] != first["manifestHash"]


def test_a_deployment_from_a_repository_is_pinned_to_its_commit(deployer, start, shop, served, cluster):
    server = start()
    served.stop()
    deployer.policy(allowedRepoPrefixes=[server.url("public")])
    served.__init__(deployer)

    def asked(**more):
        template = {"repoUrl": server.url("public/shop.git"), "ref": "v1", "path": "deploy/shop", **more}
        return served.ask("POST", "/deployments", served.request(action="deploy", requestId=f"r{len(told)}", template=template))

    told = []
    told.append(asked())
    first = served.ended("r0")
    assert first["status"] == "deployed" and first["templateCommitSha"] == git(shop, "rev-parse", "v1")
    told.append(asked(ref="main"))
    assert served.ended("r1")["templateCommitSha"] == git(shop, "rev-parse", "main") and "more" in cluster.names("configmaps")
    # The folder of the deployer's own templates has nothing to do with a repository.
    for how, says in (({"path": "k8s"}, "has no folder 'k8s'"), ({"ref": "gone"}, "no branch, tag or commit 'gone'"),
                      ({"repoUrl": server.url("public/none.git")}, "there is no such repository")):
        told.append(asked(**how))
        status, body = told[-1]
        assert (status, body["error"]["code"]) == (422, "templateFetchFailed") and says in body["error"]["message"]
    told.append(asked(path="../.."))
    assert told[-1][0] == 403 and "leads out of its repository" in told[-1][1]["error"]["message"]
    told.append(asked(repoUrl=server.url("private/shop.git")))
    assert told[-1][0] == 403 and "repository is not allowed" in told[-1][1]["error"]["message"]
    # Without the repository the deployer goes back all the same.
    shutil.rmtree(server.folder / "repos")
    served.ask("POST", "/deployments", served.request(action="rollback", requestId="back", rollbackSnapshotId="r0"))
    back = served.ended("back")
    assert back["status"] == "rolledBack" and back["templateCommitSha"] == first["templateCommitSha"]
    assert "more" not in cluster.names("configmaps")


def test_LightDeployer30_only_one_of_two_servers_ever_sees_the_token(deployer, start):
    other = start()
    own = start(other.port)  # what is moved/ is said to be there
    sent = base64.b64encode(b"x-access-token:s3same").decode()
    private, foreign = own.url("private/shop.git"), other.url("private/shop.git")
    deployer.env["LIGHT_DEPLOYER_GIT_TOKEN"] = "s3same"

    # A token that might be of either host goes to neither.
    deployer.policy(allowedRepoPrefixes=[own.url(""), other.url("")])
    refused = render(deployer, private, code=7)
    assert "wants a credential" in refused["detail"] and "gitCredentials" in str(refused)
    deployer.policy(allowedRepoHosts=["*", "localhost"])
    assert "wants a credential" in render(deployer, private, code=7)["detail"]
    assert "Basic" not in own.log()

    # It is of the one that is allowed, and follows no redirect.
    deployer.policy(allowedRepoPrefixes=[own.url("")])
    assert len(render(deployer, private)["resources"]) == 4
    assert f"[Basic {sent}]" in own.log()
    assert "repository is not allowed" in render(deployer, foreign, code=4)["detail"]
    assert "redirects" in render(deployer, own.url("moved/shop.git"), code=7)["detail"]

    # The policy may say whose a token is, where several are allowed.
    del deployer.env["LIGHT_DEPLOYER_GIT_TOKEN"]
    (deployer.folder / "token").write_text("s3same\n")
    deployer.policy(allowedRepoPrefixes=[own.url(""), other.url("")], gitCredentials=[
        {"host": f"localhost:{own.port}", "tokenFile": str(deployer.folder / "token")}])
    shutil.rmtree(deployer.home / "repositories")
    assert len(render(deployer, private)["resources"]) == 4
    assert "wants a credential" in render(deployer, foreign, code=7)["detail"]
    assert len(render(deployer, other.url("public/shop.git"))["resources"]) == 4
    assert "redirects" in render(deployer, own.url("moved/shop.git"), code=7)["detail"]
    (deployer.folder / "token").write_text("wrong")
    shutil.rmtree(deployer.home / "repositories")
    refused = render(deployer, private, code=7)["detail"]
    assert "refuses the credential" in refused and "wrong" not in refused
    assert other.log().count(" [-]\n") == len(other.log().splitlines()) > 0


def test_a_host_that_only_a_star_allows_must_be_public(deployer, start):
    server = start()
    deployer.policy(allowedRepoHosts=["*"])
    refused = render(deployer, server.url("public/shop.git"), code=7)["detail"]
    assert "127.0.0.1" in refused and server.log() == ""
    deployer.policy(allowedRepoHosts=["*", "localhost"])
    assert len(render(deployer, server.url("public/shop.git"))["resources"]) == 4
