// Whole command lines: exit code, stdout and stderr.
#include "cli/app.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "base/real_disk.h"
#include "base/yaml_emit.h"
#include "cli/testing_commands.h"
#include "cli/version.h"

namespace sluice::cli {
namespace app_test {

class App : public testing::Test {
 protected:
  Ran run(const std::vector<std::string>& words) { return run_line(commands_, words); }
  const Commands commands_ = testing_commands();
};

TEST_F(App, KeepsDataAndNarrationApart) {
  Ran ran = run({"gate", "open", "north"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "north is open\n");
  EXPECT_EQ(ran.err, "opening\n");
  EXPECT_EQ(run({"--quiet", "gate", "open", "north"}).err, "");
  EXPECT_EQ(run({"gate", "open", "north", "-v"}).err, "opening\nin detail\n");
  EXPECT_EQ(run({"gate", "open", "north", "-o", "json"}).out, "\"north\"\n");
}

TEST_F(App, ExitsByTheCodeTable) {
  EXPECT_EQ(run({"gate", "check"}).exit, 1);
  Ran ran = run({"gate", "close"});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_EQ(ran.err, "error: gates.yaml:3:7: /gates/0: there is no gate 'south'\nnext:  sluice gate check\n");
}

TEST_F(App, AnswersAWrongLineInTheFormatThatItAsksFor) {
  Ran ran = run({"gaet", "-o", "json"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            R"({"type":"urn:sluice:problem:usage","title":"the command line is wrong","status":400,)"
            R"("detail":"unknown command 'gaet'; did you mean 'sluice gate'?","code":"usage","next":"sluice help"})"
            "\n");
}

TEST_F(App, TeachesWhenNothingIsAsked) {
  Ran ran = run({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(ran.err.starts_with("Sluice takes software from a folder to production traffic"));
  EXPECT_TRUE(ran.err.ends_with("error: a command is missing\nnext:  sluice help\n"));
}

TEST_F(App, TellsItsVersion) {
  EXPECT_EQ(run({"--version"}).out, version_line() + "\n");
  EXPECT_EQ(run({"--version", "-o", "yaml"}).out,
            emit_yaml({{"name", "sluice"}, {"version", version().number}, {"commit", version().commit}}));
}

TEST_F(App, DoesNotCallLostOutputASuccess) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  RealDisk disk;
  out.setstate(std::ios::badbit);
  Process process{.in = in,
                  .out = out,
                  .err = err,
                  .disk = disk,
                  .variables = [](const std::string&) { return std::nullopt; },
                  .terminal = [](int, bool) { return Terminal{}; }};
  std::vector<std::string> words = {"--version"};
  EXPECT_EQ(cli::run(words, commands_, process), 1);
  EXPECT_EQ(err.str(), "error: stdout did not take all of the output\n");
}

}  // namespace app_test
}  // namespace sluice::cli
