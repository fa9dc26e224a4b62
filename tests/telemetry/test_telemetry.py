"""Telemetry end to end: markers reach their backends, programs are told where to send, and Prometheus reads the control
plane and judges a rollout."""

import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

import pytest
from backend import Backend
from counted import Exported, Prometheus
from shop import version_of_shop
from up_home import get


@pytest.fixture(scope="session")
def otlp(root, tmp_path_factory):
    """The official definitions of OTLP, from npm: says whether they have a message."""
    folder = tmp_path_factory.mktemp("otlp")
    for name in ["package.json", "package-lock.json", "check.cjs"]:
        shutil.copy(root / "tests/telemetry/otlp" / name, folder)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True,
                          text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr

    def check(kind, message):
        said = subprocess.run(["node", "check.cjs", kind], input=json.dumps(message), cwd=folder, capture_output=True,
                              text=True, timeout=120, check=False)
        return said.stdout.strip() or said.stderr

    return check


def two_versions(home):
    """shop@1 has all traffic, shop@2 is warm: the URL."""
    url = home.up(version_of_shop(home, 1))["urls"][0]
    home.up(version_of_shop(home, 2), "--share", "1%")
    home.run("traffic", "set", "local", "shop@1=100%")
    return url


def rollout_id(home):
    return home.data("rollout", "status")["rollout"]


def test_a_rollout_is_marked_in_every_backend_in_its_own_words(home, otlp, eventually):
    two_versions(home)
    (home.folder / "token").write_text("glsa_example\n")
    with Backend() as collector, Backend() as grafana, Backend() as datadog:
        collector.status = 503
        for provider, backend in ("otlp", collector), ("grafana", grafana), ("datadog", datadog):
            key = [] if provider == "otlp" else ["--key", f"file:{home.folder}/token"]
            home.run("telemetry", "configure", "--provider", provider, "--endpoint", backend.url, *key)
        home.run("rollout", "start", "local", "shop@2", "--strategy", "immediate", "--wait", "--timeout", "60s")
        eventually(lambda: len(grafana.requests) == 2 and len(datadog.requests) == 2)
        eventually(lambda: all(each["trouble"] for each in home.data("telemetry", "markers")))
        assert "it answered 503" in home.data("telemetry", "markers")[0]["trouble"]
        collector.status = 200
        eventually(lambda: all(each["sent_at"] for each in home.data("telemetry", "markers")))
    assert [each["status"] for each in home.data("telemetry", "markers")] == ["completed", "started"]
    assert len(grafana.requests) == 2 and len(datadog.requests) == 2, "who has a marker does not get it again"
    for path, headers, body in grafana.requests:
        assert path == "/api/annotations" and headers["Authorization"] == "Bearer glsa_example"
        assert {"time", "tags", "text"} == set(body) and isinstance(body["time"], int)
        assert {"kit:shop", "version:2.0.0", "env:local", "strategy:immediate"} <= set(body["tags"])
    for path, headers, body in datadog.requests:
        assert path == "/api/v1/events" and headers["DD-API-KEY"] == "glsa_example"
        assert body["alert_type"] in ("info", "success") and 0 < body["date_happened"] < 1 << 33
    assert sorted(body["title"] for _, _, body in datadog.requests) == ["shop 2.0.0 completed", "shop 2.0.0 started"]
    logs = [body for path, _, body in collector.requests if path == "/v1/logs"]
    for body in logs:
        assert otlp("logs", body) == "valid"
    assert "do not have" in otlp("logs", {**logs[0], "surplus": 1}), "the check can say no"


def test_what_was_done_is_a_trace(home, otlp, eventually):
    two_versions(home)
    with Backend() as collector:
        home.run("telemetry", "configure", "--endpoint", collector.url)
        home.run("rollout", "start", "local", "shop@2", "--strategy", "immediate", "--wait", "--timeout", "60s")

        def spans():
            return [span for path, _, body in list(collector.requests) if path == "/v1/traces"
                    for resource in body["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]]

        eventually(lambda: {"Rollout/begin", "sync ShiftTraffic", "Router/publish"} <= {each["name"] for each in spans()})
        (root,) = [each for each in spans() if each["name"] == "Rollout/begin" and "parentSpanId" not in each]
        beneath = {each["spanId"] for each in spans() if each["traceId"] == root["traceId"]}
        assert all(each.get("parentSpanId", root["spanId"]) in beneath for each in spans()
                   if each["traceId"] == root["traceId"])
        for body in [body for path, _, body in collector.requests if path == "/v1/traces"]:
            assert otlp("trace", body) == "valid"


def test_each_switch_of_tracing_switches_spans(home, otlp, eventually):
    url = two_versions(home)
    home.run("config", "set", "local", "access_log_share=100%")
    client = "4bf92f3577b34da6a3ce929d0e0e4736"

    def ask():
        asked = urllib.request.Request(url, headers={"traceparent": f"00-{client}-00f067aa0ba902b7-01"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            answer.read()

    def traced(*options):
        """The names of a rollout's spans, and the traces of requests, with these options."""
        with Backend() as collector:
            home.run("telemetry", "configure", "--endpoint", collector.url, *options)
            (config,) = home.data("telemetry", "list")
            assert config["endpoint"] == collector.url
            home.run("rollout", "start", "local", "shop@2", "--strategy", "immediate", "--wait", "--timeout", "60s")

            def spans():
                return [span for path, _, body in list(collector.requests) if path == "/v1/traces"
                        for resource in body["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]]

            def rollout():
                return [each for each in spans() if each["name"] == "Rollout/begin" and "parentSpanId" not in each]

            def both():
                ask()
                return rollout() and [each for each in spans() if each["kind"] == 2]

            eventually(both)
            home.run("traffic", "set", "local", "shop@1=100%")
            names = [each["name"] for each in spans() if each["traceId"] == rollout()[0]["traceId"]]
            traces = {each["traceId"] for each in spans() if each["kind"] == 2}
            bodies = [body for path, _, body in collector.requests if path == "/v1/traces"]
            merged = {"resourceSpans": [each for body in bodies for each in body["resourceSpans"]]}
            assert otlp("trace", merged) == "valid"
            return names, traces

    names, traces = traced()
    assert "Router/publish" in names and "sync ShiftTraffic" in names and client in traces
    names, traces = traced("--concept-spans", "off")
    assert names.count("Rollout/begin") == 1 and "Router/publish" not in names and "sync ShiftTraffic" in names
    names, traces = traced("--sync-spans", "off")
    assert "Router/publish" in names and not [each for each in names if each.startswith("sync ")]
    assert client in traces
    names, traces = traced("--concept-spans", "off", "--sync-spans", "off", "--propagation", "none")
    assert names == ["Rollout/begin"] and client not in traces and traces


def test_a_manifest_says_where_telemetry_goes_and_which_spans_there_are(home, eventually):
    folder = home.copy("diamond", "app")
    manifest = folder / "app.deploy.yaml"
    components = manifest.read_text()
    (folder / "web" / "app.py").write_text((folder / "web" / "app.py").read_text()
                                           + "\nimport os\nprint(os.environ)\n")
    with Backend() as collector, Backend() as grafana:
        def names():
            return {span["name"] for path, _, body in list(collector.requests) if path == "/v1/traces"
                    for resource in body["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]}

        def observed(sampling, concept_spans):
            manifest.write_text(components + f"""
observability:
  provider: otlp
  endpoint: {collector.url}
  samplingRate: {sampling}
  deployMarkers: {{backends: [{{type: grafana, endpoint: {grafana.url}}}]}}
  tracing: {{propagation: none, conceptSpans: {concept_spans}, syncSpans: false}}
""")

        observed(0.25, "true")
        assert "+ observability" in home.run("deploy", "plan", folder).stdout
        home.run("deploy", folder, "--yes")
        (web,) = [each for each in home.data("runtime", "list") if each["name"].startswith("web@")]
        pid = web["replicas"][0]["pid"]
        with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
            variables = dict(each.split("=", 1) for each in file.read().split("\0") if each)
        assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == collector.url
        assert variables["OTEL_TRACES_SAMPLER_ARG"] == "0.25" and variables["OTEL_PROPAGATORS"] == "none"
        eventually(lambda: "DeployPlan/execute" in names() and "Runtime/deploy" in names(), names)
        assert not [each for each in names() if each.startswith("sync ")]
        eventually(lambda: len(grafana.requests) == 2, lambda: grafana.requests)

        # Telemetry alone may change; it is a plan without nodes.
        collector.requests.clear()
        observed(0.5, "false")
        assert "sampling" in home.run("deploy", "plan", folder, "--exit-code", code=3).stdout
        home.run("deploy", folder, "--yes")
        assert {each["sampling_rate"] for each in home.data("telemetry", "list") if each["provider"] == "otlp"} == {0.5}
        assert "nothing changes" in home.run("deploy", folder, "--yes").stderr
        collector.requests.clear()
        home.run("env", "create", "staging")
        home.run("config", "set", "local", "access_log_share=50%")
        eventually(lambda: "Config/set" in names(), names)
        assert "Env/create" not in names(), "it is about another environment than the manifest's"
        home.change(folder / "web", "1.1.0")
        home.run("deploy", folder, "--yes")
        home.run("rollback", "--yes")
        eventually(lambda: "DeployPlan/rollback" in names(), names)
        assert "Runtime/destroy" not in names(), "no action within a flow is a span of its own"

        home.change(folder / "web", "1.2.0")
        manifest.write_text(components + "observability: {endpoint: nowhere.example}\n")
        refused = home.run("deploy", folder, "--yes", code=1)
        assert "an endpoint is an http:// or https:// URL" in refused.stderr
        assert len(home.data("telemetry", "list")) == 2, "nothing was changed"
        manifest.write_text(components)
        home.run("deploy", folder, "--yes")
        assert home.data("telemetry", "list") == []


def test_requests_and_what_was_counted_of_them_are_exported(home, otlp, eventually):
    url = two_versions(home)
    (home.folder / "token").write_text("otlp_example\n")
    with Backend() as collector:
        home.run("telemetry", "configure", "--endpoint", collector.url, "--sampling", "1",
                 "--key", f"file:{home.folder}/token")
        home.run("config", "set", "local", "access_log_share=100%")

        def sent(path):
            return [body for each, _, body in list(collector.requests) if each == path]

        def spans():
            return [(resource, span) for body in sent("/v1/traces") for resource in body["resourceSpans"]
                    for span in resource["scopeSpans"][0]["spans"] if span.get("kind") == 2]

        def metrics(name):
            return [(resource, metric) for body in sent("/v1/metrics") for resource in body["resourceMetrics"]
                    for metric in resource["scopeMetrics"][0]["metrics"] if metric["name"] == name]

        def asked():
            get(url)
            return spans() and metrics("http.server.request.duration") and metrics("sluice_deployments")

        eventually(asked)
        resource, span = spans()[0]
        about = {each["key"]: each["value"]["stringValue"] for each in resource["resource"]["attributes"]}
        assert about["service.name"] == "shop" and about["deployment.environment.name"] == "local"
        assert about["service.version"] == "1.0.0" and about["sluice.revision"]
        ids = {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}
        assert ids["sluice.customer"] == "local-dev" and int(ids["sluice.generation"]) > 0
        assert {headers.get("Authorization") for _, headers, _ in collector.requests} == {"Bearer otlp_example"}
        assert span["name"] == "GET" and int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        point = metrics("sluice.requests")[-1][1]["sum"]["dataPoints"][0]
        assert point["asDouble"] >= 1
        for body in sent("/v1/metrics"):
            assert otlp("metrics", body) == "valid"
        for body in [body for body in sent("/v1/traces") if '"kind": 2' in json.dumps(body)]:
            assert otlp("trace", body) == "valid"


def test_what_happens_is_logged_with_its_ids_and_in_its_trace(home, otlp, eventually):
    two_versions(home)
    with Backend() as collector:
        home.run("telemetry", "configure", "--endpoint", collector.url)
        home.run("rollout", "start", "local", "shop@2", "--strategy", "immediate", "--wait", "--timeout", "60s")

        def records():
            found = {}
            for path, _, body in list(collector.requests):
                for record in body["resourceLogs"][0]["scopeLogs"][0]["logRecords"] if path == "/v1/logs" else []:
                    about = {each["key"]: each["value"]["stringValue"] for each in record["attributes"]}
                    found[about["event.name"]] = (record, about)
            return found

        def traces():
            return {span["traceId"] for path, _, body in list(collector.requests) if path == "/v1/traces"
                    for resource in body["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]}

        wanted = {"deployment.started", "rollout.started", "rollout.advanced", "rollout.completed", "deployment.completed"}
        eventually(lambda: wanted <= set(records()), records)
        record, about = records()["rollout.started"]
        assert about["deployment.environment.name"] == "local" and about["sluice.rollout"] == rollout_id(home)
        assert about["sluice.action"] == "Rollout/begin" and about["sluice.variant"] == "ok"
        assert record["body"]["stringValue"] == "Traffic begins to move to a revision"
        eventually(lambda: record["traceId"] in traces())
        for path, _, body in collector.requests:
            if path == "/v1/logs":
                assert otlp("logs", body) == "valid"


def test_programs_are_told_where_their_telemetry_goes(home):
    home.run("telemetry", "configure", "--endpoint", "http://otel.example:4318", "--sampling", "0.1")
    home.up(version_of_shop(home, 1))
    told = dict(line.split("=", 1) for line in home.run("exec", "shop@1", "env").stdout.splitlines() if "=" in line)
    assert told["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://otel.example:4318"
    assert told["OTEL_SERVICE_NAME"] == "shop" and told["OTEL_TRACES_SAMPLER_ARG"] == "0.1"
    assert "service.version=1.0.0" in told["OTEL_RESOURCE_ATTRIBUTES"].split(",")


def test_a_rollout_is_judged_on_what_prometheus_counts(home, eventually, tmp_path):
    url = two_versions(home)
    revisions = sorted(home.data("revisions", "list", "local"), key=lambda each: each["sequence"])
    ids = [each["revision_id"] for each in revisions]
    with Exported(ids) as exported, Prometheus(tmp_path, [exported.port]) as prometheus:
        exported.failing = 0.1
        eventually(lambda: len(prometheus.ask("shop_requests_total")) == 4)
        (home.folder / "criteria.yaml").write_text(prometheus.criteria())
        done = home.run("rollout", "start", "local", "shop@2", "--steps", "20%:100s", "--criteria", "criteria.yaml",
                        "--wait", "--timeout", "110s", code=9)
        assert "shop@2 fails 10 % of requests, shop@1 0 %" in done.stderr
    # It is gone: nobody can judge, so traffic stays where it is and people are asked.
    home.run("rollout", "retry")
    done = home.run("rollout", "status", "--wait", "--timeout", "110s", code=7)
    assert f"{prometheus.url} has given no counts for 30 s" in home.data("rollout", "status")["reason"]
    home.run("rollout", "abort")
    assert get(url) == (200, "1")


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the home's socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


def test_prometheus_reads_the_control_plane(home):
    two_versions(home)
    connection = UnixConnection(home.data("status")["socket"])
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200 and answer.getheader("Content-Type").startswith("text/plain; version=0.0.4")
    assert 'sluice_revisions{environment="local",lifecycle="ready"} 2' in text.splitlines()
    assert 'sluice_routers{environment="local",obeys="true"} 1' in text.splitlines()
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60,
                             check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_when_no_replica_answers_traffic_goes_to_a_revision_that_does(home):
    url = two_versions(home)
    (pid,) = [each["replicas"][0]["pid"] for each in home.data("runtime", "list") if each["name"] == "shop@1"]
    subprocess.run(["kill", "-STOP", str(pid)], check=True)
    deadline = time.monotonic() + 240
    while {each["sequence"]: each["lifecycle"] for each in home.data("revisions", "list", "local")}[1] != "failed":
        assert time.monotonic() < deadline, home.run("why", "shop").stdout
        time.sleep(0.2)
    assert get(url) == (200, "2")
    assert "its traffic went to shop@2" in home.run("why", "shop@1").stdout
    home.run("health", "check", "shop")


def test_a_pack_can_be_asked_for_the_counts_of_a_rollout(home):
    two_versions(home)
    home.run("env-packs", "install", home.root / "examples/packs/telemetry-file")
    data = home.home / "pack-data/acme.telemetry.file"
    data.mkdir(parents=True, exist_ok=True)
    criteria = home.folder / "criteria.yaml"
    criteria.write_text("interval: 1\nwarmUp: 0\nsettle: 0\nsource: {type: pack, pack: acme.telemetry.file@1.0.0}\n")
    ending = threading.Event()

    def count():
        while not ending.wait(0.2):
            with (data / "requests.jsonl").open("a") as file:
                for name, failed in ("shop@1", 0), ("shop@2", 25):
                    file.write(json.dumps({"name": name, "requests": 250, "failed": failed}) + "\n")

    counting = threading.Thread(target=count)
    counting.start()
    try:
        done = home.run("rollout", "start", "local", "shop@2", "--steps", "50%:100s", "--criteria", criteria, "--wait",
                        "--timeout", "60s", code=9)
    finally:
        ending.set()
        counting.join()
    assert "shop@2 fails 10 % of requests, shop@1 0 %" in done.stderr
