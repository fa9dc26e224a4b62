"""A certificate of this home's own authority: `up --tls`, what `sluice tls` says and does, who trusts it, and that no key is
anywhere but in its file."""

import os
import ssl
import subprocess
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def secure(home, *words):
    up = home.up(home.root / "examples/hello", *words, *home.own_port(), "--tls")
    return next(url for url in up["urls"] if url.startswith("https://"))


def curl(url, *words, **more):
    return subprocess.run(["curl", "-sS", "--max-time", "30", *words, url], capture_output=True, text=True, timeout=60, **more)


def authority(home):
    return "--cacert", str(home.home / "ca/chain.pem")


def fingerprint_shown(url):
    place = urlsplit(url)
    return ssl.get_server_certificate((place.hostname, place.port))


def test_up_speaks_tls_by_an_authority_of_the_home(home):
    url = secure(home)
    assert curl(url, *authority(home)).stdout == "hello 1.0.0\n"
    assert curl(url.replace("127.0.0.1", "localhost"), *authority(home)).stdout == "hello 1.0.0\n"
    assert curl(url).returncode == 60, "nobody else has said that it is to be believed"
    (listed,) = home.data("tls", "list")["certificates"]
    assert (listed["certificate"], listed["provider"], sorted(listed["names"])) == ("local", "local-ca", ["127.0.0.1", "localhost"])
    again = home.up(home.root / "examples/hello", "--tls")
    assert url in again["urls"] and not again["changed"]
    assert home.data("tls", "list")["certificates"] == [listed], "one that is there already is not issued again"
    assert "good" in home.run("tls", "doctor").stdout


def test_keys_are_in_their_files_alone(home):
    secure(home)
    keys = [home.home / "ca/key.pem", home.home / "tls/local/key.pem"]
    for key in keys:
        assert key.stat().st_mode & 0o777 == 0o600
    assert os.readlink(home.home / "tls/local").startswith(".kept/local.")
    lines = [key.read_bytes().splitlines()[1] for key in keys]
    for file in home.home.rglob("*"):
        if file.is_file() and file.name != "key.pem":
            assert not any(line in file.read_bytes() for line in lines), file


def test_a_router_without_tls_is_not_changed_under_those_who_use_it(home):
    home.up(home.root / "examples/hello", *home.own_port())
    refused = home.run("up", home.root / "examples/hello", "--detach", "--tls", code=6)
    assert "listens nowhere for TLS" in refused.stderr and "sluice stop, then sluice up --tls" in refused.stderr


def test_a_host_gets_its_certificate_and_a_foreign_one_none(home):
    url = secure(home)
    issued = home.data("tls", "issue", "shop.test", "*.shop.test")
    assert (issued["certificate"], issued["names"]) == ("shop.test", ["shop.test", "*.shop.test"])
    place = urlsplit(url)
    for name in ["shop.test", "a.shop.test"]:
        there = curl(f"https://{name}:{place.port}/", *authority(home), "--resolve", f"{name}:{place.port}:127.0.0.1")
        assert there.stdout == "hello 1.0.0\n", there.stderr
    refused = home.run("tls", "issue", "shop.com", code=1)
    assert "not for shop.com" in refused.stderr
    assert not (home.home / "tls/shop.com").exists()


def test_a_renewal_is_shown_to_new_connections_and_a_removal_too(home):
    url = secure(home)
    before = fingerprint_shown(url)
    renewed = home.data("tls", "renew", "local")
    assert fingerprint_shown(url) != before
    assert renewed["fingerprint"] == home.data("tls", "list")["certificates"][0]["fingerprint"]
    assert 59 * 86400 < renewed["renewInSeconds"] <= 60 * 86400
    home.run("tls", "remove", "local", "--yes")
    with pytest.raises(ssl.SSLError):
        fingerprint_shown(url)
    assert home.data("tls", "list")["certificates"] == []
    assert list((home.home / "tls/.kept").iterdir()) == []
    home.run("tls", "renew", "local", code=5)


def own_pair(folder, *names):
    """A certificate that was issued elsewhere, with its key."""
    chain, key = folder / "fullchain.pem", folder / "privkey.pem"
    alternatives = ",".join("DNS:" + name for name in names)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=elsewhere", "-addext", "subjectAltName=" + alternatives, "-keyout", str(key), "-out",
                    str(chain)], check=True, capture_output=True)
    return chain, key


def test_a_certificate_of_elsewhere_is_added_and_a_bad_pair_is_not(home, tmp_path):
    url = secure(home)
    place = urlsplit(url)
    chain, key = own_pair(tmp_path, "shop.invalid")
    home.run("tls", "add", "shop", "--chain", chain, "--key", key)
    there = curl(f"https://shop.invalid:{place.port}/", "--cacert", str(chain), "--resolve",
                 f"shop.invalid:{place.port}:127.0.0.1")
    assert there.stdout == "hello 1.0.0\n", there.stderr
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "other.pem").write_bytes(other)
    refused = home.run("tls", "add", "shop", "--chain", chain, "--key", tmp_path / "other.pem", code=1)
    assert "the private key is not that of the certificate" in refused.stderr
    assert other.splitlines()[1].decode() not in refused.stderr
    assert (home.home / "tls/shop/key.pem").read_bytes() == key.read_bytes()
    home.run("tls", "renew", "shop", code=1)


def test_doctor_names_what_is_wrong_and_what_to_do(home):
    secure(home)
    (home.home / "tls/local/key.pem").write_text("nothing")
    found = home.run("tls", "doctor", code=1)
    assert "local: its files cannot be used: the private key cannot be read" in found.stdout
    assert "next: sluice tls renew local" in found.stdout, found.stdout
    home.run("tls", "renew", "local")
    assert "good" in home.run("tls", "doctor").stdout


# Stores of this machine, and what is in them, as they are in a place where nobody else sees what is changed.
PLACE = """set -e
mount --make-rprivate /
for folder in /etc/ssl/certs /usr/local/share/ca-certificates; do
  mkdir -p "$STORES$folder"
  cp -a "$folder/." "$STORES$folder"
  mount --bind "$STORES$folder" "$folder"
done
"""


def in_a_place(home, folder, script):
    environment = {**home.environment(), "HOME": str(folder / "person"), "STORES": str(folder / "stores"),
                   "SLUICE": str(home.sluice), "PATH": os.environ["PATH"]}
    return subprocess.run(["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
                           PLACE + script], capture_output=True, text=True, timeout=900, env=environment)


def test_this_machine_trusts_it_after_install_and_not_after_remove(home, tmp_path):
    url = secure(home).replace("127.0.0.1", "localhost")
    (tmp_path / "person").mkdir()
    (tmp_path / "stores").mkdir()
    ran = in_a_place(home, tmp_path, f"""
      ask() {{ curl -sS -o {tmp_path}/$1 {url} 2>/dev/null && echo "$1 0" || echo "$1 $?"; }}
      ask before
      "$SLUICE" tls trust --install >/dev/null
      ask installed
      "$SLUICE" tls trust
      "$SLUICE" tls trust --remove >/dev/null
      ask removed
    """)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "before 60"
    assert "installed 0" in ran.stdout and "trusted  by the system" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "removed 60"
    assert (tmp_path / "installed").read_text() == "hello 1.0.0\n"


def test_chromium_trusts_it_after_install_and_not_after_remove(home, tmp_path):
    url = secure(home).replace("127.0.0.1", "localhost")
    store = tmp_path / "person/.pki/nssdb"
    store.mkdir(parents=True)
    (tmp_path / "stores").mkdir()
    subprocess.run(["certutil", "-N", "-d", f"sql:{store}", "--empty-password"], check=True, capture_output=True)
    ran = in_a_place(home, tmp_path, f"""
      look() {{ chromium --headless --no-sandbox --disable-gpu --user-data-dir={tmp_path}/$1.profile --dump-dom {url} \
                > {tmp_path}/$1.html 2>/dev/null || true; }}
      look before
      "$SLUICE" tls trust --install >/dev/null
      look installed
      "$SLUICE" tls trust --remove >/dev/null
      look removed
    """)
    assert ran.returncode == 0, ran.stderr
    seen = {name: "hello 1.0.0" in (tmp_path / f"{name}.html").read_text() for name in ["before", "installed", "removed"]}
    assert seen == {"before": False, "installed": True, "removed": False}
