"""A bundle that brings the schema of its PostgreSQL database: it is migrated before its revision starts, contracted only
when nobody needs the old side, for two customers on one database, and its password is seen by nobody."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest
from databases import Postgres

APP = '''import http.server, os
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), type("H", (http.server.BaseHTTPRequestHandler,), {
    "do_GET": lambda self: (self.send_response(200), self.send_header("Content-Length", "0"), self.end_headers()),
    "log_message": lambda *_: None})).serve_forever()
'''
INIT = {"0001_init.sql": "CREATE TABLE users (id int PRIMARY KEY, first text, last text);"}
NAME = {"0002_name/expand.sql": "ALTER TABLE users ADD COLUMN name text;",
        "0002_name/migration.yaml": "copy: [{table: users, key: [id], forward: {name: \"first || ' ' || last\"}}]",
        "0002_name/contract.sql": "ALTER TABLE users DROP COLUMN first, DROP COLUMN last;"}


# pg_dump that leaves out what the file `spoils` says, or writes half of it; not where it copies the schema alone.
DUMP = """#!/bin/sh
spoils=$(cat "$(dirname "$0")/spoils" 2>/dev/null)
case "$*" in *--schema-only*|*--data-only*) spoils= ;; esac
test "$spoils" = half || exec "PROGRAM" $spoils "$@"
"PROGRAM" "$@" || exit
for word in "$@"; do
  file=${word#--file=}
  test "$file" = "$word" || truncate -s $(($(stat -c %s "$file") * 6 / 10)) "$file"
done
"""


@pytest.fixture
def spoil(tmp_path):
    """Has pg_dump be called with these words before its own, or write half a file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pg_dump").write_text(DUMP.replace("PROGRAM", shutil.which("pg_dump")))
    (folder / "pg_dump").chmod(0o755)
    return (folder / "spoils").write_text


@pytest.fixture
def run(sluice, tmp_path):
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "SLUICE_HOME": str(tmp_path / "h"), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def words(*given, code=0, **more):
        done = subprocess.run([sluice, *map(str, given)], env=environment, cwd=tmp_path, capture_output=True, text=True, **more)
        assert code is None or done.returncode == code, f"{given}\n{done.stdout}{done.stderr}"
        assert "s3cret" not in done.stdout + done.stderr
        return done

    yield words
    subprocess.run([sluice, "stop"], env=environment, capture_output=True, timeout=60)


def bundle(tmp_path, version, files, keys=""):
    folder = tmp_path / f"shop{version}"
    for name, text in ({"app.py": APP, "bundle.yaml": f'name: shop\nversion: "{version}"\nrun: [python3, app.py]\n'
                        f"health: {{path: /}}\nsecrets: [DB]\nmigrations: {{database: DB{keys}}}\n"} |
                       {f"migrations/{name}": text for name, text in files.items()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_contract_waits_for_every_customer(run, tmp_path, postgres):
    target = postgres.fresh("customers")
    run("secrets", "put", "local", "shop/DB", input=target.address)
    first, second = bundle(tmp_path, "1", INIT), bundle(tmp_path, "2", INIT | NAME)
    for customer in ["acme", "zeta"]:
        run("up", first, "--detach", "--customer-id", customer)
    target.sql("INSERT INTO users VALUES (1, 'Mary Ann', 'Lee');")
    run("up", second, "--detach", "--customer-id", "acme")
    assert target.sql("SELECT name FROM users;").strip() == "Mary Ann Lee"
    rows = json.loads(run("revisions", "list", "local", "-o", "json").stdout)
    old = [each["revision_id"] for each in rows if each["pack_list"][0]["version"] == "1"]
    new = next(each["revision_id"] for each in rows if each["pack_list"][0]["version"] == "2")
    planned = run("migrate", "plan", "local", new).stdout
    assert "contract: ALTER TABLE users DROP COLUMN first, DROP COLUMN last  (locks: ACCESS EXCLUSIVE)" in planned
    assert "not rehearsed" not in planned
    refused = run("migrate", "contract", "local", new, "--yes", code=7)
    assert "is ready, and needs the schema of migration 1" in refused.stderr
    assert any(f"next:  sluice revisions drain local {each}" in refused.stderr for each in old)
    assert f"next:  sluice revisions drain local {new}" in run("migrate", "undo", "local", new, "--yes", code=7).stderr
    run("up", second, "--detach", "--customer-id", "zeta")
    for revision in old:
        run("revisions", "drain", "local", revision)
    run("migrate", "contract", "local", new, "--yes")
    assert target.sql("SELECT * FROM users;").strip() == "1|Mary Ann Lee"
    # The backup of before: dumped, restored and compared when it was made, and put beside the database now.
    run("migrate", "restore", "local", new, "--into", "before_it")
    assert postgres.sql("SELECT first, last FROM users;", database="before_it").strip() == "Mary Ann|Lee"
    assert "is there already" in run("migrate", "restore", "local", new, "--into", "before_it", code=1).stderr
    backups = list((tmp_path / "h/backups").iterdir())
    assert {each.suffix for each in backups} == {".backup"} and len(backups) >= 2
    assert not any(b"Mary Ann" in each.read_bytes() for each in backups)
    assert "sluice_scratch" not in postgres.sql("SELECT datname FROM pg_database;")
    assert "has removed what was there before" in run("up", first, "--detach", "--customer-id", "acme", code=None).stderr
    # What was restored is another database, and an older version fits it once it was looked at.
    run("secrets", "put", "local", "shop/DB", input=postgres.address("before_it"))
    run("migrate", "plan", "local", old[0])
    run("revisions", "retry", "local", old[0])
    run("revisions", "warm", "local", old[0])
    assert target.sql("SELECT who FROM sluice.migration WHERE number = 2;").strip() != ""
    journal = run("audit", "list", "-o", "json", code=None)
    assert "s3cret" not in journal.stdout


POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:ann, user:bob, user:cay], role: operator}
"""


def test_a_contraction_waits_until_other_people_agree(run, sluice, tmp_path, postgres, eventually):
    target = postgres.fresh("agreed")
    (tmp_path / "policy.yaml").write_text(POLICY)
    environment = {"PATH": os.environ["PATH"], "SLUICE_HOME": str(tmp_path / "h"), "LANG": "C.UTF-8"}
    with open(tmp_path / "serve.log", "w") as log:
        server = subprocess.Popen([sluice, "serve", "--listen", "127.0.0.1:0"], env=environment, stdout=log, stderr=log)
    try:
        eventually((tmp_path / "h/run/owner.token").exists, lambda: (tmp_path / "serve.log").read_text())
        url = json.loads(run("status", "--wait", "60s", "-o", "json").stdout)["url"]
        run("secrets", "put", "local", "shop/DB", input=target.address)
        run("up", bundle(tmp_path, "1", INIT), "--detach")
        run("up", bundle(tmp_path, "2", INIT | NAME, ", contractApprovals: 2"), "--detach")
        run("revisions", "drain", "local", "shop@1")
        run("access", "policy", "apply", tmp_path / "policy.yaml")
        tokens = {who: json.loads(run("access", "tokens", "create", "t", "--for", f"user:{who}", "-o", "json").stdout)["secret"]
                  for who in ["ann", "bob", "cay"]}

        def act(who, action, **given):
            ask = urllib.request.Request(f"{url}/v1/actions/{action}", json.dumps({"input": given}).encode(), {
                "Authorization": "Bearer " + tokens[who], "Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(ask, timeout=60) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as error:
                return json.loads(error.read())

        revision = next(each["revision_id"] for each in json.loads(run("revisions", "list", "local", "-o", "json").stdout)
                        if each["pack_list"][0]["version"] == "2")
        asked = act("ann", "Migration/contract", migration=revision)
        assert (asked["variant"], asked["code"]) == ("approvalNeeded", "waiting_for_approval"), asked
        assert "2 other people must agree before the old side of the schema of shop@2 is removed" in str(asked)
        again = run("migrate", "contract", "local", "shop@2", "--yes", code=10)
        assert "2 other people must agree" in again.stderr + again.stdout
        eventually(lambda: json.loads(run("approvals", "list", "-o", "json").stdout) != [])
        (waiting,) = json.loads(run("approvals", "list", "-o", "json").stdout)
        assert waiting["requester"] == "user:ann" and waiting["action"] == "Migration/contract"
        assert "0 of 2 people agree" in run("why", waiting["approval"]).stdout
        assert act("ann", "Approval/vote", approval=waiting["approval"], agree=True)["variant"] == "ownRequest"
        assert act("bob", "Approval/vote", approval=waiting["approval"], agree=True)["variant"] == "counted"
        assert "1 of 2 people agree" in run("why", waiting["approval"]).stdout
        assert target.sql("SELECT count(*) FROM information_schema.columns WHERE table_name = 'users';").strip() == "4"
        assert act("cay", "Approval/vote", approval=waiting["approval"], agree=True)["variant"] == "ok"
        eventually(lambda: target.sql("SELECT phase FROM sluice.migration WHERE number = 2;").strip() == "contracted")
        assert target.sql("SELECT who FROM sluice.migration WHERE number = 2;").strip() == "user:ann"
    finally:
        server.terminate()
        server.wait(timeout=60)


def test_a_user_that_may_make_no_database_gets_no_migration_without_a_backup(run, tmp_path, postgres):
    target = postgres.fresh("unproven")
    run("secrets", "put", "local", "shop/DB", input=target.address)
    run("up", bundle(tmp_path, "1", INIT), "--detach")
    postgres.sql("ALTER ROLE app NOCREATEDB", database="postgres", user="postgres")
    try:
        refused = run("up", bundle(tmp_path, "2", INIT | NAME), "--detach", code=7).stderr
    finally:
        postgres.sql("ALTER ROLE app CREATEDB", database="postgres", user="postgres")
    assert "its user may not make a database" in refused and "backupBefore: false" in refused
    assert target.sql("SELECT count(*) FROM information_schema.columns WHERE table_name = 'users';").strip() == "3"


def test_a_database_that_dies_while_it_contracts(run, tmp_path):
    """Whether it was done is not known until it is asked again; until then no older version starts."""
    server = Postgres()
    try:
        target = server.fresh("dying")
        run("secrets", "put", "local", "shop/DB", input=target.address)
        run("up", bundle(tmp_path, "1", INIT), "--detach")
        run("up", bundle(tmp_path, "2", INIT | NAME), "--detach")
        run("revisions", "drain", "local", "shop@1")
        server.kill()
        assert run("migrate", "contract", "local", "shop@2", "--yes", code=None).returncode != 0
        server.start()
        run("migrate", "contract", "local", "shop@2", "--yes")
        assert target.sql("SELECT count(*) FROM information_schema.columns WHERE table_name = 'users';").strip() == "2"
    finally:
        server.stop()


@pytest.mark.parametrize("how", ["half", "--exclude-table-data=users", "--exclude-table=users"])
def test_a_damaged_dump_stops_it_before_its_first_statement(run, spoil, tmp_path, postgres, how):
    target = postgres.fresh("spoilt" + os.urandom(4).hex())
    run("secrets", "put", "local", "shop/DB", input=target.address)
    run("up", bundle(tmp_path, "1", INIT), "--detach")
    target.sql("INSERT INTO users SELECT i, 'Mary Ann', 'Lee' || i FROM generate_series(1, 500) i;")
    spoil(how)
    refused = run("up", bundle(tmp_path, "2", INIT | NAME), "--detach", code=7).stderr
    assert "pg_restore" in refused or "the backup" in refused, refused
    assert target.sql("SELECT count(*) FROM information_schema.columns WHERE table_name = 'users';").strip() == "3"
    assert target.sql("SELECT count(*) FROM sluice.migration;").strip() == "1"
    assert not list((tmp_path / "h/backups").iterdir()), "what proves nothing is not kept"
    assert "sluice_scratch" not in postgres.sql("SELECT datname FROM pg_database;")
    spoil("")
    run("up", bundle(tmp_path, "2", INIT | NAME), "--detach")
    assert target.sql("SELECT count(name) FROM users;").strip() == "500"


def test_a_restoration_that_fails_leaves_no_database(run, tmp_path, postgres):
    target = postgres.fresh("restored")
    run("secrets", "put", "local", "shop/DB", input=target.address)
    (tmp_path / "bin").mkdir()
    run("up", bundle(tmp_path, "1", INIT), "--detach")
    target.sql("INSERT INTO users VALUES (1, 'Mary Ann', 'Lee');")
    run("migrate", "backup", "local", "shop@1")
    broken = tmp_path / "bin/pg_restore"
    broken.write_text(f'#!/bin/sh\n"{shutil.which("pg_restore")}" "$@"\nexit 1\n')
    broken.chmod(0o755)
    assert "pg_restore ended" in run("migrate", "restore", "local", "shop@1", "--into", "half_of_it", code=1).stderr
    databases = postgres.sql("SELECT datname FROM pg_database;")
    assert "half_of_it" not in databases and "sluice_scratch" not in databases
    broken.unlink()
    run("migrate", "restore", "local", "shop@1", "--into", "half_of_it")
    assert postgres.sql("SELECT first FROM users;", database="half_of_it").strip() == "Mary Ann"
