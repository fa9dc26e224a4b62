// Values beside their types.
#include "host/pack_values.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::host {
namespace pack_values_test {

using Kind = lang::Shape::Kind;

struct PackValuesTest : testing::Test {
  lang::Types types;
  lang::TypeId text = lang::Types::of(Kind::string), number = lang::Types::of(Kind::integer),
               sealed = lang::Types::of(Kind::sealed);
  lang::TypeId record =
      types.add({.kind = Kind::record, .names = {"name", "size"}, .inner = {text, types.option_of(number)}});
  std::vector<lang::FieldSymbol> fields = {{.name = "rows", .type = types.list_of(record)},
                                           {.name = "key", .type = types.option_of(sealed)}};

  std::string fault(const std::string& object) {
    return fault_of_fields(types, fields, parse_json(object)->root.as_object());
  }
};

TEST_F(PackValuesTest, FaultsNameTheirPlace) {
  EXPECT_EQ(fault(R"({"rows":[{"name":"a"},{"name":"b","size":2}]})"), "");
  EXPECT_EQ(fault(R"({"rows":[{"name":"a"},{"name":"b","size":"2"}]})"), "rows[1].size: expected Int, found a text");
  EXPECT_EQ(fault(R"({"rows":[{"size":1}]})"), "rows[0].name: it is missing");
  EXPECT_EQ(fault(R"({"rows":[],"more":1})"), "more: there is no such field");
  EXPECT_EQ(fault(R"({"rows":{}})"), "rows: expected list { name: String, size: option Int }, found an object");
  EXPECT_EQ(fault(R"({})"), "rows: it is missing");
}

TEST_F(PackValuesTest, SealedValuesAreReplacedWhereverTheyStand) {
  auto object = with_sealed(types, fields, {{"rows", json::array()}, {"key", "hunter2"}},
                            [](const std::string& value) { return "sealed " + std::to_string(value.size()); });
  EXPECT_EQ(object.at("key"), json::value("sealed 7"));
}

}  // namespace pack_values_test
}  // namespace sluice::host
