// The picture of a rollout, as text without colours.
#include "cli/nouns/rollout_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/terminal.h"

namespace sluice::cli {
namespace rollout_picture_test {

using deploy::rollout::RolloutStatus;
using testing::HasSubstr;
using testing::Not;

deploy::views::RolloutView some_view() {
  deploy::views::RolloutView view{.rollout = "01J2",
                                  .environment = "local",
                                  .bundle = "shop",
                                  .strategy = "canary",
                                  .status = RolloutStatus::running,
                                  .step = 1,
                                  .weight_asked_bps = 1'000,
                                  .waits_for = "stays at 10% for another 4s",
                                  .started_at = {0},
                                  .now = {12'000}};
  view.steps = {{.weight_bps = 1'000, .pause_s = 5, .state = deploy::views::StepState::current},
                {.weight_bps = 10'000}};
  view.weight_obeyed_bps = 1'000;
  view.weight_actual_bps = 980;
  view.canary = {.name = "shop@2", .requests_per_s = 12.5, .past_p99_ms = {1, 2, 4, 8}};
  view.canary.error_share = 0.041;
  view.canary.p99_ms = 8.0;
  view.baseline = deploy::views::SideView{.name = "shop@1", .requests_per_s = 112};
  view.verdict = judge::Verdict{.sentence = "Too early: 900 more requests to shop@2"};
  view.routers = {{.name = "main", .obeys = true}, {.name = "edge", .trouble = "nobody is at its socket"}};
  return view;
}

TEST(RolloutPicture, ShowsAllThatMatters) {
  const std::string text = picture_of(some_view(), {});
  EXPECT_THAT(text, HasSubstr("● running  shop@2 ← shop@1  canary, step 1 of 2  local  12s\n"));
  EXPECT_THAT(text, HasSubstr("asked 10%  obeyed 10%  actual 9.8 %\n"));
  EXPECT_THAT(text, HasSubstr("▶ 10% 5s   ○ 100%\n"));
  EXPECT_THAT(text, HasSubstr("4.1 %"));
  EXPECT_THAT(text, HasSubstr("▁▂▄█"));
  EXPECT_THAT(text, HasSubstr("judge     Too early: 900 more requests to shop@2\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("stays at 10% for another 4s\n"), Not(HasSubstr("waits for"))));
  EXPECT_THAT(text, HasSubstr("routers   main obeys, edge: nobody is at its socket\n"));
}

TEST(RolloutPicture, SaysWhyItEnded) {
  auto view = some_view();
  view.status = RolloutStatus::aborted;
  view.reason = view.waits_for = "shop@2 fails";
  view.ended_at = lang::DateTime{5'000};
  const std::string text = picture_of(view, {});
  EXPECT_THAT(text, HasSubstr("✖ aborted"));
  EXPECT_THAT(text, HasSubstr("because   shop@2 fails\n"));
  EXPECT_THAT(text, HasSubstr("routers   main obeys, edge: nobody is at its socket\n"))
      << "edge may still send requests";
  view.routers.pop_back();
  EXPECT_THAT(picture_of(view, {}), Not(HasSubstr("routers")));
  EXPECT_EQ(line_of(view), "shop@2 aborted, step 1 of 2, 10%: shop@2 fails");
}

TEST(RolloutPicture, SparklinesShowTheNewest) {
  EXPECT_EQ(sparkline({}, 4), "");
  EXPECT_EQ(sparkline({0, 0}, 4), "▁▁");
  EXPECT_EQ(sparkline({9, 9, 1, 2, 4, 8}, 4), "▁▂▄█");
}

TEST(RolloutPicture, OnANarrowTerminalTheNewestLooksStay) {
  auto view = some_view();
  view.canary.past_requests_per_s = view.canary.past_error_shares = std::vector<double>(20, 1.0);
  view.canary.past_p99_ms = std::vector<double>(20, 1.0);
  view.canary.past_requests_per_s.back() = 8;
  const std::string text = picture_of(view, {.tty = true, .width = 80});
  EXPECT_THAT(text, Not(HasSubstr("…")));
  EXPECT_THAT(text, HasSubstr("▁▁▁█ "));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
}

}  // namespace rollout_picture_test
}  // namespace sluice::cli
