"""FirstWeek11: a warm that fails is told wherever one looks for it, and its log stays."""

import json

SICK = """
import http.server, os, sys
print("I came up sick", flush=True)
class Sick(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503)
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Sick).serve_forever()
"""


def sick(home, within="1s"):
    folder = home.folder / "sick"
    folder.mkdir()
    (folder / "app.py").write_text(SICK)
    (folder / "bundle.yaml").write_text('name: sick\nversion: "1.0.0"\nrun: [python3, app.py]\n'
                                        f'health: {{path: /health, start_within: {within}}}\n')
    return folder


def test_a_failed_warm_is_in_flow_list_audit_and_logs(home):
    home.run("bundles", "build", sick(home), "--out", "sick.bundle")
    home.run("bundles", "add", "local", "sick.bundle")
    home.run("revisions", "warm", "local", "sick@1", code=7)
    failed = home.data("flow", "list", "--failed")
    assert [each["action"] for each in failed] == ["Revision/warm"]
    assert failed[0]["failure"] == "Revision/warm => failed"
    ended = {each["action"]: each for each in home.data("audit", "list") if "action" in each}
    assert ended["Revision/warm"]["outcome"] == "failed" and ended["Revision/warm"]["endedAt"]
    assert ended["Revision/stage"]["outcome"] == "ok"
    said = home.run("logs", "sick@1").stdout
    assert "I came up sick" in said and "sick@1.0" in said
    told = json.loads(home.run("why", "sick@1", "-o", "json").stdout)
    assert told["kind"] == "revision" and told["flow"] == failed[0]["flow"]
    assert any(each.startswith("sick@1 is failed and gets 0% of the traffic; it failed in ") for each in told["said"])
