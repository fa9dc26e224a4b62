"""Settings that were given once hold for the versions to come, until they are taken back."""

from up_home import get

APP = '''import http.server
import json
import os
import signal
import sys

settings = json.load(open(os.environ["SLUICE_CONFIG"]))


class Say(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{settings['word']} {os.environ['SLUICE_VERSION']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Say).serve_forever()
'''


def say(home, default="default: default"):
    folder = home.folder / "app"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "bundle.yaml").write_text('name: say\nversion: "1.0.0"\nrun: [python3, app.py]\n'
                                        f'config: [{{ name: word, question: Which word?, {default} }}]\n')
    return folder


def test_first_week_06_set_is_remembered_and_unset_takes_it_back(home):
    folder = say(home)
    url = home.up(folder, "--set", "word=tea")["urls"][0]
    assert get(url)[1] == "tea 1.0.0"
    assert home.up(folder)["changed"] is False, "the same settings"
    home.change(folder, "2.0.0")
    home.up(folder)
    assert get(url)[1] == "tea 2.0.0"
    assert home.up(folder, "--unset", "word")["changed"] is True
    assert get(url)[1] == "default 2.0.0"


def test_first_week_06_revisions_stage_remembers_it_too(home):
    folder = say(home, "required: true")
    url = home.up(folder, "--set", "word=tea")["urls"][0]
    for version in ("2.0.0", "3.0.0", "4.0.0"):
        home.change(folder, version)
        home.run("bundles", "build", folder, "--out", f"{version}.bundle")
    home.run("revisions", "stage", "local", "2.0.0.bundle")
    home.run("revisions", "warm", "local", "say@2")
    home.run("traffic", "set", "local", "say@2=100%")
    assert get(url)[1] == "tea 2.0.0"
    home.run("revisions", "stage", "local", "3.0.0.bundle", "--set", "word=milk")
    home.run("revisions", "warm", "local", "say@3")
    home.run("traffic", "set", "local", "say@3=100%")
    assert get(url)[1] == "milk 3.0.0", "what is set now counts more"
    refused = home.run("revisions", "stage", "local", "4.0.0.bundle", "--unset", "word", code=1)
    assert "config word has no answer: Which word?; nothing was changed" in refused.stderr
