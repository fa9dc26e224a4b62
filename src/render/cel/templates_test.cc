// Tests of templates in CEL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::templates_test {
namespace {

using testing::StartsWith;

using CelTemplates = CelTest;

TEST_F(CelTemplates, MapsMergeShallowlyAndTheLastWins) {
  EXPECT_EQ(json_of("oc_merge({'a': 1, 'b': {'x': 1}}, {'b': {'y': 2}}, {'c': 3})"), R"({"a":1,"b":{"y":2},"c":3})");
}

TEST_F(CelTemplates, NamesAreShortCleanAndTellDifferentInputsApart) {
  EXPECT_EQ(json_of("oc_hash('hello')"), R"("4f9f2cab")");
  const auto plain = json_of("oc_generate_name('Shop', 'dev_eu')");
  EXPECT_THAT(plain, StartsWith("\"shop-dev-eu-"));
  EXPECT_EQ(plain.size(), std::string("\"shop-dev-eu-12345678\"").size());
  EXPECT_NE(json_of("oc_generate_name('a', 'b-c')"), json_of("oc_generate_name('a', 'b.c')"));
  EXPECT_EQ(json_of("oc_dns_label('" + std::string(100, 'x') + "').size()"), "63");
}

}  // namespace
}  // namespace sluice::cel::templates_test
