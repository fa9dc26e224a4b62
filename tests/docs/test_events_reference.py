"""docs/reference/events.md is what the server says."""

import http.client
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

from events_reference import page  # noqa: E402


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("sluice", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def test_the_reference_is_made_from_the_types_of_events(sluice, root, tmp_path, eventually):
    home = tmp_path / "home"
    environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home), "LANG": "C.UTF-8"}
    served = subprocess.Popen([str(sluice), "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: (home / "run/sluice.sock").exists())
        wire = OverSocket(home / "run/sluice.sock")
        wire.request("GET", "/v1/events/types")
        types = json.loads(wire.getresponse().read())["types"]
        wire.close()
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait(timeout=60)
    assert (root / "docs/reference/events.md").read_text() == page(types), "see tests/docs/events_reference.py"
