#!/usr/bin/python3
"""Writes an OCI layout with Sluice in it: `image.py BINARY FOLDER [--full]`. No engine is needed, and the same binary,
libraries and certificates give the same bytes.

In the image are the stripped program with the libraries that it needs (sluice-static needs none), the certificates of
Debian's ca-certificates, and names for the users root and sluice (65532, which it runs as). With --full, which takes
the program that is not static, also the libraries that are loaded at run time, libpq and libgit2, and all that they
need. There is no shell."""

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

USER = 65532
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
FOLDERS = {"etc": 0o755, "etc/ssl": 0o755, "etc/ssl/certs": 0o755, "usr": 0o755, "usr/bin": 0o755, "var": 0o755,
           "var/lib": 0o755, "tmp": 0o1777}
TEXTS = {"etc/passwd": f"root:x:0:0:root:/:/nologin\nsluice:x:{USER}:{USER}:Sluice:/var/lib/sluice:/nologin\n",
         "etc/group": f"root:x:0:\nsluice:x:{USER}:\n", "etc/nsswitch.conf": "hosts: files dns\n"}


def stripped(binary):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "sluice"
        subprocess.run(["strip", "--strip-all", "--remove-section=.note.gnu.build-id", "-o", copy, binary], check=True)
        return copy.read_bytes()


def loaded_at_run_time():
    """Where the libraries are that the program loads by name."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    found = []
    for name, package in {"libpq.so.5": "libpq5", "libgit2.so.1.5": "libgit2-1.5"}.items():
        path = re.search(rf"\s{re.escape(name)} \(libc6,x86-64\) => (\S+)|\s{re.escape(name)} .*=> (\S+)", known)
        if not path:
            sys.exit(f"there is no {name}: install {package}")
        found.append(path[1] or path[2])
    return found


def needed_by(file):
    """The libraries that a program or a library needs, by the paths where it looks for them."""
    listed = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)


def libraries(binary, full):
    """The files that the program needs at run time, by the paths where it looks for them."""
    paths = needed_by(binary)
    for each in loaded_at_run_time() if full else []:
        paths += [each, *needed_by(each)]
    return {path: Path(path).read_bytes() for path in paths}


def contents(binary, full):
    """path: (bytes or None for a folder, mode, owner)"""
    made = {path: (None, mode, 0) for path, mode in FOLDERS.items()}
    made["var/lib/sluice"] = (None, 0o700, USER)
    for path, text in TEXTS.items():
        made[path] = (text.encode(), 0o644, 0)
    if not CERTIFICATES.exists():
        sys.exit(f"there is no {CERTIFICATES}: install ca-certificates")
    made[str(CERTIFICATES)[1:]] = (CERTIFICATES.read_bytes(), 0o644, 0)
    for path, data in libraries(binary, full).items():
        made[path[1:]] = (data, 0o755, 0)
        for folder in list(Path(path[1:]).parents)[:-1]:
            made.setdefault(str(folder), (None, 0o755, 0))
    made["usr/bin/sluice"] = (stripped(binary), 0o755, 0)
    return made


def layer(made):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(made):
            data, mode, owner = made[path]
            entry = tarfile.TarInfo(path)
            entry.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            entry.mode, entry.uid, entry.gid, entry.size = mode, owner, owner, len(data or b"")
            tar.addfile(entry, io.BytesIO(data or b""))
    return packed.getvalue()


def write_layout(folder, plain, version, architecture):
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def keep(data, media_type):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{media_type}", "digest": f"sha256:{digest}", "size": len(data)}

    packed = keep(gzip.compress(plain, 9, mtime=0), "layer.v1.tar+gzip")
    config = {"architecture": architecture, "os": "linux",
              "config": {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/sluice"], "Cmd": ["serve"],
                         "WorkingDir": "/var/lib/sluice",
                         "Env": ["PATH=/usr/bin", "SLUICE_HOME=/var/lib/sluice", "HOME=/var/lib/sluice"],
                         "Labels": {"org.opencontainers.image.title": "sluice",
                                    "org.opencontainers.image.version": version}},
              "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": keep(as_json(config), "config.v1+json"), "layers": [packed]}
    named = keep(as_json(manifest), "manifest.v1+json")
    named["annotations"] = {"org.opencontainers.image.ref.name": version}
    (folder / "index.json").write_bytes(as_json({"schemaVersion": 2, "manifests": [named]}))
    (folder / "oci-layout").write_bytes(as_json({"imageLayoutVersion": "1.0.0"}))
    return named["digest"]


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main(binary, out, full=""):
    if full not in ("", "--full"):
        sys.exit(f"usage: image.py BINARY FOLDER [--full], not {full}")
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    made = contents(binary, full == "--full")
    folder = Path(out)
    if folder.exists() and not (folder / "oci-layout").exists():
        sys.exit(f"{folder} is there and is no OCI layout; it was left as it was")
    shutil.rmtree(folder, ignore_errors=True)
    digest = write_layout(folder, layer(made), version, architecture)
    total = sum(len(data or b"") for data, _, _ in made.values())
    print(f"{folder}  sluice {version}  {digest}  {total / 1e6:.1f} MB unpacked")


if __name__ == "__main__":
    main(*sys.argv[1:])
