"""Runs the examples of README.md and docs/guide/*.md, each document in a fresh folder of its own, from top to bottom.

A fenced block counts by the first words behind its fence:

    ```concept parcels/concepts/parcel.concept     a language and a path: the block is written to that file
    ```console                                     `$ command` lines are run in a shell; what follows each is exactly
                                                   what it prints (stdout, then stderr), where a line `…` stands for
                                                   any lines, and `…` in a line for anything without blanks;
                                                   `[exit 1]` as the last line is its exit code; what a command
                                                   exports holds for those that follow
Other blocks are for reading only. The folder has the repository's `examples/`."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/guide/*.md")])


def blocks(text):
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```", text, flags=re.M | re.S):
        yield match.group(1).split(), match.group(2), text[:match.start()].count("\n") + 2


def commands(block):
    """Splits a console block into (command, expected lines, exit code)."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], [], 0])
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0] += "\n" + line[2:]
        elif match := re.fullmatch(r"\[exit (\d+)\]", line):
            found[-1][2] = int(match.group(1))
        else:
            found[-1][1].append(line)
    return found


def agrees(expected, printed):
    pattern = "\n".join(".*?" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", r"\S*")
                        for line in expected)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed), flags=re.S) is not None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_do_what_they_show(document, build_dir, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    place = tmp_path / "place"
    place.mkdir()
    (place / "examples").symlink_to(ROOT / "examples")
    environment = {"PATH": f"{build_dir}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1",
                   "COLUMNS": "100"}
    sessions = []
    try:
        run_blocks(document, place, environment, sessions)
    finally:  # what a document has started does not outlive it: a load on its port would meet the next one's router
        for pid in members(sessions):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        subprocess.run(["sluice", "stop"], env=environment, capture_output=True, timeout=60)


def members(sessions):
    """The processes of these sessions. A group is not enough: `timeout` moves to a group of its own."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.getsid(int(entry.name)) in sessions:
                yield int(entry.name)


def shell(command, place, environment, sessions):
    """Runs a command in a session of its own, in which what it leaves in the background stays."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        run = subprocess.Popen(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                               stderr=err, start_new_session=True)
        sessions.append(run.pid)
        run.wait(timeout=60)
        for file in (out, err):
            file.seek(0)
        return run.returncode, (out.read() + err.read()).decode().splitlines()


def run_blocks(document, place, environment, sessions):
    for words, block, line in blocks(document.read_text()):
        if len(words) == 2 and "/" in words[1] or len(words) == 2 and "." in words[1]:
            file = place / words[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block)
        elif words[:1] == ["console"]:
            for command, expected, code in commands(block):
                if command.startswith("export "):
                    known = subprocess.run(["bash", "-c", f"{command} && env -0"], cwd=place, env=environment,
                                           capture_output=True, text=True, check=True).stdout
                    environment = dict(line.split("=", 1) for line in known.split("\0") if line)
                    continue
                returned, printed = shell(command, place, environment, sessions)
                where = f"{document.relative_to(ROOT)}:{line}: $ {command}"
                assert returned == code, f"{where}\nexit {returned}\n" + "\n".join(printed)
                assert agrees(expected, printed), f"{where}\nprinted:\n" + "\n".join(printed)


def test_what_a_document_leaves_behind_is_found(tmp_path, eventually):
    sessions = []
    shell("(timeout 60 sleep 60 > /dev/null 2>&1 &)", tmp_path, dict(os.environ), sessions)
    eventually(lambda: len(list(members(sessions))) == 2, "timeout and sleep are not found")
    for pid in members(sessions):
        os.kill(pid, signal.SIGKILL)


def test_the_comparison_can_fail():
    assert agrees(["a", "…", "c"], ["a", "b", "b", "c"])
    assert not agrees(["a", "…", "c"], ["a", "b"])
    assert not agrees(["a"], ["a", "b"])
    assert agrees(["flow …, ok"], ["flow 01J, ok"])
    assert not agrees(["flow …, ok"], ["flow 01J and more, ok"])
