// The description of a small kit; that of the kit deploy is looked at end to end.
#include "api/openapi.h"

#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::api {
namespace openapi_test {

TEST(OpenApi, DescribesActionsThatCanBeCalledAndRoutes) {
  lang::Checked checked =
      lang::check(lang::kit_of({"concept Door [D] { state { doors: set D } actions { action open(door: D, caller: "
                                "option String) { -> ok(door: D)"
                                " -> stuck @code(conflict) } action creak() { callers: syncs -> ok } } }"},
                               ""));
  ASSERT_TRUE(checked.kit);
  const json::object document = openapi_document(
      {.version = "1.2", .kit = *checked.kit, .views = {}, .routes = {{"GET", {"v1", "flows", "*"}, "Read a flow"}}});
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  const json::object& paths = document.at("paths").as_object();
  EXPECT_EQ(paths.size(), 2U);
  const json::object& open = paths.at("/v1/actions/Door/open").at("post").as_object();
  EXPECT_EQ(open.at("x-sluice-codes"), (json::object{{"ok", "ok"}, {"stuck", "conflict"}}));
  const json::object& input = document.at("components").at_pointer("/schemas/Door.open/properties").as_object();
  EXPECT_TRUE(input.contains("door"));
  EXPECT_FALSE(input.contains("caller"));
  EXPECT_EQ(paths.at("/v1/flows/{flow}").at_pointer("/get/parameters/0/name").as_string(), "flow");
}

TEST(OpenApi, HasExamples) {
  lang::Checked checked = lang::check(lang::kit_of(
      {"concept Door [D] { state { doors: set D } actions { action open(environment: String, weightBps: Int, at: "
       "DateTime, how: \"fast\" | \"slow\", entries: list { revision: String, weight: option Int }) { -> ok(door: D) } "
       "} }"},
      ""));
  ASSERT_TRUE(checked.kit);
  const json::object document = openapi_document({.version = "1", .kit = *checked.kit, .views = {}, .routes = {}});
  const json::value& open = document.at("paths").at("/v1/actions/Door/open").at("post");
  EXPECT_EQ(open.at_pointer("/requestBody/content/application~1json/example/input"),
            (json::value{{"environment", "staging"},
                         {"weightBps", 1'000},
                         {"at", "2026-03-01T09:30:00.125Z"},
                         {"how", "fast"},
                         {"entries", {{{"revision", "01M7Q4JYN7F74DZWWTPVQVKNX3"}}}}}));
  EXPECT_EQ(open.at_pointer("/responses/200/content/application~1json/example"),
            (json::value{{"action", "Door/open"}, {"variant", "ok"}, {"fields", {{"door", "text"}}}}));
  EXPECT_EQ(document.at("components").at_pointer("/parameters/Wait/example"), json::value("start"));
}

}  // namespace openapi_test
}  // namespace sluice::api
