#!/usr/bin/python3
"""A secrets pack: values are in a file of mode 0600 in the pack's folder of data, by environment and name."""

import json
import os
import secrets
import sys

KIND = "acme.secrets.file@1.0.0"
FILE = os.path.join(os.environ["SLUICE_PACK_DATA"], "secrets.json")


def load():
    try:
        with open(FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(kept):
    new = FILE + ".new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(kept, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, FILE)


def missing(name):
    return {"variant": "notFound", "fields": {"name": name, "message": f"there is no secret {name}"}}


def invoke(asked):
    given, kept = asked["input"], load()
    key, action = f"{given['environment']} {given['name']}", asked["action"]
    # Versions, oldest first, each with the effect that made it: a repeat finds its own and makes no other.
    versions = kept.get(key, [])
    if action == "head":
        return look(given)
    if action == "put" or (action == "rotate" and versions):
        made = [number for number, each in enumerate(versions, 1) if each["effect"] == asked["effect"]]
        if not made:
            value = given.get("value") or secrets.token_urlsafe(24)
            kept[key] = versions + [{"effect": asked["effect"], "value": value}]
            save(kept)
        number = str(made[0] if made else len(versions) + 1)
        return {"variant": "ok", "fields": {"version" if action == "put" else "newVersion": number}}
    if action == "remove":
        if versions:
            del kept[key]
            kept.setdefault("removed", []).append(asked["effect"])
            save(kept)
        elif asked["effect"] not in kept.get("removed", []):
            return missing(given["name"])
        return {"variant": "ok", "fields": {"name": given["name"]}}
    wanted = given.get("version") or str(len(versions))
    if action == "fetch" and wanted.isdigit() and 0 < int(wanted) <= len(versions):
        return {"variant": "ok", "fields": {"version": wanted, "value": versions[int(wanted) - 1]["value"]}}
    return missing(given["name"])


def look(given):
    versions = load().get(f"{given['environment']} {given['name']}", [])
    fields = {"exists": bool(versions)}
    if versions:
        fields["version"] = str(len(versions))
    return {"variant": "ok", "fields": fields}


def answer(message):
    if "describe" in message:
        return {"protocol": 1, "kind": KIND, "actions": ["fetch", "put", "rotate", "remove", "head", "look"]}
    if "health" in message:
        return {"healthy": True}
    if "invoke" in message:
        return invoke(message["invoke"])
    return look(message["query"]["input"])


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "complete": answer(asked)}), flush=True)
