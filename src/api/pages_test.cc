// Pages of the console: what is answered, to whom, and with which headers.
#include "api/pages.h"

#include <gtest/gtest.h>

#include <array>

namespace sluice::api {
namespace pages_test {

constexpr std::array kTable = {
    Page{.name = "index.html", .content_type = "text/html; charset=utf-8", .etag = "i1", .gzip = "INDEX"},
    Page{.name = "assets/app-1a2b.js", .content_type = "text/javascript", .etag = "a1", .gzip = "APP", .hashed = true},
};

std::optional<http::Response> get(std::span<const Page> table, const std::string& target,
                                  std::vector<http::Header> headers = {{"Accept-Encoding", "br, gzip;q=0.8"}},
                                  const std::string& method = "GET") {
  http::Request request{.method = method, .target = target, .headers = std::move(headers)};
  EXPECT_TRUE(http::take_target_apart(request));
  return Pages(table).answer(request);
}

std::string header(const http::Response& response, std::string_view name) {
  const std::string* value = http::find_header(response.headers, name);
  return value != nullptr ? *value : "";
}

TEST(Pages, AreServedWithHeadersThatKeepOthersOut) {
  auto index = get(kTable, "/ui/");
  ASSERT_TRUE(index);
  EXPECT_EQ(index->status, 200);
  EXPECT_EQ(index->body, "INDEX");
  EXPECT_EQ(index->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(*index, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(*index, "Cache-Control"), "no-cache");
  EXPECT_EQ(header(*index, "ETag"), "\"i1\"");
  EXPECT_EQ(header(*index, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(*index, "X-Frame-Options"), "DENY");
  EXPECT_EQ(header(*index, "Referrer-Policy"), "no-referrer");
  const std::string policy = header(*index, "Content-Security-Policy");
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(policy.find("script-src 'self';"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  auto script = get(kTable, "/ui/assets/app-1a2b.js");
  EXPECT_EQ(script->body, "APP");
  EXPECT_EQ(header(*script, "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(get(kTable, "/ui/assets/app-1a2b.js", {{"Accept-Encoding", "gzip"}, {"If-None-Match", "\"a1\""}})->status,
            304);
  EXPECT_EQ(get(kTable, "/ui/", {{"Accept-Encoding", "*"}}, "HEAD")->status, 200);
}

TEST(Pages, PathsOfTheConsoleItselfLeadToIt) {
  EXPECT_EQ(get(kTable, "/ui/environments/local")->body, "INDEX");
  EXPECT_EQ(get(kTable, "/ui/flows/01K?steps=1")->body, "INDEX");
  EXPECT_EQ(get(kTable, "/ui/assets/other-3c.js")->status, 404);
  EXPECT_EQ(get(kTable, "/ui/index.html")->body, "INDEX");
  for (const char* place : {"/", "/ui"}) {
    EXPECT_EQ(get(kTable, place)->status, 302) << place;
    EXPECT_EQ(header(*get(kTable, place), "Location"), "/ui/") << place;
  }
}

TEST(Pages, OtherPathsMethodsAndEncodingsAreNotTheirs) {
  EXPECT_FALSE(get(kTable, "/v1/status"));
  EXPECT_FALSE(get(kTable, "/uix"));
  EXPECT_FALSE(get(kTable, "/ui/", {}, "POST"));
  for (const char* encoding : {"br", "gzip;q=0", ""}) {
    EXPECT_EQ(get(kTable, "/ui/", {{"Accept-Encoding", encoding}})->status, 406) << encoding;
  }
  EXPECT_EQ(get(kTable, "/ui/", {})->status, 406);
}

TEST(Pages, WithoutATableThereAreNone) {
  EXPECT_EQ(get({}, "/ui/")->status, 404);
  EXPECT_NE(get({}, "/ui/")->body.find("this program was built without the console"), std::string::npos);
  EXPECT_FALSE(get({}, "/"));
}

}  // namespace pages_test
}  // namespace sluice::api
