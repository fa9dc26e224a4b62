"""Images of one small program, made without an engine: an OCI layout of one layer, as `image: ./layout` wants it, and
the same in a registry."""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).parent


def compile_app(folder, version):
    """The program of app.c, without libraries; what it answers is its version."""
    program = folder / f"app-{version}"
    subprocess.run(["gcc", "-O1", "-static", "-s", "-pthread", f'-DVERSION="{version}"', "-o", program, HERE / "app.c"],
                   check=True)
    return program


def add_blob(layout, content):
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs/sha256" / digest).write_bytes(content)
    return {"digest": f"sha256:{digest}", "size": len(content)}


def layer_of(program):
    """A tar with /app, and the folders that an image has."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("proc", "sys", "dev", "etc", "run"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        entry = tarfile.TarInfo("app")
        entry.mode, entry.size = 0o755, program.stat().st_size
        tar.addfile(entry, io.BytesIO(program.read_bytes()))
    return buffer.getvalue()


def make_layout(layout, program, architecture="amd64", **config):
    """An OCI layout of one image; `config` is what the image says of its program."""
    tar = layer_of(program)
    layer = add_blob(layout, gzip.compress(tar, mtime=0))
    settings = {"architecture": architecture, "os": "linux", "config": {"Entrypoint": ["/app"], **config},
                "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]}}
    kind = "application/vnd.oci.image"
    manifest = {"schemaVersion": 2, "mediaType": f"{kind}.manifest.v1+json",
                "config": {"mediaType": f"{kind}.config.v1+json", **add_blob(layout, json.dumps(settings).encode())},
                "layers": [{"mediaType": f"{kind}.layer.v1.tar+gzip", **layer}]}
    described = {"mediaType": f"{kind}.manifest.v1+json", **add_blob(layout, json.dumps(manifest).encode()),
                 "platform": {"os": "linux", "architecture": architecture}}
    index = {"schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [described]}
    (layout / "index.json").write_text(json.dumps(index))
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return layout


def push(layout, reference, *words):
    subprocess.run(["skopeo", "copy", "--quiet", "--dest-tls-verify=false", "--all", *words, f"oci:{layout}",
                    f"docker://{reference}"], check=True, capture_output=True)
