// How much memory a YAML text can ask for by repeating itself with aliases. Boost.JSON and the standard containers
// take theirs from operator new, so this file replaces it, for the whole test program, with one that counts.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/yaml.h"

namespace {

std::atomic<size_t> live = 0;
std::atomic<size_t> peak = 0;

void forget(void* memory) {
  if (memory == nullptr) return;
  live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  size_t now = live += malloc_usable_size(memory);
  for (size_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
  }
  return memory;
}
void operator delete(void* memory) noexcept { forget(memory); }
void operator delete(void* memory, size_t) noexcept { forget(memory); }

namespace sluice {
namespace {

constexpr size_t kMost = size_t{8} << 20;

// Parses a bomb: how much memory was taken at most, besides what there was. The error goes to `problem`.
size_t memory_of(const std::string& text, std::string& problem) {
  size_t before = live;
  peak = before;
  auto parsed = parse_yaml(text, "x.yaml");
  size_t most = peak - before;
  problem = parsed ? "no error" : to_string(parsed.error());
  return most;
}

// Levels of which each has the one before `width` times; `item` writes one of them.
template <typename Item>
std::string levels(size_t count, size_t width, const std::string& first, char open, char close, Item item) {
  std::string text = "a0: &a0 " + first + "\n";
  for (size_t level = 1; level <= count; ++level) {
    std::string name = "a" + std::to_string(level);
    text += name + ": &" + name + " " + open;
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

}  // namespace
}  // namespace sluice
