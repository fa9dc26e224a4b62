"""The rings of the architecture hold because the build makes them hold: with the compile flags of its target, a folder
can include its own and inner headers, and no other. A concept of the kit sees what the kit shares and links, and no
other concept."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(path.parent.name for path in ROOT.glob("src/*/CMakeLists.txt"))
# By the name of what is made of it: the folder of each concept.
CONCEPTS = {path.stem.replace("-", "_"): path.parent for path in sorted(ROOT.glob("src/deploy/**/*.concept"))}


def a_header(folder):
    return str(sorted((ROOT / "src" / folder).rglob("*.h"))[0].relative_to(ROOT / "src"))


def headers_of(concept):
    """Those that are written by hand, and the one that conceptc makes."""
    written = [str(path.relative_to(ROOT / "src")) for path in sorted(CONCEPTS[concept].glob("*.h"))]
    return [f"{concept}.gen.h", *written]


def named(folder, without):
    """The words of a folder's CMakeLists.txt, but for what it says of targets like these, and in comments."""
    text = (ROOT / "src" / folder / "CMakeLists.txt").read_text()
    return set(re.sub(rf"target_link_libraries\(\w+_{without}[^)]*\)|#[^\n]*", "", text).replace(")", " ").split()) - {folder}


def of_executor():
    """The folders that whoever links deploy_executor sees with it. It is a library of its own, which few link."""
    text = (ROOT / "src" / "deploy" / "CMakeLists.txt").read_text()
    public = re.search(r"target_link_libraries\(deploy_executor PUBLIC ([^)]*?)(?: PRIVATE[^)]*)?\)", text)[1]
    return set(public.split())


def linked(folder):
    """The folders that a folder's target links, directly or through others. What only tests link does not count."""
    words = named(folder, "(?:testing|executor|promotion)")
    direct = {word for word in words if word in FOLDERS}
    if folder != "deploy" and "deploy_executor" in words:
        direct |= of_executor()
    return set(direct).union(*(linked(name) for name in direct)) if direct else set()


def find_with_flags(command, includes, tmp_path):
    """Looks for headers as the compiler does; that each compiles is what the target `headers` proves."""
    source = tmp_path / "probe.cc"
    source.write_text("".join(f'#include "{include}"\n' for include in includes))
    words = [w for w in command if w.startswith(("-I", "-D", "-std"))]
    return subprocess.run(["g++", "-M", "-MF", "/dev/null", *words, str(source)], capture_output=True, text=True)


def visible(command, includes, tmp_path):
    """Which of the headers can be found at all."""
    source = tmp_path / "probe.cc"
    source.write_text("".join(f'#if __has_include("{each}")\nfound "{each}"\n#endif\n' for each in includes))
    words = [w for w in command if w.startswith(("-I", "-D", "-std"))]
    run = subprocess.run(["g++", "-E", "-P", *words, str(source)], capture_output=True, text=True, check=True)
    return re.findall(r'found "(.*)"', run.stdout)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_sees_its_own_and_inner_headers(command_of, folder, tmp_path):
    run = find_with_flags(command_of(folder), [a_header(seen) for seen in {folder} | linked(folder)], tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("folder, hidden", [(f, g) for f in FOLDERS for g in FOLDERS if g != f and g not in linked(f)])
def test_a_folder_does_not_see_the_others(command_of, folder, hidden, tmp_path):
    run = find_with_flags(command_of(folder), [a_header(hidden)], tmp_path)
    assert run.returncode != 0
    assert f"{hidden}/" in run.stderr and "No such file" in run.stderr


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_concept_sees_its_own_headers_and_what_the_kit_shares(command_of, concept, tmp_path):
    seen = [*headers_of(concept), "deploy/views/states.h", *(a_header(name) for name in {"deploy"} | linked("deploy"))]
    assert visible(command_of(f"deploy_{concept}"), seen, tmp_path) == seen


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_concept_does_not_see_the_others(command_of, concept, tmp_path):
    others = [header for other in CONCEPTS if other != concept for header in headers_of(other)]
    assert visible(command_of(f"deploy_{concept}"), others, tmp_path) == []
    assert visible(command_of("deploy"), others, tmp_path) == others, "views read them by these names"


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_concept_does_not_see_another_through_a_view(command_of, concept, tmp_path):
    run = find_with_flags(command_of(f"deploy_{concept}"), ["deploy/views/names.h"], tmp_path)
    assert run.returncode != 0
    assert ".gen.h: No such file" in run.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_targets_link_only_inner_rings(folder):
    import sys
    sys.path.insert(0, str(ROOT / "tests" / "tidy"))
    import tidy
    assert linked(folder) | (named(folder, "testing") & set(FOLDERS)) <= tidy.allowed_folders(folder)
