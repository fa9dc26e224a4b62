"""How an `up` of a bundle with an image fails, each way brought about by a real engine or a real registry, and what it says.
Whatever ran before goes on, and nothing of what failed is left."""

import contextlib
import json
import re
import socket
import subprocess

import pytest
from engines import both_engines, in_full
from up_home import get

PASSWORD = "canary-f3b1-password"
USERS = "ci:$2b$04$abcdefghijklmnopqrstuujLJ4fS677ZWAQSBBBPipdTayq3LbZ/S\n"  # its bcrypt


def failure(home, folder):
    """What `up` says when it fails, and the variant in which the runtime's step ended."""
    done = home.run("up", folder, "--detach", code=None)
    assert done.returncode != 0, done.stdout
    return home.ended()[0], done.stderr


@in_full
@both_engines
def test_programs_that_fail(home, programs, engine):
    url = home.up(home.bundle(programs("one")))["urls"][0]

    def fails(variant, words, version, more="", **config):
        told = failure(home, home.bundle(programs("two"), version=version, more=more, **config))
        assert told[0] == variant and words in told[1], told

    fails("crashLoop", "cannot go on", "2.0.1", "container: {command: [fail]}\n")
    fails("outOfMemory", "used up its 16 MB of memory", "2.0.2",
          "container: {command: [eat]}\nresources: {memory: 16MB}\n")
    fails("cannotStart", "/none", "2.0.3", Entrypoint=["/none"])
    fails("platformMissing", "has no image for linux/amd64", "2.0.4", architecture="s390x")
    hangs = home.bundle(programs("two"), version="2.0.5", more="container: {command: [hang]}\n")
    text = (hangs / "bundle.yaml").read_text().replace("{path: /health}", "{path: /health, start_within: 1s}")
    (hangs / "bundle.yaml").write_text(text)
    variant, said = failure(home, hangs)
    assert variant == "healthTimeout" and "was not healthy within 1000 ms" in said
    assert get(url) == (200, "one\n")
    assert len(engine.containers()) == 1 and len(engine.networks()) == 1


@in_full
@both_engines
def test_an_engine_that_is_away(home, programs, engine):
    engine.kill()
    variant, said = failure(home, home.bundle(programs("one")))
    assert variant == "engineUnavailable" and f"no container engine answers at {engine.socket}" in said
    assert "next:  start podman" in said and "then sluice up again" in said
    engine.start()
    assert engine.containers() == []
    assert get(home.up(home.bundle(programs("one")))["urls"][0]) == (200, "one\n")


@in_full
@both_engines
def test_a_port_that_somebody_takes_meanwhile(home, programs, engine, gate):
    held = gate.hold(r"POST /v1\.41/containers/[^/]+/start")
    up = home.begin("up", home.bundle(programs("one")), "--detach")
    held.wait()
    [container] = engine.containers()
    inspected = engine.ask("GET", f"/v1.41/containers/{container['Id']}/json")
    [[port]] = inspected["HostConfig"]["PortBindings"].values()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(port["HostPort"])))
        taken.listen()
        held.release()
        _, said = up.communicate(timeout=60)
    assert up.returncode != 0 and f"port {port['HostPort']} is in use" in said
    assert home.ended() == ("portInUse", {"port": int(port["HostPort"])})
    assert engine.containers() == []


@in_full
def test_images_that_cannot_be_had(home, pushed, engine, registries, tmp_path):
    image = pushed("one", "team/shop:1")
    folder = home.bundle(None, image=image)
    home.run("bundles", "build", folder, "--out", "shop.bundle")
    lock = json.loads((folder / "image.lock.json").read_text())
    manifest = lock["platforms"]["linux/amd64"]

    (folder / "image.lock.json").write_text(json.dumps(lock).replace(manifest, "sha256:" + "0" * 64))
    variant, said = failure(home, folder)
    assert variant == "imageNotFound" and f"cannot pull {image.rsplit(':', 1)[0]}@sha256:000" in said

    (folder / "image.lock.json").write_text(json.dumps(lock | {"platforms": {"linux/s390x": manifest}}))
    variant, said = failure(home, folder)
    assert variant == "platformMissing" and "is not made for linux/amd64, which this machine is, but for linux/s390x" in said

    (folder / "image.lock.json").write_text(json.dumps(lock))
    data = next(tmp_path.glob("registry-*")) / "data"
    layers = [each for each in data.glob("docker/registry/v2/blobs/sha256/*/*/data") if each.stat().st_size > 100_000]
    assert layers
    for each in layers:
        each.write_bytes(each.read_bytes()[:-100] + b"?" * 100)  # the registry's disk has a fault
    variant, said = failure(home, folder)
    assert variant == "pullFailed" and "cannot pull" in said
    assert engine.containers() == []


@pytest.fixture
def small_disk(tmp_path):
    """The engine keeps its images and containers on a disk of 24 MB."""
    place = tmp_path / "root"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk needs root: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], capture_output=True)


@in_full
def test_an_engine_whose_disk_is_full(small_disk, home, pushed, engine):
    url = home.up(home.bundle(None, image=pushed("one", "team/shop:1")))["urls"][0]
    folder = home.bundle(None, image=pushed("two", "team/shop:2"), version="2.0.0")
    with (small_disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(b"x" * 4096)
    variant, said = failure(home, folder)
    assert variant == "pullFailed" and "no space left on device" in said, (variant, said)
    assert get(url) == (200, "one\n") and len(engine.containers()) == 1
    (small_disk / "filler").unlink()
    home.up(folder)
    assert get(url) == (200, "two\n")


def test_a_pull_uses_the_login_of_the_environment(home, programs, engine, registries, tmp_path):
    registry = registries(USERS)
    engine.trust(registry)
    mine = tmp_path / "mine.json"  # which the control plane does not see
    subprocess.run(["skopeo", "login", "--tls-verify=false", "--authfile", mine, "-u", "ci", "--password-stdin", registry],
                   input=PASSWORD, text=True, check=True, capture_output=True)
    layout = home.bundle(programs("one"), to="laid") / "image"
    subprocess.run(["skopeo", "copy", "--quiet", "--dest-tls-verify=false", "--authfile", mine, f"oci:{layout}",
                    f"docker://{registry}/team/shop:1"], check=True, capture_output=True)
    folder = home.bundle(None, image=f"{registry}/team/shop:1")
    built = subprocess.run([home.sluice, "bundles", "build", folder, "--out", "shop.bundle"], cwd=home.folder,
                           env=home.environment() | {"REGISTRY_AUTH_FILE": str(mine)}, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    mine.unlink()

    variant, said = failure(home, "shop.bundle")
    assert variant == "registryDenied" and "cannot pull" in said
    home.run("registry", "login", "local", registry, "--username", "ci", input=PASSWORD)
    url = home.up("shop.bundle")["urls"][0]
    assert get(url) == (200, "one\n")
    # What runs does not hold the login back, and neither it nor anything on the disk has it.
    home.run("registry", "logout", "local", registry)
    [container] = engine.containers()
    assert PASSWORD not in json.dumps(engine.ask("GET", f"/v1.41/containers/{container['Id']}/json"))
    found = subprocess.run(["grep", "-rlF", PASSWORD, home.home, engine.place], capture_output=True, text=True)
    assert found.stdout == ""


def test_a_pull_shows_how_far_it_is(home, pushed, engine, gate):
    image = pushed("one", "team/shop:1")
    held = gate.hold(r"POST /v1\.41/images/create")
    up = home.begin("up", home.bundle(None, image=image), "--detach")
    held.wait()
    said = ""
    while f"pulling {image}" not in said:
        line = up.stderr.readline()
        assert line, said
        said += line
    held.release()
    out, rest = up.communicate(timeout=60)
    assert up.returncode == 0, rest
    assert not list(home.home.glob("runtime/images/*.pull*"))
    assert re.search(r"http://127\.0\.0\.1:\d+/", out)
