"""Three routers on three machines under load, while traffic is split, rolled back and drained: the control plane is killed,
a router is cut off from it, another one is killed. Machines are network namespaces on a bridge."""

import json
import signal
import subprocess

import machines
import pytest

PORT = 8443
ROUTERS = ("one", "two", "three")


@pytest.fixture
def network(sluice):
    made = machines.Network(sluice, ("plane", *ROUTERS))
    try:
        yield made
    finally:
        made.close()


def obey_the_newest(plane, names):
    known = plane.routers()
    return all(known[name]["reachable"] and known[name]["generation"] == known[name]["newest"] > 0 for name in names)


def split(plane, *parts):
    return plane.run("traffic", "set", "local", *parts, "--bundle", "hello", code=None)


def refused(router):
    """What its access log says of answers that are errors."""
    log = router.home / "router" / router.name / "access.log"
    return "\n".join(line for line in log.read_text().splitlines() if json.loads(line)["status"] >= 500)[:3000] + "\n"


def weights(router):
    deployments = router.ask({"op": "stats"})["deployments"]
    return {each["id"]: each["weight_bps"] for one in deployments for each in one["revisions"]}


def test_three_routers_serve_through_what_fails_around_them(network, eventually):
    plane = network.machines["plane"].serve(PORT)
    routers = [network.machines[name] for name in ROUTERS]
    plane.run("config", "set", "local", f"workload_address={plane.address}")
    for router in routers:
        router.join(plane, "--listen", "127.0.0.1:8080").route()
    plane.run("up", machines.hello(plane.folder / "hello", "1.0.0"), "--detach")
    eventually(lambda: obey_the_newest(plane, ROUTERS), lambda: "\n".join(one.log("router") for one in routers))
    loads = {name: machines.Load(network.machines[name], 8080) for name in ROUTERS}
    one, two, three = routers

    # A split is done when all three obey it.
    plane.run("up", machines.hello(plane.folder / "hello", "2.0.0"), "--detach", "--share", "10%")
    assert obey_the_newest(plane, ROUTERS)
    done = split(plane, "hello@1=50%", "hello@2=50%")
    assert done.returncode == 0, done.stderr
    newest = plane.routers()["one"]["newest"]
    assert {router.generation() for router in routers} == {newest}

    # The control plane is killed in the middle of a change, and goes on with it.
    changing = subprocess.Popen(plane.words(["traffic", "set", "local", "hello@1=20%", "hello@2=80%", "--bundle", "hello", "--no-wait"]),
                                env=plane.environment(), cwd=plane.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    plane.end("serve", signal.SIGKILL)
    changing.wait(timeout=60)
    assert all(router.generation() > 0 for router in routers)
    plane.serve(PORT)
    eventually(lambda: obey_the_newest(plane, ROUTERS))
    assert split(plane, "hello@1=20%", "hello@2=80%").returncode == 0
    assert split(plane, "hello@1=70%", "hello@2=30%").returncode == 0
    assert plane.run("traffic", "rollback", "local", "--bundle", "hello").returncode == 0
    assert len({router.generation() for router in routers}) == 1

    # One is cut off from the control plane: it serves what it has, and the change names it.
    network.cut("three", PORT)
    before = three.generation()
    assert split(plane, "hello@1=90%", "hello@2=10%").returncode == 0
    known = plane.routers()
    assert known["three"]["generation"] == before < known["three"]["newest"] and known["three"]["trouble"]
    assert three.generation() == before
    assert "three" in plane.run("router", "list").stdout
    assert one.generation() == two.generation() == known["one"]["newest"]

    # It catches up by itself.
    network.cut("three", PORT, heal=True)
    eventually(lambda: obey_the_newest(plane, ROUTERS), lambda: three.log("router"))

    # Another is killed, whole; its load ends with it. The first revision is drained by those that live.
    finished = {"two": loads.pop("two").end()}
    two.kill_router()
    assert split(plane, "hello@2=100%").returncode == 0
    drained = plane.run("revisions", "drain", "local", "hello@1", "--yes", code=None)
    assert drained.returncode == 0, drained.stderr
    assert plane.routers()["two"]["generation"] < plane.routers()["two"]["newest"]
    two.route()
    eventually(lambda: obey_the_newest(plane, ROUTERS), lambda: two.log("router"))
    eventually(lambda: all(each["trouble"] == "" for each in plane.routers().values()))
    assert weights(one) == weights(two) == weights(three)

    finished |= {name: load.end() for name, load in loads.items()}
    for name, said in finished.items():
        assert said["failed"] == [], refused(network.machines[name]) + plane.log("serve") + network.machines[name].log("router")
        assert sum(said["answers"].values()) > 20, (name, said)
    for router in routers:
        assert router.orders() == sorted(set(router.orders())), "an order was done twice, or out of order"
