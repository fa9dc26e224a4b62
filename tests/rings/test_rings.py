"""The rings of the architecture hold because the build makes them hold: with the compile flags of its target, a folder
can include its own and inner headers, and no other."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(path.parent.name for path in ROOT.glob("src/*/CMakeLists.txt"))


def a_header(folder):
    return str(sorted((ROOT / "src" / folder).rglob("*.h"))[0].relative_to(ROOT / "src"))


def linked(folder):
    """The folders that a folder's target links, by its CMakeLists.txt, directly or through others."""
    text = (ROOT / "src" / folder / "CMakeLists.txt").read_text()
    # What only tests link does not count, nor what comments say.
    words = re.sub(r"target_link_libraries\(\w+_testing[^)]*\)|#[^\n]*", "", text).replace(")", " ").split()
    direct = [word for word in words if word in FOLDERS and word != folder]
    return set(direct).union(*(linked(name) for name in direct)) if direct else set()


def find_with_flags(command, includes, tmp_path):
    """Looks for headers as the compiler does; that each compiles is what the target `headers` proves."""
    source = tmp_path / "probe.cc"
    source.write_text("".join(f'#include "{include}"\n' for include in includes))
    words = [w for w in command if w.startswith(("-I", "-D", "-std"))]
    return subprocess.run(["g++", "-M", "-MF", "/dev/null", *words, str(source)], capture_output=True, text=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_sees_its_own_and_inner_headers(command_of, folder, tmp_path):
    run = find_with_flags(command_of(folder), [a_header(seen) for seen in {folder} | linked(folder)], tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("folder, hidden", [(f, g) for f in FOLDERS for g in FOLDERS if g != f and g not in linked(f)])
def test_a_folder_does_not_see_the_others(command_of, folder, hidden, tmp_path):
    run = find_with_flags(command_of(folder), [a_header(hidden)], tmp_path)
    assert run.returncode != 0
    assert f"{hidden}/" in run.stderr and "No such file" in run.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_targets_link_only_inner_rings(folder):
    import sys
    sys.path.insert(0, str(ROOT / "tests" / "tidy"))
    import tidy
    assert linked(folder) <= tidy.allowed_folders(folder)
