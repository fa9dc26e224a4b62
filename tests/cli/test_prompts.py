"""Ctrl-C at a prompt ends the command at once, and nothing is changed."""

import os
import pty
import select
import signal
import subprocess


def at_a_prompt(sluice, home, words, prompt):
    """Runs a command on a terminal until it asks, presses Ctrl-C, and returns what it said then and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["SLUICE_HOME"] = str(home)
        os.execv(sluice, [str(sluice), *words])
    said, stopped, status = "", False, None
    try:
        while True:
            ready, _, _ = select.select([terminal], [], [], 60)
            assert ready, f"it does not end: {said}"
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                break
            said += piece.decode()
            if prompt in said and not stopped:
                stopped, said = True, said[said.index(prompt) + len(prompt):]
                os.write(terminal, b"\x03")
        _, status = os.waitpid(pid, 0)
    finally:
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(terminal)
    assert stopped, said
    return said.replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def run(sluice, home, *words):
    return subprocess.run([str(sluice), *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home)})


def test_ctrl_c_at_the_prompt_for_a_secret_stores_nothing(sluice, tmp_path):
    said, code = at_a_prompt(sluice, tmp_path / "home", ["secrets", "put", "local", "shop/KEY"], "(it is not shown): ")
    assert code == 1, said
    assert "stopped; nothing was changed" in said
    assert run(sluice, tmp_path / "home", "secrets", "get", "local", "shop/KEY").returncode != 0


def test_a_token_that_is_typed_is_not_shown(sluice, tmp_path):
    said, code = at_a_prompt(sluice, tmp_path / "home", ["login", "http://127.0.0.1:9"], "Value of the token (it is not shown): ")
    assert code == 1, said
    assert "stopped" in said and not (tmp_path / "home/keys/contexts.json").exists()


def test_ctrl_c_at_a_question_changes_nothing(sluice, tmp_path):
    home = tmp_path / "home"
    assert run(sluice, home, "env", "create", "prod").returncode == 0
    said, code = at_a_prompt(sluice, home, ["env", "destroy", "prod"], "[y/N] ")
    assert code == 1, said
    assert "stopped; nothing was changed" in said
    assert "prod" in run(sluice, home, "env", "list").stdout


def test_ctrl_c_while_init_asks_makes_nothing(sluice, tmp_path):
    folder = tmp_path / "app"
    folder.mkdir()
    said, code = at_a_prompt(sluice, tmp_path / "home", ["init", str(folder)], "[app] ")
    assert code == 1, said
    assert "stopped; nothing was changed" in said
    assert list(folder.iterdir()) == []
