"""Homes with the environments local and staging, and a component `hello` that is a bundle."""

import sys
from pathlib import Path

import pytest

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


@pytest.fixture
def home(sluice, root, tmp_path):
    one = Promoting(sluice, root, tmp_path)
    yield one
    one.stop()
