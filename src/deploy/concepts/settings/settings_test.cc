// Settings through the harness: one test a variant.
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "settings.gen.h"

namespace sluice::deploy::settings {
namespace settings_test {

TEST(Settings, OnlyWhatIsOtherwiseHasChanged) {
  lang::Harness harness(settings_binding());
  const Put put{.settings = {{.component = "shop", .environment = "dev", .document = "{}"}}};
  EXPECT_EQ(harness.invoke(put).as<Put::Ok>().changed.size(), 1U);
  EXPECT_TRUE(harness.invoke(put).as<Put::Ok>().changed.empty());
}

TEST(Settings, TheyAreForgotten) {
  lang::Harness harness(settings_binding());
  const Remove remove{.component = "shop", .environment = "dev"};
  EXPECT_EQ(harness.invoke(remove).as<Remove::NotFound>().message, "shop has no settings in dev");
  harness.invoke(Put{.settings = {{.component = "shop", .environment = "dev", .document = "{}"}}});
  EXPECT_TRUE(harness.invoke(remove).is<Remove::Ok>());
}

}  // namespace settings_test
}  // namespace sluice::deploy::settings
