// The State of a concept as text.
#include "lang/codegen/generate_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace generate_state_test {

using testing::HasSubstr;
using testing::Not;

StateText generate(const std::string& state, const std::vector<std::string>& handlers = {}) {
  Diagnostics found;
  std::string text = "concept Box [B] { state {\n" + state + "\n} actions { action open() { -> ok } } }\n";
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  CppTypes types(*spec);
  auto result = generate_state(*spec, types, handlers);
  EXPECT_TRUE(result);
  return *std::move(result);
}

TEST(GenerateState, HasOneRecordADomain) {
  StateText text = generate("boxes: set B\n size: B -> Int\n at: B -> option DateTime");
  EXPECT_THAT(text.records, HasSubstr("// A row of Box, keyed by BoxId.\nstruct BoxRecord {\n  int64_t size = 0;\n"
                                      "  std::optional<lang::DateTime> at;\n"));
  for (const char* line : {"bool has(const BoxId& id) const;", "std::optional<BoxRecord> get(const BoxId& id) const;",
                           "BoxId add(const BoxRecord& record);", "bool erase(const BoxId& id);",
                           "lang::Entries<BoxId, BoxRecord> all() const;",
                           "std::vector<BoxFound> find_by_size(const int64_t& value) const;"}) {
    EXPECT_THAT(text.declaration, HasSubstr(line));
  }
}

TEST(GenerateState, KeysThatAreTextAreNotMadeUp) {
  StateText text = generate("price: String -> Int");
  EXPECT_THAT(text.declaration, HasSubstr("void put(const std::string& id, const BoxStringRecord& record);"));
  EXPECT_THAT(text.declaration, Not(HasSubstr(" add(")));
}

TEST(GenerateState, GivesListsAndSetsAFaceToReadAndOneToWrite) {
  StateText text = generate("names: B -> list String\n kinds: B -> set { a: Int }\n all: B -> list Int");
  EXPECT_THAT(text.declaration, HasSubstr("lang::List<std::string> names(const BoxId& id);\n"
                                          "  lang::ListView<std::string> names(const BoxId& id) const;\n"));
  EXPECT_THAT(text.declaration, HasSubstr("lang::Set<BoxKind> kinds(const BoxId& id);"));
  EXPECT_THAT(text.declaration, HasSubstr("lang::List<int64_t> all_(const BoxId& id);"));
  EXPECT_THAT(text.definition, HasSubstr("lang::rows::erase_all(rows_, \"Box.names\", lang::child_key(id.text()));"));
}

TEST(GenerateState, KeepsFunctionsApartWhoseFieldsAreOneName) {
  StateText text = generate("aB: B -> Int\n a_b: B -> Int\n rows_: B -> list Int\n new_id: B -> set Int");
  for (const char* line :
       {"find_by_a_b(const int64_t& value) const;", "find_by_a_b_(const int64_t& value) const;",
        "lang::List<int64_t> rows__(const BoxId& id);", "lang::Set<int64_t> new_id_(const BoxId& id);"}) {
    EXPECT_THAT(text.declaration, HasSubstr(line));
  }
}

TEST(GenerateState, HasTheRowOfTheWhole) {
  StateText text = generate("total: Int\n queue: list String");
  EXPECT_THAT(text.declaration, HasSubstr("BoxWhole whole() const;\n  void put_whole(const BoxWhole& record);\n"));
  EXPECT_THAT(text.declaration, HasSubstr("lang::List<std::string> queue();"));
}

TEST(GenerateState, NamesTheLookupsThatHandlersUse) {
  StateText text = generate("size: B -> Int\n name: B -> String\n lid: B -> { colour: String, wide: Float }",
                            {"x = state.find_by_lid_colour(c);", "find_by_size_else(1); // find_by_name"});
  EXPECT_EQ(text.relations,
            "          {.name = \"Box\", .fields = {\"size\", \"name\", \"lid\"}, .lookups = {\"name\", "
            "\"lid.colour\"}},\n");
  EXPECT_THAT(text.declaration, Not(HasSubstr("find_by_lid_wide")));
}

}  // namespace generate_state_test
}  // namespace sluice::lang
