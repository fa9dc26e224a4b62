// sluice judge on files; what the verdicts are is tested where the judge is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_source.h"
#include "cli/testing_commands.h"
#include "judge/observations.h"

namespace sluice::cli {
namespace judge_commands_test {

using testing::HasSubstr;
using testing::StartsWith;

struct JudgeCommands : testing::Test {
  JudgeCommands() { add_judge_commands(commands); }
  Ran judge(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"judge", "--file", "-"};
    words.insert(words.end(), more.begin(), more.end());
    return run_line(commands, words, {}, {.in = text});
  }
  std::string example(const std::string& name) { return std::string(kSourceDir) + "/examples/judge/" + name; }

  Commands commands;
};

const char* const kWorse = R"(schema: sluice.observations.v1
baseline: v1
canary: v2
latency_ends_us: [1000, 2000]
history: [ &v1 { requests: 950, failed: 1, latencies: [900, 40, 9] }, *v1, *v1 ]
windows:
  - &bad { baseline: *v1, canary: { requests: 50, failed: 10, latencies: [38, 2] } }
  - *bad
  - *bad
  - *bad
  - *bad
)";

TEST_F(JudgeCommands, UnhealthyExitsWithTheCodeOfAGate) {
  auto ran = judge(kWorse);
  EXPECT_EQ(ran.exit, 7);
  EXPECT_EQ(ran.out,
            "unhealthy  v2 fails 20 % of requests, v1 0.11 % (200 and 3,800 requests in 40s); the odds that this is "
            "chance are below 1 in 1,000.\n"
            "METRIC  BAD          v2                v1                   AGAINST   FOR\n"
            "errors  failed       40 of 200 (20 %)  4 of 3,800 (0.11 %)   53,635  0.00\n"
            "p50     over 1.0 ms  -                 -                       0.50  1.00\n"
            "p90     over 1.0 ms  -                 -                       0.50  1.00\n"
            "p99     over 2.0 ms  -                 -                       0.50  1.00\n");
  EXPECT_EQ(ran.err, "against reaches 1,000 on average if v2 is worse; for reaches 20 in every metric if it is not\n");
}

TEST_F(JudgeCommands, TheExamplesAreWhatTheySay) {
  auto good = run_line(commands, {"judge", "-f", example("as-good.yaml"), "--quiet"});
  EXPECT_EQ(good.exit, 0) << good.out << good.err;
  EXPECT_THAT(good.out, StartsWith("healthy  v2 is within the margin (errors 1.25 × v1 + 0.5 points, latency ×"));
  EXPECT_EQ(good.err, "");
  auto worse = run_line(commands, {"judge", "-f", example("worse.yaml"), "--quiet"});
  EXPECT_EQ(worse.exit, 7);
  EXPECT_THAT(worse.out, StartsWith("unhealthy  v2 fails "));
}

TEST_F(JudgeCommands, TooEarlyExitsWithOne) {
  auto ran = judge("schema: sluice.observations.v1\nwindows: []\n");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, StartsWith("insufficientData  Too early: canary has had no requests yet.\n"));
}

TEST_F(JudgeCommands, JsonIsTheVerdict) {
  auto ran = judge(kWorse, {"-o", "json"});
  auto verdict = parse_json_value(ran.out);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->at("schema"), "sluice.verdict.v1");
  EXPECT_EQ(verdict->at("verdict"), "unhealthy");
  EXPECT_EQ(verdict->at("metrics").at(0).at("canary_bad").to_number<double>(), 40);
}

TEST_F(JudgeCommands, WindowsThatCouldNotBeAreTold) {
  auto ran = judge("schema: sluice.observations.v1\nwindows: [{ canary: { requests: 1, failed: 2 } }]\n");
  EXPECT_THAT(ran.err, HasSubstr("1 of the windows"));
}

TEST_F(JudgeCommands, ErrorsHaveAPlaceAndANextStep) {
  auto ran = judge("schema: sluice.observations.v1\nwindows: [{ seconds: -1, canary: {} }]\n");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err, "error: -:2:13: /windows/0/seconds: a window takes more than 0 and at most 86400 seconds\n");
  ran = run_line(commands, {"judge"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "error: say which file\nnext:  sluice judge --file FILE, or --schema\n");
}

TEST_F(JudgeCommands, TheSchemaIsThatOfTheFile) {
  auto ran = run_line(commands, {"judge", "--schema"});
  EXPECT_EQ(ran.exit, 0);
  auto schema = parse_json_value(ran.out);
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->at("$id"), "urn:sluice:schema:observations");
}

}  // namespace judge_commands_test
}  // namespace sluice::cli
