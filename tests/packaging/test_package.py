"""The Debian package that `./dev package` makes: what is in it, and what its scripts do."""

import gzip
import json
import os
import shutil
import socket
import subprocess

import pytest


@pytest.fixture(scope="module")
def package(root, sluice, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    made = subprocess.run(["/usr/bin/python3", root / "packaging/package.py", sluice, folder], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    file = folder / made.stdout.strip().rsplit("/", 1)[1]
    subprocess.run(["dpkg-deb", "--raw-extract", file, folder / "root"], check=True)
    return file


@pytest.fixture
def contents(package):
    return package.parent / "root"


def test_the_program_in_it_is_the_program(contents, sluice):
    def version(program):
        return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout

    assert version(contents / "usr/bin/sluice") == version(sluice)
    for shell, path in {"bash": "usr/share/bash-completion/completions/sluice",
                        "zsh": "usr/share/zsh/vendor-completions/_sluice",
                        "fish": "usr/share/fish/vendor_completions.d/sluice.fish"}.items():
        told = subprocess.run([sluice, "completion", shell], check=True, capture_output=True, text=True).stdout
        assert (contents / path).read_text() == told


def test_its_man_page_names_every_command(contents, sluice):
    page = gzip.decompress((contents / "usr/share/man/man1/sluice.1.gz").read_bytes()).decode().replace("\\-", "-")
    words = subprocess.run([sluice, "help", "-o", "json"], check=True, capture_output=True, text=True).stdout
    for line in page.splitlines():
        assert not line.startswith("'"), line
    for command in json.loads(words)["commands"]:
        assert f".B {command['usage']}\n" in page


def test_its_units_leave_replicas_and_routers_alone(contents):
    for name in ("sluice.service", "sluice-router@.service"):
        lines = (contents / "lib/systemd/system" / name).read_text().splitlines()
        assert {"Type=notify", "KillMode=process", "Delegate=yes"} <= set(lines), name
        started = next(line for line in lines if line.startswith("ExecStart=")).removeprefix("ExecStart=")
        assert (contents / started.split()[0].lstrip("/")).is_file()


def test_a_server_tells_who_supervises_it_that_it_is_ready(sluice, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(60)
        environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(tmp_path / "home"),
                       "NOTIFY_SOCKET": str(tmp_path / "notify")}
        with subprocess.Popen([sluice, "serve"], env=environment, stderr=subprocess.DEVNULL) as server:
            assert told.recv(100) == b"READY=1"
            server.terminate()
            assert told.recv(100) == b"STOPPING=1"
            assert server.wait(timeout=60) == 0


@pytest.fixture
def purged(contents, tmp_path):
    """Runs the script of a purge with a home in the test's folder."""
    script = tmp_path / "postrm"
    text = (contents / "DEBIAN/postrm").read_text()
    assert "/var/lib/sluice" in text
    script.write_text(text.replace("/var/lib/sluice", str(tmp_path / "home")).replace("/run/systemd", "/nonexistent"))

    def run(word):
        return subprocess.run(["sh", script, word], check=True, capture_output=True, text=True).stderr

    return run


def test_a_purge_keeps_what_programs_have_stored(purged, tmp_path):
    storage = tmp_path / "home/runtime/storage/data"
    storage.mkdir(parents=True)
    assert purged("remove") == "" and storage.exists()
    (storage / "orders.db").write_text("orders")
    assert "programs have stored data" in purged("purge")
    assert (storage / "orders.db").read_text() == "orders"
    shutil.rmtree(storage)
    assert purged("purge") == ""
    assert not (tmp_path / "home").exists()
