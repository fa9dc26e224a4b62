// What may be given for what.
#include "lang/check/types.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace types_test {

using Kind = Shape::Kind;

struct TypesTest : testing::Test {
  Types types;
  TypeId string = Types::of(Kind::string), integer = Types::of(Kind::integer), floating = Types::of(Kind::floating);
  TypeId user = types.add({.kind = Kind::parameter, .name = "U", .owner = "User", .tag = "user-ref"});
  TypeId order = types.add({.kind = Kind::parameter, .name = "O", .owner = "Order", .tag = "order-ref"});
  TypeId untagged = types.add({.kind = Kind::parameter, .name = "X", .owner = "Other"});
  TypeId open_paid = types.add({.kind = Kind::literals, .names = {"open", "paid"}});
  TypeId open_only = types.add({.kind = Kind::literals, .names = {"open"}});
};

TEST_F(TypesTest, EqualTypesAreTheSameNumber) {
  EXPECT_EQ(types.list_of(string), types.list_of(string));
  EXPECT_NE(types.list_of(string), types.list_of(integer));
  EXPECT_NE(types.add({.kind = Kind::literals, .names = {"a", "b"}}),
            types.add({.kind = Kind::literals, .names = {"a b"}}));
}

TEST_F(TypesTest, ParametersAreOpaqueIds) {
  EXPECT_EQ(types.assignable(user, string), Fit::yes);
  EXPECT_EQ(types.assignable(string, user), Fit::yes);
  EXPECT_EQ(types.assignable(user, integer), Fit::no);
  EXPECT_EQ(types.assignable(user, order), Fit::misaligned);
  EXPECT_EQ(types.assignable(user, untagged), Fit::yes);
  EXPECT_EQ(types.assignable(types.list_of(user), types.list_of(order)), Fit::misaligned);
}

TEST_F(TypesTest, NumbersWidenAndNeverNarrow) {
  EXPECT_EQ(types.assignable(integer, floating), Fit::yes);
  EXPECT_EQ(types.assignable(floating, integer), Fit::no);
}

TEST_F(TypesTest, OptionsTakeWhatTheyHold) {
  TypeId maybe = types.option_of(string);
  EXPECT_EQ(types.assignable(string, maybe), Fit::yes);
  EXPECT_EQ(types.assignable(maybe, string), Fit::no);
  EXPECT_EQ(types.assignable(Types::of(Kind::null), maybe), Fit::yes);
  EXPECT_EQ(types.assignable(Types::of(Kind::null), string), Fit::no);
  EXPECT_EQ(types.present(types.option_of(maybe)), string);
}

TEST_F(TypesTest, LiteralsGoWhereAllOfThemBelong) {
  EXPECT_EQ(types.assignable(open_only, open_paid), Fit::yes);
  EXPECT_EQ(types.assignable(open_paid, open_only), Fit::no);
  EXPECT_EQ(types.assignable(open_paid, string), Fit::yes);
  EXPECT_EQ(types.assignable(string, open_paid), Fit::no);
  EXPECT_EQ(types.literal_fits("paid", open_paid), Fit::yes);
  EXPECT_EQ(types.literal_fits("sent", open_paid), Fit::no);
}

TEST_F(TypesTest, RecordsMatchFieldByField) {
  TypeId full = types.add({.kind = Kind::record, .names = {"a", "b"}, .inner = {string, types.option_of(integer)}});
  TypeId part = types.add({.kind = Kind::record, .names = {"a"}, .inner = {string}});
  TypeId other = types.add({.kind = Kind::record, .names = {"a", "c"}, .inner = {string, string}});
  EXPECT_EQ(types.assignable(part, full), Fit::yes);
  EXPECT_EQ(types.assignable(full, part), Fit::no);
  EXPECT_EQ(types.assignable(other, full), Fit::no);
}

TEST_F(TypesTest, ListsAndSetsStayApart) {
  TypeId set = types.add({.kind = Kind::set, .inner = {string}});
  EXPECT_EQ(types.assignable(types.list_of(string), set), Fit::no);
  EXPECT_EQ(types.assignable(types.list_of(string), string), Fit::no);
  EXPECT_EQ(types.element(types.option_of(set)), string);
}

TEST_F(TypesTest, NumberOneIsNotStringOne) {
  EXPECT_EQ(types.comparable(integer, string), Fit::no);
  EXPECT_EQ(types.literal_fits("1", integer), Fit::no);
  EXPECT_EQ(types.literal_fits(1, string), Fit::no);
  EXPECT_EQ(types.literal_fits(1, floating), Fit::yes);
  EXPECT_EQ(types.literal_fits("2026-01-01T00:00:00Z", Types::of(Kind::date_time)), Fit::yes);
  EXPECT_EQ(types.literal_fits("2026-13-01T00:00:00Z", Types::of(Kind::date_time)), Fit::no);
  EXPECT_EQ(types.literal_fits("YQ==", Types::of(Kind::bytes)), Fit::yes);
  EXPECT_EQ(types.literal_fits("YQ", Types::of(Kind::bytes)), Fit::no);
  EXPECT_EQ(types.literal_form("YQ", Types::of(Kind::bytes)), "write base64 text with its padding");
  EXPECT_EQ(types.literal_form("YQ==", Types::of(Kind::bytes)), "");
}

TEST_F(TypesTest, NamesAreAsWritten) {
  EXPECT_EQ(types.name(types.list_of(user)), "list U of User");
  EXPECT_EQ(types.name(types.option_of(open_paid)), "option \"open\" | \"paid\"");
  EXPECT_EQ(types.name(types.add({.kind = Kind::record, .names = {"a", "b"}, .inner = {string, integer}})),
            "{ a: String, b: Int }");
}

TEST(Types, JoinsWhatMayStandForOneAnother) {
  Types types;
  TypeId integer = Types::of(Shape::Kind::integer), floating = Types::of(Shape::Kind::floating);
  TypeId text = Types::of(Shape::Kind::string), null = Types::of(Shape::Kind::null);
  auto joined = [&](TypeId a, TypeId b) {
    auto both = types.join(a, b);
    return both ? types.name(*both) : "nothing";
  };
  EXPECT_EQ(joined(integer, floating), "Float");
  EXPECT_EQ(joined(integer, text), "nothing");
  EXPECT_EQ(joined(null, integer), "option Int");
  EXPECT_EQ(joined(types.option_of(integer), floating), "option Float");
  EXPECT_EQ(joined(types.texts({"a"}), types.texts({"b", "a"})), "\"b\" | \"a\"");
  EXPECT_EQ(joined(types.texts({"a", "c"}), types.texts({"b", "a"})), "\"a\" | \"c\" | \"b\"");
  EXPECT_EQ(joined(types.texts({"a"}), text), "String");
  EXPECT_EQ(joined(types.list_of(integer), types.list_of(floating)), "list Float");
  TypeId one = types.add({.kind = Shape::Kind::record, .names = {"x", "y"}, .inner = {integer, text}});
  TypeId other = types.add({.kind = Shape::Kind::record, .names = {"x", "z"}, .inner = {floating, text}});
  EXPECT_EQ(joined(one, other), "{ x: Float, y: option String, z: option String }");
}

TEST(Types, TextsAreShownAsTheyAreWritten) {
  Types types;
  EXPECT_EQ(types.name(types.texts({"a\x1b[31m", "b\"c", "d\\"})), R"("a\u{1b}[31m" | "b\"c" | "d\\")");
}

}  // namespace types_test
}  // namespace sluice::lang
