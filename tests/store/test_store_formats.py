"""A store of an older format is refused by every command but `sluice store upgrade`, which brings it up behind a backup
that is the way back; killed anywhere, it leaves the older store or the newer one, whole. An older store is made here from
today's by undoing the newest step."""

import json
import signal
import sqlite3
import subprocess

import pytest

from test_backup import environment, key_made, on_sqlite

OLDER = "has format 1, and this Sluice works on format 2; nothing was changed"


def undo_in_file(one, format=1):
    with sqlite3.connect(one.home / "store/store.db") as file:
        if format == 1:
            file.execute("DROP TABLE upgrade")
        file.execute(f"PRAGMA user_version = {format}")
    file.close()


def undo_in_postgres(server):
    server.sql("DROP TABLE sluice.upgrade; UPDATE sluice.fence SET format = 1")


def is_older(one):
    done = one.run("env", "list", code=None)
    assert done.returncode == 0 or OLDER in done.stderr, done.stderr
    return done.returncode != 0


@pytest.fixture
def older(started, plane, kept):
    """A home whose store is of an older format, and what is to be said for an upgrade."""
    server = started()
    one = on_sqlite(plane, "one", server)
    one.run("env", "create", "prod")
    recipient = key_made(one, kept)
    undo_in_file(one)
    return server, one, ["store", "upgrade", "--to", kept / "backups", "--recipient", recipient]


def test_only_an_upgrade_opens_an_older_file(older, plane, kept):
    server, one, words = older
    before = (one.home / "store/store.db").read_bytes()
    for refused in (["env", "list"], ["backup", "list"], ["env", "create", "new"], ["audit", "verify"], ["serve"],
                    ["backup", "drill"], ["status"]):
        done = one.run(*refused, code=None)
        assert done.returncode != 0 and OLDER in done.stderr and "sluice store upgrade" in done.stderr, done.stderr
    done = one.run("store", "upgrade", code=None)
    assert "nothing says where that goes; nothing was changed" in done.stderr
    assert (one.home / "store/store.db").read_bytes() == before
    report = one.data(*words)
    assert (report["from"], report["to"]) == (1, 2)
    assert environment(one, "prod")["name"] == "prod"
    assert one.run("audit", "verify").returncode == 0
    again = one.data("store", "upgrade")
    assert (again["from"], again["to"], again["backup"]) == (2, 2, report["backup"])
    # The way back, which any Sluice takes into a store of its own format.
    back = on_sqlite(plane, "back", server)
    back.run("backup", "restore", kept / "backups", "--key", kept / "backup.key", "--signer", report["signer"])
    assert environment(back, "prod")["name"] == "prod"


def test_a_newer_file_is_refused(older):
    _, one, words = older
    undo_in_file(one, format=3)
    for refused in (["env", "list"], words):
        done = one.run(*refused, code=None)
        assert done.returncode != 0 and "has format 3; this Sluice knows 1 to 2" in done.stderr, done.stderr


def test_an_upgrade_that_is_killed_leaves_one_store_whole(older, kept, eventually):
    _, one, words = older
    moments = [lambda: (kept / "backups").exists(),
               lambda: any(kept.glob("backups/*/rows")),
               lambda: any(kept.glob("backups/*/manifest.json")),
               lambda: (one.home / "store/drill.db").exists(),
               lambda: any(kept.glob("backups/*/manifest.json")) and not (one.home / "store/drill.db").exists()]
    for reached in moments:
        process = subprocess.Popen([str(one.sluice), *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=one.folder, env=one.environment())
        eventually(lambda: reached() or process.poll() is not None)
        process.kill()
        process.wait(timeout=60)
        if not is_older(one):
            assert environment(one, "prod")["name"] == "prod"
            assert one.run("audit", "verify").returncode == 0
            undo_in_file(one)
        for each in kept.glob("backups/*/*"):
            each.unlink()
    one.run(*words)
    assert environment(one, "prod")["name"] == "prod"


def test_only_an_upgrade_opens_an_older_postgresql(started, plane, kept, eventually):
    server = started()
    one = plane("one", server).serve()
    one.run("env", "create", "prod")
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient)
    words = ["store", "upgrade", "--store", server.address]
    led = one.run(*words, code=None)
    assert led.returncode != 0 and "sluice serve runs already" in led.stderr
    one.end()
    undo_in_postgres(server)
    code, said = one.refused()
    assert f"the store in PostgreSQL {OLDER}" in said and "sluice store upgrade --store URL" in said
    # Killed in the middle of its transaction, whose next step cannot be done: somebody else makes a table of that name.
    other = server.session()
    other.stdin.write("BEGIN; CREATE TABLE sluice.upgrade (x int); SELECT 'held';\n")
    other.stdin.flush()
    assert other.stdout.readline() == "held\n"
    process = subprocess.Popen([str(one.sluice), *map(str, words)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=one.folder, env=one.environment())
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE TABLE%'"
    eventually(lambda: server.sql(waits) == "1" or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    other.stdin.write("COMMIT;\n")
    other.stdin.close()
    assert other.wait(timeout=60) == 0
    eventually(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice'") == "0")
    assert server.sql("SELECT format FROM sluice.fence") == "1"
    server.sql("DROP TABLE sluice.upgrade")
    report = one.data(*words)
    assert (report["from"], report["to"]) == (1, 2)
    assert server.sql("SELECT format FROM sluice.fence") == "2"
    one.serve()
    assert environment(one, "prod")["name"] == "prod"
    assert one.run("audit", "verify").returncode == 0
    listed = lambda: {each["backup"] for each in one.data("backup", "list")["backups"]}
    eventually(lambda: report["backup"].rsplit("/", 1)[1] in listed(), lambda: json.dumps(sorted(listed())))
    one.end()
    server.sql("UPDATE sluice.fence SET format = 3")
    code, said = one.refused()
    assert "has a format that this Sluice does not know" in said
