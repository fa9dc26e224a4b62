// The C++ type of each kind of type, and the names that records and unions get.
#include "lang/codegen/cpp_types.h"

#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace cpp_types_test {

Concept with_fields(const std::string& fields) {
  Diagnostics found;
  std::string text = "concept Box [B, Lid] {\n  actions { action open(" + fields + ") { -> ok } }\n}\n";
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  return spec.value_or(Concept{});
}

// `type name initial` of the one field.
std::string member_of(const std::string& type) {
  Concept spec = with_fields("thing: " + type);
  CppTypes types(spec);
  auto member = types.member(spec.actions.at(0).params.at(0), "Open");
  return member ? member->type + " " + member->name + member->initial : to_string(member.error());
}

TEST(CppTypes, GiveEachTypeItsOwn) {
  EXPECT_EQ(member_of("String"), "std::string thing");
  EXPECT_EQ(member_of("ID"), "std::string thing");
  EXPECT_EQ(member_of("Int"), "int64_t thing = 0");
  EXPECT_EQ(member_of("Float"), "double thing = 0");
  EXPECT_EQ(member_of("Bool"), "bool thing = false");
  EXPECT_EQ(member_of("DateTime"), "lang::DateTime thing");
  EXPECT_EQ(member_of("Bytes"), "lang::Bytes thing");
  EXPECT_EQ(member_of("Request"), "lang::Request thing");
  EXPECT_EQ(member_of("Sealed"), "lang::Sealed thing");
  EXPECT_EQ(member_of("B"), "BoxId thing");
  EXPECT_EQ(member_of("Lid"), "LidId thing");
  EXPECT_EQ(member_of("option Int"), "std::optional<int64_t> thing");
  EXPECT_EQ(member_of("list set String"), "std::vector<std::vector<std::string>> thing");
  EXPECT_EQ(member_of("\"a\" | \"b\""), "BoxThing thing{}");
  EXPECT_EQ(member_of("{ a: Int }"), "BoxThing thing");
  EXPECT_EQ(member_of("list { a: Int }"), "std::vector<BoxThingItem> thing");
  EXPECT_EQ(member_of("String -> Int"), "std::map<std::string, int64_t> thing");
}

TEST(CppTypes, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(member_of("Nail"), "box.concept:2:32: \"Nail\" is neither a primitive type nor a type parameter of Box");
  EXPECT_EQ(member_of("list option Int"),
            "box.concept:2:37: only a field can be an option; here it is part of another type");
}

TEST(CppTypes, NameEqualShapesOnceAndOthersApart) {
  Concept spec = with_fields("steps: list { a: Int }, size: \"s\" | \"l\"");
  Concept other = with_fields("steps: list { b: Int }, size: \"s\" | \"l\"");
  CppTypes types(spec);
  auto first = types.members(spec.actions[0].params, "Open");
  auto same = types.members(spec.actions[0].params, "Close");
  auto differs = types.members(other.actions[0].params, "Close");
  ASSERT_TRUE(first && same && differs);
  EXPECT_EQ((*first)[0].type, "std::vector<BoxStep>");
  EXPECT_EQ((*same)[0].type, "std::vector<BoxStep>");
  EXPECT_EQ((*differs)[0].type, "std::vector<BoxCloseStep>");
  EXPECT_EQ((*differs)[1].type, "BoxSize");
  EXPECT_EQ(types.enumerations(), "\nenum class BoxSize { s, l };\nBOOST_DESCRIBE_ENUM(BoxSize, s, l)\n");
}

TEST(CppTypes, MapLiteralsThatAreNoNames) {
  Concept spec = with_fields("kind: \"a-b\" | \"a b\" | \"2\" | \"\" | \"delete\"");
  CppTypes types(spec);
  ASSERT_TRUE(types.members(spec.actions[0].params, "Open"));
  EXPECT_EQ(types.enumerations(), "\nenum class BoxKind { a_b, a_b_, n2, none, delete_ };\n");
  EXPECT_NE(types.scalars("x").find("if (text == \"a b\") return x::BoxKind::a_b_;"), std::string::npos);
}

}  // namespace cpp_types_test
}  // namespace sluice::lang
