"""Sluice reads YAML as the npm package `yaml` does, but for a few differences that are meant and listed here with their
reasons. Each is checked to be one, so that the list cannot outlive them."""

import json
import random
import subprocess

import pytest

TEXTS = 500


@pytest.fixture(scope="module")
def readers(root, build_dir):
    """Two functions from texts to answers, ours and npm's: {"documents": [...]} or {"error": "..."}."""
    def reader(*command):
        def read(texts):
            lines = "".join(json.dumps(text) + "\n" for text in texts)
            done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
            answers = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
            assert len(answers) == len(texts)
            return answers
        return read
    return reader(build_dir / "yaml_tool"), reader("node", root / "tests/base/yaml.mjs")


def exact(value):
    """A form in which Python's equality tells true from 1; JavaScript has one type of number, so 1 is 1.0."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return {key: exact(member) for key, member in value.items()}
    if isinstance(value, list):
        return [exact(element) for element in value]
    return value


def agree(ours, theirs):
    return "documents" in ours and "documents" in theirs and exact(ours["documents"]) == exact(theirs["documents"])


# --- generated texts ----------------------------------------------------------------------------------------

PLAIN = ["null", "Null", "~", "true", "True", "FALSE", "yes", "no", "on", "Off", "y", "0", "12", "-7", "+4", "012", "0o14",
         "0o19", "0x1F", "0xfg", "1.5", "1.", ".5", "-.25", "1e3", "12e-2", "1.2.3", "12:30", "190:20:30", "2001-12-14",
         "1_000", "web", "a b c", "v1.2-rc", "x:y", "a#b", "http://a.example:80/x?q=1", "it's", 'say "hi"', "-x", "?x", ":x",
         "a, b", "ä€😀", "<<", "nullable", "truely", ".", "..", "--", "+", "=", "a\\nb", "100m"]
FLOW_UNSAFE = {"a, b", "-x", "?x", ":x", "http://a.example:80/x?q=1", "x:y", "--"}
WORDS = ["alpha", "beta", "it", "of the", "x: y", "# no", "- z", "'q'", '"d"', "\\", "ä", "end.", "{}", "[1]", "&a", "*b", "!t"]
ESCAPES = ["\\n", "\\t", "\\\"", "\\\\", "\\/", "\\x41", "\\u00e9", "\\U0001F600", "\\0", "\\e", "\\_", "\\N", "\\L", "a", "b c", "ä", "'"]


class Writer:
    """Writes one random document. Block nodes come as the text after `key:` or `-`, the end of the line included."""

    def __init__(self, rng):
        self.rng = rng
        self.anchors = []  # complete ones: (name, kind)
        self.count = 0

    def chance(self, share):
        return self.rng.random() < share

    def comment(self):
        return self.rng.choice(["", "", "", "", " # c", "  # a: b, [c"])

    def key(self, used, flow):
        while True:
            name = self.rng.choice(["name", "port", "image", "k", "a b", "8080", "x-y", "ünï", "t.u/v"]) + str(self.rng.randrange(30))
            if name not in used:
                break
        used.add(name)
        style = self.rng.randrange(8)
        return f'"{name}"' if style == 0 else f"'{name}'" if style == 1 else name

    def anchor(self, kind):
        """Perhaps a new anchor: what to write before the node, and what to call when the node is complete."""
        if not self.chance(0.12):
            return "", lambda: None
        self.count += 1
        name = f"a{self.count}"
        return f" &{name}", lambda: self.anchors.append((name, kind))

    def alias(self, kind=None):
        names = [name for name, of in self.anchors if kind in (None, of)]
        return f"*{self.rng.choice(names)}" if names else None

    def plain(self, flow):
        return self.rng.choice([text for text in PLAIN if not (flow and text in FLOW_UNSAFE)])

    def inline_scalar(self, flow):
        style = self.rng.randrange(10)
        if style < 6:
            return self.plain(flow)
        if style == 6:
            return "'" + "".join(self.rng.choice(["a", " ", "''", '"', "\\", ":", " #", "1"]) for _ in range(self.rng.randrange(6))) + "'"
        if style < 9:
            return '"' + "".join(self.rng.choice(ESCAPES) for _ in range(self.rng.randrange(6))) + '"'
        return self.rng.choice(["!!str 12", "!!str null", "!!int 7", '!!int "8"', "!!float 1.5", "!!bool true", "! 12", "!!null null"])

    def flow(self, depth):
        kind = self.rng.randrange(4) if depth > 0 else 0
        space = lambda: self.rng.choice(["", " ", " ", "\n" + " " * 40])
        if kind < 2:
            alias = self.alias() if self.chance(0.1) else None
            return alias or self.inline_scalar(True)
        if kind == 2:
            items = [space() + self.flow(depth - 1) for _ in range(self.rng.randrange(4))]
            return "[" + ",".join(items) + (" ," if items and self.chance(0.2) else "") + " ]"
        used = set()
        members = []
        for _ in range(self.rng.randrange(4)):
            key = self.key(used, True)
            colon = ":" if key[0] in "\"'" and self.chance(0.5) else ": "
            members.append(space() + key + colon + self.flow(depth - 1))
        return "{" + ",".join(members) + space() + "}"

    def block_scalar(self, indent):
        style = self.rng.choice("|>")
        chomp = self.rng.choice(["", "-", "+"])
        lines = []
        for i in range(self.rng.randrange(1, 6)):
            kind = self.rng.randrange(6)
            if kind == 0 and i > 0:
                lines += [""] * self.rng.randrange(1, 3)
            else:
                more = "  " if kind == 1 and i > 0 else ""
                lines.append(more + " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randrange(1, 4))))
        explicit = "2" if self.chance(0.2) else ""
        header = style + (explicit + chomp if self.chance(0.5) else chomp + explicit) + self.comment()
        body = "".join((" " * (indent + 2) + line if line else "") + "\n" for line in lines)
        return f" {header}\n{body}" + "\n" * self.rng.randrange(3)

    def long_scalar(self, indent):
        """Plain or quoted, over several lines."""
        words = [self.rng.choice(["alpha", "beta", "of", "12", "a-b", "x:y"]) for _ in range(self.rng.randrange(2, 6))]
        gap = lambda: self.rng.choice([" ", "  ", "\n" + " " * (indent + 2), "\n\n" + " " * (indent + 3)])
        text = words[0] + "".join(gap() + word for word in words[1:])
        quote = self.rng.choice(["", "'", '"'])
        return f" {quote}{text}{quote}{self.comment()}\n"

    def block(self, indent, depth, in_list=False):
        """What follows `key:` or `-` of a parent at `indent`; children stand deeper."""
        kind = self.rng.randrange(14) if depth > 0 else self.rng.randrange(8)
        if kind < 4:
            before, done = self.anchor("scalar")
            text = self.inline_scalar(False)
            done()
            return f"{before} {text}{self.comment()}\n"
        if kind == 4:
            return self.comment() + "\n"  # nothing: null
        if kind == 5:
            return self.block_scalar(indent)
        if kind == 6:
            return self.long_scalar(indent)
        if kind == 7:
            alias = self.alias()
            return f" {alias}{self.comment()}\n" if alias else " x\n"
        if kind == 8:
            return f" {self.flow(depth)}{self.comment()}\n"
        if kind < 11:
            return self.block_list(indent, depth, in_list)
        return self.block_map(indent, depth, in_list)

    def block_list(self, indent, depth, in_list):
        before, done = self.anchor("list")
        step = 2 if in_list or self.chance(0.5) else 0
        inner = indent + step
        compact = in_list and not before and self.chance(0.6)
        text = " " if compact else before + self.comment() + "\n"
        for i in range(self.rng.randrange(1, 4)):
            if self.chance(0.1) and not (compact and i == 0):
                text += " " * self.rng.randrange(4) + "# note\n"
            text += ("" if compact and i == 0 else " " * inner) + "-" + self.block(inner, depth - 1, True)
        done()
        return text

    def block_map(self, indent, depth, in_list=False):
        before, done = self.anchor("map")
        inner = indent + 2
        compact = in_list and not before and self.chance(0.7)
        text = " " if compact else before + self.comment() + "\n"
        text += self.members(inner, depth, compact)
        done()
        return text

    def members(self, inner, depth, compact=False):
        used = set()
        text = ""
        count = self.rng.randrange(1, 5)
        merge_at = self.rng.randrange(count) if self.chance(0.4) else -1
        for i in range(count):
            lead = "" if compact and i == 0 else " " * inner
            if i == merge_at and self.alias("map"):
                if self.chance(0.3):
                    text += f"{lead}<<: [{self.alias('map')}, {self.alias('map')}]\n"
                else:
                    text += f"{lead}<<: {self.alias('map')}\n"
                lead = " " * inner
            key = self.key(used, False)
            if self.chance(0.06):
                text += f"{lead}? {key}\n{' ' * inner}:{self.block(inner, depth - 1)}"
            else:
                text += f"{lead}{key}:{self.block(inner, depth - 1)}"
        return text

    def document(self):
        kind = self.rng.randrange(10)
        if kind == 0:
            return "- a\n-" + self.block(0, 4, True)
        if kind == 1:
            return self.flow(4).replace("\n", "\n ") + "\n"
        return self.members(0, 5)


def seeded_text(seed):
    rng = random.Random(seed)
    parts = [Writer(rng).document() for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    text = "# generated\n" if rng.random() < 0.2 else ""
    if rng.random() < 0.2:
        text += "%YAML 1.2\n---\n" if rng.random() < 0.3 else "---\n"
    return text + rng.choice(["---\n", "...\n---\n", "--- # next\n"]).join(parts)


def test_generated_texts_read_alike(readers):
    ours, theirs = readers
    texts = [seeded_text(seed) for seed in range(TEXTS)]
    different = [f"--- seed {seed}\n{text}ours:   {a}\ntheirs: {b}\n"
                 for seed, (text, a, b) in enumerate(zip(texts, ours(texts), theirs(texts))) if not agree(a, b)]
    assert not different, f"{len(different)} of {TEXTS} differ, among them\n" + "\n".join(different[:5])
