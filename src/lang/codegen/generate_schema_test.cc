// The whole schema of a small concept, and each kind of type.
#include "lang/codegen/generate_schema.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace generate_schema_test {

json::object schema_of_text(const std::string& text) {
  Diagnostics found;
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  return generate_schema(spec.value_or(Concept{}));
}

TEST(GenerateSchema, HoldsArgumentsAndVariants) {
  auto schema = schema_of_text(
      "@version(3) concept Box [B] { purpose { Keep. } actions { action open(box: B, note: option String) {"
      " description { Lift. } -> ok { Open. } } } }");
  EXPECT_EQ(write(json::value(schema)),
            R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:sluice:concept:Box:3",)"
            R"("title":"Box","description":"Keep.","$defs":{"open":{"title":"Box/open","description":"Lift.",)"
            R"("type":"object","properties":{"box":{"type":"string","x-sluice-type":"B"},"note":{"type":"string"}},)"
            R"("required":["box"],"additionalProperties":false},"open.ok":{"title":"Box/open => ok",)"
            R"("description":"Open.","type":"object","properties":{},"additionalProperties":false}}})");
}

std::string of_type(const std::string& type) {
  auto schema = schema_of_text("concept Box [B] { actions { action a(x: " + type + ") { -> ok } } }");
  return write(schema["$defs"].at("a").at("properties").at("x"));
}

TEST(GenerateSchema, HasAnAnswerForEachType) {
  EXPECT_EQ(of_type("Int"), R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})");
  EXPECT_EQ(of_type("Float"), R"({"type":"number"})");
  EXPECT_EQ(of_type("Bool"), R"({"type":"boolean"})");
  EXPECT_EQ(of_type("Bytes"), R"({"type":"string","contentEncoding":"base64"})");
  EXPECT_EQ(of_type("DateTime"), R"({"type":"string","format":"date-time"})");
  EXPECT_EQ(of_type("Sealed"), R"({"type":"string","x-sluice-type":"Sealed"})");
  EXPECT_EQ(of_type("list Bool"), R"({"type":"array","items":{"type":"boolean"}})");
  EXPECT_EQ(of_type("set Bool"), R"({"type":"array","items":{"type":"boolean"},"uniqueItems":true})");
  EXPECT_EQ(of_type("\"a\" | \"b-c\""), R"({"enum":["a","b-c"]})");
  EXPECT_EQ(of_type("String -> Bool"), R"({"type":"object","additionalProperties":{"type":"boolean"}})");
  EXPECT_EQ(of_type("{ a: Bool, b: option Bool }"),
            R"({"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"required":["a"],)"
            R"("additionalProperties":false})");
}

}  // namespace generate_schema_test
}  // namespace sluice::lang
