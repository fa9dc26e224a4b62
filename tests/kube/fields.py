"""Server-side apply: which fields of an object a manager owns, how configurations are merged, and where managers disagree.

A type says how a value merges: `Struct` by its named fields, `Map` by its keys, `Keyed` (a list) by the keys of its items,
`Set` (a list) by its values; `ATOM` is replaced as a whole. A set of fields is a set of paths; an element of a path is
("f", name), ("k", keys) or ("v", value), as in the names of fieldsV1."""

import copy
import json


class Struct:
    def __init__(self, fields, open=False, dotted=False):
        self.fields, self.open, self.dotted = fields, open, dotted


class Map:
    def __init__(self, of):
        self.of = of


class Keyed:
    def __init__(self, keys, of, defaults=None, dotted=True):
        self.keys, self.of, self.defaults, self.dotted = keys, of, defaults or {}, dotted


class Set:
    pass


class Scalar:
    def __init__(self, name):
        self.name = name  # "string", "numeric", "boolean"


ATOM, STRING, NUMBER, BOOL, ANY = object(), Scalar("string"), Scalar("numeric"), Scalar("boolean"), object()


class TypeFault(Exception):
    """A value that is not of its type; its text is what the server says."""


def children(value, kind):
    """The parts of a value by the last element of their paths, with their types; None if it has no parts."""
    if isinstance(kind, Struct) and isinstance(value, dict):
        return {("f", name): (inner, kind.fields.get(name, ANY)) for name, inner in value.items()}
    if isinstance(kind, Map) and isinstance(value, dict):
        return {("f", name): (inner, kind.of) for name, inner in value.items()}
    if isinstance(kind, Keyed) and isinstance(value, list):
        return {("k", key_of(item, kind)): (item, kind.of) for item in value}
    if isinstance(kind, Set) and isinstance(value, list):
        return {("v", json.dumps(item)): (item, ATOM) for item in value}
    return None


def key_of(item, kind):
    pairs = [(name, item.get(name, kind.defaults.get(name))) for name in sorted(kind.keys)]
    return json.dumps(dict(pairs), separators=(",", ":"))


def check(value, kind, path=""):
    """Refuses what the type does not know."""
    if value is None or kind in (ATOM, ANY):
        return
    if isinstance(kind, Scalar):
        good = {"string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool),
                "numeric": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}[kind.name](value)
        if not good:
            expected = {"numeric": "numeric (int or float)"}.get(kind.name, kind.name)
            found = {str: "string", bool: "boolean", dict: "map", list: "list"}.get(type(value), "number")
            raise TypeFault(f"{path}: expected {expected}, got {found}")
        return
    if isinstance(kind, (Struct, Map)) and not isinstance(value, dict):
        raise TypeFault(f"{path}: expected map, got {type(value).__name__}")
    if isinstance(kind, Struct):
        for name, inner in value.items():
            if name not in kind.fields and not kind.open:
                raise TypeFault(f"{path}.{name}: field not declared in schema")
            check(inner, kind.fields.get(name, ANY), f"{path}.{name}")
    elif isinstance(kind, Map):
        for name, inner in value.items():
            check(inner, kind.of, f"{path}.{name}")
    elif isinstance(kind, Keyed):
        for index, item in enumerate(value):
            check(item, kind.of, f"{path}[{index}]")


def owned(value, kind, path=()):
    """The fields that a configuration claims."""
    parts = children(value, kind)
    if not parts:
        return {path} if path else set()
    found = set()
    for element, (inner, inner_kind) in parts.items():
        if element[0] in "kv":
            found.add(path + (element,))
        if element[0] != "v":
            found |= owned(inner, inner_kind, path + (element,))
    return found


def compared(old, new, kind, path=()):
    """The fields that were removed, changed and added from one value to another."""
    removed, changed, added = set(), set(), set()
    before, after = children(old, kind), children(new, kind)
    if before is None and after is None:
        if old is None and new is not None:
            added.add(path)
        elif new is None and old is not None:
            removed.add(path)
        elif old != new:
            changed.add(path)
        return removed, changed, added
    if path and old is None:
        dotted = isinstance(kind, (Map, Set)) or getattr(kind, "dotted", False) or not after
        if dotted or path[-1][0] == "k":
            added.add(path)
    if path and new is None and (not before or path[-1][0] == "k" or not isinstance(kind, Struct)):
        removed.add(path)
    for element in {**(before or {}), **(after or {})}:
        old_inner, inner_kind = (before or {}).get(element, (None, None))
        new_inner, inner_kind = (after or {}).get(element, (None, inner_kind))
        inside = path + (element,)
        if element[0] == "v":
            if old_inner is None:
                added.add(inside)
            if new_inner is None:
                removed.add(inside)
            continue
        for into, more in zip((removed, changed, added), compared(old_inner, new_inner, inner_kind, inside)):
            into |= more
    return removed, changed, added


def merged(live, config, kind):
    """The live value with what a configuration says."""
    if live is None or children(config, kind) is None or children(live, kind) is None:
        return copy.deepcopy(config)
    if isinstance(kind, (Struct, Map)):
        made = dict(live)
        for name, inner in config.items():
            inner_kind = kind.fields.get(name, ANY) if isinstance(kind, Struct) else kind.of
            made[name] = merged(live.get(name), inner, inner_kind)
        return made
    if isinstance(kind, Set):
        return live + [item for item in config if item not in live]
    made, said = [], {key_of(item, kind): item for item in config}
    known = {key_of(item, kind) for item in live}
    for item in live:
        key = key_of(item, kind)
        made.append(merged(item, said[key], kind.of) if key in said else item)
    return made + [copy.deepcopy(item) for item in config if key_of(item, kind) not in known]


def without(value, kind, paths, path=()):
    """The value without these fields, and without what is empty when they are gone."""
    if isinstance(kind, (Struct, Map)) and isinstance(value, dict):
        made = {}
        for name, inner in value.items():
            inside = path + (("f", name),)
            if not any(each[:len(inside)] == inside for each in paths):
                made[name] = inner
                continue
            inner_kind = kind.fields.get(name, ANY) if isinstance(kind, Struct) else kind.of
            left = None if inside in paths else without(inner, inner_kind, paths, inside)
            if left is not None and left != {} and left != []:
                made[name] = left
        return made
    if isinstance(kind, Keyed) and isinstance(value, list):
        made = []
        for item in value:
            inside = path + (("k", key_of(item, kind)),)
            if inside not in paths:
                made.append(without(item, kind.of, paths, inside))
        return made
    if isinstance(kind, Set) and isinstance(value, list):
        return [item for item in value if path + (("v", json.dumps(item)),) not in paths]
    return value


def to_fields_v1(paths):
    tree = {}
    for path in sorted(paths):
        at = tree
        for kind, name in path:
            at = at.setdefault(f"{kind}:{name}", {})
        at["."] = {}

    def tidied(node, dotted):
        if list(node) == ["."]:
            return {}
        inner = {name: tidied(each, name) for name, each in sorted(node.items()) if name != "."}
        return {".": {}, **inner} if "." in node else inner

    return tidied(tree, None)


def from_fields_v1(tree, path=()):
    found = set()
    if not tree and path:
        return {path}
    for name, inner in tree.items():
        if name == ".":
            found.add(path)
        else:
            found |= from_fields_v1(inner, path + ((name[0], name[2:]),))
    return found


def shown(path):
    """".spec.containers[name=\\"web\\"].image", as messages have it."""
    text = ""
    for kind, name in path:
        if kind == "f":
            text += "." + name
        elif kind == "k":
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in json.loads(name).items()) + "]"
        else:
            text += f"[={name}]"
    return text
