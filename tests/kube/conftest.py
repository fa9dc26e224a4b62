"""Starts the tests' Kubernetes API server."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def api_server(tmp_path_factory):
    """api_server(*options): a server's folder, with its kubeconfig, and its URL."""
    with contextlib.ExitStack() as left:
        def start(*options):
            folder = tmp_path_factory.mktemp("kube")
            process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--folder", str(folder), *options],
                                       stdout=subprocess.PIPE, text=True)
            left.callback(process.wait)
            left.callback(process.kill)
            return folder, process.stdout.readline().strip()

        yield start
