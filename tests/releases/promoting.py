"""A home with the environments local and staging and a component `hello` that is a bundle, and people who share it."""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "up")]

from up_home import Home  # noqa: E402


class Promoting(Home):
    def prepare(self, *more):
        """Several components of one type, each a bundle with a path of its own."""
        self.run("env", "create", "staging", "--extends", "local")
        self.run("trust", "bootstrap", "--env", "staging")
        self.run("apply", "-f", self.root / "examples/promotion")
        for name in more:
            text = (self.root / "examples/promotion/hello.yaml").read_text()
            (self.folder / f"{name}.yaml").write_text(text.replace("name: hello", f"name: {name}")
                                                      .replace("path: /", f"path: /{name}"))
            self.run("apply", "-f", f"{name}.yaml")

    def release(self, component, version, release):
        """A release with a bundle of its own, which says its version."""
        folder = self.folder / release
        if not folder.exists():
            self.copy("hello", release, version)
            manifest = folder / "bundle.yaml"
            manifest.write_text(manifest.read_text().replace("name: hello", f"name: {component}"))
        self.run("bundles", "build", folder, "--out", f"{release}.bundle")
        return self.data("releases", "create", component, "--bundle", f"{release}.bundle", "--name", release)

    def pins(self, environment=None):
        return {(each["component"], each["environment"]): each for each in self.data("pins", "list")
                if environment in (None, each["environment"])}


POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann, user:bob, user:cay], role: operator}
"""


class Team:
    """A home that is served, and people who are logged in there."""

    def __init__(self, home, eventually):
        self.home, self.process, self.eventually = home, home.begin("serve", "--listen", "127.0.0.1:0"), eventually
        eventually(lambda: home.run("status", code=None).returncode == 0 and "url" in home.data("status"))
        (home.folder / "policy.yaml").write_text(POLICY)
        home.run("access", "policy", "apply", "policy.yaml")
        for who in ("ann", "bob", "cay"):
            token = home.folder / f"{who}.token"
            token.write_text(home.data("access", "tokens", "create", "t", "--for", f"user:{who}")["secret"])
            self.run(who, "login", home.data("status")["url"], "--name", "team", "--token-file", token)

    def run(self, who, *words, **more):
        """A command as somebody gives it, at another machine."""
        plain = self.home.environment
        self.home.environment = lambda: {**plain(), "SLUICE_HOME": str(self.home.folder / who)}
        try:
            return self.home.run(*words, **more)
        finally:
            self.home.environment = plain

    def agree(self, *people):
        """To the one call that waits."""
        self.eventually(lambda: self.home.data("approvals", "list"))
        (waiting,) = json.loads(self.run("bob", "approvals", "list", "-o", "json").stdout)
        for who in people:
            self.run(who, "approvals", "approve", waiting["approval"])
        return waiting

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=60)
