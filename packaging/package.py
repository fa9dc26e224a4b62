#!/usr/bin/python3
"""Makes a Debian package of Sluice: `package.py BINARY FOLDER` writes FOLDER/sluice_VERSION_ARCHITECTURE.deb.

In it are the stripped program, completions for bash, zsh and fish, a man page made of the program's own help, and the
units sluice.service and sluice-router@.service. The same binary gives the same bytes."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SUMMARY = "deployments with signed bundles and judged rollouts"
ABOUT = """ Sluice takes software from a folder to production traffic, and back. It packs
 and signs bundles, runs them as processes, lets traffic in a little at a
 time, judges a new version on that traffic, and goes back when it is worse."""
MADE_AT = "946684800"  # the times of its files say nothing, and are not so old that tools complain
MAINTAINER = "The Sluice project <packages@sluice.example>"


def said_by(*words):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


def roff(text):
    """A text as it stands in a man page."""
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line
                     for line in text.replace("\\", "\\e").replace("-", "\\-").splitlines())


def man_page(binary, version):
    table = json.loads(said_by(binary, "help", "-o", "json"))
    lines = [f'.TH SLUICE 1 "" "sluice {version}" "Sluice"', ".SH NAME", f"sluice \\- {roff(SUMMARY)}",
             ".SH SYNOPSIS", ".B sluice", "[\\fIoptions\\fR] \\fIcommand\\fR \\&...", ".SH DESCRIPTION",
             "One program packs, signs, runs and routes what a team ships. `sluice help` lists its commands;",
             "each explains itself with \\fB\\-\\-help\\fR.", ".SH COMMANDS"]
    for command in table["commands"]:
        lines += [".TP", f".B {roff(command['usage'])}", roff(command["summary"]) + "."]
    lines += [".SH OPTIONS"]
    for option in table["global_options"]:
        value = f" {option['value']}" if "value" in option else ""
        lines += [".TP", f".B {roff(option['name'] + value)}", roff(option["help"])]
    lines += [".SH FILES", ".TP", ".I /var/lib/sluice", "The home of the service.",
              ".TP", ".I /etc/default/sluice\\-router\\-NAME", "Options of the service sluice\\-router@NAME.",
              ".SH ENVIRONMENT", ".TP", ".B SLUICE_HOME", "The home that commands use."]
    return "\n".join(lines) + "\n"


def put(root, path, data, mode=0o644):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    file.chmod(mode)


def fill(root, binary, version):
    program = root / "usr/bin/sluice"
    program.parent.mkdir(parents=True)
    subprocess.run(["strip", "--strip-all", "--remove-section=.comment", "--remove-section=.note", "-o", program, binary],
                   check=True)
    program.chmod(0o755)
    put(root, "usr/share/bash-completion/completions/sluice", said_by(binary, "completion", "bash"))
    put(root, "usr/share/zsh/vendor-completions/_sluice", said_by(binary, "completion", "zsh"))
    put(root, "usr/share/fish/vendor_completions.d/sluice.fish", said_by(binary, "completion", "fish"))
    put(root, "usr/share/man/man1/sluice.1.gz", gzip.compress(man_page(binary, version).encode(), 9, mtime=0))
    for unit in ("sluice.service", "sluice-router@.service"):
        put(root, f"lib/systemd/system/{unit}", (HERE / "debian" / unit).read_bytes())
    put(root, "usr/share/doc/sluice/copyright",
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sluice\n\n"
        "Files: *\nCopyright: 2026 the authors of Sluice\nLicense: Apache-2.0\n"
        " On Debian systems the text of the Apache License, version 2.0, is in\n /usr/share/common-licenses/Apache-2.0.\n")
    put(root, "usr/share/lintian/overrides/sluice",
        "# One program that needs the C library alone: what it uses is part of it, by design.\n"
        "sluice: embedded-library *\n")
    log = (f"sluice ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of this version.\n\n"
           f" -- {MAINTAINER}  Sat, 01 Jan 2000 00:00:00 +0000\n")
    put(root, "usr/share/doc/sluice/changelog.gz", gzip.compress(log.encode(), 9, mtime=0))


def describe(root, version, architecture):
    files = sorted(path for path in root.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in files) // 1024
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files)
    put(root, "DEBIAN/md5sums", sums)
    put(root, "DEBIAN/control",
        f"Package: sluice\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nDepends: libc6 (>= 2.36)\nRecommends: ca-certificates\nSection: admin\n"
        f"Priority: optional\nDescription: {SUMMARY}\n{ABOUT}\n")
    for script in ("postinst", "prerm", "postrm"):
        put(root, f"DEBIAN/{script}", (HERE / "debian" / script).read_bytes(), 0o755)


def main(binary, out):
    version = said_by(binary, "--version").split()[1]
    architecture = said_by("dpkg", "--print-architecture").strip()
    package = Path(out) / f"sluice_{version}_{architecture}.deb"
    package.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        fill(root, binary, version)
        describe(root, version, architecture)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, package], check=True,
                       capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": MADE_AT})
    print(package)


if __name__ == "__main__":
    main(*sys.argv[1:])
