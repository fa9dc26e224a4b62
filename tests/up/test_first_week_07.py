"""An environment as a file: what differs is found, all of it is checked before the first change, and with --wait the file is
true in the end. Exports name archives by digest, and bring back what was taken away."""

import subprocess

import pytest
from up_home import Home, get


def apply(home, text, *words, code=0):
    done = subprocess.run([str(home.sluice), "env", "apply", "-f", "-", *words], input=text, capture_output=True, text=True,
                          cwd=home.folder, env=home.environment(), timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def built(home, version, to):
    home.run("bundles", "build", home.copy("hello", to, version=version), "--out", f"{to}.bundle")
    return home.folder / f"{to}.bundle"


def test_first_week_07_another_archive_is_a_change_and_wait_makes_it_true(home):
    url = home.up(home.copy("hello", "app"))["urls"][0]
    exported = home.run("env", "export", "local").stdout
    assert "local is as - says" in apply(home, exported, "--exit-code").stderr
    archive = built(home, "2.0.0", "two")
    digest = next(line for line in exported.splitlines() if "bundle_source_uri" in line).split(": ", 1)[1]
    other = exported.replace(digest, str(archive))
    assert apply(home, other, "--exit-code", code=3).stdout != ""
    apply(home, other, "--wait")
    assert get(url) == (200, "hello 2.0.0\n")
    assert "local is as - says" in apply(home, home.run("env", "export", "local").stdout, "--exit-code").stderr


def test_first_week_07_everything_is_checked_before_the_first_change(home):
    home.up(home.copy("hello", "app"))
    text = home.run("env", "export", "local").stdout.replace("name: Local", "name: Other")
    refused = apply(home, text + "nonsense: 1\n", code=1)
    assert "nothing was changed" in refused.stderr
    assert home.data("env", "show", "local")["name"] == "Local"


@pytest.mark.parametrize("where", ["same home", "another home"])
def test_first_week_08_export_destroy_apply_brings_it_back(home, sluice, root, tmp_path, where):
    """In local and outside of it, with settings, routes and signatures; on another home with the archives beside the file."""
    archive = built(home, "1.0.0", "app")
    url = home.up(home.copy("hello", "own"))["urls"][0]
    home.run("env", "create", "prod", "--extends", "local")
    home.run("trust", "bootstrap", "--env", "prod")
    home.run("bundles", "add", "prod", archive, "--customer-id", "acme", "--host", "acme.example")
    home.run("revisions", "warm", "prod", "hello@1")
    home.run("traffic", "set", "prod", "hello@1=100%")
    moved = home.folder / "moved"
    exported = {}
    for environment in ("local", "prod"):
        exported[environment] = home.run("env", "export", environment).stdout
        assert exported[environment].count("bundle_source_uri: sha256:") == 1
        home.run("env", "export", environment, "--to", moved)
        assert (moved / f"{environment}.yaml").read_text() == exported[environment]
    for file in (archive, home.folder / "app.bundle.sig.json"):
        file.unlink(missing_ok=True)

    def is_back(one):
        """Whether the environments are what the files say, and serve."""
        for environment in ("local", "prod"):
            text = (moved / f"{environment}.yaml").read_text()
            again = subprocess.run([str(sluice), "env", "apply", "-f", "-", "--exit-code"], input=text, capture_output=True,
                                   text=True, env=one.environment(), cwd=moved, timeout=120)
            assert again.returncode == 0, again.stdout + again.stderr
        deployed, = one.data("bundles", "list", "prod")
        assert (deployed["customer_id"], deployed["route_binding"]["hosts"]) == ("acme", ["acme.example"])
        revision, = one.data("revisions", "list", "prod")
        assert (revision["lifecycle"], revision["signature"]) == ("ready", "verified")

    if where == "same home":
        home.run("down", "hello")
        home.run("down", "hello", "--env", "prod")
        home.run("env", "destroy", "prod", "--yes")
        for environment in ("prod", "local"):
            apply(home, exported[environment], "--wait")
        is_back(home)
        assert get(url) == (200, "hello 1.0.0\n")
        return
    (tmp_path / "second").mkdir()
    second = Home(sluice, root, tmp_path / "second")
    try:
        refused = apply(second, exported["prod"], "--wait", code=1)
        assert "there is no archive sha256:" in refused.stderr and "nothing was changed" in refused.stderr
        assert [each["environment_id"] for each in second.data("env", "list")] == ["local"]
        public = home.folder / "operator.pem"
        public.write_text(operator_key(home))
        second.run("trust", "bootstrap", "--env", "local")
        refused = second.run("env", "apply", "-f", moved / "prod.yaml", "--wait", code=1)
        assert "nothing was changed" in refused.stderr and "which is not in the trust root" in refused.stderr
        assert [each["environment_id"] for each in second.data("env", "list")] == ["local"]
        second.run("trust", "add", public, "--env", "prod", "--label", "first-home")
        for environment in ("prod", "local"):
            second.run("env", "apply", "-f", moved / f"{environment}.yaml", "--wait")
        is_back(second)
        url = second.up(second.copy("hello", "own"))["urls"][0]
        assert get(url) == (200, "hello 1.0.0\n")
    finally:
        second.stop()


def test_first_week_07_a_missing_secret_is_known_before_the_first_change(home):
    folder = home.copy("hello", "app")
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "secrets: [API_KEY]\n")
    home.run("bundles", "build", folder, "--out", "app.bundle")
    text = ("schema: sluice.environment.v1\nenvironment_id: staging\nextends: local\nname: Other\nbundles:\n"
            "- {bundle_id: hello, customer_id: acme, bundle_source_uri: app.bundle, route_binding: {path_prefixes: [/]}}\n")
    home.run("trust", "bootstrap", "--env", "staging")
    refused = apply(home, text, "--wait", code=1).stderr
    assert "staging needs secrets that it does not have: hello/API_KEY; nothing was changed\n" in refused, refused
    assert refused.endswith("next:  sluice do Env/create environment=staging extends=local, "
                            "then sluice secrets put staging hello/API_KEY\n"), refused
    assert [each["environment_id"] for each in home.data("env", "list")] == ["local"]
    home.run("env", "create", "staging", "--extends", "local")
    refused = apply(home, text, "--wait", code=1).stderr
    assert refused.endswith("next:  sluice secrets put staging hello/API_KEY\n"), refused
    assert home.data("env", "show", "staging")["name"] == "staging"
    (home.folder / "value").write_text("x")
    home.run("secrets", "put", "staging", "hello/API_KEY", "--file", "value")
    apply(home, text, "--wait")
    assert home.data("env", "show", "staging")["name"] == "Other"


def test_first_week_08_replicas_health_and_answers_are_exported(home, sluice, root, tmp_path):
    folder = home.copy("hello", "app")
    manifest = folder / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "config: [{name: color, question: Which?, default: red}]\n")
    (home.folder / "app.deploy.yaml").write_text(
        "app: {name: shop, version: 1.0.0}\ncomponents:\n  hello: {folder: ./app, health: {start_within: 40s}}\n")
    home.run("deploy", home.folder, "--yes")
    home.run("config", "set", "local", "--bundle", "hello", "color=blue")
    home.run("config", "apply", "local")
    home.run("revisions", "warm", "local", "hello@2")
    home.run("traffic", "set", "local", "hello@2=100%")
    home.run("scale", "hello", "2")
    exported = home.run("env", "export", "local", "--to", home.folder / "moved")
    text = (home.folder / "moved/local.yaml").read_text()
    assert "replicas: 2" in text and "start_within: 40s" in text and "color: blue" in text, text + exported.stderr
    assert "local is as - says" in apply(home, text, "--exit-code").stderr
    (tmp_path / "second").mkdir()
    second = Home(sluice, root, tmp_path / "second")
    try:
        second.run("env", "apply", "-f", home.folder / "moved/local.yaml", "--wait")
        assert second.run("env", "export", "local").stdout == text
        assert len(second.replicas()) == 2
        scaled = text.replace("replicas: 2", "replicas: 1")
        second.run("env", "apply", "-f", "-", "--wait", input=scaled)
        assert second.run("env", "export", "local").stdout == scaled
    finally:
        second.stop()


def operator_key(home):
    """The public key of the home's operator, as PEM."""
    done = subprocess.run(["openssl", "pkey", "-in", home.home / "keys/operator.pem", "-pubout"], capture_output=True, text=True,
                          check=True)
    return done.stdout
