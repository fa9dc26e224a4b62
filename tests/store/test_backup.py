"""Backups of a control plane under load: any moment is restored, into either kind of store, equal to what an export of
that moment has; what was revoked stays revoked; damage, wrong keys and homes in use are told."""

import base64
import concurrent.futures
import http.client
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from test_serve_on_postgres import get

MOMENTS = 20


def key_made(one, kept):
    one.run("backup", "key", "--out", kept / "backup.key")
    return kept / "backup.key.pub"


def on_sqlite(plane, name, server):
    """A home with a store of its own."""
    one = plane(name, server)
    one.address = ""
    return one


def catch_up(one, eventually):
    """Waits until what is committed now is archived, and says up to which position."""
    now = one.data("status")["position"]
    reached = []

    def archived():
        reached.append(one.data("backup", "list"))
        return reached[-1]["archived"] >= now
    eventually(archived, lambda: reached[-1])
    assert reached[-1]["trouble"] == "" and reached[-1]["behind"] < 60
    return reached[-1]["archived"]


class Restorer:
    def __init__(self, plane, server, kept, signer):
        self.plane, self.server, self.kept, self.signer, self.made = plane, server, kept, signer, 0

    def home(self):
        self.made += 1
        return on_sqlite(self.plane, f"again-{self.made}", self.server)

    def words(self, *more):
        return ["backup", "restore", self.kept / "backups", "--key", self.kept / "backup.key", "--signer", self.signer, *more]

    def into_sqlite(self, *more):
        home = self.home()
        return home, home.data(*self.words(*more))

    def into_postgres(self, *more):
        self.server.sql("DROP SCHEMA IF EXISTS sluice CASCADE")
        home = self.home()
        home.address = self.server.address
        return home, home.data(*self.words("--store", self.server.address, *more))


def test_any_moment_is_restored_into_either_store(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient)
    one.serve()
    first = catch_up(one, eventually)
    one.run("env", "create", "load")
    stop, exports, done = threading.Event(), [], []

    def load():
        while not stop.is_set():
            done.append(one.run("do", "Env/update", "environment=load", f"name=n{len(done)}", code=None).returncode)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        loading = pool.submit(load)
        try:
            for n in range(4):
                eventually(lambda: done.count(0) > 3 * n)
                exports.append(one.data("store", "export", kept / "exports", "--recipient", recipient))
                if n == 1:  # the archive goes on where it was, also after the worst
                    one.end(signal.SIGKILL)
                    one.serve()
        finally:
            stop.set()
        loading.result()
    one.run("do", "Env/update", "environment=load", "name=last")
    last = catch_up(one, eventually)
    restore = Restorer(plane, server, kept, exports[0]["signer"])
    for each in exports:
        for into in (restore.into_sqlite, restore.into_postgres):
            _, report = into("--at", each["position"])
            assert (report["position"], report["contents"]) == (each["position"], each["contents"])
    chosen = random.Random(32)
    for position in (chosen.randint(first, last) for _ in range(MOMENTS)):
        _, there = restore.into_sqlite("--at", position)
        _, also = restore.into_postgres("--at", position)
        assert there["contents"] == also["contents"]
        assert there["position"] == also["position"] <= position
        assert there["knownTo"] >= last
    # The restored control plane runs, and is proven.
    home, report = restore.into_sqlite()
    assert report["position"] >= last
    home.serve()
    assert next(each["name"] for each in home.data("env", "list") if each["environment_id"] == "load") == "last"
    assert home.run("audit", "verify").returncode == 0


POLICY = """schema: sluice.access-policy.v1
grants:
  - to: ["user:root"]
    role: admin
  - to: ["service:ci"]
    role: deployer
"""


def environment(one, name):
    return next(each for each in one.data("env", "list") if each["environment_id"] == name)


def test_a_restore_raises_what_was_seen_and_brings_back_nothing_revoked(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient)
    one.serve()
    (kept / "policy.yaml").write_text(POLICY)
    one.run("access", "policy", "apply", kept / "policy.yaml")
    token = one.data("access", "tokens", "create", "pipeline", "--for", "service:ci")["token"]
    one.run("env", "create", "prod")
    before = catch_up(one, eventually)
    for name in ("a", "b", "c"):
        one.run("do", "Env/update", "environment=prod", f"name={name}")
    one.run("access", "tokens", "revoke", token)
    seen = environment(one, "prod")
    catch_up(one, eventually)
    signer = one.data("store", "export", kept / "exports", "--recipient", recipient)["signer"]
    restore = Restorer(plane, server, kept, signer)
    # What the first one has restored archives there, too, and has revoked the token again.
    for into, revoked in ((restore.into_sqlite, 1), (restore.into_postgres, 2)):
        home, report = into("--at", before)
        assert report["position"] == before and report["revoked"] == revoked and report["history"] >= 4
        kept_records = (home.home / f"store/history-{before}.jsonl").read_text().splitlines()
        assert len(kept_records) == report["history"]
        assert json.loads(kept_records[0])["seq"] == before + 1
        home.serve()
        status = lambda: {each["token"]: each["status"] for each in home.data("access", "tokens", "list")["tokens"]}
        eventually(lambda: status()[token] == "revoked", home.log)
        assert environment(home, "prod")["name"] == "prod"
        home.run("do", "Env/update", "environment=prod", "name=after")
        # Whoever expects what only the lost store had is told so.
        refused = home.run("do", "Env/update", "environment=prod", "name=x", "--expect-generation", seen["generation"],
                           code=None)
        assert refused.returncode == 6
        assert max(map(int, re.findall(r"\d+", refused.stderr))) > 1_000_000, refused.stderr
        noted = [each for each in home.data("audit", "list") if each.get("action") == "Backup/restored"]
        assert len(noted) == 1
        assert home.run("audit", "verify").returncode == 0
        home.end()


def test_what_is_wrong_with_a_backup_is_told(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    recipient = key_made(one, kept)
    made = one.data("backup", "create", "--to", kept / "backups", "--recipient", recipient)
    assert one.run("backup", "verify", made["backup"]).returncode == 0
    assert one.run("backup", "drill").returncode == 0
    restore = Restorer(plane, server, kept, made["signer"])

    def refused(home, words):
        done = home.run(*words, code=None)
        assert not (home.home / "store/store.db").exists()
        return done.returncode, done.stderr.splitlines()[0]

    other = restore.home()
    other.run("backup", "key", "--out", kept / "other.key")
    words = restore.words()
    code, said = refused(other, [*words[:4], kept / "other.key", *words[5:]])
    assert (code, "it is sealed for slr_" in said) == (11, True), said
    code, said = refused(restore.home(), [*words[:-1], "ab" * 16])
    assert (code, said) == (11, f"error: {made['folder']}/manifest.json is not signed by the key {'ab' * 16}")
    code, said = refused(restore.home(), words[:-2])
    assert (code, made["signer"] in said) == (2, True), said
    done = one.run(*words, code=None)
    assert (done.returncode, "this home is in use already" in done.stderr) == (6, True), done.stderr
    rows = kept / "backups" / made["backup"] / "rows"
    bytes_ = bytearray(rows.read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    rows.write_bytes(bytes_)
    code, said = refused(restore.home(), words)
    assert (code, said) == (11, f"error: {rows} is damaged")
    for words in (["backup", "verify", made["backup"]], ["backup", "drill"]):
        done = one.run(*words, code=None)
        assert (done.returncode, f"{rows} is damaged" in done.stderr) == (11, True), done.stderr
    # What is there in PostgreSQL already is left alone.
    made = one.data("backup", "create", "--to", kept / "backups", "--recipient", recipient)
    led, _ = restore.into_postgres()
    home = restore.home()
    done = home.run(*restore.words("--store", server.address), code=None)
    assert (done.returncode, "does not have the key of the cluster" in done.stderr) == (4, True), done.stderr
    # Also by a home that has the key, but no store of its own.
    (home.home / "keys/cluster.key").write_text((led.home / "keys/cluster.key").read_text())
    (home.home / "keys/cluster.key").chmod(0o600)
    done = home.run(*restore.words("--store", server.address), code=None)
    assert (done.returncode, "the store at this address is not empty" in done.stderr) == (6, True), done.stderr


def test_there_are_as_many_backups_as_may_be(started, plane, kept):
    one = on_sqlite(plane, "one", started())
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient, "--limit", 2)
    first = one.data("backup", "create", "--to", kept / "exports")
    one.run("backup", "create", "--to", kept / "exports")
    full = one.run("backup", "create", code=None)
    assert "there are 2 backups, which is the limit; remove one" in full.stderr
    one.run("backup", "remove", first["backup"], "--yes")
    assert not (kept / "exports" / first["backup"]).exists()
    last = one.data("backup", "create")
    needed = one.run("backup", "remove", last["backup"], "--yes", code=None)
    assert (needed.returncode, "the archive goes on from this backup, the newest one" in needed.stderr) == (6, True)


def test_a_store_moves_to_postgresql_and_back(started, plane, kept, sluice):
    server = started()
    one = on_sqlite(plane, "one", server)
    recipient = key_made(one, kept)
    one.run("env", "create", "prod")
    (kept / "value").write_text("hunter2")
    one.run("secrets", "put", "local", "shop/API_KEY", "--file", kept / "value")
    contents = []

    def moved(made, number, *words, address=""):
        home = on_sqlite(plane, f"moved-{number}", server)
        report = home.data("store", "import", kept / made, "--key", kept / "backup.key", "--signer", signer, *words)
        home.address = address
        contents.append(report["contents"])
        return home

    exported = one.data("store", "export", kept / "first", "--recipient", recipient)
    signer = exported["signer"]
    there = moved("first", 1, "--store", server.address, address=server.address)
    assert contents == [exported["contents"]]
    there.serve()
    assert environment(there, "prod")["generation"] == environment(one, "prod")["generation"]
    assert there.run("audit", "verify").returncode == 0
    assert (there.home / "keys/operator.pem").read_text() == (one.home / "keys/operator.pem").read_text()
    exported = there.data("store", "export", kept / "second", "--recipient", recipient)
    there.end()
    back = moved("second", 2)
    assert contents[-1] == exported["contents"]
    assert environment(back, "prod")["environment_id"] == "prod"
    assert back.run("audit", "verify").returncode == 0


def test_routers_obey_a_restored_control_plane(started, plane, kept, eventually):
    one = on_sqlite(plane, "one", started())
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient)
    one.serve()
    url = one.data("up", one.root / "examples/hello", "--detach")["urls"][0]
    one.run("up", one.root / "examples/hello-v2", "--share", "10%", "--detach")
    before = catch_up(one, eventually)
    for share in ("20%", "30%"):
        one.run("traffic", "set", "local", f"hello@2={share}", f"hello@1={100 - int(share[:-1])}%")
    one.run("traffic", "set", "local", "hello@2=100%")
    assert {get(url)[1] for _ in range(20)} == {"hello 2.0.0\n"}
    obeyed = one.data("router", "stats", "--once")["generation"]
    catch_up(one, eventually)
    signer = one.data("store", "export", kept / "exports", "--recipient", recipient)["signer"]
    one.end(signal.SIGKILL)
    for name in ("store", "keys", "blobs", "secrets", "ca"):
        shutil.rmtree(one.home / name, ignore_errors=True)
    one.run("backup", "restore", kept / "backups", "--key", kept / "backup.key", "--signer", signer, "--at", before)
    assert {get(url)[1] for _ in range(20)} == {"hello 2.0.0\n"}, "it serves on from what it has"
    one.serve()
    eventually(lambda: one.data("router", "stats", "--once")["generation"] > obeyed, one.log)
    assert {get(url)[1] for _ in range(100)} == {"hello 1.0.0\n", "hello 2.0.0\n"}
    assert one.run("audit", "verify").returncode == 0


def known(one):
    return {each["backup"] for each in one.data("backup", "list")["backups"]}


def there(kept):
    return {each.parent.name for each in (kept / "backups").glob("*/manifest.json")}


def segments(kept):
    return sorted((kept / "backups/segments").glob("*/*.json"))


def configured(one, kept, *words):
    recipient = key_made(one, kept)
    one.run("backup", "configure", kept / "backups", "--recipient", recipient, *words)
    return recipient


def test_what_nothing_needs_any_more_is_removed(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    configured(one, kept)
    one.serve()
    catch_up(one, eventually)
    eventually(lambda: known(one) == there(kept) and len(there(kept)) == 1)  # what the archive has made itself is listed
    one.run("env", "create", "prod")
    one.run("env", "create", "gone")
    begin = catch_up(one, eventually)
    old = segments(kept)
    one.data("backup", "create")
    middle = one.data("backup", "create")
    one.run("do", "Env/update", "environment=prod", "name=later")
    catch_up(one, eventually)
    assert len(known(one)) == 3 and set(old) <= set(segments(kept))
    newest = one.data("backup", "create")
    one.run("backup", "configure", kept / "backups", "--recipient", kept / "backup.key.pub", "--keep", 2)
    eventually(lambda: known(one) == there(kept) == {middle["backup"], newest["backup"]})
    eventually(lambda: not set(old[:-1]) & set(segments(kept)))
    assert segments(kept), "those that a backup goes on from are there"
    listed = one.data("backup", "list")
    assert (listed["since"], listed["keep"]) == (middle["position"], 2)
    pruned = one.data("backup", "prune")
    assert (pruned["removed"], pruned["segments"]) == ([], 0)
    # Each moment since then can be had, and none before it.
    restore = Restorer(plane, server, kept, newest["signer"])
    last = catch_up(one, eventually)
    for position in (middle["position"], (middle["position"] + last) // 2, last):
        _, report = restore.into_sqlite("--at", position)
        assert report["position"] <= position
    done = restore.home().run(*restore.words("--at", begin), code=None)
    assert (done.returncode, f"the oldest was made at position {middle['position']}" in done.stderr) == (5, True), done.stderr


def findings(one):
    done = one.run("env", "doctor", "local", "-o", "json", code=None)
    return " ".join(each["what"] for each in json.loads(done.stdout)["findings"])


def test_a_full_or_missing_folder_stops_the_archive_alone(started, plane, kept, eventually):
    one = on_sqlite(plane, "one", started())
    (kept / "backups").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", kept / "backups"], check=True)
    try:
        configured(one, kept)
        one.serve()
        catch_up(one, eventually)
        filler = kept / "backups/filler"
        with pytest.raises(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        one.run("env", "create", "full")
        trouble = lambda: one.data("backup", "list")["trouble"]
        eventually(lambda: "No space left on device" in trouble(), trouble)
        eventually(lambda: "nothing has been archived since" in findings(one), lambda: findings(one))
        one.run("env", "create", "still")
        filler.unlink()
        catch_up(one, eventually)
        eventually(lambda: "nothing has been archived since" not in findings(one), lambda: findings(one))
        one.end()
    finally:
        subprocess.run(["umount", kept / "backups"], check=True)
    # It is away, and a file has its name.
    (kept / "backups").rmdir()
    (kept / "backups").write_text("")
    one.serve()
    one.run("env", "create", "away")
    eventually(lambda: "has lost what was archived there" in trouble(), trouble)
    eventually(lambda: "make room in" in one.run("env", "doctor", "local", code=None).stderr, lambda: findings(one))
    assert environment(one, "away")["name"] == "away"


def test_doctor_says_what_is_missing(started, plane, kept, eventually):
    one = on_sqlite(plane, "one", started())
    configured(one, kept)
    made = one.data("backup", "create")
    assert "no backup has been restored for a trial yet" in findings(one)
    assert "next: sluice backup drill" in one.run("env", "doctor", "local", code=None).stderr
    one.run("backup", "drill")
    assert "backup" not in findings(one)
    (kept / "backups" / made["backup"] / "files").write_bytes(b"")
    assert one.run("backup", "drill", code=None).returncode == 11
    assert "the last drill of a backup failed" in findings(one)


def row_generation(one):
    """What whoever expects another generation of prod is told that it has."""
    refused = one.run("do", "Env/update", "environment=prod", "name=x", "--expect-generation", 999_999_999, code=None)
    assert refused.returncode == 6, refused.stderr
    return next(number for number in map(int, re.findall(r"\d+", refused.stderr)) if number != 999_999_999)


def later_records(home, position):
    return [json.loads(line) for line in (home.home / f"store/history-{position}.jsonl").read_text().splitlines()]


def test_the_history_of_a_lost_store_is_kept(started, plane, kept):
    """Nothing was archived after the backup, and only the store that was lost knows what happened since."""
    server = started()
    for name in ("file", "database"):
        one = plane(f"lost-{name}", server)
        if name == "file":
            one.address = ""
        one.serve()
        recipient = kept / "backup.key.pub" if (kept / "backup.key").exists() else key_made(one, kept)
        (kept / "policy.yaml").write_text(POLICY)
        one.run("access", "policy", "apply", kept / "policy.yaml")
        token = one.data("access", "tokens", "create", "pipeline", "--for", "service:ci")["token"]
        made = one.data("backup", "create", "--to", kept / name, "--recipient", recipient)
        one.run("env", "create", "later")
        one.run("access", "tokens", "revoke", token)
        last = one.data("status")["position"]
        one.end(signal.SIGKILL)
        lost = one.home / "store/store.db" if name == "file" else server.address
        words = ["backup", "restore", kept / name, "--key", kept / "backup.key", "--signer", made["signer"]]
        home = on_sqlite(plane, f"again-{name}", server)
        wrong = home.run(*words, "--history-of", kept / "none.db", code=None)
        assert "nothing was restored" in wrong.stderr and not (home.home / "keys/operator.pem").exists(), wrong.stderr
        report = home.data(*words, "--history-of", lost)
        records = later_records(home, report["position"])
        assert [each["seq"] for each in records] == list(range(report["position"] + 1, report["knownTo"] + 1))
        assert report["knownTo"] >= last and report["history"] == len(records) and report["revoked"] == 1
        home.serve()
        state = {each["token"]: each["status"] for each in home.data("access", "tokens", "list")["tokens"]}
        assert state[token] == "revoked"
        assert all(each["environment_id"] != "later" for each in home.data("env", "list"))
        home.end()


def test_a_second_restore_knows_what_the_first_one_gave_away(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    configured(one, kept)
    one.serve()
    (kept / "policy.yaml").write_text(POLICY)
    one.run("access", "policy", "apply", kept / "policy.yaml")
    token = one.data("access", "tokens", "create", "pipeline", "--for", "service:ci")["token"]
    one.run("env", "create", "prod")
    before = catch_up(one, eventually)
    signer = one.data("backup", "create", "--to", kept / "exports")["signer"]
    one.end()
    restore = Restorer(plane, server, kept, signer)
    first, _ = restore.into_sqlite("--at", before)
    first.serve()
    first.run("access", "tokens", "revoke", token)  # in another line of segments
    first.run("do", "Env/update", "environment=prod", "name=first")
    seen = row_generation(first)
    catch_up(first, eventually)
    first.end()
    second, report = restore.into_sqlite("--at", before)
    assert report["revoked"] == 1
    second.serve()
    second.run("do", "Env/update", "environment=prod", "name=second")
    assert row_generation(second) > seen > 1_000_000
    state = {each["token"]: each["status"] for each in second.data("access", "tokens", "list")["tokens"]}
    assert state[token] == "revoked"


def test_a_damaged_or_missing_segment_names_the_last_moment_before_it(started, plane, kept, eventually):
    server = started()
    one = on_sqlite(plane, "one", server)
    configured(one, kept)
    one.serve()
    positions = []
    for name in ("a", "b", "c"):
        one.run("env", "create", name)
        positions.append(catch_up(one, eventually))
    signer = one.data("backup", "create", "--to", kept / "exports")["signer"]
    catch_up(one, eventually)
    one.end()
    restore = Restorer(plane, server, kept, signer)
    hurt = next(each for each in segments(kept)
                if json.loads(base64.b64decode(json.loads(each.read_text())["payload"]))["position"] >= positions[1])
    facts = json.loads(base64.b64decode(json.loads(hurt.read_text())["payload"]))
    frames = hurt.with_suffix("")
    whole = frames.read_bytes()
    frames.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    home = restore.home()
    done = home.run(*restore.words(), code=None)
    assert (done.returncode, f"the segment {hurt} is damaged" in done.stderr) == (11, True), done.stderr
    assert f"--at {facts['position_before']}" in done.stderr and not (home.home / "keys").exists()
    _, report = restore.into_sqlite("--at", facts["position_before"])
    assert (report["position"], report["unread"]) == (facts["position_before"], [str(hurt)])
    frames.write_bytes(whole)
    hurt.rename(kept / "away.json")
    done = restore.home().run(*restore.words(), code=None)
    assert (done.returncode, f"nothing is archived right behind position {facts['position_before']}" in done.stderr) == \
        (11, True), done.stderr


class Local(http.client.HTTPConnection):
    """A home's own socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def act(self, action, **fields):
        self.request("POST", f"/v1/actions/{action}", json.dumps({"input": fields}), {"Content-Type": "application/json"})
        answer = self.getresponse()
        return answer.status, json.loads(answer.read())


def test_scenario_27(started, plane, kept, eventually):
    """Backup, mutate, restore: content equal, generation higher, audit a superset; a tampered backup is 422; an import into
    a fresh store has the active generation; one backup more than there may be is refused."""
    server = started()
    one = on_sqlite(plane, "one", server)
    recipient = key_made(one, kept)
    one.run("env", "create", "prod")
    one.run("do", "Env/update", "environment=prod", "name=kept")
    made = one.data("backup", "create", "--to", kept / "backups", "--recipient", recipient)
    before = environment(one, "prod")
    audit = [each["flow"] for each in one.data("audit", "list") if each.get("action", "").startswith("Env/")]
    one.run("do", "Env/update", "environment=prod", "name=mutated")
    seen = row_generation(one)
    words = ["--key", kept / "backup.key", "--signer", made["signer"]]
    fresh = on_sqlite(plane, "fresh", server)
    report = fresh.data("store", "import", kept / "backups", *words)
    assert report["contents"] == made["contents"]
    assert environment(fresh, "prod")["generation"] == before["generation"]
    again = on_sqlite(plane, "again", server)
    report = again.data("backup", "restore", kept / "backups", *words, "--history-of", one.home / "store/store.db")
    assert report["contents"] == made["contents"]
    again.serve()
    now = environment(again, "prod")
    assert now["name"] == "kept"
    again.run("do", "Env/update", "environment=prod", "name=after")
    assert row_generation(again) > seen
    flows = {each["flow"] for each in again.data("audit", "list")}
    assert set(audit) <= flows
    assert "mutated" in (again.home / f"store/history-{report['position']}.jsonl").read_text()
    # Damage, over HTTP.
    local = Local(again.home / "run/sluice.sock")
    rows = kept / "backups" / made["backup"] / "rows"
    bytes_ = bytearray(rows.read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    rows.write_bytes(bytes_)
    mine = again.data("backup", "create", "--to", kept / "own", "--recipient", recipient)
    own = kept / "own" / mine["backup"] / "rows"
    own.write_bytes(bytes_)
    status, answer = local.act("Backup/verify", backup=mine["backup"])
    assert (status, answer["code"]) == (422, "verification_failed"), answer
    public = recipient.read_text().strip()
    # As many as may be: 256, or what was set.
    again.run("backup", "configure", kept / "many", "--recipient", recipient, "--limit", 6)
    answers = [local.act("Backup/create", folder=str(kept / "others"), recipient=public) for _ in range(6)]
    full = [answer for status, answer in answers if status == 429]
    assert full and all("there are 6 backups, which is the limit; remove one" in json.dumps(each) for each in full), answers
    assert [status for status, _ in answers] == sorted(status for status, _ in answers) and answers[0][0] == 200, answers
    local.close()
