// The document's shape, and which faults refuse all of it.
#include "router/table/table_document.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"

namespace sluice::router {
namespace table_document_test {

std::string table_with(const std::string& deployments, const std::string& more = "") {
  return R"({"schema":"sluice.router-table.v1","environment":"local","generation":3,"deployments":[)" + deployments +
         "]" + more + "}";
}

TEST(TableDocument, IsReadWithItsDefaults) {
  auto read = read_table(table_with(R"({"id":"d1","revisions":[{"id":"r1","weight_bps":10000}]})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->document.generation, 3);
  EXPECT_EQ(read->document.access_log_bps, 100);
  const DeploymentDocument& deployment = read->document.deployments.at(0);
  EXPECT_EQ(deployment.stickiness.mode, StickyMode::session);
  EXPECT_EQ(deployment.timeouts.connect_ms, 2'000);
  EXPECT_EQ(deployment.revisions.at(0).state, RevisionState::ready);
}

TEST(TableDocument, IsWrittenAsItIsRead) {
  TableDocument table{.environment = "local", .generation = 1};
  table.deployments.push_back({.id = "d1"});
  auto read = read_table(write(to_json(table)));
  ASSERT_TRUE(read);
  EXPECT_EQ(write(to_json(read->document)), write(to_json(table)));
}

TEST(TableDocument, LeavesOutADeploymentThatItCannotRead) {
  auto read = read_table(table_with(R"({"id":"d1","colour":"red"},{"id":"d2"})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->document.deployments.size(), 1U);
  ASSERT_EQ(read->quarantined.size(), 1U);
  EXPECT_EQ(read->quarantined[0].deployment, "d1");
  EXPECT_TRUE(read->quarantined[0].reason.starts_with("/deployments/0/colour: unknown field"));
}

TEST(TableDocument, MayBeWrittenInAnyFormOfJson) {
  const std::string head = R"("schema":"sluice.router-table.v1","generation":3)";
  const std::string texts[] = {
      "{" + head + R"(,"environment":"local","deployments":[{"id":"d1"},{"id":"d2"}]})",
      "{" + head + R"(,"deployments":[{"id":"d1"},{"id":"d2"}],"environment":"local"})",
      " {\n\t" + head +
          " , \"environment\" : \"local\" ,\r\n\"deployments\" : [ { \"id\" : \"d1\" } , {\"id\":\"d2\"} ]\n}\n ",
      "{" + head + R"(,"environment":"local","deployments":[{"id":"d1","tenant":"}]\"{\\"},{"id":"d2"}]})",
      "{" + head + R"(,"environment":"local","\u0064eployments":[{"id":"d1"},{"id":"d2"}]})",
  };
  for (const std::string& text : texts) {
    auto read = read_table(text);
    ASSERT_TRUE(read) << text << to_string(read.error());
    ASSERT_EQ(read->document.deployments.size(), 2U) << text;
    EXPECT_EQ(read->document.deployments[1].id, "d2");
    EXPECT_EQ(read->document.environment, "local");
  }
  auto named = read_table("{" + head + R"(,"environment":"deployments","deployments":[]})");
  EXPECT_EQ(named->document.environment, "deployments");
  EXPECT_EQ(read_table(table_with(R"(5,{"id":"d2"})"))->quarantined.at(0).reason.substr(0, 14), "/deployments/0");
  const std::pair<std::string, std::string> broken[] = {
      {table_with(R"({"id":"d1"},)"), "1:100: not valid JSON: unexpected ']'"},
      {table_with(R"({"id":"d1"} {"id":"d2"})"), "1:100: not valid JSON: unexpected '{'"},
      {table_with(R"({"id":"d1","tags":[}])"), "1:107: not valid JSON: unexpected '}'"},
      {table_with(R"({"id":"d1","id":"d2"})"), "1:99: /deployments/0/id: duplicate key \"id\""},
      {table_with(R"({"id":"d1"})", R"(,"deployments":[])"), "1:101: /deployments: duplicate key \"deployments\""},
      {table_with(R"({"id":"d1")"), "1:98: not valid JSON"},
      {table_with("").substr(0, 87), "the JSON text ends too early"},
  };
  for (const auto& [text, wrong] : broken) {
    auto read = read_table(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(to_string(read.error()).find(wrong), std::string::npos) << text << ": " << to_string(read.error());
  }
}

TEST(TableDocument, IsRefusedForFaultsOfItsOwn) {
  EXPECT_EQ(read_table("[").error().code, Code::invalid);
  EXPECT_EQ(read_table(table_with("", R"(,"extra":1)")).error().path, "/extra");
  EXPECT_EQ(read_table(R"({"schema":"x","environment":"local","generation":1})").error().message,
            "schema is 'x', expected 'sluice.router-table.v1'");
  EXPECT_EQ(read_table(R"({"schema":"sluice.router-table.v1","environment":"local","generation":0})").error().message,
            "a table's generation is at least 1");
  EXPECT_EQ(read_table(R"({"schema":"sluice.router-table.v1","environment":"","generation":1})").error().message,
            "expected the name of an environment");
  EXPECT_EQ(read_table(table_with("", R"(,"access_log_bps":10001)")).error().path, "/access_log_bps");
}

TEST(TableDocument, PatchesHaveADeploymentOrOneThatGoes) {
  auto patch = read_patch(R"({"schema":"sluice.router-patch.v1","deployment":{"id":"d1"}})");
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->deployment, "d1");
  EXPECT_EQ(read_patch(R"({"schema":"sluice.router-patch.v1","removed":"d2"})")->deployment, "d2");
  EXPECT_EQ(read_patch(R"({"schema":"sluice.router-patch.v1"})").error().message,
            "a patch has either a deployment or the id of one that is removed");
  auto bad = read_patch(R"({"schema":"sluice.router-patch.v1","deployment":{"id":"d1","colour":1}})");
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->quarantined->deployment, "d1");
  EXPECT_FALSE(read_patch(R"({"schema":"x","deployment":{"id":"d1"}})"));
}

}  // namespace table_document_test
}  // namespace sluice::router
