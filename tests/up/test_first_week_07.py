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


def operator_key(home):
    """The public key of the home's operator, as PEM."""
    done = subprocess.run(["openssl", "pkey", "-in", home.home / "keys/operator.pem", "-pubout"], capture_output=True, text=True,
                          check=True)
    return done.stdout
