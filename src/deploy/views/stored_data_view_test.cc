// What is stored of deployments that are there, and of those that are gone.
#include "deploy/views/stored_data_view.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/testing_folder.h"
#include "deploy/stored_data.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace stored_data_view_test {

TEST(StoredDataView, TellsWhoseItIsWhereAndHowMuch) {
  TestingFolder folder;
  RowsInMemory rows;
  rows.deployment("01J0000000000000000000000A", "acme");
  rows.deployment("01J0000000000000000000000B", "blue");
  deployment::State(rows.rows).kept_data().push(
      {.environment = "prod", .bundle = "shop", .customer = "acme", .storage = "d-gone"});
  StoredData stored(folder.path("storage"));
  std::filesystem::create_directories(folder.path("storage/d-01j0000000000000000000000a"));
  std::filesystem::create_directories(folder.path("storage/d-gone"));
  std::ofstream(folder.path("storage/d-gone/a")) << "hello";
  lang::Tools tools;
  tools.add(stored);
  const lang::Reading reading{.rows = rows, .tools = tools};
  json::value all = stored_data_views().front().read(reading, {}).value();
  ASSERT_EQ(all.as_array().size(), 2U) << "one of them stores nothing: " << write(all);
  EXPECT_EQ(all.at(0).at("deployment"), "01J0000000000000000000000A");
  EXPECT_TRUE(all.at(0).at("since").is_null());
  EXPECT_TRUE(all.at(1).at("deployment").is_null());
  EXPECT_EQ(all.at(1).at("bytes"), 5);
  EXPECT_EQ(all.at(1).at("folder"), json::value(folder.path("storage/d-gone")));
  all = stored_data_views().front().read(reading, {{"environment", "prod"}}).value();
  EXPECT_EQ(all.as_array().size(), 1U);
}

}  // namespace stored_data_view_test
}  // namespace sluice::deploy::views
