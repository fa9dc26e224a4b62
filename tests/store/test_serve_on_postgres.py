"""A control plane whose store is in PostgreSQL: all that it must not lose is there, also what is no row of the store."""

import http.client
import re
import shutil
import signal

import pytest


def get(url):
    host = re.sub(r"^http://|/$", "", url)
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/")
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def lose(plane, *names):
    for name in names:
        path = plane.home / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_a_home_that_lost_all_but_the_clusters_key_goes_on(started, plane):
    server = started()
    one = plane("one", server).serve()
    first = one.data("up", one.root / "examples/hello", "--detach")
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    key = (one.home / "keys/operator.pem").read_text()
    assert not (one.home / "store/store.db").exists()
    one.end(signal.SIGKILL)
    others = [f"keys/{each.name}" for each in (one.home / "keys").iterdir() if each.name != "cluster.key"]
    lose(one, "blobs", "store/audit.heads", *others)
    one.serve()
    assert (one.home / "keys/operator.pem").read_text() == key
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    second = one.data("up", one.root / "examples/hello-v2", "--share", "10%", "--detach")
    assert second["deployment"] == first["deployment"]
    # The first revision is made again from what was kept, and so is its signature.
    one.run("traffic", "set", "local", "hello@2=100%")
    one.run("runtime", "stop", "hello@1")
    one.run("revisions", "retry", "local", "hello@1")
    one.run("revisions", "warm", "local", "hello@1")
    one.run("traffic", "set", "local", "hello@1=100%")
    assert get(first["urls"][0]) == (200, "hello 1.0.0\n")
    assert one.run("audit", "verify").returncode == 0


def test_the_database_alone_opens_nothing(started, plane):
    server = started()
    one = plane("one", server).serve()
    one.end()
    other = plane("other", server)
    code, said = other.refused()
    assert said == ("error: this home does not have the key of the cluster that this store belongs to\n"
                    "next:  take an empty home and join first: sluice replicas join URL --token T\n"), said
    assert code == 4
    (other.home / "keys/cluster.key").write_text("00" * 32 + "\n")
    assert "this home has the key of another cluster than this store's" in other.refused()[1]
    pem = "".join((one.home / "keys/operator.pem").read_text().splitlines()[1:-1])
    dump = server.sql("SELECT string_agg(encode(bytes, 'base64'), '') FROM sluice.file_part WHERE name = 'keys/operator.pem'")
    assert dump and pem not in dump.replace("\n", "")
    secret = server.sql("SELECT count(*) FROM sluice.file_part WHERE position('PRIVATE KEY'::bytea IN bytes) > 0")
    assert secret == "0"
    shutil.copy(one.home / "keys/cluster.key", other.home / "keys/cluster.key")
    other.serve()
    assert (other.home / "keys/operator.pem").read_text() == (one.home / "keys/operator.pem").read_text()
    assert other.run("audit", "verify").returncode == 0


def test_one_leads_and_the_next_takes_over_when_it_stops(started, plane):
    server = started()
    one = plane("one", server).serve("--replica", "east")
    other = plane("other", server)
    (other.home / "keys").mkdir(parents=True, mode=0o700)
    shutil.copy(one.home / "keys/cluster.key", other.home / "keys/cluster.key")
    other.home.chmod(0o700)
    assert "the replica east leads this store" in other.refused()[1]
    one.run("env", "create", "staging")
    one.end()
    other.serve()
    assert [each["environment_id"] for each in other.data("env", "list")] == ["local", "staging"]
    assert "another replica is called main" in one.refused()[1]


def test_a_home_has_one_store(started, plane):
    server = started()
    one = plane("one", server)
    one.run("env", "create", "staging")
    code, said = one.refused()
    assert code == 6 and "this home has a store of its own already" in said
    other = plane("other", server).serve()
    other.end()
    said = other.run("env", "list", code=None).stderr
    assert said == ("error: the store of this home is in PostgreSQL, and no sluice serve of this home answers\n"
                    "next:  sluice serve --store postgresql://USER@HOST/DATABASE\n")
    assert not (other.home / "store/store.db").exists()


def test_a_store_that_came_back_with_less_is_refused(started, plane):
    server = started()
    one = plane("one", server).serve()
    one.run("env", "create", "staging")
    one.end()
    server.sql("UPDATE sluice.fence SET batch = batch - 1")
    assert "this PostgreSQL came back with less than it had acknowledged" in one.refused()[1]
    server.sql("UPDATE sluice.fence SET batch = batch + 1")
    one.serve()
    one.end()
    server.sql("UPDATE sluice.fence SET id = uuid_send(gen_random_uuid())")
    assert "the store at this address is not the one that this home belongs to" in one.refused()[1]


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_can_lose_what_it_acknowledged_is_refused(started, plane, setting):
    code, said = plane("one", started(**{setting: "off"})).refused()
    assert said == (f"error: this PostgreSQL has {setting} off, so it can lose what it acknowledged\n"
                    f"next:  set {setting} = on in its configuration\n")


def test_a_control_plane_without_its_server_ends_and_nothing_is_lost(started, plane, eventually):
    server = started()
    one = plane("one", server).serve()
    one.run("env", "create", "staging")
    server.crash()
    eventually(lambda: one.process.poll() is not None, one.log)
    assert one.end() != 0
    code, said = one.refused()
    assert "PostgreSQL does not answer" in said
    server.start()
    eventually(server.ready)
    one.serve()
    assert [each["environment_id"] for each in one.data("env", "list")] == ["local", "staging"]


def test_who_was_paused_writes_nothing_when_it_wakes(started, plane, eventually):
    server = started()
    one = plane("one", server).serve("--replica", "east")
    other = plane("other", server)
    (other.home / "keys").mkdir(parents=True, mode=0o700)
    other.home.chmod(0o700)
    shutil.copy(one.home / "keys/cluster.key", other.home / "keys/cluster.key")
    one.process.send_signal(signal.SIGSTOP)
    eventually(lambda: server.sql("SELECT lease_until < clock_timestamp() FROM sluice.fence") == "t")
    other.serve("--replica", "west")
    other.run("env", "create", "staging")
    before = server.sql("SELECT count(*) FROM sluice.journal WHERE record IS NOT NULL")
    one.process.send_signal(signal.SIGCONT)
    eventually(lambda: one.process.poll() is not None)
    assert one.end() != 0
    assert int(server.sql("SELECT count(*) FROM sluice.journal")) >= int(before)
    assert server.sql("SELECT convert_from(leader, 'UTF8') FROM sluice.fence") == "west"
    assert other.run("audit", "verify").returncode == 0
