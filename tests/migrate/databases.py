"""PostgreSQL and SQLite for the tests of migrations. PostgreSQL is Debian's, started as its user `postgres` on a Unix
socket in a folder of the test; SQLite is a file. Both are spoken to by their own clients."""

import os
import pwd
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from pathlib import Path

BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), Path("/usr/lib/postgresql/bin"))


def await_end(descriptor):
    """Waits until the process is gone, or is only not reaped; whoever is its parent."""
    try:
        assert select.select([descriptor], [], [], 60)[0], "it goes on after SIGKILL"
    finally:
        os.close(descriptor)


class Postgres:
    """A server; `address` is the database `app` in it, whose owner is `app`."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-pg-", dir="/tmp"))
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.as_user([BIN / "initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-N",
                      "--locale=C.UTF-8"], check=True, capture_output=True)
        (self.folder / "data/postgresql.conf").open("a").write(
            f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nshared_buffers = 16MB\n"
            "max_connections = 40\nfsync = off\nautovacuum = off\ndeadlock_timeout = 200ms\n")
        self.server = None
        self.start()
        self.sql("CREATE ROLE app LOGIN PASSWORD 'pq-s3cret-word'; ALTER ROLE app CREATEDB", database="postgres", user="postgres")
        self.sql("CREATE DATABASE app OWNER app", database="postgres", user="postgres")

    def as_user(self, words, run=subprocess.run, **how):
        if self.user:
            how |= {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        return run(words, cwd=self.folder, **how)

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.server = self.as_user([BIN / "postgres", "-D", self.folder / "data"], run=subprocess.Popen, stdout=log, stderr=log)
        for _ in range(600):
            if subprocess.run([BIN / "pg_isready", "-q", "-h", self.folder, "-t", "1"]).returncode == 0:
                return
            assert self.server.poll() is None, (self.folder / "log").read_text()
        raise AssertionError((self.folder / "log").read_text())

    def kill(self):
        """As a machine that loses its power: nothing is written any more."""
        children = subprocess.run(["pgrep", "-P", str(self.server.pid)], capture_output=True, text=True).stdout.split()
        self.server.kill()
        ending = []
        for child in children:
            try:
                ending.append(os.pidfd_open(int(child)))
                signal.pidfd_send_signal(ending[-1], signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.server.wait()
        for each in ending:
            await_end(each)
        (self.folder / "data/postmaster.pid").unlink(missing_ok=True)

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait(timeout=60)
        shutil.rmtree(self.folder)

    def address(self, database="app", user="app"):
        return f"postgresql://{user}:pq-s3cret-word@/{database}?host={self.folder}"

    def sql(self, text, database="app", user="app"):
        run = subprocess.run([BIN / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.address(database, user)],
                             input=text, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def fresh(self, name):
        """An empty database, as a thing to migrate."""
        self.sql(f"CREATE DATABASE {name} OWNER app", database="postgres", user="postgres")
        return Target(self.address(name), lambda text: self.sql(text, database=name))


class Target:
    """A database that is migrated: its address for migrate_tool, and a client."""

    def __init__(self, address, sql):
        self.address, self.sql = address, sql


def sqlite_target(path):
    sqlite3.connect(path).close()
    path.touch()

    def sql(text):
        run = subprocess.run(["sqlite3", "-bail", path], input=".timeout 20000\nPRAGMA synchronous = off;\n" + text, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    return Target(f"sqlite:{path}", sql)
