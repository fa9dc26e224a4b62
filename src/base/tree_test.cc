// Trees are compared whole, as a reader sees them.
#include "base/tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace tree_test {

TEST(Tree, DrawsBranchesToTheLastChild) {
  std::vector<TreeLine> lines = {{0, "plan"}, {1, "build"}, {2, "pack"},    {2, "sign"},
                                 {1, "run"},  {2, "start"}, {3, "healthy"}, {0, "second root"}};
  EXPECT_EQ(render(lines, {}),
            "plan\n"
            "├─ build\n"
            "│  ├─ pack\n"
            "│  └─ sign\n"
            "└─ run\n"
            "   └─ start\n"
            "      └─ healthy\n"
            "second root\n");
  EXPECT_EQ(render(std::vector<TreeLine>{}, {}), "");
}

TEST(Tree, CutsLinesOnlyOnATerminal) {
  std::vector<TreeLine> lines = {{0, "a"}, {1, "a text that is rather long"}};
  EXPECT_EQ(render(lines, {.tty = true, .width = 16}), "a\n└─ a text that…\n");
  // Too narrow for anything: some text stays.
  EXPECT_EQ(render(lines, {.tty = true, .width = 1}), "a\n└─ a text th…\n");
  EXPECT_EQ(render(lines, {.tty = false, .width = 16}), "a\n└─ a text that is rather long\n");
}

TEST(Tree, PaintsAndEscapes) {
  std::vector<TreeLine> lines = {{0, "bad\nnews", Style::bad}};
  EXPECT_EQ(render(lines, {.color = true}), "\x1b[1;31mbad\\nnews\x1b[0m\n");
}

TEST(Tree, StaysReadableAtAnyDepth) {
  std::vector<TreeLine> lines;
  for (size_t depth = 0; depth < 2000; ++depth) lines.push_back({depth, "x"});
  std::string text = render(lines, {});
  EXPECT_LT(text.size(), 2000 * (kDeepestTreeLine * 3 + 8));
  EXPECT_TRUE(text.starts_with("x\n└─ x\n   └─ x\n"));
}

}  // namespace tree_test
}  // namespace sluice
