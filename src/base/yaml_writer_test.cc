// The text itself, to the byte; tests/cli reads it back with another YAML reader.
#include "base/yaml_writer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice {
namespace {

std::string written(std::string_view text) { return write_yaml(boost::json::parse(text)); }

TEST(YamlWriter, WritesBlocks) {
  EXPECT_EQ(written(R"({"name": "prod-eu", "replicas": 3, "ready": true, "note": null,
                        "slots": [{"name": "deployer", "packs": ["a", "b"]}, "x", [1, 2]], "none": [], "empty": {}})"),
            "name: prod-eu\n"
            "replicas: 3\n"
            "ready: true\n"
            "note: null\n"
            "slots:\n"
            "  - name: deployer\n"
            "    packs:\n"
            "      - a\n"
            "      - b\n"
            "  - x\n"
            "  - - 1\n"
            "    - 2\n"
            "none: []\n"
            "empty: {}\n");
  EXPECT_EQ(written("[]"), "[]\n");
  EXPECT_EQ(written("\"x\""), "x\n");
}

TEST(YamlWriter, QuotesWhatCouldBeTakenForSomethingElse) {
  for (const char* text :
       {"",           "true",  "No", "NULL", "off", "y",  "12", "1e3", "0x1f", "-",  "- a", "a: b", "a #b", "~",
        "2026-01-01", "12:30", " a", "a ",   "*a",  "&a", "!a", "%a",  "@a",   "`a", "[a]", "{a}",  ".inf"}) {
    EXPECT_EQ(write_yaml(boost::json::string(text)), '"' + std::string(text) + "\"\n");
  }
  EXPECT_EQ(write_yaml("two words, one"), "two words, one\n");
  EXPECT_EQ(written(R"({"on": 1, "a/b": 2})"), "\"on\": 1\na/b: 2\n");
}

TEST(YamlWriter, EscapesWhatYamlDoesNotTake) {
  EXPECT_EQ(written(R"("a\nb\t\"\\")"), "\"a\\nb\\t\\\"\\\\\"\n");
  EXPECT_EQ(write_yaml("\u2028\u0085\x7f\uFEFF"), "\"\\u2028\\u0085\\u007f\\ufeff\"\n");
  EXPECT_EQ(write_yaml("日本"), "\"日本\"\n");
}

}  // namespace
}  // namespace sluice
