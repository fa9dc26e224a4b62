"""A PostgreSQL that takes no changes for a while: each is refused with a sentence, nothing that was acknowledged is lost,
and when it takes them again so does the control plane. And clocks that differ."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from asking import request
from postgres_server import Server
from test_replicas import environments, joined, leads, named


def test_a_server_that_is_read_only_refuses_changes(started, plane, eventually):
    server = started()
    one = plane("one", server).serve(*named("one"))
    one.run("env", "create", "before")
    server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    server.sql("SELECT pg_reload_conf()")
    tried = []

    def is_refused():
        tried.append(one.run("env", "create", f"e{len(tried)}", code=None))
        return tried[-1].returncode != 0
    eventually(is_refused)
    assert tried[-1].returncode == 1 and tried[-1].stderr == (
        "error: PostgreSQL: cannot execute UPDATE in a read-only transaction\n"
        "next:  it is a standby, or default_transaction_read_only is on: give the address of the server that takes "
        "changes\n")
    server.sql("ALTER SYSTEM RESET default_transaction_read_only")
    server.sql("SELECT pg_reload_conf()")
    # Its lease may have lapsed meanwhile; then it has ended, as it does when the server is away.
    if one.process.poll() is not None:
        one.end()
        one.serve(*named("one"))
    eventually(lambda: one.run("env", "create", "after", code=None).returncode == 0, one.log)
    there = [f"e{n}" for n, each in enumerate(tried) if each.returncode == 0]
    assert environments(one) == sorted(["after", "before", "local", *there])
    assert one.run("audit", "verify").returncode == 0


@pytest.fixture
def small_server(eventually):
    """A server on a disk of 80 MB, which has its log on it, too."""
    disk = Path(tempfile.mkdtemp(prefix="disk-", dir="/tmp"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m,mode=755", "sluice-test", str(disk)], check=True)
    server = None
    try:
        server = Server(disk, max_wal_size="'32MB'", min_wal_size="'32MB'")
        eventually(server.ready)
        yield server
    finally:
        if server is not None:
            server.stop()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
        disk.rmdir()


def test_a_server_that_is_full_refuses_changes_and_loses_none(small_server, plane, eventually):
    server = small_server
    one = plane("one", server).serve(*named("one"))
    one.run("env", "create", "before")
    filler = server.folder / "filler"
    tried = []

    def is_refused():
        if one.process.poll() is not None:
            return True
        with filler.open("ab") as file:
            try:
                file.write(bytes(1 << 20))
            except OSError:
                pass
        server.sql("CREATE TABLE IF NOT EXISTS public.filler (bytes text)", code=None)
        server.sql("INSERT INTO public.filler SELECT repeat(md5(random()::text), 50000)", code=None)
        tried.append(one.run("env", "create", f"e{len(tried)}", code=None))
        return tried[-1].returncode != 0
    eventually(is_refused)
    said = tried[-1].stderr + one.log()
    assert "No space left on device" in said or "PostgreSQL" in said, said
    filler.unlink()
    server.sql("DROP TABLE public.filler", code=None)
    if server.process.poll() is not None:
        server.start()
    eventually(server.ready)
    if one.process.poll() is not None:
        one.end()
        one.serve(*named("one"))
    eventually(lambda: one.run("env", "create", "after", code=None).returncode == 0, one.log)
    there = environments(one)
    assert {"before", "after", *(f"e{n}" for n, each in enumerate(tried) if each.returncode == 0)} <= set(there)
    assert len(there) == len(set(there))
    assert one.run("audit", "verify").returncode == 0


@pytest.fixture
def shifted(tmp_path):
    """Variables that shift a program's time of day by so many seconds."""
    library = tmp_path / "clock_shift.so"
    source = Path(__file__).with_name("clock_shift.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return lambda seconds: {"LD_PRELOAD": str(library), "CLOCK_SHIFT_S": str(seconds)}


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_replicas_whose_clocks_are_an_hour_apart_agree_on_who_leads(started, plane, eventually, shifted, seconds):
    """The lease counts by the server's clock, and recorded time never goes back."""
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east)
    west.more = shifted(seconds)
    west.serve(*named("west"))
    assert leads(east) == leads(west) == "east"
    east.run("env", "create", "first")
    east.process.kill()
    eventually(lambda: leads(west) == "west", west.log)
    west.run("env", "create", "second")
    assert environments(west) == ["first", "local", "second"]
    times = [each["at"] for each in west.data("audit", "list")]
    assert times == sorted(times)
    assert request(west, "GET", "/v1/views/clock")[1]["apart"], "its clock is an hour off, recorded time goes on"
    east.end()
    east.serve(*named("east"))
    assert leads(east) == "west"
    west.end()
    eventually(lambda: leads(east) == "east", east.log)
    east.run("env", "create", "third")
    assert east.run("audit", "verify").returncode == 0
