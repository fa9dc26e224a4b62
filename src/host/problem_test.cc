// Problems read back as the errors that they were made of.
#include "host/problem.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::host {
namespace problem_test {

TEST(Problem, HasTheFieldsOfTheRfcAndItsOwn) {
  Error error{.code = Code::conflict, .message = "it is there", .next = "sluice stop"};
  EXPECT_EQ(problem(error),
            (json::object{{"type", "urn:sluice:problem:conflict"},
                          {"title", "it exists already, is in use, is locked, or has changed meanwhile"},
                          {"status", 409},
                          {"detail", "it is there"},
                          {"code", "conflict"},
                          {"next", "sluice stop"}}));
}

TEST(Problem, EveryCodeReadsBack) {
  for (const CodeEntry& each : code_table()) {
    if (each.code == Code::ok) continue;
    Error error{.code = each.code, .message = "m", .next = "n", .path = "/p", .position = Position{"f", 3, 7}};
    EXPECT_EQ(error_in(problem(error)), error);
  }
}

TEST(Problem, OfSeveralNextStepsTheFirstIsRead) {
  json::object object = problem({.code = Code::conflict, .message = "it is cold"});
  object["next"] = json::parse(R"([{"action":"Revision/warm","input":{"revision":"r1"}},{"text":"wait"}])");
  EXPECT_EQ(error_in(object).next, "Revision/warm revision=r1");
  object["next"] = json::array();
  EXPECT_EQ(error_in(object).next, "");
}

TEST(Problem, SaysWhatItDoesNotKnow) {
  for (const char* text : {"null", "{}", R"({"code":"ok"})", R"({"code":7,"detail":1})", "[]"}) {
    Error error = error_in(json::parse(text));
    EXPECT_EQ(error.code, Code::failed);
    EXPECT_EQ(error.message, std::string("the server said something unknown: ") + text);
  }
}

}  // namespace problem_test
}  // namespace sluice::host
