"""Containers on podman's service, and for some tests on dockerd."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "up")]

from engines import ContainerHome, Docker, Podman, network_namespace  # noqa: E402
from images import compile_app, make_layout, push  # noqa: E402


# `./dev containers` runs them: they start engines, which change the networks of the whole machine.
if "SLUICE_CONTAINERS" not in os.environ:
    collect_ignore = ["test_containers.py"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The program of the tests, by what it answers."""
    folder, made = tmp_path_factory.mktemp("programs"), {}

    def program(version):
        if version not in made:
            made[version] = compile_app(folder, version)
        return made[version]

    return program


@pytest.fixture(params=["podman"])
def engine(request, tmp_path):
    if request.param == "podman":
        one = Podman(tmp_path)
        yield one
        one.end()
        return
    if not shutil.which("dockerd"):
        pytest.skip("there is no dockerd on this machine: apt-get install docker.io")
    with network_namespace():
        one = Docker(tmp_path)
        yield one
        one.end()


@pytest.fixture
def home(sluice, root, tmp_path, engine):
    one = ContainerHome(sluice, root, tmp_path, engine)
    yield one
    one.stop()


@pytest.fixture
def pushed(tmp_path, engine, registries, programs):
    """Puts an image into a registry that the engine trusts: its host, and how to put another one there."""
    host = registries()
    engine.trust(host)
    if isinstance(engine, Podman):
        engine.kill()
        engine.start()

    def put(version, reference, **config):
        layout = tmp_path / f"layout-{version}"
        if not layout.exists():
            layout.mkdir()
            make_layout(layout, programs(version), **config)
        push(layout, f"{host}/{reference}")
        return f"{host}/{reference}"

    return put
