"""The repository's own rules, beyond what the compiler, clang-format and clang-tidy know. Each rule is a function
from a file (or the tree) to findings `path:line: text`; test_tidy.py runs them all and proves that each can fail."""

import re
import subprocess
from pathlib import Path

# Ring of each folder of src/; a folder uses only rings further in. Within ring 2 the machine and the tools stand side
# by side and do not use each other.
RINGS = {"base": 1, "crypto": 1, "deploy": 3, "host": 4, "api": 5, "mcp": 5, "deployer": 5, "cli": 5, "console": 5}
MACHINE = ["lang", "store", "engine"]
TOOLS = ["bundle", "process", "pack", "container", "oci", "judge", "plan", "render", "kube", "mesh", "migrate", "acme", "http",
         "git", "router"]
RINGS.update({name: 2 for name in MACHINE + TOOLS})

# The only files that touch the real disk, clock, randomness and processes: the seams.
SEAMS = {
    "src/base/real_disk.cc",
    "src/base/clock.cc",
    "src/base/random.cc",
    "src/base/thread_turns.cc",
    "src/base/tool_probe.cc",
    "src/process/attached.cc",
    "src/process/own_program.cc",
    "src/process/spawn.cc",
    "src/process/system.cc",
    "src/router/mapped_file.cc",
    "src/router/worker_process.cc",
}

# Calls that belong to the seams. The first group is unmistakable; the names of the second are ordinary words, and
# count when written `::name(` or where the header that declares them is included.
SEAM_CALLS = re.compile(
    r"(?<![\w.>])(open64|openat2?|openat64|creat|creat64|renameat2?|fsync|fdatasync|getrandom|getentropy|"
    r"arc4random(?:_buf|_uniform)?|fork|vfork|gettimeofday|clock_gettime|fopen|fopen64|freopen|freopen64|fdopen|"
    r"tmpfile|syscall|popen|posix_spawnp?|mkstemps?|mkstemp64|mkostemps?|mkostemp64|RAND_bytes)\s*\("
    r"|\b(w?ofstream|w?fstream|basic_ofstream|basic_fstream|filebuf|random_device)\b(?!>)"
    # Namespaces begin with a small letter, whatever alias filesystem has; classes, which may have a rename, do not.
    r"|\b([a-z]\w*::rename)\b"
    r"|\b((?:system|steady|high_resolution|file|utc|tai|gps)_clock)\b"
    r"|(?<![\w>])(?:std)?::(open|rename|time)\s*\("
)
# By arguments of filesystem's types its functions are found without their namespace; a declaration is no call.
RENAME_BY_ARGUMENT = re.compile(r"(?:(?<=return )|(?<=else )|(?<=&& )|(?<![\w>&*] )(?<![\w.>:]))(rename)\s*\(")
PLAIN_CALLS = {"fcntl.h": "open", "cstdio": "rename", "stdio.h": "rename", "ctime": "time", "time.h": "time"}

SOURCE = {".h", ".cc"}


def repository_files(root):
    """What git tracks or would track, that still exists."""
    out = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                         check=True, capture_output=True).stdout.decode()
    return sorted(name for name in set(out.split("\0")) if name and (root / name).is_file())


def without_comments_and_strings(text):
    """Blanks out comments and string literals and keeps the lines where they are."""
    pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def purpose(path, text):
    """Every source file opens with a comment that says what it is for."""
    lines = [line for line in text.splitlines()[:4] if line.strip() and not line.startswith("#!")]
    first = lines[0] if lines else ""
    opening = {".h": "//", ".cc": "//", ".py": '"""', ".cmake": "#", ".sh": "#", ".ts": "//"}
    expected = opening.get(Path(path).suffix) or ("#" if text.startswith("#!") else None)
    if Path(path).name == "CMakeLists.txt" and len(text.splitlines()) > 3:
        expected = "#"
    if expected and not first.startswith(expected):
        yield f"{path}:1: a file opens with a comment that says its purpose"


def leftovers(path, text):
    """Work that is not done is not committed."""
    if path.startswith("tests/tidy/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line, re.I):
            yield f"{path}:{number}: finish it or leave it out: {line.strip()[:60]}"


def seams(path, text):
    """Disk, clock, randomness and processes are reached through base's interfaces, so that tests can make them fail."""
    if Path(path).suffix not in SOURCE or not path.startswith("src/") or path in SEAMS or path.endswith("_test.cc"):
        return
    plain = {name for header, name in PLAIN_CALLS.items() if f"#include <{header}>" in text}
    plain_call = re.compile(rf"(?<![\w.>:])({'|'.join(sorted(plain))})\s*\(") if plain else None
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        found = SEAM_CALLS.search(line) or (plain_call and plain_call.search(line))
        if not found and "#include <filesystem>" in text:
            found = RENAME_BY_ARGUMENT.search(line)
        if found:
            name = next(group for group in found.groups() if group)
            yield f"{path}:{number}: {name} belongs behind a seam of base/ (Disk, Clock, Random, tool probe)"


def macros(path, text):
    """No macros but for the build."""
    if Path(path).suffix in SOURCE and path.startswith("src/"):
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#define"):
                yield f"{path}:{number}: a constant or a function instead of #define"


def allowed_folders(folder):
    """The folders that `folder` may include from, itself among them."""
    ring = RINGS[folder]
    side = MACHINE if folder in MACHINE else TOOLS
    inner = {name for name, other in RINGS.items() if other < ring}
    if ring == 2:
        return inner | set(side)
    return inner | {name for name, other in RINGS.items() if other == ring}


def includes(path, text):
    """An include leads inwards, and says its folder."""
    parts = Path(path).parts
    if Path(path).suffix not in SOURCE or parts[0] != "src":
        return
    folder = parts[1]
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#include\s+"([^"]+)"', line)
        if not found:
            continue
        target = found.group(1)
        top = target.split("/")[0]
        if target.startswith(".") or "/" not in target and not target.endswith((".gen.h",)):
            yield f"{path}:{number}: includes start with the folder's name: {target}"
        elif folder not in RINGS:
            yield f"{path}:{number}: src/{folder} has no ring; add it to RINGS in tests/tidy/tidy.py"
        elif top in RINGS and top not in allowed_folders(folder):
            yield f"{path}:{number}: {folder} may not include {target}: {top} is not further in"


def concepts(root, path, text):
    """No concept includes another one's header; the build would not find it."""
    folder = Path(path).parent
    if Path(path).suffix not in SOURCE or not any((root / folder).glob("*.concept")):
        return
    own = {found.stem.replace("-", "_") for found in (root / folder).glob("*.concept")}
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#include\s+"([^"]+)"', line)
        target = found.group(1) if found else ""
        made = target.removesuffix(".gen.h")
        elsewhere = target.count("/") and any((root / "src" / target).parent.glob("*.concept"))
        if made != target and made not in own or elsewhere and Path("src", target).parent != folder:
            yield f"{path}:{number}: a concept may not include another one's header: {target}"


def providers(root, path, text):
    """Only a provider's own folder names it: everyone else asks the concept that it provides."""
    if Path(path).parts[:2] not in (("src", "deploy"), ("src", "host"), ("src", "api"), ("src", "cli")):
        return
    if Path(path).suffix not in {*SOURCE, ".sync", ".concept"} or re.search(r"(^testing_|_test\.cc$)", Path(path).name):
        return
    for spec in (root / "src/deploy/providers").rglob("*.concept"):
        name = re.search(r"^concept (\w+)", spec.read_text(), re.M).group(1)
        if spec.parent == root / Path(path).parent:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(rf"\b{name}\b|\b{spec.stem}(\.gen\.h|\(\))", line):
                yield f"{path}:{number}: only {spec.parent.relative_to(root)} may name {name}"


def kit_words(path, text):
    """No text of the kit speaks a door's words: what to do next is an action, a view or a sentence."""
    if not path.startswith("src/deploy/") or re.search(r"(^testing_|_test\.cc$)", Path(path).name):
        return
    if Path(path).suffix not in {*SOURCE, ".sync", ".concept"}:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r'"[^"]*\bsluice [a-z]', re.sub(r"^\s*(//|#).*", "", line)):
            yield f"{path}:{number}: a text of the kit names an action, a view or a sentence, not a command"


# The names of the standard library that headers use, by the header that brings them. Headers are compiled over a
# precompiled one that has most of these, so the compiler does not miss them.
BRINGS = {
    "string": "string to_string", "string_view": "string_view", "vector": "vector", "map": "map multimap",
    "set": "set multiset", "unordered_map": "unordered_map", "unordered_set": "unordered_set",
    "optional": "optional nullopt", "variant": "variant visit get_if holds_alternative monostate",
    "functional": "function reference_wrapper", "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "array": "array", "span": "span", "deque": "deque", "list": "list", "tuple": "tuple tie", "chrono": "chrono",
    "atomic": "atomic", "mutex": "mutex lock_guard unique_lock", "shared_mutex": "shared_mutex shared_lock",
    "thread": "thread jthread", "condition_variable": "condition_variable", "future": "future promise",
    "filesystem": "filesystem", "limits": "numeric_limits", "utility": "pair move exchange forward",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
}
BROUGHT_BY = {name: header for header, names in BRINGS.items() for name in names.split()}
# By the standard these bring std::pair and std::move's header along, or say so in all its libraries.
ALSO = {"utility": {"map", "unordered_map", "variant", "optional", "memory", "functional", "tuple", "vector", "string"}}
USED = re.compile(r"\bstd::(\w+)|(?<![\w:])(u?int(?:8|16|32|64)_t)\b")


def own_includes(text):
    return re.findall(r'^\s*#include\s+"([^"]+)"', text, re.M)


def reached(root, path, text, seen):
    """The headers of the standard library and of Boost that a header of ours includes, itself or through ours."""
    found = set(re.findall(r"^\s*#include\s+<([^>]+)>", text, re.M))
    for name in own_includes(text):
        target = root / "src" / name
        if name not in seen and target.is_file():
            seen.add(name)
            found |= reached(root, name, target.read_text(), seen)
    return found


def lone_headers(root, path, text):
    """A header brings what it uses."""
    if Path(path).suffix != ".h" or not path.startswith("src/"):
        return
    has = reached(root, path, text, set())
    # What conceptc makes brings the headers of lang along.
    if any(name.endswith(".gen.h") for name in own_includes(text)):
        return
    told = set()
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        for match in USED.finditer(line):
            name = match.group(1) or match.group(2)
            header = BROUGHT_BY.get(name)
            if header is None or header in has or has & ALSO.get(header, set()) or header in told:
                continue
            told.add(header)
            yield f"{path}:{number}: {name} needs #include <{header}>"
        if re.search(r"\bjson::\w", line) and not any(name.startswith("boost/json") for name in has) and "json" not in told:
            told.add("json")
            yield f"{path}:{number}: json:: needs #include <boost/json.hpp>"


def links(root, path, text):
    """A link in the docs leads to a file, and its anchor to a heading."""
    if Path(path).suffix != ".md":
        return
    prose = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    for number, line in enumerate(prose.splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (root / path).parent / name if name else root / path
            if not file.exists():
                yield f"{path}:{number}: the link leads nowhere: {target}"
            elif anchor and file.suffix == ".md" and anchor not in headings(file.read_text()):
                yield f"{path}:{number}: no such heading: {target}"


def headings(markdown):
    """The anchors of a Markdown file's headings."""
    found = set()
    for line in re.sub(r"```.*?```", "", markdown, flags=re.S).splitlines():
        match = re.match(r"#+\s+(.*)", line)
        if match:
            text = re.sub(r"[`*]", "", match.group(1)).strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def missing_tests(files):
    """Code and its test stand side by side."""
    for path in files:
        is_code = path.startswith("src/") and path.endswith(".cc") and not path.endswith(("_test.cc", "main.cc", "conceptc.cc"))
        if is_code and not Path(path).name.startswith("testing_"):  # those are what tests share
            if path[:-3] + "_test.cc" not in files:
                yield f"{path}:1: no {Path(path).stem}_test.cc beside it"


def same_names(files):
    """pytest takes two test files of one name for the same module, and collects only one of them."""
    seen = {}
    for path in sorted(files):
        if path.startswith("tests/") and path.endswith(".py") and Path(path).name.startswith("test_"):
            if (first := seen.setdefault(Path(path).name, path)) != path:
                yield f"{path}:1: {first} has the same name"


TEXT_RULES = [purpose, leftovers, seams, macros, includes, kit_words]
TREE_RULES = [links, concepts, providers, lone_headers]  # these look at other files as well


def check_text(root, path, text):
    findings = [finding for rule in TEXT_RULES for finding in rule(path, text)]
    return findings + [finding for rule in TREE_RULES for finding in rule(root, path, text)]


def check_tree(root):
    files = repository_files(root)
    findings = [*missing_tests(set(files)), *same_names(files)]
    for path in files:
        if path.startswith("tests/fuzz/corpus/"):
            continue
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue
        findings += check_text(root, path, text)
    return findings
