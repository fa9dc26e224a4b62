"""An operator's folder and a node of it, by the commands that people use."""

import json
import subprocess


class OperatorFolder:
    """The mesh acme of `sluice mesh init`: hub, web and laptop."""

    def __init__(self, sluice, place):
        self.sluice, self.place, self.folder = sluice, place, place / "acme"
        for words in (["init", self.folder], ["ca", self.folder], ["sign", self.folder]):
            self.run(*words)

    def run(self, *words, code=0):
        done = subprocess.run([self.sluice, "mesh", *map(str, words)], capture_output=True, text=True, timeout=120,
                              env={"HOME": str(self.place), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        assert code is None or done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    def serve_at(self, port):
        """The service api moves to a port of web: a new version of web."""
        file = self.folder / "access.yaml"
        lines = file.read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if line.lstrip().startswith("api:") and "addr" in line)
        head, tail = lines[at].split("addr: 127.0.0.1:", 1)
        lines[at] = f"{head}addr: 127.0.0.1:{port}{tail[4:]}"
        file.write_text("".join(lines))
        self.run("sign", self.folder)

    def artifacts(self, node="web", plane="mgmt"):
        return [json.loads(f.read_text()) for f in sorted((self.folder / "compiled" / node / plane).rglob("*.json"))]

    def enrol(self, node="web", root=None):
        root = root or self.place / node
        bundle, passphrase = self.place / f"{node}.bundle", self.place / f"{node}.passphrase"
        passphrase.write_text(self.run("bundle", node, "--folder", self.folder, "--out", bundle).stdout)
        self.run("agent", "enrol", bundle, "--passphrase-file", passphrase, "--root", root)
        bundle.unlink()
        return Node(self, root)


class Node:
    def __init__(self, folder, root):
        self.folder, self.root = folder, root

    def sync(self, *words, code=0):
        return self.folder.run("agent", "sync", "--root", self.root, *words, code=code)

    def status(self):
        return json.loads(self.folder.run("agent", "status", "--root", self.root, "-o", "json").stdout)

    def state(self):
        return json.loads((self.root / "state/acme/node.json").read_text())
