// The code table is a promise to scripts: these are the numbers of `sluice help exit-codes`.
#include "base/code.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sluice {
namespace code_test {

TEST(Code, ExitCodesAreThePromisedOnes) {
  std::map<std::string_view, int> promised = {{"ok", 0},
                                              {"failed", 1},
                                              {"invalid", 1},
                                              {"faults_found", 1},
                                              {"unavailable", 1},
                                              {"limit", 1},
                                              {"usage", 2},
                                              {"changes_pending", 3},
                                              {"unauthenticated", 4},
                                              {"denied", 4},
                                              {"not_found", 5},
                                              {"conflict", 6},
                                              {"gate_rejected", 7},
                                              {"timeout", 8},
                                              {"rolled_back", 9},
                                              {"waiting_for_approval", 10},
                                              {"verification_failed", 11}};
  ASSERT_EQ(code_table().size(), promised.size());
  for (const CodeEntry& row : code_table()) EXPECT_EQ(row.exit_code, promised.at(row.name)) << row.name;
}

TEST(Code, OnlyCommandLinesExitWithTwo) {
  for (const CodeEntry& row : code_table()) EXPECT_EQ(row.exit_code == 2, row.code == Code::usage) << row.name;
}

TEST(Code, NamesAndProblemTypesAreUniqueAndLeadBack) {
  std::set<std::string> types;
  for (const CodeEntry& row : code_table()) {
    EXPECT_EQ(code_named(row.name), row.code);
    EXPECT_TRUE(types.insert(problem_type(row.code)).second);
    EXPECT_GE(row.http_status, 200);
    EXPECT_LT(row.http_status, 600);
  }
  EXPECT_EQ(problem_type(Code::not_found), "urn:sluice:problem:not_found");
  EXPECT_EQ(code_named("no-such-code"), std::nullopt);
}

}  // namespace code_test
}  // namespace sluice
