"""docs/reference/manifest.md from the JSON Schema of app.deploy.yaml, which `sluice init --manifest --schema` prints.

    build/release/sluice init --manifest --schema | python3 tests/docs/manifest_reference.py > docs/reference/manifest.md
"""

import json
import sys

HEAD = """# app.deploy.yaml

What a deploy manifest may say, made from its JSON Schema (`sluice init --manifest --schema`, for editors). [The guide](../guide/deploy.md) shows how it is used. A field that is not here is refused.
"""


def kind(schema, definitions):
    if "$ref" in schema:
        name = schema["$ref"].rsplit(".", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return " \\| ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'], definitions)}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map of {kind(schema['additionalProperties'], definitions)}"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}.get(
        schema.get("type"), "anything")


def table(schema, definitions):
    lines = ["| field | value | |", "|---|---|---|"]
    for name, each in schema["properties"].items():
        if name in schema.get("required", []):
            note = "required"
        elif isinstance(each.get("default"), str):
            note = f"else `{each['default']}`"
        else:
            note = ""
        lines.append(f"| `{name}` | {kind(each, definitions)} | {note} |")
    return "\n".join(lines)


def page(schema):
    definitions = schema["$defs"]
    parts = [HEAD, table(schema, definitions) + "\n"]
    for name in sorted(definitions, key=lambda each: each.rsplit(".", 1)[-1]):
        parts.append(f"## {name.rsplit('.', 1)[-1]}\n\n{table(definitions[name], definitions)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page(json.load(sys.stdin)))
