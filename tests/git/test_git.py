"""Templates come from real Git servers: nginx with git-http-backend behind fcgiwrap, over TLS."""

import base64
import contextlib
import json
import os
import socket
import ssl
import subprocess
import threading

import pytest

CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  log_format who '$request_uri $status [$http_authorization]';
  access_log {folder}/access.log who;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location /moved/ {{ return 302 https://localhost:{other}/public/shop.git$is_args$args; }}
    location /private/ {{
      auth_basic who; auth_basic_user_file {folder}/users; {git}
    }}
    location / {{ {git} }}
  }}
}}
"""
GIT = ("fastcgi_pass unix:{folder}/cgi.sock; fastcgi_param SCRIPT_FILENAME {backend}; fastcgi_param GIT_HTTP_EXPORT_ALL 1; "
       "fastcgi_param GIT_PROJECT_ROOT {folder}/repos; fastcgi_param PATH_INFO $uri; fastcgi_param QUERY_STRING $query_string; "
       "fastcgi_param REQUEST_METHOD $request_method; fastcgi_param CONTENT_TYPE $content_type; "
       "fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def git(folder, *words):
    done = subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@shop.example", "-c", "init.defaultBranch=main", *words],
                          cwd=folder, capture_output=True, text=True, check=True,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)})
    return done.stdout.strip()


class Server:
    def __init__(self, folder, left, other):
        self.folder, self.port = folder, free_port()
        (folder / "repos").mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem",
                        "-out", folder / "cert.pem"], check=True, capture_output=True)
        secret = subprocess.run(["openssl", "passwd", "-apr1", "s3same"], capture_output=True, text=True, check=True).stdout
        (folder / "users").write_text("x-access-token:" + secret)
        backend = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
        serves = GIT.format(folder=folder, backend=backend + "/git-http-backend")
        (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, port=self.port, other=other or self.port, git=serves))
        for words in (["fcgiwrap", "-s", f"unix:{folder}/cgi.sock"], ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)]):
            process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
            left.callback(process.wait)
            left.callback(process.terminate)

    def url(self, path):
        return f"https://localhost:{self.port}/{path}"

    def log(self):
        return (self.folder / "access.log").read_text()

    def serve(self, path, work):
        target = self.folder / "repos" / path
        target.parent.mkdir(exist_ok=True, parents=True)
        git(work, "clone", "-q", "--bare", str(work), str(target))
        return target


@pytest.fixture
def servers(tmp_path, eventually):
    """start(other_port): one more server, which redirects /moved/ to that port."""
    with contextlib.ExitStack() as left:
        def start(other=None):
            folder = tmp_path / f"server{free_port()}"
            folder.mkdir()
            server = Server(folder, left, other)

            def listens():
                with socket.socket() as one:
                    return one.connect_ex(("127.0.0.1", server.port)) == 0 and (folder / "cgi.sock").exists()

            eventually(listens)
            return server

        yield start


@pytest.fixture
def work(tmp_path):
    """A repository with two commits on main, a branch, a tag and a symlink."""
    folder = tmp_path / "work"
    (folder / "k8s" / "more").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "k8s" / "app.yaml").write_text("a: 1\n")
    (folder / "k8s" / "more" / "b.yml").write_text("b: 1\n")
    (folder / "k8s" / "notes.txt").write_text("no template\n")
    (folder / "k8s" / "link.yaml").symlink_to("/etc/hostname")
    (folder / "secret.yaml").write_text("outside: true\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", "-a", "v1", "-m", "one")
    git(folder, "checkout", "-q", "-b", "next")
    (folder / "k8s" / "app.yaml").write_text("a: next\n")
    git(folder, "commit", "-qam", "next")
    git(folder, "checkout", "-q", "main")
    (folder / "k8s" / "app.yaml").write_text("a: 2\n")
    git(folder, "commit", "-qam", "second")
    return folder


@pytest.fixture
def read(build_dir, tmp_path):
    def run(url, ref="main", path="k8s", server=None, *options):
        roots = ["--roots", str(server.folder / "cert.pem")] if server else []
        done = subprocess.run([str(build_dir / "git_reader"), url, ref, path, "--folder", str(tmp_path / "copies"), *roots, *options],
                              capture_output=True, text=True, timeout=120)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


def test_branches_tags_and_commits_are_read(servers, work, read):
    server = servers()
    server.serve("public/shop.git", work)
    url = server.url("public/shop.git")
    assert read(url, "main", "k8s", server) == {"commit": git(work, "rev-parse", "main"), "files": {
        "app.yaml": "a: 2\n", "more/b.yml": "b: 1\n"}}
    assert read(url, "next", "k8s", server)["files"]["app.yaml"] == "a: next\n"
    assert read(url, "v1", "k8s", server) == {"commit": git(work, "rev-parse", "v1^{commit}"), "files": {
        "app.yaml": "a: 1\n", "more/b.yml": "b: 1\n"}}
    assert read(url, "main", "", server)["files"]["secret.yaml"] == "outside: true\n"

    # A commit that no reference names, from a server that does not give it by its id.
    first = git(work, "rev-parse", "main~1")
    assert read(url, first, "k8s/more", server, "--folder", str(work / "other")) == {"commit": first, "files": {"b.yml": "b: 1\n"}}
    assert read(url, "gone", "k8s", server) == {"error": "not_found",
                                                "message": "the repository has no branch, tag or commit 'gone'"}
    assert read(url, "main", "charts", server)["message"].endswith("has no folder 'charts'")
    assert read(url, "0" * 40, "k8s", server)["error"] == "not_found"


def test_what_is_known_is_not_fetched_again(servers, work, read):
    server = servers()
    bare = server.serve("public/shop.git", work)
    url = server.url("public/shop.git")
    before = read(url, "main", "k8s", server)
    assert server.log().count("/git-upload-pack ") == 1
    assert read(url, "main", "k8s", server) == before
    assert server.log().count("/git-upload-pack ") == 1
    asked = server.log()
    assert read(url, before["commit"], "k8s", server) == before
    assert server.log() == asked

    (work / "k8s" / "app.yaml").write_text("a: 3\n")
    git(work, "commit", "-qam", "third")
    git(work, "push", "-q", str(bare), "main")
    after = read(url, "main", "k8s", server)
    assert after["commit"] == git(work, "rev-parse", "main") != before["commit"] and after["files"]["app.yaml"] == "a: 3\n"
    assert server.log().count("/git-upload-pack ") == 2


def test_a_token_goes_to_its_host_alone_and_follows_no_redirect(servers, work, read):
    own = servers()
    other = servers(own.port)
    for server in (own, other):
        server.serve("private/shop.git", work)
        server.serve("public/shop.git", work)
    token = ["--token", f"localhost:{own.port}=s3same"]
    sent = base64.b64encode(b"x-access-token:s3same").decode()

    assert read(own.url("private/shop.git"), "main", "k8s", own)["message"].endswith("the server wants a credential")
    assert read(own.url("private/shop.git"), "main", "k8s", own, "--token", f"localhost:{own.port}=wrong")["message"].endswith(
        "the server refuses the credential")
    assert read(own.url("private/shop.git"), "main", "k8s", own, *token)["files"]["app.yaml"] == "a: 2\n"
    assert read(other.url("private/shop.git"), "main", "k8s", other, *token)["error"] == "denied"
    assert read(other.url("public/shop.git"), "main", "k8s", other, *token)["files"]["app.yaml"] == "a: 2\n"
    moved = read(other.url("moved/shop.git"), "main", "k8s", other, *token)
    assert moved["error"] == "denied" and moved["message"].endswith("the server redirects, which is not followed")
    assert f"[Basic {sent}]" in own.log()
    assert "Basic" not in other.log() and other.log().count(" [-]\n") == len(other.log().splitlines())
    assert read(f"https://x:y@localhost:{own.port}/public/shop.git", "main", "k8s", own)["error"] == "invalid"


@pytest.mark.parametrize("url", ["http://localhost/a.git", "file:///etc", "ssh://git@localhost/a.git", "git://localhost/a.git",
                                 "ext::sh -c id", "/etc", "https://localhost/a.git?x=1"])
def test_other_schemes_are_refused(read, url):
    assert read(url)["error"] == "invalid"


@pytest.mark.parametrize("path", ["/etc", "../..", "k8s/../../x", "a/../b"])
def test_a_path_stays_in_the_repository(read, path):
    assert read("https://localhost:1/a.git", "main", path)["error"] in ("denied", "invalid")


@pytest.mark.parametrize("ref", ["a b", "x:y", "refs/*", "..", "main^"])
def test_what_is_no_reference_is_refused(read, ref):
    assert "is no branch, tag or commit" in read("https://localhost:1/a.git", ref)["message"]


def test_a_repository_past_its_limits_is_not_kept(servers, work, read, tmp_path):
    server = servers()
    (work / "k8s" / "large.bin").write_bytes(os.urandom(3_000_000))
    git(work, "add", "-A")
    git(work, "commit", "-qm", "large")
    server.serve("public/shop.git", work)
    server.serve("public/other.git", work)
    url = server.url("public/shop.git")
    refused = read(url, "main", "k8s", server, "--most-bytes", "1000000")
    assert refused == {"error": "limit", "message": "the repository is larger than 1000000 bytes"}
    assert list((tmp_path / "copies").iterdir()) == []
    assert read(url, "main", "k8s", server)["files"]["app.yaml"] == "a: 2\n"
    assert len(list((tmp_path / "copies").iterdir())) == 1
    assert read(server.url("public/other.git"), "main", "k8s", server, "--most-kept", "4000000")["files"]
    assert len(list((tmp_path / "copies").iterdir())) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused(servers, work, read):
    server, other = servers(), servers()
    server.serve("public/shop.git", work)
    assert read(server.url("public/shop.git"), "main", "k8s", other)["error"] == "verification_failed"


def test_a_hostile_server_ends_in_an_error_in_time(servers, read, tmp_path):
    """One that sends garbage, one that is cut off, one that never ends."""
    key = servers()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(key.folder / "cert.pem", key.folder / "key.pem")
    kind = b"content-type: application/x-git-upload-pack-advertisement\r\n"
    answers = {b"garbage": b"HTTP/1.1 200 OK\r\n" + kind + b"content-length: 7\r\n\r\ngarbage",
               b"cut": b"HTTP/1.1 200 OK\r\n" + kind + b"content-length: 100\r\n\r\n001e# service=git",
               b"html": b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi", b"slow": b""}
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as one:
                    path = one.recv(4096).split(b" ")[1].split(b"/")[1]
                    one.sendall(answers[path])
                    if path == b"slow":
                        one.recv(1)

    threading.Thread(target=serve, daemon=True).start()
    url = f"https://localhost:{listener.getsockname()[1]}/"
    assert read(url + "garbage", "main", "", key)["error"] == "unavailable"
    assert read(url + "cut", "main", "", key)["error"] == "unavailable"
    assert read(url + "html", "main", "", key)["message"].endswith("this is no server of Git repositories")
    assert read(url + "slow", "main", "", key, "--timeout-ms", "300")["error"] == "timeout"
    listener.close()
