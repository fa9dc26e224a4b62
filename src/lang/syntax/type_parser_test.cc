// Types as written.
#include "lang/syntax/type_parser.h"

#include <gtest/gtest.h>

#include "lang/format/print.h"

namespace sluice::lang {
namespace type_parser_test {

std::string read(std::string_view text) {
  Diagnostics found;
  Cursor cursor(text, "x", found);
  Type type = parse_type(cursor);
  if (!found.failed() && !cursor.ended()) cursor.fail_here("the end");
  if (found.failed()) return std::to_string(found.all()[0].mark.column) + " " + found.all()[0].text;
  std::string printed = print(type);
  std::erase(printed, kSoftBreak);
  return printed;
}

TEST(TypeParser, ReadsEveryKind) {
  EXPECT_EQ(read("String"), "String");
  EXPECT_EQ(read("D -> list { a: Int; b: option D }"), "D -> list { a: Int,b: option D }");
  EXPECT_EQ(read("{ up | down } -> \"a\" | \"b\""), "{ up |down } -> \"a\" |\"b\"");
  EXPECT_EQ(read("A -> B -> set C"), "A -> B -> set C");
}

TEST(TypeParser, SetListAndOptionTakeTheNextAtom) {
  Diagnostics found;
  Cursor cursor("set A -> B", "x", found);
  Type type = parse_type(cursor);
  EXPECT_EQ(type.kind, Type::Kind::mapping);
  EXPECT_EQ(type.inner[0].kind, Type::Kind::set);
}

TEST(TypeParser, RefusesWhatIsNoType) {
  EXPECT_EQ(read("list"), "5 expected a type, found the end of the file");
  EXPECT_EQ(read("{ }"), "3 expected a field or a name, found `}`");
  EXPECT_EQ(read("{ a: Int"), "9 expected `}`, found the end of the file");
  EXPECT_EQ(read("5"), "1 expected a type, found the number 5");
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "list ";
  EXPECT_EQ(read(deep), "496 nested more than 100 deep");
  std::string chain;
  for (int i = 0; i < 10'000; ++i) chain += "A -> ";
  EXPECT_EQ(read(chain + "A"), "496 nested more than 100 deep");
}

}  // namespace type_parser_test
}  // namespace sluice::lang
