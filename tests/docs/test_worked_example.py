"""The worked example of docs/development.md, applied to a copy of the tree: the kit is checked, what follows from the
contract is made, and the C++ is compiled as the build would compile it. Of the program only what the example changes is
made anew: the concept, the list of concepts, the texts of the kit and the command. They are linked before the libraries
that have the others."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

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
def configured(tree):
    """The build folder of the copy. CMake knows the new concept from suite.yaml alone."""
    run(["cmake", "--preset", "release"], cwd=tree)
    return tree / "build/release"


@pytest.fixture(scope="module")
def made(tree, build_dir, configured):
    """What conceptc makes of the contract."""
    out = configured / "concepts/deploy_notice"
    out.mkdir(parents=True)
    run([build_dir / "conceptc", tree / NOTICE / "notice.concept", "--out", out, "--namespace", "sluice::deploy::notice",
         "--handlers", tree / NOTICE / "notice.cc"])
    return out


def compiler(build, target):
    """The words with which the copy's build compiles the sources of a target, without the source and the object, and a
    source of it."""
    commands = json.loads((build / "compile_commands.json").read_text())
    found = next(each for each in commands if f"/{target}.dir/" in each["command"])
    words = shlex.split(found["command"])
    words = words[next(i for i, word in enumerate(words) if "++" in word.rsplit("/", 1)[-1]):]
    return words[:words.index("-o")], found["file"]


@pytest.fixture(scope="module")
def program(tree, configured, made, build_dir):
    """sluice with the example in it."""
    words, _ = compiler(configured, "cli")
    # What conceptc makes of the other concepts is the same in the build under test.
    words = [word.replace(f"{configured}/concepts", f"{build_dir}/concepts") for word in words]
    kit = tree / "src/deploy"
    files = sorted(["suite.yaml", *re.findall(r"\./(\S+\.(?:concept|sync))", (kit / "suite.yaml").read_text())])
    texts = configured / "deploy_kit_files.gen.cc"
    run(["cmake", "-DTARGET=deploy", f"-DFOLDER={kit}", f"-DFILES={';'.join(files)}", f"-DOUT={texts}", "-P",
         tree / "cmake/embed.cmake"])
    own, together = compiler(configured, "deploy_notice")
    included = Path(together).read_text()
    assert "notice.cc" in included and "notice.gen.cc" in included
    objects = []
    # What views read has a member more than in the libraries, so it gets another name here.
    for command, source in ((words, tree / "src/cli/nouns/env/env_commands.cc"), (words, texts),
                            (words, configured / "registered/deploy.gen.cc"), ([*own, "-DStates=NewStates"], Path(together))):
        objects.append(configured / f"{len(objects)}.o")
        run([*command, "-O0", "-o", objects[-1], "-c", source], cwd=configured)
    link = run(["ninja", "-C", build_dir, "-t", "commands", "sluice"]).splitlines()[-1]
    words = shlex.split(link.removeprefix(": && ").removesuffix(" && :"))
    at = words.index("-o")
    words[at:at + 2] = ["-Wl,--allow-multiple-definition", *map(str, objects), "-o", str(tree / "sluice")]
    run(words, cwd=build_dir)
    return tree / "sluice"


def test_the_command_works_and_its_help_and_schema_follow(program, tmp_path):
    more = {"env": {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}}
    text = run([program, "help", "env", "notice"], **more)
    assert "Tell everybody who works with an environment something" in text
    assert "--text" in text and "what they should know" in text and "--answers" in text
    asked = json.loads(run([program, "env", "notice", "local", "--schema"], **more))
    assert asked["properties"].keys() == {"environment", "text"} and asked["required"] == ["environment", "text"]
    assert run([program, "env", "notice", "local", "--text", "no deploys"], **more) == "noticed  local\n"
    refused = subprocess.run([program, "env", "notice", "local", "--text", ""], capture_output=True, text=True, **more)
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (1, "error: a notice has a text")
    refused = subprocess.run([program, "do", "Notice/set", "environment=nowhere", "text=x"], capture_output=True, text=True,
                             **more)
    assert refused.returncode == 5, refused.stderr


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
