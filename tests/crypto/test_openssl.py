"""Keys, signatures, macs and digests go between Sluice and the openssl command in both directions."""

import base64
import hashlib
import hmac
import json
import os
import subprocess

import pytest

MESSAGES = [b"", b"hello", bytes(range(256)) * 300]


def openssl(*words, stdin=b""):
    return subprocess.run(["openssl", *map(str, words)], input=stdin, capture_output=True, check=False)


@pytest.fixture
def tool(build_dir):
    """Runs crypto_tool; gives the finished process."""
    def run(*words, stdin=b""):
        command = [str(build_dir / "crypto_tool"), *map(str, words)]
        return subprocess.run(command, input=stdin, capture_output=True, check=False)
    return run


@pytest.fixture
def folder(tmp_path):
    """A folder whose path has no symlinks, as key files demand."""
    return tmp_path.resolve()


@pytest.fixture
def our_key(tool, folder):
    """A key made by Sluice: its file and that of its public half."""
    private, public = folder / "ours.pem", folder / "ours.pub"
    assert tool("generate", private).returncode == 0
    public.write_bytes(tool("public", private).stdout)
    return private, public


@pytest.fixture
def their_key(folder):
    """A key made by openssl."""
    private, public = folder / "theirs.pem", folder / "theirs.pub"
    assert openssl("genpkey", "-algorithm", "ed25519", "-out", private).returncode == 0
    assert openssl("pkey", "-in", private, "-pubout", "-out", public).returncode == 0
    private.chmod(0o600)
    return private, public


def openssl_sign(private, message, folder):
    (folder / "message").write_bytes(message)
    signed = openssl("pkeyutl", "-sign", "-rawin", "-inkey", private, "-in", folder / "message")
    assert signed.returncode == 0, signed.stderr
    return signed.stdout


def openssl_verifies(public, message, signature, folder):
    (folder / "message").write_bytes(message)
    (folder / "signature").write_bytes(signature)
    return openssl("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in", folder / "message",
                   "-sigfile", folder / "signature").returncode == 0


def test_openssl_reads_our_keys_as_we_do(our_key):
    private, public = our_key
    assert openssl("pkey", "-in", private, "-pubout").stdout == public.read_bytes()
    assert b"ED25519 Private-Key" in openssl("pkey", "-in", private, "-noout", "-text").stdout


def test_we_read_keys_of_openssl_and_write_them_alike(tool, their_key):
    private, public = their_key
    assert tool("public", private).stdout == public.read_bytes()


def test_a_key_id_is_the_digest_of_the_raw_public_key(tool, their_key):
    private, public = their_key
    raw = openssl("pkey", "-pubin", "-in", public, "-outform", "DER").stdout[-32:]
    assert tool("id", private).stdout.decode().strip() == hashlib.sha256(raw).hexdigest()[:32]


# openssl pkeyutl of OpenSSL 3.0 refuses to read an empty file.
@pytest.mark.parametrize("message", MESSAGES[1:], ids=len)
def test_openssl_verifies_what_we_sign(tool, our_key, folder, message):
    private, public = our_key
    signature = tool("sign", private, stdin=message).stdout
    assert openssl_verifies(public, message, signature, folder)
    assert not openssl_verifies(public, message + b"!", signature, folder)


@pytest.mark.parametrize("message", MESSAGES[1:], ids=len)
def test_we_verify_what_openssl_signs(tool, their_key, folder, message):
    private, public = their_key
    signature = openssl_sign(private, message, folder)
    (folder / "signature").write_bytes(signature)
    assert tool("verify", public, folder / "signature", stdin=message).stdout == b"verified\n"
    refused = tool("verify", public, folder / "signature", stdin=message + b"!")
    assert (refused.returncode, refused.stderr) == (11, b"the signature does not hold\n")
    # Ed25519 is deterministic: both make the same signature.
    assert tool("sign", private, stdin=message).stdout == signature


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_digests_and_macs_are_those_of_openssl(tool, message):
    digest = openssl("dgst", "-sha256", "-r", stdin=message).stdout.split()[0]
    assert tool("sha256", stdin=message).stdout == b"sha256:" + digest + b"\n"
    key = os.urandom(100)
    theirs = openssl("dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-r", stdin=message).stdout
    assert tool("hmac", key.hex(), stdin=message).stdout.strip() == theirs.split()[0]
    assert theirs.split()[0].decode() == hmac.new(key, message, "sha256").hexdigest()


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_what_is_sealed_opens_with_the_same_key_and_name_alone(tool, message):
    key, other = os.urandom(32).hex(), os.urandom(32).hex()
    sealed = tool("seal", key, "name", stdin=message).stdout
    assert len(sealed) == 12 + len(message) + 16
    assert tool("open", key, "name", stdin=sealed).stdout == message
    assert tool("open", key, "other", stdin=sealed).returncode == 11
    assert tool("open", other, "name", stdin=sealed).returncode == 11


def test_openssl_verifies_our_envelopes(tool, our_key, folder):
    private, public = our_key
    made = json.loads(tool("envelope", "http://example.com/HelloWorld", private, stdin=b"hello world").stdout)
    assert made["payloadType"] == "http://example.com/HelloWorld"
    assert base64.b64decode(made["payload"]) == b"hello world"
    assert [signature["keyid"] for signature in made["signatures"]] == [tool("id", private).stdout.decode().strip()]
    signature = base64.b64decode(made["signatures"][0]["sig"])
    encoded = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert openssl_verifies(public, encoded, signature, folder)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_we_verify_envelopes_signed_by_openssl(tool, their_key, folder, encode):
    private, public = their_key
    payload = bytes(range(256))
    signature = openssl_sign(private, b"DSSEv1 4 t/pe %d %s" % (len(payload), payload), folder)
    envelope = {"payloadType": "t/pe", "payload": encode(payload).decode(),
                "signatures": [{"sig": encode(signature).decode()}]}
    assert tool("payload", public, stdin=json.dumps(envelope).encode()).stdout == payload
    envelope["payloadType"] = "t/qe"
    refused = tool("payload", public, stdin=json.dumps(envelope).encode())
    assert (refused.returncode, refused.stdout) == (11, b"")


@pytest.mark.parametrize("kind, name", [("x25519", "X25519"), ("ed448", "ED448"), ("rsa", "rsaEncryption")])
def test_other_keys_of_openssl_are_refused_by_name(tool, folder, kind, name):
    path = folder / "key.pem"
    assert openssl("genpkey", "-algorithm", kind, "-out", path).returncode == 0
    path.chmod(0o600)
    refused = tool("id", path)
    assert refused.returncode == 1
    assert refused.stderr.decode().splitlines() == [
        f"{path}: expected a key for Ed25519, found one for {name}",
        "make a key with: openssl genpkey -algorithm ed25519 -out KEY"]


def test_the_repairs_that_errors_name_work(tool, their_key, folder):
    private, public = their_key
    locked = folder / "locked.pem"
    words = ["pkey", "-in", private, "-aes-256-cbc", "-passout", "pass:hello", "-out", locked]
    assert openssl(*words).returncode == 0
    locked.chmod(0o600)
    refused = tool("public", locked).stderr.decode().splitlines()
    assert refused == [f"{locked}: the key is encrypted with a passphrase, expected one that is not",
                       "decrypt it with: openssl pkey -in KEY -out PLAIN-KEY"]
    assert openssl("pkey", "-in", locked, "-passin", "pass:hello", "-out", folder / "plain").returncode == 0
    (folder / "plain").chmod(0o644)
    refused = tool("public", folder / "plain").stderr.decode().splitlines()
    assert refused[1] == f"chmod 600 {folder}/plain"
    subprocess.run(["sh", "-c", refused[1]], check=True)
    assert tool("public", folder / "plain").stdout == public.read_bytes()
