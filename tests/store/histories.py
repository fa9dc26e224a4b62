"""Histories of registers, and whether they are linearizable: whether each operation could have happened at one moment
between its call and its answer, so that every read gives what was written last.

A line of a history is an operation: process, key, what ("read", "write" or "change"), value, expected (of a change: the
value that it replaces, and no other), result ("ok", "failed" or "unknown"), call and end (seconds). A write that failed
has not happened; of one that is unknown nobody knows, and if it happened, then at any time after its call. A read counts
if it is ok."""

import json
import math


def save(history, path):
    path.write_text("".join(json.dumps(each) + "\n" for each in history))


def check(history, initial):
    """The keys whose operations cannot be brought into an order, each with its operations."""
    keys = {}
    for each in history:
        keys.setdefault(each["key"], []).append(each)
    return {key: operations for key, operations in keys.items() if not linearizable(operations, initial[key])}


def linearizable(operations, initial):
    """By the way of Wing and Gong: the next in order is one that was called before any that is left has ended."""
    counted = [each for each in operations if each["result"] == "ok"
               or each["what"] != "read" and each["result"] == "unknown"]
    counted.sort(key=lambda each: each["call"])
    ends = [each["end"] if each["result"] == "ok" else math.inf for each in counted]
    needed = frozenset(n for n, each in enumerate(counted) if each["result"] == "ok")
    seen = set()
    stack = [(frozenset(), initial)]
    while stack:
        done, value = stack.pop()
        if needed <= done:
            return True
        if (done, value) in seen:
            continue
        seen.add((done, value))
        left = [n for n in range(len(counted)) if n not in done]
        first_end = min(ends[n] for n in left)
        for n in left:
            each = counted[n]
            if each["call"] > first_end:
                break
            if each["what"] == "write" or each["what"] == "change" and each["expected"] == value:
                stack.append((done | {n}, each["value"]))
            elif each["what"] == "read" and each["value"] == value:
                stack.append((done | {n}, value))
    return False
