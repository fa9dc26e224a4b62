#!/usr/bin/python3
"""A telemetry pack: each event becomes a line of a file in the pack's folder of data."""

import json
import os
import sys
import time

KIND = "acme.telemetry.file@1.0.0"
DATA = os.environ["SLUICE_PACK_DATA"]


def lines_of(name):
    try:
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def record(asked):
    given, settings = asked["input"], asked.get("settings", {})
    name = settings.get("file", "events.jsonl")
    before = lines_of(name)
    # The id is the same whenever this effect is tried again, so that a repeat writes nothing.
    if not any(line["id"] == asked["effect"] for line in before):
        line = {"id": asked["effect"], "environment": given["environment"], "event": given["event"],
                "detail": given["detail"]}
        if settings.get("stamp", True):
            line["at"] = int(time.time())
        try:
            with open(os.path.join(DATA, name), "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return {"variant": "unwritable", "fields": {"message": str(error)}}
        before.append(line)
    return {"variant": "ok", "fields": {"file": name, "written": len(before)},
            "writes": [{"relation": "FileTelemetry", "key": name, "value": {"written": len(before)}}]}


def count(asked):
    found = 0
    for name in asked["state"].get("FileTelemetry", {}) or {"events.jsonl": {}}:
        found += sum(1 for line in lines_of(name) if line["environment"] == asked["input"]["environment"])
    return {"variant": "ok", "fields": {"events": found}}


def measure(asked):
    """Lines of requests.jsonl, which somebody else writes: {"name": "hello@2", "requests": 10, "failed": 1}."""
    sums = {}
    for side in ("canary", "baseline"):
        mine = [line for line in lines_of("requests.jsonl") if line["name"] == asked["input"][side]["name"]]
        sums[side] = {field: sum(line[field] for line in mine) for field in ("requests", "failed")}
    return {"variant": "ok", "fields": sums}


def answer(message):
    if "describe" in message:
        return {"protocol": 1, "kind": KIND, "actions": ["record", "count", "measure"]}
    if "health" in message:
        return {"healthy": os.access(DATA, os.W_OK), "message": f"{DATA} cannot be written"}
    if "invoke" in message:
        return record(message["invoke"])
    return {"count": count, "measure": measure}[message["query"]["action"]](message["query"])


for text in sys.stdin:
    asked = json.loads(text)
    print(json.dumps({"id": asked["id"], "complete": answer(asked)}), flush=True)
