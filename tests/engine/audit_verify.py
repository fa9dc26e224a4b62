#!/usr/bin/env python3
"""Verifies the audit chain of a Sluice store, with nothing of Sluice's: what docs/internals/journal.md says, as a script.

usage: audit_verify.py STORE.DB [--heads audit.heads] [--key PUBLIC.PEM]

Exit code 0: everything holds. 1: something does not; the last line says what. The store must not be open in Sluice
meanwhile, or be a copy that Sluice made; it is copied before it is read and never written to. Signatures are checked
by the `openssl` command, and packed flows are unpacked by the `zstd` command.
"""
import argparse
import base64
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

FIRST_CHAIN = "0" * 64
HEAD_TYPE = "application/vnd.sluice.audit-head+json"
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NO_FLOW = bytes(16)


class Fault(Exception):
    pass


def ulid(raw):
    """The text of a ULID's 16 bytes."""
    number = int.from_bytes(raw, "big")
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def rows_of(store):
    """The rows of the journal in order, read from a copy: SQLite would otherwise write beside the original."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "store.db")
        for suffix in ("", "-wal"):
            if os.path.exists(store + suffix):
                shutil.copy(store + suffix, copy + suffix)
        database = sqlite3.connect(copy)
        database.text_factory = bytes
        unpacked = {}
        try:
            for seq, flow, prev, record, packed_hash in database.execute(
                    "SELECT seq, flow, prev, record, packed_hash FROM journal ORDER BY seq"):
                if record is None and packed_hash:
                    if flow not in unpacked:
                        unpacked[flow] = records_of(database, flow)
                    record = unpacked[flow].pop(seq, None)
                    if record is None:
                        raise Fault(f"the packed flow {ulid(flow)} lacks record {seq}")
                    if not unpacked[flow]:
                        del unpacked[flow]
                yield seq, flow, prev, record, packed_hash
        finally:
            database.close()


def records_of(database, flow):
    """The records of a packed flow by their seq."""
    row = database.execute("SELECT blob FROM packed WHERE flow = ?", (flow,)).fetchone()
    if row is None:
        raise Fault(f"the records of flow {ulid(flow)} are neither in the journal nor packed")
    done = subprocess.run(["zstd", "-dcq"], input=row[0], capture_output=True, check=False)
    if done.returncode != 0:
        raise Fault(f"the packed flow {ulid(flow)} is damaged")
    return {json.loads(record)["seq"]: record for record in done.stdout.split(b"\n")[:-1]}


def check_record(seq, flow, record, chain):
    """That a record follows the one whose hash is `chain`, and is that of its row."""
    try:
        fields = json.loads(record)
    except ValueError as error:
        raise Fault(f"record {seq} is not JSON: {error}") from None
    if fields.get("chain") != chain:
        raise Fault(f"record {seq} was not written after record {seq - 1} as that is now: one of the two was changed")
    if fields.get("seq") != seq:
        raise Fault(f"record {seq} says that it is record {fields.get('seq')}")
    if fields.get("flow", ulid(NO_FLOW)) != ulid(flow):
        raise Fault(f"record {seq} says that it belongs to flow {fields.get('flow')}, its row that it is {ulid(flow)}'s")


def walk(rows, heads):
    """Checks the journal and returns how many records and packed ones there are, and the chain of the last."""
    chain, records, packed, newest = FIRST_CHAIN, 0, 0, {}
    for seq, flow, prev, record, packed_hash in rows:
        if seq != records + 1:
            raise Fault(f"record {records + 1} is missing; the next one is {seq}")
        if flow != NO_FLOW and prev != newest.get(flow, 0):
            raise Fault(f"record {seq} links to {prev}, but the one before it in its flow is {newest.get(flow, 0)}")
        newest[flow] = seq
        if record is None:
            raise Fault(f"record {seq} has neither its text nor its hash")
        check_record(seq, flow, record, chain)
        chain = hashlib.sha256(record).hexdigest()
        if packed_hash:
            packed += 1
            if packed_hash.decode() != chain:
                raise Fault(f"the packed record {seq} was changed: its hash is another")
        records = seq
        if seq in heads and heads[seq]["chain"] != chain:
            raise Fault(f"the head of record {seq} has another chain: the journal up to there was rewritten")
    beyond = max(heads, default=0)
    if beyond > records:
        raise Fault(f"the journal ends with record {records}, but a head was signed for record {beyond}")
    return records, packed, chain


def read_heads(path):
    heads = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                print(f"heads: line {number} has no end and counts for nothing")
                break
            head = json.loads(line)
            if heads and head["seq"] <= max(heads):
                raise Fault(f"heads: line {number} does not follow the one before it")
            heads[head["seq"]] = head
    return heads


def check_signature(head, key):
    body = '{"seq":%d,"chain":"%s","at":%d}' % (head["seq"], head["chain"], head["at"])
    message = f"DSSEv1 {len(HEAD_TYPE)} {HEAD_TYPE} {len(body)} {body}"
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in (("message", message.encode()), ("signature", base64.b64decode(head["signature"]))):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(contents)
        done = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", os.path.join(folder, "message"),
             "-sigfile", os.path.join(folder, "signature")], capture_output=True, check=False)
    if done.returncode != 0:
        raise Fault(f"the signature of the head of record {head['seq']} does not hold")


def main():
    parser = argparse.ArgumentParser(description="Verifies the audit chain of a Sluice store.")
    parser.add_argument("store")
    parser.add_argument("--heads", help="the file audit.heads, or a copy of it")
    parser.add_argument("--key", help="the operator's public key, PEM: checks the signatures of the heads")
    given = parser.parse_args()
    try:
        heads = read_heads(given.heads) if given.heads else {}
        records, packed, chain = walk(rows_of(given.store), heads)
        print(f"journal: {records} records, {packed} of them packed, chain {chain}")
        for head in heads.values() if given.key else ():
            check_signature(head, given.key)
        if heads:
            print(f"heads: {len(heads)}, {'signatures hold' if given.key else 'signatures not checked'}; "
                  f"complete up to record {max(heads)}")
    except (Fault, OSError, ValueError, KeyError, sqlite3.Error) as fault:
        print(f"fault: {fault}")
        return 1
    print("the audit chain holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
