"""The example of a secrets pack keeps what programs get while it is killed, replaced by a newer version and removed."""

import os
import shutil
import signal
import subprocess

from test_secrets import answers, put, shown

KIND, NEWER = "acme.secrets.file@1.0.0", "acme.secrets.file@1.1.0"


def processes_of(home):
    """The pids of the pack's own processes."""
    found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(home.status()["pid"])], capture_output=True, text=True)
    return [int(line.split()[0]) for line in found.stdout.splitlines() if "serve.py" in line]


def bound(home):
    return next(each["kind"] for each in home.data("env-packs", "list", "local") if each["slot"] == "secrets")


def test_programs_get_secrets_of_a_pack_that_is_killed_replaced_and_removed(home, keeper):
    pack = home.folder / "pack"
    shutil.copytree(home.root / "examples/packs/secrets-file", pack, ignore=shutil.ignore_patterns("__pycache__"))
    home.run("env-packs", "install", pack)
    home.run("env-packs", "update", "local", KIND)
    assert put(home, "one").stdout == "kept  keeper/TOKEN in local, version 1\n"
    url = home.up(keeper)["urls"][0]
    assert answers(url) == {shown("one")}

    put(home, "of another program", name="other/KEY")
    (process,) = processes_of(home)
    os.kill(process, signal.SIGKILL)
    rotated = home.run("secrets", "rotate", "local", "keeper/TOKEN", "--stdin", input="two")
    assert rotated.stdout == "rotated  keeper/TOKEN in local, version 2\n" and "keeper@1 has it" in rotated.stderr
    assert answers(url) == {shown("two")}
    assert process not in processes_of(home)

    for name in ("pack.yaml", "serve.py"):
        (pack / name).write_text((pack / name).read_text().replace("1.0.0", "1.1.0"))
    home.run("env-packs", "install", pack)
    programs = home.replicas()
    home.run("env-packs", "update", "local", NEWER)
    assert bound(home) == NEWER and home.replicas() == programs
    home.run("env-packs", "uninstall", KIND)
    assert put(home, "three").stdout == "kept  keeper/TOKEN in local, version 3\n", "its data are the older one's"
    assert answers(url) == {shown("three")}

    assert f"{NEWER} serves the slot secrets of local" in home.run("env-packs", "uninstall", NEWER, code=6).stderr
    store = ["env-packs", "update", "local", "sluice.secrets.store@1.0.0", "--slot", "secrets"]
    assert "it has no keeper/TOKEN, which is in use" in home.run(*store, code=6).stderr and bound(home) == NEWER
    home.run(*store, "--allow-missing")
    home.run("env-packs", "uninstall", NEWER)
    assert not [each for each in home.data("env-packs", "list", "--available") if each["pack"].startswith("acme.")]
    assert answers(url) == {shown("three")}, "what runs goes on"
