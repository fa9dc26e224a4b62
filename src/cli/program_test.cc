// The program as its processes start it.
#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace program_test {

int run_words(std::vector<std::string> words, const AddConcepts& add = {}) {
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  return run_program(static_cast<int>(pointers.size()), pointers.data(), add);
}

TEST(Program, RunsACommandWithTheKitAndWhatIsAdded) {
  size_t of_kit = 0;
  const lang::ConceptBinding more{.name = "More"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_words({"sluice", "--version"},
                      [&](host::LoadedConcepts& loaded, Disk&, const Variables&) {
                        of_kit = loaded.concepts.size();
                        loaded.concepts.push_back(&more);
                      }),
            0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("sluice "));
  EXPECT_GT(of_kit, 10);
}

}  // namespace program_test
}  // namespace sluice::cli
