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


def test_emitted_texts_read_alike(readers):
    """What emit_yaml writes, npm reads as the same values."""
    ours, theirs = readers
    read = [answer for answer in ours([seeded_text(seed) for seed in range(TEXTS)]) if "documents" in answer]
    assert len(read) == TEXTS
    for answer, again in zip(read, theirs([answer["emitted"] for answer in read])):
        assert agree(answer, again), answer["emitted"]


# --- meant differences --------------------------------------------------------------------------------------

def error(text):
    return {"error": text}


def value(*documents):
    return {"documents": list(documents)}


ANY_ERROR = object()
TAG = "a tag that is not honoured would change the value in silence"
TEXT_KEYS = "a key is the text that is written; JavaScript prints the value's own form"
NO_LOSS = "a number that cannot be kept is refused, not rounded"
JSON_HAS_NONE = "JSON has no such number; npm's becomes null in JSON"
AMBIGUOUS = "readers of YAML 1.1 take this for a line break, those of 1.2 do not"
SCANNER = "libyaml's scanner is stricter here; a clear error, never another value"

# (text, ours, npm's, why)
DIFFERENCES = [
    ("123456789012345678901", error("1:1: this integer does not fit into 64 bits"), value(123456789012345680000), NO_LOSS),
    ("1e999", error("1:1: this number is larger than a double can hold"), value(None), NO_LOSS),
    (".inf", error("1:1: infinity and not-a-number have no place in JSON"), value(None), JSON_HAS_NONE),
    (".nan", error("1:1: infinity and not-a-number have no place in JSON"), value(None), JSON_HAS_NONE),
    ("!secret x", error("1:1: the tag !secret is not known"), value("x"), TAG),
    ("!!set {a}", error("1:1: the tag tag:yaml.org,2002:set is not known"), value({}), TAG),
    ("!!int x", error("1:1: the tag !!int stands before a value that is not an integer"), value("x"), TAG),
    ("!!map [a]", error("1:1: the tag !!map does not fit a list"), value(["a"]), TAG),
    ("1.0: a", value({"1.0": "a"}), value({"1": "a"}), TEXT_KEYS),
    ("0x10: a", value({"0x10": "a"}), value({"16": "a"}), TEXT_KEYS),
    ("~: a", value({"~": "a"}), value({"": "a"}), TEXT_KEYS),
    ("? [a]\n: 1", error("1:3: a map or a list cannot be a key"), value({"[ a ]": 1}), "JSON has no such key"),
    ("{1: a, '1': b}", error('1:8: duplicate key "1": it stands at 1:2 already'), value({"1": "b"}),
     "both keys have one text, so one of the values would be lost"),
    ("&k a: 1\n*k : 2", error('2:1: duplicate key "a": it stands at 1:1 already'), value({"a": 2}),
     "both keys have one text, so one of the values would be lost"),
    ("- &a {x: 1}\n- {<<: *a, <<: *a}", error('2:12: duplicate key "<<": it stands at 2:4 already'),
     value([{"x": 1}, {"x": 1}]), "`<<` is a key like any other; it takes a list of maps"),
    ('"a\u2028b"', error("1:3: the line break U+2028 is not allowed here"), value("a\u2028b"), AMBIGUOUS),
    ("a\u0085b", error("1:2: the line break U+0085 is not allowed here"), value("a\u0085b"), AMBIGUOUS),
    ("a\x7f", error("1:2: the control character U+007F is not allowed here"), value("a\x7f"),
     "YAML does not allow it; npm does not look"),
    ("a\ufeff", error("1:2: the character U+FEFF is not allowed here"), value("a\ufeff"),
     "nobody sees it; it is mostly the seam of two files"),
    ('"\\ud83d\\ude00"', error("1:4: this escape is not a Unicode character"), value("\U0001F600"), SCANNER),
    ("a\n...\nb\n", error("3:1: text follows the end of the document"), value("a", "b"), SCANNER),
    ("{: 1}", error("1:2: a value is missing here"), value({"": 1}), SCANNER),
    ("[:x]", error("1:2: a value is missing here"), value([":x"]), SCANNER),
    ("[a:]", error("1:3: a ':' ends a plain value inside '[' or '{'"), value(["a:"]), SCANNER),
    ("- \tb", error("1:3: a tab is used for indentation"), value(["b"]), SCANNER),
    ("a: |\n \tx\n", error("2:2: a tab is used for indentation"), value({"a": "\tx\n"}), SCANNER),
    ("a: &b.c x", error("1:6: a '&' must be followed by a name of letters, digits, '-' and '_'"), value({"a": "x"}), SCANNER),
    ("%NOPE\n--- a", error("1:6: a line that begins with '%' is a directive, and this one is unknown"), value("a"), SCANNER),
    ("%YAML 1.3\n--- a", error("1:1: this version of YAML is not known"), value("a"), SCANNER),
    ("%YAML 1.1\n--- yes", value("yes"), value(True), "one set of rules for every text, whatever it calls itself"),
    ("[?x]", value([{"x": None}]), value(["?x"]), "libyaml takes '?' inside '[' for a key, as YAML 1.1 does"),
    ("a: {\nb: 1\n}", value({"a": {"b": 1}}), ANY_ERROR, "YAML 1.1 let brackets stand at any indentation"),
    ("a: 1\rb: 2", value({"a": 1, "b": 2}), ANY_ERROR, "a lone carriage return is a line break in YAML; npm does not know it"),
    ("a: |\n  x", value({"a": "x"}), value({"a": "x\n"}), "the last line has no line break to keep (YAML 1.2, 8.1.1.2)"),
]


def test_the_listed_differences_are_there(readers):
    ours, theirs = readers
    texts = [text for text, *_ in DIFFERENCES]
    for (text, mine, npm, why), a, b in zip(DIFFERENCES, ours(texts), theirs(texts)):
        a.pop("emitted", None)
        assert exact(a) == exact(mine), (text, why)
        assert "error" in b if npm is ANY_ERROR else exact(b) == exact(npm), (text, why, b)
        assert not agree(a, b), (text, why)
