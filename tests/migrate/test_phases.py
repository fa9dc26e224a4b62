"""Expand, migrate and contract on real databases, while old and new versions write, and whatever is killed."""

import random
import subprocess
import threading

import pytest
from databases import Postgres, Target

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
    """Every row equals a model, seen from both schemas."""
    tool.files(split_files(target))
    tool.run(target, "expand", 1)
    tool.run(target, "migrate", 1)
    target.sql(old_rows(2000))
    tool.run(target, "expand", 2)
    random.seed(7)
    count, model = 2000, {i: f"Mary Ann Lee {i}" for i in range(1, 2001)}
    writes = {"old": [], "new": []}
    for side in writes:
        for n in range(1500):
            # Each row is written by one side alone, so that the model does not depend on who was first.
            row = random.randrange(1, 1001) * 2 - (side == "old")
            if n % 3 == 0:
                row = 10_000 + n * 2 + (side == "old")
                name = f"New {n}{side}"
                writes[side].append(f"INSERT INTO users (id, first, last) VALUES ({row}, 'New', '{n}{side}');" if side == "old"
                                    else f"INSERT INTO users (id, full_name) VALUES ({row}, '{name}');")
            else:
                name = f"Old {n}" if side == "old" else f"Ada {n} {side}"
                writes[side].append(f"UPDATE users SET first = 'Old', last = '{n}' WHERE id = {row};" if side == "old"
                                    else f"UPDATE users SET full_name = '{name}' WHERE id = {row};")
            model[row] = name
    writers = [threading.Thread(target=target.sql, args=["\n".join(lines)]) for lines in writes.values()]
    for writer in writers:
        writer.start()
    tool.run(target, "migrate", 2)
    for writer in writers:
        writer.join()
    seen = dict(line.split("|") for line in target.sql("SELECT id || '|' || full_name FROM users;").splitlines())
    assert {int(i): name for i, name in seen.items()} == model
    assert len(model) > count
    by_old = dict(line.split("|") for line in target.sql("SELECT id || '|' || first || ' ' || last FROM users;").splitlines())
    assert by_old == seen
    tool.run(target, "contract", 2)
    seen = dict(line.split("|") for line in target.sql("SELECT id || '|' || full_name FROM users;").splitlines())
    assert {int(i): name for i, name in seen.items()} == model


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
                run.communicate(timeout=random.uniform(0.005, 0.25))
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


def test_killed_database(tool):
    """PostgreSQL loses its power ten times in the middle of the work."""
    server = Postgres()
    try:
        target = server.fresh("shop")
        tool.files(split_files(target))
        tool.run(target, "expand", 1)
        tool.run(target, "migrate", 1)
        target.sql(old_rows(30000))
        random.seed(3)
        for kill in range(10):
            verb = "expand" if kill < 3 else "migrate"
            if kill == 3:
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
