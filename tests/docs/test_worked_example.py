"""The worked example of docs/development.md, applied to a copy of the tree: the kit is checked, and what follows from the
contract is made."""

import json
import re
import shutil
import subprocess

import pytest

NOTICE = "src/deploy/concepts/notice"


def files_of_example(text):
    """What the section says of each file: its whole text, or changes of it."""
    section = text.split("\n## Adding a concept\n", 1)[1].split("\n## ", 1)[0]
    found = {}
    for before, language, block in re.findall(r"([^\n]+)\n\n```(\w+)\n(.*?)```\n", section, re.S):
        path = re.findall(r"`(src/[\w/.]+\.\w+)`", before)[-1]
        assert path not in found
        found[path] = (language, block)
    return found


def change(text, diff):
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        assert text.count(old) == 1, f"this stands {text.count(old)} times in the file:\n{old}"
        text = text.replace(old, "".join(line[1:] for line in lines if line[0] in " +"))
    return text


@pytest.fixture(scope="module")
def example(root):
    return files_of_example((root / "docs" / "development.md").read_text())


@pytest.fixture(scope="module")
def tree(root, example, tmp_path_factory):
    copy = tmp_path_factory.mktemp("tree")
    for name in ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "examples", "tests"):
        source = root / name
        if source.is_dir():
            shutil.copytree(source, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "corpus"))
        else:
            shutil.copy(source, copy / name)
    for path, (language, block) in example.items():
        file = copy / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(change(file.read_text(), block) if language == "diff" else block)
    return copy


def test_it_is_small(example):
    assert len(example) <= 5
    added = sum(len([line for line in block.splitlines() if language != "diff" or line.startswith("+")])
                for language, block in example.values())
    assert added <= 120


def test_the_kit_has_no_faults(tree, sluice):
    done = subprocess.run([sluice, "kit", "check", tree / "src/deploy", "--strict"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    formatted = subprocess.run([sluice, "kit", "fmt", "--check", tree / NOTICE], capture_output=True, text=True)
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def made(tree, build_dir, root):
    """What conceptc makes of the contract."""
    out = tree / "build/concepts/deploy_notice"
    out.mkdir(parents=True)
    run([build_dir / "conceptc", tree / NOTICE / "notice.concept", "--out", out, "--namespace", "sluice::deploy::notice",
         "--handlers", tree / NOTICE / "notice.cc"])
    return out


def test_schema_and_reference_follow(made):
    schema = json.loads((made / "notice.schema.json").read_text())
    assert schema["$defs"]["set"]["properties"].keys() == {"environment", "text"}
    page = (made / "notice.md").read_text()
    assert "Replaces the notice of an environment." in page and "notFound" in page


def test_the_view_is_found(tree):
    out = tree / "views.cc"
    run(["cmake", "-DKIT=deploy", "-DNAMESPACE=sluice::deploy", f"-DROOT={tree / 'src/deploy'}",
         "-DPLACES=views:views;notice:concepts/notice", f"-DOUT={out}", "-P", tree / "cmake/views.cmake"])
    assert "notice::notice_views()," in out.read_text()
