// What a secret allows, what it forbids at compile time, and that its memory is gone when it should be.
#include "crypto/secret_buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <concepts>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <sstream>
#include <type_traits>

namespace sluice::crypto {
namespace secret_buffer_test {

template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };
template <typename T>
concept IntoJson = boost::json::has_value_from<T>::value || std::constructible_from<boost::json::value, const T&>;

// The concepts tell a plain string from a secret, so they are not true of everything.
static_assert(Streamable<std::string> && IntoJson<std::string> && std::equality_comparable<std::string>);
static_assert(!Streamable<SecretBuffer>);
static_assert(!IntoJson<SecretBuffer>);
static_assert(!std::equality_comparable<SecretBuffer>);
static_assert(!std::is_copy_constructible_v<SecretBuffer> && !std::is_copy_assignable_v<SecretBuffer>);
static_assert(!std::is_convertible_v<SecretBuffer, std::string> &&
              !std::is_convertible_v<SecretBuffer, std::string_view>);
static_assert(std::is_nothrow_move_constructible_v<SecretBuffer> && std::is_nothrow_move_assignable_v<SecretBuffer>);

bool mapped(const void* page) {
  unsigned char resident = 0;
  return mincore(const_cast<void*>(page), 1, &resident) == 0 || errno != ENOMEM;
}

// The kernel's flags ("lo" locked, "dd" not dumped) of the mapping that holds the address.
std::string kernel_flags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long from = 0;
    unsigned long long to = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2) {
      inside = reinterpret_cast<uintptr_t>(address) >= from && reinterpret_cast<uintptr_t>(address) < to;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line.substr(8) + " ";
    }
  }
  return "";
}

TEST(SecretBuffer, HoldsACopyOfTheBytes) {
  std::string text("pass\0word", 9);
  SecretBuffer secret = SecretBuffer::copy_of(text);
  text.assign(9, 'x');
  EXPECT_EQ(secret.reveal(), std::string_view("pass\0word", 9));
  EXPECT_EQ(SecretBuffer(3).reveal(), std::string_view("\0\0\0", 3));
  EXPECT_TRUE(SecretBuffer().empty());
  EXPECT_TRUE(SecretBuffer::copy_of("").empty());
}

TEST(SecretBuffer, MovingLeavesNothingBehind) {
  SecretBuffer first = SecretBuffer::copy_of("one");
  SecretBuffer second = std::move(first);
  EXPECT_EQ(second.reveal(), "one");
  EXPECT_EQ(first.reveal(), "");  // NOLINT: what is left is the point
  EXPECT_FALSE(first.locked());
}

TEST(SecretBuffer, IsGoneFromMemoryWhenDestroyedOrReplaced) {
  const void* page = nullptr;
  {
    SecretBuffer secret = SecretBuffer::copy_of("one");
    page = secret.reveal().data();
    ASSERT_TRUE(mapped(page));
  }
  EXPECT_FALSE(mapped(page));

  SecretBuffer kept = SecretBuffer::copy_of("old");
  SecretBuffer next = SecretBuffer::copy_of("new");
  page = kept.reveal().data();
  kept = std::move(next);
  EXPECT_FALSE(mapped(page));
  EXPECT_EQ(kept.reveal(), "new");
}

TEST(SecretBuffer, SurvivesAssignmentToItself) {
  SecretBuffer secret = SecretBuffer::copy_of("one");
  SecretBuffer& same = secret;
  secret = std::move(same);
  EXPECT_EQ(secret.reveal(), "one");
}

TEST(SecretBuffer, ACloneIsASecondBuffer) {
  SecretBuffer first = SecretBuffer::copy_of("one");
  SecretBuffer second = first.clone();
  second.writable()[0] = 'O';
  EXPECT_EQ(first.reveal(), "one");
  EXPECT_EQ(second.reveal(), "One");
}

TEST(SecretBuffer, ShrinkingWipesTheRest) {
  SecretBuffer secret = SecretBuffer::copy_of("password");
  const char* bytes = secret.reveal().data();
  secret.shrink(4);
  EXPECT_EQ(secret.reveal(), "pass");
  EXPECT_EQ(std::string_view(bytes, 8), std::string_view("pass\0\0\0\0", 8));
  secret.shrink(0);
  EXPECT_TRUE(secret.empty());
  EXPECT_FALSE(mapped(bytes));
}

TEST(SecretBuffer, StaysOutOfCoreDumpsAndOutOfSwapIfAllowed) {
  SecretBuffer secret = SecretBuffer::copy_of("one");
  std::string flags = kernel_flags(secret.reveal().data());
  ASSERT_NE(flags, "");
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;

  // What the system (or a sanitizer, which ignores mlock) grants to anybody, it grants to a secret.
  void* other = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool granted = mlock(other, 4096) == 0;
  const bool lockable = kernel_flags(other).find(" lo ") != std::string::npos;
  munmap(other, 4096);
  EXPECT_EQ(secret.locked(), granted);
  EXPECT_EQ(flags.find(" lo ") != std::string::npos, lockable) << flags;
}

TEST(SecretBuffer, WipedTextIsEmpty) {
  std::string text = "hunter2";
  const char* bytes = text.data();
  wipe(text);
  EXPECT_EQ(text, "");
  EXPECT_EQ(std::string_view(bytes + 1, 6), std::string_view("\0\0\0\0\0\0", 6));
}

TEST(SecretBuffer, ConstantTimeComparisonComparesAllBytes) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_constant_time("abc", "bbc"));
  EXPECT_FALSE(equal_constant_time("abc", "abcd"));
  EXPECT_FALSE(equal_constant_time("abc", ""));
  EXPECT_FALSE(equal_constant_time(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

}  // namespace secret_buffer_test
}  // namespace sluice::crypto
