"""The description of the API: every action and view is in it, every reference leads somewhere, and what the server says
fits what it describes."""

import concurrent.futures
import http.client
import json

import jsonschema
import pytest

from test_access import Server


@pytest.fixture(scope="module")
def server(sluice, root, tmp_path_factory, eventually):
    one = Server(sluice, root, tmp_path_factory.mktemp("openapi"))
    one.start()
    try:
        one.wait(eventually)
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="module")
def document(server):
    status, document = server.request("owner", "GET", "/v1/openapi.json")
    assert status == 200
    return document


def walk(value):
    yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(each)


def test_every_reference_leads_somewhere(document):
    assert document["openapi"] == "3.1.0"
    seen = 0
    for each in walk(document):
        if not isinstance(each, dict) or not isinstance(each.get("$ref"), str):
            continue
        at = document
        for word in each["$ref"].removeprefix("#/").split("/"):
            at = at[word]
        seen += 1
    assert seen > 300


def test_every_action_that_can_be_called_and_every_view_is_described(server, document):
    for concept in server.ok("kit", "show", "--kit", "deploy")["concepts"]:
        name = concept["name"] if isinstance(concept, dict) else concept
        for action in server.ok("kit", "show", "--kit", "deploy", name)["actions"]:
            path = f"/v1/actions/{name}/{action['name']}"
            assert (path in document["paths"]) == (action["callers"] == "anyone"), path
    for view in server.request("owner", "GET", "/v1/views")[1]["views"]:
        assert f"/v1/views/{view['name']}" in document["paths"]
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))


def test_every_example_fits_its_schema_and_every_action_has_one(document):
    components = {"components": document["components"]}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            media = list(operation.get("requestBody", {}).get("content", {}).values())
            assert not path.startswith("/v1/actions/") or (media and "example" in media[0]), path
            for answer in operation["responses"].values():
                media += answer.get("content", {}).values()
            media += [each for each in operation["parameters"] if "$ref" not in each]
            for each in media:
                if "example" in each:
                    jsonschema.Draft202012Validator({**components, **each["schema"]}).validate(each["example"])
            if path.startswith("/v1/views/"):
                assert "example" in operation["responses"]["200"]["content"]["application/json"], path


def test_what_a_request_takes_beside_its_path_is_described(document):
    names = lambda operation: [each["name"] for each in operation["parameters"] if "$ref" not in each]
    assert names(document["paths"]["/v1/events"]["get"])[:2] == ["types", "environment"]
    assert names(document["paths"]["/v1/blobs/{digest}"]["patch"]) == ["digest", "reason", "Upload-Offset", "Upload-Complete"]
    assert "application/octet-stream" in document["paths"]["/v1/blobs/{digest}"]["put"]["requestBody"]["content"]
    told = document["paths"]["/v1/login"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(told["properties"]) == {"token", "code"}


def test_what_the_engine_fills_in_is_not_asked_for(document):
    body = document["paths"]["/v1/actions/Traffic/set"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    name = body["properties"]["input"]["$ref"].rsplit("/", 1)[1]
    assert set(document["components"]["schemas"][name]["properties"]) == {"deployment", "entries"}
    assert document["paths"]["/v1/actions/Traffic/set"]["post"]["x-sluice-codes"]["notReady"] == "conflict"


def test_a_stale_if_match_is_412_with_both_generations(server):
    assert server.act("owner", "Env/create", environment="tagged")[0] == 200
    update = lambda name, tag: server.request("owner", "POST", "/v1/actions/Env/update",
                                              {"input": {"environment": "tagged", "name": name}}, **{"If-Match": tag})
    status, answer = update("One", '"1"')
    assert status == 200
    assert server.headers["ETag"] == f'"{answer["generation"]}"'
    status, problem = update("Two", '"1"')
    assert (status, problem["status"], problem["code"]) == (412, 412, "conflict")
    assert (problem["fields"]["expected"], problem["fields"]["actual"]) == (1, 2)
    assert update("Two", "one")[0] == 400


def test_a_repeated_call_under_a_key_is_answered_the_same(server):
    call = lambda count: server.request("owner", "POST", "/v1/actions/Env/create", {"input": {"environment": count}},
                                        **{"Idempotency-Key": "make-it"})
    first, second = call("keyed"), call("keyed")
    assert first == second and first[0] == 200
    assert first[1]["authorized"].endswith(" is the home's owner"), "the decision"
    (record,) = [each for each in server.request("owner", "GET", f"/v1/journal?from={first[1]['position']}")[1]["rows"]
                 if each["seq"] == first[1]["position"]]
    assert json.loads(record["record"])["action"] == "Env/create", "and what the audit has of it"
    assert call("other")[0] == 409


def test_a_late_retry_is_answered_as_at_first_and_overwrites_nothing(server):
    """Fifty at once under one key are one call; one that comes again after a newer change tells what it did then."""
    assert server.act("owner", "Env/create", environment="retried")[0] == 200
    body = json.dumps({"input": {"environment": "retried", "name": "Mine"}})

    def call(_):
        wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        wire.request("POST", "/v1/actions/Env/update", body, {
            "Authorization": "Bearer " + server.tokens["owner"], "Content-Type": "application/json",
            "Idempotency-Key": "once"})
        answer = wire.getresponse()
        text = answer.read()
        wire.close()
        return answer.status, text

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(call, range(50)))
    assert {status for status, _ in answers} == {200}
    first = json.loads(answers[0][1])
    assert {json.loads(text)["flow"] for _, text in answers} == {first["flow"]}
    assert server.act("owner", "Env/update", environment="retried", name="Newer")[0] == 200
    again = [call(0), call(1)]
    assert again[0] == again[1], "to the byte"
    late = json.loads(again[0][1])
    assert (late["flow"], late["generation"], late["position"]) == (first["flow"], 2, first["position"])
    _, shown = server.request("owner", "GET", "/v1/views/environment?environment=retried")
    assert (shown["name"], shown["generation"]) == ("Newer", 3)
    updates = [each for each in server.ok("audit", "list") if each["action"] == "Env/update"
               and (each.get("input") or {}).get("environment") == "retried"]
    assert len(updates) == 2, "two calls were made, and two are in the audit"
