// A tree on disk, and what an operator allows of it.
#include "deploy/start_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "crypto/ed25519.h"
#include "router/table/bounds.h"

namespace sluice::deploy {
namespace start_bounds_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

struct StartBounds : testing::Test {
  StartBounds() {
    for (const std::string& each : {root, root + "/bin", root + "/empty", folder}) {
      EXPECT_TRUE(disk.make_folder(each, 0755));
    }
    put(root + "/bundle.yaml", "name: shop\nversion: \"1\"\nrun: [./bin/app]\n");
    put(root + "/bin/app", "#!/bin/sh\n", 0755);
    EXPECT_TRUE(disk.symlink("bin/app", root + "/link"));
    bounds.deployments = {{.bundles = {{.type = "enum", .members = {{"shop"}}}},
                           .revisions = {{.type = "enum", .members = {{digest()}}}}}};
  }
  void put(const std::string& path, const std::string& text, uint32_t mode = 0644) {
    EXPECT_TRUE(write_atomically(disk, path, text, mode));
  }
  std::string digest() {
    return "sha256:" + bundle::tree_of_folder(disk, root, {"bin/app", "bundle.yaml", "empty", "link"}).value().digest();
  }
  void give(const crypto::PrivateKey& key) {
    put(folder + "/prod.pub", operator_key.public_key().to_pem());
    put(folder + "/prod.json", ::sluice::router::sign_bounds(bounds, key).value());
  }
  std::string why(bool again = false) {
    auto done = check_start(disk, workload, again, kNow);
    if (done) return "";
    EXPECT_EQ(done.error().code, Code::denied);
    return done.error().message;
  }

  RealDisk disk;
  TestingFolder place;
  std::string root = place.path("tree");
  std::string folder = place.path("bounds");
  crypto::PrivateKey operator_key = crypto::PrivateKey::generate();
  ::sluice::router::BoundsDocument bounds{.environment = "prod", .version = 1};
  process::Workload workload{.argv = {"./bin/app"},
                             .root = root,
                             .bound = process::StartBound{.folder = folder, .environment = "prod", .deployment = "d1"}};
};

TEST_F(StartBounds, AFolderWithoutAKeyBindsNothing) {
  EXPECT_EQ(why(), "");
  workload.bound->folder = place.path("nowhere");
  EXPECT_EQ(why(), "");
  workload.bound.reset();
  EXPECT_EQ(why(), "");
}

TEST_F(StartBounds, TheTreeThatIsThereIsJudged) {
  give(operator_key);
  EXPECT_EQ(why(), "");
  put(root + "/bin/app", "#!/bin/sh\nexit 1\n", 0755);
  EXPECT_THAT(why(), HasSubstr("it is not started: beyond the operator's bounds (version 1): its tree is sha256:"));
  EXPECT_NE(why(true), "") << "also when it is started again";
}

TEST_F(StartBounds, WhereOneEnvironmentIsBoundAllAre) {
  give(operator_key);
  workload.bound->environment = "dev";
  EXPECT_THAT(why(), HasSubstr("dev has no bounds"));
  workload.bound->environment = "../bounds/prod";
  EXPECT_THAT(why(), HasSubstr("has no bounds"));
  workload.bound->environment = "";
  EXPECT_THAT(why(), HasSubstr("it is of no environment"));
  // Those of another environment are not taken for it.
  put(folder + "/dev.pub", operator_key.public_key().to_pem());
  put(folder + "/dev.json", ::sluice::router::sign_bounds(bounds, operator_key).value());
  workload.bound->environment = "dev";
  EXPECT_THAT(why(), HasSubstr("is of the environment prod"));
}

TEST_F(StartBounds, WhatIsNotSoundStartsNothing) {
  put(folder + "/prod.pub", operator_key.public_key().to_pem());
  EXPECT_THAT(why(), HasSubstr("prod.json"));
  give(crypto::PrivateKey::generate());
  EXPECT_THAT(why(), HasSubstr("not signed by a key that counts"));
  give(operator_key);
  put(folder + "/prod.pub", "nonsense");
  EXPECT_THAT(why(), HasSubstr("prod.pub"));
  give(operator_key);
  EXPECT_TRUE(disk.remove(root + "/bundle.yaml"));
  EXPECT_NE(why(), "");
}

TEST_F(StartBounds, AfterTheyExpiredNothingNewIsStarted) {
  bounds.expires_at = "2020-01-01T00:00:00Z";
  give(operator_key);
  EXPECT_THAT(why(), HasSubstr("expired at 2020-01-01T00:00:00Z"));
  EXPECT_EQ(why(true), "") << "what ran before goes on";
}

TEST_F(StartBounds, TheFolderIsTheOperators) {
  EXPECT_EQ(start_bounds_folder([](const std::string&) { return std::nullopt; }), "/etc/sluice/bounds");
  EXPECT_EQ(start_bounds_folder([](const std::string& name) -> std::optional<std::string> {
              return name == "SLUICE_BOUNDS" ? std::optional<std::string>("/b") : std::nullopt;
            }),
            "/b");
}

}  // namespace start_bounds_test
}  // namespace sluice::deploy
