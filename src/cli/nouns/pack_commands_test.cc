// sluice pack on packs that a test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "pack/testing_packs.h"

namespace sluice::cli {
namespace pack_commands_test {
using testing::HasSubstr;

TEST(PackCommands, TestSaysWhatHoldsAndWhatDoesNot) {
  TestingFolder folder;
  const std::string path = pack::write_pack(folder.path("notes"), "acme.telemetry.notes@1.0.0");
  Ran ran = run_line(all_commands(), {"pack", "test", path});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("ok    fixture first of keep"));
  EXPECT_THAT(ran.out, HasSubstr("fails proof of keep: nothing shows that it does anything"));
  EXPECT_EQ(run_line(all_commands(), {"pack", "test", folder.path("none")}).exit, 1);
}

TEST(PackCommands, QuestionsAreShown) {
  TestingFolder folder;
  const std::string path = pack::write_pack(folder.path("notes"), "acme.telemetry.notes@1.0.0",
                                            "questions: [{ name: file, question: Which file?, default: a }]\n");
  EXPECT_THAT(run_line(all_commands(), {"pack", "questions", path}).out,
              HasSubstr("file  string  a        Which file?"));
  EXPECT_THAT(run_line(all_commands(), {"pack", "questions", path, "-o", "json"}).out, HasSubstr("\"default\": \"a\""));
}

}  // namespace pack_commands_test
}  // namespace sluice::cli
