"""A home for the console's bench: 1,000 deployments in 200 environments, copied row by row from one, served. Then it runs
measure.mjs, and prints what that measured: a line a figure, "WHAT<tab>VALUE<tab>GOAL<tab>UNIT"."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/console"))
import many_deployments  # noqa: E402

DEPLOYMENTS = 1_000
ENVIRONMENTS = 199  # beside local
CONSOLES = 100
CHANGES_A_SECOND = 10
MEASURED_S = 20


def cpu_s(pid):
    """The time that a process has computed, with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Home:
    def __init__(self, sluice, folder):
        self.sluice, self.folder = sluice, folder
        self.variables = {"PATH": f"{Path(sluice).parent}:/usr/bin:/bin", "SLUICE_HOME": str(folder / "home"),
                          "LANG": "C.UTF-8"}

    def run(self, *words):
        done = subprocess.run([self.sluice, *words, "-o", "json"], capture_output=True, text=True, cwd=ROOT,
                              env=self.variables, timeout=600, check=False)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def serve(self):
        log = open(self.folder / "serve.log", "a")
        self.server = subprocess.Popen([self.sluice, "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log,
                                       env=self.variables)
        while not ((self.folder / "home/run/owner.token").exists() and "url" in self.run("status")):
            time.sleep(0.1)
        self.url = self.run("status")["url"]
        self.token = (self.folder / "home/run/owner.token").read_text().strip()

    def call(self, action, values):
        ask = urllib.request.Request(f"{self.url}/v1/actions/{action}", json.dumps({"input": values}).encode(),
                                     {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(ask, timeout=60).read())

    def end(self):
        subprocess.run([self.sluice, "stop"], env=self.variables, capture_output=True, timeout=60, check=False)
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        self.server.wait(60)


def change(home, deployment, ended):
    """Labels deployments, ten a second."""
    number, due = 0, time.monotonic()
    while not ended.is_set():
        home.call("Deployment/label", {"deployment": many_deployments.other(deployment, number % (DEPLOYMENTS - 1)),
                                       "labels": [f"n={number}"]})
        number += 1
        due += 1 / CHANGES_A_SECOND
        time.sleep(max(0, due - time.monotonic()))


def measured(home, *words, **given):
    done = subprocess.run(["node", str(ROOT / "bench/console/measure.mjs"), *words], text=True, capture_output=True,
                          env=os.environ | {"CONSOLE_BENCH": json.dumps({"url": home.url, "token": home.token} | given)},
                          timeout=900, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}")
    return done.stdout


def main(sluice, folder):
    home = Home(sluice, Path(folder))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.serve()
    raised = home.run("up", "examples/hello", "--detach", "--port", str(port))
    for number in range(ENVIRONMENTS):
        home.call("Env/create", {"environment": f"e{number:03}"})
    home.run("stop", "--control-plane")
    home.server.wait(60)
    many_deployments.multiply(home.folder / "home/store/store.db", raised["deployment"], raised["revision"],
                              DEPLOYMENTS, 1, [f"e{number:03}" for number in range(ENVIRONMENTS)])
    home.serve()
    ended = threading.Event()
    try:
        print(measured(home, "first", folder=folder), end="")
        changing = threading.Thread(target=change, args=[home, raised["deployment"], ended])
        changing.start()
        time.sleep(2)
        before = cpu_s(home.server.pid)
        time.sleep(MEASURED_S)
        alone = (cpu_s(home.server.pid) - before) / MEASURED_S
        print(measured(home, "series"), end="")
        recorded = measured(home, "record", seconds=MEASURED_S)
        with subprocess.Popen(["node", str(ROOT / "bench/console/measure.mjs"), "replay"], text=True,
                              stdout=subprocess.PIPE,
                              env=os.environ | {"CONSOLE_BENCH": json.dumps({
                                  "url": home.url, "token": home.token, "consoles": CONSOLES, "seconds": MEASURED_S,
                                  "asked": json.loads(recorded)})}) as replay:
            assert replay.stdout.readline() == "open\n"
            before = cpu_s(home.server.pid)
            told = replay.stdout.readline()
            used = (cpu_s(home.server.pid) - before) / MEASURED_S
        print(told, end="")
        print(f"ten changes a second, without a console\t{alone * 100}\t\t% of a core")
        print(f"100 open consoles\t{(used - alone) * 100}\t5\t% of a core")
    finally:
        ended.set()
        home.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
