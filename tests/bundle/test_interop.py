"""Archives go between Sluice and Debian's squashfs-tools, squashfs-tools-ng, tar and zip in both directions, and the
same folder gives the same bytes whatever surrounds it."""

import json
import os
import shutil
import struct
import subprocess
import tarfile
import zipfile
import zlib

import pytest


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, check=False, text=True, **options)


@pytest.fixture
def tool(build_dir):
    """Runs bundle_tool; gives what it printed, in words, or fails with what it said."""
    def call(*words, **options):
        done = run(build_dir / "bundle_tool", *words, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()
    return call


@pytest.fixture
def refusal(build_dir):
    """Runs bundle_tool, which must refuse; gives its message and its exit code."""
    def call(*words):
        done = run(build_dir / "bundle_tool", *words)
        assert done.returncode != 0 and done.stderr.count("\n") == 1, (done.returncode, done.stdout, done.stderr)
        return done.stderr.strip(), done.returncode
    return call


def fill(folder):
    """A folder with some of everything that a bundle can hold."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "app").write_bytes(b"#!/bin/sh\nexit 0\n")
    (folder / "bin" / "app").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "empty-file").touch()
    (folder / "zeros").write_bytes(bytes(3_000_000))
    (folder / "text").write_text("".join(f"line {n}\n" for n in range(60_000)))
    (folder / "block").write_bytes(os.urandom(1) * 131072)
    (folder / "grüße.txt").write_text("hello\n")
    (folder / "many").mkdir()
    for n in range(400):
        (folder / "many" / f"file-{n}").write_text(str(n))
    (folder / "current").symlink_to("bin/app")
    (folder / "many" / "up").symlink_to("../text")
    return folder


@pytest.fixture
def source(tmp_path):
    return fill(tmp_path / "source")


def contents(folder):
    """What is in a folder: modes of files, targets and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_dir():
            found[name] = "dir"
        else:
            found[name] = (bool(path.stat().st_mode & 0o100), path.read_bytes())
    return found


def test_unsquashfs_reads_ours(tool, source, tmp_path):
    tool("pack", source, tmp_path / "a.bundle")
    done = run("unsquashfs", "-no-xattrs", "-d", tmp_path / "out", tmp_path / "a.bundle")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "out") == contents(source)
    about = run("unsquashfs", "-s", tmp_path / "a.bundle").stdout
    assert "Compression zstd" in about and "compression-level 3" in about and "Jan  1 00:00:00 1970" in about


def test_sqfs2tar_reads_ours_and_we_read_its_tar(tool, source, tmp_path):
    digest, _ = tool("pack", source, tmp_path / "a.bundle")
    done = subprocess.run(["sqfs2tar", str(tmp_path / "a.bundle")], capture_output=True, check=True)
    (tmp_path / "a.tar").write_bytes(done.stdout)
    assert tool("digest", tmp_path / "a.tar") == [digest]
    with tarfile.open(tmp_path / "a.tar") as tar:
        assert all(member.mtime == 0 and member.uid == 0 and member.gid == 0 for member in tar)


@pytest.mark.parametrize("compressor", ["gzip", "xz", "zstd", "lz4"])
def test_we_read_mksquashfs(tool, source, tmp_path, compressor):
    digest, _ = tool("pack", source, tmp_path / "a.bundle")
    done = run("mksquashfs", source, tmp_path / "m.sqfs", "-comp", compressor, "-no-progress", "-quiet")
    assert done.returncode == 0, done.stderr
    assert tool("digest", tmp_path / "m.sqfs") == [digest]
    assert tool("extract", tmp_path / "m.sqfs", tmp_path / "out") == [digest]
    assert contents(tmp_path / "out") == contents(source)


@pytest.mark.parametrize("options", [["-no-fragments"], ["-b", "4096"], ["-b", "1M"], ["-noI", "-noD", "-noF"],
                                     ["-exports"], ["-always-use-fragments"]])
def test_we_read_mksquashfs_with_any_options(tool, source, tmp_path, options):
    digest, _ = tool("pack", source, tmp_path / "a.bundle")
    done = run("mksquashfs", source, tmp_path / "m.sqfs", *options, "-no-progress", "-quiet")
    assert done.returncode == 0, done.stderr
    assert tool("digest", tmp_path / "m.sqfs") == [digest]


def test_tar_and_zip_of_a_folder_have_its_digest(tool, source, tmp_path):
    digest, _ = tool("pack", source, tmp_path / "a.bundle")
    for name, option in [("a.tar", "-cf"), ("a.tar.gz", "-czf"), ("a.tar.zst", "--zstd -cf")]:
        assert run("tar", "-C", source, *option.split(), tmp_path / name, ".").returncode == 0
        assert tool("digest", tmp_path / name) == [digest]
    for form in [["ustar"], ["pax"], ["pax", "-S"], ["gnu"], ["gnu", "-S"]]:
        options = [f"--format={form[0]}", *form[1:]]
        assert run("tar", "-C", source, *options, "-cf", tmp_path / "f.tar", ".").returncode == 0
        assert tool("digest", tmp_path / "f.tar") == [digest]
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(source.rglob("*")):
            entry = zipfile.ZipInfo(str(path.relative_to(source)) + ("/" if path.is_dir() and not path.is_symlink() else ""))
            entry.external_attr = path.lstat().st_mode << 16
            if path.is_symlink():
                zipped.writestr(entry, os.readlink(path))
            elif path.is_dir():
                zipped.writestr(entry, b"")
            else:
                zipped.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    assert tool("digest", tmp_path / "a.zip") == [digest]


def test_the_tree_digest_is_what_the_documentation_says(tool, source, tmp_path):
    """Computed anew from docs/internals/bundle.md alone."""
    import hashlib
    digest, archive = tool("pack", source, tmp_path / "a.bundle")
    entries = []
    for path in source.rglob("*"):
        name = str(path.relative_to(source))
        if path.is_symlink():
            entries.append({"mode": "0777", "path": name, "target": os.readlink(path), "type": "symlink"})
        elif path.is_dir():
            entries.append({"mode": "0755", "path": name, "type": "dir"})
        else:
            entries.append({"mode": "0755" if path.stat().st_mode & 0o100 else "0644", "path": name,
                            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size,
                            "type": "file"})
    entries.sort(key=lambda entry: entry["path"].encode())
    text = json.dumps({"entries": entries, "schema": "sluice.tree.v1"}, sort_keys=True, ensure_ascii=False,
                      separators=(",", ":"))
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    assert archive == hashlib.sha256((tmp_path / "a.bundle").read_bytes()).hexdigest()


def test_the_same_folder_gives_the_same_bytes_everywhere(build_dir, tool, source, tmp_path):
    first = tool("pack", source, tmp_path / "a.bundle")
    # Another place, order of creation, times, modes, umask, time zone, locale and number of threads.
    other = tmp_path / "deep" / "er"
    other.mkdir(parents=True)
    for path in sorted(source.rglob("*"), reverse=True):
        target = other / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(os.readlink(path))
        elif path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            shutil.copyfile(path, target)
            target.chmod(0o700 if path.stat().st_mode & 0o100 else 0o660)
            os.utime(target, (1, 1))
    env = dict(os.environ, TZ="Pacific/Auckland", LC_ALL="C")
    second = tool("pack", other, tmp_path / "b.bundle", 1, env=env, umask=0o077)
    assert first == second
    # Another user.
    if os.getuid() == 0:
        shared = tmp_path / "shared"
        shutil.copytree(other, shared, symlinks=True)
        outcome = tmp_path / "outcome"
        outcome.mkdir()
        for path in [shared, *shared.rglob("*"), outcome]:
            os.chown(path, 65534, 65534, follow_symlinks=False)
        program = shutil.copy(build_dir / "bundle_tool", tmp_path / "bundle_tool")
        for folder in [tmp_path, *tmp_path.parents]:
            if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o001:
                folder.chmod(folder.stat().st_mode | 0o011)
        done = run(program, "pack", shared, outcome / "c.bundle", user=65534, group=65534)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == first


def test_diff_names_what_changed(build_dir, tool, source, tmp_path):
    tool("pack", source, tmp_path / "a.bundle")
    (source / "text").write_text("new\n")
    (source / "bin" / "app").chmod(0o644)
    (source / "added").touch()
    (source / "empty-file").unlink()
    tool("pack", source, tmp_path / "b.bundle")
    done = run(build_dir / "bundle_tool", "diff", tmp_path / "a.bundle", tmp_path / "b.bundle")
    assert done.stdout.splitlines() == ["+ added", "~ bin/app (mode 0755 to 0644)", "- empty-file",
                                        "~ text (content, 648890 to 4 bytes)"]


def squash(tmp_path, source, *options):
    image = tmp_path / "hostile.sqfs"
    done = run("mksquashfs", source, image, "-noI", "-no-progress", "-quiet", *options)
    assert done.returncode == 0, done.stderr
    return image


def test_hard_links_devices_and_fifos_in_squashfs_are_refused(refusal, tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "a").write_text("x")
    os.link(folder / "a", folder / "b")
    image = squash(tmp_path, folder)
    assert refusal("digest", image) == (f'{image}: "a": it is a hard link', 1)
    (folder / "b").unlink()
    for pseudo, reason in [("d c 666 0 0 1 3", "it is a device"), ("d b 666 0 0 8 0", "it is a device"),
                           ("d i 666 0 0 f", "it is a FIFO"), ("d i 666 0 0 s", "it is a socket")]:
        image.unlink()
        image = squash(tmp_path, folder, "-p", pseudo)
        assert refusal("extract", image, tmp_path / "out") == (f'{image}: "d": {reason}', 1)
        assert not (tmp_path / "out").exists()


def test_duplicate_names_and_lying_sizes_in_squashfs_are_refused(refusal, tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "twinA").write_text("x")
    (folder / "twinB").write_text("y")
    image = squash(tmp_path, folder)
    # The folder's list is not compressed: its second name becomes the first.
    image.write_bytes(image.read_bytes().replace(b"twinB", b"twinA"))
    assert refusal("digest", image) == (f'{image}: "twinA": the name occurs twice', 1)
    (folder / "twinB").unlink()
    (folder / "twinA").write_bytes(b"z" * 0x1234)
    image.unlink()
    image = squash(tmp_path, folder)
    image.write_bytes(image.read_bytes().replace((0x1234).to_bytes(4, "little"), (0x1f000).to_bytes(4, "little")))
    message, _ = refusal("digest", image)
    assert message == f'{image}: "twinA": the archive is damaged: the end of a file lies outside its block'


def test_ten_gigabytes_of_zeros_are_refused(refusal, tmp_path):
    big = tmp_path / "f" / "big"
    big.parent.mkdir()
    with big.open("wb") as file:
        file.truncate(10 << 30)
    assert run("tar", "-C", big.parent, "-S", "-cf", tmp_path / "bomb.tar", "big").returncode == 0
    assert refusal("extract", tmp_path / "bomb.tar", tmp_path / "out") == (
        f"{tmp_path}/bomb.tar: it unpacks to more than 8589934592 bytes", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bomb.tar", "f"]


def test_ten_gigabytes_in_a_zip_are_refused(refusal, tmp_path):
    # What is compressed up to a full flush stands for itself: repeated, it unpacks to as much once more.
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeezer.compress(bytes(64 << 20)) + squeezer.flush(zlib.Z_FULL_FLUSH)
    data = piece * 160 + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    size = (64 << 20) * 160
    assert size == 10 << 30
    more = struct.pack("<HHQQ", 1, 16, size, len(data))
    common = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 0x21, 0, 0xFFFFFFFF, 0xFFFFFFFF, 3, len(more))
    local = b"PK\x03\x04" + common + b"big" + more
    central = (b"PK\x01\x02" + struct.pack("<H", 45 | 3 << 8) + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, 0)
               + b"big" + more)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(data), 0)
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(local + data + central + end)
    message, code = refusal("extract", bomb, tmp_path / "out")
    assert (message, code) == (f"{bomb}: it unpacks to more than 8589934592 bytes", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bomb.zip"]


def test_a_million_files_in_a_zip_are_refused(refusal, tmp_path):
    count = 1_000_000
    bomb = tmp_path / "many.zip"
    with bomb.open("wb") as file:
        head = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x21, 0, 0, 0, 7, 0)
        file.write(b"".join(b"PK\x03\x04" + head + b"%07d" % n for n in range(count)))
        begin = file.tell()
        rest = struct.pack("<HHHI", 0, 0, 0, 0o100644 << 16)
        file.write(b"".join(b"PK\x01\x02\x14\x03" + head + rest + (n * 37).to_bytes(4, "little") + b"%07d" % n
                            for n in range(count)))
        end = file.tell()
        file.write(b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, end - begin, begin))
        file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1))
        file.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    assert refusal("extract", bomb, tmp_path / "out") == (f"{bomb}: it has more than 250000 entries", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.zip"]


def test_a_canary_is_never_packed_and_always_found(build_dir, tmp_path):
    canary = "AKIA" + "Q3EGLU2R7XVNTP4H"
    source = tmp_path / "source"
    source.mkdir()
    (source / "bundle.yaml").write_text("name: a\n")
    (source / ".env").write_text(f"AWS_KEY={canary}\n")
    (source / "id_ed25519").write_text(canary)
    (source / "config.txt").write_text(f"one\nkey {canary}\n")
    with zipfile.ZipFile(source / "nested.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("deep/settings.ini", f"[aws]\nid = {canary}\n")
        zipped.writestr(".env", "A=b\n")
    tool = build_dir / "bundle_tool"
    selected = run(tool, "select", source).stdout.splitlines()
    assert "- .env (an environment file)" in selected and "- id_ed25519 (a private key)" in selected
    found = run(tool, "doctor", source).stdout.splitlines()
    assert [line.rsplit(" (", 1)[0] for line in found[:-1]] == [
        "config.txt:2: an AWS access key", "nested.zip!deep/settings.ini:2: an AWS access key",
        "nested.zip!.env: an environment file"]
    assert all(canary not in line for line in found)
    # In somebody else's archive.
    assert run("tar", "-C", source, "-czf", tmp_path / "theirs.tgz", ".").returncode == 0
    found = run(tool, "doctor", tmp_path / "theirs.tgz").stdout
    for place in [".env: an environment file", ".env:1: an AWS access key", "id_ed25519: a private key",
                  "id_ed25519:1: an AWS access key", "config.txt:2:", "nested.zip!deep/settings.ini:2:"]:
        assert place in found
