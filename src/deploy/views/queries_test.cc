// Views that answer what a query does.
#include "deploy/views/queries.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace queries_test {

struct QueryViews : testing::Test {
  json::value told(const std::string& name, const json::object& query = {}) {
    const auto views = query_views();
    return std::ranges::find(views, name, &lang::View::name)->read({.rows = rows, .tools = tools}, query).value();
  }

  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(QueryViews, TrustIsToldAsTheConceptTellsIt) {
  EXPECT_EQ(write(told("trust")), R"({"keys":[],"groups":[]})");
  EXPECT_TRUE(told("trust-root").at("root").is_string());
  trust::State(rows.rows).put(trust::KeyId("k1"), {.label = "ann"});
  EXPECT_EQ(told("trust").at("keys").at(0).at("label"), "ann");
}

TEST_F(QueryViews, UsageIsSummedUpByWhatIsAskedFor) {
  usage::State state(rows.rows);
  state.put(usage::UsageId("r1"), {.environment = "local", .bundle = "shop", .customer = "acme", .requests = 2});
  state.put(usage::UsageId("r2"), {.environment = "local", .bundle = "shop", .customer = "acme", .requests = 3});
  EXPECT_EQ(told("usage").as_array().size(), 2U);
  json::value by = told("usage", {{"by", {"customer"}}});
  EXPECT_EQ(write(by), R"([{"customer":"acme","requests":5,"bytes_in":0,"bytes_out":0,"warm_seconds":0}])");
  EXPECT_EQ(write(told("usage-unkept")), "[]");
  EXPECT_EQ(write(told("artifacts")), "[]");
}

}  // namespace queries_test
}  // namespace sluice::deploy::views
