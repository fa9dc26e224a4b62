"""Secrets from the command line to the program: put, given, read, never shown."""

import base64
import hashlib
import json
import os
import resource
import secrets
import signal
import subprocess
import threading
import urllib.parse
from pathlib import Path

import pytest
from up_home import Load, get


def put(home, value, name="keeper/TOKEN", **more):
    return home.run("secrets", "put", "local", name, input=value, **more)


def shown(value):
    return hashlib.sha256(value.encode()).hexdigest()


def answers(url, count=30):
    """The hashes that the program's replicas answer with."""
    return {get(url)[1].split()[1] for _ in range(count)}


def test_a_program_gets_the_secret_that_it_names(home, keeper):
    failed = home.run("up", keeper, "--detach", code=7)
    assert "there is no secret keeper/TOKEN in local" in failed.stderr
    assert put(home, "hunter2\n").stdout == "kept  keeper/TOKEN in local, version 1\n"
    url = home.up(keeper)["urls"][0]
    assert answers(url) == {shown("hunter2")}
    view = home.data("secrets", "get", "local", "keeper/TOKEN")
    assert [each["version"] for each in view["versions"]] == ["1"]
    assert [(each["reader"], each["version"]) for each in view["readers"]] == [("keeper@2", "1")]
    assert [each["revision"] for each in view["used_by"]] == ["keeper@2"]
    read = [each for each in home.data("audit", "list") if each.get("action") == "Secret/resolve"]
    assert [(each["caller"], each["environment"], each["input"]["name"], each["input"]["version"]) for each in read] == [
        ("keeper@2", "local", "keeper/TOKEN", "1")]
    assert "keeper/TOKEN version 1, for warming " in home.run("audit", "list").stdout


def test_a_file_in_memory_has_what_no_variable_can(home, keeper):
    manifest = keeper / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "secrets_as: file\n")
    value = "two\nlines\0and a NUL " + "x" * 1_000_000
    (home.folder / "value").write_text(value)
    home.run("secrets", "put", "local", "keeper/TOKEN", "--file", home.folder / "value")
    url = home.up(keeper)["urls"][0]
    assert answers(url) == {shown(value)}


@pytest.mark.parametrize("value", ["a\0b", "x" * 200_000])
def test_a_variable_that_cannot_be_is_refused_by_name(home, keeper, value):
    put(home, value)
    failed = home.run("up", keeper, "--detach", code=7)
    assert "TOKEN" in failed.stderr and "secrets_as: file" in failed.stderr
    assert value not in failed.stderr


def test_a_value_on_the_command_line_is_refused_and_not_repeated(home):
    for words in (["keeper/TOKEN", "hunter2"], ["keeper/TOKEN=hunter2"]):
        refused = home.run("secrets", "put", "local", *words, code=2)
        assert "sluice secrets put local keeper/TOKEN" in refused.stderr
        assert "hunter2" not in refused.stdout + refused.stderr
    for value in ("", "\n"):
        assert "is empty" in put(home, value, code=2).stderr
    assert "has more than 1 MB" in put(home, "x" * (1 << 20 | 1) + "\n", code=1).stderr
    assert "names no secret" in put(home, "x", name="TOKEN", code=1).stderr
    assert home.data("secrets", "list", "local") == []


def encodings(value):
    raw = value.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode(), urllib.parse.quote(value, safe="").encode()}
    for cut in range(3):  # base64 depends on where the value begins
        text = base64.b64encode(b"x" * cut + raw)
        found |= {text[4 if cut else 0:-4], text[4 if cut else 0:-4].replace(b"+", b"-").replace(b"/", b"_")}
    return found


class Lookout:
    """Looks at the command lines and environments of all processes until it ends. `own` has the pids of the keeper's
    programs that had one of the needles in their environment, `found` every other place where one was."""

    def __init__(self, needles):
        self.needles, self.own, self.found, self.looks, self.ending = needles, set(), [], 0, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ending.wait(0.01):
            for process in Path("/proc").iterdir():
                if not process.name.isdigit() or process.name == str(os.getpid()):
                    continue
                for name in ("cmdline", "environ"):
                    try:
                        content = (process / name).read_bytes()
                        if not any(needle in content for needle in self.needles):
                            continue
                        words = (process / "cmdline").read_bytes()
                    except OSError:
                        continue
                    if name == "environ" and b"app.py" in words:
                        self.own.add(int(process.name))
                    else:
                        self.found.append((name, words))
            self.looks += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def test_a_value_is_nowhere_but_in_the_program(home, keeper, eventually):
    """The canary test: in no file of the home, no output, and at no time in a command line or in an environment but the
    workload's own."""
    values = [f"canary/{secrets.token_urlsafe(24)}+=%" for _ in range(2)]
    needles = [each for value in values for each in encodings(value)]
    with Lookout(needles) as lookout:
        use_everywhere(home, keeper, values, needles)
        looks = lookout.looks
        eventually(lambda: lookout.looks > looks + 1)
    assert lookout.found == []
    assert len(home.replicas()) == 3 and set(home.replicas()) <= lookout.own


def use_everywhere(home, keeper, values, needles):
    """Has the values put, given, rotated, exported and sealed anew, with a crash, and looks for them afterwards."""
    said = []

    def run(*words, **more):
        done = home.run(*words, **more)
        said.append((done.stdout + done.stderr).encode())
        return done

    run("secrets", "put", "local", "keeper/TOKEN", input=values[0])
    run("up", keeper, "--detach")
    run("secrets", "get", "local", "keeper/TOKEN", "-o", "json")
    run("secrets", "rotate", "local", "keeper/TOKEN", "--stdin", input=values[1])
    run("env", "export", "local")
    run("audit", "list")
    run("audit", "list", "-o", "json")
    for flow in home.data("flow", "list"):
        run("flow", "trace", flow["flow"])
        run("flow", "trace", flow["flow"], "-o", "json")
    os.kill(home.status()["pid"], signal.SIGKILL)
    run("secrets", "rekey", "local")
    run("up", keeper, "--detach")
    run("status")
    for text in said:
        assert not [needle for needle in needles if needle in text], text
    for path in home.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert not [needle for needle in needles if needle in content], path


def test_only_the_master_key_opens_the_store(home, keeper):
    put(home, "hunter2")
    home.run("up", keeper, "--detach")
    key = next((home.home / "keys").glob("secrets-local.*.key"))
    text = key.read_text()
    key.write_text("00" * 32)
    home.run("revisions", "drain", "local", "keeper@1", code=None)
    assert "does not open the secrets of local" in put(home, "hunter3", code=1).stderr
    key.write_text(text)
    put(home, "hunter3")


def test_rekey_takes_the_operators_key(home):
    put(home, "hunter2")
    mine = home.folder / "my.key"
    mine.write_text(secrets.token_hex(32))
    assert "can be read by others" in home.run("secrets", "rekey", "local", "--key-file", mine, code=1).stderr
    mine.chmod(0o600)
    home.run("secrets", "rekey", "local", "--key-file", mine)
    assert not list((home.home / "keys").glob("secrets-local.*.key"))
    home.run("secrets", "rekey", "local", "--key-command", f"cat {mine}")
    home.run("secrets", "rekey", "local")
    put(home, "hunter3")


def test_secrets_are_given_under_load_without_a_failure(home, keeper, eventually):
    put(home, "one")
    url = home.up(keeper)["urls"][0]
    before = set(home.replicas())
    assert len(before) == 3
    with Load(url, threads=4, body=r"\d+ [0-9a-f]{64}") as load:
        eventually(lambda: len(load.good) > 100)
        rotated = home.run("secrets", "rotate", "local", "keeper/TOKEN", "--stdin", input="two")
        assert rotated.stdout == "rotated  keeper/TOKEN in local, version 2\n"
        made_up = home.run("secrets", "rotate", "local", "keeper/TOKEN")
        assert "keeper@1 has it" in made_up.stderr
        count = len(load.good)
        eventually(lambda: len(load.good) > count + 100)
    assert load.bad == []
    assert len(home.replicas()) == 3 and not before & set(home.replicas())
    assert {shown("one"), shown("two")} <= {body.split()[1] for _, body in load.good}
    assert len(answers(url)) == 1 and not answers(url) & {shown("one"), shown("two")}
    why = [each["purpose"] for each in home.data("secrets", "get", "local", "keeper/TOKEN")["readers"]]
    assert why[:2] == ["version 3 of keeper/TOKEN", "version 2 of keeper/TOKEN"]


def test_a_replica_that_does_not_become_healthy_stops_the_replacement(home, keeper):
    put(home, "one")
    url = home.up(keeper)["urls"][0]
    with Load(url, threads=2, body=r"\d+ [0-9a-f]{64}") as load:
        failed = put(home, "bad", code=7)
    assert "replicas of keeper@1 still have version 1" in failed.stderr
    assert load.bad == [] and answers(url) == {shown("one")}
    assert len(home.replicas()) == 3
    assert "\nkeeper@1 still has version 1: it ended with exit code 1" in home.run("secrets", "get", "local", "keeper/TOKEN").stdout
    told = home.run("env", "doctor", "local", code=1).stderr
    assert "keeper@1 still has version 1 of keeper/TOKEN, not 2: it ended with exit code 1" in told, told
    again = "sluice do Secret/noticed name=keeper/TOKEN provider=store environment=local version=2"
    assert f"next: {again}\n" in told, told
    home.run(*again.split()[1:], "--wait", "all", code=None)
    assert answers(url) == {shown("one")}
    put(home, "three")
    assert answers(url) == {shown("three")}
    assert "still has" not in home.run("env", "doctor", "local").stderr


def test_a_killed_control_plane_goes_on_with_the_replacement(home, keeper, eventually):
    put(home, "one")
    url = home.up(keeper)["urls"][0]
    with Load(url, threads=2, body=r"\d+ [0-9a-f]{64}") as load:
        with home.begin("secrets", "rotate", "local", "keeper/TOKEN", "--file", write(home, "two")) as rotating:
            eventually(lambda: shown("two") in answers(url, 5))
            os.kill(home.status(code=None)["pid"], signal.SIGKILL)
            rotating.wait(60)
        with home.begin("serve") as serving:  # goes on with what was under way
            eventually(lambda: answers(url) == {shown("two")})
            serving.terminate()
            serving.wait(60)
    assert load.bad == []
    assert [each["version"] for each in home.data("secrets", "get", "local", "keeper/TOKEN")["used_by"]] == ["2"]


def write(home, value):
    path = home.folder / "value.txt"
    path.write_text(value)
    return path


def test_pinned_secrets_stay(home, keeper):
    manifest = keeper / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "pin_secrets: true\n")
    put(home, "one")
    url = home.up(keeper)["urls"][0]
    kept = put(home, "two")
    assert "keeper@1 keeps version 1" in kept.stderr
    assert answers(url) == {shown("one")}


def cores_in(folder):
    return [path for path in folder.rglob("core*") if path.is_file()]


def test_no_core_dump_has_a_value(home, keeper, eventually, tmp_path):
    """A control plane that has just had a value in its memory is made to crash where others leave a core dump."""
    def unlimited():
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    place = tmp_path / "place"
    place.mkdir()
    other = subprocess.Popen(["/usr/bin/python3", "-c", "import os; os.abort()"], cwd=place, preexec_fn=unlimited,
                             stderr=subprocess.DEVNULL)
    other.wait(timeout=60)
    there = cores_in(place)  # none where the system sends them elsewhere
    for path in there:
        path.unlink()
    value = f"canary/{secrets.token_urlsafe(24)}"
    serve = subprocess.Popen([str(home.sluice), "serve"], cwd=place, env=home.environment(), preexec_fn=unlimited,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        home.run("status", "--wait", "60s")
        put(home, value)
        home.up(keeper)
        programs = home.replicas()
        keepers = {int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1]) for each in programs}
        for each in [serve.pid, home.router()["pid"], *programs, *keepers]:
            limit = next(line for line in Path(f"/proc/{each}/limits").read_text().splitlines()
                         if line.startswith("Max core file size"))
            assert limit.split()[4:6] == ["1", "1"], (each, limit)
        os.kill(programs[0], signal.SIGABRT)  # it has the value, too
        eventually(lambda: programs[0] not in home.replicas())
        serve.send_signal(signal.SIGABRT)
        assert serve.wait(timeout=60) == -signal.SIGABRT
    finally:
        serve.kill()
    if there:
        assert cores_in(place) == []
    for path in [*cores_in(place), *cores_in(home.folder)]:
        assert value.encode() not in path.read_bytes(), path
