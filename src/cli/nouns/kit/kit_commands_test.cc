// sluice kit on real folders; tests/lang/test_kit_check.py runs the program itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/completion.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace kit_commands_test {

using testing::HasSubstr;

struct KitCommands : testing::Test {
  KitCommands() {
    add_kit_commands(commands);
    std::filesystem::create_directories(folder.path("kit"));
    write("suite.yaml", "kit: { name: small, version: 1.0.0 }\nconcepts:\n  Task: { spec: task.concept }\n");
    write("task.concept",
          "concept Task [T] {\n  actions {\n    action add(title: String) {\n      -> ok(task: T)\n    }\n  }\n}\n");
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, folder.path("kit/" + name), text, 0644));
  }

  TestingFolder folder;
  RealDisk disk;
  Commands commands;
};

TEST_F(KitCommands, CheckSaysThatAKitHasNoFaults) {
  auto done = run_line(commands, {"kit", "check", folder.path("kit")});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "The kit has no faults.\n0 errors, 0 warnings in 1 concept, 0 syncs\n");
  auto quiet = run_line(commands, {"kit", "check", folder.path("kit"), "--quiet"});
  EXPECT_EQ(quiet.exit, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(KitCommands, CheckPointsAtAFault) {
  write("task.concept", "concept Task [T] {\n  actions {\n    action add(title: Strin) { -> ok }\n  }\n}\n");
  auto done = run_line(commands, {"kit", "check", folder.path("kit")});
  EXPECT_EQ(done.exit, 1);
  std::string fault = folder.path("kit/task.concept") +
                      ":3:23: error: there is no type `Strin`\n"
                      "      action add(title: Strin) { -> ok }\n"
                      "                        ^^^^^\n"
                      "  hint: did you mean `String`?\n";
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, fault + "1 error, 0 warnings in 1 concept, 0 syncs\n");
  auto quiet = run_line(commands, {"kit", "check", folder.path("kit"), "--quiet"});
  EXPECT_EQ(quiet.exit, 1);
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, fault);
}

TEST_F(KitCommands, CheckGivesItsReportAsDataWhenAsked) {
  for (const std::string format : {"json", "yaml"}) {
    auto done = run_line(commands, {"kit", "check", folder.path("kit"), "--quiet", "--output", format});
    EXPECT_EQ(done.exit, 0);
    EXPECT_THAT(done.out, HasSubstr("diagnostics"));
    EXPECT_EQ(done.err, "");
  }
}

TEST_F(KitCommands, AFolderWithoutASuiteIsToldAsSuch) {
  std::filesystem::create_directories(folder.path("empty"));
  auto done = run_line(commands, {"kit", "check", folder.path("empty")});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("hint: a kit is a folder with a suite.yaml\n"));
}

TEST_F(KitCommands, AFolderThatDoesNotExistIsNotFound) {
  std::string told = "error: there is no folder " + folder.path("none") +
                     ", and no installed kit of that name\n"
                     "next:  sluice kit list shows the installed kits, sluice kit init NAME begins one\n";
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"kit", "check", folder.path("none")}, {"kit", "show", "--kit", folder.path("none")}}) {
    auto done = run_line(commands, line);
    EXPECT_EQ(done.exit, 5);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.err, told);
  }
}

TEST_F(KitCommands, FmtLeavesWhatIsCanonical) {
  auto done = run_line(commands, {"kit", "fmt", folder.path("kit")});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "Every file that can be read is in its canonical form.\n");
  auto quiet = run_line(commands, {"kit", "fmt", "--quiet", folder.path("kit")});
  EXPECT_EQ(quiet.exit, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  EXPECT_EQ(run_line(commands, {"kit", "fmt", folder.path("kit/suite.yaml")}).exit, 2);
}

TEST_F(KitCommands, FmtOfWhatIsNotThereSaysWhatToName) {
  auto done = run_line(commands, {"kit", "fmt", folder.path("nosuch")});
  EXPECT_EQ(done.exit, 5);
  EXPECT_EQ(done.err, "error: there is no file or folder " + folder.path("nosuch") +
                          "\nnext:  name a kit's folder, or its .concept and .sync files\n");
  EXPECT_EQ(run_line(commands, {"kit", "fmt", folder.path("nosuch.sync")}).exit, 5);
}

TEST_F(KitCommands, FmtShowsFaultsAsCheckDoes) {
  write("task.concept", "concept Task {");
  auto done = run_line(commands, {"kit", "fmt", folder.path("kit")});
  EXPECT_EQ(done.exit, 1);
  EXPECT_TRUE(done.err.starts_with(folder.path("kit/task.concept") + ":1:")) << done.err;
  EXPECT_THAT(done.err, HasSubstr(": error: "));
  EXPECT_THAT(done.err, testing::Not(HasSubstr("warning:")));
  auto data = run_line(commands, {"kit", "fmt", "-o", "json", folder.path("kit")});
  EXPECT_THAT(data.out, HasSubstr("\"severity\": \"error\""));
  EXPECT_THAT(data.err, testing::Not(HasSubstr("task.concept:1:")));
}

TEST_F(KitCommands, FmtGoesOnAfterAFileThatIsTooLarge) {
  write("a.sync", std::string((8 << 20) + 1, ' '));
  write("b.sync", "sync  B when { Task/add: [] => ok[] } then { Task/add: [ title: \"x\" ] }\n");
  auto done = run_line(commands, {"kit", "fmt", folder.path("kit")});
  EXPECT_EQ(done.exit, 1);
  EXPECT_EQ(done.out, folder.path("kit/b.sync") + "\n");
  EXPECT_TRUE(done.err.starts_with(folder.path("kit/a.sync") + ":1:1: error: ")) << done.err;
  EXPECT_THAT(done.err, HasSubstr("1 file has errors and was left as it was"));
}

TEST_F(KitCommands, ShowRefusesAKitWithErrors) {
  write("task.concept", "concept Task {");
  auto done = run_line(commands, {"kit", "show", "--kit", folder.path("kit")});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("has errors: "));
  EXPECT_THAT(done.err, HasSubstr("sluice kit check " + folder.path("kit")));
}

TEST_F(KitCommands, ShowNamesItsPictureAmongTheFormats) {
  Commands all = all_commands();
  EXPECT_THAT(run_line(all, {"kit", "show", "--help"}).out, HasSubstr("table, json, yaml or dot (default:"));
  EXPECT_THAT(run_line(all, {"kit", "check", "--help"}).out, HasSubstr("table, json or yaml (default: table)"));
  EXPECT_THAT(run_line(all, {"help", "kit", "show", "-o", "json"}).out, HasSubstr("\"formats\": [\n    \"dot\"\n  ]"));
  EXPECT_THAT(bash_completion(all),
              HasSubstr("    'kit show'':--output'|'kit show'':-o') words='table json yaml dot' ;;\n"));
  EXPECT_THAT(zsh_completion(all),
              HasSubstr("    'kit show'':--output'|'kit show'':-o') offers=('table' 'json' 'yaml' 'dot') ;;\n"));
}

TEST_F(KitCommands, ListBeginsWithTheBuiltInKit) {
  auto done = run_line(commands, {"kit", "list"}, {}, {.variables = {{"SLUICE_HOME", folder.path("home")}}});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("built-in:deploy"));
  EXPECT_THAT(done.err, HasSubstr("No further kits in "));
}

TEST_F(KitCommands, CheckSaysHowManyFaultsItDoesNotShow) {
  std::string rules;
  for (int i = 0; i < 101; ++i)
    rules += "sync S" + std::to_string(i) + " when { X/a: [] => ok[] } then { Task/add: [ title: \"x\" ] }\n";
  write("suite.yaml",
        "kit: { name: small, version: 1.0.0 }\nconcepts:\n  Task: { spec: task.concept }\nsyncs:\n  required:\n    - { "
        "path: all.sync }\n");
  write("all.sync", rules);
  auto done = run_line(commands, {"kit", "check", folder.path("kit")});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("1 further error is not shown\n101 errors, 0 warnings in 1 concept, 101 syncs\n"));
}

TEST_F(KitCommands, InitOnlyTakesPlainNames) {
  for (const std::string name : {"Tasks", "../x", "9x", "a b"}) {
    EXPECT_EQ(run_line(commands, {"kit", "init", name, "--dry-run"}).exit, 2) << name;
  }
  EXPECT_EQ(run_line(commands, {"kit", "init", std::string(100, 'a'), "--dry-run"}).err,
            "error: a kit's name is of a-z, 0-9 and -, begins with a letter and has at most 64 characters\n"
            "next:  sluice kit init order-desk, or another such name\n");
  EXPECT_EQ(run_line(commands, {"kit", "init", "tasks", "--dry-run"}).out,
            "tasks/suite.yaml\ntasks/concepts/task.concept\ntasks/concepts/journal.concept\ntasks/syncs/record.sync\n");
}

}  // namespace kit_commands_test
}  // namespace sluice::cli
