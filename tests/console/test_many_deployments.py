"""The console in a home with 5,000 deployments and 50,000 revisions, while much happens: scrolling and filtering have no
long task, and the page needs no more memory as time goes on. The state is copied, row by row, from one deployment. It
takes minutes: SLUICE_SOAK=1."""

import json
import os
import signal
import socket
import subprocess
import threading
import urllib.request

import pytest
from many_deployments import multiply, other

pytestmark = pytest.mark.skipif("SLUICE_SOAK" not in os.environ, reason="takes minutes: SLUICE_SOAK=1")
DEPLOYMENTS = 5_000
REVISIONS = 10  # of each


def test_scrolling_and_filtering_have_no_long_task(sluice, root, tmp_path, eventually):
    variables = {"PATH": f"{sluice.parent}:/usr/bin:/bin", "SLUICE_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}

    def ok(*words):
        done = subprocess.run([str(sluice), *map(str, words), "-o", "json"], capture_output=True, text=True, cwd=root,
                              env=variables, timeout=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    raised = ok("up", "examples/hello", "--detach", "--port", port)
    ok("stop", "--control-plane")
    multiply(tmp_path / "home/store/store.db", raised["deployment"], raised["revision"], DEPLOYMENTS, REVISIONS)
    with open(tmp_path / "serve.log", "w") as log:
        serve = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, env=variables)
    ended = threading.Event()
    events = []
    try:
        eventually(lambda: (tmp_path / "home/run/owner.token").exists() and "url" in ok("status", "--wait", "60s"))
        url = ok("status")["url"]
        token = (tmp_path / "home/run/owner.token").read_text().strip()
        link = ok("console")["url"]

        def change(number):
            """Labels deployments, one after the other."""
            while not ended.is_set():
                body = {"input": {"deployment": other(raised["deployment"], number % DEPLOYMENTS), "labels": [f"n={number}"]}}
                ask = urllib.request.Request(f"{url}/v1/actions/Deployment/label", json.dumps(body).encode(),
                                             {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
                urllib.request.urlopen(ask, timeout=60).read()
                events.append(number)
                number += 8

        for i in range(8):
            threading.Thread(target=change, args=[i], daemon=True).start()
        given = {"url": url, "tokens": {}, "link": link, "env": "local", "stories": ["many"], "deployments": DEPLOYMENTS,
                 "pictures": str(root / "build/console/pictures"), "seconds": int(os.environ.get("SLUICE_SOAK_SECONDS", 60))}
        done = subprocess.run(["node", "console.mjs"], cwd=root / "tests/console", capture_output=True, text=True,
                              timeout=1200, env=os.environ | {"CONSOLE_TEST": json.dumps(given)}, stdin=subprocess.DEVNULL)
        print(f"{done.stdout}{len(events)} changes")
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    finally:
        ended.set()
        subprocess.run([str(sluice), "stop"], env=variables, capture_output=True, timeout=60)
        if serve.poll() is None:
            serve.send_signal(signal.SIGTERM)
        serve.wait(60)
