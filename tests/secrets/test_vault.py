"""Secrets from a Vault, and an environment that changes where its secrets are kept while its programs run."""

import json
import shutil
import subprocess

import pytest
from test_secrets import answers, put, shown
from vault_server import Vault


@pytest.fixture
def vault():
    one = Vault()
    yield one
    one.stop()


def bind(home, kind, code=0, **said):
    file = home.folder / f"{kind}.yaml"
    file.write_text("".join(f"{key}: {value}\n" for key, value in said.items()))
    return home.run("env-packs", "update", "local", f"sluice.secrets.{kind}@1.0.0", "--slot", "secrets", "--answers-ref",
                    file, code=code)


def bind_vault(home, vault, **more):
    token = home.folder / "token"
    token.write_text(vault.root + "\n")
    return bind(home, "vault", address=vault.address, token_file=token, **more)


def bound(home):
    return next(each["kind"] for each in home.data("env-packs", "list", "local") if each["slot"] == "secrets")


def keep_in(vault, value):
    vault.answer("POST", "/v1/secret/data/local/keeper/TOKEN", vault.root, {"data": {"value": value}})


def test_store_vault_store_while_it_runs(home, keeper, vault):
    put(home, "in the store")
    url = home.up(keeper)["urls"][0]
    programs = home.replicas()
    refused = bind_vault(home, vault, code=6)
    assert "sluice.secrets.vault@1.0.0 was not bound: it has no keeper/TOKEN, which is in use" in refused.stderr
    assert bound(home) == "sluice.secrets.store@1.0.0", "the pack before serves as it did"
    keep_in(vault, "in the vault")
    bind_vault(home, vault)
    assert home.replicas() == programs and answers(url) == {shown("in the store")}
    asked = len(vault.log)
    assert put(home, "in the vault, too").stdout == "kept  keeper/TOKEN in local, version 2\n"
    assert len(vault.log) > asked
    home.change(keeper, "2.0.0")
    home.up(keeper)
    assert answers(url) == {shown("in the vault, too")}
    assert vault.asked("secret/data/local/keeper/TOKEN?version=2")
    programs = home.replicas()
    home.run("env-packs", "rollback", "local", "secrets")
    asked = len(vault.log)
    assert set(programs) <= set(home.replicas())
    home.change(keeper, "3.0.0")
    home.up(keeper)
    assert answers(url) == {shown("in the store")}
    assert len(vault.log) == asked, "the next resolve goes to the store"


def test_a_new_version_in_the_vault_reaches_the_program(home, keeper, vault, eventually):
    home.run("secrets", "list", "local")
    bind_vault(home, vault)
    put(home, "one")
    url = home.up(keeper)["urls"][0]
    keep_in(vault, "two")
    eventually(lambda: answers(url, 10) == {shown("two")}, "the programs never got it")


def test_a_vault_that_cannot_answer_is_named(home, keeper, vault):
    home.run("secrets", "list", "local")
    bind_vault(home, vault)
    put(home, "one")
    vault.sealed = True
    failed = home.run("up", keeper, "--detach", code=7)
    assert f"the Vault at {vault.address} is sealed" in failed.stderr
    vault.sealed = False
    vault.tokens.clear()
    failed = home.run("up", keeper, "--detach", code=7)
    assert "it has expired or was revoked" in failed.stderr and vault.root not in failed.stdout + failed.stderr


def test_a_slow_vault_is_asked_again(home, keeper, vault):
    home.run("secrets", "list", "local")
    bind_vault(home, vault)
    put(home, "one")
    vault.slow = {"secret/data/local/keeper/TOKEN": 1}
    url = home.up(keeper)["urls"][0]
    assert vault.slow == {"secret/data/local/keeper/TOKEN": 0} and answers(url) == {shown("one")}


NONSENSE = {
    "no JSON": (200, b"<html>it works</html>"),
    "no object": (200, b"[1, 2]"),
    "no data": (200, b"{}"),
    "data that are a number": (200, b'{"data": {"data": 5, "metadata": {"version": 1}}}'),
    "a value that is no text": (200, b'{"data": {"data": {"value": {"a": 1}}, "metadata": {"version": 1}}}'),
    "a version that is none": (200, b'{"data": {"data": {"value": "x"}, "metadata": {"version": "new"}}}'),
    "deep": (200, b"[" * 100_000),
    "bytes": (200, bytes(range(128, 256)) * 64),
    "another server": (302, b"moved"),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_vault_that_answers_nonsense_is_named_and_nothing_is_half_done(home, keeper, vault, kind):
    put(home, "in the store")
    url = home.up(keeper)["urls"][0]
    keep_in(vault, "in the vault")
    bind_vault(home, vault)
    programs = home.replicas()
    home.change(keeper, "2.0.0")
    vault.raw = NONSENSE[kind]
    failed = home.run("up", keeper, "--detach", code=7)
    assert vault.address in failed.stderr, failed.stderr
    assert "in the vault" not in failed.stdout + failed.stderr
    assert home.replicas() == programs and answers(url) == {shown("in the store")}
    vault.raw = None
    home.up(keeper)
    assert answers(url) == {shown("in the vault")}


def test_a_pack_that_does_not_answer_is_not_bound_over_secrets_in_use(home, keeper):
    vault = Vault()
    put(home, "in the store")
    url = home.up(keeper)["urls"][0]
    for trouble in ("nonsense", "away"):
        if trouble == "nonsense":
            vault.answer = lambda *_: (200, ["no", "vault"])
        else:
            vault.stop()
        refused = bind_vault(home, vault, code=6)
        assert "does not say whether it has keeper/TOKEN" in refused.stderr, refused.stderr
        assert bound(home) == "sluice.secrets.store@1.0.0"
    assert answers(url) == {shown("in the store")}
    home.run("env-packs", "update", "local", "sluice.secrets.env@1.0.0", "--slot", "secrets", "--allow-missing")
    assert bound(home) == "sluice.secrets.env@1.0.0"


def test_tls_and_approle(home, keeper, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=vault.example", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_text(key.read_text() + certificate.read_text())
    vault = Vault(both)
    try:
        secret_id = home.folder / "secret-id"
        secret_id.write_text("secret-id")
        home.run("secrets", "list", "local")
        said = {"address": vault.address, "auth": "approle", "role_id": "role", "secret_id_file": secret_id}
        bind(home, "vault", **said)
        assert "its certificate is not to be believed" in put(home, "one", code=1).stderr
        bind(home, "vault", **said, ca_file=certificate)
        put(home, "one")
        url = home.up(keeper)["urls"][0]
        assert answers(url) == {shown("one")}
    finally:
        vault.stop()


def test_variables_and_files_are_read_and_never_written(home, keeper, eventually):
    home.run("secrets", "list", "local")
    file = home.folder / "app.env"
    file.write_text("KEEPER_TOKEN='from a file'\n")
    bind(home, "dotenv", file=file)
    url = home.up(keeper)["urls"][0]
    assert answers(url) == {shown("from a file")}
    assert "changed by hand" in put(home, "x", code=1).stderr
    file.write_text("KEEPER_TOKEN='another one'\n")
    eventually(lambda: answers(url, 10) == {shown("another one")}, "the programs never got it")


@pytest.fixture(scope="session")
def node_vault(root, tmp_path_factory):
    """npm's client of Vault, in a folder of its own."""
    folder = tmp_path_factory.mktemp("node-vault")
    for name in ("package.json", "package-lock.json", "drive.cjs"):
        shutil.copy(root / "tests/secrets/node-vault" / name, folder)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def test_another_client_of_vault_agrees_on_the_wire(home, vault, node_vault):
    """What Sluice writes node-vault reads, and the other way round."""
    def drive(*words):
        done = subprocess.run(["node", "drive.cjs", vault.address, vault.root, *words], cwd=node_vault,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    home.run("secrets", "list", "local")
    bind_vault(home, vault)
    put(home, "from sluice")
    assert drive("read", "secret/data/local/keeper/TOKEN")["data"]["data"]["value"] == "from sluice"
    assert drive("write", "secret/data/local/keeper/TOKEN", "from node")["data"]["version"] == 2
    assert home.run("secrets", "rotate", "local", "keeper/TOKEN").stdout.endswith("version 3\n")
    assert drive("status")["sealed"] is False


def test_built_in_packs_ask_for_what_they_need(home, keeper, vault):
    home.run("secrets", "list", "local")
    update = ["env-packs", "update", "local", "sluice.secrets.vault@1.0.0"]
    schema = home.data(*update, "--schema")
    assert schema["properties"]["auth"]["enum"] == ["token", "approle", "kubernetes"]
    token, answers_file = home.folder / "token", home.folder / "answers.yaml"
    token.write_text(vault.root)
    said = f"address: {vault.address}\n"
    for more, why in (("", "token_file has no answer: Which file has the token?; nothing was changed"),
                      ("auth: approle\nrole_id: role\n", "secret_id_file has no answer"),
                      ("auth: magic\n", "is none of the choices"),
                      ("token_file: token\n", "token_file: it does not match"),
                      (f"tokenfile: {token}\n", "did you mean token_file?")):
        answers_file.write_text(said + more)
        assert why in home.run(*update, "--answers", answers_file, code=1).stderr
        assert bound(home) == "sluice.secrets.store@1.0.0"
    answers_file.write_text(said + f"token_file: {token}\n")
    home.run(*update, "--answers", answers_file)
    answers_file.unlink()
    put(home, "one")
    assert vault.asked("secret/data/local/keeper/TOKEN") and bound(home) == "sluice.secrets.vault@1.0.0"
    assert answers(home.up(keeper)["urls"][0]) == {shown("one")}
    setup = {each["slot"]: each["answers"] for each in home.data("config", "show", "local")["setup"]}
    assert setup["secrets"] == {"address": vault.address, "auth": "token", "token_file": str(token)}
    bind_vault(home, vault, path="elsewhere", code=6)  # a file of answers holds whole, and there is no such secret there
