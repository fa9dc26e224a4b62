"""Programs know who they are."""

import json

from up_home import get

TELLS = '''import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Tell(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({name: os.environ.get(name) for name in os.environ if name.startswith("SLUICE_")}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Tell).serve_forever()
'''


def test_workloads_get_revision_version_deployment_and_environment(home):
    folder = home.folder / "teller"
    folder.mkdir()
    (folder / "app.py").write_text(TELLS)
    (folder / "bundle.yaml").write_text('name: teller\nversion: "3.1.4"\nrun: [python3, app.py]\n')
    up = home.up(folder)
    _, answer = get(up["urls"][0])
    told = json.loads(answer)
    assert {name: told.get(name) for name in
            ["SLUICE_REVISION", "SLUICE_VERSION", "SLUICE_DEPLOYMENT", "SLUICE_ENVIRONMENT"]} == {
        "SLUICE_REVISION": up["revision"], "SLUICE_VERSION": "3.1.4", "SLUICE_DEPLOYMENT": up["deployment"],
        "SLUICE_ENVIRONMENT": "local"}
