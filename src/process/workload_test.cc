// What no workload can be, before anything is made for it.
#include "process/workload.h"

#include <gtest/gtest.h>

namespace sluice::process {
namespace workload_test {

Workload good() { return {.argv = {"./app"}, .root = "/bundle"}; }

std::string refusal(const std::function<void(Workload&)>& spoil) {
  Workload workload = good();
  spoil(workload);
  auto checked = check(workload);
  return checked ? "" : to_string(checked.error());
}

TEST(Workload, MayBeAsItIsByDefault) { EXPECT_TRUE(check(good())); }

TEST(Workload, RefusesWhatCannotRun) {
  EXPECT_EQ(refusal([](Workload& w) { w.argv = {}; }), "/argv: there is no program to run");
  EXPECT_EQ(refusal([](Workload& w) { w.argv = {""}; }), "/argv: there is no program to run");
  EXPECT_EQ(refusal([](Workload& w) { w.argv = {"a", std::string(1, '\0')}; }), "/argv: a command cannot hold NUL");
  EXPECT_EQ(refusal([](Workload& w) { w.root = "bundle"; }), "/root: expected absolute paths of folders");
  EXPECT_EQ(refusal([](Workload& w) { w.hidden = "home"; }), "/root: expected absolute paths of folders");
  EXPECT_EQ(refusal([](Workload& w) { w.writable = {"store"}; }), "/root: expected absolute paths of folders");
  EXPECT_EQ(refusal([](Workload& w) { w.environment["A=B"] = ""; }),
            "/environment: no variable can be called or hold that");
  EXPECT_EQ(refusal([](Workload& w) { w.environment["A"] = std::string(1, '\0'); }),
            "/environment: no variable can be called or hold that");
  EXPECT_EQ(refusal([](Workload& w) { w.port = 0; }), "/port: expected a port from 1 to 65535");
}

TEST(Workload, RefusesChecksThatCannotBeMade) {
  EXPECT_EQ(refusal([](Workload& w) { w.health.by = HealthBy::command; }),
            "/health/command: there is no command that says whether it is healthy");
  EXPECT_EQ(refusal([](Workload& w) { w.health = {.by = HealthBy::http, .path = "/a b"}; }),
            "/health/path: expected a path that begins with \"/\"");
  EXPECT_EQ(refusal([](Workload& w) { w.health = {.by = HealthBy::http, .path = "/a\r\nX: y"}; }),
            "/health/path: expected a path that begins with \"/\"");
  EXPECT_EQ(refusal([](Workload& w) { w.health.interval_ms = 0; }), "/health: expected times from 1 ms to a year");
}

TEST(Workload, RefusesLimitsThatNothingCanKeep) {
  EXPECT_EQ(refusal([](Workload& w) { w.grace_ms = -1; }), "/grace_ms: expected at most a year");
  EXPECT_EQ(refusal([](Workload& w) { w.log.files = 0; }), "/log: expected a file of at least 1 kB");
  for (auto spoil : std::vector<std::function<void(Workload&)>>{
           [](Workload& w) { w.limits.cpu = 0; }, [](Workload& w) { w.limits.memory_bytes = 0; },
           [](Workload& w) { w.limits.processes = 0; }, [](Workload& w) { w.limits.files = 1; }}) {
    EXPECT_EQ(refusal(spoil), "/limits: expected limits that a program can run within");
  }
}

}  // namespace workload_test
}  // namespace sluice::process
