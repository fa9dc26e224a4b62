// sluice env migrate-dev on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_migrate_commands_test {

using testing::HasSubstr;

TEST(EnvMigrateDev, LeavesAHomeWithoutDevAsItIs) {
  ObjectsHome home;
  json::value checked = home.data({"env", "migrate-dev", "local", "--check"});
  EXPECT_EQ(checked.at("clean"), json::value(true));
  EXPECT_TRUE(checked.at("findings").as_array().empty());
  EXPECT_EQ(home.data({"env", "migrate-dev", "local", "--apply"}).at("outcome"), json::value("nothing to do"));
  EXPECT_EQ(home.run({"env", "migrate-dev", "local"}).exit, 2);
  EXPECT_EQ(home.run({"env", "migrate-dev", "local", "--check", "--apply"}).exit, 2);
}

TEST(EnvMigrateDev, MovesWhatACleanDevHas) {
  ObjectsHome home;
  home.run({"env", "create", "dev"});
  EXPECT_EQ(home.run({"env", "migrate-dev", "dev", "--check"}).exit, 2);
  home.run({"env-packs", "add", "dev", "acme.gitops.flux@1.0.0"});
  home.run({"config", "set", "dev", "region=eu"});
  Ran checked = home.run({"env", "migrate-dev", "local", "--check"});
  EXPECT_EQ(checked.exit, 0);
  EXPECT_THAT(checked.out, HasSubstr("store/store.db"));
  EXPECT_THAT(checked.out, HasSubstr("Config/dev/region"));
  EXPECT_THAT(checked.out, HasSubstr("journal/")) << "who has named it stays in the audit";
  EXPECT_THAT(checked.err, HasSubstr("safe to migrate: sluice env migrate-dev local --apply"));
  EXPECT_EQ(home.data({"env", "migrate-dev", "local", "--apply", "--dry-run"}).at("outcome"), json::value("checked"));
  EXPECT_EQ(home.data({"env", "migrate-dev", "local", "--apply", "--yes"}).at("outcome"), json::value("migrated"));
  EXPECT_EQ(home.run({"env", "show", "dev"}).exit, 5);
  json::value local = home.data({"env", "show", "local"});
  EXPECT_EQ(local.at("host_config").at("region"), json::value("eu"));
  EXPECT_EQ(local.at("packs").as_array().size(), 6U);
}

TEST(EnvMigrateDev, KeepsAnAliasThatWarnsWhileDevIsUsed) {
  ObjectsHome home;
  home.run({"env", "create", "dev", "--extends", "local"});
  home.data({"bundles", "add", "local", home.archive()});
  home.run({"bundles", "update", "local", "--config-overrides", R"({"shop":{"stage":"dev"}})"});
  Ran blocked = home.run({"env", "migrate-dev", "local", "--apply"});
  EXPECT_EQ(blocked.exit, 1);
  EXPECT_THAT(blocked.out, HasSubstr("/config_overrides/shop/stage"));
  EXPECT_THAT(blocked.err, HasSubstr("dev is still used, so it stays"));
  EXPECT_THAT(home.run({"env", "show", "dev"}).err, HasSubstr("warning: dev is given up for local"));
  home.run({"env", "destroy", "dev", "--yes"});
  Ran meant = home.run({"env", "show", "dev"});
  EXPECT_EQ(meant.exit, 0);
  EXPECT_THAT(meant.out, HasSubstr("local"));
  EXPECT_THAT(meant.err, HasSubstr("warning: dev means local until "));
  home.run({"bundles", "update", "local", "--config-overrides", "{}"});
  EXPECT_EQ(home.data({"env", "migrate-dev", "local", "--apply"}).at("outcome"), json::value("migrated"));
  EXPECT_EQ(home.run({"env", "show", "dev"}).exit, 5) << "and the alias is gone";
}

}  // namespace env_migrate_commands_test
}  // namespace sluice::cli
