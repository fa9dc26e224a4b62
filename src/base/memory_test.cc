// How much memory texts can ask for: a YAML text that repeats itself with aliases, and JSON made to grow.
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing_memory.h"
#include "base/yaml.h"

namespace sluice {
namespace memory_test {

constexpr size_t kMost = size_t{8} << 20;

// Parses a bomb: how much memory was taken at most. The error goes to `problem`.
size_t memory_of(const std::string& text, std::string& problem) {
  return peak_memory([&] {
    auto parsed = parse_yaml(text, "x.yaml");
    problem = parsed ? "no error" : to_string(parsed.error());
  });
}

// The same for JSON.
size_t json_memory_of(const std::string& text, std::string& problem, JsonLimits limits = {}) {
  return peak_memory([&] {
    auto parsed = parse_json(text, "x.json", limits);
    problem = parsed ? "no error" : to_string(parsed.error());
  });
}

// Levels of which each has the one before `width` times; `item` writes one of them.
template <typename Item>
std::string levels(size_t count, size_t width, const std::string& first, char open, char close, Item item) {
  std::string text = "a0: &a0 " + first + "\n";
  for (size_t level = 1; level <= count; ++level) {
    std::string name = "a" + std::to_string(level);
    text.append(name).append(": &").append(name).append(" ") += open;
    for (size_t i = 0; i < width; ++i) text += (i > 0 ? ", " : "") + item(i, "*a" + std::to_string(level - 1));
    text += std::string(1, close) + "\n";
  }
  return text;
}

std::string member(size_t i, const std::string& alias) { return "k" + std::to_string(i) + ": " + alias; }
std::string element(size_t, const std::string& alias) { return alias; }

TEST(Yaml, AliasBombsTakeNoMemoryAsWideMaps) {
  std::string problem;
  EXPECT_LT(memory_of(levels(9, 9, "{x: y}", '{', '}', member), problem), kMost);
  EXPECT_EQ(problem, "x.yaml:6:14: aliases and merges add more than 20000 values to the text");
}

TEST(Yaml, AliasBombsTakeNoMemoryAsNarrowMaps) {
  std::string problem;
  EXPECT_LT(memory_of(levels(60, 2, "{x: y}", '{', '}', member), problem), kMost);
  EXPECT_EQ(problem, "x.yaml:13:26: aliases and merges add more than 20000 values to the text");
}

TEST(Yaml, AliasBombsTakeNoMemoryAsLists) {
  std::string problem;
  EXPECT_LT(memory_of(levels(9, 9, "[x]", '[', ']', element), problem), kMost);
  EXPECT_EQ(problem, "x.yaml:6:10: aliases and merges add more than 20000 values to the text");
}

TEST(Yaml, AliasBombsTakeNoMemoryAsStrings) {
  std::string text = "- &a " + std::string(90'000, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) text += "- *a\n";
  std::string problem;
  EXPECT_LT(memory_of(text, problem), kMost);
  EXPECT_EQ(problem, "x.yaml:13:3: aliases and merges add more than 1048576 bytes of strings and keys to the text");
}

TEST(Yaml, AliasBombsTakeNoMemoryAsMerges) {
  std::string text = "a: &a {";
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": " + std::to_string(i) + ", ";
  text += "}\n";
  for (int i = 0; i < 2000; ++i) text += "m" + std::to_string(i) + ": {<<: *a}\n";
  std::string problem;
  EXPECT_LT(memory_of(text, problem), kMost);
  EXPECT_EQ(problem, "x.yaml:200:12: aliases and merges add more than 20000 values to the text");
}

TEST(Json, NestingTakesNoMemory) {
  std::string problem;
  for (std::string_view opening : {"[", "{\"a\":", "[{\"a\":"}) {
    std::string text;
    while (text.size() < 1'000'000) text += opening;
    EXPECT_LT(json_memory_of(text, problem), 100'000U);
    EXPECT_TRUE(problem.ends_with(": arrays and objects are nested deeper than 128 levels")) << problem;
  }
}

TEST(Json, ALongTokenTakesAFewTimesItsLength) {
  std::string problem;
  const std::string token(1'000'000, 'x');
  EXPECT_LT(json_memory_of("[\"" + token + "\"]", problem), 4 * token.size());
  EXPECT_EQ(problem, "no error");
  EXPECT_LT(json_memory_of("{\"" + token + "\": 1}", problem), 4 * token.size());
  EXPECT_EQ(problem, "no error");
  EXPECT_LT(json_memory_of("[\"" + token, problem), 4 * token.size());
  EXPECT_EQ(problem, "x.json:1:1000003: the JSON text ends too early");
  EXPECT_LT(json_memory_of("[" + std::string(1'000'000, '1') + "]", problem), 4 * token.size());
  EXPECT_EQ(problem, "x.json:1:2: /0: the integer does not fit into 64 bits");
  EXPECT_LT(json_memory_of("[1e" + std::string(1'000'000, '9') + "]", problem), 4 * token.size());
  EXPECT_EQ(problem, "x.json:1:13: the number's exponent is too large");
}

TEST(Json, AFloodOfValuesEndsAtTheLimit) {
  std::string problem;
  for (std::string_view value : {"1,", "[],", "\"\","}) {
    std::string text = "[";
    while (text.size() < 1'000'000) text += value;
    EXPECT_LT(json_memory_of(text, problem, {.max_nodes = 10'000}), size_t{2} << 20);
    EXPECT_TRUE(problem.ends_with(": /9999: the JSON text has more than 10000 values")) << problem;
  }
}

}  // namespace memory_test
}  // namespace sluice
