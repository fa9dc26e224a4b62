"""The schema follows the traffic: two versions of a real program write through a router while Sluice expands, copies, goes
back, is killed, and contracts. Every write that was answered is in the database in the end, on both sides."""

import http.client
import os
import signal
import sqlite3
import threading

import pytest
from up_home import get

APP = '''import http.server
import os
import signal
import sqlite3
import sys

NEW = os.environ["SIDE"] == "new"
INSERT = ("INSERT INTO users (id, full_name) VALUES (?, ? || ' ' || ?)" if NEW else
          "INSERT INTO users (id, first, last) VALUES (?, ?, ?)")
SELECT = f"SELECT {'full_name' if NEW else chr(39).join(['first || ', ' ', ' || last'])} FROM users WHERE id = ?"


class Users(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        words = self.path.strip("/").split("/")
        db = sqlite3.connect(os.environ["SLUICE_STORAGE_DATA"] + "/app.db", timeout=60)
        try:
            if words[0] == "put":
                db.execute(INSERT, words[1:])
                db.commit()
                text = os.environ["SIDE"]
            elif words[0] == "get":
                text = db.execute(SELECT, [words[1]]).fetchone()[0]
            else:
                text = "well"
        finally:
            db.close()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Users).serve_forever()
'''
INIT = {"0001_init.sql": "CREATE TABLE users (id INTEGER PRIMARY KEY, first TEXT, last TEXT);"}
NAME = {"0002_full_name/expand.sql": "ALTER TABLE users ADD COLUMN full_name TEXT;",
        "0002_full_name/migration.yaml":
            "copy:\n  - table: users\n    key: [id]\n    forward: {full_name: \"first || ' ' || last\"}\n"
            "    back:\n      first: \"substr(full_name, 1, instr(full_name, ' ') - 1)\"\n"
            "      last: \"substr(full_name, instr(full_name, ' ') + 1)\"\n",
        "0002_full_name/check.sql": "SELECT id FROM users WHERE full_name IS NULL;",
        "0002_full_name/contract.sql": "ALTER TABLE users DROP COLUMN first;\nALTER TABLE users DROP COLUMN last;"}
SEEDED = 100_000


def bundle(home, version, side, files, more="", place="."):
    folder = home.folder / place / f"users{version}"
    manifest = (f'name: users\nversion: "{version}"\nrun: [python3, app.py]\nhealth: {{path: /}}\nstorage: [{{name: data}}]\n'
                f"env: {{SIDE: {side}}}\nmigrations: {{file: data/app.db, backupBefore: false{more}}}\n")
    for name, text in ({"app.py": APP, "bundle.yaml": manifest} |
                       {f"migrations/{name}": text for name, text in files.items()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


class Writers:
    """Each writes rows of its own, one after the other, and never retries. `kept` has what was answered, `bad` what was
    not; `sides` a row of each side."""

    def __init__(self, url, threads=2):
        self.port = int(url.rsplit(":", 1)[1].rstrip("/"))
        self.ending, self.kept, self.bad, self.sides = threading.Event(), {}, [], {}
        self.threads = [threading.Thread(target=self.write, args=[SEEDED + 1 + n, threads]) for n in range(threads)]

    def write(self, number, step):
        while not self.ending.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
            try:
                connection.request("GET", f"/put/{number}/Ann/Lee{number}")
                answer = connection.getresponse()
                body = answer.read().decode()
                if answer.status == 200:
                    self.kept[number] = f"Ann Lee{number}"
                    self.sides.setdefault(body, number)
                else:
                    self.bad.append((number, answer.status, body))
            except OSError as error:
                self.bad.append((number, repr(error), ""))
            finally:
                connection.close()
            number += step

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for each in self.threads:
            each.join()


@pytest.fixture
def database(home):
    """The file, once the first version has run, as the application sees it."""
    class File:
        def path(self):
            return next((home.home / "runtime/storage").glob("*/data/app.db"))

        def rows(self, sql):
            with sqlite3.connect(self.path(), timeout=60) as db:
                return db.execute(sql).fetchall()

        def seed(self, count):
            with sqlite3.connect(self.path(), timeout=60) as db:
                db.executemany("INSERT INTO users (id, first, last) VALUES (?, 'Mary Ann', ?)",
                               [(i, f"Lee{i}") for i in range(1, count + 1)])

    return File()


def kill(home):
    os.kill(home.status()["pid"], signal.SIGKILL)


def test_both_versions_write_through_all_phases_and_kills(home, database, eventually):
    first, second = bundle(home, "1", "old", INIT), bundle(home, "2", "new", INIT | NAME)
    url = home.up(first)["urls"][0]
    database.seed(SEEDED)
    with Writers(url) as writers:
        eventually(lambda: len(writers.kept) > 10)
        # Killed while rows are copied: it goes on where it was, and v2 starts only on a database that is whole.
        begun = home.begin("up", second, "--detach")

        def copying():
            try:
                return database.rows("SELECT count(*) FROM _sluice_copy WHERE seen > 0")[0][0] > 0
            except sqlite3.OperationalError:
                return False

        eventually(lambda: copying() or begun.poll() is not None)
        kill(home)
        out, err = begun.communicate(timeout=300)
        assert begun.returncode == 0, out + err
        eventually(lambda: "new" in writers.sides)
        assert database.rows("SELECT count(*) FROM users WHERE full_name IS NULL") == [(0,)]
        # Back to v1, which reads what v2 wrote; and forward again.
        home.run("traffic", "rollback", "local", "--bundle", "users")
        written = len(writers.kept)
        eventually(lambda: len(writers.kept) > written + 10)
        assert database.rows("SELECT count(*) FROM users WHERE first IS NULL OR last IS NULL") == [(0,)]
        row = writers.sides["new"]
        assert get(f"{url}get/{row}") == (200, writers.kept[row])
        refused = home.run("migrate", "contract", "local", "users@2", "--yes", code=7)
        assert "users@1 is ready, and needs the schema of migration 1" in refused.stderr
        home.run("traffic", "forward", "local", "--bundle", "users")
        refused = home.run("migrate", "contract", "local", "users@2", "--yes", code=7)
        assert "users@1 is ready" in refused.stderr
        home.run("revisions", "drain", "local", "users@1")
        # Killed while it contracts: it is done as a whole or not at all, and asked for again it is done.
        begun = home.begin("migrate", "contract", "local", "users@2", "--yes")
        kill(home)
        begun.communicate(timeout=120)
        eventually(lambda: home.run("migrate", "contract", "local", "users@2", "--yes", code=None).returncode == 0)
        written = len(writers.kept)
        eventually(lambda: len(writers.kept) > written + 10)
        # v1 is not brought back by any way.
        refused = home.run("traffic", "rollback", "local", "--bundle", "users", code=None)
        assert refused.returncode != 0
        assert "it needs the schema of migration 1, and migration 2 has removed what was there before" in refused.stderr
    assert writers.bad == [], writers.bad[:3]
    assert set(writers.sides) == {"old", "new"}
    rows = dict(database.rows("SELECT id, full_name FROM users"))
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "full_name"]
    assert rows == {i: f"Mary Ann Lee{i}" for i in range(1, SEEDED + 1)} | writers.kept
    (seen, copied), = database.rows("SELECT seen, copied FROM _sluice_copy WHERE number = 2")
    assert SEEDED <= seen <= len(rows) and copied <= seen, "no row is looked at twice"
    assert "0002_full_name  contracted" in home.run("migrate", "history", "local", "users@2").stdout


def test_a_canary_that_is_given_up_leaves_what_it_wrote(home, database, eventually):
    first, second = bundle(home, "1", "old", INIT), bundle(home, "2", "new", INIT | NAME)
    url = home.up(first)["urls"][0]
    with Writers(url) as writers:
        eventually(lambda: len(writers.kept) > 10)
        home.run("up", second, "--detach", "--share", "50%")
        eventually(lambda: set(writers.sides) == {"old", "new"})
        home.run("traffic", "rollback", "local", "--bundle", "users")
        written = len(writers.kept)
        eventually(lambda: len(writers.kept) > written + 10)
    assert writers.bad == [], writers.bad[:3]
    assert dict(database.rows("SELECT id, first || ' ' || last FROM users")) == writers.kept
    # Nobody serves the new side any more: it can be taken out again, and what was written stays.
    home.run("revisions", "drain", "local", "users@2", code=None)
    home.run("migrate", "undo", "local", "users@2", "--yes")
    assert dict(database.rows("SELECT id, first || ' ' || last FROM users")) == writers.kept
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "first", "last"]


def test_what_is_left_to_people_is_refused_with_the_command(home, database):
    home.up(bundle(home, "1", "old", INIT))
    database.seed(10)
    second = bundle(home, "2", "new", INIT | NAME, ", autoExpand: false, autoMigrate: false")
    refused = home.run("up", second, "--detach", code=7)
    assert "it needs that of 2; autoExpand is off" in refused.stderr
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "first", "last"]
    planned = home.data("migrate", "plan", "local", "users@2")
    assert planned["steps"][:2] == ["0002_full_name expand: ALTER TABLE users ADD COLUMN full_name TEXT",
                                    "0002_full_name copy: users, about 10 rows"]
    assert planned["estimatedRecords"] == 10
    home.run("migrate", "expand", "local", "users@2")
    home.run("migrate", "run", "local", "users@2")
    assert database.rows("SELECT count(full_name) FROM users") == [(10,)]
    assert "migrated, migration 2 of 2" in home.run("migrate", "status", "local", "users@2").stdout
    home.up(second)


def test_a_manifest_says_what_is_done_by_itself(home, database):
    app = home.folder / "app"
    bundle(home, "1", "old", INIT, place="app")
    bundle(home, "2", "new", INIT | NAME, place="app")

    def deploy(version, keys, **how):
        (app / "app.deploy.yaml").write_text(
            f"app: {{ name: users, version: {version}.0.0 }}\ncomponents:\n  users:\n    folder: ./users{version}\n"
            f"    routes: [{{ path: / }}]\nmigrations: {{ {keys} }}\n")
        return home.run("deploy", app, "--yes", **how)

    deploy(1, "backupBefore: false")
    database.seed(10)
    (app / "app.deploy.yaml").write_text((app / "app.deploy.yaml").read_text().replace("./users1", "./users2"))
    planned = home.run("deploy", "plan", app).stdout
    assert ("migrations.0002_full_name: nothing → expands with 1 statement, copies users; going back loses nothing: both "
            "sides stay until it is contracted" in planned)
    assert ("migrations.0002_full_name/expand.sql:1: nothing → ALTER TABLE users ADD COLUMN full_name TEXT  (locks: the database)"
            in planned)
    assert "migrations.0002_full_name/contract.sql:2: nothing → ALTER TABLE users DROP COLUMN last" in planned
    destroys = app / "users2/migrations/0003_gone.sql"
    destroys.write_text("DROP TABLE users;")
    assert "users: 0003_gone/expand.sql:1: destroys: " in home.run("deploy", "plan", app, code=None).stderr
    destroys.unlink()
    refused = deploy(2, "autoExpand: false", code=None)
    assert refused.returncode != 0 and "autoExpand is off" in refused.stdout + refused.stderr
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "first", "last"]
    refused = deploy(2, "autoMigrate: false", code=None)
    assert refused.returncode != 0 and "autoMigrate is off" in refused.stdout + refused.stderr
    assert database.rows("SELECT count(*), count(full_name) FROM users") == [(10, 0)]
    deploy(2, "autoMigrate: true, backupBefore: true")
    assert database.rows("SELECT count(full_name) FROM users") == [(10,)]
    # Undone, the old version serves again, and both sides of the schema stay.
    home.run("rollback", "--yes")
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "first", "last", "full_name"]
    database.rows("INSERT INTO users (id, first, last) VALUES (99, 'Eve', 'Moon')")
    assert database.rows("SELECT full_name FROM users WHERE id = 99") == [("Eve Moon",)]


ENTITY = """@version({})
concept Entity [E] {{
  purpose {{ Know people by their names. }}
  state {{ entities: set E }}
  actions {{
    action look(entity: E) {{
      right: view
      effect: none
      runs: query
      -> ok(entity: E)
    }}
  }}
}}
"""
ENTITIES = """app: {{ name: entities, version: {number}.0.0 }}
concepts:
  Entity:
    folder: ./users{number}
    spec: ./entity.concept
    routes: [{{ path: / }}]
rollout:
  strategy: canary
  steps: [{{ weight: 50, pause: 2 }}, {{ weight: 100 }}]
migrations: {{ autoExpand: true, autoMigrate: true, autoContract: {contracts}, backupBefore: {backs_up} }}
"""


@pytest.mark.parametrize("contracts, backs_up", [("true", "false"), ("false", "true")])
def test_one_deploy_takes_a_concept_from_one_version_to_the_next(home, database, eventually, contracts, backs_up):
    """Expanded, copied, rolled out as a canary, and contracted by itself once nobody needs the old side, if the manifest
    says so; while both versions write."""
    app = home.folder / "app"
    bundle(home, "1", "old", INIT, place="app")
    bundle(home, "2", "new", INIT | NAME, place="app")

    def manifest(number):
        (app / "entity.concept").write_text(ENTITY.format(number))
        (app / "app.deploy.yaml").write_text(ENTITIES.format(number=number, contracts=contracts, backs_up=backs_up))

    manifest(1)
    home.run("deploy", app, "--yes")
    url = f"http://{home.router()['listen'][0]}/"
    with Writers(url) as writers:
        eventually(lambda: len(writers.kept) > 20)
        manifest(2)
        plan = home.run("deploy", "plan", app).stdout
        assert "version: 1 → 2" in plan and "Rollout: canary (50% → 100%)" in plan, plan
        assert "migrations.0002_full_name: nothing → expands with 1 statement, copies users" in plan, plan
        deploying = home.begin("deploy", app, "--yes")
        eventually(lambda: set(writers.sides) == {"old", "new"}, "the canary gets no traffic")
        assert home.run("migrate", "contract", "local", "users@2", "--yes", code=7).stderr.startswith(
            "error: users@1 is ready, and needs the schema of migration 1")

        def whole():
            """Whoever watches it has seen enough."""
            home.run("rollout", "advance", "users", code=None)
            return deploying.poll() is not None

        eventually(whole, "the rollout never ends")
        out, err = deploying.communicate()
        assert deploying.returncode == 0, out + err
        backups = home.data("migrate", "status", "local", "users@2")["backups"]
        assert len(backups) == (1 if backs_up == "true" else 0)
        home.run("revisions", "drain", "local", "users@1")
        if contracts == "true":
            eventually(lambda: home.data("migrate", "status", "local", "users@2")["phase"] == "contracted")
        else:
            assert home.data("migrate", "status", "local", "users@2")["phase"] == "migrated"
            home.run("migrate", "contract", "local", "users@2", "--yes")
            assert len(home.data("migrate", "status", "local", "users@2")["backups"]) == 2
        written = len(writers.kept)
        eventually(lambda: len(writers.kept) > written + 20)
    assert writers.bad == [], writers.bad[:3]
    assert dict(database.rows("SELECT id, full_name FROM users")) == writers.kept
    assert [column[1] for column in database.rows("PRAGMA table_info(users)")] == ["id", "full_name"]
    assert "0002_full_name  contracted" in home.run("migrate", "history", "local", "users@2").stdout
