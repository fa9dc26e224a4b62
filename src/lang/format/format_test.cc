// The canonical form, exactly, and what formatting promises over every source of the tests.
#include "lang/format/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/testing_source.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/lexer.h"
#include "lang/syntax/sync_parser.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace format_test {

std::vector<std::string> texts_of(const std::vector<Comment>& comments) {
  std::vector<std::string> texts;
  for (const auto& comment : comments) texts.push_back(comment.text);
  std::ranges::sort(texts);
  return texts;
}

// The formatted text, after checking that meaning and comments stay and that formatting again changes nothing.
template <typename Parse>
std::string formatted(Parse parse, std::string_view text) {
  Diagnostics found;
  auto first = parse(text, "x", found);
  EXPECT_TRUE(first) << render(found, text);
  if (!first) return "";
  std::string once = format(*first);
  auto second = parse(once, "x", found);
  EXPECT_TRUE(second) << render(found, once) << once;
  if (!second) return "";
  EXPECT_TRUE(*first == *second) << once;
  EXPECT_EQ(texts_of(first->comments), texts_of(second->comments)) << once;
  EXPECT_EQ(format(*second), once);
  return once;
}

std::string sync(std::string_view text) { return formatted(parse_sync, text); }
std::string concept_(std::string_view text) { return formatted(parse_concept, text); }

TEST(Format, ASyncLosesItsBracesAndKeepsItsComments) {
  EXPECT_EQ(
      sync("# head\n\n// why\nsync A [eager] {  # named\n  purpose { It is so. }\n  # before when\n  when {\n"
           "    X/a: [ a: ?a, b: -1.0 ] => ok(c: ?c)  // first\n    # last in when\n  }\n"
           "  then { Y/b: [ c: ?c ]\n Y/c: [] # both\n}\n  # last in sync\n}\n\n\nsync B when { X/a: [] => [ok] } "
           "then { Y/b: [] }\n# the end"),
      "# head\n\n# why\nsync A [eager]  # named\n  purpose: \"It is so.\"\n  # before when\n  when {\n"
      "    X/a: [ a: ?a; b: -1.0 ] => ok[ c: ?c ]  # first\n    # last in when\n  }\n"
      "  then {\n    Y/b: [ c: ?c ]\n    Y/c: []  # both\n  }\n# last in sync\n\nsync B\n  when { X/a: [] => ok[] }\n"
      "  then { Y/b: [] }\n# the end\n");
}

TEST(Format, BreaksWhatIsTooLong) {
  EXPECT_EQ(sync("sync A when { Concept/action: [ first: ?first; second: ?second; third: ?third ] => variant[ fourth: "
                 "?fourth; fifth: ?fifth ] } then { Y/b: [] }"),
            "sync A\n  when {\n    Concept/action: [ first: ?first; second: ?second; third: ?third ]\n"
            "      => variant[ fourth: ?fourth; fifth: ?fifth ]\n  }\n  then { Y/b: [] }\n");
}

TEST(Format, ClefsSpellingsBecomeOurs) {
  EXPECT_EQ(sync("sync A when { ?c/?a: [] => [ok; x: ?x] } where { Z/q: [] => [ v: ?v ]; guard(?v = 1); any(?v = 1, "
                 "not ?x > 2) } then { Y/b: [ h: { ?v, ?x }; k: [ a: 1 ]; s: \"\\{{ {{x.y}}\" ] }"),
            "sync A\n  when { ?c/?a: [] => ok[ x: ?x ]\n         latest Z/q: [] => [ v: ?v ] }\n"
            "  where { filter(?v = 1)\n          any(?v = 1; not ?x > 2) }\n"
            "  then { Y/b: [ h: { v: ?v, x: ?x }; k: { a: 1 }; s: \"\\{{ {{x.y}}\" ] }\n");
}

TEST(Format, PrintsGuardsAndEveryEffect) {
  EXPECT_EQ(
      sync("guard G purpose: \"why\" before { A/b: [ x: ?x ] } where { each(?x as { y: ?y }); bind(uuid() as ?i) } "
           "require { no C.d: { ?k e: ?y as ?z }; filter(?y not in [1, \"a\"] or (?y = 1 and ?x != null)) } "
           "else engine.refused[ message: \"no\" ]\n"
           "sync S [eventual, retry(a; b)] [loop] when { A/b: [] => engine.fault[] as ?f caused by C/d: [] => "
           "requested } then { answer ?f => v(a: ?x.y); ?p in {L, M.N}/go: [ a: concat(?a, \"b\") ] }"),
      "guard G\n  purpose: \"why\"\n  before { A/b: [ x: ?x ] }\n"
      "  where { each(?x as { y: ?y })\n          bind(uuid() as ?i) }\n"
      "  require { no C.d: { ?k e: ?y as ?z }\n"
      "            filter(?y not in [1, \"a\"] or ?y = 1 and ?x != null) }\n"
      "  else engine.refused[ message: \"no\" ]\n"
      "sync S [eventual loop retry(a, b)]\n  when { A/b: [] => engine.fault[] as ?f\n"
      "         caused by C/d: [] => requested }\n"
      "  then { answer ?f => v[ a: ?x.y ]\n         ?p in {L, M.N}/go: [ a: concat(?a, \"b\") ] }\n");
}

TEST(Format, AConceptHasOneOrder) {
  EXPECT_EQ(concept_("# about\n@version(1)\nconcept A [T] {\n  invariant { x { after a(t: t) -> ok then t = 1 } }\n"
                     "  actions {\n    action a(t: T) { fixture f { t: \"x\" }\n -> ok # fine\n callers:syncs effect : "
                     "none runs: effect\n"
                     "      # last\n    }\n    # no more\n  }\n  state { s: set T }\n  purpose { Why. }\n}\n"),
            "# about\n@version(1)\nconcept A [T] {\n  purpose { Why. }\n\n  state {\n    s: set T\n  }\n\n  actions {\n"
            "    action a(t: T) {\n      effect: none\n      runs: effect\n      # last\n      callers: syncs\n      "
            "-> ok  # fine\n      "
            "fixture f { t: \"x\" }\n"
            "    }\n    # no more\n  }\n\n  example \"x\" {\n    after a(t: t) -> ok\n    then t = 1\n  }\n"
            "}\n");
}

TEST(Format, ConditionsKeepTheirGrouping) {
  std::string text = concept_(
      "concept A {\n  always { not (a = 1 or b = 2) and (forall x in xs: x.y > 0) and c }\n"
      "  never { (a = b) = true; f(x, y = 1) or (a or b) and d not in [1] }\n"
      "  scenario { then { (count(x) = 1) and (a = 1 or b) and (exists x in xs where (forall y in ys: y): x = 1)\n"
      "    and A/b() -> ok } settlement: \"async-with-anchor\" { anchor: \"x\" } }\n}\n");
  EXPECT_THAT(text, testing::HasSubstr("not (a = 1 or b = 2) and (forall x in xs: x.y > 0) and c\n"));
  EXPECT_THAT(text, testing::HasSubstr("    (a = b) = true\n    f(x, y = 1) or (a or b) and d not in [1]\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("then { (count(x) = 1)\n           (a = 1 or b)\n           (exists x in xs where "
                                 "(forall y in ys: y): x = 1)\n           A/b() -> ok }\n"));
}

TEST(Format, TheStepsOfAScenarioKeepTheirComments) {
  EXPECT_EQ(concept_("concept A {\n  scenario {\n    fixture f {\n    # before when\n    }\n    when { a() -> ok }\n"
                     "    # before then\n    then { # opens\n      z # behind\n    } # closed\n  }\n}\n"),
            "concept A {\n  scenario {\n    fixture f {}\n    # before when\n    when { a() -> ok }\n"
            "    # before then\n    then {  # opens\n      z  # behind\n    }  # closed\n  }\n}\n");
}

TEST(Format, ACommentBehindABraceStaysBehindIt) {
  EXPECT_EQ(
      concept_("concept A [T] {\n  state { s: set T } # of state\n  actions { action a() { -> ok { Done. } # of ok\n"
               "    } # of a\n  } # of actions\n  invariant { x { after a() -> ok then a() -> ok } # of x\n"
               "  } # of invariant\n} # of A\n# the end\n"),
      "concept A [T] {\n  state {\n    s: set T\n  }  # of state\n\n  actions {\n    action a() {\n"
      "      -> ok { Done. }  # of ok\n    }  # of a\n  }  # of actions\n\n  example \"x\" {\n"
      "    after a() -> ok\n    then a() -> ok\n  }  # of x\n  # of invariant\n}  # of A\n# the end\n");
  EXPECT_EQ(sync("sync A {\n  when { X/a: [] => ok[] } # of when\n  then { Y/b: [] # of b\n } # of then\n} # of A\n"
                 "sync B { when { X/a: [] => ok[] } then { Y/b: [] } } # of B\n"),
            "sync A\n  when { X/a: [] => ok[] }  # of when\n  then {\n    Y/b: []  # of b\n  }  # of then\n# of A\n"
            "sync B\n  when { X/a: [] => ok[] }\n  then { Y/b: [] }  # of B\n");
}

// What stands before and behind the comment `text`, as the lexer reads it.
std::pair<std::string, std::string> neighbours(const std::string& source, const std::string& text) {
  size_t at = source.find("# " + text);
  auto last_of = [](std::string_view part) {
    std::string last;
    Lexer lexer(part);
    for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) last = token.raw;
    return last;
  };
  std::string behind = source.substr(source.find('\n', at));
  return {last_of(std::string_view(source).substr(0, at)), std::string(Lexer(behind).next().raw)};
}

TEST(Format, ACommentKeepsItsNeighbours) {
  // Canonical already, so that nothing else moves: a comment is put behind and before every line in turn.
  for (const char* path : {"/tests/lang/kit/parcel.concept", "/tests/lang/corrected/syncs/routing/vault.sync",
                           "/tests/lang/corrected/syncs/guards.sync"}) {
    auto read = read_source(kSourceDir + std::string(path));
    ASSERT_TRUE(read);
    bool is_concept = std::string_view(path).ends_with(".concept");
    auto count_comments = [&](const std::string& source) {
      Diagnostics found;
      return is_concept ? parse_concept(source, "x", found)->comments.size()
                        : parse_sync(source, "x", found)->comments.size();
    };
    std::string text = is_concept ? concept_(*read) : sync(*read);
    size_t comments = count_comments(text);
    int put = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
      for (const char* inserted : {"  # here", "\n# here"}) {
        std::string with = text;
        with.insert(end, inserted);
        // Inside prose it is no comment, and behind a comment it is part of that one.
        if (count_comments(with) == comments) continue;
        std::string once = is_concept ? concept_(with) : sync(with);
        EXPECT_EQ(neighbours(once, "here"), neighbours(with, "here"))
            << path << ": " << with.substr(end < 40 ? 0 : end - 40, 60);
        put++;
      }
    }
    EXPECT_GT(put, 10) << path;
  }
}

TEST(Format, ACommentInAListStaysWithItsArgument) {
  EXPECT_EQ(
      sync("sync A\n  when { X/a: [ # opens\n a: ?a; # behind a\n # before b\n b: ?b # behind b\n ] => ok[ c: ?c ] "
           "# behind all\n }\n  where { Z: { ?a # the row\n d: ?d; # behind d\n e: ?e }\n Z: { ?b f: ?f } }\n"
           "  then { Y/b: [ c: ?c\n # last\n ] }\n"),
      "sync A\n  when {\n    X/a: [  # opens\n        a: ?a;  # behind a\n        # before b\n        b: ?b  # behind "
      "b\n"
      "      ] => ok[ c: ?c ]  # behind all\n  }\n"
      "  where {\n    Z: {\n        # the row\n        ?a d: ?d;  # behind d\n        e: ?e\n      }\n    Z: { ?b f: "
      "?f }\n  }\n"
      "  then {\n    Y/b: [\n        c: ?c\n        # last\n      ]\n  }\n");
}

TEST(Format, ACommentInFieldsStaysWithItsField) {
  EXPECT_EQ(
      concept_(
          "concept A [T] {\n  state {\n    s: T -> {\n      a: Int, # of a\n      # of b\n      b: Int\n    }\n  }\n"
          "  actions {\n    action go(\n      x: Int, # of x\n      y: \"p\" | \"q\"\n    ) { # opens\n"
          "      -> ok(v: Int, # of v\n w: Int) @code(ok) { Done. }\n"
          "      fixture f { x: 1, # one\n y: \"p\" }\n    }\n  }\n}\n"),
      "concept A [T] {\n  state {\n    s: T -> {\n        a: Int,  # of a\n        # of b\n        b: Int\n      }\n  "
      "}\n\n"
      "  actions {\n    action go(\n        x: Int,  # of x\n        y: \"p\" | \"q\"\n      ) {  # opens\n"
      "      -> ok(\n          v: Int,  # of v\n          w: Int\n        ) @code(ok) {\n        Done.\n      }\n"
      "      fixture f {\n          x: 1,  # one\n          y: \"p\"\n        }\n    }\n  }\n}\n");
}

TEST(Format, WrapsLongProse) {
  std::string words;
  for (int i = 0; i < 30; ++i) words += "word" + std::to_string(i) + "  \n";
  std::string text = concept_("concept A { purpose { " + words + " } }");
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 110u);
    begin = end + 1;
  }
  EXPECT_THAT(text, testing::StartsWith("concept A {\n  purpose {\n    word0 word1 "));
}

// An input that is faulty on purpose says so in its name; any other source must parse.
bool is_faulty_on_purpose(const std::filesystem::path& path) { return path.filename().string().starts_with("faulty_"); }

TEST(Format, KeepsItsPromisesOverEverySource) {
  int sources = 0;
  for (const char* folder : {"/tests/lang", "/tests/fuzz/corpus/sync", "/tests/fuzz/corpus/concept"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(kSourceDir) + folder)) {
      std::string path = entry.path();
      if (!path.ends_with(".concept") && !path.ends_with(".sync")) continue;
      SCOPED_TRACE(path);
      auto text = read_source(path);
      ASSERT_TRUE(text);
      if (is_faulty_on_purpose(path)) {
        Diagnostics found;
        bool parses = path.ends_with(".concept") ? parse_concept(*text, path, found).has_value()
                                                 : parse_sync(*text, path, found).has_value();
        EXPECT_FALSE(parses) << "named as faulty, but it parses";
        continue;
      }
      if (path.ends_with(".concept")) {
        concept_(*text);
      } else {
        sync(*text);
      }
      ++sources;
    }
  }
  EXPECT_GT(sources, 25);
}

}  // namespace format_test
}  // namespace sluice::lang
