"""Patches and schemas against what others wrote: the public cases of JSON Patch, and another validator on random schemas."""

import json
import subprocess

import pytest

SCHEMAS = 2000
# What our rules decide otherwise: a path leads into an object, whose kind and name stay; a value that is left out is null;
# and what is missing on the way to what is added is made, as templates need it.
DIFFERENT = {
    "tests 40: replace whole document",
    "tests 59: replacing the root of the document is possible with add",
    "tests 70: missing 'value' parameter to add",
    "tests 71: missing 'value' parameter to replace",
    "spec_tests 0: 4.1. add with missing object",
    "spec_tests 12: A.12.  Adding to a Non-existent Target",
}


@pytest.fixture(scope="module")
def told(pytestconfig):
    def run(cases):
        done = subprocess.run([pytestconfig.rootpath / "build/release/component_tool"], text=True, capture_output=True,
                              input="\n".join(map(json.dumps, cases)), timeout=300)
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(cases)
        return answers
    return run


def cases(pytestconfig, *words):
    done = subprocess.run(["node", *words], cwd=pytestconfig.rootpath / "tests/render", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_public_cases_of_patches(pytestconfig, told):
    all_cases = cases(pytestconfig, "patches.mjs")
    assert len(all_cases) > 40
    different = {}
    for case, answer in zip(all_cases, told([{"doc": each["doc"], "patch": each["patch"]} for each in all_cases])):
        same = "error" in answer if "error" in case else answer.get("doc", "no") == case["expected"]
        if not same:
            different[case["name"]] = answer
    assert different.keys() == DIFFERENT, different


def test_schemas_agree_with_another_validator(pytestconfig, told):
    made = cases(pytestconfig, "schemas.mjs", str(SCHEMAS), "1")
    assert len(made) == SCHEMAS and 300 < sum(each["valid"] for each in made) < SCHEMAS - 300
    wrong = [f"{case} {answer}" for case, answer in zip(made, told([{"schema": each["schema"], "value": each["value"]} for each in made]))
             if answer.get("valid") != case["valid"]]
    assert wrong == []
