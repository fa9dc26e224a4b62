// Offsets, what breaks off, and who sees what.
#include "host/partial_uploads.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace partial_uploads_test {

struct Partial : testing::Test {
  // The text, then an error if there is one.
  auto pieces(std::string text, std::optional<Error> error = std::nullopt) {
    return [text = std::move(text), error, given = false](std::string& piece) mutable -> Result<bool> {
      if (given && error) return *error;
      piece = given ? "" : text;
      return !std::exchange(given, true);
    };
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  PartialUploads partial{disk, folder.path("uploads/partial"), clock};
  const crypto::Sha256 digest = crypto::sha256("hello world");
};

TEST_F(Partial, GoesOnWhereItEnded) {
  EXPECT_EQ(*partial.offset("user:ann", digest), 0U);
  EXPECT_EQ(*partial.add("user:ann", digest, 0, pieces("hello ")), 6U);
  PartialUploads later(disk, folder.path("uploads/partial"), clock);
  EXPECT_EQ(*later.offset("user:ann", digest), 6U);
  auto wrong = later.add("user:ann", digest, 5, pieces("world"));
  EXPECT_EQ(wrong.error().code, Code::conflict);
  EXPECT_EQ(wrong.error().message, "the upload is at 6, not at 5");
  EXPECT_EQ(*later.add("user:ann", digest, 6, pieces("world")), 11U);
  auto whole = later.open("user:ann", digest);
  ASSERT_TRUE(whole);
  EXPECT_EQ(crypto::sha256(**whole).value(), digest);
  ASSERT_TRUE(later.remove("user:ann", digest));
  EXPECT_EQ(*later.offset("user:ann", digest), 0U);
}

TEST_F(Partial, WhatCameBeforeABreakStays) {
  Error broken{.code = Code::unavailable, .message = "the request broke off before its end"};
  EXPECT_FALSE(partial.add("user:ann", digest, 0, pieces("hel", broken)));
  EXPECT_EQ(*partial.offset("user:ann", digest), 3U);
}

TEST_F(Partial, NobodySeesWhatOthersHaveSent) {
  ASSERT_TRUE(partial.add("user:ann", digest, 0, pieces("hello")));
  EXPECT_EQ(*partial.offset("user:bob", digest), 0U);
  EXPECT_FALSE(partial.open("user:bob", digest));
}

TEST_F(Partial, ThereIsABoundOnHowManyAreNotWhole) {
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(partial.add("user:ann", crypto::sha256(std::to_string(i)), 0, pieces("x")));
  }
  EXPECT_EQ(partial.add("user:ann", digest, 0, pieces("x")).error().code, Code::limit);
  EXPECT_EQ(*partial.add("user:ann", crypto::sha256("1"), 1, pieces("y")), 2U);
}

}  // namespace partial_uploads_test
}  // namespace sluice::host
