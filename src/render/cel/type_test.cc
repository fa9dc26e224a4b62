// Tests of type in CEL.
#include "render/cel/type.h"

#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::type_test {
namespace {

using CelTypes = CelTest;

TEST_F(CelTypes, ReadAsTheyAreWritten) {
  std::map<std::string, const Type*> parameters;
  for (const auto* text :
       {"int", "list(string)", "map(string, list(T))", "optional_type(dyn)", "type(int)", "tuple(A, B)"}) {
    EXPECT_EQ(to_string(**types().parse(text, parameters)), text);
  }
  for (const auto* text : {"", "list(", "list(int", "map(int)", "int)"}) {
    EXPECT_FALSE(types().parse(text, parameters)) << text;
  }
}

TEST_F(CelTypes, WhatFailsBindsNothing) {
  std::map<std::string, const Type*> parameters;
  Bindings bindings;
  const auto wanted = *types().parse("map(T, int)", parameters);
  EXPECT_FALSE(bindings.assignable(wanted, *types().parse("map(string, string)", parameters)));
  EXPECT_TRUE(bindings.assignable(wanted, *types().parse("map(bool, int)", parameters)));
  EXPECT_EQ(to_string(*bindings.resolve(wanted, types(), true)), "map(bool, int)");
}

}  // namespace
}  // namespace sluice::cel::type_test
