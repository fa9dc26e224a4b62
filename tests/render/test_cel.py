"""CEL against what others wrote: the public conformance cases, and another implementation on random expressions."""

import json
import subprocess

import pytest

CASES = 1620  # of 2,344; the others need messages of protobuf
EXPRESSIONS = 10000
# Where @bufbuild/cel decides otherwise: the expression, and what cel-go, the reference of the string functions, says.
DIFFERENT = [
    # "The replace function replaces all matches": the empty string matches before each character and at the end.
    ("'ab'.replace('', '-')", "-a-b-"),
]

INT, STRING = {"primitive": "INT64"}, {"primitive": "STRING"}
VARIABLES = [
    {"name": "n", "ident": {"type": INT}},
    {"name": "s", "ident": {"type": STRING}},
    {"name": "m", "ident": {"type": {"mapType": {"keyType": STRING, "valueType": INT}}}},
]
BINDINGS = {
    "n": {"value": {"int64Value": "7"}},
    "s": {"value": {"stringValue": "hello"}},
    "m": {"value": {"mapValue": {"entries": [
        {"key": {"stringValue": name}, "value": {"int64Value": number}} for name, number in (("a", "1"), ("b", "2"))]}}},
}


@pytest.fixture(scope="module")
def folder(pytestconfig):
    return pytestconfig.rootpath / "tests/render"


@pytest.fixture(scope="module")
def evaluate(pytestconfig):
    def run(cases):
        done = subprocess.run([pytestconfig.rootpath / "build/release/cel_tool"], text=True, capture_output=True,
                              input="\n".join(map(json.dumps, cases)), timeout=300)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return run


def lines_of(folder, *words):
    done = subprocess.run(["node", *words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(value):
    """Equal values look equal: numbers as numbers, the entries of maps in one order."""
    (kind, of), = value.items()
    if kind == "doubleValue":
        return kind, of if isinstance(of, str) else float(of)
    if kind == "listValue":
        return kind, [plain(item) for item in of.get("values", [])]
    if kind == "mapValue":
        return kind, sorted(((plain(entry["key"]), plain(entry["value"])) for entry in of.get("entries", [])), key=repr)
    return kind, of


def agrees(case, answer):
    if "evalError" in case:
        return "error" in answer
    if "typedResult" in case:
        result = case["typedResult"].get("result")
        # The name of the type is cel-go's; of null beside an optional the case itself names the optional.
        named = case["type"] == answer.get("type") or case["path"].startswith("type_deductions/legacy_nullable_types")
        return named and (result is None or plain(result) == plain(answer["value"]))
    return "value" in answer and plain(case.get("value", {"boolValue": True})) == plain(answer["value"])


def test_the_public_conformance_cases(folder, evaluate):
    cases = lines_of(folder, "cases.mjs")
    assert len(cases) == CASES
    answers = evaluate(cases)
    assert len(answers) == CASES
    wrong = [f"{case['path']}: {case['expr']}: {answer}" for case, answer in zip(cases, answers) if not agrees(case, answer)]
    assert wrong == []


def test_random_expressions_agree_with_another_implementation(folder, evaluate):
    cases = lines_of(folder, "generated.mjs", str(EXPRESSIONS), "1")
    answers = evaluate([{"expr": case["expr"], "typeEnv": VARIABLES, "bindings": BINDINGS} for case in cases])
    assert len(answers) == EXPRESSIONS
    wrong = [f"{case}: {answer}" for case, answer in zip(cases, answers)
             if ("error" in case) != ("error" in answer) or ("value" in case and plain(case["value"]) != plain(answer["value"]))]
    assert wrong == []


@pytest.mark.parametrize("expression, value", DIFFERENT)
def test_disagreements_are_known(evaluate, expression, value):
    answer, = evaluate([{"expr": expression}])
    assert answer["value"] == {"stringValue": value}
