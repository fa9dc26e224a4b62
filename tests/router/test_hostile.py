"""Requests as files. Each of hostile/ gets 400 and a closed connection, and the upstream behind the router sees not one
byte; each of valid/ passes, and arrives as HAProxy and nginx would pass it on. index.txt beside them says what each is
for; in valid/ also where a peer does otherwise: [nginx 405] is its answer, [haproxy keeps X-Own] what it passes on
differently."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import router_process
import upstreams
import wire
from router_process import deployment, revision, table

HERE = Path(__file__).parent
ANY_HOST = {"hosts": ()}

# Fields that belong to one connection, or that a proxy adds.
OWN = {"connection", "keep-alive", "proxy-connection", "te", "upgrade", "transfer-encoding", "content-length", "expect",
       "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "x-real-ip", "forwarded",
       "traceparent"}


def index(folder):
    """The reasons by file name."""
    lines = (HERE / folder / "index.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def names(folder):
    return sorted(path.stem for path in (HERE / folder).glob("*.http"))


@pytest.fixture(scope="module")
def recorder():
    one = upstreams.Upstream()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def guarded(sluice, recorder, tmp_path_factory):
    """A router before the recorder, for any host."""
    one = router_process.Router(sluice, tmp_path_factory.mktemp("guarded"))
    one.start(table(deployment(revision("r1", 10000, recorder.address), **ANY_HOST)), "--threads", "1")
    yield one
    one.stop()


@pytest.mark.parametrize("folder, least", [("hostile", 150), ("valid", 60)])
def test_each_request_has_its_reason(folder, least):
    assert names(folder) == sorted(index(folder))
    assert len(names(folder)) >= least
    contents = [(HERE / folder / f"{name}.http").read_bytes() for name in names(folder)]
    assert len(set(contents)) == len(contents), "two files are the same"


@pytest.mark.parametrize("name", names("hostile"))
def test_a_hostile_request_is_refused_and_goes_nowhere(guarded, recorder, name):
    recorder.forget()
    came = wire.exchange(guarded.endpoint, (HERE / "hostile" / f"{name}.http").read_bytes())
    assert came.startswith(b"HTTP/1.1 400 "), came[:200]
    head, _, body = came.partition(b"\r\n\r\n")
    assert f"\r\ncontent-length: {len(body)}\r\n" in (head.decode("latin-1") + "\r\n").lower(), "more than one answer"
    assert recorder.bytes == 0, recorder.raw
    # Nothing is on its way, either: what comes next is the first that the upstream sees.
    assert wire.ask(guarded.endpoint, target="/next").status == 200
    assert [request.target for request in recorder.requests] == ["/next"]


@pytest.mark.parametrize("name", [name for name in names("hostile")
                                  if (HERE / "hostile" / f"{name}.http").stat().st_size < 1500])
def test_a_hostile_request_in_single_bytes_smuggles_nothing(guarded, recorder, name):
    """In pieces the head may have gone upstream before the fault is seen; what is hidden behind it may not."""
    recorder.forget()
    came = b""
    with wire.connect(guarded.endpoint) as sock:
        try:
            for byte in (HERE / "hostile" / f"{name}.http").read_bytes():
                sock.sendall(bytes([byte]))
        except ConnectionError:
            pass
        try:
            while piece := sock.recv(1 << 16):
                came += piece
        except ConnectionError:
            pass
    assert came == b"" or came.startswith(b"HTTP/1.1 400 "), came[:200]
    assert came.count(b"HTTP/1.1 ") <= 1
    assert b"smuggled" not in b"".join(recorder.raw) and recorder.requests == []


# --- valid -----------------------------------------------------------------------------------------------------------


def passed_on(requests, arrived=False):
    """What a proxy must keep of requests: everything but what is of a connection, or its own. Of those that have arrived
    nothing is overlooked that Connection names."""
    kept = []
    for one in requests:
        dropped = OWN if arrived else OWN | {option.strip().lower() for value in one.all("Connection") for option in value.split(",")}
        fields = {}
        for name, value in one.headers:
            if name.lower() not in dropped and (arrived or "_" not in name):  # which CGI takes for a dash
                fields.setdefault(name.lower(), []).append(value)
        # Several Cookie fields are one with semicolons, and Host has no capitals that count.
        if "cookie" in fields:
            fields["cookie"] = ["; ".join(fields["cookie"])]
        fields["host"] = [fields["host"][0].lower()]
        kept.append({"method": one.method, "target": re.sub(r"^(?i:http)://[^/?]*", "", one.target), "body": one.body,
                     "trailers": sorted((name.lower(), value) for name, value in one.trailers), "fields": fields})
        if not kept[-1]["target"].startswith(("/", "*")):
            kept[-1]["target"] = "/" + kept[-1]["target"]
    return kept


def answers(endpoint, data, requests):
    """The answers to the requests of a file, on one connection."""
    with wire.Client(endpoint) as client:
        client.send(data)
        return [client.answer(one.method) for one in requests]


@pytest.mark.parametrize("name", names("valid"))
def test_a_valid_request_passes_as_it_is(guarded, recorder, name):
    recorder.forget()
    data = (HERE / "valid" / f"{name}.http").read_bytes()
    sent = wire.requests_of(data)
    assert [one.status for one in answers(guarded.endpoint, data, sent)] == [200] * len(sent)
    arrived = recorder.requests
    assert passed_on(arrived, arrived=True) == passed_on(sent)
    for one in arrived:
        assert one.line.endswith(" HTTP/1.1")
        assert one.get("X-Forwarded-For") == "127.0.0.1" and one.get("X-Forwarded-Proto") == "http"
        assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", one.get("traceparent"))
        assert one.get("Keep-Alive") is None and one.get("Proxy-Connection") is None


HAPROXY = """
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend in
  bind unix@{folder}/haproxy.sock
  default_backend out
backend out
  server one {upstream}
"""

NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  merge_slashes off;
  underscores_in_headers on;
  upstream out {{ server {upstream}; keepalive 4; }}
  server {{
    listen unix:{folder}/nginx.sock;
    location / {{
      proxy_pass http://out;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
    }}
  }}
}}
"""


@pytest.fixture(scope="module")
def peers(tmp_path_factory, eventually):
    """HAProxy and nginx, each before a recorder of its own."""
    folder = tmp_path_factory.mktemp("peers")
    running, found = [], {}
    for name, text, words in [("haproxy", HAPROXY, ["haproxy", "-db", "-f"]), ("nginx", NGINX, ["nginx", "-c"])]:
        program = shutil.which(words[0], path="/usr/sbin:/usr/bin:/sbin:/bin")
        assert program, f"{name} is missing: ./dev test installs it"
        behind = upstreams.Upstream()
        (folder / f"{name}.conf").write_text(text.format(folder=folder, upstream=behind.address.removeprefix("tcp:")))
        log = open(folder / f"{name}.out", "w")
        running.append((subprocess.Popen([program, *words[1:], str(folder / f"{name}.conf")], stdout=log, stderr=log), log, behind))
        socket = folder / f"{name}.sock"
        eventually(socket.exists, lambda: f"{name} did not start: {(folder / f'{name}.out').read_text()}")
        found[name] = (f"unix:{socket}", behind)
    yield found
    for process, log, behind in running:
        process.terminate()
        process.wait(timeout=60)
        log.close()
        behind.stop()


@pytest.mark.parametrize("name", names("valid"))
@pytest.mark.parametrize("peer", ["haproxy", "nginx"])
def test_a_peer_passes_on_the_same(peers, peer, name):
    """What the router passes on is what the test above says; here the peers agree, or the index says how they do not."""
    endpoint, behind = peers[peer]
    behind.forget()
    data = (HERE / "valid" / f"{name}.http").read_bytes()
    sent = wire.requests_of(data)
    otherwise = dict(re.findall(r"\[(haproxy|nginx) ([^\]]*)\]", index("valid")[name])).get(peer)
    try:
        statuses = [one.status for one in answers(endpoint, data, sent)]
    except wire.Ended as ended:
        statuses = [str(ended)]
    if otherwise and otherwise.isdigit():
        assert int(otherwise) in statuses
    elif otherwise:
        assert passed_on(behind.requests) != passed_on(sent) or statuses != [200] * len(sent)
    else:
        assert statuses == [200] * len(sent)
        assert passed_on(behind.requests) == passed_on(sent)
