"""What this version cannot do is refused before anything begins, by the version's name."""

import re


def version(home):
    return re.match(r"sluice (\S+)", home.run("--version").stdout).group(1)


def bundle(home, more):
    folder = home.folder / "app"
    folder.mkdir(exist_ok=True)
    (folder / "bundle.yaml").write_text(f'name: app\nversion: "1.0.0"\n{more}')
    return folder


def test_transports_are_refused_at_parse_time(home):
    for more, path, said in [
        ("run: [./app]\ntransport: tcp\n", "4:1: /transport", 'expected one of http, http2, found "tcp"'),
    ]:
        folder = bundle(home, more)
        for words in [("bundles", "build", folder, "--out", "app.bundle"), ("up", folder, "--detach")]:
            refused = home.run(*words, code=1).stderr
            assert f"bundle.yaml:{path}: {said}" in refused
    assert not (home.folder / "app.bundle").exists() and home.replicas() == []


def test_packs_that_this_version_lacks_are_refused(home):
    refused = home.run("env-packs", "update", "local", "sluice.deployer.ecs@1.0.0", code=None)
    assert refused.returncode != 0
    assert (f"Sluice {version(home)} has no pack sluice.deployer.ecs@1.0.0; for the slot deployer it has "
            "sluice.deployer.local-process@1.0.0 or sluice.deployer.container@1.0.0 or "
            "sluice.deployer.k8s@1.0.0") in refused.stderr
    packs = home.data("env-packs", "list", "local")
    assert "sluice.deployer.local-process@1.0.0" in [each["kind"] for each in packs]


def test_help_and_readme_promise_nothing_that_is_not_there(home):
    told = " ".join((home.run("help", "glossary").stdout + home.run("help", "bundle-yaml").stdout).split())
    for word in ["k8s", "promoted"]:
        assert word not in told
    opening = (home.root / "README.md").read_text().split("## Two commands")[0]
    for word in ["plans a deployment", "MCP"]:
        assert word not in opening
