"""A home that the version before wrote is upgraded by this one: its state is brought up to date, what it ran runs again,
and its flows end. record.py beside this file has made it."""

import json
import os
import shutil
import subprocess
import tarfile

import pytest

from record import PLACE


class Home:
    def __init__(self, sluice):
        self.sluice = sluice

    def words(self, *words):
        environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(PLACE / "home"), "LANG": "C.UTF-8"}
        return {"args": [str(self.sluice), *map(str, words)], "env": environment, "cwd": PLACE, "text": True}

    def run(self, *words, code=0):
        done = subprocess.run(**self.words(*words), capture_output=True, timeout=120)
        assert code is None or done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def data(self, *words, **more):
        return json.loads(self.run(*words, "-o", "json", **more))

    def ask(self, query, **input):
        return self.data("do", query, *(f"{name}={value}" for name, value in input.items()))


@pytest.fixture
def recorded(sluice):
    """A recorded home, served by this version."""
    PLACE.mkdir()
    try:
        with tarfile.open(os.path.join(os.path.dirname(__file__), "home_0_1_0.tar.xz")) as archive:
            archive.extractall(PLACE)
        home = Home(sluice)
        home.run("backup", "key", "--out", "backup.key")
        home.run("status", code=1)
        home.run("store", "upgrade", "--to", "backups", "--recipient", "backup.key.pub")
        with subprocess.Popen(**home.words("serve"), stderr=subprocess.PIPE) as server:
            home.run("status", "--wait", "60s", code=None)
            yield home
            (PLACE / "go").touch()
            home.run("stop", "--timeout", "60s", code=None)
            assert server.wait(timeout=60) == 0, server.stderr.read()
    finally:
        shutil.rmtree(PLACE)


def test_a_home_of_the_version_before_goes_on(recorded, eventually):
    flows = {each["flow"]: each["action"] for each in recorded.data("flow", "list") if each["caller"] == "uid:0"}
    open_flows = [id for id, action in flows.items() if action in ("Revision/warm", "FreeArchived")][:2]
    (PLACE / "go").touch()

    def instances():
        return {each["name"]: each for each in recorded.data("runtime", "list")}

    # State: Runtime knows what only the provider knew, and what the provider has stored.
    notes = instances()["notes@1"]
    eventually(lambda: len(recorded.ask("Runtime/show", instance=notes["instance"])["replicas"]) == 2)
    known = recorded.ask("Runtime/show", instance=notes["instance"])["replicas"]
    own = recorded.ask("LocalRuntime/show", instance=notes["instance"])["programs"]
    assert known == [{"name": each["name"], "endpoint": each["endpoint"]} for each in own]
    # Workloads: both replicas run again under their names.
    eventually(lambda: [each["healthy"] for each in instances()["notes@1"]["replicas"]] == [True, True])
    # Flows: the warm that was killed ends, as its deadline was over long ago, and so does what follows from the archive.
    def states():
        return {each["action"]: each["state"] for each in recorded.data("flow", "list") if each["flow"] in open_flows}

    eventually(lambda: states() == {"Revision/warm": "failed", "FreeArchived": "settled"},
               lambda: recorded.run("flow", "list"))
    lifecycles = {each["sequence"]: each["lifecycle"] for each in recorded.data("revisions", "list", "local")}
    assert (lifecycles[1], lifecycles[3]) == ("ready", "failed")
    recorded.run("revisions", "retry", "local", "notes@3")
    recorded.run("revisions", "warm", "local", "notes@3")
    eventually(lambda: len(instances()["notes@3"]["replicas"]) == 1)
    # What a deployment that is gone has left can be deleted.
    left = recorded.ask("Deployment/listData")["data"][0]
    folder = PLACE / "home/runtime/storage" / left["storage"]
    assert folder.is_dir()
    recorded.run("do", "Deployment/deleteData", f"storage={left['storage']}")
    assert not folder.exists()
    recorded.run("audit", "verify")
