"""Bundles with an image, run as containers by real engines."""

import json
import re
import subprocess
from pathlib import Path

from engines import ContainerHome, both_engines
from up_home import Load, get


@both_engines
def test_up_runs_an_image_and_rolls_back_and_drains_under_load(home, programs, engine, eventually):
    url = home.up(home.bundle(programs("one")))["urls"][0]
    assert get(url) == (200, "one\n")
    with Load(url, body=r"(one|two)\n") as load:
        home.up(home.bundle(programs("two"), version="2.0.0"))
        assert get(url) == (200, "two\n")
        home.run("traffic", "rollback", "local")
        assert get(url) == (200, "one\n")
        home.run("revisions", "drain", "local", "shop@2")
    assert load.good and load.bad == []
    assert {each["Labels"]["dev.sluice.environment"] for each in engine.containers()} == {"local"}

    def images():
        found = engine.ask("GET", "/v1.41/images/json", good=False)
        if isinstance(found, dict):  # podman lists none while it removes one
            return found
        return [each for each in found if "sluice.local/" in str(each["RepoTags"])]

    home.run("artifact", "gc", "--older-than", "0s")
    assert len(images()) == 2, "shop@2 may be wanted again"
    home.run("down", "shop", "--yes")
    assert engine.containers() == []
    assert engine.networks() == []
    home.run("artifact", "gc", "--older-than", "0s")
    eventually(lambda: images() == [], lambda: str(images()))


@both_engines
def test_seen_from_inside(home, programs, engine, eventually):
    more = ("secrets: [API_KEY]\nstorage: [{name: data}]\nresources: {cpu: 0.5, memory: 64MB, processes: 50, files: 200}\n"
            "config: [{name: color, question: Which color?, default: blue}]\n")
    folder = home.bundle(programs("one"), more=more)
    home.run("secrets", "put", "local", "shop/API_KEY", input="canary-4711-value")
    url = home.up(folder)["urls"][0]
    status = dict(re.findall(r"(\w+):\t(.*)", get(url + "status")[1]))
    assert status["Uid"].split() == ["65532"] * 4 and status["Gid"].split() == ["65532"] * 4
    assert {status[each] for each in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1" and status["Pid"] == "1"
    assert get(url + "write-root")[1] == "refused"
    assert get(url + "write-tmp")[1] == "written"
    assert get(url + "write-storage")[1] == "written"
    assert json.loads(get(url + "config")[1]) == {"color": "blue"}
    assert get(url + "secret")[1] == "canary-4711-value"
    limits = get(url + "limits")[1]
    assert re.search(r"Max open files +200 +200", limits)
    # All containers of a user share this one, so `processes` is kept by the control group.
    assert int(re.search(r"Max processes +(\d+)", limits)[1]) >= 1000
    [container] = engine.containers()
    inspected = engine.ask("GET", f"/v1.41/containers/{container['Id']}/json")
    host = inspected["HostConfig"]
    assert (host["Memory"], host["NanoCpus"], host["PidsLimit"]) == (64 << 20, 500000000, 50)
    # The secret is in no answer of the engine and in no file: layers, logs, the home's, the engine's, the bundle's.
    assert "canary-4711" not in json.dumps(inspected)
    found = subprocess.run(["grep", "-rlF", "canary-4711-value", home.folder, engine.place], capture_output=True, text=True)
    assert [each for each in found.stdout.splitlines() if "/merged/run/secrets/" not in each] == []
    home.run("down", "shop", "--yes", "--delete-data")
    assert not list(Path("/dev/shm").glob("sluice-*"))


@both_engines
def test_no_other_deployment_and_nothing_of_the_host_is_reachable(home, programs, engine):
    one = home.up(home.bundle(programs("one"), to="first"))["urls"][0]
    other = home.folder / "second"
    home.bundle(programs("two"), to="second")
    text = (other / "bundle.yaml").read_text().replace("name: shop", "name: other\nroutes: [{path: /other, strip: true}]")
    (other / "bundle.yaml").write_text(text)
    home.up(other)
    places = {each["Labels"]["dev.sluice.bundle"]: engine.ask("GET", f"/v1.41/containers/{each['Id']}/json")
              for each in engine.containers()}
    [network] = places["other"]["NetworkSettings"]["Networks"].values()
    assert get(f"{one}connect?{network['IPAddress']}:8080")[1] == "unreachable"
    [own] = places["shop"]["NetworkSettings"]["Networks"].values()
    assert get(f"{one}connect?{own['IPAddress']}:8080")[1] == "reached"
    port = places["other"]["NetworkSettings"]["Ports"]["8080/tcp"][0]
    assert port["HostIp"] == "127.0.0.1"
    assert get(f"{one}connect?{own['Gateway']}:{port['HostPort']}")[1] == "unreachable"
    assert get(f"{one}connect?127.0.0.1:{port['HostPort']}")[1] == "unreachable"


@both_engines
def test_components_reach_each_other_through_the_router(home, programs, engine):
    """Where the router listens for more than this machine's own programs, containers find it at their network's gateway."""
    home.run("trust", "bootstrap", "--env", "local")
    router = home.begin("router", "run", "--listen", "0.0.0.0:0")
    try:
        port = json.loads(router.stdout.readline())["listen"][0].rsplit(":", 1)[1]
        home.up(home.bundle(programs("one"), to="first"))
        url = f"http://127.0.0.1:{port}/"
        assert get(url) == (200, "one\n")
        [container] = engine.containers()
        [network] = engine.ask("GET", f"/v1.41/containers/{container['Id']}/json")["NetworkSettings"]["Networks"].values()
        assert get(f"{url}connect?{network['Gateway']}:{port}")[1] == "reached"
    finally:
        home.stop()
        router.communicate(timeout=60)


def other_version(folder, version):
    manifest = folder / "bundle.yaml"
    manifest.write_text(re.sub(r'version: "[^"]*"', f'version: "{version}"', manifest.read_text()))


def test_a_tag_that_moves_after_the_build_changes_nothing(home, pushed, engine):
    image = pushed("one", "team/shop:1")
    folder = home.bundle(None, image=image)
    url = home.up(folder)["urls"][0]
    lock = json.loads((folder / "image.lock.json").read_text())
    assert lock["schema"] == "sluice.image-lock.v1" and lock["reference"] == image
    assert set(lock["platforms"]) == {"linux/amd64"}
    pushed("two", "team/shop:1")
    other_version(folder, "2.0.0")
    home.up(folder)
    assert get(url) == (200, "one\n")
    assert json.loads((folder / "image.lock.json").read_text()) == lock
    home.run("bundles", "build", folder, "--update-image", "--out", "shop.bundle")
    moved = json.loads((folder / "image.lock.json").read_text())
    assert moved["digest"] != lock["digest"] and moved["reference"] == image
    (folder / "image.lock.json").write_text(json.dumps(lock))
    other_version(folder, "3.0.0")
    home.up(folder, "--update-image")
    assert json.loads((folder / "image.lock.json").read_text()) == moved
    assert get(url) == (200, "two\n")


@both_engines
def test_a_unix_socket_needs_no_network(home, programs, engine):
    url = home.up(home.bundle(programs("one"), more="listen: unix\n"))["urls"][0]
    assert get(url) == (200, "one\n")
    [container] = engine.containers()
    assert engine.ask("GET", f"/v1.41/containers/{container['Id']}/json")["HostConfig"]["NetworkMode"] == "none"


@both_engines
def test_exec_and_health_by_command_run_inside(home, programs, engine, eventually):
    folder = home.bundle(programs("one"), more="health: {by: command, command: [/app, check]}\nsecrets: [API_KEY]\n")
    text = (folder / "bundle.yaml").read_text().replace("health: {path: /health}\n", "")
    (folder / "bundle.yaml").write_text(text)
    home.run("secrets", "put", "local", "shop/API_KEY", input="value")
    url = home.up(folder)["urls"][0]
    eventually(lambda: is_up(home, url))  # what its check says, it says before it listens, too
    said = home.run("exec", "shop", "--", "/app", "print").stdout.split()
    assert said[0] == "/run/secrets/API_KEY"
    eventually(lambda: "one listens" in home.run("logs", "shop").stdout, "its log was never heard")
    assert home.run("exec", "shop", "--", "/none", code=None).returncode == 127


def test_an_environment_may_run_containers_alone(home, programs, engine, root):
    home.run("env", "list")
    home.run("env-packs", "update", "local", "sluice.deployer.container@1.0.0")
    url = home.up(home.bundle(programs("one")))["urls"][0]
    assert get(url) == (200, "one\n")
    refused = home.run("up", root / "examples/hello", "--detach", code=None)
    assert refused.returncode != 0
    assert "it has no image, and sluice.deployer.container of local runs containers alone" in refused.stderr
    assert get(url) == (200, "one\n")


def is_up(home, url, text="one\n"):
    try:
        return get(url) == (200, text)
    except OSError:
        return False


@both_engines
def test_a_container_that_somebody_removed_comes_back(home, programs, engine, eventually):
    url = home.up(home.bundle(programs("one")))["urls"][0]
    [container] = engine.containers()
    engine.ask("DELETE", f"/v1.41/containers/{container['Id']}?force=1", raw=True)
    eventually(lambda: is_up(home, url))
    [again] = engine.containers()
    assert again["Id"] != container["Id"]


@both_engines
def test_two_homes_and_a_foreign_container_on_one_engine(home, sluice, root, tmp_path, programs, engine):
    (tmp_path / "other").mkdir()
    second = ContainerHome(sluice, root, tmp_path / "other", engine, name="other")
    try:
        url = home.up(home.bundle(programs("one")))["urls"][0]
        [own] = engine.containers()
        foreign = engine.ask("POST", "/v1.41/containers/create?name=foreign",
                             {"Image": own["ImageID"], "Cmd": ["hang"], "User": "65532",
                              "HostConfig": {"NetworkMode": "none"}})
        engine.ask("POST", f"/v1.41/containers/{foreign['Id']}/start", raw=True)
        other = second.up(second.bundle(programs("one")))["urls"][0]
        assert get(other) == (200, "one\n") and len(engine.containers()) == 3
        second.run("down", "shop", "--yes")
        second.run("artifact", "gc", "--older-than", "0s")
        assert get(url) == (200, "one\n")
        assert {each["State"] for each in engine.containers()} == {"running"} and len(engine.containers()) == 2
        home.run("down", "shop", "--yes")
        assert [each["Id"] for each in engine.containers()] == [foreign["Id"]]
    finally:
        second.stop()
