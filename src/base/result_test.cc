// Result and Error are values: they copy, move and compare, and an error reads as one line.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace sluice {
namespace result_test {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{.code = Code::invalid, .message = "odd", .next = "give an even number"};
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(4), 2);
  auto bad = half(3);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::invalid);
  EXPECT_EQ(bad.error().next, "give an even number");
}

TEST(Result, CarriesTypesThatOnlyMove) {
  Result<std::unique_ptr<int>> boxed = std::make_unique<int>(7);
  std::unique_ptr<int> taken = *std::move(boxed);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, CopiesMovesAndIsAssignedAsAValue) {
  Result<std::string> good = std::string(100, 'x');
  Result<std::string> bad = Error{.message = "no"};
  Result<std::string> copy = good;
  EXPECT_EQ(*copy, *good);
  copy = bad;
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error(), bad.error());
  copy = std::move(good);
  EXPECT_EQ(*copy, std::string(100, 'x'));
  copy = *&copy;
  EXPECT_EQ(copy->size(), 100U);
  good = std::move(bad);
  ASSERT_FALSE(good);
  EXPECT_EQ(good.error().message, "no");
  EXPECT_FALSE(bad);                           // NOLINT: what was moved from has failed all the same
  Result<std::string> third = std::move(bad);  // NOLINT
  EXPECT_FALSE(third);
}

TEST(Result, OfVoidStaysFailedWhenItsErrorHasGone) {
  Result<void> failed = Error{.message = "no room"};
  Result<void> other = failed;
  EXPECT_EQ(other.error(), failed.error());
  other = std::move(failed);
  EXPECT_EQ(other.error().message, "no room");
  EXPECT_FALSE(failed);  // NOLINT
  other = {};
  EXPECT_TRUE(other);
}

TEST(Result, CopiesOnlyWhatCanBeCopied) {
  static_assert(std::is_copy_constructible_v<Result<int>> && std::is_copy_assignable_v<Result<int>>);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
}

TEST(Result, OfVoidIsDoneOrWhyNot) {
  Result<void> done;
  EXPECT_TRUE(done);
  Result<void> failed = Error{.message = "no room"};
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::failed);
}

TEST(Error, ReadsAsOneLineWithPositionAndPath) {
  Error error{.code = Code::invalid,
              .message = "expected an integer, found a string",
              .path = "/replicas",
              .position = Position{"app.yaml", 3, 7}};
  EXPECT_EQ(to_string(error), "app.yaml:3:7: /replicas: expected an integer, found a string");
  EXPECT_EQ(to_string(Error{.message = "plain"}), "plain");
  EXPECT_EQ(to_string(Error{.message = "unknown field", .path = "/a\nb"}), "/a\\nb: unknown field");
  EXPECT_EQ(to_string(Position{"", 2, 5}), "2:5");
  Error copy = error;  // NOLINT: that it can be copied is the point
  EXPECT_EQ(copy, error);
}

TEST(ResultDeathTest, TakingAValueThatIsNotThereStops) {
  EXPECT_DEATH(
      {
        auto bad = half(3);
        (void)*bad;
      },
      "has_value");
}

}  // namespace result_test
}  // namespace sluice
