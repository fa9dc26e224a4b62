"""The editors' highlighters know every word of the language. The words are listed here, the list is compared with what
the parsers ask for, and two samples that hold all of them in their places are highlighted: with the TextMate grammars
by a small interpreter below, with the Vim files by Vim where it is installed."""

import json
import re
import shutil
import subprocess

import pytest

# What the parsers ask for by its spelling.
CONCEPT_WORDS = set("""concept purpose state actions action capabilities requires parallel invariant example forall
    always never eventually scenario description right runs retry deadline callers syncs reversal fixture pure query effect
    changes shifts destroys answered outside safe probe none code version gate category visibility after then and or not in where exists given when settlement
    sync timeoutMs anchor ensures set list option true false null kind routed by provides else next view if""".split())
SYNC_WORDS = set("""sync guard purpose when where then caused by latest requested engine as no filter any bind each in
    and or not forall exists answer before over require else eager eventual loop retry true false null none next view if""".split())
IDLE_ANNOTATIONS = set("idempotent local lazy required recommended optional integration".split())
TYPES = set("String Int Float Bool Bytes DateTime ID Request Sealed".split())
CONCEPT_FUNCTIONS = {"count", "now", "concat"}
SYNC_FUNCTIONS = {"uuid", "now", "concat", "cond", "nameOf"}

CONCEPT = r'''
# action in a comment
@version(2) @gate @category("ops")
concept Parcel [P] {
  @visibility("public")
  purpose { never { runs: in } prose }
  parallel: 8  kind: "van"
  routed by: carrier
  state { parcels: set P  stops: P -> list { place: String, at: DateTime }  size: P -> option Int  w: P -> Float
          b: P -> Bool  c: P -> Bytes  d: P -> ID  e: P -> option Request  f: P -> Sealed }
  capabilities { requires full-compute }
  actions {
    action ship(parcel: P, retry: Int) {
      description { where words mean nothing }
      runs: effect  retry: probe  deadline: 90s  reversal: recall (lost)
      -> ok(parcel: P) @code(ok) { then it is there }
      -> lost { after all }
      next: Parcel/ship [ parcel: parcel ] if retry < 3
      next: view "parcels"
      fixture first { parcel: "a\n", retry: 1 } -> ok
      fixture second { parcel: $first.parcel, retry: -2 } after first
    }
    action a() { right: handle  effect: changes  runs: pure retry: safe reversal: none -> ok }
    action b() { effect: none  runs: query retry: never -> ok }
    action c() { effect: shifts  runs: answered callers: syncs -> ok }
    action d() { effect: destroys  runs: answered outside -> ok }
  }
  provides Carrier { carry -> ship [ parcel: row ] { ok; lost -> gone[ why: "{{parcel}}" ]; else -> gone } }
  invariant { named { after ship(parcel: p) -> ok(parcel: q) then p = q and 0 = count(stops) } }
  example "one" { after a() -> ok then null != now() }
  forall "all" { given p in parcels where p.size > 1 or not (p.b = true) then b() -> ok }
  always { forall p in parcels: concat(p.w, "x") in ["y"] }
  never { exists p in parcels: p.b = false }
  eventually { p = _ }
  scenario s { fixture x { a: 1 } settlement: sync given { a() -> ok } when { b() -> ok } then { c() -> ok } }
  scenario t { settlement: "async-eventually" { timeoutMs: 5 } then { p = none } }
  scenario u { settlement: "async-with-anchor" { anchor: "x" } then { p = 1.5e3 } }
  action ship { requires: retry > 0  ensures ok: parcel in parcels }
}
'''
SYNC = r'''
// when in a comment
sync Route [eager] [loop]
  purpose: "A parcel is routed."
  when { Parcel/ship: [ parcel: ?p; no: "local"; where: _ ] => requested as ?ask
         caused by Parcel/pack: [] => ok[ parcel: ?p ]
         latest Parcel/look: [] => [ size: ?s ]
         Parcel/{ship, pack}: [ note: ?n? ] => {ok, lost}[]
         Parcel/pack: [] => engine.{fault, timeout}[]
         ?c/?a: [] => engine.fault[ message: ?m ] }
  where { Parcel: { ?p size: ?s; limit.grams: 20 as ?g }  no Parcel.stops: { ?p place: "x" }
          filter(?s < 2 and not ?s = 1 or ?s in [1, 2.5]) guard(?s != 3) any(?s = 4; ?s = 5)
          bind(concat("a", uuid()) as ?t)  each(?list as { value: ?v })
          filter(forall ?x in ?list: exists ?y in ?list: ?x = ?y) }
  then { Post/send: [ text: "to {{p}} and {{?s.size}} \{{plain}} then", at: now(), x: cond(true, false, null) ]
         ?w in {PostA, PostB}/send: [ name: nameOf(?p), y: none ]
         answer ?ask => ok[ parcel: ?p ] }
sync Tell [eventual retry(away) idempotent local lazy required recommended optional integration] {
  purpose { when { then } prose }
  when { Parcel/ship: [] => [lost; parcel: ?p] } then { Parcel/look: [ parcel: ?p ] } }
guard Small before { Parcel/ship: [ parcel: ?p ] } require { Parcel: { ?p size: 1 } } else tooLarge[ parcel: ?p ]
  next: Parcel/split [ parcel: ?p ] if ?p != 1
  next: view "parcels"
guard Kept over { Parcel.stops: { ?p place: ?x } } where { } require { no Parcel: { ?p } }
  else engine.refused[ message: "no" ]
'''

WORDLIKE = re.compile(r"keyword|storage|constant\.language|support|entity\.other|invalid\.deprecated")
VIM_WORDLIKE = re.compile(r"Keyword|Word|Operator|Kind|Container|Type|Literal|Function|Annotation|NoEffect|Else|Requested")


# ---- the words

def parser_words(root, names):
    """Every word that these parsers compare a token with."""
    words = set()
    for name in names:
        text = (root / "src/lang/syntax" / f"{name}_parser.cc").read_text()
        words |= set(re.findall(r'\b(?:accept|expect|at|is)\("([A-Za-z]+)"', text))
        words |= set(re.findall(r'(?:==|\?|:) "([A-Za-z]+)"', text)) - {"category"}
        for table in re.findall(r"k(?:Concept)?Annotations = \{(.*?)\};|kReserved = \{(.*?)\};", text, flags=re.S):
            words |= set(re.findall(r'"([A-Za-z]+)"', "".join(table)))
        words |= set(re.findall(r'\{"([a-z]+)", Kind::', text)) | set(re.findall(r'\{"([a-z]+)", Op::', text))
    return words


def test_the_lists_are_what_the_concept_parsers_ask_for(root):
    asked = parser_words(root, ["concept", "invariant", "next", "provides", "type"]) | parser_words(root, ["expression"])
    assert asked - CONCEPT_WORDS == set()


def test_the_lists_are_what_the_sync_parser_asks_for(root):
    # `for each` is recognised in order to be refused.
    assert parser_words(root, ["sync", "next", "pattern", "where"]) - SYNC_WORDS - IDLE_ANNOTATIONS == {"for"}


def test_the_lists_have_every_type_and_function(root):
    ast = (root / "src/lang/syntax/ast.cc").read_text()
    assert set(re.findall(r'"(\w+)"', re.search(r"kPrimitives = \{(.*?)\};", ast, flags=re.S).group(1))) == TYPES
    rules = (root / "src/lang/check/check_expr.cc").read_text()
    assert set(re.findall(r'Function\{"(\w+)"', rules)) == SYNC_FUNCTIONS
    invariants = (root / "src/lang/run/evaluate.cc").read_text()
    assert set(re.findall(r'expr\.name == "(\w+)"', invariants)) == CONCEPT_FUNCTIONS


# ---- TextMate

def rules_of(grammar, patterns):
    for pattern in patterns:
        if "include" in pattern:
            pattern = grammar["repository"][pattern["include"].removeprefix("#")]
        if "match" in pattern or "begin" in pattern:
            yield pattern
        else:
            yield from rules_of(grammar, pattern["patterns"])


def highlight(grammar, text):
    """(text, scope) of every piece that the grammar gives a scope of its own, innermost alone."""
    found = []
    stack = [{"end": None, "patterns": grammar["patterns"]}]

    def take(match, captures, name):
        for group, capture in captures.items():
            if match.group(int(group)):
                found.append((match.group(int(group)), capture["name"]))
        if name and match.group():
            found.append((match.group(), name))

    for line in text.splitlines():
        at = 0
        while at <= len(line):
            top = stack[-1]
            end = re.compile(top["end"]).search(line, at) if top["end"] else None
            best, rule = end, None
            for candidate in rules_of(grammar, top["patterns"]):
                match = re.compile(candidate.get("match") or candidate["begin"]).search(line, at)
                if match and (best is None or match.start() < best.start()):
                    best, rule = match, candidate
            inner = top.get("name") or top.get("contentName")
            plain = line[at:best.start() if best else len(line)]
            if inner and plain:
                found.append((plain, inner))
            if best is None:
                break
            if rule is None:
                stack.pop()
            elif "match" in rule:
                assert best.group(), rule
                take(best, rule.get("captures", {}), rule.get("name"))
            else:
                take(best, rule.get("beginCaptures", {}), None)
                stack.append(rule)
            at = best.end()
            if rule is None and best.end() == len(line) and not best.group():
                break
    assert len(stack) == 1, stack[-1]
    return found


@pytest.fixture(params=["concept", "sync"])
def grammar(root, request):
    return json.loads((root / f"contrib/vscode/syntaxes/{request.param}.tmLanguage.json").read_text())


def test_every_regex_of_the_grammars_compiles(grammar):
    def walk(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("match", "begin", "end"):
                    re.compile(value)
                walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)
    walk(grammar)


def test_every_include_leads_to_a_rule_and_every_rule_is_included(grammar):
    included = set(re.findall(r'"include": "#(\w+)"', json.dumps(grammar)))
    assert included == set(grammar["repository"])


def test_the_extension_names_files_that_are_there(root):
    folder = root / "contrib/vscode"
    package = json.loads((folder / "package.json").read_text())
    configuration = json.loads((folder / "language-configuration.json").read_text())
    re.compile(configuration["wordPattern"])
    for language in package["contributes"]["languages"]:
        assert (folder / language["configuration"]).is_file()
    for entry in package["contributes"]["grammars"]:
        grammar = json.loads((folder / entry["path"]).read_text())
        assert grammar["scopeName"] == entry["scopeName"]
        extension = next(language["extensions"] for language in package["contributes"]["languages"]
                         if language["id"] == entry["language"])
        assert extension == ["." + kind for kind in grammar["fileTypes"]]


def load(root, name):
    return json.loads((root / f"contrib/vscode/syntaxes/{name}.tmLanguage.json").read_text())


def words_in(pieces, scopes):
    return {word for text, scope in pieces if scopes.search(scope) for word in re.findall(r"[A-Za-z]+", text)}


def test_textmate_knows_every_word_of_concepts(root):
    known = words_in(highlight(load(root, "concept"), CONCEPT), WORDLIKE)
    assert (CONCEPT_WORDS | TYPES | CONCEPT_FUNCTIONS) - known == set()


def test_textmate_knows_every_word_of_syncs(root):
    known = words_in(highlight(load(root, "sync"), SYNC), WORDLIKE)
    assert (SYNC_WORDS | IDLE_ANNOTATIONS | SYNC_FUNCTIONS) - known == set()


@pytest.mark.parametrize("name, text, scope", [
    ("concept", "ok", "constant.other.variant"),
    ("concept", "lost", "constant.other.variant"),
    ("concept", "ship", "entity.name.function.action"),
    ("concept", "Parcel", "entity.name.type"),
    ("concept", "retry", "variable.other.member"),  # the argument of ship
    ("concept", "$first.parcel", "variable.other.fixture"),
    ("concept", r"\n", "constant.character.escape"),
    ("concept", "90s", "constant.numeric"),
    ("concept", "-2", "constant.numeric"),
    ("concept", "@version", "entity.other.attribute-name"),
    ("concept", "@code", "entity.other.attribute-name"),
    ("concept", "# action in a comment", "comment.line"),
    ("concept", " where words mean nothing ", "comment.block.documentation"),
    ("concept", " then it is there ", "comment.block.documentation"),
    ("concept", " after all ", "comment.block.documentation"),
    ("sync", "?p", "variable.other"),
    ("sync", "p", "variable.other"),  # in {{p}}
    ("sync", "{{p}}", "meta.template.expression"),
    ("sync", "?s.size", "variable.other"),
    ("sync", r"\{", "constant.character.escape"),
    ("sync", "ok", "constant.other.variant"),
    ("sync", "lost", "constant.other.variant"),
    ("sync", "away", "constant.other.variant"),
    ("sync", "tooLarge", "constant.other.variant"),
    ("sync", "fault", "support.constant.outcome"),
    ("sync", "refused", "support.constant.outcome"),
    ("sync", "no", "variable.other.member"),  # the argument of that name
    ("sync", "where", "variable.other.member"),
    ("sync", "limit.grams", "variable.other.member"),
    ("sync", "// when in a comment", "comment.line"),
    ("sync", " prose ", "comment.block.documentation"),
    ("sync", "eager", "entity.other.attribute-name"),
])
def test_textmate_gives_each_kind_its_scope(root, name, text, scope):
    sample = {"concept": CONCEPT, "sync": SYNC}[name]
    assert any(piece == text and found.startswith(scope) for piece, found in highlight(load(root, name), sample))


def test_textmate_finds_no_fault_in_the_repository(root):
    for path in sorted(root.glob("tests/lang/**/*.*")):
        if path.suffix in (".concept", ".sync"):
            pieces = highlight(load(root, path.suffix[1:]), path.read_text())
            assert [text for text, scope in pieces if scope.startswith("invalid.illegal")] == [], path


# ---- Vim

def vim_highlight(root, tmp_path, kind, text):
    """(text, highlight group) of every run of characters, as Vim shows them."""
    if not shutil.which("vim"):
        pytest.skip("Vim is not installed")
    sample = tmp_path / f"sample.{kind}"
    sample.write_text(text)
    out = tmp_path / "out"
    script = tmp_path / "script.vim"
    script.write_text(f"""
set nocompatible runtimepath^={root}/contrib/vim
filetype on
syntax on
edit {sample}
let found = [&filetype]
for line in range(1, line('$'))
  for column in range(1, col([line, '$']) - 1)
    let name = synIDattr(synID(line, column, 1), 'name')
    call add(found, line . ' ' . column . ' ' . name)
  endfor
endfor
call writefile(found, '{out}')
qall!
""")
    run = subprocess.run(["vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", str(script)], capture_output=True,
                         text=True, timeout=120, stdin=subprocess.DEVNULL)
    if not out.is_file():
        pytest.skip("this Vim has no syntax highlighting")
    lines = out.read_text().splitlines()
    assert lines[0] == f"sluice-{kind}", run.stdout + run.stderr
    source = text.splitlines()
    runs, last = [], None
    for entry in lines[1:]:
        line, column, *name = entry.split(" ")
        group = name[0] if name else ""
        character = source[int(line) - 1][int(column) - 1]
        if last == (line, group):
            runs[-1][0] += character
        else:
            runs.append([character, group])
        last = (line, group)
    return [tuple(run) for run in runs]


def test_vim_knows_every_word_of_concepts(root, tmp_path):
    known = words_in(vim_highlight(root, tmp_path, "concept", CONCEPT), VIM_WORDLIKE)
    assert (CONCEPT_WORDS | TYPES | CONCEPT_FUNCTIONS) - known == set()


def test_vim_knows_every_word_of_syncs(root, tmp_path):
    known = words_in(vim_highlight(root, tmp_path, "sync", SYNC), VIM_WORDLIKE)
    assert (SYNC_WORDS | IDLE_ANNOTATIONS | SYNC_FUNCTIONS) - known == set()


@pytest.mark.parametrize("kind, pieces", [
    ("concept", [("Parcel", "Name"), ("retry", "Field"), ("lost", "VariantName"), (r"\n", "Escape"),
                 ("@version", "Annotation"), ("# action in a comment", "Comment"), ("90s", "Number"), ("-2", "Number"),
                 (" where words mean nothing ", "Prose"), ("{ then it is there }", "Prose"), ("{ after all }", "Prose"),
                 ("$first.parcel", "FixtureField"), ("runs", "ClauseWord")]),
    ("sync", [("?p", "Variable"), ("{{p}}", "Hole"), ("{{?s.size}}", "Hole"), ("tooLarge", "VariantName"),
              ("lost", "VariantName"), ("no", "Field"), ("where", "Field"), ("fault", "VariantName"),
              ("Parcel", "Concept"), ("ship", "ActionName"), ("eager", "Annotation"), ("?s", "Variable"),
              ("// when in a comment", "Comment")]),
])
def test_vim_gives_each_kind_its_group(root, tmp_path, kind, pieces):
    shown = set(vim_highlight(root, tmp_path, kind, {"concept": CONCEPT, "sync": SYNC}[kind]))
    assert {(text, "sluice" + group) for text, group in pieces} - shown == set()


@pytest.mark.parametrize("kind", ["concept", "sync"])
def test_the_vim_files_name_every_word(root, kind):
    """Without Vim: the words stand in the patterns."""
    text = (root / f"contrib/vim/syntax/sluice-{kind}.vim").read_text()
    patterns = "\n".join(line for line in text.splitlines() if line.startswith("syn "))
    known = set(re.findall(r"[A-Za-z]+", re.sub(r"\\[shwuldx<>]|\\z[es]|\\_s", " ", patterns)))
    words = {"concept": CONCEPT_WORDS | TYPES | CONCEPT_FUNCTIONS,
             "sync": SYNC_WORDS | IDLE_ANNOTATIONS | SYNC_FUNCTIONS}[kind]
    assert words - known == set()
