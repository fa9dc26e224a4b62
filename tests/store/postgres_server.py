"""A PostgreSQL server of the test's own: Debian's, in a folder of its own, behind a Unix socket."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), Path("/usr/lib/postgresql/bin"))


class Server:
    def __init__(self, where="/tmp", **settings):
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir=where))
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.run([BIN / "initdb", "-D", self.folder / "data", "-U", "sluice", "-A", "trust", "-N", "--locale=C.UTF-8"],
                 check=True, capture_output=True)
        with (self.folder / "data/postgresql.conf").open("a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nshared_buffers = 16MB\n")
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self.address = f"postgresql://sluice@/postgres?host={self.folder}"
        self.start()

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.process = self.run([BIN / "postgres", "-D", self.folder / "data"], how=subprocess.Popen, stdout=log,
                                    stderr=log)

    def crash(self):
        """Ends at once, as after a power cut; start() recovers."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=60)

    def run(self, words, how=subprocess.run, **options):
        if self.user:
            options |= {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        return how(words, cwd=self.folder, **options)

    def ready(self):
        return subprocess.run([BIN / "pg_isready", "-q", "-h", self.folder, "-t", "1"]).returncode == 0

    def sql(self, statement, code=0):
        done = self.run([BIN / "psql", "-h", self.folder, "-U", "sluice", "-d", "postgres", "-tAc", statement],
                        capture_output=True, text=True)
        assert code is None or done.returncode == code, done.stderr
        return done.stdout.strip()

    def session(self):
        """Whoever else is at the server: statements go to its stdin."""
        return self.run([BIN / "psql", "-h", self.folder, "-U", "sluice", "-d", "postgres", "-qAt"], how=subprocess.Popen,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)
