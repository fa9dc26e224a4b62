// Blocks come from both ends of the pages and from the heap, and rest and wake leave them as they were.
#include "router/http2/session_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace sluice::router {
namespace session_memory_test {

class Blocks {
 public:
  explicit Blocks(SessionMemory& memory) : mem_(*memory.allocator()) {}
  char* make(size_t size, char with) {
    auto* at = static_cast<char*>(mem_.malloc(size, mem_.mem_user_data));
    std::memset(at, with, size);
    return at;
  }
  char* zero(size_t size) { return static_cast<char*>(mem_.calloc(size, 1, mem_.mem_user_data)); }
  char* grow(char* at, size_t size) { return static_cast<char*>(mem_.realloc(at, size, mem_.mem_user_data)); }
  void free(char* at) { mem_.free(at, mem_.mem_user_data); }

 private:
  nghttp2_mem& mem_;
};

TEST(SessionMemory, KeepsWhatIsSmallWhileItRests) {
  SessionPages pages;
  SessionMemory memory(pages);
  Blocks blocks(memory);
  char* first = blocks.make(3'000, 'a');
  char* zeros = blocks.zero(4'096);
  char* large = blocks.grow(nullptr, 16'394);
  char* last = blocks.make(1, 'c');
  memory.made();
  char* heap = blocks.make(100, 'd');
  EXPECT_FALSE(memory.rests());
  for (int i = 0; i < 3; ++i) {
    memory.rest();
    EXPECT_TRUE(memory.rests());
    memory.wake();
    EXPECT_FALSE(memory.rests());
    EXPECT_EQ(std::string(first, 3'000), std::string(3'000, 'a'));
    EXPECT_EQ(std::string(zeros, 4'096), std::string(4'096, '\0'));
    EXPECT_EQ(*last, 'c');
    EXPECT_EQ(large[16'393], '\0') << "a large block is not kept";
    large[16'393] = 'x';
  }
  EXPECT_EQ(std::string(heap, 100), std::string(100, 'd'));
  first = blocks.grow(first, 5'000);
  EXPECT_EQ(std::string(first, 3'000), std::string(3'000, 'a')) << "it is on the heap now";
  heap = blocks.grow(heap, 200);
  EXPECT_EQ(std::string(heap, 100), std::string(100, 'd'));
  for (char* each : {first, zeros, large, last, heap}) blocks.free(each);
}

TEST(SessionMemory, WhatDoesNotFitIsOnTheHeap) {
  SessionPages pages;
  SessionMemory memory(pages);
  Blocks blocks(memory);
  char* one = blocks.make(20'000, 'a');
  char* two = blocks.make(20'000, 'b');
  memory.rest();
  memory.wake();
  EXPECT_EQ(std::string(two, 20'000), std::string(20'000, 'b'));
  blocks.free(one);
  blocks.free(two);
}

TEST(SessionPages, AreGivenAgainAllZero) {
  SessionPages pages;
  char* one = pages.take();
  std::memset(one, 'a', SessionPages::kBytes);
  pages.give(one);
  std::string zeros(SessionPages::kBytes, '\0');
  for (int i = 0; i < 100; ++i) EXPECT_EQ(std::memcmp(pages.take(), zeros.data(), zeros.size()), 0);
}

}  // namespace session_memory_test
}  // namespace sluice::router
