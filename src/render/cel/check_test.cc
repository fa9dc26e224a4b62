// Tests of check in CEL.
#include "render/cel/check.h"

#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::check_test {
namespace {

using CelCheck = CelTest;

TEST_F(CelCheck, FieldsOfASchemaAreKnown) {
  const Type* integer = types().basic(TypeKind::integer);
  declare("parameters", types().make({.kind = TypeKind::object, .fields = {{"replicas", integer}}}),
          R"({"replicas": 3})");
  EXPECT_EQ(json_of("parameters.replicas * 2"), "6");
  EXPECT_EQ(json_of("parameters['replicas'] * 2"), "6");
  EXPECT_EQ(refusal_of("parameters.\n  replica"), "1:11: there is no 'replica' here; there are replicas");
  EXPECT_EQ(refusal_of("parameters.replicas + 'x'"), "1:21: no '+' takes (int, string)");
  EXPECT_EQ(refusal_of("parameters['replica']"), "1:12: there is no 'replica' here; there are replicas");
}

TEST_F(CelCheck, TypesAreDeduced) {
  EXPECT_EQ(type_of("[1, 2].map(x, string(x))"), "list(string)");
  EXPECT_EQ(type_of("{'a': [1.5]}"), "map(string, list(double))");
  EXPECT_EQ(type_of("[1, 'a']"), "list(dyn)");
  EXPECT_EQ(type_of("true ? 1 : 'a'"), "1:6: both sides of ':' have one type, not int and string");
  EXPECT_EQ(type_of("[1].exists(x, x)"), "1:15: expected bool, found int");
  EXPECT_EQ(type_of("frobnicate(1)"), "1:1: there is no function 'frobnicate'");
}

}  // namespace
}  // namespace sluice::cel::check_test
