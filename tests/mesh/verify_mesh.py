#!/usr/bin/env python3
"""Verifies the artifacts of a mesh without Sluice: written from docs/internals/mesh.md alone. Prints one line for each
artifact; exits with 1 at the first that does not hold.

    verify_mesh.py trust.json alpha/mgmt/agent.json alpha/mgmt/vertices/rete.json …
"""

import base64
import json
import sys
from datetime import datetime, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ENVELOPE = {"schema_version", "plane", "kind", "version", "node", "name", "payload", "signature"}
OPTIONAL = {"generated_at", "expires_at", "cosignatures"}


def no_duplicates(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a member is there twice")
    return made


def canonical(value):
    """RFC 8785, for what artifacts are made of: objects, arrays, strings, integers."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        raise ValueError("an artifact has no fractions")
    return json.dumps(value, ensure_ascii=False)


def signed_bytes(envelope, trust_domain, key_id):
    claims = {key: value for key, value in envelope.items() if key not in ("signature", "cosignatures")}
    claims["signature"] = {"alg": "ed25519", "key_id": key_id}
    return f"sluice.mesh.artifact.v1\n{trust_domain}\n{canonical(claims)}".encode()


def verify(text, trust, now):
    envelope = json.loads(text, object_pairs_hook=no_duplicates)
    assert ENVELOPE <= set(envelope) <= ENVELOPE | OPTIONAL, "the envelope is closed"
    plane = "mgmt" if envelope["plane"] == "mgmt" else "ctrl"
    if plane == "ctrl":
        assert set(envelope["plane"]) == {"ctrl"} and set(envelope["plane"]["ctrl"]) == {"obeys_mgmt_version"}
    major, minor = map(int, envelope["schema_version"].split("."))
    assert (major, minor) in ((1, 0), (1, 1)), "the schema is 1.0 or 1.1"
    assert minor == 1 or not {"expires_at", "cosignatures"} & set(envelope), "this needs schema 1.1"
    signers = {each["spiffe_id"]: each["pubkey"] for each in trust[f"{plane}_signers"]}
    seen = set()
    for signature in [envelope["signature"], *envelope.get("cosignatures", [])]:
        assert set(signature) == {"alg", "key_id", "value"} and signature["alg"] == "ed25519", "a signature is closed"
        key = signers.get(signature["key_id"])
        assert key, f"{signature['key_id']} is no trusted {plane} signer"
        assert key not in seen, "signed twice"
        seen.add(key)
        message = signed_bytes(envelope, trust["trust_domain"], signature["key_id"])
        Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True)).verify(
            base64.b64decode(signature["value"], validate=True), message)
    assert len(seen) >= trust[f"{plane}_threshold"], "too few signatures"
    if "expires_at" in envelope:
        assert now < datetime.fromisoformat(envelope["expires_at"].replace("Z", "+00:00")), "expired"
    return f"{envelope['node']}/{plane}/{envelope['kind']}/{envelope['name']} version {envelope['version']}"


def main(trust_file, *files):
    with open(trust_file) as file:
        trust = json.load(file)
    for name in files:
        with open(name) as file:
            try:
                print(verify(file.read(), trust, datetime.now(timezone.utc)))
            except (InvalidSignature, AssertionError, ValueError) as error:
                sys.exit(f"{name}: {error or 'the signature does not hold'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
