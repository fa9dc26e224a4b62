// What is lost is told, asked about, and is what the command line has named.
#include "cli/losing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace losing_test {

using testing::HasSubstr;

std::string answers(ObjectsHome& home, const std::string& text) {
  RealDisk disk;
  const std::string file = home.folder.path("answers.yaml");
  EXPECT_TRUE(write_atomically(disk, file, text, 0644));
  return file;
}

TEST(Losing, AnswersAreAboutNoOtherObjectThanTheCommandLine) {
  ObjectsHome home;
  home.run({"env", "create", "prod-eu"});
  home.run({"env", "create", "prod-us"});
  Ran refused = home.run({"env", "destroy", "prod-us", "--answers", answers(home, "environment: prod-eu\n"), "--yes"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("says environment \"prod-eu\", and the command line is about \"prod-us\"; nothing"));
  EXPECT_EQ(home.data({"env", "list"}).as_array().size(), 3U);
  EXPECT_EQ(home.run({"env", "destroy", "prod-us", "--answers", answers(home, "environment: prod-us\n"), "--yes"}).out,
            "destroyed  prod-us\n");
  EXPECT_EQ(
      home.run({"env-packs", "remove", "local", "secrets", "--answers", answers(home, "slot: state\n"), "--yes"}).exit,
      2);
  const std::string file = home.archive();
  home.data({"bundles", "add", "local", file, "--customer-id", "a"});
  const std::string other(
      home.data({"bundles", "add", "local", file, "--customer-id", "b"}).at("deployment").as_string());
  const std::string named = answers(home, "deployment: " + other + "\n");
  EXPECT_EQ(home.run({"bundles", "remove", "local", "--customer-id", "a", "--answers", named, "--yes"}).exit, 2);
  EXPECT_EQ(home.run({"traffic", "clear", "local", "--customer-id", "a", "--answers", named, "--yes"}).exit, 2);
  const std::string one(
      home.data({"revisions", "list", "local", "--customer-id", "a"}).as_array()[0].at("revision_id").as_string());
  const std::string two(
      home.data({"revisions", "list", "local", "--customer-id", "b"}).as_array()[0].at("revision_id").as_string());
  EXPECT_EQ(
      home.run({"revisions", "archive", "local", one, "--answers", answers(home, "revision: " + two + "\n"), "--yes"})
          .exit,
      2);
  EXPECT_EQ(home.data({"revisions", "list", "local"}).as_array().size(), 2U);
  home.run({"env", "create", "dev"});
  home.run({"env", "create", "staging"});
  EXPECT_EQ(
      home.run({"env", "migrate-dev", "local", "--apply", "--yes", "--answers", answers(home, "other: staging\n")})
          .exit,
      2);
  EXPECT_EQ(home.run({"env", "show", "staging"}).exit, 0);
}

TEST(Losing, ADryRunSaysWhatIsLostOrWhyNot) {
  ObjectsHome home;
  home.run({"env", "create", "prod", "--extends", "local"});
  EXPECT_THAT(home.run({"env", "destroy", "local", "--dry-run"}).err, HasSubstr("another environment extends local"));
  EXPECT_EQ(home.run({"env", "destroy", "prod", "--dry-run"}).out,
            "would destroy the environment prod, with 5 packs\n");
  json::value told = home.data({"env", "destroy", "prod", "--dry-run"});
  EXPECT_EQ(told, (json::value{{"would", "destroy the environment prod"}, {"loses", json::array{"5 packs"}}}));
  EXPECT_EQ(home.run({"env", "destroy", "prod", "--yes"}).exit, 0);
  home.data({"bundles", "add", "local", home.archive()});
  Ran used = home.run({"env", "destroy", "local", "--dry-run"});
  EXPECT_EQ(used.exit, 6);
  EXPECT_THAT(used.err, HasSubstr("shop is deployed in local as"));
  EXPECT_EQ(home.run({"bundles", "remove", "local", "--dry-run"}).exit, 6) << "its revision is not archived";
  EXPECT_EQ(home.run({"revisions", "drain", "local", "shop@1", "--dry-run"}).exit, 6) << "it is not ready";
  EXPECT_THAT(home.run({"revisions", "archive", "local", "shop@1", "--dry-run"}).out,
              HasSubstr("would archive for good shop@1"));
  home.run({"revisions", "archive", "local", "shop@1", "--yes"});
  EXPECT_EQ(home.data({"bundles", "remove", "local", "--dry-run"}).at("loses"),
            (json::array{"1 revision", "1 policy version"}));
  EXPECT_EQ(home.run({"env-packs", "remove", "local", "gitops", "--dry-run"}).exit, 5) << "it has none";
  EXPECT_EQ(home.data({"bundles", "update", "local", "--host", "a.example", "--dry-run"}).at("loses"), json::array());
  EXPECT_EQ(home.data({"bundles", "list", "local"}).as_array().size(), 1U);
}

TEST(Losing, NobodyIsAskedWhereNobodyCanAnswer) {
  ObjectsHome home;
  home.run({"env", "create", "dev"});
  home.run({"env", "create", "gone"});
  EXPECT_EQ(home.run({"env", "destroy", "gone"}).exit, 2);
  EXPECT_EQ(home.run({"env", "migrate-dev", "local", "--apply"}).exit, 2);
  EXPECT_EQ(home.run({"env", "show", "dev"}).exit, 0);
  EXPECT_EQ(home.run({"env", "migrate-dev", "local", "--apply", "--yes"}).exit, 0);
  EXPECT_EQ(home.run({"env", "show", "dev"}).exit, 5);
}

}  // namespace losing_test
}  // namespace sluice::cli
