// sluice env on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_commands_test {

using testing::HasSubstr;

TEST(EnvCommands, MakeLocalOnceAndAgainAfterItIsDestroyed) {
  ObjectsHome home;
  EXPECT_EQ(home.data({"env", "list"}).as_array().size(), 1U);
  EXPECT_EQ(home.run({"env", "list"}).err, "");
  EXPECT_EQ(home.run({"env", "destroy", "local"}).exit, 2);
  EXPECT_EQ(home.run({"env", "destroy", "local", "--dry-run"}).out,
            "would destroy the environment local, with 5 packs\n");
  EXPECT_EQ(home.run({"env", "destroy", "local", "--yes"}).out, "destroyed  local\n");
  EXPECT_EQ(home.run({"env", "destroy", "local", "--yes"}).exit, 0);
}

TEST(EnvCommands, CreateUpdateAndShow) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"env", "create", "prod", "--extends", "local", "--name", "Production"}).out, "created  prod\n");
  EXPECT_EQ(home.run({"env", "create", "prod"}).exit, 6);
  EXPECT_THAT(home.run({"env", "create", ".."}).err, HasSubstr("an environment is named by 1 to 63"));
  EXPECT_EQ(home.run({"env", "update", "prod", "--staged-max-count", "2", "--expect-generation", "1"}).exit, 0);
  Ran stale = home.run({"env", "update", "prod", "--staged-max-count", "3", "--expect-generation", "1"});
  EXPECT_EQ(stale.exit, 6);
  EXPECT_THAT(stale.err, HasSubstr("expected generation 1, it is at 2, changed at "));
  json::value shown = home.data({"env", "show", "prod"});
  EXPECT_EQ(shown.at("retention").at("staged_max_count"), json::value(2));
  EXPECT_EQ(shown.at("packs").as_array().size(), 5U);
  EXPECT_THAT(home.run({"env", "show", "prod"}).out, HasSubstr("Production, generation 2, health pending"));
  EXPECT_EQ(home.run({"env", "update", "none", "--name", "x"}).exit, 5);
  EXPECT_EQ(home.run({"env", "update", "prod"}).exit, 2);
}

TEST(EnvCommands, DoctorKeepsWhatItFinds) {
  ObjectsHome home;
  home.run({"env", "list"});
  EXPECT_EQ(home.run({"env", "doctor", "local"}).err, "local is green\n");
  home.run({"env", "create", "bare"});
  Ran red = home.run({"env", "doctor", "bare"});
  EXPECT_EQ(red.exit, 1);
  EXPECT_THAT(red.err, HasSubstr("red  nothing serves the slot deployer\n     next: sluice env-packs add bare"));
  EXPECT_EQ(home.data({"env", "list"}).as_array()[0].at("last_doctor_status"), json::value("red"));
}

TEST(EnvCommands, DoctorReadsTheRevocationList) {
  ObjectsHome home;
  home.run(
      {"env", "update", "local", "--require-revocation-list", "true", "--revocation-list", home.folder.path("none")});
  Ran red = home.run({"env", "doctor", "local"});
  EXPECT_EQ(red.exit, 1);
  EXPECT_THAT(red.err, HasSubstr("red  the revocation list cannot be read: "));
}

TEST(EnvCommands, WhatWasDestroyedWithAKeyIsToldAgain) {
  ObjectsHome home;
  home.run({"env", "create", "one"});
  home.run({"env", "create", "two"});
  Ran first = home.run({"env", "destroy", "one", "--yes", "--idempotency-key", "k", "-o", "json"});
  Ran again = home.run({"env", "destroy", "one", "--yes", "--idempotency-key", "k", "-o", "json"});
  EXPECT_EQ(first.exit, 0);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(home.run({"env", "destroy", "one", "--yes", "--idempotency-key", "other"}).exit, 5);
  EXPECT_EQ(home.run({"env", "destroy", "none", "--yes", "--idempotency-key", "k"}).exit, 5)
      << "it was about another one";
  EXPECT_EQ(home.run({"env", "destroy", "two", "--yes", "--idempotency-key", "k"}).exit, 6);
}

TEST(EnvCommands, KeysAreLookedAtFirst) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"env", "create", "a", "--idempotency-key", std::string(255, 'k')}).exit, 0);
  Ran late = home.run({"env", "create", "b", "--idempotency-key", std::string(256, 'k')});
  EXPECT_EQ(late.exit, 2);
  EXPECT_THAT(late.err, HasSubstr("at most 255 bytes; nothing was changed"));
  EXPECT_EQ(home.run({"env", "create", "b", "--idempotency-key", "a\nb"}).exit, 2);
  EXPECT_THAT(home.run({"env", "create", "b", "--idempotency-key", ""}).err,
              HasSubstr("an idempotency key is not empty"));
  EXPECT_EQ(home.data({"env", "list"}).as_array().size(), 2U);
}

TEST(EnvCommands, TakeAnswersAndPrintTheirSchema) {
  ObjectsHome home;
  RealDisk disk;
  json::value schema = json::parse(home.run({"env", "create", "--schema"}).out);
  EXPECT_EQ(schema.at("title"), json::value("Env/create"));
  auto file = disk.open(home.folder.path("answers.yaml"), {.write = true, .create = true});
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(0, "name: From a file\n"));
  home.run({"env", "create", "prod", "--answers", home.folder.path("answers.yaml")});
  EXPECT_EQ(home.data({"env", "show", "prod"}).at("name"), json::value("From a file"));
}

}  // namespace env_commands_test
}  // namespace sluice::cli
