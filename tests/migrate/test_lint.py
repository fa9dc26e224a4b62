"""What lint says of a statement, beside what PostgreSQL does with it and what another linter says."""

import json
import os
import subprocess

import pytest
from statements import CONCURRENT, DANGEROUS, SETUP, STATEMENTS

# From the weakest to the strongest, as pg_locks and the manual name them.
LEVELS = {"AccessShareLock": "ACCESS SHARE", "RowShareLock": "ROW SHARE", "RowExclusiveLock": "ROW EXCLUSIVE",
          "ShareUpdateExclusiveLock": "SHARE UPDATE EXCLUSIVE", "ShareLock": "SHARE",
          "ShareRowExclusiveLock": "SHARE ROW EXCLUSIVE", "ExclusiveLock": "EXCLUSIVE",
          "AccessExclusiveLock": "ACCESS EXCLUSIVE"}
# What the other linter reports and ours does not, and why.
DIFFERENT = {
    "require-lock-timeout": "Sluice sets one itself",
    "require-statement-timeout": "what takes long without a lock may take long",
    "prefer-robust-stmts": "Sluice notes each statement that is done and repeats none",
    "prefer-bigint-over-int": "a matter of taste",
    "prefer-identity": "a matter of taste",
    "prefer-text-field": "a matter of taste",
}


@pytest.fixture
def lint(sluice, tmp_path):
    """What lint says of each of these statements, in order."""

    def run(statements, setup="SELECT 1;"):
        folder = tmp_path / "linted"
        folder.mkdir(exist_ok=True)
        (folder / "0001_init.sql").write_text(setup)
        (folder / "0002_all.sql").write_text("".join(f"{each};\n" for each in statements))
        done = subprocess.run([sluice, "migrate", "lint", folder, "--database", "postgres", "-o", "json"],
                              capture_output=True, text=True, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
        assert done.returncode in (0, 1), done.stderr
        said = [each for each in json.loads(done.stdout) if each["file"] == "0002_all/expand.sql"]
        assert [(each["statement"], each["line"]) for each in said] == [(s, i + 1) for i, s in enumerate(statements)]
        return said

    return run


def rules(said):
    return {each["rule"] for each in said["findings"]}


def strongest(modes):
    return max((LEVELS[mode] for mode in modes.split()), key=list(LEVELS.values()).index, default="")


def test_locks_and_rewrites_are_those_of_the_server(postgres, lint):
    target = postgres.fresh("locks")
    target.sql(SETUP)
    assert len(STATEMENTS) >= 60
    for statement, said in zip(STATEMENTS, lint(STATEMENTS, SETUP)):
        locks, rewritten = target.sql(f"""
            CREATE TEMP TABLE there AS SELECT oid, pg_relation_filenode(oid) AS file, relkind IN ('r', 'm') AS is_table
                FROM pg_class WHERE relnamespace = 'public'::regnamespace;
            BEGIN;
            \\o /dev/null
            {statement};
            \\o
            SELECT coalesce(string_agg(DISTINCT mode, ' '), '') FROM pg_locks
                WHERE pid = pg_backend_pid() AND relation IN (SELECT oid FROM there);
            SELECT count(*) FROM there JOIN pg_class c USING (oid) WHERE is_table AND pg_relation_filenode(c.oid) <> file;
            ROLLBACK;""").splitlines()
        assert said["lock"] == strongest(locks), f"{statement}: {locks}"
        empties = statement.startswith("TRUNCATE")  # gives the table a new file, without its rows
        assert ("rewrites" in rules(said) or empties) == (rewritten != "0"), statement


@pytest.mark.parametrize("statement", CONCURRENT)
def test_locks_of_what_runs_alone(postgres, lint, statement):
    target = postgres.fresh("alone" + os.urandom(4).hex())
    target.sql(SETUP)
    holder = subprocess.Popen(["psql", "-X", "-q", target.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM users;\n\\echo held\n")
    holder.stdin.flush()
    assert "held\n" in iter(holder.stdout.readline, "")
    run = subprocess.Popen(["psql", "-X", "-q", "-c", statement, target.address], env=os.environ | {"PGAPPNAME": "alone"})
    locks = target.sql("""DO $$ BEGIN
        WHILE NOT EXISTS (SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
                          WHERE NOT granted AND locktype = 'virtualxid' AND application_name = 'alone') LOOP
            PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
        END LOOP; END $$;
        SELECT string_agg(DISTINCT mode, ' ') FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'alone' AND relation = 'users'::regclass;""").strip()
    holder.communicate("COMMIT;\n")
    assert run.wait(timeout=60) == 0
    (said,) = lint([statement])
    assert said["lock"] == strongest(locks) == "SHARE UPDATE EXCLUSIVE"


def reported(root, statement):
    squawk = next((root / "tests/migrate/node_modules/@squawk-cli").glob("linux-*/bin/squawk"))
    done = subprocess.run([squawk, "--reporter", "json", "--stdin-filepath", "expand.sql"], input=statement + ";\n",
                          capture_output=True, text=True)
    return {each["rule_name"] for each in json.loads(done.stdout)}


def test_nothing_that_another_linter_reports_is_missed(root, lint):
    assert len(DANGEROUS) >= 40
    theirs = 0
    for statement, said in zip(DANGEROUS, lint(DANGEROUS)):
        found = reported(root, statement) - set(DIFFERENT)
        theirs += bool(found)
        assert said["findings"], f"{statement}: {found}"
    assert theirs > 25, "the other linter looked at them"
    harmless = ["ALTER TABLE users ADD COLUMN a text", "CREATE INDEX CONCURRENTLY i ON users (name)",
                "ALTER TABLE users ADD CONSTRAINT c CHECK (age > 0) NOT VALID", "CREATE TABLE t (id bigint PRIMARY KEY)",
                "ALTER TABLE users ALTER COLUMN name SET DEFAULT ''"]
    for statement, said in zip(harmless, lint(harmless)):
        assert not said["findings"] and not reported(root, statement) - set(DIFFERENT), statement
