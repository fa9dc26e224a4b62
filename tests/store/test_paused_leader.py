"""A replica that led, is paused in the middle of a call to the outside, and wakes when another one leads: it begins no
further call. What it had begun is repeated under its id by the one that leads."""

import http.server
import json
import signal
import threading

import pytest

from test_replicas import environments, joined, leads, named


class Recorder(http.server.ThreadingHTTPServer):
    """Takes what webhooks post; holds back its answers while it is told to."""

    def __init__(self):
        self.calls, self.open = [], threading.Event()
        self.open.set()
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                recorder.calls.append((self.headers["webhook-id"], body))
                recorder.open.wait(timeout=60)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def ids(self):
        return [each for each, _ in self.calls]


@pytest.fixture
def recorder():
    server = Recorder()
    yield server
    server.open.set()
    server.shutdown()
    server.server_close()


def test_who_is_paused_in_a_call_begins_no_other_when_it_wakes(started, plane, recorder, eventually):
    server = started()
    east = plane("east", server).serve(*named("east"))
    west = joined(plane, server, "west", east).serve(*named("west"))
    east.run("webhooks", "add", "team", f"http://127.0.0.1:{recorder.server_address[1]}/", "--event", "environment.created",
             "--allow-local")
    recorder.open.clear()
    east.run("env", "create", "first")
    eventually(lambda: len(recorder.calls) == 1)
    # Two more wait behind it, which the paused one would call next.
    east.run("env", "create", "second")
    east.run("env", "create", "third")
    east.process.send_signal(signal.SIGSTOP)
    eventually(lambda: leads(west) == "west", west.log)
    recorder.open.set()
    eventually(lambda: len(set(recorder.ids())) == 3, lambda: str(recorder.calls))
    west.run("env", "create", "fourth")
    eventually(lambda: len(set(recorder.ids())) == 4, lambda: str(recorder.calls))
    before = recorder.ids()
    assert before.count(before[0]) == 2, "what was begun is repeated under its id"
    assert all(before.count(each) == 1 for each in set(before[1:]) - {before[0]})
    east.process.send_signal(signal.SIGCONT)
    eventually(lambda: east.process.poll() is not None, east.log)
    assert east.end() != 0
    west.run("env", "create", "fifth")
    eventually(lambda: len(set(recorder.ids())) == 5, lambda: str(recorder.calls))
    assert recorder.ids()[:-1] == before
    assert environments(west) == ["fifth", "first", "fourth", "local", "second", "third"]
    assert west.run("audit", "verify").returncode == 0
