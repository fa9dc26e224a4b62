"""What conceptc's output refuses: handlers that invent, forget or peek do not compile, and the same without the fault
does. Also: equal bytes on every run, errors that name the place, and variants that no test reaches."""

import json
import subprocess

import pytest


@pytest.fixture(scope="session")
def compile_kit(build_dir, command_of, tmp_path_factory):
    """Compiles a text as a source of the kit, with the flags that its own sources have; returns what the compiler says,
    which is nothing if all is well. The headers are compiled once."""
    command = command_of("kit")
    flags = [flag for flag in command[:command.index("-c")] if flag != "-o" and not flag.endswith(".o")]
    folder = tmp_path_factory.mktemp("sources")
    header = folder / "kit.h"
    header.write_text('#include "parcel_work.h"\n')
    subprocess.run([*flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"], cwd=build_dir, check=True)

    def compile_text(text):
        path = folder / "handler.cc"
        path.write_text("namespace sluice::kit::parcel {\n" + text + "\n}\n")
        run = subprocess.run([*flags, "-include", str(header), "-fsyntax-only", "-c", str(path)], cwd=build_dir,
                             capture_output=True, text=True)
        assert (run.returncode == 0) == ("error" not in run.stderr)
        return run.stderr

    return compile_text


@pytest.mark.parametrize("text", [
    "Pack::Result f() { return Pack::Ok{.parcel = ParcelId(\"p\"), .class_ = \"first\"}; }",
    "int f(const Pack::Result& r) { switch (variant_of(r)) {"
    " case Pack::Variant::ok: return 1; case Pack::Variant::tooHeavy: return 2; } return 0; }",
    "Pack f() { return {.address = \"Elm 1\", .size = ParcelSize::small, .grams = 1}; }",
    "Ship::Performed f(const ShipWork& work, Effect& effect) { return Ship::Ok{.tracking = effect.open(work.token)}; }",
    "bool f(const Look& ask, const State& state) { return state.has(ask.parcel) && state.stops(ask.parcel).empty(); }",
])
def test_what_is_right_compiles(compile_kit, text):
    assert compile_kit(text) == ""


@pytest.mark.parametrize("what, text, said", [
    ("a variant that the concept does not have",
     "Pack::Result f() { return Pack::Exploded{}; }", "Exploded"),
    ("a variant of another action",
     "Pack::Result f() { return Look::Notfound{}; }", "could not convert"),
    ("a switch that forgets a variant",
     "int f(const Pack::Result& r) { switch (variant_of(r)) { case Pack::Variant::ok: return 1; } return 0; }",
     "tooHeavy"),
    ("a switch that forgets that the engine may end it",
     "int f(const Sign::Outcome& o) { switch (ended_of(o)) { case Sign::Ended::ok: return 1; } return 0; }", "engine"),
    ("a field of another type",
     "void f(Pack& pack) { pack.grams = \"heavy\"; }", "int64_t"),
    ("a field that is not there",
     "Pack f() { return {.colour = \"red\"}; }", "colour"),
    ("a literal that is not in the union",
     "ParcelStatus f() { return ParcelStatus::stolen; }", "stolen"),
    ("text where an id is expected",
     "Look f() { return {.parcel = std::string(\"p\")}; }", "could not convert"),
    ("a sealed value as text",
     "std::string f(const Ship& ask) { return ask.token; }", "could not convert"),
    ("a sealed value opened in begin",
     "std::string f(const Ship& ask, State& state) { return state.open(ask.token); }", "has no member named"),
    ("a query that writes",
     "void f(const Look& ask, const State& state) { state.erase(ask.parcel); }", "const"),
    ("a query that writes to a list",
     "void f(const Look& ask, const State& state) { state.stops(ask.parcel).clear(); }", "clear"),
    ("a handler of another shape",
     "Pack::Result Parcel::pack(const Pack&, const State&) { return Pack::Ok{}; }", "no declaration matches"),
])
def test_what_is_wrong_does_not_compile(compile_kit, what, text, said):
    errors = compile_kit(text)
    assert said in errors, f"{what} compiles, or fails for another reason:\n{errors[:2000]}"


def run_conceptc(build_dir, file, out, namespace="sluice::x"):
    return subprocess.run([build_dir / "conceptc", str(file), "--out", str(out), "--namespace", namespace],
                          capture_output=True, text=True)


def test_the_same_concept_gives_the_same_bytes(root, build_dir, tmp_path):
    for file in [root / "tests/lang/kit/parcel.concept", *sorted((root / "tests/lang/seed").rglob("*.concept"))]:
        for out in ("once", "twice"):
            run = run_conceptc(build_dir, file, tmp_path / out)
            assert run.returncode == 0, run.stderr
    once = {path.name: path.read_bytes() for path in (tmp_path / "once").iterdir()}
    twice = {path.name: path.read_bytes() for path in (tmp_path / "twice").iterdir()}
    assert once == twice
    assert len(once) == 18 * 6


def test_a_file_that_stays_the_same_is_not_written(root, build_dir, tmp_path):
    run_conceptc(build_dir, root / "tests/lang/kit/parcel.concept", tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    run_conceptc(build_dir, root / "tests/lang/kit/parcel.concept", tmp_path)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert before


@pytest.mark.parametrize("text, said", [
    ("concept A [T] {\n  actions { action a(x: Nail) { -> ok } }\n}\n",
     ":2:25: error: there is no type `Nail`\n"),
    ("concept A [T] {\n  state { x: Int -> Int }\n  actions { action a() { -> ok } }\n}\n",
     ":2:11: error: `x` maps from something that cannot be a key; a domain is a type parameter, String or ID\n"),
    ("concept A [T] {\n  actions { action a(" + ", ".join(f"x{i}: Int" for i in range(53)) + ") { -> ok } }\n}\n",
     ":2:532: error: 53 arguments are too many; at most 52 stand together\n"),
    ("concept A [T] {\n  actions { action get_it() { -> ok } action getIt() { -> ok } }\n}\n",
     ":2:46: error: `getIt` and `get_it` are one name in C++\n"),
    ("concept A [T] {\n  actions { action a() { -> } }\n}\n", ":2:29: error: "),
])
def test_an_error_names_the_place_and_nothing_is_written(build_dir, tmp_path, text, said):
    file = tmp_path / "a.concept"
    file.write_text(text)
    run = run_conceptc(build_dir, file, tmp_path / "out")
    assert run.returncode == 1
    assert run.stderr.startswith(str(file) + said), run.stderr
    assert not list((tmp_path / "out").glob("*"))


def test_a_file_that_cannot_be_read_is_told_with_its_place(build_dir, tmp_path):
    file = tmp_path / "a.concept"
    file.touch()
    with file.open("r+b") as large:
        large.truncate(50_000_000)
    run = run_conceptc(build_dir, file, tmp_path / "out")
    assert run.returncode != 0
    assert run.stderr.splitlines() == [
        f"{file}:1:1: error: {file} has 50000000 bytes; a source file may have 8388608",
        "  hint: split it into several files"]
    assert not (tmp_path / "out").exists()


def test_a_namespace_that_cpp_cannot_have_is_refused(root, build_dir, tmp_path):
    run = run_conceptc(build_dir, root / "tests/lang/kit/parcel.concept", tmp_path / "out", "sluice::class")
    assert run.returncode == 2
    assert run.stderr.startswith('--namespace: "sluice::class" is no namespace that C++ can have')
    assert not list((tmp_path / "out").glob("*"))


def test_a_call_without_a_file_says_what_is_missing(build_dir):
    run = subprocess.run([build_dir / "conceptc"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "conceptc: FILE is required\nnext: conceptc --help\n"
    run = subprocess.run([build_dir / "conceptc", "--help"], capture_output=True, text=True)
    assert run.returncode == 0 and "--namespace" in run.stdout


def test_the_schemas_are_schemas(build_dir):
    schemas = sorted((build_dir / "concepts").rglob("*.schema.json"))
    made = sorted((build_dir / "concepts").rglob("*.gen.h"))
    assert [path.name.removesuffix(".schema.json") for path in schemas] == \
        [path.name.removesuffix(".gen.h") for path in made]
    assert len(schemas) > 20
    for path in schemas:
        schema = json.loads(path.read_text())
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        for definition in schema["$defs"].values():
            assert set(definition.get("required", [])) <= set(definition["properties"])


def check_variants(root, seen, *lists):
    return subprocess.run(["python3", root / "cmake/check_variants.py", "--seen", seen, *lists],
                          capture_output=True, text=True)


def test_a_variant_that_no_test_reaches_is_named(root, build_dir, tmp_path):
    variants = build_dir / "concepts/kit/parcel.variants"
    names = variants.read_text().splitlines()
    assert "Parcel.ship.lost" in names
    for name in names:
        (tmp_path / name).touch()
    assert check_variants(root, tmp_path, variants).returncode == 0
    (tmp_path / "Parcel.ship.lost").unlink()
    (tmp_path / "Parcel.deliver.notHome").unlink()
    run = check_variants(root, tmp_path, variants)
    assert run.returncode == 1
    assert run.stderr == "no test reaches Parcel/ship => lost\nno test reaches Parcel/deliver => notHome\n"
