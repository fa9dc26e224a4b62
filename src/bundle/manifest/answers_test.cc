// Answers to the questions of a bundle.yaml.
#include "bundle/manifest/answers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::bundle {
namespace answers_test {

Manifest manifest() {
  auto parsed = parse_manifest(
      "name: a\nversion: \"1\"\nrun: [./a]\nconfig:\n"
      "  - { name: region, question: Where is it?, choices: [eu, us] }\n"
      "  - { name: workers, question: How many?, type: integer, default: 4 }\n");
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  return *parsed;
}

std::string answered(const std::string& given) {
  auto complete = complete_answers(manifest(), parse_json(given)->root.as_object());
  return complete ? write(*complete) : to_string(complete.error());
}

TEST(Answers, AreCompletedByDefaults) {
  EXPECT_EQ(answered(R"({"region":"eu"})"), R"({"region":"eu","workers":4})");
  EXPECT_EQ(answered(R"({"region":"us","workers":2,"host":"h"})"), R"({"region":"us","workers":2,"host":"h"})");
}

TEST(Answers, ThatDoNotFitAreNamed) {
  EXPECT_EQ(answered("{}"), "/region: region has no answer: Where is it?");
  EXPECT_EQ(answered(R"({"region":"asia"})"), "/region: region: \"asia\" is none of the choices: \"eu\", \"us\"");
  EXPECT_EQ(answered(R"({"region":"eu","workers":"4"})"), "/workers: workers: expected a whole number, not \"4\"");
}

}  // namespace answers_test
}  // namespace sluice::bundle
