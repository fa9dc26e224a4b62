"""--server: each command goes to the server that it names, with the token in $SLUICE_TOKEN, and leaves the home alone; those
that are about this machine or about files say so or do as always."""

import json
import os
import shlex
import subprocess

# They ask no server: what they are about is a file, a folder, a registry, or this machine.
HERE = {"kit init", "kit list", "stop", "console", "replicas join", "backup key", "backup restore", "store import",
        "router join", "router stats", "router upgrade", "tls trust", "context list", "context use", "schema", "help", "completion",
        "bundles pull", "pack pull", "credentials bootstrap", "mcp", *(f"mesh {word}" for word in (
            "init", "ca", "plan", "compile", "sign", "trace", "bundle", "schema"))}
ENDLESS = {"serve", "deployer", "router run", "mesh agent", "watch"}
NO_FILE = ("cannot stat", "cannot open", "cannot list", "there is no folder", "there is no file")


def test_every_command_goes_to_the_server_that_it_is_given(sluice, tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SLUICE_TOKEN": "slt_x_y", "LANG": "C.UTF-8"}

    def run(*words):
        return subprocess.run([sluice, *words], capture_output=True, text=True, env=environment, timeout=60, cwd=tmp_path,
                              stdin=subprocess.DEVNULL)
    here, reached, odd = set(), set(), {}
    for command in json.loads(run("help", "-o", "json").stdout)["commands"]:
        name = command["name"]
        if name in ENDLESS:
            continue
        words = shlex.split(command["example"])[1:]
        count = len(name.split())
        done = run(*words[:count], "--server", "http://127.0.0.1:1", *words[count:])
        if "127.0.0.1:1:" in done.stderr or "127.0.0.1:1 " in done.stderr:
            reached.add(name)
        elif any(each in done.stdout + done.stderr for each in NO_FILE):
            continue
        elif name in HERE:
            here.add(name)
        else:
            odd[name] = done.stdout + done.stderr
    assert not odd
    assert not (tmp_path / ".sluice/store").exists()
    assert len(reached) > 150 and {"env create", "traffic set", "backup create", "store export", "audit list", "why",
                                   "exec", "logs", "replicas list", "flow resolve"} <= reached
    for name in ("stop", "console"):
        refused = run(name, "--server", "http://127.0.0.1:1")
        assert refused.returncode == 2 and f"{name} is about this machine, and takes no --server" in refused.stderr
