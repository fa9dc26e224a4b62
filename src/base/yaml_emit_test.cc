// What is written is what is read back, and it reads well.
#include "base/yaml_emit.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <random>

#include "base/yaml.h"

namespace sluice {
namespace yaml_emit_test {

// Equality that tells 1 from 1.0 and -0.0 from 0.0, and the order of keys.
bool same(const json::value& a, const json::value& b) { return json::serialize(a) == json::serialize(b); }

void expect_round_trip(const json::value& value) {
  std::string text = emit_yaml(value);
  auto back = parse_yaml(text);
  ASSERT_TRUE(back) << to_string(back.error()) << "\n" << text;
  EXPECT_TRUE(same(back->root, value)) << json::serialize(value) << "\n" << text;
}

TEST(YamlEmit, WritesBlocks) {
  EXPECT_EQ(emit_yaml(json::parse(R"({
    "name": "web", "replicas": 3, "ratio": 2.0, "on": true, "none": null,
    "empty": {"map": {}, "list": [], "text": ""},
    "ports": [{"port": 80, "tags": ["a", "b"]}, {"port": 443}],
    "grid": [[1, 2], [[3]], []],
    "script": "set -eu\n  run\n\nend\n", "motd": "a\nb", "tail": "a\n\n\n"})")),
            R"(name: web
replicas: 3
ratio: 2.0
"on": true
none: null
empty:
  map: {}
  list: []
  text: ""
ports:
  - port: 80
    tags:
      - a
      - b
  - port: 443
grid:
  - - 1
    - 2
  - - - 3
  - []
script: |
  set -eu
    run

  end
motd: |-
  a
  b
tail: |+
  a


)");
}

TEST(YamlEmit, WritesScalarsAtTheRoot) {
  EXPECT_EQ(emit_yaml("plain words"), "plain words\n");
  EXPECT_EQ(emit_yaml("a\nb\n"), "|\n  a\n  b\n");
  EXPECT_EQ(emit_yaml(json::object{}), "{}\n");
  EXPECT_EQ(emit_yaml(json::array{}), "[]\n");
  EXPECT_EQ(emit_yaml(nullptr), "null\n");
  EXPECT_EQ(emit_yaml(-5), "-5\n");
}

TEST(YamlEmit, QuotesWhatWouldReadAsSomethingElse) {
  for (const char* text : {"",    "null", "~",     "true", "False", "12",           "0x1F",     "0o7",
                           "1.5", ".5",   "1e3",   ".inf", ".nan",  "yes",          "No",       "ON",
                           "off", "y",    "N",     "<<",   "- a",   "? a",          "a: b",     "a:",
                           ": a", "a #b", "#a",    " a",   "a ",    "[a",           "{a",       "*a",
                           "&a",  "!a",   "|",     ">",    "'a'",   "%a",           "@a",       "`a",
                           "---", "...",  "12:30", "a, b", "a\tb",  "\xEF\xBB\xBF", "\xC2\x85", "\xE2\x80\xA8",
                           "ä"}) {
    EXPECT_EQ(emit_yaml(text).front(), '"') << text;
    expect_round_trip(text);
  }
  for (const char* text : {"web", "a b", "registry.example/web:1.2", "/srv/app", "v1", "1.2.3", "x-y_z", "a:b",
                           "2001-12-14", "10m", "yesterday", "nowhere"}) {
    EXPECT_EQ(emit_yaml(text), text + std::string("\n"));
    expect_round_trip(text);
  }
}

TEST(YamlEmit, WritesLinesAsALiteralBlockWhereThatIsExact) {
  EXPECT_EQ(emit_yaml({{"a", "x\n\n  y\n"}}), "a: |\n  x\n\n    y\n");
  EXPECT_EQ(emit_yaml({{"a", "x\ny"}}), "a: |-\n  x\n  y\n");
  EXPECT_EQ(emit_yaml({{"a", "x\n\n\n"}, {"b", 1}}), "a: |+\n  x\n\n\nb: 1\n");
  for (const char* text : {"\n", "\nx", " x\ny", "\tx\ny", "x\n  \ny", "x\n ", "x\r\ny", "x\n\x01"}) {
    EXPECT_EQ(emit_yaml(text).front(), '"') << text;
  }
}

TEST(YamlEmit, KeepsDoublesDoublesAndIntegersIntegers) {
  EXPECT_EQ(emit_yaml(1.0), "1.0\n");
  EXPECT_EQ(emit_yaml(-0.0), "-0.0\n");
  EXPECT_EQ(emit_yaml(0.1), "0.1\n");
  EXPECT_EQ(emit_yaml(1e300), "1e+300\n");
  for (double number : {1.0, -0.0, 0.1, 1e21, 1e-7, 5e-324, 123456789012345680.0, std::numeric_limits<double>::max()}) {
    expect_round_trip(number);
  }
  for (const json::value& number : {json::value(INT64_MIN), json::value(INT64_MAX), json::value(UINT64_MAX)}) {
    expect_round_trip(number);
  }
  EXPECT_EQ(emit_yaml(std::numeric_limits<double>::infinity()), ".inf\n");
  EXPECT_EQ(emit_yaml(-std::numeric_limits<double>::infinity()), "-.inf\n");
  EXPECT_EQ(emit_yaml(std::numeric_limits<double>::quiet_NaN()), ".nan\n");
}

TEST(YamlEmit, ReplacesBytesThatAreNotUtf8) { EXPECT_EQ(emit_yaml("a\xFF"), "\"a\\uFFFD\"\n"); }

TEST(YamlEmit, WritesLongKeysAsExplicitOnes) {
  std::string longest(1200, 'k');
  EXPECT_EQ(emit_yaml({{longest, 1}}), "? \"" + longest + "\"\n: 1\n");
  expect_round_trip({{longest, json::array{1, {{longest + "\n", {{"a", json::array{"x\ny"}}}}}}}, {"b", longest}});
}

// Random trees, heavy with strings that YAML could take for something else.
class Trees {
 public:
  explicit Trees(unsigned seed) : random_(seed) {}

  json::value value(int depth) {
    switch (pick(depth > 0 ? 9 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return pick(2) == 0;
      case 2:
        return static_cast<int64_t>(bits());
      case 3:
        return number();
      case 6: {
        json::array array;
        for (size_t n = pick(4); n > 0; --n) array.push_back(value(depth - 1));
        return array;
      }
      case 7:
      case 8: {
        json::object object;
        for (size_t n = pick(4); n > 0; --n) object[string()] = value(depth - 1);
        return object;
      }
      default:
        return json::string(string());
    }
  }

 private:
  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  uint64_t bits() { return random_() >> pick(64); }
  double number() {
    double number = static_cast<double>(static_cast<int64_t>(bits()));
    return pick(2) == 0 ? number : std::ldexp(number, static_cast<int>(pick(200)) - 100);
  }
  std::string string() {
    static constexpr const char* kPieces[] = {
        "a",  "word", " ",       "  ",     "\n",     "\n\n", "\t",     ":", ": ", "#",  " #", "-",
        "- ", "---",  "\n---\n", "...",    "?",      "!",    "&",      "*", "|",  ">",  "'",  "\"",
        "\\", "%",    "@",       "`",      "{",      "}",    "[",      "]", ",",  "0",  "1",  ".",
        "e",  "0x",   "~",       "null",   "yes",    "true", "<<",     "ä", "€",  "😀", "\r", "\r\n",
        "\b", "\x7F", "\u0085",  "\u2028", "\uFEFF", "=",    "\u00A0", "/"};
    std::string text;
    for (size_t n = pick(7); n > 0; --n) text += kPieces[pick(std::size(kPieces))];
    return text;
  }

  std::mt19937_64 random_;
};

TEST(YamlEmit, ReadsBackExactlyWhateverTheTree) {
  for (unsigned seed = 0; seed < 20'000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(Trees(seed).value(5));
  }
}

}  // namespace yaml_emit_test
}  // namespace sluice
