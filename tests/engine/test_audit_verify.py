"""audit_verify.py on small journals that are written here, whole and spoilt."""
import base64
import hashlib
import json
import pathlib
import sqlite3
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "audit_verify.py"
FLOWS = [bytes(15) + bytes([1]), bytes(15) + bytes([2])]
FLOW_TEXTS = ["0" * 25 + "1", "0" * 25 + "2"]


class Journal:
    """Five records of two flows, then one of a denied call."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []
        chain, newest = "0" * 64, {}
        for seq in range(1, 7):
            flow = FLOWS[seq % 2] if seq < 6 else bytes(16)
            fields = {"chain": chain, "seq": seq, "at": 1000 + seq}
            if seq < 6:
                fields["flow"] = FLOW_TEXTS[seq % 2]
            fields["step"] = "act" if seq < 6 else "denied"
            record = json.dumps(fields, separators=(",", ":")).encode()
            self.rows.append([seq, flow, newest.get(flow, 0), record, None])
            newest[flow] = seq
            chain = hashlib.sha256(record).hexdigest()
        self.chains = [hashlib.sha256(row[3]).hexdigest() for row in self.rows]
        self.heads = []
        self.packed = []

    def pack(self, number):
        """Packs one of the two flows as Sluice does."""
        rows = [row for row in self.rows if row[1] == FLOWS[number]]
        text = b"".join(row[3] + b"\n" for row in rows)
        done = subprocess.run(["zstd", "-cq"], input=text, capture_output=True, check=True)
        self.packed.append([FLOWS[number], done.stdout])
        for row in rows:
            row[3:] = [None, self.chains[row[0] - 1].encode()]

    def sign(self, seq, key):
        body = '{"seq":%d,"chain":"%s","at":7}' % (seq, self.chains[seq - 1])
        kind = "application/vnd.sluice.audit-head+json"
        message, signature = self.folder / "message", self.folder / "signature"
        message.write_text(f"DSSEv1 {len(kind)} {kind} {len(body)} {body}")
        subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", message, "-out", signature],
                       check=True)
        text = base64.b64encode(signature.read_bytes()).decode()
        self.heads.append(body[:-1] + f',"key":"k","signature":"{text}"}}\n')

    def verify(self, *options):
        path = self.folder / "store.db"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, flow BLOB, prev INTEGER, record BLOB, "
                         "packed_hash BLOB) STRICT")
        database.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", self.rows)
        database.execute("CREATE TABLE packed (flow BLOB PRIMARY KEY, blob BLOB) STRICT")
        database.executemany("INSERT INTO packed VALUES (?, ?)", self.packed)
        database.commit()
        database.close()
        (self.folder / "audit.heads").write_text("".join(self.heads))
        done = subprocess.run([sys.executable, SCRIPT, path, *options], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()


@pytest.fixture(name="journal")
def _journal(tmp_path):
    return Journal(tmp_path)


@pytest.fixture(name="key")
def _key(tmp_path):
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", tmp_path / "public.pem"], check=True)
    return key


def test_an_untouched_journal_holds(journal):
    assert journal.verify() == (0, [f"journal: 6 records, 0 of them packed, chain {journal.chains[5]}",
                                    "the audit chain holds"])


def test_signed_heads_hold(journal, key):
    journal.sign(3, key)
    journal.sign(5, key)
    code, lines = journal.verify("--heads", journal.folder / "audit.heads", "--key", journal.folder / "public.pem")
    assert (code, lines[1]) == (0, "heads: 2, signatures hold; complete up to record 5")


def test_the_chain_is_proven_through_packed_flows(journal):
    journal.pack(1)
    assert journal.verify()[1][0] == f"journal: 6 records, 3 of them packed, chain {journal.chains[5]}"
    journal.rows[2][4] = journal.chains[3].encode()
    assert journal.verify() == (1, ["fault: the packed record 3 was changed: its hash is another"])


def test_a_changed_blob_is_found(journal):
    journal.rows[2][3] = journal.rows[2][3].replace(b'"act"', b'"bct"')
    journal.pack(1)
    assert journal.verify() == (1, ["fault: the packed record 3 was changed: its hash is another"])
    journal.packed[0][1] = b"b"
    assert journal.verify() == (1, [f"fault: the packed flow {FLOW_TEXTS[1]} is damaged"])
    journal.packed.clear()
    assert journal.verify() == (
        1, [f"fault: the records of flow {FLOW_TEXTS[1]} are neither in the journal nor packed"])


def test_a_changed_record_is_found(journal):
    journal.rows[1][3] = journal.rows[1][3].replace(b'"act"', b'"bct"')
    assert journal.verify() == (
        1, ["fault: record 3 was not written after record 2 as that is now: one of the two was changed"])


def test_a_missing_record_is_found(journal):
    del journal.rows[2]
    assert journal.verify() == (1, ["fault: record 3 is missing; the next one is 4"])


def test_a_wrong_link_is_found(journal):
    journal.rows[4][2] = 2
    assert journal.verify() == (1, ["fault: record 5 links to 2, but the one before it in its flow is 3"])


def test_a_record_of_another_flow_is_found(journal):
    journal.rows[5][1] = FLOWS[0]
    journal.rows[5][2] = 4
    assert journal.verify()[1] == [f"fault: record 6 says that it belongs to flow None, its row that it is {FLOW_TEXTS[0]}'s"]


def test_a_cut_journal_is_found_by_a_head(journal, key):
    journal.sign(6, key)
    del journal.rows[5]
    assert journal.verify("--heads", journal.folder / "audit.heads") == (
        1, ["fault: the journal ends with record 5, but a head was signed for record 6"])


def test_a_rewritten_journal_is_found_by_a_head(journal, key):
    journal.sign(6, key)
    journal.rows[5][3] = journal.rows[5][3].replace(b"1006", b"1007")
    assert journal.verify("--heads", journal.folder / "audit.heads") == (
        1, ["fault: the head of record 6 has another chain: the journal up to there was rewritten"])


def test_a_forged_head_is_found(journal, key):
    journal.sign(3, key)
    journal.heads[0] = journal.heads[0].replace('"at":7', '"at":8')
    code, lines = journal.verify("--heads", journal.folder / "audit.heads", "--key", journal.folder / "public.pem")
    assert (code, lines[1]) == (1, "fault: the signature of the head of record 3 does not hold")
