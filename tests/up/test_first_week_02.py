"""down keeps what programs have stored, unless somebody says otherwise; it is found again by environment, bundle and
customer."""

import json

from up_home import get

APP = '''import http.server
import os
import pathlib
import signal
import sys

notes = pathlib.Path(os.environ["SLUICE_STORAGE_NOTES"]) / "notes"


class Notes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/write":
            notes.write_text("kept")
        body = (notes.read_text() if notes.exists() else "nothing").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Notes).serve_forever()
'''


def notes(home):
    folder = home.folder / "app"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "bundle.yaml").write_text('name: notes\nversion: "1.0.0"\nrun: [python3, app.py]\n'
                                        'storage: [{ name: notes, size: 1MB }]\n')
    return folder


def stored(home):
    return home.data("runtime", "storage", "list")


def test_first_week_02_down_keeps_what_is_stored_and_up_takes_it_up_again(home):
    folder = notes(home)
    url = home.up(folder)["urls"][0]
    assert get(url + "write") == (200, "kept")
    assert stored(home)[0]["deployment"] is not None
    done = home.run("down", "notes")
    assert "what it has stored, 4 bytes in " in done.stderr and "stays" in done.stderr
    one, = stored(home)
    assert (one["environment"], one["bundle"], one["customer"], one["bytes"]) == ("local", "notes", "local-dev", 4)
    assert one["deployment"] is None and one["since"]
    other = home.up(folder, "--customer-id", "acme")["urls"][0]
    assert get(other) == (200, "nothing"), "another customer has data of their own"
    home.run("down", "notes")
    url = home.up(folder)["urls"][0]
    assert get(url) == (200, "kept")


def test_first_week_02_delete_data_names_folder_and_size_and_asks(home):
    url = home.up(notes(home))["urls"][0]
    get(url + "write")
    one, = stored(home)
    refused = home.run("down", "notes", "--delete-data", code=2)
    assert f"what it has stored, 4 bytes in {one['folder']}" in refused.stderr and "add --yes" in refused.stderr
    assert get(url) == (200, "kept"), "nothing was changed"
    would = home.data("down", "notes", "--delete-data", "--dry-run")
    assert would["loses"] == ["1 revision", f"what it has stored, 4 bytes in {one['folder']}"]
    assert home.data("down", "notes", "--dry-run")["loses"] == ["1 revision"]
    assert get(url) == (200, "kept")
    home.run("down", "notes", "--delete-data", "--yes")
    assert stored(home) == []
    assert not (home.home / "runtime/storage" / one["storage"]).exists()


def test_first_week_02_what_stayed_is_removed_by_name(home):
    folder = notes(home)
    get(home.up(folder)["urls"][0] + "write")
    one, = stored(home)
    assert "uses" in home.run("runtime", "storage", "remove", one["storage"], "--yes", code=6).stderr
    home.run("down", "notes")
    assert json.loads(home.run("runtime", "storage", "remove", one["storage"], "--dry-run", "-o", "json").stdout)["loses"]
    assert stored(home) != []
    home.run("runtime", "storage", "remove", one["storage"], "--yes")
    assert stored(home) == []
    home.run("runtime", "storage", "remove", one["storage"], "--yes", code=5)
    assert get(home.up(folder)["urls"][0]) == (200, "nothing")


def test_first_week_02_a_dry_run_says_what_would_be_lost_and_changes_nothing(home):
    folder = notes(home)
    get(home.up(folder)["urls"][0] + "write")
    one, = stored(home)
    home.run("env", "create", "staging")
    assert "100% of notes@1" in home.run("traffic", "clear", "local", "--dry-run").stdout
    home.run("traffic", "clear", "local", "--yes")
    key = home.data("trust", "list")["keys"][0]["key"]
    token = home.data("access", "tokens", "create", "ci", "--for", "service:ci")["token"]
    home.run("secrets", "put", "local", "notes/WORD", input="w")
    home.run("artifact", "build", folder / "bundle.yaml", "--name", "built")
    data = f"what it has stored, 4 bytes in {one['folder']}"

    def decided():  # routers that come and go are noticed meanwhile
        return [entry for entry in home.data("audit", "list") if entry["caller"] != "sluice:observer"]

    before = decided()
    for words, loses in ((["down", "notes", "--delete-data"], data),
                         (["revisions", "drain", "local", "notes@1"], None),
                         (["revisions", "archive", "local", "notes@1"], "the way back to it"),
                         (["env", "destroy", "staging"], None),
                         (["env-packs", "remove", "local", "state"], None),
                         (["bundles", "update", "local", "--status", "archived"], None),
                         (["runtime", "stop", "notes"], None),
                         (["secrets", "remove", "local", "notes/WORD"], None),
                         (["trust", "revoke", key, "--reason", "lost"], "the trust in all that it has signed"),
                         (["artifact", "gc", "--older-than", "0s", "--keep", "0"], "built sha256:"),
                         (["access", "tokens", "revoke", token], None)):
        would = home.run(*words, "--dry-run").stdout
        assert would.startswith("would ") and (loses or "") in would, f"{words}: {would}"
    assert decided() == before and stored(home) == [one]


def test_first_week_02_what_can_be_undone_does_not_ask(home):
    home.up(notes(home))
    before = home.data("traffic", "show", "local")["entries"]
    home.run("traffic", "clear", "local")
    assert home.data("traffic", "show", "local") is None
    home.run("traffic", "rollback", "local")
    assert home.data("traffic", "show", "local")["entries"] == before
    home.run("traffic", "clear", "local")
    home.run("revisions", "drain", "local", "notes@1")
    home.run("revisions", "retry", "local", "notes@1")
    home.run("revisions", "warm", "local", "notes@1")
    home.run("revisions", "archive", "local", "notes@1", code=2)
