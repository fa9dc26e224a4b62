// What can be said without a server: an image with a digest stays as it is, and nobody there is an error.
#include "deploy/promotion/release_means.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy {
namespace release_means_test {

TEST(ReleaseMeans, WhatHasADigestIsNotAskedFor) {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  ReleaseMeans means(
      disk, clock, [](const std::string&) { return std::nullopt; }, folder.path());
  EXPECT_EQ(means.sources().pin_image("shop@sha256:1", {}).value(), "shop@sha256:1");
  EXPECT_FALSE(means.sources().pin_image("127.0.0.1:1/shop:1", {}));
  EXPECT_FALSE(means.sources().read_git({.repository = "https://127.0.0.1:1/x", .revision = "a1", .path = "x.yaml"}));
}

}  // namespace release_means_test
}  // namespace sluice::deploy
