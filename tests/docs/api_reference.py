"""docs/reference/api.md from the description of the API, GET /v1/openapi.json of a sluice serve.

    curl -s --unix-socket "$SLUICE_HOME/run/sluice.sock" http://sluice/v1/openapi.json | python3 tests/docs/api_reference.py > docs/reference/api.md
"""

import json
import sys

HEAD = """# API

Every action, every view and every other request that `sluice serve` answers, made from `GET /v1/openapi.json`, which has the schemas as well. [How requests and answers look](../internals/api.md), who may call what (`sluice access can`), and how a pipeline uses it ([ci](../guide/ci.md)) are described elsewhere.

"""
ACTION, VIEW = "/v1/actions/", "/v1/views/"
EACH_VIEW_TAKES = "at_least"


def resolved(document, schema):
    while "$ref" in schema:
        found = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def members(document, schema):
    """The names of an object's members, those that may be left out in brackets."""
    schema = resolved(document, schema)
    required = schema.get("required", [])
    return " ".join(name if name in required else f"[{name}]" for name in schema.get("properties", {}))


def inputs(document, operation):
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return members(document, resolved(document, content).get("properties", {}).get("input", {}))


def text(description):
    return " ".join(description.split()).replace("|", "\\|")


def cell(names):
    return f"`{names}`" if names else ""


def page(document):
    actions, views, others = [], [], []
    for path, methods in sorted(document["paths"].items()):
        for method, operation in sorted(methods.items()):
            if path.startswith(ACTION) and "{" not in path:
                codes = ", ".join(f"`{variant}` {code}" for variant, code in operation.get("x-sluice-codes", {}).items())
                about = text(operation.get("description") or operation.get("summary", ""))
                actions.append(f"| `{path.removeprefix(ACTION)}` | {about} | {cell(inputs(document, operation))} | {codes} |")
            elif path.startswith(VIEW) and "{" not in path:
                if method == "get":
                    asked = " ".join(each["name"] if each.get("required") else f"[{each['name']}]"
                                     for each in (resolved(document, one) for one in operation.get("parameters", []))
                                     if each["in"] == "query" and each["name"] != EACH_VIEW_TAKES)
                    views.append(f"| `{path.removeprefix(VIEW)}` | {text(operation['summary'])} | {cell(asked)} |")
            else:
                others.append(f"| `{method.upper()} {path}` | {text(operation['summary'])} |")
    return (HEAD + "## Actions\n\n`POST /v1/actions/{Concept}/{action}`. Arguments in brackets may be left out. "
            "Each variant in which an action may end has a code.\n\n"
            "| action | | input | ends in |\n|---|---|---|---|\n" + "\n".join(actions)
            + "\n\n## Views\n\n`GET /v1/views/{name}`. Each takes `at_least` as well: a position that the answer must have seen."
            "\n\n| view | | parameters |\n|---|---|---|\n" + "\n".join(views)
            + "\n\n## Everything else\n\n| request | |\n|---|---|\n" + "\n".join(others) + "\n")


if __name__ == "__main__":
    sys.stdout.write(page(json.load(sys.stdin)))
