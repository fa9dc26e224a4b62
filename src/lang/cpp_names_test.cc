// Names and comments.
#include "lang/cpp_names.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace {

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
  EXPECT_EQ(member_name("concept"), "concept_");
  EXPECT_EQ(member_name("lang"), "lang_");
  EXPECT_EQ(member_name("weight"), "weight");
  EXPECT_TRUE(is_identifier("ok2"));
  EXPECT_FALSE(is_identifier("in-transit"));
  EXPECT_FALSE(is_identifier("2nd"));
  EXPECT_FALSE(is_identifier("ok_"));
  EXPECT_FALSE(is_identifier(""));
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

}  // namespace
}  // namespace sluice::lang
