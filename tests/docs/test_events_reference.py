"""docs/reference/events.md and api.md are what the server says."""

import http.client
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

import api_reference  # noqa: E402
from events_reference import page  # noqa: E402


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("sluice", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def test_the_references_are_made_from_what_the_server_says(sluice, root, tmp_path, eventually):
    home = tmp_path / "home"
    environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home), "LANG": "C.UTF-8"}
    served = subprocess.Popen([str(sluice), "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: (home / "run/sluice.sock").exists())
        wire = OverSocket(home / "run/sluice.sock")
        wire.request("GET", "/v1/events/types")
        types = json.loads(wire.getresponse().read())["types"]
        wire.request("GET", "/v1/openapi.json")
        document = json.loads(wire.getresponse().read())
        wire.close()
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait(timeout=60)
    assert (root / "docs/reference/events.md").read_text() == page(types), "see tests/docs/events_reference.py"
    # A contract that was reworded need not wait for its row, but nothing may be there that the server has not, nor most
    # of it be old.
    kept, said = ({line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| `")}
                  for text in ((root / "docs/reference/api.md").read_text(), api_reference.page(document)))
    assert kept and kept.keys() <= said.keys(), "see tests/docs/api_reference.py"
    assert sum(kept.get(name) == row for name, row in said.items()) >= 0.9 * len(said), "see tests/docs/api_reference.py"
