"""The remote contract (remote_contract.py) at a server of the test's own, or at SLUICE_CONTRACT_URL with the token in
SLUICE_CONTRACT_TOKEN."""

import os
import signal
import subprocess

import pytest
from remote_contract import CHECKS, Server


@pytest.fixture(scope="module")
def server(sluice, tmp_path_factory, eventually):
    if "SLUICE_CONTRACT_URL" in os.environ:
        yield Server(os.environ["SLUICE_CONTRACT_URL"], os.environ["SLUICE_CONTRACT_TOKEN"])
        return
    folder = tmp_path_factory.mktemp("contract")
    environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(folder / "h"), "LANG": "C.UTF-8"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, cwd=folder,
                                   env=environment)
    try:
        eventually(lambda: "listening at" in (folder / "log").read_text(), (folder / "log").read_text)
        url = (folder / "log").read_text().split("listening at ")[1].split(",")[0]
        yield Server(url, (folder / "h/run/owner.token").read_text().strip())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_greentic25_a_server_keeps_the_contract(server, check):
    check(server)
