"""A mesh that is too large for one call: published in parts, which nobody sees."""

import json
import os
import subprocess

import pytest

NODES = 100


@pytest.fixture
def run(sluice, tmp_path):
    environment = {"HOME": str(tmp_path), "SLUICE_HOME": str(tmp_path / "h"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def one(*words, code=0):
        done = subprocess.run([sluice, *map(str, words)], capture_output=True, text=True, env=environment, timeout=300)
        assert done.returncode == code, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    yield one
    one("stop", "--timeout", "60s")


def describe(folder, nodes):
    """A ring of nodes, on each of which a user reaches ten services."""
    names = [f"n{i}" for i in range(nodes)]
    text = "nodes:\n"
    for i, name in enumerate(names):
        text += (f"  {name}:\n    vertices:\n"
                 f"      - {{ name: public, kind: link, type: quic, address: 198.51.100.{i + 1}:4433 }}\n"
                 "      - { name: rete, kind: mesh, type: quic, uses: [public] }\n")
    text += "allowed_links:\n  - type: enum\n    links:\n"
    for i, name in enumerate(names):
        text += f"      - {{ a: {name}, b: {names[(i + 1) % nodes]}, via: public }}\n"
        text += f"      - {{ a: {name}, b: {names[(i + 9) % nodes]}, via: public }}\n"
    (folder / "nodes.yaml").write_text(text)
    services = {f"api{i}": (f"n{i * 9}", 8000 + i, "api") for i in range(10)}
    services |= {"config-server": ("n0", 9000, "config-read"), "config-publisher": ("n0", 9001, "config-write")}
    text = "services:\n"
    for name, (at, port, group) in services.items():
        text += f"  {name}: {{ at: {at}, via: rete, addr: 127.0.0.1:{port}, groups: [{group}] }}\n"
    text += ("groups: { config-read: , config-write: , api: }\nroles:\n  node: { allow: [config-read] }\n"
             "  operator: { allow: [config-write] }\n  developer: { allow: [api] }\nusers:\n"
             "  olga: { roles: [operator], nodes: [ { at: n0, via: rete } ] }\n")
    for name in names:
        text += f"  u-{name}: {{ roles: [developer], nodes: [ {{ at: {name}, via: rete }} ] }}\n"
    (folder / "access.yaml").write_text(text)
    return names


def test_a_mesh_that_is_too_large_for_one_call_is_published(run, tmp_path):
    folder = tmp_path / "acme"
    run("mesh", "init", folder)
    names = describe(folder, NODES)
    run("mesh", "ca", folder)
    run("mesh", "sign", folder)
    bytes_there = sum(each.stat().st_size for each in (folder / "compiled").rglob("*.json"))
    assert bytes_there > 3 << 20, "of which several parts are made"

    done = json.loads(run("mesh", "publish", folder, "-o", "json"))
    assert (sorted(done["changed"]), done["held"], done["gone"]) == (sorted(names), [], [])
    assert json.loads(run("mesh", "publish", folder, "-o", "json"))["changed"] == []
    shown = json.loads(run("mesh", "status", "-o", "json"))
    assert {each["node"]: (each["version"], each["state"]) for each in shown} == {name: (1, "unseen") for name in names}

    # Whoever is first is first, in whichever part they are.
    access = folder / "access.yaml"
    access.write_text(access.read_text().replace("developer: { allow: [api] }", "developer: { allow: [api, config-read] }"))
    run("mesh", "sign", folder)
    done = json.loads(run("mesh", "publish", folder, "--first", "n90,n9", "-o", "json"))
    assert done["changed"] == ["n9", "n90"]
    assert sorted(done["held"]) == sorted(set(names) - {"n90", "n9"})
