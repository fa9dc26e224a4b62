// Tests of library in CEL.
#include "render/cel/library.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_source.h"
#include "render/cel/testing_cel.h"

namespace sluice::cel::library_test {
namespace {

using CelLibrary = CelTest;

TEST_F(CelLibrary, SignaturesDeclareFunctions) {
  Library library;
  library.add("(list(T)).second(int) -> T", nullptr);
  const auto* function = library.find("second");
  ASSERT_TRUE(function);
  ASSERT_EQ(function->overloads.size(), 1u);
  EXPECT_TRUE(function->overloads[0].receiver);
  EXPECT_EQ(to_string(*function->overloads[0].parameters[0]), "list(T)");
  EXPECT_EQ(function->overloads[0].parameters[0]->inner[0], function->overloads[0].result);
  EXPECT_FALSE(library.find("third"));
}

TEST_F(CelLibrary, ACallThatNothingTakesIsNamed) {
  const Value given[] = {Value::of(int64_t{1}), Value::string("a")};
  EXPECT_EQ(no_overload("_+_", given), "no '+' takes (int, string)");
  EXPECT_EQ(no_overload("@in", given), "no 'in' takes (int, string)");
}

TEST_F(CelLibrary, ThePageNamesEveryFunction) {
  RealDisk disk;
  const auto page = *read_file(disk, std::string(kSourceDir) + "/docs/reference/cel.md", 1 << 20);
  for (const auto& [name, function] : standard_library().functions()) {
    if (name.find('_') == 0 || name.find('@') == 0 || name == "-_" || name == "!_") continue;
    EXPECT_TRUE(page.find("`" + name + "`") != page.npos || page.find("`" + name + "(") != page.npos) << name;
  }
}

}  // namespace
}  // namespace sluice::cel::library_test
