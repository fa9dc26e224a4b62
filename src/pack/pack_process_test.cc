// A pack's process: what it answers, and what becomes of one that does not.
#include "pack/pack_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"
#include "base/testing_wait.h"

namespace sluice::pack {
namespace pack_process_test {
using testing::HasSubstr;

struct PackProcessTest : testing::Test {
  TestingFolder folder;
  RealClock clock;

  // Python lines that run for each message `m`, which they answer by say(…).
  process::SpawnRequest program(const std::string& body, const std::string& first = "") {
    const std::string path = folder.path() + "/serve.py";
    std::ofstream(path) << "#!/usr/bin/python3\nimport json, os, subprocess, sys, time\n"
                        << first << R"(
def say(m, **fields):
    print(json.dumps({"id": m["id"], **fields}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
)" << body;
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return {.program = path, .argv = {path}, .folder = folder.path(), .environment = {{"A", "1"}}, .converses = true};
  }
  PackAnswer ask(PackProcess& process, int64_t deadline_ms = 20'000) {
    return process.ask("invoke", {{"action", "a"}}, deadline_ms);
  }
};

TEST_F(PackProcessTest, AnswersAndGoesOn) {
  PackProcess process(clock, program("    say(m, complete={'pid': os.getpid(), 'A': dict(os.environ)})\n"));
  auto first = ask(process), second = ask(process);
  ASSERT_TRUE(first.message && second.message) << first.none.message;
  EXPECT_EQ(first.message->at("complete").at("pid"), second.message->at("complete").at("pid"));
  json::object seen = first.message->at("complete").at("A").as_object();
  seen.erase("LC_CTYPE");  // Python's own
  EXPECT_EQ(seen, (json::object{{"A", "1"}})) << "it has no variables but its own";
}

TEST_F(PackProcessTest, InheritsNoDescriptors) {
  std::ofstream other(folder.path() + "/other");
  PackProcess process(clock, program("    say(m, complete={'open': sorted(os.listdir('/proc/self/fd'))})\n"));
  auto answer = ask(process);
  ASSERT_TRUE(answer.message) << answer.none.message;
  // 3 is the listing itself.
  EXPECT_EQ(answer.message->at("complete").at("open"), (json::array{"0", "1", "2", "3"}));
}

TEST_F(PackProcessTest, ThatHangsIsEndedAtTheDeadlineWithAllThatItStarted) {
  PackProcess process(clock, program("    p = subprocess.Popen(['sleep', '600'])\n"
                                     "    open('child', 'w').write(str(p.pid))\n    time.sleep(600)\n"));
  auto answer = ask(process, 2'000);
  EXPECT_FALSE(answer.message);
  EXPECT_TRUE(answer.none.sent);
  EXPECT_EQ(answer.none.message, "it did not answer within 2000 ms");
  int child = 0;
  std::ifstream(folder.path() + "/child") >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists("/proc/" + std::to_string(child) + "/fd/0"); }));
}

TEST_F(PackProcessTest, ThatFloodsIsEnded) {
  PackProcess process(clock, program("    while True: sys.stdout.write('x' * 65536)\n"));
  EXPECT_EQ(ask(process).none.message, "it said more than 1048576 bytes in one line");
}

TEST_F(PackProcessTest, ThatSaysWhatNobodyAskedForIsEnded) {
  PackProcess process(clock, program("    print('hello', flush=True); time.sleep(600)\n"));
  EXPECT_EQ(ask(process).none.message, "it said what is no JSON object: hello");
  PackProcess other(clock, program("    say({'id': 'x'}, complete={}); time.sleep(600)\n"));
  EXPECT_THAT(ask(other).none.message, HasSubstr("it said what nobody asked for"));
  PackProcess empty(clock, program("    say(m, done={}); time.sleep(600)\n"));
  EXPECT_EQ(ask(empty).none.message, "its message has none of complete, again and fault");
}

TEST_F(PackProcessTest, ThatForksAndDiesIsNoticedAndStartedAgain) {
  PackProcess process(clock,
                      program("    subprocess.Popen(['sleep', '600']); sys.stderr.write('no luck\\n'); sys.exit(1)\n"));
  EXPECT_EQ(ask(process).none.message, "it ended; it said: no luck");
  EXPECT_TRUE(ask(process).none.sent) << "one failure is followed by another try at once";
  auto paused = ask(process);
  EXPECT_FALSE(paused.none.sent) << "after two there is a pause, and nothing is sent";
  EXPECT_GT(paused.none.after_ms, 0);
  EXPECT_EQ(process.starts(), 2);
}

TEST_F(PackProcessTest, ThatWasKilledIsStartedAgain) {
  PackProcess process(clock, program("    say(m, complete={})\n"));
  ASSERT_TRUE(ask(process).message);
  kill(process.id(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return process.id() == 0; }));
  EXPECT_TRUE(ask(process).message);
  EXPECT_EQ(process.starts(), 2);
}

TEST_F(PackProcessTest, ThatCannotBeStartedSaysWhy) {
  PackProcess process(clock, {.program = "/no/such", .argv = {"/no/such"}, .folder = "/", .converses = true});
  auto answer = ask(process);
  EXPECT_FALSE(answer.none.sent);
  EXPECT_THAT(answer.none.message, HasSubstr("/no/such"));
}

}  // namespace pack_process_test
}  // namespace sluice::pack
