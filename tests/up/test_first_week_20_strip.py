"""A bundle can have the path of its route stripped."""

from up_home import get

ECHO = '''import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Echo(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Echo).serve_forever()
'''


def echo(home, version, routes):
    folder = home.folder / "echo"
    folder.mkdir(exist_ok=True)
    (folder / "app.py").write_text(ECHO)
    (folder / "bundle.yaml").write_text(f'name: echo\nversion: "{version}"\nrun: [python3, app.py]\n'
                                        f"routes: {routes}\n")
    return home.up(folder)


def test_a_stripped_path_is_not_passed_on(home):
    url = echo(home, "1.0.0", "[{path: /api, strip: true}, {path: /raw}]")["urls"][0].rsplit("/", 1)[0]
    assert get(url + "/api/items?x=/api/1") == (200, "/items?x=/api/1")
    assert get(url + "/api") == (200, "/")
    assert get(url + "/raw/items") == (200, "/raw/items")
    assert get(url + "/apiary")[0] == 404, "a prefix ends where a segment does"
    echo(home, "1.1.0", "[{path: /api}, {path: /raw}]")
    assert get(url + "/api/items") == (200, "/api/items"), "as the version that serves has it"


def test_a_slash_at_the_end_of_a_path_means_the_same(home):
    url = echo(home, "1.0.0", "[{path: /a/}, {path: /b/, strip: true}]")["urls"][0].rsplit("/", 1)[0]
    assert get(url + "/a/items") == (200, "/a/items")
    assert get(url + "/a") == (200, "/a")
    assert get(url + "/ab")[0] == 404
    assert get(url + "/b/items") == (200, "/items")
