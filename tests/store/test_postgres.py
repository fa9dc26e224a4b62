"""The store in PostgreSQL, on a server of the test's own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), Path("/usr/lib/postgresql/bin"))


class Server:
    def __init__(self, **settings):
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.run([BIN / "initdb", "-D", self.folder / "data", "-U", "sluice", "-A", "trust", "-N", "--locale=C.UTF-8"],
                 check=True, capture_output=True)
        with (self.folder / "data/postgresql.conf").open("a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nshared_buffers = 16MB\n")
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        with (self.folder / "log").open("ab") as log:
            self.process = self.run([BIN / "postgres", "-D", self.folder / "data"], how=subprocess.Popen, stdout=log,
                                    stderr=log)
        self.address = f"postgresql://sluice@/postgres?host={self.folder}"

    def run(self, words, how=subprocess.run, **options):
        if self.user:
            options |= {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        return how(words, cwd=self.folder, **options)

    def ready(self):
        return subprocess.run([BIN / "pg_isready", "-q", "-h", self.folder, "-t", "1"]).returncode == 0

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


def run_tests(server, build_dir, *words):
    environment = os.environ | {"SLUICE_TEST_POSTGRES": server.address,
                                "SLUICE_TEST_SOCKET": str(server.folder / ".s.PGSQL.5432")}
    return subprocess.run([Path(build_dir) / "postgres_store_test", *words], env=environment, capture_output=True,
                          text=True, timeout=540)


@pytest.fixture
def started(eventually):
    servers = []

    def start(**settings):
        servers.append(Server(**settings))
        eventually(servers[-1].ready)
        return servers[-1]
    yield start
    for server in servers:
        server.stop()


def test_it_does_what_every_store_does(started, build_dir):
    done = run_tests(started(), build_dir)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_can_lose_what_it_acknowledged_is_refused(started, build_dir, setting):
    done = run_tests(started(**{setting: "off"}), build_dir, "--gtest_filter=*ThereWhenItIsOpenedAgain")
    assert done.returncode == 1
    assert f"this PostgreSQL has {setting} off, so it can lose what it acknowledged" in done.stdout
