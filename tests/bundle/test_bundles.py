"""`sluice bundles` and `sluice init` as people use them: the real binary, real folders, real archives of other tools."""

import base64
import gzip
import io
import json
import os
import pty
import shutil
import signal
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

CANARY = "AKIA" + "Q3EGLU2R7XVNTP4H"


class Place:
    """A folder with a home, and a bundle `shop` in it."""

    def __init__(self, folder, build_dir):
        self.folder = folder
        self.build_dir = build_dir
        self.shop = folder / "shop"
        self.shop.mkdir()
        self.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./app]\n')
        self.put("app", "#!/bin/sh\nexit 0\n", 0o755)
        self.bundle = folder / "shop.bundle"
        self.sidecar = folder / "shop.bundle.sig.json"

    def put(self, name, text, mode=0o644):
        path = self.shop / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def run(self, *words, home="home", **options):
        environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.folder / home), **options.pop("env", {})}
        return subprocess.run([str(word) for word in (self.build_dir / "sluice", *words)], capture_output=True, text=True,
                              check=False, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, timeout=120,
                              **options)

    def good(self, *words, **options):
        done = self.run(*words, **options)
        assert done.returncode == 0, done.stderr
        return done

    def json(self, *words, **options):
        return json.loads(self.good(*words, "-o", "json", **options).stdout)

    def build(self, **options):
        return self.json("bundles", "build", self.shop, "--out", self.bundle, **options)

    def refused(self, *words):
        """The one line that refuses, with exit code 11."""
        done = self.run("bundles", "verify", self.bundle, *words)
        assert (done.returncode, done.stdout) == (11, ""), done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(f"error: {self.bundle}: ")
        return done.stderr[len(f"error: {self.bundle}: "):].strip()

    def change(self, edit):
        envelope = json.loads(self.sidecar.read_text())
        edit(envelope)
        self.sidecar.write_text(json.dumps(envelope))

    def key(self, name):
        """A key pair in NAME.pem and NAME.pub."""
        self.tool("crypto_tool", "generate", self.folder / f"{name}.pem")
        public = self.tool("crypto_tool", "public", self.folder / f"{name}.pem")
        (self.folder / f"{name}.pub").write_text(public)
        return self.tool("crypto_tool", "id", self.folder / f"{name}.pem").strip()

    def tool(self, name, *words):
        return subprocess.run([str(word) for word in (self.build_dir / name, *words)], capture_output=True, text=True,
                              check=True).stdout


@pytest.fixture
def place(tmp_path, build_dir):
    return Place(tmp_path.resolve(), build_dir)


# ------------------------------------------------------------------------------------------------------------- verify

def flipped(text):
    data = bytearray(base64.b64decode(text))
    data[7] ^= 1
    return base64.b64encode(data).decode()


def test_the_good_one_passes_and_eight_things_are_told_apart(place):
    ann, bob = place.key("ann"), place.key("bob")
    place.build()
    assert place.run("bundles", "verify", place.bundle).stdout.startswith("verified  shop 1.0 for local, signed by ")
    good, sidecar = place.bundle.read_bytes(), place.sidecar.read_text()
    lines = []

    changed = bytearray(good)
    changed[200] ^= 1
    place.bundle.write_bytes(changed)
    lines.append(place.refused())
    assert lines[-1].startswith("payload changed: the archive is sha256:")
    place.bundle.write_bytes(good)

    place.change(lambda envelope: envelope["signatures"][0].update(sig=flipped(envelope["signatures"][0]["sig"])))
    lines.append(place.refused())
    assert lines[-1].startswith("signature changed: ")

    place.sidecar.unlink()
    lines.append(place.refused())
    assert lines[-1] == "sidecar missing: bundle shop has no sidecar, so nobody vouches for it"

    place.good("bundles", "sign", place.bundle, "--key", "ann.pem")
    lines.append(place.refused())
    assert lines[-1] == f"unknown key: it is signed with key {ann}, which is not in the trust root"

    place.good("trust", "add", "ann.pub", "--env", "local", "--label", "Ann", "--expires", "2001-01-01")
    lines.append(place.refused())
    assert lines[-1] == f"expired key: key {ann} (Ann) expired at 2001-01-01T00:00:00.000Z"

    place.good("trust", "remove", ann)
    place.good("trust", "add", "ann.pub", "--env", "local", "--bundle", "till", "--label", "Ann")
    lines.append(place.refused())
    assert lines[-1] == (f"key out of scope: key {ann} (Ann) may not sign bundle shop for environment local, "
                         "only till for local")

    place.good("trust", "remove", ann)
    for name in ("ann", "bob"):
        threshold = ["--threshold", "2"] if name == "ann" else []
        place.good("trust", "add", f"{name}.pub", "--env", "local", "--group", "release", "--label", name, *threshold)
    lines.append(place.refused())
    assert lines[-1] == f"threshold not met: 2 keys of group release must sign, and 1 does: {ann} (ann)"
    place.good("bundles", "sign", place.bundle, "--key", "bob.pem")
    assert set(place.json("bundles", "verify", place.bundle)["keys"]) == {ann, bob}

    place.good("trust", "revoke", bob, "--reason", "lost with a laptop")
    place.good("bundles", "sign", place.bundle, "--key", "bob.pem", "--replace")
    lines.append(place.refused())
    assert lines[-1].startswith(f"revoked key: key {bob} (bob) was revoked at ")
    assert lines[-1].endswith(": lost with a laptop")

    assert len(set(lines)) == 8 and len({line.split(":")[0] for line in lines}) == 8
    place.sidecar.write_text(sidecar)
    place.good("bundles", "verify", place.bundle)


def test_verify_elsewhere_needs_the_trust_root_alone(place):
    place.build()
    place.good("trust", "export", "--out", "root.json")
    moved = place.folder / "elsewhere"
    moved.mkdir()
    for path in (place.bundle, place.sidecar):
        shutil.copy(path, moved)
    done = place.good("bundles", "verify", moved / "shop.bundle", "--trust", "root.json", home="another")
    assert done.stdout.startswith("verified  shop 1.0 for local")
    assert not (place.folder / "another").exists()
    assert place.run("bundles", "verify", moved / "shop.bundle", home="another").returncode == 11
    problem = place.run("bundles", "verify", moved / "shop.bundle", "--env", "prod", "-o", "json").stderr
    assert json.loads(problem)["code"] == "verification_failed"


def test_a_removed_operator_key_is_not_trusted_again(place):
    key = place.build()["key"]
    place.good("trust", "remove", key)
    place.build()
    assert place.refused().startswith("unknown key: ")


def test_a_lost_operator_key_is_replaced_and_trusted_when_somebody_says_so(place):
    old = place.build()["key"]
    (place.folder / "home" / "keys" / "operator.pem").unlink()
    done = place.good("bundles", "build", place.shop, "--out", place.bundle)
    assert "operator.pem is gone: a new one is made, which nobody trusts yet; " in done.stderr
    assert place.refused().startswith("unknown key: ")
    (advice,) = [line for line in done.stderr.splitlines() if line.startswith("next:  ")]
    command, _, what = advice.removeprefix("next:  ").partition(" trusts ")
    assert what == "it"
    place.good(*command.split()[1:])
    assert old not in place.json("bundles", "verify", place.bundle)["keys"]
    assert place.good("bundles", "build", place.shop, "--out", place.bundle).stderr == ""


# ---------------------------------------------------------------------------------------------------------- the same

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


def built_by_nobody(place, source):
    """What `bundles build` prints of a copy of this folder, run by a user without rights. For root alone."""
    shared = place.folder / "shared"
    shutil.copytree(source, shared / "shop", symlinks=True)
    program = shutil.copy(place.build_dir / "sluice", shared / "sluice")
    for path in [shared, *shared.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    for folder in [place.folder, *place.folder.parents]:
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    done = subprocess.run([program, "bundles", "build", "shop", "--out", "c.bundle", "-o", "json"], cwd=shared,
                          env={"SLUICE_HOME": str(shared / "home"), "PATH": os.environ["PATH"]}, capture_output=True,
                          text=True, check=False, **NOBODY)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_same_folder_gives_the_same_bytes_everywhere(place):
    for n in range(50):
        place.put(f"lib/{n}.txt", f"{n}\n" * n)
    (place.shop / "current").symlink_to("app")
    first = place.build()
    other = place.folder / "deep" / "er"
    for path in sorted(place.shop.rglob("*"), reverse=True):
        target = other / path.relative_to(place.shop)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(os.readlink(path))
        elif path.is_file():
            shutil.copyfile(path, target)
            target.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
            os.utime(target, (1, 1))
    second = place.json("bundles", "build", other, "--out", "b.bundle", home="b",
                        env={"TZ": "Pacific/Auckland", "LC_ALL": "C"}, umask=0o077)
    for member in ("tree", "archive"):
        assert first[member] == second[member]
    assert place.bundle.read_bytes() == (place.folder / "b.bundle").read_bytes()
    if os.getuid() == 0:
        assert built_by_nobody(place, other)["archive"] == first["archive"]


def test_other_tools_read_ours_and_we_read_theirs(place):
    tree = place.build()["tree"]
    out = place.folder / "unsquashed"
    subprocess.run(["unsquashfs", "-no-xattrs", "-d", out, place.bundle], check=True, capture_output=True)
    assert place.good("bundles", "diff", out, place.bundle).stderr == "They are the same.\n"
    tar = subprocess.run(["sqfs2tar", place.bundle], check=True, capture_output=True).stdout
    (place.folder / "a.tar").write_bytes(tar)
    assert place.json("bundles", "inspect", "a.tar")["tree"] == tree
    for compressor in ("gzip", "xz", "zstd"):
        subprocess.run(["mksquashfs", place.shop, place.folder / f"{compressor}.sqfs", "-comp", compressor, "-quiet",
                        "-no-progress"], check=True, capture_output=True)
        shown = place.json("bundles", "extract", f"{compressor}.sqfs", f"from-{compressor}", "--tree", tree)
        assert shown["tree"] == tree
        assert (place.folder / f"from-{compressor}" / "app").stat().st_mode & 0o777 == 0o755


# ------------------------------------------------------------------------------------------------------------ secrets

def nested(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(name, f"[aws]\nid = {CANARY}\n")
    return file.getvalue()


def test_a_canary_is_never_in_a_bundle(place):
    place.put(".env", f"AWS_KEY={CANARY}\n")
    place.put("id_ed25519", CANARY)
    done = place.good("bundles", "build", place.shop, "--out", place.bundle)
    assert "skipped 2 files and folders:\n  .env  an environment file\n  id_ed25519  a private key\n" in done.stderr
    assert place.json("bundles", "inspect", place.bundle)["entries"] == 2
    before = place.bundle.read_bytes()
    place.put("config.txt", f"one\nkey {CANARY}\n")
    (place.shop / "nested.zip").write_bytes(nested("deep/settings.ini"))
    done = place.run("bundles", "build", place.shop, "--out", place.bundle)
    assert done.returncode == 11
    assert done.stdout == "" and CANARY not in done.stderr
    places = [line.rsplit(" (sha256:", 1)[0] for line in done.stderr.splitlines()]
    assert "config.txt:2: an AWS access key" in places
    assert "nested.zip!deep/settings.ini:2: an AWS access key" in places
    assert place.bundle.read_bytes() == before
    assert sorted(path.name for path in place.folder.iterdir()) == ["home", "shop", "shop.bundle",
                                                                    "shop.bundle.sig.json"]


def test_a_canary_in_a_name_or_behind_a_symlink_is_never_in_a_bundle(place):
    (place.shop / "link").symlink_to(CANARY)
    place.put(f"{CANARY}/one.txt", "1")
    place.put(f"{CANARY}/two.txt", "2")
    for words in (["build", place.shop, "--out", place.bundle], ["doctor", place.shop]):
        done = place.run("bundles", *words)
        assert done.returncode in (1, 11) and CANARY not in done.stderr
        assert "link:1: an AWS access key" in done.stderr
    assert not place.bundle.exists()
    (place.shop / "link").unlink()
    for n in range(500):
        place.put(f"{CANARY}/{n}.txt", str(n))
    done = place.run("bundles", "build", place.shop, "--out", place.bundle)
    assert done.returncode == 11 and CANARY not in done.stderr
    assert "…/0.txt: an AWS access key" in done.stderr and done.stderr.count("AWS") == 1
    # So many names that a SquashFS compresses them.
    subprocess.run(["mksquashfs", place.shop, place.folder / "t.sqfs", "-quiet", "-no-progress"], check=True,
                   capture_output=True)
    assert CANARY.encode() not in (place.folder / "t.sqfs").read_bytes()
    done = place.run("bundles", "doctor", "t.sqfs")
    assert (done.returncode, CANARY in done.stderr) == (1, False)
    assert "secret  …: an AWS access key (" in done.stderr


def test_what_is_allowed_by_its_hash_is_packed(place):
    place.put("config.txt", f"key {CANARY}\n")
    found = place.run("bundles", "doctor", place.shop, "-o", "json")
    assert found.returncode == 1
    finding = json.loads(found.stdout)["findings"][0]
    assert (finding["path"], finding["line"], finding["kind"]) == ("config.txt", 1, "an AWS access key")
    place.put("bundle.yaml", f'name: shop\nversion: "1.0"\nrun: [./app]\nallowed_secrets: ["{finding["hash"]}"]\n')
    assert place.build()["allowedSecrets"] == 1
    # Whoever gets the archive decides for themselves.
    assert place.run("bundles", "doctor", place.bundle).returncode == 1
    assert place.run("bundles", "doctor", place.bundle, "--allow", finding["hash"]).returncode == 0


def test_the_doctor_names_a_canary_in_somebody_elses_archive(place):
    files = {".env": f"AWS_KEY={CANARY}\n".encode(), "id_ed25519": CANARY.encode(), "fine.txt": b"nothing\n",
             "config.txt": f"one\nkey {CANARY}\n".encode(), "lib/inner.zip": nested("settings.ini")}
    theirs = place.folder / "theirs"
    for name, content in files.items():
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_bytes(content)
    subprocess.run(["tar", "-C", theirs, "-czf", place.folder / "t.tar.gz", "."], check=True)
    subprocess.run(["tar", "-C", theirs, "--zstd", "-cf", place.folder / "t.tar.zst", "."], check=True)
    subprocess.run(["mksquashfs", theirs, place.folder / "t.sqfs", "-quiet", "-no-progress"], check=True,
                   capture_output=True)
    with zipfile.ZipFile(place.folder / "t.zip", "w") as zipped:
        for name, content in files.items():
            zipped.writestr(name, content)
    for archive in ("t.tar.gz", "t.tar.zst", "t.sqfs", "t.zip"):
        done = place.run("bundles", "doctor", archive)
        assert (done.returncode, done.stdout) == (1, "")
        assert CANARY not in done.stderr
        for said in ("secret  .env: an environment file (", "secret  .env:1: an AWS access key (",
                     "secret  id_ed25519: a private key (", "secret  config.txt:2: an AWS access key (",
                     "secret  lib/inner.zip!settings.ini:2: an AWS access key (", " findings in 6 files"):
            assert said in done.stderr, (archive, done.stderr)


def test_what_the_doctor_cannot_look_into_is_not_proven(place):
    place.put("cut.zip", "")
    (place.shop / "cut.zip").write_bytes(nested("a")[:60])
    done = place.run("bundles", "doctor", place.shop)
    assert done.returncode == 1
    assert "unknown  cut.zip: " in done.stderr and "1 could not be looked into" in done.stderr
    done = place.run("bundles", "build", place.shop, "--out", place.bundle)
    assert done.returncode == 11
    assert "this could not be searched for secrets:\ncut.zip: " in done.stderr
    assert not place.bundle.exists() and not place.sidecar.exists()


def test_a_canary_is_found_wherever_an_archive_can_stand(place):
    theirs = place.folder / "theirs"
    theirs.mkdir()
    filler = "a line of text that is there often\n" * 400
    (theirs / "s.txt").write_text(f"{filler}key = {CANARY}\n{filler}")
    subprocess.run("""set -e
        tar -C theirs -cf p.tar . && pzstd -q -k p.tar -o p.tar.zst && lzma -k p.tar && xz -k p.tar && gzip -k p.tar
        gzip -c shop/app > a.gz && mksquashfs shop a.sqfs -quiet -no-progress && python3 -m zipfile -c s.zip theirs/s.txt
        mksquashfs theirs s.sqfs -quiet -no-progress -comp xz
        cat a.gz p.tar.xz > gz+xz; cat a.gz s.zip > gz+zip; cat a.sqfs s.zip > sqfs+zip
        cat shop/app p.tar.gz > installer.sh; cat /bin/true s.sqfs > App.AppImage
        (printf '!<arch>\\ns.gz/\\n'; cat p.tar.gz; echo; cat /bin/true) > lib.a""",
                   shell=True, check=True, cwd=place.folder, capture_output=True)
    for name in ("p.tar.zst", "p.tar.lzma", "p.tar.xz", "gz+xz", "gz+zip", "sqfs+zip", "installer.sh", "App.AppImage",
                 "lib.a"):
        shutil.copy(place.folder / name, place.shop / name)
        done = place.run("bundles", "build", place.shop, "--out", place.bundle)
        assert done.returncode == 11 and ":401: an AWS access key (" in done.stderr, (name, done.stderr)
        (place.shop / name).unlink()
    assert place.run("bundles", "extract", "sqfs+zip", "out").stderr == (
        "error: sqfs+zip: there is something behind its end\n")


def canary_tar(*before, mode="w:gz"):
    """A tar with these members, and a canary behind them."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as tar:
        for name, kind, link in before:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            tar.addfile(member, io.BytesIO())
        member = tarfile.TarInfo("s.txt")
        content = f"key = {CANARY}\n".encode()
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return file.getvalue()


NESTED = {
    "hard link": lambda: canary_tar(("a", tarfile.REGTYPE, ""), ("b", tarfile.LNKTYPE, "a")),
    "absolute symlink": lambda: canary_tar(("l", tarfile.SYMTYPE, "/bin")),
    "name twice": lambda: canary_tar(("a", tarfile.REGTYPE, ""), ("a", tarfile.REGTYPE, "")),
    "case": lambda: canary_tar(("README", tarfile.REGTYPE, ""), ("readme", tarfile.REGTYPE, "")),
    "absolute path": lambda: canary_tar(("/etc/x", tarfile.REGTYPE, "")),
    "xz": lambda: canary_tar(mode="w:xz"),
    "bzip2": lambda: canary_tar(mode="w:bz2"),
    "second gzip": lambda: gzip.compress(empty_tar()) + canary_tar(),
    "second tar": lambda: gzip.compress(empty_tar() + canary_tar(mode="w:")),
    "zip behind a script": lambda: b"#!/usr/bin/python3\n" + nested("s.txt"),
}


def empty_tar():
    file = io.BytesIO()
    tarfile.open(fileobj=file, mode="w").close()
    return file.getvalue()


@pytest.mark.parametrize("form", NESTED)
def test_no_form_of_archive_hides_a_canary(place, form):
    (place.shop / "inner").write_bytes(NESTED[form]())
    done = place.run("bundles", "build", place.shop, "--out", place.bundle)
    assert done.returncode == 11 and CANARY not in done.stderr
    assert "inner!s.txt:" in done.stderr and "an AWS access key" in done.stderr, done.stderr
    assert not place.bundle.exists()
    done = place.run("bundles", "doctor", place.shop)
    assert done.returncode == 1 and "secret  inner!s.txt:" in done.stderr
    if form != "zip behind a script":
        done = place.run("bundles", "doctor", place.shop / "inner")
        assert done.returncode == 1 and "secret  s.txt:" in done.stderr


def test_key_files_of_every_form_are_never_in_a_bundle(place):
    key = place.folder / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    der = subprocess.run(["openssl", "rsa", "-in", key, "-outform", "DER"], check=True, capture_output=True).stdout
    pkcs8 = subprocess.run(["openssl", "pkcs8", "-topk8", "-nocrypt", "-in", key, "-outform", "DER"], check=True,
                           capture_output=True).stdout
    forms = {"server.der": der, "server.bin": pkcs8, "wide.txt": key.read_text().encode("utf-16"),
             "key.c": "\n".join(f'"{line}\\n"' for line in key.read_text().splitlines()).encode()}
    for name, content in forms.items():
        (place.shop / name).write_bytes(content)
        done = place.run("bundles", "build", place.shop, "--out", place.bundle)
        assert done.returncode == 11 and f"\n{name}" in done.stderr and ": a private key (" in done.stderr, (name, done)
        (place.shop / name).unlink()
    certificate = subprocess.run(["openssl", "req", "-new", "-x509", "-key", key, "-subj", "/CN=x.example", "-outform",
                                  "DER"], check=True, capture_output=True).stdout
    (place.shop / "server.der").write_bytes(certificate)
    place.build()


def test_environment_files_of_every_name_stay_at_home(place):
    names = [".env-prod", ".env_local", ".env1", ".environment", ".env.example", ".env.sample", ".env.template",
             "prod.key.dist", "id_rsa.sample", "prod.env.gz"]
    for name in names:
        place.put(name, "DB=tr0ub4dor\n")
    done = place.good("bundles", "build", place.shop, "--out", place.bundle)
    for name in names:
        assert f"  {name}  " in done.stderr
    files = place.json("bundles", "inspect", place.bundle, "--files")["files"]
    assert [file["path"] for file in files] == ["app", "bundle.yaml"]


def test_libraries_that_test_themselves_have_no_secrets(place):
    library = next(Path("/usr/lib").glob("*/libgnutls.so.30"))
    shutil.copy(library, place.shop / "libgnutls.so")
    done = place.run("bundles", "doctor", place.shop)
    assert done.returncode == 0, done.stderr


# -------------------------------------------------------------------------------------------------------------- build

def test_build_runs_in_a_clean_copy(place):
    place.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./out/app]\ninclude: [out]\n'
                             "build: [sh, -c, 'mkdir out; cp app out/app; ls -A > out/seen; env > out/env']\n")
    place.put(".env", "SECRET_TOKEN=abcdef\n")
    place.put("stale/old", "old")
    place.put(".sluiceignore", "stale/\n")
    place.build(env={"SECRET_TOKEN": "tr0ub4dor"})
    place.good("bundles", "extract", place.bundle, "out")
    out = place.folder / "out"
    assert sorted(path.name for path in out.iterdir()) == ["bundle.yaml", "out"]
    assert (out / "out" / "seen").read_text().split() == [".sluiceignore", "app", "bundle.yaml", "out"]
    assert "tr0ub4dor" not in (out / "out" / "env").read_text()
    assert not (place.shop / "out").exists()
    statement = json.loads(base64.b64decode(json.loads(place.sidecar.read_text())["payload"]))
    definition = statement["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["build"][0] == "sh"
    assert [each["name"] for each in definition["resolvedDependencies"]][0] == "source"


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_build_ends_with_sluice(place, eventually, by):
    noted = place.folder / "pid"
    place.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./app]\n'
                             f"build: [sh, -c, 'sleep 1000 & echo $! > {noted}.new; mv {noted}.new {noted}; wait']\n")
    with subprocess.Popen([place.build_dir / "sluice", "bundles", "build", place.shop, "--out", place.bundle],
                          env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(place.folder / "home")},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        eventually(noted.exists, "the build begins")
        process.send_signal(by)
        _, err = process.communicate(timeout=60)
    pid = int(noted.read_text())
    eventually(lambda: not alive(pid), "the build command ends")
    assert not place.bundle.exists()
    if by == signal.SIGINT:
        assert err.endswith("error: stopped; nothing was written\n")
        assert not [path for path in place.folder.iterdir() if path.name.endswith(".unfinished")]


def test_progress_is_shown_on_a_terminal_after_a_second(place):
    place.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./app]\n'
                             f"build: [sh, -c, 'while [ ! -e {place.folder}/go ]; do sleep 0.05; done']\n")
    main, end = pty.openpty()
    with subprocess.Popen([place.build_dir / "sluice", "bundles", "build", place.shop, "--out", place.bundle],
                          env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(place.folder / "home"), "TERM": "xterm"},
                          stdin=end, stdout=subprocess.DEVNULL, stderr=end) as process:
        os.close(end)
        text = b""
        while b"building (" not in text:
            text += os.read(main, 4096)
        (place.folder / "go").touch()
        with pytest.raises(OSError):
            while True:
                text += os.read(main, 4096)
        assert process.wait(timeout=60) == 0
    os.close(main)
    assert b"building (1s)" in text


# ----------------------------------------------------------------------------------------------------- hostile archives

def tar_with(path, *members):
    with tarfile.open(path, "w") as tar:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = link
            tar.addfile(member, io.BytesIO())


HOSTILE = [
    ("absolute", [("/etc/x", tarfile.REGTYPE, "")], '"/etc/x": the path is absolute'),
    ("parent", [("../x", tarfile.REGTYPE, "")], '"../x": the path has ".." in it'),
    ("escaping", [("l", tarfile.SYMTYPE, "../../x")], '"l": the symlink leads out of the archive: "../../x"'),
    ("through", [("l", tarfile.SYMTYPE, "d"), ("l/x", tarfile.REGTYPE, "")], '"l/x": "l" above it is a symlink'),
    ("hard", [("a", tarfile.REGTYPE, ""), ("b", tarfile.LNKTYPE, "a")], '"b": it is a hard link'),
    ("device", [("d", tarfile.CHRTYPE, "")], '"d": it is a device'),
    ("fifo", [("f", tarfile.FIFOTYPE, "")], '"f": it is a FIFO'),
    ("twice", [("a", tarfile.REGTYPE, ""), ("./a", tarfile.REGTYPE, "")], '"a": the name occurs twice'),
    ("case", [("A", tarfile.REGTYPE, ""), ("a", tarfile.REGTYPE, "")],
     '"a": it differs from "A" only in case or accents'),
    ("deep", [("d/" * 4096 + "x", tarfile.REGTYPE, "")], "it lies deeper than 128 folders"),
]


@pytest.mark.parametrize("name, members, reason", HOSTILE, ids=[each[0] for each in HOSTILE])
@pytest.mark.parametrize("squeeze", ["tar", "tar.gz", "tar.zst"])
def test_hostile_archives_are_refused_in_one_line_and_leave_nothing(place, name, members, reason, squeeze):
    path = place.folder / "a.tar"
    tar_with(path, *members)
    if squeeze == "tar.gz":
        subprocess.run(["gzip", "-f", path], check=True)
    elif squeeze == "tar.zst":
        subprocess.run(["zstd", "-q", "--rm", path], check=True)
    before = sorted(path.name for path in place.folder.iterdir())
    for words in (["extract", f"a.{squeeze}", "out"], ["inspect", f"a.{squeeze}"]):
        done = place.run("bundles", *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"error: a.{squeeze}: ")
        assert done.stderr.rstrip().endswith(reason), done.stderr
    assert sorted(path.name for path in place.folder.iterdir()) == before


def test_a_tar_gz_that_lies_is_refused_and_one_of_pzstd_is_read(place):
    tar_with(place.folder / "a.tar", ("pay", tarfile.REGTYPE, "amount=100"))
    plain = (place.folder / "a.tar").read_bytes()
    squeezed = gzip.compress(plain, compresslevel=0)
    for lying, reason in ((squeezed.replace(b"pay", b"pax"), "incorrect data check"),
                          (squeezed[:-4] + b"\xff\xff\xff\x7f", "incorrect length check"),
                          (squeezed + b"GARBAGE", "there is something behind what is compressed")):
        (place.folder / "a.tar.gz").write_bytes(lying)
        done = place.run("bundles", "extract", "a.tar.gz", "out")
        assert done.returncode == 1 and done.stderr.rstrip().endswith(reason), done.stderr
        assert not (place.folder / "out").exists()
    subprocess.run(["pzstd", "-q", "-k", "a.tar", "-o", "a.tar.zst"], cwd=place.folder, check=True, capture_output=True)
    assert (place.folder / "a.tar.zst").read_bytes()[1:4] == b"\x2a\x4d\x18", "it begins with a frame to pass over"
    place.good("bundles", "extract", "a.tar.zst", "out")
    assert (place.folder / "out" / "pay").exists()


def test_a_fifo_in_a_zip_is_refused(place):
    with zipfile.ZipFile(place.folder / "a.zip", "w") as zipped:
        entry = zipfile.ZipInfo("pipe")
        entry.create_system = 3
        entry.external_attr = 0o010644 << 16
        zipped.writestr(entry, b"")
    done = place.run("bundles", "extract", "a.zip", "out")
    assert (done.returncode, done.stderr) == (1, 'error: a.zip: "pipe": it is a FIFO\n')
    assert not (place.folder / "out").exists()


def test_a_stopped_extraction_leaves_nothing(place, eventually):
    with tarfile.open(place.folder / "many.tar", "w") as tar:
        for n in range(40_000):
            tar.addfile(tarfile.TarInfo(f"f{n}"))
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([place.build_dir / "sluice", "bundles", "extract", "many.tar", "out"], cwd=place.folder,
                              stderr=subprocess.PIPE, text=True) as process:
            eventually(lambda: list(place.folder.glob(".out.*.unfinished/f1")))
            process.send_signal(stop)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 1 and said.endswith("error: stopped; nothing was left behind\n"), said
        assert sorted(path.name for path in place.folder.iterdir()) == ["many.tar", "shop"]


def test_what_was_built_can_be_opened_however_well_it_compresses(place):
    with open(place.shop / "seed.db", "wb") as file:
        file.truncate(100 << 20)
    (place.shop / "app.log").write_bytes(b"all is well\n" * (4 << 20))
    place.build()
    place.good("bundles", "verify", place.bundle)
    place.good("bundles", "extract", place.bundle, "out")
    assert (place.folder / "out" / "seed.db").stat().st_size == 100 << 20


def test_a_device_or_a_fifo_is_never_replaced_by_what_is_written(place):
    place.build()
    pipe = place.folder / "pipe"
    os.mkfifo(pipe)
    (place.folder / "link").symlink_to("pipe")
    for out in ("pipe", "link"):
        for words in (["bundles", "build", place.shop], ["trust", "export"]):
            done = place.run(*words, "--out", out)
            assert (done.returncode, done.stdout) == (6, "")
            assert done.stderr == (f"error: {out} is a device, a FIFO or a socket, and was left as it is\n"
                                   "next:  name a file\n")
    assert pipe.is_fifo() and (place.folder / "link").is_symlink()
    assert sorted(path.name for path in place.folder.iterdir()) == ["home", "link", "pipe", "shop", "shop.bundle",
                                                                    "shop.bundle.sig.json"]


def test_what_a_build_made_is_refused_by_the_name_of_the_folder(place):
    place.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./app]\nbuild: [ln, -s, /etc/passwd, users]\n')
    done = place.run("bundles", "build", "shop", "--out", place.bundle)
    assert done.returncode == 1
    assert done.stderr.endswith('error: shop after its build: "users": the symlink\'s target is absolute\n'
                                "next:  change it, or name it in .sluiceignore\n")


def test_a_build_gives_the_same_bytes_in_every_place(place):
    place.put("app.c", "int main(void) { return 0; }\n")
    place.put("bundle.yaml", 'name: shop\nversion: "1.0"\nrun: [./app]\nbuild: [gcc, -g, -o, app, app.c]\n')
    first = place.json("bundles", "build", place.shop, "--out", place.bundle)
    (place.folder / "elsewhere").mkdir()
    second = place.json("bundles", "build", place.shop, "--out", place.folder / "elsewhere" / "other")
    assert first["warnings"] == [], "it needs root, or user namespaces"
    assert second["archive"] == first["archive"]
    # Nobody but root has user namespaces in a chroot.
    if os.getuid() == 0 and subprocess.run(["unshare", "--user", "true"], check=False, capture_output=True,
                                           cwd="/", **NOBODY).returncode == 0:
        third = built_by_nobody(place, place.shop)
        assert third["warnings"] == []
        assert third["archive"] == first["archive"]


def test_a_truncated_bundle_is_refused_everywhere(place):
    place.build()
    whole = place.bundle.read_bytes()
    for size in (0, 50, 100, 200):
        (place.folder / "cut.bundle").write_bytes(whole[:size])
        for words in (["extract", "cut.bundle", "out"], ["inspect", "cut.bundle"], ["doctor", "cut.bundle"]):
            done = place.run("bundles", *words)
            assert done.returncode == 1, (size, words)
            assert done.stderr.startswith("error: cut.bundle: ")
    assert not (place.folder / "out").exists()


def test_who_reads_does_not_wait_for_a_build(place, eventually):
    place.build()
    go, begun = place.folder / "go", place.folder / "begun"
    with subprocess.Popen([place.build_dir / "sluice", "artifact", "build", place.shop, "--file", "out", "--", "sh", "-c",
                           f"touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done; echo x > out"], cwd=place.folder,
                          env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(place.folder / "home")},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as building:
        try:
            eventually(begun.exists)
            now = ("--lock-timeout", "0s")
            assert place.good("bundles", "verify", place.bundle, *now).stdout.startswith("verified")
            assert "operator" in place.good("trust", "list", *now).stdout
            assert place.json("trust", "export", *now)["keys"]
            assert place.json("artifact", "list", *now) == []
            assert "Artifact/build" in place.good("flow", "list", *now).stdout
            place.good("bundles", "build", place.shop, "--out", place.folder / "second.bundle", *now)
            assert place.run("trust", "bootstrap", "--env", "prod", *now).returncode == 6, "who writes waits"
        finally:
            go.touch()
            _, said = building.communicate(timeout=60)
        assert building.returncode == 0, said
    assert len(place.json("artifact", "list")) == 1


# --------------------------------------------------------------------------------------------------- formats and init

def test_every_command_answers_in_json_and_yaml(place):
    place.build()
    for n, words in enumerate((["inspect", place.bundle], ["verify", place.bundle], ["doctor", place.bundle],
                               ["diff", place.shop, place.bundle], ["sign", place.bundle])):
        as_json = json.loads(place.good("bundles", *words, "-o", "json").stdout)
        assert yaml.safe_load(place.good("bundles", *words, "-o", "yaml").stdout) == as_json
    assert place.json("bundles", "extract", place.bundle, "out")["entries"] == 2


def test_init_begins_what_build_packs(place):
    fresh = place.folder / "Till 2"
    fresh.mkdir()
    (fresh / "main.py").write_text("print()\n")
    done = place.good("init", fresh)
    assert done.stdout == f"{fresh}/bundle.yaml\n"
    assert yaml.safe_load((fresh / "bundle.yaml").read_text()) == {
        "name": "till-2", "version": "0.1.0", "run": ["python3", "main.py"], "listen": "port"}
    assert place.run("init", fresh).returncode == 6
    assert place.json("bundles", "build", fresh)["file"] == "till-2-0.1.0.bundle"
    place.good("bundles", "verify", "till-2-0.1.0.bundle")


def test_init_answers_can_come_from_a_file_or_a_person(place):
    (place.folder / "answers.yaml").write_text("name: till\nrun: ./serve 'two words'\nlisten: unix\n")
    for name in ("one", "two"):
        (place.folder / name).mkdir()
    place.good("init", "one", "--answers", "answers.yaml")
    done = subprocess.run([place.build_dir / "sluice", "init", "two"], input="till\n./serve 'two words'\nunix\n",
                          text=True, capture_output=True, check=False, cwd=place.folder)
    assert done.returncode == 0, done.stderr
    one, two = ((place.folder / name / "bundle.yaml").read_text() for name in ("one", "two"))
    assert one == two
    assert yaml.safe_load(one)["run"] == ["./serve", "two words"]
