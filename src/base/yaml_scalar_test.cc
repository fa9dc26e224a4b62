// The types themselves are pinned by the core schema's table in yaml_test.cc; here is what only the emitter sees.
#include "base/yaml_scalar.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice {
namespace yaml_scalar_test {

TEST(YamlScalar, TellsTypesByTextAlone) {
  EXPECT_EQ(core_schema_type("12"), ScalarType::integer);
  EXPECT_EQ(core_schema_type("12."), ScalarType::real);
  EXPECT_EQ(core_schema_type("-.INF"), ScalarType::not_finite);
  EXPECT_EQ(core_schema_type(""), ScalarType::null);
  EXPECT_EQ(core_schema_type("False"), ScalarType::boolean);
  EXPECT_EQ(core_schema_type("fALSE"), ScalarType::string);
}

TEST(YamlScalar, StoresWhatJsonHasAndSaysWhatItHasNot) {
  json::value out;
  EXPECT_EQ(store_scalar(ScalarType::integer, "18446744073709551615", out), "");
  EXPECT_EQ(out, UINT64_MAX);
  EXPECT_EQ(store_scalar(ScalarType::real, "+1e2", out), "");
  EXPECT_EQ(out, 100.0);
  EXPECT_EQ(store_scalar(ScalarType::not_finite, ".nan", out), "infinity and not-a-number have no place in JSON");
}

TEST(YamlScalar, DescribesEachType) {
  EXPECT_EQ(describe(ScalarType::string), "a string");
  EXPECT_EQ(describe(ScalarType::real), "a number");
  EXPECT_EQ(describe(ScalarType::not_finite), "a number that is not finite");
}

}  // namespace yaml_scalar_test
}  // namespace sluice
