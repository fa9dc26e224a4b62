"""A home with thousands of deployments: the state of one, copied row by row."""

import contextlib
import sqlite3

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def other(ulid, number):
    """An id that is not taken: its last five digits count."""
    text = ""
    for _ in range(5):
        number, digit = divmod(number, 32)
        text = DIGITS[digit] + text
    return ulid[:20] + "Z" + text


def multiply(store, deployment, revision, deployments, revisions, environments=()):
    """Copies the rows of one deployment and its revision, and the look-ups of both, under other ids, until there are so
    many; into these environments by turns, if there are some."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        rows = db.execute("SELECT rel, key, generation, seq, value FROM state WHERE instr(key, ?) OR instr(key, ?)",
                          (deployment.encode(), revision.encode())).fetchall()
        rows = [row for row in rows if row[0].decode().split(".")[0] in ("Deployment", "Revision", "Traffic")]
        looked = {(rel, key): [] for rel, key, *_ in rows}
        for rel, field, value, key in db.execute("SELECT rel, field, value, key FROM lookup").fetchall():
            if (rel, key) in looked:
                looked[rel, key].append((field, value))

        def add(row, names, change=lambda text: text):
            def renamed(value):
                for before, after in names:
                    value = value.replace(before, after)
                return value

            rel, key, generation, seq, value = row
            db.execute("INSERT INTO state (rel, key, generation, seq, value) VALUES (?, ?, ?, ?, ?)",
                       (rel, renamed(key), generation, seq, change(renamed(value))))
            for field, found in looked[rel, key]:
                db.execute("INSERT INTO lookup (rel, field, value, key) VALUES (?, ?, ?, ?)",
                           (rel, field, change(renamed(found)), renamed(key)))

        def archived(value):
            return value.replace(b'"ready"', b'"archived"')

        for i in range(deployments - 1):
            names = [(deployment.encode(), other(deployment, i).encode()), (b'"hello"', b'"app-%04d"' % i)]
            if environments:
                names.append((b'"local"', b'"%s"' % environments[i % len(environments)].encode()))
            for row in rows:
                add(row, [*names, (revision.encode(), other(revision, i * revisions).encode())])
                if row[0] == b"Revision":
                    for k in range(1, revisions):
                        add(row, [*names, (revision.encode(), other(revision, i * revisions + k).encode())], archived)
