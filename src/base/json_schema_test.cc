// The whole schema of a struct with every kind of field.
#include "base/json_schema.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice {
namespace schema_test {

enum class Color { red, default_ };
BOOST_DESCRIBE_ENUM(Color, red, default_)

struct Word {
  std::string text;
};

struct Leaf {
  int8_t size = 3;
  std::vector<Leaf> leaves;
  static constexpr std::string_view kDefaulted[] = {"size", "leaves"};
};
BOOST_DESCRIBE_STRUCT(Leaf, (), (size, leaves))

struct Tree {
  std::string name;
  std::optional<bool> old;
  uint16_t height = 0;
  double ratio = 0.5;
  Color color = Color::default_;
  std::map<std::string, Leaf> leaves;
  std::vector<Tree> trees;
  json::value extra;
  Word word;
  std::optional<std::variant<std::string, Leaf>> either;
  static constexpr std::string_view kDefaulted[] = {"ratio", "color"};
};
BOOST_DESCRIBE_STRUCT(Tree, (), (name, old, height, ratio, color, leaves, trees, extra, word, either))

struct Empty {};
BOOST_DESCRIBE_STRUCT(Empty, (), ())

}  // namespace schema_test

template <>
struct JsonScalar<schema_test::Word> {
  static constexpr std::string_view kExpected = "a word";
  static constexpr std::string_view kPattern = "^[a-z]+$";
  static Result<schema_test::Word> parse(std::string_view text) { return schema_test::Word{std::string(text)}; }
  static std::string print(const schema_test::Word& word) { return word.text; }
};

namespace json_schema_test {

TEST(JsonSchema, DescribesEveryKindOfField) {
  EXPECT_EQ(write_pretty(json_schema<schema_test::Tree>("A tree", "urn:sluice:schema:tree")), R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:sluice:schema:tree",
  "title": "A tree",
  "type": "object",
  "properties": {
    "name": {
      "type": "string"
    },
    "old": {
      "type": "boolean"
    },
    "height": {
      "type": "integer",
      "minimum": 0,
      "maximum": 65535
    },
    "ratio": {
      "type": "number",
      "default": 0.5
    },
    "color": {
      "type": "string",
      "enum": [
        "red",
        "default"
      ],
      "default": "default"
    },
    "leaves": {
      "type": "object",
      "additionalProperties": {
        "$ref": "#/$defs/schema_test.Leaf"
      }
    },
    "trees": {
      "type": "array",
      "items": {
        "$ref": "#"
      }
    },
    "extra": {},
    "word": {
      "type": "string",
      "description": "a word",
      "pattern": "^[a-z]+$"
    },
    "either": {
      "anyOf": [
        {
          "type": "string"
        },
        {
          "$ref": "#/$defs/schema_test.Leaf"
        }
      ]
    }
  },
  "required": [
    "name",
    "height",
    "leaves",
    "trees",
    "extra",
    "word"
  ],
  "additionalProperties": false,
  "$defs": {
    "schema_test.Leaf": {
      "type": "object",
      "properties": {
        "size": {
          "type": "integer",
          "minimum": -128,
          "maximum": 127,
          "default": 3
        },
        "leaves": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/schema_test.Leaf"
          },
          "default": []
        }
      },
      "additionalProperties": false
    }
  }
}
)");
}

TEST(JsonSchema, OfAStructWithoutFieldsAllowsNone) {
  EXPECT_EQ(write(json_schema<schema_test::Empty>("Nothing", "urn:x")),
            R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:x","title":"Nothing",)"
            R"("type":"object","properties":{},"additionalProperties":false})");
}

TEST(JsonSchema, NamesTypesByTheirNamespacesWithinSluice) {
  EXPECT_EQ(schema::definition_name("sluice::deploy::Rollout::Begin"), "deploy.Rollout.Begin");
  EXPECT_EQ(schema::definition_name("sluice::(anonymous namespace)::Step"), "Step");
  EXPECT_EQ(schema::definition_name("Step"), "Step");
}

}  // namespace json_schema_test
}  // namespace sluice
