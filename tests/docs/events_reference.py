"""docs/reference/events.md from the types of events, which GET /v1/events/types of a sluice serve lists.

    curl -s --unix-socket "$SLUICE_HOME/run/sluice.sock" http://sluice/v1/events/types | python3 tests/docs/events_reference.py > docs/reference/events.md
"""

import json
import sys

HEAD = """# Events

What `GET /v1/events` tells, and what webhooks and agents can follow, made from `GET /v1/events/types`. [The API](../internals/api.md#reads) says how to ask for them.

An event is one line of JSON: `event` (its type), `id` (its place in the journal), `at`, `flow`, `caller` and `reason` (of what somebody decided from outside), `environment` (that it belongs to), `action` and `variant` (the step that it comes from), and `fields`, which are those of the variant: `GET /v1/events/types` has their schemas.

"""


def page(types):
    text = HEAD + "| event | when | from |\n|---|---|---|\n"
    for each in types:
        ends = ", ".join(f"`{variant}`" for variant in each["fields"])
        text += f"| `{each['event']}` | {each['summary']} | `{each['action']}` ⇒ {ends} |\n"
    return text


if __name__ == "__main__":
    sys.stdout.write(page(json.load(sys.stdin)["types"]))
