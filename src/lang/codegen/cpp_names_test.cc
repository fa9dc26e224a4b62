// Names and comments.
#include "lang/codegen/cpp_names.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace cpp_names_test {

TEST(CppNames, ChangeTheirCase) {
  EXPECT_EQ(camel_case("checkConcept"), "CheckConcept");
  EXPECT_EQ(camel_case("no box is too heavy"), "NoBoxIsTooHeavy");
  EXPECT_EQ(snake_case("checkConcept"), "check_concept");
  EXPECT_EQ(snake_case("maxLatencyP99"), "max_latency_p99");
  EXPECT_EQ(snake_case("HTTPServer"), "http_server");
  EXPECT_EQ(snake_case("criteria.maxRate"), "criteria_max_rate");
  EXPECT_EQ(snake_case("deploy-concept"), "deploy_concept");
}

TEST(CppNames, FindTheOneOfMany) {
  EXPECT_EQ(singular("steps"), "Step");
  EXPECT_EQ(singular("entries"), "Entry");
  EXPECT_EQ(singular("history"), "HistoryItem");
  EXPECT_EQ(singular("status"), "StatusItem");
}

TEST(CppNames, AvoidTheWordsOfCpp) {
  for (const char* word :
       {"concept", "lang", "co_yield", "char8_t", "stdin", "errno", "kAction", "engine", "int64_t"}) {
    EXPECT_EQ(member_name(word), std::string(word) + "_");
  }
  EXPECT_EQ(member_name("weight"), "weight");
  EXPECT_EQ(member_name("maxRate2"), "maxRate2");
  EXPECT_EQ(function_name("checkConcept"), "check_concept");
  EXPECT_EQ(function_name("delete"), "delete_");
  EXPECT_EQ(function_name("2nd"), "n2nd");
  EXPECT_EQ(function_name("__"), "n");
}

TEST(CppNames, LeaveCapitalsToTypesAndMacros) {
  EXPECT_EQ(member_name("Result"), "Result_");
  EXPECT_EQ(member_name("INT_MAX"), "INT_MAX_");
  EXPECT_EQ(member_name("_x"), "_x_");
  EXPECT_EQ(type_name(type_word("checkConcept")), "CheckConcept");
  EXPECT_EQ(type_name(type_word("EOF")), "EOFType");
  EXPECT_EQ(type_name(type_word("PRId64")), "PRId64Type");
  EXPECT_EQ(type_name(type_word("a")), "A");
  EXPECT_EQ(type_name(type_word("_1")), "N1Type");
  EXPECT_EQ(type_name(type_word("__")), "N");
}

// JSON takes one underscore off.
TEST(CppNames, StayApartInCppAndInJson) {
  EXPECT_EQ(member_name("class"), "class_");
  EXPECT_EQ(member_name("class_"), "class__");
  EXPECT_EQ(member_name("rows_"), "rows__");
}

TEST(CppNames, KnowIdentifiersAndNamespaces) {
  EXPECT_TRUE(is_identifier("ok2"));
  EXPECT_TRUE(is_identifier("ok_"));
  EXPECT_FALSE(is_identifier("in-transit"));
  EXPECT_FALSE(is_identifier("2nd"));
  EXPECT_FALSE(is_identifier(""));
  for (const char* good : {"sluice", "sluice::deploy::rollout", "kit::engine", "a1"})
    EXPECT_TRUE(is_namespace(good)) << good;
  for (const char* bad : {"", "::a", "a::", "a::::b", "a:b", "a b", "a::class", "a::std", "sluice::sluice", "a::2",
                          "a::NULL", "_a", "a__b", "a;}", "a-b", "std"}) {
    EXPECT_FALSE(is_namespace(bad)) << bad;
  }
}

TEST(CppString, EscapesWhatALiteralCannotHold) {
  EXPECT_EQ(cpp_string("a\"b\\c\n\x01"
                       "1"),
            "\"a\\\"b\\\\c\\012\\0011\"");
  EXPECT_EQ(cpp_string("→"), "\"→\"");
}

TEST(Comment, WrapsAndIndents) {
  EXPECT_EQ(comment("", 2), "");
  EXPECT_EQ(comment("  one\n   two ", 2), "  // one two\n");
  std::string long_word = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg";
  EXPECT_EQ(comment(long_word + " " + long_word, 0), "// " + long_word + "\n// " + long_word + "\n");
  EXPECT_EQ(comment("ends in \\", 0), "// ends in \\.\n");
  EXPECT_EQ(comment(long_word + "\\ " + long_word, 0), "// " + long_word + "\\.\n// " + long_word + "\n");
}

}  // namespace cpp_names_test
}  // namespace sluice::lang
