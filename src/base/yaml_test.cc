// YAML into a tree: types by the core schema, positions, anchors and merges, and clear refusals.
#include "base/yaml.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice {
namespace yaml_test {

json::value tree(std::string_view text) {
  auto document = parse_yaml(text);
  EXPECT_TRUE(document) << (document ? "" : to_string(document.error())) << "\n" << text;
  return document ? document->root : json::value();
}

std::string problem(std::string_view text) {
  auto document = parse_yaml(text, "x.yaml");
  if (document) return "no error: " + json::serialize(document->root);
  EXPECT_EQ(document.error().code, Code::invalid);
  return to_string(document.error());
}

// The same, of a text beyond a limit.
std::string excess(std::string_view text, YamlLimits limits = {}) {
  auto document = parse_yaml(text, "x.yaml", limits);
  if (document) return "no error: " + json::serialize(document->root);
  EXPECT_EQ(document.error().code, Code::limit);
  EXPECT_NE(document.error().next, "");
  return to_string(document.error());
}

std::string place(const Document& document, std::string_view pointer) {
  auto position = document.position_of(pointer);
  return position ? to_string(*position) : "none";
}

// Every node's mark in pre-order, as "line:column" words.
std::string marks(const Document& document) {
  std::string text;
  for (Mark mark : document.marks) {
    if (!text.empty()) text += ' ';
    text += std::to_string(mark.line) + ":" + std::to_string(mark.column);
  }
  return text;
}

std::string repeat(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Yaml, ReadsBlocksAndFlows) {
  EXPECT_EQ(tree("name: web\nports:\n  - 80\n  - {port: 443, tls: true}\nenv: []\n"),
            json::parse(R"({"name":"web","ports":[80,{"port":443,"tls":true}],"env":[]})"));
  EXPECT_EQ(tree(R"({"a":1,"b":[null,true,"x"]})"), json::parse(R"({"a":1,"b":[null,true,"x"]})"));
  EXPECT_EQ(tree("- - 1\n  - 2\n- - 3\n"), json::parse("[[1,2],[3]]"));
}

TEST(Yaml, KeepsTheOrderOfKeys) { EXPECT_EQ(json::serialize(tree("z: 1\na: 2\nm: 3\n")), R"({"z":1,"a":2,"m":3})"); }

TEST(Yaml, ReadsScalarsOfManyLines) {
  EXPECT_EQ(tree("a: |\n  one\n   two\n\n"), json::parse(R"({"a":"one\n two\n"})"));
  EXPECT_EQ(tree("a: |-\n  one\n\n"), json::parse(R"({"a":"one"})"));
  EXPECT_EQ(tree("a: |+\n  one\n\n"), json::parse(R"({"a":"one\n\n"})"));
  EXPECT_EQ(tree("a: >\n  one\n  two\n\n  three\n"), json::parse(R"({"a":"one two\nthree\n"})"));
  EXPECT_EQ(tree("a: one\n  two\n"), json::parse(R"({"a":"one two"})"));
  EXPECT_EQ(tree("a: 'it''s'\nb: \"\\u00e9\\x41\\0\""), json::parse(R"({"a":"it's","b":"\u00e9A\u0000"})"));
}

TEST(Yaml, AnEmptyTextIsNull) {
  for (const char* text : {"", "\n", "# only words\n", "---\n", "\xEF\xBB\xBF"}) EXPECT_EQ(tree(text), nullptr) << text;
  EXPECT_EQ(parse_yaml_stream("")->size(), 0U);
}

TEST(Yaml, ReadsAStreamOfDocuments) {
  auto documents = parse_yaml_stream("a: 1\n---\n- 2\n...\n---\n---\nx\n", "s.yaml");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 4U);
  EXPECT_EQ((*documents)[0].root, json::parse(R"({"a":1})"));
  EXPECT_EQ((*documents)[1].root, json::parse("[2]"));
  EXPECT_EQ((*documents)[2].root, nullptr);
  EXPECT_EQ((*documents)[3].root, "x");
  EXPECT_EQ(place((*documents)[1], "/0"), "s.yaml:3:3");
  EXPECT_EQ((*documents)[3].marks.size(), 1U);
}

TEST(Yaml, RefusesASecondDocumentWhereOneIsExpected) {
  EXPECT_EQ(problem("a: 1\n---\nb: 2\n"), "x.yaml:3:1: a second document begins here; one was expected");
}

TEST(Yaml, AnchorsEndWithTheirDocument) {
  auto documents = parse_yaml_stream("a: &x 1\n---\nb: *x\n", "s.yaml");
  ASSERT_FALSE(documents);
  EXPECT_EQ(to_string(documents.error()), "s.yaml:3:4: the alias *x has no anchor &x before it");
}

// One row a form of the core schema, and of what looks like one.
struct CoreSchemaRow {
  const char* text;
  json::value value;
};

TEST(Yaml, CoreSchemaTable) {
  const CoreSchemaRow rows[] = {
      {"null", nullptr},
      {"Null", nullptr},
      {"NULL", nullptr},
      {"~", nullptr},
      {"", nullptr},
      {"nULL", "nULL"},
      {"~x", "~x"},
      {"none", "none"},
      {"true", true},
      {"True", true},
      {"TRUE", true},
      {"tRUE", "tRUE"},
      {"false", false},
      {"False", false},
      {"FALSE", false},
      {"yes", "yes"},
      {"Yes", "Yes"},
      {"no", "no"},
      {"NO", "NO"},
      {"on", "on"},
      {"off", "off"},
      {"y", "y"},
      {"n", "n"},
      {"0", 0},
      {"-0", 0},
      {"12", 12},
      {"+12", 12},
      {"-12", -12},
      {"012", 12},
      {"-09", -9},
      {"0o14", 12},
      {"0o18", "0o18"},
      {"-0o14", "-0o14"},
      {"0o", "0o"},
      {"0O14", "0O14"},
      {"0x1F", 31},
      {"0xdeadBEEF", 0xdeadbeefU},
      {"0x", "0x"},
      {"0xG", "0xG"},
      {"+0x1", "+0x1"},
      {"0b11", "0b11"},
      {"1_000", "1_000"},
      {"1,000", "1,000"},
      {"12:30", "12:30"},
      {"190:20:30", "190:20:30"},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"9223372036854775808", 9223372036854775808U},
      {"18446744073709551615", UINT64_MAX},
      {"0xffffffffffffffff", UINT64_MAX},
      {"1.0", 1.0},
      {"1.", 1.0},
      {".5", 0.5},
      {"-.5", -0.5},
      {"+.5", 0.5},
      {"1e3", 1000.0},
      {"1E+3", 1000.0},
      {"-1.5e-3", -0.0015},
      {"012.5", 12.5},
      {"1e-999", 0.0},
      {"5e-324", 5e-324},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {".", "."},
      {"-", nullptr},  // a list's item, see below
      {"+", "+"},
      {"..", ".."},
      {"1.2.3", "1.2.3"},
      {"1e", "1e"},
      {"1e+", "1e+"},
      {"e3", "e3"},
      {".e3", ".e3"},
      {"--1", "--1"},
      {"1-", "1-"},
      {".infinity", ".infinity"},
      {"inf", "inf"},
      {"nan", "nan"},
      {"-.nan", "-.nan"},
      {"2001-12-14", "2001-12-14"},
      {"'12'", "12"},
      {"\"true\"", "true"},
      {"''", ""},
      {"|-\n  12", "12"},
      {">-\n  null", "null"},
      {"! 12", "12"},
      {"!!str 12", "12"},
      {"!!str", ""},
      {"!!int \"12\"", 12},
      {"!!int 0x10", 16},
      {"!!float 1", 1.0},
      {"!!float 012", 12.0},
      {"!!float 1.5", 1.5},
      {"!!bool 'true'", true},
      {"!!null ''", nullptr},
      {"!!null", nullptr},
      {"!!map {a: 1}", {{"a", 1}}},
      {"!!seq [1]", json::array{1}},
      {"!<tag:yaml.org,2002:str> 1", "1"},
  };
  for (const CoreSchemaRow& row : rows) {
    json::value expected = row.text == std::string_view("-") ? json::value(json::array{nullptr}) : row.value;
    json::value found = tree(row.text);
    EXPECT_EQ(found, expected) << row.text;
    // Equality takes 1 and 1.0 for different kinds only by is_double.
    EXPECT_EQ(found.is_double(), expected.is_double()) << row.text;
  }
}

TEST(Yaml, CoreSchemaTableOfRefusedNumbers) {
  for (const char* text : {".inf", ".Inf", ".INF", "-.inf", "+.inf", ".nan", ".NaN", ".NAN"}) {
    EXPECT_EQ(problem(text), "x.yaml:1:1: infinity and not-a-number have no place in JSON") << text;
  }
  for (const char* text : {"18446744073709551616", "-9223372036854775809", "0x10000000000000000",
                           "0o10000000000000000000000", "123456789012345678901234567890"}) {
    EXPECT_EQ(problem(text), "x.yaml:1:1: this integer does not fit into 64 bits") << text;
  }
  EXPECT_EQ(problem("a: -1e999"), "x.yaml:1:4: this number is larger than a double can hold");
  EXPECT_EQ(parse_yaml("1e999").error().next, "quote it to keep it as text");
}

TEST(Yaml, RefusesTagsThatAreUnknownOrWrong) {
  EXPECT_EQ(problem("a: !secret x"), "x.yaml:1:4: the tag !secret is not known");
  EXPECT_EQ(problem("a: !!binary x"), "x.yaml:1:4: the tag tag:yaml.org,2002:binary is not known");
  EXPECT_EQ(problem("a: !thing [1]"), "x.yaml:1:4: the tag !thing is not known");
  EXPECT_EQ(problem("!k a: 1"), "x.yaml:1:1: the tag !k is not known");
  EXPECT_EQ(problem("!!map [1]"), "x.yaml:1:1: the tag !!map does not fit a list");
  EXPECT_EQ(problem("!!str {a: 1}"), "x.yaml:1:1: the tag !!str does not fit a map");
  EXPECT_EQ(problem("!!seq x"), "x.yaml:1:1: the tag !!seq does not fit a scalar");
  EXPECT_EQ(problem("!!int x"), "x.yaml:1:1: the tag !!int stands before a value that is not an integer");
  EXPECT_EQ(problem("!!int 1.5"), "x.yaml:1:1: the tag !!int stands before a value that is not an integer");
  EXPECT_EQ(problem("!!float x"), "x.yaml:1:1: the tag !!float stands before a value that is not a number");
  EXPECT_EQ(problem("!!float .inf"), "x.yaml:1:1: infinity and not-a-number have no place in JSON");
  EXPECT_EQ(problem("!!bool yes"), "x.yaml:1:1: the tag !!bool stands before a value that is not a boolean");
  EXPECT_EQ(problem("!!null 0"), "x.yaml:1:1: the tag !!null stands before a value that is not null");
  EXPECT_EQ(problem("!e!x 1"), "x.yaml:1:1: this tag has a prefix that no %TAG line declares");
}

TEST(Yaml, KeysAreTheirText) {
  EXPECT_EQ(tree("1.0: a\n0x10: b\ntrue: c\n~: d\n'q': e\n!!int 7: f\n"),
            json::parse(R"({"1.0":"a","0x10":"b","true":"c","~":"d","q":"e","7":"f"})"));
  EXPECT_EQ(tree("? a\n: 1\n? b\n"), json::parse(R"({"a":1,"b":null})"));
  EXPECT_EQ(tree("?\n: 1\n"), json::parse(R"({"":1})"));
  EXPECT_EQ(problem("? [a, b]\n: 1"), "x.yaml:1:3: a map or a list cannot be a key");
  EXPECT_EQ(problem("{a: 1}: 2"), "x.yaml:1:1: a map or a list cannot be a key");
}

TEST(Yaml, RefusesDuplicateKeys) {
  EXPECT_EQ(problem("a: {x: [1, 2]}\nb: 1\na: 2\n"), "x.yaml:3:1: duplicate key \"a\": it stands at 1:1 already");
  EXPECT_EQ(problem("o:\n  z: {q: {r: 1}}\n  b: 1\n  'b': 2\n"),
            "x.yaml:4:3: duplicate key \"b\": it stands at 3:3 already");
  EXPECT_EQ(problem("{1: a, '1': b}"), "x.yaml:1:8: duplicate key \"1\": it stands at 1:2 already");
  EXPECT_EQ(problem("a: &a {}\nb:\n  <<: *a\n  <<: *a\n"),
            "x.yaml:4:3: duplicate key \"<<\": it stands at 3:3 already");
}

TEST(Yaml, RefusesDuplicatesInLargeMaps) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + ": {a: 1}\n";
  EXPECT_EQ(problem(text + "k500: 2\n"), "x.yaml:1001:1: duplicate key \"k500\": it stands at 501:1 already");
}

TEST(Yaml, MarksMembersByTheirKeyAndItemsByThemselves) {
  auto document = parse_yaml("a:\n  b: [1, {c: d}]\n'e': |\n  text\n", "p.yaml");
  ASSERT_TRUE(document);
  EXPECT_EQ(marks(*document), "1:1 1:1 2:3 2:7 2:10 2:11 3:1");
  EXPECT_EQ(place(*document, "/a/b/1/c"), "p.yaml:2:11");
  EXPECT_EQ(place(*document, "/e"), "p.yaml:3:1");
}

TEST(Yaml, CountsColumnsInCodePoints) {
  auto document = parse_yaml("\xEF\xBB\xBF{äöü: 1, \"€😀\": 2, z: [x]}");
  ASSERT_TRUE(document);
  EXPECT_EQ(marks(*document), "1:1 1:2 1:10 1:19 1:23");
  EXPECT_EQ(problem("ä: €€ ‰: x"), "x.yaml:1:8: a ':' stands where no key can be");
}

TEST(Yaml, ExpandsAliasesAndKeepsTheMarksOfWhatTheyName) {
  auto document = parse_yaml("a: &x\n  - 1\n  - {b: 2}\nc: *x\nd: [*x]\n");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root, json::parse(R"({"a":[1,{"b":2}],"c":[1,{"b":2}],"d":[[1,{"b":2}]]})"));
  EXPECT_EQ(marks(*document), "1:1 1:1 2:5 3:5 3:6 4:1 2:5 3:5 3:6 5:1 5:5 2:5 3:5 3:6");
}

TEST(Yaml, AnAliasNamesTheNearestAnchorBeforeIt) {
  EXPECT_EQ(tree("[&a 1, *a, &a 2, *a]"), json::parse("[1,1,2,2]"));
  EXPECT_EQ(tree("[&a [&a x, *a], *a]"), json::parse(R"([["x","x"],"x"])"));
}

TEST(Yaml, AScalarsAliasMayBeAKey) {
  EXPECT_EQ(tree("- &k 1.0\n- {*k : v}\n- &m n: 1\n- *m\n"), json::parse(R"([1.0,{"1.0":"v"},{"n":1},"n"])"));
  EXPECT_EQ(problem("- &k []\n- {*k : v}\n"), "x.yaml:2:4: a map or a list cannot be a key");
}

TEST(Yaml, RefusesAliasesThatCannotBeExpanded) {
  EXPECT_EQ(problem("a: *nope"), "x.yaml:1:4: the alias *nope has no anchor &nope before it");
  EXPECT_EQ(problem("&a [1, [*a]]"), "x.yaml:1:9: the alias *a stands inside the node that it names");
  EXPECT_EQ(problem("&a {x: *a}"), "x.yaml:1:8: the alias *a stands inside the node that it names");
  EXPECT_EQ(problem("&a {<<: *a}"), "x.yaml:1:9: the alias *a stands inside the node that it names");
}

TEST(Yaml, MergesMapsAndListsOfMaps) {
  EXPECT_EQ(json::serialize(tree("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n")),
            R"({"a":{"x":1,"y":2},"b":{"y":3,"x":1}})");
  EXPECT_EQ(tree("- &a {x: 1}\n- &b {x: 2, y: 2}\n- {<<: [*a, *b]}\n- {<<: [*b, *a], z: 3}\n"),
            json::parse(R"([{"x":1},{"x":2,"y":2},{"x":1,"y":2},{"x":2,"y":2,"z":3}])"));
  EXPECT_EQ(tree("{a: 1, <<: {a: 2, b: 3}, b: 4}"), json::parse(R"({"a":1,"b":4})"));
  EXPECT_EQ(tree("{a: 1, <<: []}"), json::parse(R"({"a":1})"));
  EXPECT_EQ(tree("{'<<': 1}"), json::parse(R"({"<<":1})"));
  EXPECT_EQ(tree("[<<, {a: <<}]"), json::parse(R"(["<<",{"a":"<<"}])"));
}

TEST(Yaml, MergedMembersKeepTheMarksOfWhereTheyAreWritten) {
  auto document = parse_yaml("a: &a\n  x: [1]\n  y: 2\nb:\n  <<: *a\n  y: 3\n  z: 4\n");
  ASSERT_TRUE(document);
  EXPECT_EQ(json::serialize(document->root.at("b")), R"({"y":3,"z":4,"x":[1]})");
  EXPECT_EQ(marks(*document), "1:1 1:1 2:3 2:7 3:3 4:1 6:3 7:3 2:3 2:7");
  EXPECT_EQ(place(*document, "/b/x"), "2:3");
}

TEST(Yaml, AnchorsInsideAndAfterAMergeStillHold) {
  EXPECT_EQ(tree("m:\n  <<: &in {p: &deep [1, {q: 2}]}\n  k: &after [3]\n  p: own\n"
                 "all: [*in, *deep, *after]\n"),
            json::parse(R"({"m":{"k":[3],"p":"own"},"all":[{"p":[1,{"q":2}]},[1,{"q":2}],[3]]})"));
  auto document = parse_yaml("m:\n  <<: {p: [0]}\n  k: &after [3, 4]\nn: *after\n");
  ASSERT_TRUE(document);
  EXPECT_EQ(json::serialize(document->root), R"({"m":{"k":[3,4],"p":[0]},"n":[3,4]})");
  EXPECT_EQ(marks(*document), "1:1 1:1 3:3 3:14 3:17 2:8 2:12 4:1 3:14 3:17");
}

TEST(Yaml, RefusesMergesOfAnythingElse) {
  EXPECT_EQ(problem("a: 1\n<<: 5\n"), "x.yaml:2:5: '<<' takes a map or a list of maps");
  EXPECT_EQ(problem("<<: [{a: 1}, 2]\n"), "x.yaml:1:14: '<<' takes a map or a list of maps");
  EXPECT_EQ(problem("<<:\n"), "x.yaml:1:4: '<<' takes a map or a list of maps");
}

TEST(Yaml, AChainOfMergesIsNoDeeperThanOne) {
  std::string text = "- &m0 {k0: [[0]]}\n";
  for (int i = 1; i < 100; ++i) {
    text += "- &m" + std::to_string(i) + " {<<: *m" + std::to_string(i - 1) + ", k" + std::to_string(i) + ": 1}\n";
  }
  auto document = parse_yaml(text, "", {.max_depth = 6});
  ASSERT_TRUE(document) << to_string(document.error());
  EXPECT_EQ(document->root.at(99).as_object().size(), 100U);
}

TEST(Yaml, RefusesNestingBeyondTheLimit) {
  EXPECT_EQ(excess(repeat("[", 100'000)), "x.yaml:1:129: more than 128 maps and lists inside one another");
  EXPECT_EQ(excess(repeat("{a: ", 100'000)), "x.yaml:1:513: more than 128 maps and lists inside one another");
  EXPECT_EQ(excess(repeat("- ", 100'000)), "x.yaml:1:257: more than 128 maps and lists inside one another");
  EXPECT_EQ(problem(repeat("? ", 100'000)), "x.yaml:1:3: a map or a list cannot be a key");
  EXPECT_EQ(tree(repeat("[", 128) + repeat("]", 128)).as_array().size(), 1U);
  EXPECT_EQ(excess("[[[1]]]", {.max_depth = 2}), "x.yaml:1:3: more than 2 maps and lists inside one another");
}

TEST(Yaml, RefusesDepthThatAliasesBuild) {
  EXPECT_EQ(excess("- &a [[1]]\n- &b [[*a]]\n- [[*b]]\n", {.max_depth = 5}),
            "x.yaml:3:5: more than 5 maps and lists inside one another");
}

TEST(Yaml, RefusesAliasBombs) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + repeat(", " + last, 8) + "]\n";
  }
  EXPECT_EQ(excess(bomb), "x.yaml:5:15: aliases and merges add more than 20000 values to the text");
  EXPECT_EQ(excess(bomb, {.max_added_nodes = 10'000'000, .max_added_bytes = 10'000'000}),
            "x.yaml:7:10: the text has more than 1000000 values, aliases written out");
  EXPECT_EQ(excess("- &a [1, 2]\n- *a\n", {.max_added_nodes = 2}),
            "x.yaml:2:3: aliases and merges add more than 2 values to the text");
  EXPECT_EQ(excess("- &a [1, 2]\n- *a\n", {.max_added_nodes = 3}), "no error: [[1,2],[1,2]]");
  EXPECT_EQ(excess("- &a [1, 2]\n- *a\n", {.max_nodes = 6}),
            "x.yaml:2:3: the text has more than 6 values, aliases written out");
  EXPECT_EQ(excess("- &a [1, 2]\n- *a\n", {.max_nodes = 7}), "no error: [[1,2],[1,2]]");
}

TEST(Yaml, RefusesBombsOfStrings) {
  std::string text = "- &a " + repeat("x", 100'000) + "\n" + repeat("- *a\n", 700);
  EXPECT_EQ(excess(text),
            "x.yaml:12:3: aliases and merges add more than 1048576 bytes of strings and keys to the text");
  EXPECT_EQ(excess(text, {.max_added_bytes = 100'000'000}),
            "x.yaml:672:3: the text has more than 67108864 bytes of strings and keys, aliases written out");
  EXPECT_EQ(excess("[&a ab, *a]", {.max_added_bytes = 1}),
            "x.yaml:1:9: aliases and merges add more than 1 bytes of strings and keys to the text");
  EXPECT_EQ(excess("[&a ab, *a]", {.max_added_bytes = 2}), "no error: [\"ab\",\"ab\"]");
}

TEST(Yaml, RefusesBombsOfMergesThatLeaveNothing) {
  std::string text = "- &a {k: [" + repeat("1,", 9'998) + "1]}\n" + repeat("- {<<: *a, k: 0}\n", 200);
  EXPECT_EQ(excess(text), "x.yaml:3:8: aliases and merges add more than 20000 values to the text");
  EXPECT_EQ(excess(text, {.max_added_nodes = 10'000'000}),
            "x.yaml:100:8: the text has more than 1000000 values, aliases written out");
}

TEST(Yaml, RefusesTooManyAnchors) {
  EXPECT_EQ(excess(repeat("- &a []\n", 10'001)), "x.yaml:10001:3: the document has more than 10000 anchors");
  EXPECT_EQ(excess("[&a 1, &a 2]", {.max_anchors = 1}), "x.yaml:1:8: the document has more than 1 anchors");
}

TEST(Yaml, RefusesTextsThatAreTooLong) {
  EXPECT_EQ(excess("a: 123", {.max_bytes = 5}), "x.yaml:1:1: the text has 6 bytes; at most 5 are read");
}

TEST(Yaml, RefusesTooManyTagDirectives) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "%TAG !" + std::to_string(i) + "! x\n";
  EXPECT_EQ(excess(text + "--- 1\n"), "x.yaml:1:1: the text has more than 16 %TAG lines");
  EXPECT_EQ(tree("%YAML 1.2\n%TAG !y! tag:yaml.org,2002:\n--- !y!str 1\n"), "1");
}

}  // namespace yaml_test
}  // namespace sluice
