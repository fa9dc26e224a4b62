"""Small things that commands said, and that were not so."""

import http.client
import threading

from up_home import get

APP = '''import http.server
import os
import signal
import sys
import time


class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        if self.path != "/download":
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Slow).serve_forever()
'''


def downloading(url, begun):
    """A download that never ends by itself: it says when its first byte has come."""
    connection = http.client.HTTPConnection("127.0.0.1", int(url.rsplit(":", 1)[1].rstrip("/")), timeout=60)
    connection.request("GET", "/download")
    answer = connection.getresponse()
    answer.read(1)
    begun.set()
    try:
        answer.read()
    except (OSError, http.client.HTTPException):
        pass
    connection.close()


def test_first_week_18_a_download_that_was_cut_is_reported_as_cut(home):
    folder = home.folder / "slow"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "bundle.yaml").write_text('name: slow\nversion: "1.0.0"\nrun: [python3, app.py]\ndrain: 1s\n')
    url = home.up(folder)["urls"][0]
    begun = threading.Event()
    client = threading.Thread(target=downloading, args=(url, begun))
    client.start()
    try:
        assert begun.wait(60)
        home.run("traffic", "clear", "local", "--yes")
        done = home.run("revisions", "drain", "local", "slow@1")
        assert "1 request of slow@1 was cut: the time to drain was over" in done.stderr
        assert "0 requests under way" not in done.stderr
    finally:
        client.join()
    home.run("revisions", "drain", "local", "slow@1", code=6)


def test_first_week_18_a_drain_that_cut_nothing_says_nothing_of_it(home):
    home.up(home.copy("hello", "one"))
    home.run("traffic", "clear", "local", "--yes")
    assert "cut" not in home.run("revisions", "drain", "local", "hello@1").stderr


def test_first_week_18_exec_of_a_missing_program_exits_127(home):
    home.up(home.copy("hello", "one"))
    missing = home.run("exec", "hello", "--", "no-such-program", code=127)
    assert missing.stderr == "error: there is no program no-such-program on PATH\n"
    assert home.run("exec", "hello", "--", "./no-such-program", code=127).stderr
    assert home.run("exec", "hello", "--", "sh", "-c", "exit 3", code=3).stdout == ""


def test_first_week_18_a_revision_that_is_not_there_is_named(home):
    url = home.up(home.copy("hello", "one"))["urls"][0]
    home.up(home.copy("chat", "chat"))
    refused = home.run("traffic", "set", "local", "hello@99=100%", code=5)
    assert "there is no revision 'hello@99' in local" in refused.stderr
    assert get(url)[0] == 200
    home.run("env", "doctor", "local")
    assert [each["health"] for each in home.data("env", "list")] == ["green"]
