"""Expand, migrate and contract on real databases, while old and new versions write, and whatever is killed."""

import json
import os
import random
import shutil
import subprocess
import threading

import pytest
from databases import Postgres, Target

# ./dev soak kills that often.
KILLS = 200 if "SLUICE_SOAK" in os.environ else 10
ENDS = {"expand": ["expanded"], "migrate": ["migrated"], "contract": ["contracted"]}
SPLIT = {
    "0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, first text, last text);",
    "0002_full_name/expand.sql": "ALTER TABLE users ADD COLUMN full_name text;\nCREATE INDEX by_name ON users (full_name);",
    "0002_full_name/check.sql": "SELECT id FROM users WHERE full_name IS NULL;",
    "0002_full_name/contract.sql": "ALTER TABLE users DROP COLUMN first;\nALTER TABLE users DROP COLUMN last;",
}
# The same rule in the words of each database.
BACK = {"sqlite": ["substr(full_name, 1, instr(full_name, ' ') - 1)", "substr(full_name, instr(full_name, ' ') + 1)"],
        "postgresql": ["split_part(full_name, ' ', 1)", "substr(full_name, strpos(full_name, ' ') + 1)"]}


def split_files(target):
    first, last = BACK[target.address.split(":")[0]]
    return SPLIT | {"0002_full_name/migration.yaml":
                    "copy:\n  - table: users\n    key: [id]\n    forward: {full_name: \"first || ' ' || last\"}\n"
                    f"    back:\n      first: \"{first}\"\n      last: \"{last}\"\n"}


def old_rows(count):
    return ("INSERT INTO users (id, first, last) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
            f"{count}) SELECT i, 'Mary Ann', 'Lee ' || i FROM n;")


def test_all_phases(target, tool):
    tool.files(split_files(target))
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(5000))
    assert [step["phase"] for step in tool.run(target, "expand", 2)] == ["expanding"] * 3 + ["expanded"]
    target.sql("INSERT INTO users (id, first, last) VALUES (9001, 'Jo Ann', 'Fox');"
               "INSERT INTO users (id, full_name) VALUES (9002, 'Eve May Moon');"
               "UPDATE users SET full_name = 'Ada Lee' WHERE id = 1; UPDATE users SET last = 'Rose' WHERE id = 2;")
    done = tool.run(target, "migrate", 2)[-1]
    assert (done["phase"], done["seen"], done["copied"]) == ("migrated", 5002, 4998)
    rows = "SELECT id || '|' || first || '|' || last || '|' || full_name FROM users WHERE id IN (1, 2, 3, 9001, 9002) ORDER BY id;"
    assert target.sql(rows).splitlines() == [
        "1|Ada|Lee|Ada Lee", "2|Mary Ann|Rose|Mary Ann Rose", "3|Mary Ann|Lee 3|Mary Ann Lee 3",
        "9001|Jo Ann|Fox|Jo Ann Fox", "9002|Eve|May Moon|Eve May Moon"]
    assert tool.run(target, "contract", 2)[-1]["phase"] == "contracted"
    assert target.sql("SELECT * FROM users WHERE id = 3;").strip() == "3|Mary Ann Lee 3"
    assert tool.run(target, "drift") == []


def test_old_and_new_write_through_all_phases(target, tool):
    """Every row of 100,000 equals a model, seen from both schemas."""
    tool.files(split_files(target))
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    count = 100_000
    target.sql(old_rows(count))
    random.seed(7)
    model = {i: f"Mary Ann Lee {i}" for i in range(1, count + 1)}

    def writes(side, times, first=0):
        """Each row is written by one side alone, so that the model does not depend on who was first."""
        lines = []
        for n in range(first, first + times):
            row = random.randrange(1, count // 2) * 2 - (side == "old")
            if n % 3 == 0:
                row = 2 * count + n * 2 + (side == "old")
                model[row] = f"New {n}{side}"
                lines.append(f"INSERT INTO users (id, first, last) VALUES ({row}, 'New', '{n}{side}');" if side == "old"
                             else f"INSERT INTO users (id, full_name) VALUES ({row}, '{model[row]}');")
            else:
                model[row] = f"Ada {n}{side}"
                lines.append(f"UPDATE users SET first = 'Ada', last = '{n}{side}' WHERE id = {row};" if side == "old"
                             else f"UPDATE users SET full_name = '{model[row]}' WHERE id = {row};")
        writer = threading.Thread(target=target.sql, args=["\n".join(lines)])
        writer.start()
        return writer

    def names(columns):
        return {int(row): name for row, name in
                (line.split("|") for line in target.sql(f"SELECT id || '|' || {columns} FROM users;").splitlines())}

    writers = [writes("old", 3000)]
    tool.press(target, "expand", 2)
    writers.append(writes("new", 3000))
    done = tool.press(target, "migrate", 2)[-1]
    assert done["phase"] == "migrated" and done["seen"] >= count
    for writer in writers:
        writer.join()
    assert names("full_name") == model
    assert names("first || ' ' || last") == model
    last = writes("new", 500, first=3000)
    tool.press(target, "contract", 2)
    last.join()
    assert names("full_name") == model


def test_killed_anywhere(target, tool):
    """However often it is killed, it ends as if it had not been, and no row is copied twice."""
    tool.files(split_files(target) | {
        "0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, first text, last text);\n"
                         "CREATE TABLE writes (id integer);",
        "0003_more/expand.sql": "".join(f"INSERT INTO writes VALUES ({i});\n" for i in range(40))})
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(20000))
    random.seed(11)
    killed = 0
    for verb, number in [("expand", 2), ("migrate", 2), ("expand", 3), ("migrate", 3), ("contract", 2)]:
        for _ in range(200):
            run = subprocess.Popen(tool.words(target, verb, number), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                run.communicate(timeout=random.uniform(0.001, 0.08))
            except subprocess.TimeoutExpired:
                run.kill()
                run.communicate()
                killed += 1
                continue
            if run.returncode == 0:
                break
        tool.run(target, verb, number)
    assert killed > 0
    assert target.sql("SELECT count(*), count(DISTINCT id) FROM writes;").strip() == "40|40"
    assert target.sql("SELECT count(*), count(full_name) FROM users;").strip() == "20000|20000"
    ledger = "_sluice_" if target.address.startswith("sqlite") else "sluice."
    assert target.sql(f"SELECT seen, copied FROM {ledger}copy WHERE number = 2;").strip() == "20000|20000"


def test_killed_after_each_step(target, tool):
    """Killed between any two statements and batches, it ends as it would have, and nothing is done twice."""
    tool.files(split_files(target) | {
        "0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, first text, last text); CREATE TABLE writes (id integer);",
        "0003_more/expand.sql": "".join(f"INSERT INTO writes VALUES ({i});\n" for i in range(8))})

    def steps(verb, number):
        """Each run of the tool ends when its first step is seen: by then it may be in the next, or have done it."""
        for done in range(1000):
            run = subprocess.Popen(tool.words(target, verb, number), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            line = run.stdout.readline()
            run.kill()
            assert line, run.communicate()[1]
            run.communicate()
            if json.loads(line)["phase"] in ENDS[verb]:
                tool.run(target, verb, number)
                return done + 1
        raise AssertionError(f"{verb} {number} never ends")

    assert 1 < steps("expand", 1) <= 3
    tool.run(target, "migrate", 1)
    target.sql(old_rows(60_000))
    assert 1 < steps("expand", 2) <= 4
    assert steps("migrate", 2) > 1
    assert 1 < steps("expand", 3) <= 9
    assert steps("contract", 2) == 1
    assert target.sql("SELECT count(*), count(DISTINCT id) FROM writes;").strip() == "8|8"
    assert target.sql("SELECT count(*), count(full_name) FROM users;").strip() == "60000|60000"
    ledger = "_sluice_" if target.address.startswith("sqlite") else "sluice."
    assert target.sql(f"SELECT seen, copied FROM {ledger}copy WHERE number = 2;").strip() == "60000|60000"


def test_killed_database(tool):
    """PostgreSQL loses its power again and again in the middle of the work."""
    server = Postgres()
    try:
        target = server.fresh("shop")
        tool.files(split_files(target))
        tool.run(target, "expand", 1)
        tool.run(target, "migrate", 1)
        target.sql(old_rows(30000))
        random.seed(3)
        for kill in range(KILLS):
            verb = "expand" if kill < KILLS // 3 else "migrate"
            if kill == KILLS // 3:
                tool.run(target, "expand", 2)
            run = subprocess.Popen(tool.words(target, verb, 2), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                run.wait(timeout=random.uniform(0.01, 0.2))
            except subprocess.TimeoutExpired:
                pass
            server.kill()
            said = run.communicate()[1]
            assert run.returncode in (0, 1) and "s3cret" not in said, said
            server.start()
        tool.run(target, "migrate", 2)
        tool.run(target, "contract", 2)
        assert target.sql("SELECT count(*), count(full_name) FROM users;").strip() == "30000|30000"
        assert target.sql("SELECT seen, copied FROM sluice.copy WHERE number = 2;").strip() == "30000|30000"
    finally:
        server.stop()


def test_the_application_goes_on_between_our_tries(postgres, tool):
    """A long transaction holds the table; nobody waits behind the expansion for it."""
    target = postgres.fresh("busy")
    tool.files(split_files(target))
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(100))
    holder = subprocess.Popen(["psql", "-X", "-q", target.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("BEGIN; SELECT count(*) FROM users;\n\\echo held\n")
    holder.stdin.flush()
    assert "held\n" in iter(holder.stdout.readline, "")
    run = subprocess.Popen(tool.words(target, "expand", 2), stdout=subprocess.PIPE)
    # An ALTER TABLE queues; the application's query queues behind it, and goes on when it gives up.
    target.sql("SET statement_timeout = '60s';\n" + 3 * """DO $$ BEGIN
        WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass) LOOP
            PERFORM pg_sleep(0.01);
        END LOOP; END $$;
        SELECT count(*) FROM users;\n""")
    assert run.poll() is None
    holder.communicate("COMMIT;\n")
    assert run.wait(timeout=120) == 0


def test_an_index_that_failed_is_made_again(postgres, tool):
    target = postgres.fresh("indexed")
    tool.files({"0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, name text);",
                "0002_index.sql": "CREATE UNIQUE INDEX CONCURRENTLY \"By Name\" ON users (name);"})
    tool.run(target, "expand", 1)
    target.sql("INSERT INTO users VALUES (1, 'a'), (2, 'a');")
    said = tool.refused(target, "expand", 2)
    assert "could not create unique index" in said["message"]
    assert "0002_index/expand.sql:1:1" in said["message"]
    assert target.sql("SELECT count(*) FROM pg_index WHERE NOT indisvalid;").strip() == "0"
    target.sql("DELETE FROM users WHERE id = 2;")
    tool.run(target, "expand", 2)
    assert target.sql("SELECT indisvalid FROM pg_index WHERE indexrelid = '\"By Name\"'::regclass;").strip() == "t"


def test_names_keys_and_partitions(postgres, tool):
    """Quoted names, a key of two columns with text, and a table in parts."""
    target = postgres.fresh("shapes")
    tool.files({
        "0001_init.sql": 'CREATE SCHEMA "My App"; CREATE TABLE "My App"."Odd ""Name" ("Key" text, n int, "A b" text, '
                         'PRIMARY KEY ("Key", n)) PARTITION BY HASH ("Key");'
                         'CREATE TABLE part0 PARTITION OF "My App"."Odd ""Name" FOR VALUES WITH (MODULUS 2, REMAINDER 0);'
                         'CREATE TABLE part1 PARTITION OF "My App"."Odd ""Name" FOR VALUES WITH (MODULUS 2, REMAINDER 1);',
        "0002_more/expand.sql": 'ALTER TABLE "My App"."Odd ""Name" ADD COLUMN "C d" jsonb;'
                                'ALTER TABLE "My App"."Odd ""Name" ADD CONSTRAINT filled CHECK ("C d" IS NOT NULL) NOT VALID;',
        "0002_more/migration.yaml": """copy: [{table: '"My App"."Odd ""Name"', key: ['"Key"', n], forward: {'"C d"': 'to_jsonb("A b")'}, back: {'"A b"': "\\"C d\\" #>> '{}'"}}]""",
    })
    tool.run(target, "expand", 1)
    target.sql("""INSERT INTO "My App"."Odd ""Name" SELECT 'it''s \\ ' || i % 7, i, 'x' || i FROM generate_series(1, 500) i;""")
    tool.run(target, "expand", 2)
    target.sql("""INSERT INTO "My App"."Odd ""Name" ("Key", n, "C d") VALUES ('new', 1, '"y"');""")
    done = tool.run(target, "migrate", 2)[-1]
    assert (done["phase"], done["copied"]) == ("migrated", 500)
    assert target.sql("""SELECT count(*) FROM "My App"."Odd ""Name" WHERE "C d" #>> '{}' = "A b";""").strip() == "501"
    assert target.sql("SELECT count(*) FROM pg_constraint WHERE NOT convalidated;").strip() == "0"


def test_rows_that_a_policy_hides_are_no_silence(postgres, tool):
    target = postgres.fresh("policies")
    tool.files({"0001_init.sql": "CREATE TABLE users (id int PRIMARY KEY, a text);"
                                 "ALTER TABLE users ENABLE ROW LEVEL SECURITY; ALTER TABLE users FORCE ROW LEVEL SECURITY;",
                "0002_more/expand.sql": "ALTER TABLE users ADD COLUMN b text;",
                "0002_more/migration.yaml": "copy: [{table: users, key: [id], forward: {b: a}}]"})
    tool.run(target, "expand", 1)
    assert "row-level security" in tool.refused(target, "expand", 2)["message"]


@pytest.mark.parametrize("address, code", [
    ("postgresql://app:pq-s3cret-word@/app?host=/nowhere", "unavailable"),
    ("postgresql://app:pq-s3cret-word@/app?hots=/tmp", "invalid"),
    ("host=/nowhere password='pq-s3cret-word", "invalid")])
def test_a_password_is_never_shown(tool, address, code):
    tool.files({"0001_init.sql": ""})
    assert tool.refused(Target(address, None), "expand", 1)["code"] == code


def test_two_control_planes(postgres, tool):
    target = postgres.fresh("owned")
    tool.files({"0001_init.sql": "CREATE TABLE t (a int);"})
    tool.run(target, "expand", 1)
    target.sql("UPDATE sluice.owner SET sluice = 'sluice-9';")
    said = tool.refused(target, "migrate", 1)
    assert said == {"code": "conflict", "message": "the database belongs to another Sluice, sluice-9",
                    "next": "migrate it there, or have this one take it over"}
    target.sql("UPDATE sluice.owner SET sluice = 'sluice-1';")
    other = subprocess.Popen(["psql", "-X", "-q", target.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdin.write("SELECT pg_advisory_lock(126943972912997);\n\\echo held\n")
    other.stdin.flush()
    assert "held\n" in iter(other.stdout.readline, "")
    assert tool.refused(target, "migrate", 1)["message"].endswith("another migrator works on the database")
    other.communicate("")
    tool.run(target, "migrate", 1)


def test_a_row_that_breaks_a_rule_half_way(target, tool):
    """It is kept with its error, the others go on, and it is copied once it can be."""
    tool.files(split_files(target) | {
        "0002_full_name/expand.sql": "ALTER TABLE users ADD COLUMN full_name text;\nCREATE UNIQUE INDEX one ON users (full_name);"})
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(3000) + "UPDATE users SET last = 'Lee 7' WHERE id IN (1500, 2900);")
    tool.run(target, "expand", 2)
    partial = tool.run(target, "migrate", 2)[-1]
    assert (partial["phase"], partial["seen"], partial["copied"], partial["failed"]) == ("partial", 3000, 2998, 2)
    assert "1500" in partial["errors"][0] and "unique" in partial["errors"][0].lower(), partial["errors"]
    assert tool.refused(target, "contract", 2)["code"] == "conflict"
    target.sql("UPDATE users SET last = 'Lee ' || id WHERE id IN (1500, 2900);")
    assert tool.run(target, "migrate", 2)[-1]["phase"] == "migrated"
    assert target.sql("SELECT count(DISTINCT full_name) FROM users;").strip() == "3000"


def test_a_lost_connection(postgres, tool):
    """What was committed stays, the error says what happened, and the next call goes on."""
    target = postgres.fresh("cut")
    tool.files(split_files(target))
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(60_000))
    tool.run(target, "expand", 2)
    run = subprocess.Popen(tool.words(target, "migrate", 2), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert json.loads(run.stdout.readline())["phase"] == "migrating"
    postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut';", database="postgres", user="postgres")
    said = run.communicate()[1]
    assert run.returncode == 1 and json.loads(said)["code"] == "unavailable", said
    assert tool.run(target, "migrate", 2)[-1]["phase"] == "migrated"
    assert target.sql("SELECT seen, copied FROM sluice.copy WHERE number = 2;").strip() == "60000|60000"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a small disk")
def test_a_full_disk(postgres, tool, tmp_path):
    """Nothing is lost, and it goes on once there is room."""
    small = postgres.folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", small], check=True)
    try:
        shutil.chown(small, "postgres", "postgres")
        postgres.sql(f"CREATE TABLESPACE small LOCATION '{small}'; GRANT CREATE ON TABLESPACE small TO app;",
                     database="postgres", user="postgres")
        target = postgres.fresh("narrow")
        tool.files(split_files(target) | {
            "0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, first text, last text) TABLESPACE small;"})
        tool.run(target, "expand", 1)
        tool.run(target, "migrate", 1)
        target.sql(old_rows(30_000))
        tool.run(target, "expand", 2)
        said = tool.refused(target, "migrate", 2)
        assert said["code"] == "limit" and "space" in said["message"], said
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        assert tool.run(target, "migrate", 2)[-1]["phase"] == "migrated"
        assert target.sql("SELECT count(*), count(full_name) FROM users;").strip() == "30000|30000"
        postgres.sql("DROP DATABASE narrow; DROP TABLESPACE small;", database="postgres", user="postgres")
    finally:
        subprocess.run(["umount", "-l", small], check=True)


# What somebody does by hand, and what drift says of it.
BY_HAND = {
    "sqlite": [
        ("CREATE TABLE extra (a, b)", ['+ table "extra"']),
        ("DROP TABLE lost", ['- table "lost"']),
        ("ALTER TABLE users ADD COLUMN age INTEGER", ['+ column "users"."age"']),
        ("ALTER TABLE users DROP COLUMN note", ['- column "users"."note"']),
        ("ALTER TABLE users RENAME COLUMN nick TO alias", ['- column "users"."nick"', '+ column "users"."alias"']),
        ("CREATE INDEX by_age ON users (age)", ['+ index "by_age"']),
        ("DROP INDEX by_last", ['- index "by_last"']),
        ("CREATE VIEW short AS SELECT id FROM users", ['+ view "short"']),
        ("DROP VIEW old_view; CREATE VIEW old_view AS SELECT id, last FROM users", ['~ view "old_view"']),
        ("CREATE TRIGGER watch AFTER DELETE ON users BEGIN SELECT 1; END", ['+ trigger "watch"']),
    ],
    "postgresql": [
        ("CREATE TABLE extra (a int)", ['+ table "public"."extra"']),
        ("DROP TABLE lost", ['- table "public"."lost"']),
        ("ALTER TABLE users ADD COLUMN age int", ['+ column "public"."users"."age"']),
        ("ALTER TABLE users DROP COLUMN note", ['- column "public"."users"."note"']),
        ("ALTER TABLE users ALTER COLUMN nick TYPE varchar(9)", ['~ column "public"."users"."nick"']),
        ("ALTER TABLE users ALTER COLUMN last SET NOT NULL", ['~ column "public"."users"."last"']),
        ("ALTER TABLE users ALTER COLUMN first SET DEFAULT 'x'", ['~ column "public"."users"."first"']),
        ("CREATE INDEX by_age ON users (age)", ['+ index "public"."by_age"']),
        ("DROP INDEX by_last", ['- index "public"."by_last"']),
        ("ALTER TABLE users ADD CONSTRAINT old CHECK (id > 0)", ['+ constraint "public"."users"."old"']),
        ("CREATE OR REPLACE VIEW old_view AS SELECT id, last FROM users", ['~ view "public"."old_view"']),
        ("CREATE SEQUENCE more", ['+ sequence "public"."more"']),
        ("CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'", ['+ function "public"."one"()']),
        ("CREATE TYPE mood AS ENUM ('good')", ['+ type "public"."mood"']),
        ("CREATE POLICY seen ON users USING (true)", ['+ policy "public"."users"."seen"']),
    ],
}


def test_what_others_change_is_named(target, tool):
    kind = target.address.split(":")[0]
    tool.files({"0001_init.sql": "CREATE TABLE users (id integer PRIMARY KEY, first text, last text, note text, nick text);"
                                 "CREATE TABLE lost (a integer); CREATE INDEX by_last ON users (last);"
                                 "CREATE VIEW old_view AS SELECT id FROM users;"})
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    assert tool.lines(target, "drift") == []
    named = []
    for statement, expected in BY_HAND[kind]:
        target.sql(statement + ";")
        named += expected
        found = tool.lines(target, "drift")
        assert [line for line in named if line not in found] == [], (statement, found)
