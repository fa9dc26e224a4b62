"""Compiles hello.c without libraries and lays it out as an OCI image of one layer, FROM scratch, in ./image."""

import gzip
import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
TYPE = "application/vnd.oci.image"


def blob(content, kind):
    digest = hashlib.sha256(content).hexdigest()
    (Path("image/blobs/sha256") / digest).write_bytes(content)
    return {"mediaType": f"{TYPE}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}


def as_json(value):
    return json.dumps(value, sort_keys=True).encode()


subprocess.run(["gcc", "-O2", "-static", "-s", "-o", "hello", "hello.c"], check=True)
Path("image/blobs/sha256").mkdir(parents=True)
layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w") as tar:
    program = tarfile.TarInfo("hello")
    program.mode, program.size = 0o755, Path("hello").stat().st_size
    tar.addfile(program, Path("hello").open("rb"))
config = {"architecture": ARCHITECTURE, "os": "linux", "config": {"Entrypoint": ["/hello"]},
          "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer.getvalue()).hexdigest()]}}
manifest = {"schemaVersion": 2, "mediaType": f"{TYPE}.manifest.v1+json",
            "config": blob(as_json(config), "config.v1+json"),
            "layers": [blob(gzip.compress(layer.getvalue(), mtime=0), "layer.v1.tar+gzip")]}
described = blob(as_json(manifest), "manifest.v1+json") | {"platform": {"architecture": ARCHITECTURE, "os": "linux"}}
index = {"schemaVersion": 2, "mediaType": f"{TYPE}.index.v1+json", "manifests": [described]}
Path("image/index.json").write_bytes(as_json(index))
Path("image/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
