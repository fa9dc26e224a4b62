"""sluice deployer: the paths, bodies, tools and events of Light-Deployer over HTTP, against an API server."""

import base64
import contextlib
import http.client
import json
import os
import subprocess

from served import PETSTORE, Served


def test_a_deployment_is_accepted_goes_on_and_is_told(served, cluster):
    assert served.ask("GET", "/health", token=None) == (200, "ok")
    assert served.ask("GET", "/ready", token=None) == (200, "ok")
    status, body = served.ask("POST", "/deployments", served.request(action="deploy", requestId="r1"))
    assert status in (200, 202) and body["status"] in ("accepted", "deployed") and body["requestId"] == "r1"
    assert body["manifestHash"].startswith("sha256:") and len(body["resources"]) == 3
    done = served.ended("r1")
    assert done["status"] == "deployed" and done["snapshotId"] == "r1" and "error" not in done
    assert {each["state"] for each in done["resources"]} == {"ready"}
    status, body = served.ask("POST", "/deployments", served.request(action="status"))
    assert status == 200 and body["ready"] and body["status"] == "validated"
    status, body = served.ask("POST", "/deployments", served.request(action="undeploy", requestId="r2"))
    assert status in (200, 202)
    assert served.ended("r2")["status"] == "deleted" and cluster.names("deployments") == []
    status, body = served.ask("POST", "/deployments", served.request(action="status"))
    assert (status, body["action"], body["error"]["code"]) == (404, "status", "notFound")


def test_refusals_have_their_codes_before_anything_is_accepted(served, cluster):
    def asked(**more):
        status, body = served.ask("POST", "/deployments", served.request(**{"action": "deploy", **more}))
        return status, body["error"]["code"], body["error"]["message"]

    assert asked(clusterId="prod")[:2] == (409, "wrongCluster")
    assert asked(namespace="other")[:2] == (403, "policyDenied")
    status, code, message = asked(values={})
    assert (status, code) == (422, "renderFailed") and "`name`" in message and "`image.repository`" in message
    assert asked(template={"repoUrl": "local", "path": "../etc"})[:2] == (403, "policyDenied")
    assert asked(valuesHash="sha256:00")[:2] == (400, "invalid")
    assert asked(runtimeValues={"a": 1}, runtimeValuesHash="sha256:00")[:2] == (400, "invalid")
    assert asked(environment="none")[:2] == (400, "invalid")
    for wrong in ({"valuesRef": {"source": "a", "path": "b"}}, {"runtimeValuesRef": {"source": "a", "path": "b"}}, {"unknown": 1},
                  {"action": "scale"}, {"values": [1]}, {"options": {"timeoutSeconds": 0}}, {"requestId": "no label!"}):
        assert asked(**wrong)[:2] == (400, "invalid")
    body = served.ask("POST", "/deployments", served.request(action="deploy", requestId="x1", unknown=1))[1]
    assert (body["action"], body["requestId"], body["namespace"]) == ("deploy", "x1", "shop")
    assert served.ask("POST", "/deployments", "{\"a\": ")[0] == 400
    assert served.ask("POST", "/deployments", "x", headers={"Content-Type": "text/plain"})[0] == 415
    assert served.ask("GET", "/deployments/none")[0] == 404
    assert served.ask("POST", "/deployments/none/cancel")[0] == 404
    assert served.ask("GET", "/nothing")[0] == 404
    assert served.ask("GET", "/deployments")[0] == 405 and served.answer.getheader("Allow") == "POST"
    # Whatever is refused, this deployer says so, and of its own cluster.
    for refused in ({"clusterId": "prod"}, {"action": "scale"}, {"values": {}}):
        body = served.ask("POST", "/deployments", served.request(**{"action": "deploy", **refused}))[1]
        assert (body["deployerId"], body["clusterId"]) == ("local-light-deployer", "local")
    assert cluster.names("deployments") == []
    # Without a token nobody comes in, until the policy says so.
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 401
    assert served.ask("GET", "/mcp/tools", token="slt_wrong")[0] == 401
    served.deployer.policy(devInsecure=True)
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 200
    assert served.ask("GET", "/mcp/tools", token="slt_wrong")[0] == 401
    (served.deployer.folder / "deployer.yml").write_text("allowedNamespace: [shop]\n")
    status, text = served.ask("GET", "/ready", token=None)
    assert status == 503 and "allowedNamespace" in text
    assert served.ask("GET", "/mcp/tools", token=None)[0] == 200


def test_without_a_token_only_this_machine_comes_in(noop_deployer):
    """In a network of its own, whose loopback device has an address more: who comes from there is no neighbour."""
    noop_deployer.policy(devInsecure=True)
    script = """
      ip link set lo up && ip address add 192.0.2.7/32 dev lo
      "$SLUICE" deployer --listen 0.0.0.0:7088 --tls-own --tls-name 192.0.2.7 >"$HOME/deployer.log" 2>&1 & deployer=$!
      code() { curl -sk -o "$HOME/$1" -w '%{http_code}\n' --retry 40 --retry-connrefused --retry-delay 1 "$2/mcp/tools"; }
      code near https://127.0.0.1:7088
      code far https://192.0.2.7:7088
      kill $deployer; wait $deployer
    """
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    ran = subprocess.run(["unshare", "--net", *as_root, "sh", "-c", script], capture_output=True, text=True, timeout=120,
                         env={**noop_deployer.env, "SLUICE": str(noop_deployer.sluice), "HOME": str(noop_deployer.folder)})
    assert ran.stdout.split() == ["200", "401"], ran.stderr + (noop_deployer.folder / "deployer.log").read_text()
    assert json.loads((noop_deployer.folder / "near").read_text())["tools"]


def test_the_seven_tools_and_the_wire_of_mcp(served):
    names = ["deployment.render", "deployment.dryRun", "deployment.diff", "deployment.apply", "deployment.delete",
             "deployment.status", "deployment.rollback"]
    tools = served.rpc("tools/list")["result"]["tools"]
    assert [each["name"] for each in tools] == names
    assert len({json.dumps(each["inputSchema"], sort_keys=True) for each in tools}) >= 5
    assert [each["annotations"]["readOnlyHint"] for each in tools] == [True, True, True, False, False, True, False]
    # Whoever sends just what a schema has can send all that the action reads.
    has = {each["name"]: set(each["inputSchema"]["properties"]) for each in tools}
    assert all(each["inputSchema"]["additionalProperties"] is False for each in tools)
    assert {"valuesHash", "valuesSnapshotId", "runtimeValues", "runtimeValuesHash", "options"} <= has["deployment.apply"]
    assert "rollbackSnapshotId" in has["deployment.rollback"] and "rollbackSnapshotId" not in has["deployment.apply"]
    assert {each["name"] for each in tools if "template" in each["inputSchema"]["required"]} == {
        f"deployment.{name}" for name in ("render", "dryRun", "diff", "apply")}
    listed = served.ask("GET", "/mcp/tools/list")[1]["tools"]
    assert [each["endpoint"] for each in listed] == [f"/mcp/tools/{name}" for name in names]
    assert served.ask("GET", "/mcp/tools/deployment.scale")[0] == 404
    status, body = served.ask("POST", "/mcp/tools/deployment.render", served.request())
    assert status == 200 and body["status"] == "rendered" and len(body["resources"]) == 3
    refused = served.rpc("tools/call", name="deployment.render", arguments=served.request(namespace="other"))["result"]
    assert refused["isError"] and refused["structuredContent"]["error"]["code"] == "policyDenied"


def test_roles_of_the_environment_and_the_callers_of_the_policy_apply(served, cluster):
    deployer = served.deployer
    (deployer.folder / "access.yaml").write_text("""schema: sluice.access-policy.v1
grants:
  - {to: [user:ann, user:dan], role: deployer, environments: [local]}
  - {to: [user:bob], role: viewer, environments: [local]}
""")
    deployer.run("access", "policy", "apply", str(deployer.folder / "access.yaml"))
    deployer.run("env", "create", "staging")
    tokens = {name: deployer.run("access", "tokens", "create", name, "--for", f"user:{name}")["secret"]
              for name in ("ann", "bob", "dan", "eve")}

    def asked(who, action, **more):
        status, body = served.ask("POST", "/deployments", served.request(action=action, **more), token=tokens[who])
        return status, body.get("error", {}).get("code")

    assert asked("bob", "render") == asked("bob", "deploy", requestId="r0") == (403, "denied")
    assert asked("bob", "status") == (404, "notFound")
    assert asked("eve", "status") == (403, "denied")
    assert asked("ann", "deploy", environment="staging") == (403, "denied")
    assert asked("ann", "deploy", requestId="r1") in ((200, None), (202, None))
    assert served.ended("r1")["status"] == "deployed"
    assert served.ask("GET", "/deployments/r1", token=tokens["bob"])[0] == 200
    for path in ("/deployments/r1", "/events?request_id=r1"):
        assert served.ask("GET", path, token=tokens["eve"])[0] in (403, 404)
    assert served.ask("POST", "/deployments/r1/cancel", token=tokens["bob"])[0] == 403
    # A role in one environment shows nothing of another's instances.
    (deployer.folder / "access.yaml").write_text((deployer.folder / "access.yaml").read_text() +
                                                 "  - {to: [user:eve], role: deployer, environments: [staging]}\n")
    deployer.run("access", "policy", "apply", str(deployer.folder / "access.yaml"))
    for action in ("status", "diff", "dryRun", "render", "deploy", "undeploy", "rollback"):
        assert asked("eve", action, environment="staging", requestId=f"eve-{action}") == (403, "policyDenied"), action
    # The policy says who may name which host, whoever they are for Sluice.
    deployer.policy(hostId="", callers=[{"caller": "user:ann", "hostIds": ["h1"]}])
    assert asked("ann", "render", hostId="h1") == (200, None)
    assert asked("ann", "render", hostId="h2") == asked("dan", "render", hostId="h1") == (403, "policyDenied")
    assert served.ask("POST", "/deployments", served.request(action="render", hostId="h1"))[1]["error"]["code"] == "policyDenied"
    # So it does for requests that are under way.
    text = (deployer.templates / "deployment.yaml").read_text()
    deployer.write(**{"deployment.yaml": text.replace("  name: ${name}\nspec",
                                                      "  name: ${name}\n  annotations: {test.sluice.dev/status: never}\nspec")})
    assert asked("ann", "deploy", requestId="r2", hostId="h1", instanceId="other", values={
        "name": "other", "image": {"repository": "registry.example/acme/petstore"}}) == (202, None)
    refused = served.ask("POST", "/deployments/r2/cancel", token=tokens["dan"])
    assert (refused[0], refused[1]["error"]["code"]) == (403, "policyDenied")
    assert served.ask("POST", "/deployments/r2/cancel", token=tokens["ann"])[0] == 202
    assert served.ended("r2")["status"] == "cancelled"


def test_what_is_secret_is_found_nowhere(served, cluster):
    secrets = ["canary-" + os.urandom(12).hex() for _ in range(3)]
    secret = secrets[0]
    forms = [form for each in secrets for form in (each.encode(), base64.b64encode(each.encode()).rstrip(b"="))]
    served.deployer.only(**{
        "s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: \"${password}\"}\n",
        "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {url: \"https://u:${password}@x.example\"}\n"})
    values = {"password": {"$secret": secret}}
    wires = []
    cluster.fail(method="PATCH", path="/secrets/", status=422, count=1, body={
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid",
        "message": f"Secret is invalid: {secret} is no good"})
    for body in (served.request(action="render", values=values), served.request(action="diff", values=values),
                 served.request(action="deploy", values=values, requestId="r1"),
                 served.request(action="deploy", values=values, requestId="r2"),
                 served.request(action="diff", values=values), served.request(action="status")):
        wires.append(served.ask("POST", "/deployments", body))
        if body.get("requestId"):
            wires.append(served.ended(body["requestId"]))
            wires.append(served.ask("GET", f"/events?request_id={body['requestId']}"))
    assert "<REDACTED>" in json.dumps(wires) and cluster.get("secrets", "s")
    wires.append(served.rpc("tools/call", name="deployment.diff", arguments=served.request(values=values)))
    wires.append(served.deployer.run("cluster", "show", "r1"))
    # What is in the cluster from before is not shown beside what comes, also where no Secret says that it is one, and
    # where the request that brought it has failed.
    served.deployer.only(**{"c.yaml": (served.deployer.templates / "c.yaml").read_text()})
    for request, after in (("r3", secrets[1]), ("r4", secrets[2])):
        values = {"password": {"$secret": after}}
        wires.append(served.ask("POST", "/deployments", served.request(action="diff", values=values)))
        if request == "r4":
            cluster.fail(method="PATCH", path="/deployments/", status=422, count=1)
            served.deployer.write(**PETSTORE)
        wires.append(served.ask("POST", "/deployments", served.request(action="deploy", requestId=request, values={
            **served.request()["values"], **values}, options={"pruneOverride": True})))
        wires.append(served.ended(request))
        assert cluster.get("configmaps", "c")["data"]["url"] == f"https://u:{after}@x.example"
    assert wires[-1]["status"] == "failed"
    wires.append(served.ask("POST", "/deployments", served.request(action="diff", values={
        **served.request()["values"], "password": {"$secret": "nothing that was there"}})))
    wires.append(served.deployer.look("status"))
    served.stop()
    text = json.dumps(wires).encode()
    found = [form for form in forms if form in text]
    assert not found, "on a wire"
    assert (served.deployer.folder / "deployer.log").stat().st_size > 0
    for path in (*served.deployer.home.rglob("*"), served.deployer.folder / "deployer.log"):
        if path.is_file():
            held = path.read_bytes()
            assert not any(form in held for form in forms), path


def test_values_may_be_secrets_of_the_environment(served, cluster):
    deployer = served.deployer
    secret = "kept-" + os.urandom(12).hex()
    reference = "secret://local/petstore/DB_PASSWORD"

    def put(value):
        subprocess.run([deployer.sluice, "secrets", "put", "local", "petstore/DB_PASSWORD"], env=deployer.env, input=value + "\n",
                       text=True, check=True, capture_output=True, timeout=60)

    deployer.only(**{
        "s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: \"${password}\"}\n",
        "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {url: \"https://u:${password}@x.example\"}\n"})
    wires = []

    def asked(action, value=reference, **more):
        wires.append(served.ask("POST", "/deployments", served.request(action=action, values={"password": value}, **more)))
        return wires[-1]

    status, body = asked("deploy", requestId="r1")
    assert (status, body["error"]["code"]) == (422, "renderFailed")
    assert "there is no secret petstore/DB_PASSWORD in local" in body["error"]["message"]
    for wrong in ("secret://staging/petstore/DB_PASSWORD", "secret://nonsense"):
        assert asked("deploy", wrong)[1]["error"]["code"] == "invalid"
    put(secret)
    assert asked("diff")[1]["diff"]["added"] == 2
    asked("deploy", requestId="r2")
    wires.append(served.ended("r2"))
    assert wires[-1]["status"] == "deployed", wires[-1]
    assert cluster.get("configmaps", "c")["data"]["url"] == f"https://u:{secret}@x.example"
    assert base64.b64decode(cluster.get("secrets", "s")["data"]["key"]).decode() == secret
    shown = asked("diff")[1]["diff"]
    assert (shown["unchanged"], shown["unifiedDiff"]) == (2, "")
    # Another value is used by the next deployment, and the one before by a rollback.
    put(secret + "-newer")
    asked("deploy", requestId="r3")
    assert served.ended("r3")["status"] == "deployed"
    assert cluster.get("configmaps", "c")["data"]["url"] == f"https://u:{secret}-newer@x.example"
    served.ask("POST", "/deployments", served.request(action="rollback", requestId="r4"))
    assert served.ended("r4")["status"] == "rolledBack"
    assert cluster.get("configmaps", "c")["data"]["url"] == f"https://u:{secret}@x.example"
    wires.append(served.ask("GET", "/events?request_id=r3"))
    wires.append(deployer.run("audit", "list"))
    assert "petstore/DB_PASSWORD" in json.dumps(wires[-1])
    # What is killed between reading the secret and using it reads it again.
    cluster.fail(kill=served.process.pid, after=1)
    with contextlib.suppress(OSError, http.client.HTTPException):
        asked("deploy", requestId="r5")
    served.process.wait(60)
    again = Served(deployer)
    try:
        wires.append(again.ended("r5"))
        assert wires[-1]["status"] == "deployed", wires[-1]
        assert cluster.get("configmaps", "c")["data"]["url"] == f"https://u:{secret}-newer@x.example"
    finally:
        again.stop()
    held = json.dumps(wires).encode() + b"".join(
        path.read_bytes() for path in (*deployer.home.rglob("*"), deployer.folder / "deployer.log") if path.is_file())
    assert secret.encode() not in held and base64.b64encode(secret.encode()).rstrip(b"=") not in held


def test_an_agent_goes_the_whole_way(served, root):
    """The official client judges every message, and structured content by the tool's own schema."""
    node = subprocess.Popen(["node", str(root / "tests/mcp/session.mjs"), json.dumps({
        "client": "sdk", "url": f"http://127.0.0.1:{served.port}/mcp",
        "headers": {"Authorization": f"Bearer {served.token}"}})], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(**step):
        node.stdin.write(json.dumps(step) + "\n")
        node.stdin.flush()
        return json.loads(node.stdout.readline())

    try:
        assert "ok" in do(do="connect")
        assert len(do(do="tools")["ok"]["tools"]) == 7  # from now on the client judges what they answer
        for name, status, more in (("render", "rendered", {}), ("dryRun", "validated", {}), ("diff", "validated", {}),
                                   ("apply", "deployed", {"requestId": "r1"}), ("status", "validated", {}),
                                   ("apply", "deployed", {"requestId": "r2", "values": {
                                       "name": "petstore", "log": {"level": "debug"},
                                       "image": {"repository": "registry.example/acme/petstore"}}}),
                                   ("rollback", "rolledBack", {"requestId": "r3"}),
                                   ("delete", "deleted", {"requestId": "r4"})):
            answer = do(do="call", name=f"deployment.{name}", arguments=served.request(**more), progress=True)
            assert "ok" in answer and not answer["ok"].get("isError"), answer
            assert answer["ok"]["progress"], name
            content = answer["ok"]["structuredContent"]
            if "requestId" in more:
                content = served.ended(more["requestId"])
            assert content["status"] == status, content
        assert do(do="strays")["ok"] == []
    finally:
        node.kill()
        node.wait()
