"""What an operator lets a machine start: whoever has the control plane starts no revision beyond it."""

import base64
import json
import os
import signal
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from up_home import Home, get


@pytest.fixture
def bound(sluice, root, tmp_path):
    """A home whose machine is bound by what is in the folder `bounds`, once there is something."""

    class Bound(Home):
        def environment(self):
            return {**super().environment(), "SLUICE_BOUNDS": str(tmp_path / "bounds")}

        def give(self, text):
            """Signs bounds with a key that the home does not have."""
            (tmp_path / "bounds").mkdir(exist_ok=True)
            pem, source = tmp_path / "bounds.pem", tmp_path / "bounds.yaml"
            if not pem.exists():
                subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True)
            source.write_text(text)
            signed = self.run("bounds", "sign", source, "--key", pem, "--out", tmp_path / "signed")
            os.rename(tmp_path / "signed", tmp_path / "bounds/local.json")
            subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-out", tmp_path / "bounds/local.pub"], check=True)
            return signed

    one = Bound(sluice, root, tmp_path)
    yield one
    one.stop()


def rules(version, revisions, bundle="hello"):
    return json.dumps({"schema": "sluice.router-bounds.v1", "environment": "local", "version": version,
                       "deployments": [{"bundles": [{"type": "enum", "members": [bundle]}], "hosts": [{"type": "any"}],
                                        "prefixes": [{"type": "any"}], "revisions": revisions,
                                        "upstreams": [{"type": "any"}]}],
                       "trusted_proxies": [], "debug_keys": [{"type": "any"}]})


def test_no_revision_is_started_that_the_operator_did_not_allow(bound, eventually):
    folder = bound.copy("hello", "app")
    first = bound.up(folder)
    bound.run("config", "set", "local", "revision_proofs=digest")

    def served():
        return bound.data("bounds", "plan")["deployments"][0]["revisions"][0]

    eventually(lambda: served()["type"] == "enum", served)
    bound.give(rules(1, [served()]))
    # Another version is staged by the control plane, and not started here.
    bound.change(folder, "1.0.1")
    refused = bound.run("up", folder, "--detach", code=None)
    assert refused.returncode != 0 and "beyond the operator's bounds (version 1): its tree is sha256:" in refused.stderr, (
        refused.stdout + refused.stderr)
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    # What runs is started again after a crash.
    (pid,) = bound.replicas()
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: bound.replicas() not in ([], [pid]))
    eventually(lambda: get(first["urls"][0])[0] == 200)
    # Bounds that name who releases let it pass.
    key = serialization.load_pem_private_key((bound.home / "keys/operator.pem").read_bytes(), None)
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    bound.give(rules(2, [{"type": "signed_by", "keys": [base64.b64encode(raw).decode()]}]))
    second = bound.up(folder)
    assert get(second["urls"][0]) == (200, "hello 1.0.1\n")
    # A tree that was changed after it was unpacked is not started again.
    (pid,) = bound.replicas()[-1:]
    state = next(s for s in (bound.home / "runtime/replicas").glob("*/state.json")
                 if (json.loads(s.read_text()).get("program") or {}).get("pid") == pid)
    root = json.loads((state.parent / "launch.json").read_text())["workload"]["root"]
    with open(next(os.path.join(root, name) for name in os.listdir(root) if name != "bundle.yaml"), "a") as file:
        file.write("\n")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: "it is not started: beyond the operator's bounds" in (state.parent / "log/replica.log").read_text(),
               lambda: (state.parent / "log/replica.log").read_text())
    assert pid not in bound.replicas()


def test_a_bundle_that_no_rule_names_is_not_started(bound):
    folder = bound.copy("hello", "app")
    bound.give(rules(1, [{"type": "any"}], bundle="another"))
    refused = bound.run("up", folder, "--detach", code=None)
    assert refused.returncode != 0 and "the bundle hello" in refused.stderr, refused.stderr
