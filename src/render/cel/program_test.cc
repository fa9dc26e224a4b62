// Tests of program in CEL.
#include "render/cel/program.h"

#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::program_test {
namespace {

using CelProgram = CelTest;

TEST_F(CelProgram, ResultsKeepTheirTypes) {
  declare("parameters", types().dynamic(), R"({"replicas": 3, "ratio": 0.5, "on": true, "none": null})");
  EXPECT_EQ(json_of("parameters.replicas + 1"), "4");
  EXPECT_EQ(json_of("{'a': parameters.ratio, 'b': [parameters.on, parameters.none]}"), R"({"a":5E-1,"b":[true,null]})");
}

TEST_F(CelProgram, TextThatIsInsertedIsNotReadAgain) {
  declare("name", types().basic(TypeKind::string), R"("${other} 1 + 1")");
  EXPECT_EQ(json_of("name + '!'"), R"("${other} 1 + 1!")");
}

}  // namespace
}  // namespace sluice::cel::program_test
