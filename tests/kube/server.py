"""Starts the tests' Kubernetes API server, whose sources are in server/, in place of this program.

    python3 server.py --folder DIR [--port 0] [--tls] [--settle | --controllers | --node FILE]

It writes DIR/kubeconfig (a context for each user) and prints its URL; server/main.go says the rest. It is built when a source
has changed, with Debian's Go packages and without a network."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "kube-server"


def built():
    """The program, as new as its sources."""
    program, sources = BUILD / "server", HERE / "server"
    (BUILD / "src").mkdir(parents=True, exist_ok=True)
    newest = max(each.stat().st_mtime for each in sources.iterdir())
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists() and program.stat().st_mtime > newest:
            return program
        package = BUILD / "src" / "kubeserver"
        if not package.is_symlink():
            package.symlink_to(os.path.relpath(sources, package.parent))
        subprocess.run(["go", "build", "-o", f"{program}.new", "."], cwd=package, check=True, stdout=sys.stderr, env={
            **os.environ, "PWD": str(package), "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": f"{BUILD}:/usr/share/gocode",
            "GOCACHE": str(BUILD / "cache")})
        os.replace(f"{program}.new", program)
    return program


if __name__ == "__main__":
    server = built()
    os.execv(server, [str(server), "--discovery", str(HERE / "discovery.json"), *sys.argv[1:]])
