"""An independent verifier, written from the documentation, agrees with Sluice on sidecars that Sluice made, good and
bad, by trust roots that `sluice trust` made."""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

NOW = "2030-06-01T00:00:00Z"
TREE = "sha256:" + hashlib.sha256(b"tree").hexdigest()


class Shop:
    """A folder with an archive, keys a, b and c, and a home whose trust root a test fills."""

    def __init__(self, folder, build_dir):
        self.folder = folder
        self.build_dir = build_dir
        self.archive = folder / "shop.sqfs"
        self.archive.write_bytes(b"an archive")
        self.sidecar = folder / "shop.sqfs.sig.json"
        self.root = folder / "root.json"
        for name in "abc":
            self.run(build_dir / "crypto_tool", "generate", self.key(name))
            public = self.run(build_dir / "crypto_tool", "public", self.key(name)).stdout
            self.public(name).write_text(public)

    def key(self, name):
        return self.folder / f"{name}.pem"

    def public(self, name):
        return self.folder / f"{name}.pub"

    def id(self, name):
        return self.run(self.build_dir / "crypto_tool", "id", self.key(name)).stdout.strip()

    def run(self, *words, fails=False):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                              env={"SLUICE_HOME": str(self.folder / "home"), "PATH": "/usr/bin:/bin"})
        assert fails or done.returncode == 0, done.stderr
        return done

    def trust(self, *words):
        self.run(self.build_dir / "sluice", "trust", *words)
        self.root.write_text(self.run(self.build_dir / "sluice", "trust", "export").stdout)

    def sign(self, names, bundle="shop"):
        self.run(self.build_dir / "sidecar_tool", "sign", self.archive, TREE, bundle, *map(self.key, names))

    def change(self, edit):
        """Edits the sidecar's JSON."""
        envelope = json.loads(self.sidecar.read_text())
        edit(envelope)
        self.sidecar.write_text(json.dumps(envelope))

    def verdicts(self, bundle="shop", env="staging", tree=TREE, now=NOW):
        """(exit code, ids or clause) of Sluice and of the independent verifier."""
        ours = self.run(self.build_dir / "sidecar_tool", "judge", self.archive, self.root, tree, bundle, env, now,
                        fails=True)
        script = Path(__file__).parent / "verify_sidecar.py"
        theirs = self.run(sys.executable, script, self.sidecar, "--trust", self.root, "--bundle", bundle, "--env", env,
                          "--tree", tree, "--archive", self.archive, "--now", now, fails=True)
        assert ours.stderr + theirs.stderr == ""
        assert len(ours.stdout.splitlines()) >= 1
        return [(done.returncode, done.stdout.split(": ")[0] if done.returncode else done.stdout.split())
                for done in (ours, theirs)]

    def both_say(self, *expected, **asked):
        ours, theirs = self.verdicts(**asked)
        assert ours == expected
        assert theirs == expected


@pytest.fixture
def shop(tmp_path, build_dir):
    return Shop(tmp_path.resolve(), build_dir)


@pytest.fixture
def trusted(shop):
    """Key a is trusted for shop* in staging until 2031, and has signed."""
    shop.trust("add", shop.public("a"), "--env", "staging", "--bundle", "shop*", "--label", "Ann",
               "--not-before", "2030-01-01", "--expires", "2031-01-01")
    shop.sign("a")
    return shop


def test_the_good_one_passes(trusted):
    trusted.both_say(0, [trusted.id("a")])


def test_payload_changed(trusted):
    trusted.both_say(11, "payload changed", tree="sha256:" + "0" * 64)
    trusted.both_say(11, "payload changed", bundle="shop2")
    trusted.archive.write_bytes(b"another archive")
    trusted.both_say(11, "payload changed")


def flipped(text):
    data = bytearray(base64.b64decode(text))
    data[7] ^= 1
    return base64.b64encode(data).decode()


def test_signature_changed(trusted):
    trusted.change(lambda envelope: envelope["signatures"][0].update(sig=flipped(envelope["signatures"][0]["sig"])))
    trusted.both_say(11, "signature changed")


def test_a_payload_changed_inside_the_sidecar(trusted):
    trusted.change(lambda envelope: envelope.update(payload=flipped(envelope["payload"])))
    trusted.both_say(11, "signature changed")


def test_sidecar_missing(trusted):
    trusted.sidecar.unlink()
    trusted.both_say(11, "sidecar missing")


@pytest.mark.parametrize("edit", [
    lambda envelope: envelope.update(extra=1),
    lambda envelope: envelope.update(payloadType="text/plain"),
    lambda envelope: envelope.update(payload="!"),
    lambda envelope: envelope.update(signatures=[]),
    lambda envelope: envelope["signatures"].append(envelope["signatures"][0]),
    lambda envelope: envelope["signatures"][0].pop("keyid"),
])
def test_sidecar_unreadable(trusted, edit):
    trusted.change(edit)
    trusted.both_say(11, "sidecar unreadable")


def test_unknown_key(trusted):
    trusted.sign("b")
    trusted.both_say(11, "unknown key")


def test_wrong_key_id(trusted):
    trusted.change(lambda envelope: envelope["signatures"][0].update(keyid=trusted.id("b")))
    trusted.both_say(11, "wrong key id")


def test_revoked_key(trusted):
    trusted.trust("revoke", trusted.id("a"), "--reason", "lost")
    trusted.both_say(11, "revoked key")


def test_expired_key(trusted):
    trusted.both_say(11, "expired key", now="2031-01-01T00:00:00Z")
    trusted.both_say(0, [trusted.id("a")], now="2030-12-31T23:59:59.999Z")
    trusted.both_say(11, "expired key", now="2029-12-31T23:59:59.999Z")
    trusted.both_say(0, [trusted.id("a")], now="2030-01-01T00:00:00Z")


def test_out_of_scope_key(trusted):
    trusted.both_say(11, "key out of scope", env="prod")
    trusted.both_say(11, "key out of scope", bundle="till")


def test_threshold_not_met(shop):
    for name in "abc":
        shop.trust("add", shop.public(name), "--env", "*", "--group", "release")
    shop.trust("threshold", "release", "2")
    shop.sign("a")
    shop.both_say(11, "threshold not met")
    shop.sign("ca")
    shop.both_say(0, [shop.id("c"), shop.id("a")])


def test_of_several_signatures_one_good_one_suffices(trusted):
    trusted.sign("bac")
    trusted.both_say(0, [trusted.id("a")])
    trusted.both_say(11, "key out of scope", env="prod")
