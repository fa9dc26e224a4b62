"""The image that `./dev image` makes: what is in it, and that podman runs it read-only as a server and as a router."""

import http.client
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def static(sluice):
    """The program that needs no library."""
    return sluice.parent / "sluice-static"


@pytest.fixture(scope="module")
def image(root, static, tmp_path_factory):
    folder = tmp_path_factory.mktemp("image") / "layout"
    made = subprocess.run(["/usr/bin/python3", root / "packaging/image.py", static, folder], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder


def blob(image, descriptor):
    return image / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")


def parts(image):
    index = json.loads((image / "index.json").read_text())
    manifest = json.loads(blob(image, index["manifests"][0]).read_text())
    return index, json.loads(blob(image, manifest["config"]).read_text()), blob(image, manifest["layers"][0])


def test_the_same_binary_gives_the_same_bytes(root, static, image, tmp_path):
    subprocess.run(["/usr/bin/python3", root / "packaging/image.py", static, tmp_path / "again"], check=True)
    same = subprocess.run(["diff", "-r", image, tmp_path / "again"], capture_output=True, text=True)
    assert same.returncode == 0, same.stdout
    (tmp_path / "mine").mkdir()
    refused = subprocess.run(["/usr/bin/python3", root / "packaging/image.py", static, tmp_path / "mine"],
                             capture_output=True, text=True)
    assert refused.returncode == 1 and "is no OCI layout; it was left as it was" in refused.stderr


def test_it_is_small_has_no_shell_and_runs_as_nobody(image):
    _, config, layer = parts(image)
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/usr/bin/sluice"]
    with tarfile.open(layer) as tar:
        entries = tar.getmembers()
    assert sum(entry.size for entry in entries) < 30 << 20
    files = {entry.name for entry in entries if entry.isfile()}
    assert files == {"usr/bin/sluice", "etc/ssl/certs/ca-certificates.crt", "etc/passwd", "etc/group", "etc/nsswitch.conf"}
    assert {entry.mtime for entry in entries} == {0}
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)


def test_the_full_one_has_what_is_loaded_at_run_time(root, sluice, image, tmp_path):
    def make(name):
        return subprocess.run(["/usr/bin/python3", root / "packaging/image.py", sluice, tmp_path / name, "--full"],
                              capture_output=True, text=True)

    made = make("full")
    if "there is no lib" in made.stderr:  # ./dev image --full installs them
        pytest.skip(made.stderr.strip())
    assert made.returncode == 0 and make("again").returncode == 0
    same = subprocess.run(["diff", "-r", tmp_path / "full", tmp_path / "again"], capture_output=True, text=True)
    assert same.returncode == 0, same.stdout
    with tarfile.open(parts(image)[2]) as small, tarfile.open(parts(tmp_path / "full")[2]) as full:
        added = {Path(each.name).name for each in full if each.isfile() and each.name not in small.getnames()}
        assert {"libc.so.6", "libpq.so.5", "libgit2.so.1.5", "libssl.so.3", "libgssapi_krb5.so.2"} <= added
        assert all(".so" in name for name in added)
        full.extractall(tmp_path / "root")
    # All that the libraries need is there: the linker of the image finds it below the image's root.
    linker = next((tmp_path / "root/lib64").glob("ld-linux-*"))
    folders = sorted({each.parent for each in (tmp_path / "root").rglob("*.so*")})
    for each in (tmp_path / "root").rglob("lib*.so*"):
        listed = subprocess.run([linker, "--inhibit-cache", "--library-path", ":".join(map(str, folders)), "--list", each],
                                capture_output=True, text=True)
        assert "not found" not in listed.stdout, f"{each}: {listed.stdout}"


@pytest.fixture
def podman(tmp_path, image):
    """An engine of the test's own, with the image in it, that runs one container as the test says."""
    settings = tmp_path / "containers.conf"
    settings.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n'
                        '[engine]\nruntime = "runc"\nevents_logger = "file"\n')
    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    place = Path(tempfile.mkdtemp(prefix="p.", dir="/tmp"))  # of which podman wants a short path
    own = ["podman", "--root", tmp_path / "root", "--runroot", place / "run", "--tmpdir", place / "tmp",
           "--network-config-dir", tmp_path / "net", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs"]

    def run(*words, code=0):
        done = subprocess.run([*own, *words], env=os.environ | {"CONTAINERS_CONF": str(settings)}, cwd=image.parent,
                              capture_output=True, text=True, timeout=120)
        assert code is None or done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    tag = parts(image)[0]["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
    # The layout's path becomes the image's name, which has no capital letters: so a relative one.
    run("pull", "--signature-policy", policy, f"oci:{image.name}:{tag}")
    yield run
    run("rm", "--all", "--force", "--time", "0", code=None)
    shutil.rmtree(tmp_path / "root", ignore_errors=True)
    shutil.rmtree(place, ignore_errors=True)


def start(podman, tmp_path, *words):
    """A container with a read-only root, without capabilities, whose home is a folder of the test."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    os.chown(home, 65532, 65532)
    podman("run", "--detach", "--name", "one", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
           "--network", "host", "--log-driver", "k8s-file", "--volume", f"{home}:/var/lib/sluice",
           podman("images", "--quiet").split()[0], *words)
    return home


def test_it_serves_read_only(podman, tmp_path, eventually):
    home = start(podman, tmp_path, "serve")
    eventually(lambda: "serving the kit deploy" in podman("logs", "one"), lambda: podman("logs", "one"))
    assert (home / "run/sluice.sock").is_socket()
    podman("stop", "--time", "60", "one")
    assert podman("inspect", "--format", "{{.State.ExitCode}}", "one").strip() == "0"


def test_it_routes_read_only(podman, tmp_path, eventually):
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home/table.json").write_text('{"schema":"sluice.router-table.v1","environment":"local","generation":1}')
    start(podman, tmp_path, "router", "run", "--table", "/var/lib/sluice/table.json", "--listen", "127.0.0.1:0")
    eventually(lambda: "router-process" in podman("logs", "one"), lambda: podman("logs", "one"))
    listens = json.loads(podman("logs", "one").splitlines()[0])["listen"][0]
    connection = http.client.HTTPConnection(listens, timeout=60)
    connection.request("GET", "/")
    assert connection.getresponse().status == 404
    podman("stop", "--time", "60", "one")
    assert podman("inspect", "--format", "{{.State.ExitCode}}", "one").strip() == "0"
