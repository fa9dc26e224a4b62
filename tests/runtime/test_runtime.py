"""Runtime end to end: the examples run as processes that outlive the command that started them, and are rolled out over
each other. Each command is a controller of its own, which ends; what runs is found again by the next."""

import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest


class Machine:
    """A home, and sluice with it."""

    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.home = sluice, root, folder / "home"

    def act(self, action, **arguments):
        """The variant that an action of Runtime ended in, and its fields."""
        words = [str(self.sluice), "kit", "run", "deploy", f"Runtime/{action}", "-o", "json",
                 *(f"{name}={value}" for name, value in arguments.items())]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.root,
                              env={"PATH": os.environ["PATH"], "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"})
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        return said["variant"], said["fields"]

    def example(self, name):
        return self.root / "examples" / name

    def replicas(self):
        """The states of all replicas, by name."""
        folder = self.home / "runtime" / "replicas"
        return {path.name: json.loads((path / "state.json").read_text()) for path in sorted(folder.iterdir())}


def get(endpoint, path="/"):
    with urllib.request.urlopen(endpoint + path, timeout=30) as answer:
        return answer.status, answer.read().decode()


@pytest.fixture
def machine(sluice, root):
    with tempfile.TemporaryDirectory(prefix="sluice-rt-") as folder:
        machine = Machine(sluice, root, Path(folder))
        variant, fields = machine.act("provision", concept="hello", runtimeType="local", config="{}")
        assert variant == "ok"
        machine.instance = fields["instance"]
        yield machine
        assert machine.act("destroy", instance=machine.instance)[0] == "ok"
        assert machine.replicas() == {}


def deploy(machine, name, version):
    return machine.act("deploy", instance=machine.instance, artifact=machine.example(name), version=version)


def test_examples_are_rolled_out_over_each_other(machine):
    assert machine.act("healthCheck", instance=machine.instance)[0] == "unreachable"
    variant, first = deploy(machine, "hello", "1.0.0")
    assert variant == "ok", first
    assert get(first["endpoint"]) == (200, "hello 1.0.0\n")
    assert machine.act("healthCheck", instance=machine.instance)[0] == "ok"
    assert machine.act("rollback", instance=machine.instance)[0] == "noHistory"
    variant, second = deploy(machine, "hello-v2", "2.0.0")
    assert variant == "ok", second
    assert get(second["endpoint"], "/health") == (200, "hello 2.0.0\n")
    with pytest.raises(urllib.error.URLError):
        get(first["endpoint"])
    assert len(machine.replicas()) == 1

    variant, failed = deploy(machine, "broken", "2.1.0-broken")
    assert variant == "deployFailed"
    assert failed["reason"] == "it ended with exit code 1, 5 times without ever being healthy"
    assert get(second["endpoint"]) == (200, "hello 2.0.0\n"), "what ran before goes on"
    assert len(machine.replicas()) == 1

    variant, back = machine.act("rollback", instance=machine.instance)
    assert (variant, back["previousVersion"]) == ("ok", "1.0.0")
    variant, shown = machine.act("show", instance=machine.instance)
    assert [each["version"] for each in shown["history"]] == ["1.0.0"]


def test_a_program_runs_as_nobody_and_sees_a_read_only_bundle(machine):
    assert deploy(machine, "hello", "1.0.0")[0] == "ok"
    (state,) = machine.replicas().values()
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{state['program']['pid']}/status").read_text().splitlines())
    assert status["NoNewPrivs"] == "1"
    if os.geteuid() == 0:
        assert status["Uid"].split() == ["65532"] * 4
        mounts = Path(f"/proc/{state['program']['pid']}/mountinfo").read_text()
        (bundle,) = [line for line in mounts.splitlines() if line.split()[4] == str(machine.example("hello"))]
        assert bundle.split()[5].split(",")[0] == "ro"


@pytest.mark.parametrize("name, version", [("slow", "2.2.0-slow"), ("leaky", "2.3.0-leaky")])
def test_the_examples_that_misbehave_do_so(machine, name, version):
    variant, fields = deploy(machine, name, version)
    assert variant == "ok", fields
    statuses = []
    for _ in range(40):
        try:
            statuses.append(get(fields["endpoint"])[0])
        except urllib.error.HTTPError as error:
            statuses.append(error.code)
    assert statuses.count(500) == (2 if name == "leaky" else 0)
    assert statuses.count(200) == 40 - statuses.count(500)


def test_what_cannot_be_deployed_is_named(machine, tmp_path):
    variant, fields = machine.act("deploy", instance=machine.instance, artifact=tmp_path, version="1")
    assert variant == "deployFailed"
    assert "bundle.yaml" in fields["reason"]
    variant, fields = machine.act("provision", concept="other", runtimeType="local", config='{"replicas":0}')
    assert (variant, fields["reason"]) == ("provisionFailed", "/replicas: expected 1 to 1000 replicas")
