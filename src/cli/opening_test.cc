// What the host is told of a command line.
#include "cli/opening.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"
#include "host/contexts.h"

namespace sluice::cli {
namespace opening_test {

TEST(Openings, SayWhatTheCommandLineSays) {
  TestingContext world({}, "traffic set");
  world.given.set("reason", "tea time");
  world.given.set("lock-timeout", "3s");
  auto opening = opening_of(world.context);
  ASSERT_TRUE(opening) << to_string(opening.error());
  EXPECT_EQ(opening->purpose, "traffic set");
  EXPECT_EQ(opening->reason, "tea time");
  EXPECT_EQ(opening->lock_timeout_ms, 3'000);
  EXPECT_EQ(opening->home.root(), world.folder.path("home"));
}

TEST(Openings, AnOptionThatACommandLacksIsNotGiven) {
  TestingContext world({}, "kit check");
  auto opening = opening_of(world.context);
  ASSERT_TRUE(opening) << to_string(opening.error());
  EXPECT_EQ(opening->reason, "");
  EXPECT_EQ(opening->lock_timeout_ms, 0);
}

TEST(Openings, ACommandGoesToTheServerThatItNames) {
  TestingContext world({}, "traffic set");
  ASSERT_TRUE(world.disk.make_folder(world.folder.path("home"), 0700));
  const host::Home home(world.disk, world.folder.path("home"));
  host::Contexts contexts{.current = "team",
                          .servers = {{"team", {.url = "https://team.example", .token = "slt_team", .ca = ""}},
                                      {"other", {.url = "https://other.example", .token = "slt_other", .ca = ""}}}};
  ASSERT_TRUE(host::write_contexts(world.disk, home, contexts));
  const auto goes_to = [&](const std::string& server, const std::string& token = "") -> std::string {
    TestingContext one({}, "traffic set");
    one.variables = [&](const std::string& name) -> std::optional<std::string> {
      if (name == "SLUICE_HOME") return world.folder.path("home");
      return name == "SLUICE_TOKEN" && !token.empty() ? std::optional(token) : std::nullopt;
    };
    if (!server.empty()) one.given.set("server", server);
    auto opening = opening_of(one.context);
    if (!opening) return opening.error().message;
    return opening->server ? opening->server->url + " " + opening->server->token : "here";
  };
  EXPECT_EQ(goes_to(""), "https://team.example slt_team");
  EXPECT_EQ(goes_to("local"), "here");
  EXPECT_EQ(goes_to("other"), "https://other.example slt_other");
  EXPECT_EQ(goes_to("https://other.example"), "https://other.example slt_other");
  EXPECT_EQ(goes_to("https://third.example", "slt_third"), "https://third.example slt_third");
  EXPECT_EQ(goes_to("https://third.example"),
            "nobody has logged in to https://third.example, and $SLUICE_TOKEN has no token for it");
  EXPECT_EQ(goes_to("tema"), "there is no context tema, and it is no URL");
}

}  // namespace opening_test
}  // namespace sluice::cli
