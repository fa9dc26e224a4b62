#!/usr/bin/python3
"""Verifies a sidecar by a trust root, with Python's standard library and the openssl command alone. Written from the
section "Sidecar" of docs/internals/bundle.md, and from nothing else of Sluice.

    verify_sidecar.py SIDECAR --trust ROOT --bundle NAME --env ENV --tree sha256:… [--archive FILE] [--now TIME]

Prints the ids of the keys that counted. Otherwise exits with 11, after one line: the clause, a colon, and why."""

import argparse
import base64
import datetime
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TYPE = "application/vnd.in-toto+json"
# The clauses that a signature can fail in, the farthest last.
ORDER = ["unknown key", "signature changed", "revoked key", "expired key", "key out of scope"]


class Refused(Exception):
    """A clause that fails, and why."""

    def __init__(self, clause, why):
        super().__init__(f"{clause}: {why}")
        self.clause = clause


def no_duplicates(pairs):
    """An object's members; one that comes twice is an error."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a field twice")
    return dict(pairs)


def strictly(text):
    return json.loads(text, object_pairs_hook=no_duplicates)


def decoded(text):
    if not isinstance(text, str):
        raise ValueError("base64 is text")
    alphabet = b"-_" if re.search("[-_]", text) else b"+/"
    return base64.b64decode(text, altchars=alphabet, validate=True)


def read_envelope(text):
    """(payload, [(key id, signature)])"""
    if len(text) > 2 << 20:
        raise ValueError("too large")
    envelope = strictly(text)
    if set(envelope) != {"payloadType", "payload", "signatures"}:
        raise ValueError("other fields than payloadType, payload and signatures")
    if envelope["payloadType"] != TYPE:
        raise ValueError(f"the type is {envelope['payloadType']}")
    signatures = []
    for one in envelope["signatures"]:
        if set(one) != {"keyid", "sig"} or not re.fullmatch("[0-9a-f]{32}", one["keyid"]):
            raise ValueError("a signature that does not name its key")
        signatures.append((one["keyid"], decoded(one["sig"])))
    if not 1 <= len(signatures) <= 16 or len(set(dict(signatures))) != len(signatures):
        raise ValueError("1 to 16 signatures, each of another key")
    return decoded(envelope["payload"]), signatures


def raw_key(pem):
    """The 32 bytes at the end of an Ed25519 SubjectPublicKeyInfo."""
    der = base64.b64decode("".join(pem.strip().splitlines()[1:-1]))
    if len(der) != 44:
        raise ValueError("not an Ed25519 key")
    return der[-32:]


def key_id(pem):
    return hashlib.sha256(raw_key(pem)).digest()[:16].hex()


def read_root(text):
    """({key id: key}, {group: threshold})"""
    root = strictly(text)
    if root["schema"] != "sluice.trust-root.v1":
        raise ValueError(f"the schema is {root['schema']}")
    for key in root["keys"]:
        if key["key_id"] != key_id(key["public_key_pem"]):
            raise ValueError(f"{key['key_id']} is not the id of its key")
    return {key["key_id"]: key for key in root["keys"]}, {g["name"]: g["threshold"] for g in root["groups"]}


def holds(key, payload, signature):
    """Whether openssl says that the key made the signature of this payload."""
    encoding = b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(payload), payload)
    with tempfile.TemporaryDirectory() as folder:
        files = {"pae": encoding, "sig": signature, "key": key["public_key_pem"].encode()}
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key", "-rawin", "-in", "pae", "-sigfile", "sig"]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def fits(patterns, name):
    """* stands for any characters, ? for one; everything else for itself."""
    def translated(pattern):
        return "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    return any(re.fullmatch(translated(pattern), name, re.S) for pattern in patterns)


def judge(keys, named, payload, signature, asked):
    """Raises what is wrong with one signature."""
    key = keys.get(named)
    if key is None:
        raise Refused("unknown key", named)
    if not holds(key, payload, signature):
        raise Refused("signature changed", named)
    if "revoked" in key:
        raise Refused("revoked key", f"{named}, {key['revoked']['reason']}")
    if "expires" in key and asked.now >= moment(key["expires"]):
        raise Refused("expired key", f"{named}, at {key['expires']}")
    if "not_before" in key and asked.now < moment(key["not_before"]):
        raise Refused("expired key", f"{named}, not before {key['not_before']}")
    if not fits(key["environments"], asked.env) or not fits(key["bundles"], asked.bundle):
        raise Refused("key out of scope", f"{named}, {asked.bundle} in {asked.env}")


def count(keys, groups, payload, signatures, asked):
    """The ids of the keys that count."""
    holding, refusals = [], []
    for named, signature in signatures:
        try:
            judge(keys, named, payload, signature, asked)
            holding.append(named)
        except Refused as refused:
            refusals.append(refused)
    if not holding:
        farthest = max(refusals, key=lambda refused: ORDER.index(refused.clause))
        if farthest.clause in ("unknown key", "signature changed"):
            for key in keys.values():
                if holds(key, payload, signatures[0][1]):
                    raise Refused("wrong key id", f"{signatures[0][0]}, made by {key['key_id']}")
        raise farthest
    group_of = {named: keys[named].get("group") for named in holding}
    sizes = {group: list(group_of.values()).count(group) for group in group_of.values()}
    counted = [named for named, group in group_of.items() if group is None or sizes[group] >= groups[group]]
    if not counted:
        raise Refused("threshold not met", ", ".join(f"{n} of {groups[g]} in {g}" for g, n in sizes.items()))
    return counted


def compare(payload, asked):
    """Raises what differs between the statement and what is in hand."""
    try:
        statement = strictly(payload)
        definition = statement["predicate"]["buildDefinition"]
        found = (statement["_type"], statement["predicateType"], definition["buildType"])
        wanted = ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1", "https://sluice.dev/bundle/v1")
        if found != wanted:
            raise ValueError(f"another kind of statement: {found}")
        subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
        if set(subjects) != {"tree", "archive"} or len(statement["subject"]) != 2:
            raise ValueError("other subjects")
        bundle = definition["externalParameters"]["bundle"]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused("sidecar unreadable", error) from error
    if bundle != asked.bundle:
        raise Refused("payload changed", f"{bundle} was signed")
    if "sha256:" + subjects["tree"] != asked.tree:
        raise Refused("payload changed", f"the tree sha256:{subjects['tree']} was signed")
    if asked.archive and hashlib.sha256(Path(asked.archive).read_bytes()).hexdigest() != subjects["archive"]:
        raise Refused("payload changed", f"the archive sha256:{subjects['archive']} was signed")


def verify(asked):
    keys, groups = read_root(Path(asked.trust).read_text())
    sidecar = Path(asked.sidecar)
    if not sidecar.exists():
        raise Refused("sidecar missing", sidecar)
    try:
        payload, signatures = read_envelope(sidecar.read_text())
    except (ValueError, KeyError, TypeError) as error:
        raise Refused("sidecar unreadable", error) from error
    counted = count(keys, groups, payload, signatures, asked)
    compare(payload, asked)
    return counted


def main():
    parser = argparse.ArgumentParser(description="Verifies a sidecar by a trust root.")
    parser.add_argument("sidecar")
    for name in ("trust", "bundle", "env", "tree"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--archive")
    parser.add_argument("--now", type=moment, default=datetime.datetime.now(datetime.timezone.utc))
    try:
        print("\n".join(verify(parser.parse_args())))
        return 0
    except Refused as refused:
        print(refused)
        return 11


if __name__ == "__main__":
    sys.exit(main())
