"""A verifier made from the documentation agrees with Sluice on artifacts, good and bad."""

import copy
import json
import subprocess
from datetime import datetime, timezone

import pytest

import verify_mesh

NOW = datetime(2026, 9, 1, tzinfo=timezone.utc)


@pytest.fixture(scope="session")
def example(root):
    return root / "examples" / "mesh"


def leaves(value, path=()):
    """The path of every leaf."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
        return
    for key, each in items:
        yield from leaves(each, (*path, key))


def changed(envelope, path):
    made = copy.deepcopy(envelope)
    node = made
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = node[path[-1]] + (1 if isinstance(node[path[-1]], int) else "x")
    return made


def holds(envelope, trust):
    try:
        return bool(verify_mesh.verify(json.dumps(envelope), trust, NOW))
    except Exception:  # whatever is wrong with it
        return False


def test_a_verifier_made_from_the_docs_agrees_and_any_changed_leaf_fails(sluice, example, tmp_path):
    trust_file = example / "trust.json"
    trust = json.loads(trust_file.read_text())
    files = sorted((example / "alpha").rglob("*.json"))
    assert len(files) == 4
    for file in files:
        envelope = json.loads(file.read_text())
        assert holds(envelope, trust)
        for path in leaves(envelope):
            assert not holds(changed(envelope, path), trust), path
    # Sluice on one changed leaf of each; its unit tests change them all.
    for file in files:
        envelope = json.loads(file.read_text())
        bad = tmp_path / file.name
        bad.write_text(json.dumps(changed(envelope, ("version",))))
        done = subprocess.run([sluice, "mesh", "verify", bad, "--trust", trust_file], capture_output=True, text=True,
                              env={"HOME": str(tmp_path)})
        if file.name == "agent.json":  # a set without its vertices
            assert done.returncode == 1
        else:
            assert done.returncode == 11 and "does not hold" in done.stderr, done.stderr


def test_a_folder_is_judged_as_the_agent_would(sluice, example, tmp_path):
    done = subprocess.run([sluice, "mesh", "verify", example / "alpha", "--trust", example / "trust.json", "-o", "json"],
                          capture_output=True, text=True, env={"HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert {each["artifact"]: each["version"] for each in json.loads(done.stdout)["artifacts"]} == {
        "alpha/mgmt/agent/agent": 42, "alpha/mgmt/vertex/public": 42, "alpha/mgmt/vertex/rete": 42,
        "alpha/ctrl/vertex/rete": 17}


def test_it_verifies_what_an_operator_has_compiled_and_signed(sluice, tmp_path):
    def run(*words):
        done = subprocess.run([sluice, "mesh", *words], capture_output=True, text=True, env={"HOME": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    folder = tmp_path / "acme"
    for words in (["init", folder], ["ca", folder], ["sign", folder]):
        run(*words)
    trust = json.loads((folder / "trust.json").read_text())
    files = sorted((folder / "compiled").rglob("*.json"))
    assert len(files) == 3 * 5  # of each node: agent, link, mesh, ctrl, and the first of its chain
    for file in files:
        assert holds(json.loads(file.read_text()), trust), file
    assert run("verify", folder / "compiled", "--trust", folder / "trust.json")
