"""Containers on podman's service, and for some tests on dockerd."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "up")]

from engines import FULL, ContainerHome, Docker, Gate, Podman, network_namespace  # noqa: E402
from images import compile_app, make_layout, push  # noqa: E402


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
    """An engine in a network namespace that the test is in, too: ports are published there."""
    if request.param == "docker" and not (FULL and shutil.which("dockerd")):
        pytest.skip("./dev containers runs it on dockerd, too")
    with network_namespace():
        one = {"podman": Podman, "docker": Docker}[request.param](tmp_path)
        try:
            yield one
        finally:
            one.end()


@pytest.fixture
def home(sluice, root, tmp_path, engine):
    one = ContainerHome(sluice, root, tmp_path, engine)
    yield one
    one.stop()


@pytest.fixture
def gate(home, engine):
    """What the home's engine is asked for can be made to wait."""
    one = Gate(engine)
    home.socket = one.socket
    yield one
    home.stop()  # while its supervisors reach their engine
    one.end()


@pytest.fixture
def pushed(tmp_path, engine, registries, programs):
    """Puts an image into a registry that the engine trusts, and says how it is called there."""
    host = registries()
    engine.trust(host)

    def put(version, reference, **config):
        layout = tmp_path / f"layout-{version}"
        if not layout.exists():
            layout.mkdir()
            make_layout(layout, programs(version), **config)
        push(layout, f"{host}/{reference}")
        return f"{host}/{reference}"

    return put
