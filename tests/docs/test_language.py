"""docs/internals/language.md names exactly the rules that the parsers, the loader and the checker can report, and the
limits that they have."""

import re

# Not rules, though spelled like one: the kinds of a scenario's settlement.
OTHERS = {"async-eventually", "async-with-anchor"}
# Rules of one word, which other strings of the code could be.
PLAIN = {"alignment", "cycle", "duplicate", "nesting", "overlay", "reversal", "sealed", "syntax", "token", "yaml"}


def rules_of_the_code(root):
    found = set()
    for path in (root / "src/lang").glob("*/*.cc"):
        if path.name.endswith("_test.cc") or not re.match(r"check|cursor|cycles|diagnostic|kit|provided|text|\w+_parser", path.name):
            continue
        found |= set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', path.read_text()))
    return {name for name in found if "-" in name} - OTHERS | found & PLAIN


def test_every_rule_is_explained_and_nothing_else(root):
    text = (root / "docs/internals/language.md").read_text()
    tables = text[text.index("## Diagnostics"):text.index("## Limits")]
    named = {name for line in tables.splitlines() if line.startswith("| `")
             for name in re.findall(r"`([a-z-]+)`", line.split("|")[1])}
    assert named == rules_of_the_code(root)


def test_warnings_are_marked_as_warnings(root):
    text = (root / "docs/internals/language.md").read_text()
    code = "".join(path.read_text() for path in sorted((root / "src/lang").glob("*/*.cc"))
                   if re.match(r"(check|kit|provided)\w*\.cc", path.name) and not path.name.endswith("_test.cc"))
    warned = set(re.findall(r'warning\((?:[^;"]|\n)*?"([a-z-]+)"', code))
    failed = set(re.findall(r'error\((?:[^;"]|\n)*?"([a-z-]+)"', code))
    for rule in warned - failed:
        assert re.search(rf"^\| `{rule}` \| W \|", text, flags=re.M), rule
    for rule in failed & set(re.findall(r"^\| `([a-z-]+)` \|", text, flags=re.M)):
        assert re.search(rf"^\| `{rule}` \| E \|", text, flags=re.M), rule
    assert len(warned) > 5 and len(failed) > 10


def test_the_limits_are_those_of_the_code(root):
    code = "".join((root / "src/lang" / name).read_text() for name in
                   ["syntax/lexer.h", "syntax/cursor.h", "syntax/text.h", "syntax/diagnostic.h", "check/check_expr.cc",
                    "codegen/cpp_types.h"])
    for constant in ["kMaxIdentifier = 256", "kMaxTokens = 2'000'000", "kMaxDepth = 100", "kMaxSourceBytes = 8 << 20",
                     "kMaxErrors = 100", "kAny = 1000", "kMaxFields = 52"]:
        assert constant in code
    text = (root / "docs/internals/language.md").read_text()
    limits = text[text.index("## Limits"):]
    for written in ["8 MiB", "2,000,000", "| 256 |", "100 levels", "100; further", "| 1,000 |", "| 52 |"]:
        assert written in limits
