// sluice env export and apply on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_apply_commands_test {

using testing::HasSubstr;

TEST(EnvApply, WhatIsExportedIsAppliedWithoutAChange) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("local.yaml");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"env", "export", "local"}, {"env", "show", "local", "-o", "yaml"}}) {
    ASSERT_TRUE(write_atomically(disk, file, home.run(words).out, 0644));
    Ran ran = home.run({"env", "apply", "-f", file, "--prune"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "local is as " + file + " says\n");
  }
}

TEST(EnvApply, PlansFirstAndThenDoesIt) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("prod.yaml");
  ASSERT_TRUE(write_atomically(disk, file,
                               "schema: sluice.environment.v1\nenvironment_id: prod\nhost_config: { region: eu }\n"
                               "packs: [{ slot: state, kind: sluice.state.memory@1.0.0 }]\n",
                               0644));
  Ran planned = home.run({"env", "apply", "-f", file, "--exit-code"});
  EXPECT_EQ(planned.exit, 3);
  EXPECT_EQ(planned.out, "+ environment prod\n+ sluice.state.memory@1.0.0 for state\n~ region of prod\n");
  EXPECT_EQ(home.run({"env", "show", "prod"}).exit, 5) << "nothing was changed";
  EXPECT_THAT(home.run({"env", "apply", "-f", file}).err, HasSubstr("3 changes made\n"));
  EXPECT_EQ(home.data({"env", "show", "prod"}).at("host_config").at("region"), json::value("eu"));
  ASSERT_TRUE(write_atomically(disk, file, "schema: sluice.environment.v1\nenvironment_id: prod\npacks: []\n", 0644));
  EXPECT_EQ(home.run({"env", "apply", "-f", file, "--prune"}).exit, 2) << "what is lost is asked for";
  EXPECT_EQ(home.run({"env", "apply", "-f", file, "--prune", "--yes"}).exit, 0);
  EXPECT_TRUE(home.data({"env", "show", "prod"}).at("packs").as_array().empty());
}

TEST(EnvApply, AddsBundlesWithTheirArchivesAndTakesThemAwayOnRequest) {
  ObjectsHome home;
  RealDisk disk;
  home.data({"bundles", "add", "local", home.archive(), "--host", "shop.example", "--path", "/"});
  const std::string shown = home.run({"env", "show", "local", "-o", "yaml"}).out;
  const std::string exported = home.run({"env", "export", "local"}).out;
  for (const std::string& text : {shown, exported}) {
    ObjectsHome other;
    const std::string file = other.folder.path("local.yaml");
    ASSERT_TRUE(write_atomically(disk, file, text, 0644));
    Ran ran = other.run({"env", "apply", "-f", file});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("+ shop for local-dev\n"));
    EXPECT_THAT(ran.out, HasSubstr("+ shop for local-dev serves sha256:"));
    EXPECT_EQ(other.data({"bundles", "list", "local"}).as_array().size(), 1U);
    ASSERT_TRUE(
        write_atomically(disk, file, "schema: sluice.environment.v1\nenvironment_id: local\nbundles: []\n", 0644));
    EXPECT_EQ(other.run({"env", "apply", "--answers", file, "--prune", "--yes"}).exit, 0);
    EXPECT_TRUE(other.data({"bundles", "list", "local"}).as_array().empty());
  }
}

TEST(EnvApply, LooksAtArchivesBeforeItChangesAnything) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("local.yaml");
  home.archive("mail");
  auto apply = [&](const std::string& archive) {
    EXPECT_TRUE(write_atomically(disk, file,
                                 "schema: sluice.environment.v1\nenvironment_id: local\nname: Here\nbundles: "
                                 "[{ bundle_id: shop, customer_id: acme, bundle_source_uri: " +
                                     archive + " }]\n",
                                 0644));
    return home.run({"env", "apply", "-f", file});
  };
  EXPECT_EQ(apply("none.bundle").exit, 5);
  EXPECT_THAT(apply("mail.bundle").err, HasSubstr(" is the bundle mail, not shop; nothing was changed"));
  EXPECT_EQ(home.data({"env", "show", "local"}).at("name"), json::value("Local"));
}

TEST(EnvApply, ChangesOnlyTheGenerationThatIsExpected) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("local.yaml");
  ASSERT_TRUE(write_atomically(disk, file, "schema: sluice.environment.v1\nenvironment_id: local\nname: Here\n", 0644));
  Ran stale = home.run({"env", "apply", "-f", file, "--expect-generation", "7"});
  EXPECT_EQ(stale.exit, 6);
  EXPECT_THAT(stale.err, HasSubstr("expected generation 7, it is at 1, changed at "));
  EXPECT_EQ(home.run({"env", "apply", "-f", file, "--expect-generation", "1"}).exit, 0);
  EXPECT_EQ(home.data({"env", "show", "local"}).at("name"), json::value("Here"));
}

TEST(EnvApply, SaysWhatItTakes) {
  ObjectsHome home;
  EXPECT_EQ(json::parse(home.run({"env", "apply", "--schema"}).out).at("title"), json::value("sluice.environment.v1"));
  EXPECT_THAT(home.run({"env", "apply"}).err, HasSubstr("say which file"));
  EXPECT_EQ(home.run({"env", "apply", "-f", "a", "--answers", "b"}).exit, 2);
}

}  // namespace env_apply_commands_test
}  // namespace sluice::cli
