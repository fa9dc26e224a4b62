#!/usr/bin/python3
"""A deployer's credentials, on a cloud that is one file: roles with verbs, and tokens, of which it keeps hashes."""

import hashlib
import hmac
import json
import os
import sys
import time

KIND = "acme.deployer.standin@1.0.0"
FILE = os.path.join(os.environ["SLUICE_PACK_DATA"], "cloud.json")
VERBS = {"standin.apps.create": "apps can be created", "standin.apps.delete": "apps can be deleted",
         "standin.traffic.shift": "traffic can be shifted"}


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def load():
    try:
        with open(FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"admin": None, "seed": os.urandom(16).hex(), "roles": {}, "tokens": {}}


def save(cloud):
    with open(FILE + ".new", "w", encoding="utf-8") as file:
        json.dump(cloud, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    os.replace(FILE + ".new", FILE)


def refused(why):
    return {"variant": "refused", "fields": {"message": why}}


def look(given):
    cloud = load()
    token = cloud["tokens"].get(digest(given.get("credential") or ""))
    held = cloud["roles"].get(token["role"], []) if token and token["until"] > time.time() else []
    if not given.get("credential"):
        why = "there is no token"
    elif not token:
        why = "the token is not known"
    else:
        why = "its role may not" if held else "the token has expired"
    return {"variant": "ok", "fields": {"checks": [
        {"capability": verb, "description": text, "status": "pass" if verb in held else "fail",
         "reason": "" if verb in held else why,
         "fix": "" if verb in held else "apply roles.json of the rules pack" if token else
                "sluice credentials bootstrap"} for verb, text in VERBS.items()]}}


def issue(asked):
    given, cloud = asked["input"], load()
    known = cloud["tokens"].get(digest(given.get("credential") or ""))
    if given.get("admin"):
        if cloud["admin"] not in (None, digest(given["admin"])):
            return refused("this is no administrator of the cloud")
        cloud["admin"] = digest(given["admin"])
        cloud["roles"]["deployer"] = sorted(VERBS)
    elif not known or known["until"] <= time.time():
        return refused("the token is not good any more: an administrator must come")
    # Of the effect's own name, so that a repeat makes the same token.
    token = hmac.new(cloud["seed"].encode(), asked["effect"].encode(), "sha256").hexdigest()
    life = int(asked.get("settings", {}).get("lifetime_seconds", 3600))
    cloud["tokens"].setdefault(digest(token), {"role": "deployer", "until": time.time() + life})
    save(cloud)
    roles = json.dumps({"role": "deployer", "verbs": sorted(VERBS)}, indent=2) + "\n"
    return {"variant": "ok", "fields": {"issued": True, "credential": token, "lifetimeSeconds": life,
                                        "rules": [{"path": "roles.json", "text": roles}]}}


def answer(message):
    if "describe" in message:
        return {"protocol": 1, "kind": KIND, "actions": ["look", "issue", "role"]}
    if "health" in message:
        return {"healthy": True}
    if "query" in message:
        return {"variant": "ok", "fields": {"verbs": len(load()["roles"].get("deployer", []))}}
    asked = message["invoke"]
    return issue(asked) if asked["action"] == "issue" else look(asked["input"])


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "complete": answer(asked)}), flush=True)
