"""Runs the repository's rules over the repository, and proves for each rule that it can say no."""

import json
import re
import shlex
import subprocess

import pytest
import tidy

PURPOSE = "// What this is for.\n"


def test_the_repository_is_tidy(root):
    findings = tidy.check_tree(root)
    assert findings == [], "\n" + "\n".join(findings)


def test_sources_are_formatted(root):
    files = [f for f in tidy.repository_files(root) if f.endswith((".h", ".cc"))]
    run = subprocess.run(["clang-format-16", "--dry-run", "-Werror", *files], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, f"./dev fmt mends this:\n{run.stderr[:4000]}"


@pytest.mark.parametrize("path, text, finding", [
    ("src/base/a.cc", "int x;\n", "a file opens with a comment"),
    ("tests/x/test_a.py", "import os\n", "a file opens with a comment"),
    ("src/base/a.cc", PURPOSE + "// TODO later\n", "finish it or leave it out"),
    ("src/base/a.cc", PURPOSE + "#include <fcntl.h>\nint f = open(path, 0);\n", "open belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "int f = ::open(path, 0);\n", "open belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "::rename(a, b);\n", "rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "fsync(fd);\n", "fsync belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "std::ofstream out(path);\n", "ofstream belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "auto t = std::chrono::system_clock::now();\n", "system_clock belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "auto t = std::chrono::steady_clock::now();\n", "steady_clock belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "using namespace std;\nofstream out(path);\n", "ofstream belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "fs::rename(a, b);\n", "fs::rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "fs2::rename(a, b);\n", "fs2::rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "std::filesystem::rename(a, b);\n", "filesystem::rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "using files::rename;\n", "files::rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "#include <filesystem>\n  rename(from, to);\n", "rename belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "std::fstream file(path);\n", "fstream belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "std::wfstream file(path);\n", "wfstream belongs behind a seam"),
    *[("src/base/a.cc", PURPOSE + f"auto x = {name}(a, b);\n", f"{name} belongs behind a seam") for name in [
        "open64", "openat", "creat", "renameat", "renameat2", "freopen", "fdopen", "mkstemp", "mkostemp", "mkstemps",
        "tmpfile", "getentropy", "arc4random", "arc4random_buf"]],
    ("src/base/a.cc", PURPOSE + "auto t = file_clock::now();\n", "file_clock belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "syscall(SYS_fork);\n", "syscall belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "getrandom(p, n, 0);\n", "getrandom belongs behind a seam"),
    ("src/base/a.cc", PURPOSE + "if (fork() == 0) {}\n", "fork belongs behind a seam"),
    ("src/base/a.h", PURPOSE + "#define X 1\n", "instead of #define"),
    ("src/base/a.cc", PURPOSE + '#include "lang/ast.h"\n', "base may not include lang/ast.h"),
    ("src/lang/a.cc", PURPOSE + '#include "router/x.h"\n', "lang may not include router/x.h"),
    ("src/router/a.cc", PURPOSE + '#include "engine/x.h"\n', "router may not include engine/x.h"),
    ("src/engine/a.cc", PURPOSE + '#include "cli/x.h"\n', "engine may not include cli/x.h"),
    ("src/deploy/a.cc", PURPOSE + '#include "host/x.h"\n', "deploy may not include host/x.h"),
    ("src/host/a.cc", PURPOSE + '#include "api/x.h"\n', "host may not include api/x.h"),
    *[(f"src/deploy/concepts/traffic/{name}", PURPOSE + f'#include "{other}"\n',
       f"a concept may not include another one's header: {other}") for name, other in [
        ("traffic.cc", "revision.gen.h"), ("traffic_test.cc", "revision.gen.h"),
        ("traffic.cc", "deploy/concepts/revision/lifecycle.h"),
        ("traffic.cc", "deploy/providers/runtime/local/local_host.h")]],
    *[(path, text, "only src/deploy/providers/runtime/local may name LocalRuntime") for path, text in [
        ("src/deploy/views/a.cc", PURPOSE + '#include "local_runtime.gen.h"\n'),
        ("src/deploy/views/a.cc", PURPOSE + "auto all = states.local_runtime().all();\n"),
        ("src/deploy/syncs/a.sync", "  when { LocalRuntime/repair: [] => ok[] }\n"),
        ("src/host/a.cc", PURPOSE + 'bool has = concepts.find("LocalRuntime") != nullptr;\n'),
        ("src/cli/a.cc", PURPOSE + 'tell("LocalRuntime/repair");\n')]],
    ("src/deploy/a.cc", PURPOSE + 'error.next = "sluice env list";\n', "not a command"),
    ("src/deploy/syncs/a.sync", '  else inUse[ message: "{{e}} is there; next: sluice env destroy {{e}}" ]\n', "not a command"),
    ("src/lang/a.cc", PURPOSE + '#include "../base/x.h"\n', "includes start with the folder's name"),
    ("src/lang/a.cc", PURPOSE + '#include "ast.h"\n', "includes start with the folder's name"),
    ("src/newfolder/a.cc", PURPOSE + '#include "base/x.h"\n', "has no ring"),
    ("src/base/a.h", PURPOSE + "std::string name();\n", "string needs #include <string>"),
    ("src/base/a.h", PURPOSE + "#include <string>\nstd::vector<std::string> names();\n", "vector needs #include <vector>"),
    ("src/base/a.h", PURPOSE + "void take(uint64_t n);\n", "uint64_t needs #include <cstdint>"),
    ("src/base/a.h", PURPOSE + "json::value tree();\n", "json:: needs #include <boost/json.hpp>"),
    ("docs/a.md", "see [there](nowhere.md)\n", "the link leads nowhere"),
    ("README.md", "see [there](#no-such-heading)\n", "no such heading"),
])
def test_each_rule_refuses_what_it_is_for(root, path, text, finding):
    assert any(finding in found for found in tidy.check_text(root, path, text))


@pytest.mark.parametrize("path, text", [
    ("src/base/real_disk.cc", PURPOSE + "int f = ::open(path, 0);\n"),
    ("src/base/a.cc", PURPOSE + "Result<void> open(Path path);\n"),
    ("src/base/a.cc", PURPOSE + "disk.open(path); file->rename(b); // open(\n"),
    ("src/base/a.cc", PURPOSE + 'auto s = "fork(";\n'),
    ("src/base/a.cc", PURPOSE + "#include <fstream>\nstd::ifstream in(path);\n"),
    ("src/base/a.cc", PURPOSE + "#include <filesystem>\nResult<void> rename(Path to);\nvoid Disk::rename(Path to) {}\n"),
    ("src/engine/a.cc", PURPOSE + '#include "lang/ast.h"\n#include "base/result.h"\n'),
    ("src/cli/a.cc", PURPOSE + '#include "host/x.h"\n#include "deploy/x.h"\n'),
    ("src/host/a.cc", PURPOSE + '#include "deploy/x.h"\n#include "router/x.h"\n'),
    ("src/deploy/concepts/revision/a.cc", PURPOSE + '#include "deploy/concepts/revision/lifecycle.h"\n'
                                          '#include "deploy/packs.h"\n#include "revision.gen.h"\n'),
    ("src/deploy/views/a.cc", PURPOSE + '#include "deploy/concepts/revision/lifecycle.h"\n#include "traffic.gen.h"\n'),
    ("src/base/a.h", PURPOSE + "#include <string>\nstd::string name();  // std::vector\n"),
    ("src/engine/a.h", PURPOSE + '#include "base/result.h"\nResult<std::string> name();\n'),
])
def test_the_rules_let_good_code_pass(root, path, text):
    assert tidy.check_text(root, path, text) == []


def alone(build_dir, folder):
    """The build's own commands that compile each header of a folder alone, by header."""
    commands = json.loads((build_dir / "compile_commands.json").read_text())
    pattern = re.compile(rf"/alone/{folder}/([\w/]+)\.cc$")
    return {f"{folder}/{found.group(1)}.h": c for c in commands if (found := pattern.search(c["file"]))}


def test_every_header_is_compiled_alone(root, build_dir):
    for folder in sorted(path.parent.name for path in root.glob("src/*/CMakeLists.txt")):
        parts = re.search(r"PARTS ((?:[a-z0-9/]+ )+)", (root / "src" / folder / "CMakeLists.txt").read_text())
        places = [folder, *(f"{folder}/{part}" for part in (parts.group(1).split() if parts else []))]
        headers = {f"{place}/{path.name}" for place in places for path in (root / "src" / place).glob("*.h")}
        assert set(alone(build_dir, folder)) == headers
    assert "compile release headers" in (root / "dev").read_text().split("test)", 1)[1].split(";;")[0]


def test_a_header_that_leans_on_others_does_not_compile_alone(build_dir, tmp_path):
    command = alone(build_dir, "base")["base/table.h"]
    words = shlex.split(command["command"])[1 if "ccache" in command["command"].split()[0] else 0:]
    words = words[:words.index("-o")]
    for text, code in [("sluice::Table t();\n", 1), ("#include \"base/table.h\"\nsluice::Table t();\n", 0)]:
        (tmp_path / "probe.h").write_text("#pragma once\n" + text)
        (tmp_path / "probe.cc").write_text('#include "probe.h"\n')
        run = subprocess.run([*words, "-fsyntax-only", str(tmp_path / "probe.cc")], capture_output=True,
                             cwd=command["directory"])
        assert run.returncode == code, run.stderr


def test_two_test_files_of_one_name_are_refused():
    assert list(tidy.same_names({"tests/b/test_x.py", "tests/a/test_x.py", "tests/a/x.py", "tests/b/x.py"})) == \
        ["tests/b/test_x.py:1: tests/a/test_x.py has the same name"]


def test_code_without_a_test_is_refused():
    assert list(tidy.missing_tests({"src/base/a.cc"})) == ["src/base/a.cc:1: no a_test.cc beside it"]
    assert list(tidy.missing_tests({"src/base/a.cc", "src/base/a_test.cc", "src/cli/main.cc", "src/base/testing_a.cc"})) == []
