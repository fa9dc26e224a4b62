// Values given, compared and shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_expr_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> with_where(const std::string& where) {
  return told(
      kit_of({kOrder, kCard},
             "sync A when { Order/place: [ customer: ?c; lines: ?ls ] => ok[ order: ?o; total: ?t ] }\nwhere { " +
                 where + " }\nthen { Card/hold: [ card: \"c\" ] }"));
}

std::vector<std::string> with_then(const std::string& then) {
  return told(kit_of(
      {kOrder, kCard},
      "sync A when { Order/place: [ customer: ?c; lines: ?ls; note: ?n ] => ok[ order: ?o; total: ?t ] }\nthen { " +
          then + " }"));
}

TEST(CheckExpr, ComparesOnlyWhatCanBeEqual) {
  EXPECT_THAT(with_where("filter(?t = 1) filter(?t < 1.5) filter(?c != \"x\") filter(?c in [\"a\", \"b\"])"),
              IsEmpty());
  EXPECT_THAT(with_where("filter(?t = \"1\")"),
              ElementsAre("rules.sync:2:21+3 error type-mismatch: these are never equal: `?t` is Int, \"1\" is String "
                          "[write a value of type Int]"));
  EXPECT_THAT(with_where("filter(?c = ?t)"),
              ElementsAre("rules.sync:2:21+2 error type-mismatch: these are never equal: `?c` is String, `?t` is Int "
                          "[compare values of one type]"));
  EXPECT_THAT(with_where("filter(?c in ?t)"),
              ElementsAre("rules.sync:2:22+2 error type-mismatch: `in` needs a list or a set, but `?t` is Int [write "
                          "`=` to compare with one value]"));
}

TEST(CheckExpr, OnlySomeTypesHaveAnOrder) {
  EXPECT_THAT(
      with_where("filter(?ls < ?ls)"),
      ElementsAre(
          "rules.sync:2:22+3 error type-mismatch: values of type list { item: String, count: Int } have no order "
          "[compare with `=` or `!=`]"));
}

TEST(CheckExpr, ConditionsAreTrueOrFalse) {
  EXPECT_THAT(with_where("filter(?t)"), ElementsAre("rules.sync:2:16+2 error type-mismatch: a condition is true or "
                                                    "false, but `?t` is Int [compare it with a value: `… = …`]"));
}

TEST(CheckExpr, FiltersNeedBoundVariables) {
  EXPECT_THAT(
      with_where("filter(?x > 1)"),
      ElementsAre(
          "rules.sync:2:16+2 error unbound-variable: sync `A`: `?x` in where is not bound by any pattern or query "
          "[no field of this kit has that name; write a value, or bind it in when or where]"));
}

TEST(CheckExpr, IdsHaveNoFields) {
  EXPECT_THAT(with_where("filter(?o.total > 1)"),
              ElementsAre("rules.sync:2:19+5 error unknown-field: `?o` is O of Order, without a field `total` [bind it "
                          "where the row is read: `Order: { ?o total: ?total }`]"));
}

TEST(CheckExpr, FunctionsAreAClosedList) {
  EXPECT_THAT(with_where("bind(uuid() as ?id) bind(now() as ?when) bind(concat(?c, \"x\") as ?d)"), IsEmpty());
  EXPECT_THAT(
      with_where("bind(uid() as ?id)"),
      ElementsAre("rules.sync:2:14+3 error unknown-function: there is no function `uid` [did you mean `uuid`?]"));
  EXPECT_THAT(with_where("bind(cond(true, 1) as ?id)"),
              ElementsAre("rules.sync:2:14+4 error unknown-function: `cond` takes 3 arguments, not 2 [write "
                          "`cond(condition, then, else)`]"));
}

TEST(CheckExpr, ArgumentsHaveTheParametersType) {
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: ?c ]"),
              ElementsAre("rules.sync:2:40+2 error type-mismatch: `?c` is String, but `amount` of Order/pay takes Int "
                          "[give it a value of type Int]"));
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: \"1\" ]"),
              ElementsAre("rules.sync:2:40+3 error type-mismatch: `amount` of Order/pay takes Int, not \"1\" [write a "
                          "value of type Int]"));
  EXPECT_THAT(with_then("Order/ship: [ order: ?o; priority: \"quick\" ]"),
              ElementsAre("rules.sync:2:43+7 error type-mismatch: `priority` of Order/ship takes \"slow\" | \"fast\", "
                          "not \"quick\" [write a value of type \"slow\" | \"fast\"]"));
}

TEST(CheckExpr, AListIsNotOneValue) {
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: ?ls ]"),
              ElementsAre("rules.sync:2:40+3 error list-for-scalar: sync `A`: `?ls` is list { item: String, count: Int "
                          "}, but `amount` of "
                          "Order/pay takes one Int [take it apart in where: `each(?ls as { item: ?item })`]"));
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: [1] ]"),
              ElementsAre("rules.sync:2:40+1 error list-for-scalar: `amount` of Order/pay takes Int, not a list [write "
                          "one value, without the brackets]"));
}

TEST(CheckExpr, RecordsAndListsMatchStructurally) {
  EXPECT_THAT(with_then("Order/place: [ customer: ?n; lines: [ { item: \"x\", count: 1 } ] ]"), IsEmpty());
  EXPECT_THAT(
      with_then("Order/place: [ customer: ?c; lines: [ { item: \"x\", cnt: 1 } ] ]"),
      ElementsAre(
          "rules.sync:2:64+1 error unknown-field: an element of `lines` of Order/place is { item: String, count: Int "
          "}, without a field `cnt` [there is `item` and `count`]"));
  EXPECT_THAT(
      with_then("Order/place: [ customer: ?c; lines: [ { item: \"x\" } ] ]"),
      ElementsAre("rules.sync:2:46+1 error missing-argument: an element of `lines` of Order/place lacks its field "
                  "`count` [add `count: …`]"));
}

TEST(CheckExpr, TemplatesNeedBoundVariablesThatAreNotSealed) {
  EXPECT_THAT(with_then("Card/charge: [ order: \"for {{c}}\"; amount: 1 ]"), IsEmpty());
  EXPECT_THAT(with_then("Card/charge: [ order: \"for {{customer}}\"; amount: 1 ]"),
              ElementsAre("rules.sync:2:37+8 error unbound-variable: sync `A`: `?customer` in then is not bound by any "
                          "pattern or query "
                          "[it could be bound by `Order/place: [ customer: ?customer ]` in when]"));
  EXPECT_THAT(
      told(kit_of(
          {kOrder, kCard},
          "sync A when { Card/unlock: [] => ok[ token: ?t ] }\nthen { Card/charge: [ order: \"{{t}}\"; amount: 1 ] }")),
      ElementsAre("rules.sync:2:33+1 error sealed: `?t` is Sealed: no where, filter or template may use it [pass it on "
                  "in then, as the whole value of an argument]"));
  EXPECT_THAT(told(kit_of({kOrder, kCard},
                          "sync A when { Card/unlock: [] => ok[ token: ?t ] } then { Card/unlock: [ key: ?t ] }")),
              IsEmpty());
}

TEST(CheckExpr, AHoleOfATemplateIsPointedAtWhereItStands) {
  EXPECT_THAT(
      with_then("Card/charge: [ order: \"é {{o.zip}} o {{ ?zz.n }} {{zz}} {{yy}}\"; amount: 1 ]"),
      ElementsAre("rules.sync:2:37+3 error unknown-field: `?o` is O of Order, without a field `zip` [bind it where the "
                  "row is read: `Order: { ?o zip: ?zip }`]",
                  "rules.sync:2:49+2 error unbound-variable: sync `A`: `?zz` in then is not bound by any pattern or "
                  "query [no field of this kit has that name; write a value, or bind it in when or where]",
                  "rules.sync:2:66+2 error unbound-variable: sync `A`: `?yy` in then is not bound by any pattern or "
                  "query [no field of this kit has that name; write a value, or bind it in when or where]"));
}

TEST(CheckExpr, OrderingNeedsTwoValuesThatHaveOneOrder) {
  EXPECT_THAT(with_where("filter(?c > 3)"), ElementsAre("rules.sync:2:21+1 error type-mismatch: these have no order: "
                                                        "`?c` is String, 3 is Int [write a value of type String]"));
  EXPECT_THAT(with_where("filter(?c in [3])"),
              ElementsAre("rules.sync:2:23+1 error type-mismatch: these are never equal: `?c` is String, 3 is Int "
                          "[write a value of type String]"));
}

TEST(CheckExpr, EachBranchOfCondHasTheWantedType) {
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: cond(?c = \"x\", ?t, 2) ]"), IsEmpty());
  EXPECT_THAT(with_then("Order/place: [ customer: ?c; lines: ?ls; note: cond(?t > 1, \"x\", none) ]"), IsEmpty());
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: cond(true, ?c, \"2\") ]"),
              ElementsAre("rules.sync:2:51+2 error type-mismatch: `?c` is String, but `amount` of Order/pay takes Int "
                          "[give it a value of type Int]",
                          "rules.sync:2:55+3 error type-mismatch: `amount` of Order/pay takes Int, not \"2\" [write a "
                          "value of type Int]"));
  EXPECT_THAT(with_then("Order/pay: [ order: ?o; amount: cond(?t, 1, 2) ]"),
              ElementsAre("rules.sync:2:45+2 error type-mismatch: a condition is true or false, but `?t` is Int "
                          "[compare it with a value: `… = …`]"));
}

TEST(CheckExpr, TheBranchesOfCondAreOfOneType) {
  EXPECT_THAT(with_where("bind(cond(?t > 1, ?t, 1.5) as ?x) filter(?x < 2)"), IsEmpty());
  EXPECT_THAT(with_where("bind(cond(?t > 1, ?c, none) as ?x) filter(?x = \"a\")"), IsEmpty());
  EXPECT_THAT(with_where("bind(cond(?t, ?c, ?t) as ?x)"),
              ElementsAre("rules.sync:2:19+2 error type-mismatch: a condition is true or false, but `?t` is Int "
                          "[compare it with a value: `… = …`]",
                          "rules.sync:2:27+2 error type-mismatch: the branches of `cond` are of one type, but `?c` is "
                          "String, `?t` is Int [give both the same type]"));
}

TEST(CheckExpr, TextForATimeOrBytesIsOne) {
  const std::string clock =
      "concept Clock [C] { actions { action set(at: DateTime, key: option Bytes) { -> ok(at: DateTime, key: Bytes) } } "
      "}";
  auto of = [&](const std::string& rest) {
    return told(kit_of({clock}, "sync A when { Clock/set: [ at: ?a ] => ok[] }\n" + rest));
  };
  const std::string time = " [write a UTC time such as \"2030-01-31T12:00:00.000Z\"]";
  EXPECT_THAT(
      of("where { filter(?a > \"2030-01-31T12:00:00Z\") }\nthen { Clock/set: [ at: \"2030-01-31T12:00:00.000Z\"; "
         "key: \"YQ==\" ] }"),
      IsEmpty());
  EXPECT_THAT(
      of("then { Clock/set: [ at: \"soon\"; key: \"Y\" ] }"),
      ElementsAre("rules.sync:2:25+6 error type-mismatch: `at` of Clock/set takes DateTime, not \"soon\"" + time,
                  "rules.sync:2:38+3 error type-mismatch: `key` of Clock/set takes option Bytes, not \"Y\" [write "
                  "base64 text with its padding]"));
  EXPECT_THAT(of("where { filter(?a > \"soon\") }\nthen { Clock/set: [ at: ?a ] }"),
              ElementsAre("rules.sync:2:21+6 error type-mismatch: these have no order: `?a` is DateTime, \"soon\" is "
                          "String" +
                          time));
  EXPECT_THAT(told(kit_of({clock},
                          "sync A when { Clock/set: [ at: \"2030-02-30T00:00:00Z\" ] => ok[ at: ?a ] }\nthen { "
                          "Clock/set: [ at: ?a ] }")),
              ElementsAre("rules.sync:1:32+22 error type-mismatch: `at` of Clock/set is DateTime, never "
                          "\"2030-02-30T00:00:00Z\"" +
                          time));
}

TEST(CheckExpr, ListsAndRecordsHaveTypes) {
  auto bound = [](const std::string& value, const std::string& then) {
    return told(kit_of({kOrder, kCard}, "sync A when { Order/place: [] => ok[ order: ?o; total: ?t ] }\nwhere { bind(" +
                                            value + " as ?x) }\nthen { " + then + " }"));
  };
  std::string pay = "Order/pay: [ order: ?o; amount: ?x ]";
  EXPECT_THAT(
      bound("[1, \"a\"]", "Card/hold: [ card: \"c\" ]"),
      ElementsAre("rules.sync:2:18+3 error type-mismatch: the elements of a list are of one type, but 1 is Int, "
                  "\"a\" is String [write elements of one type, or a record `{ name: … }`]"));
  // What is wrong with the list is told once.
  EXPECT_THAT(
      bound("[1, \"a\"]", pay),
      ElementsAre("rules.sync:2:18+3 error type-mismatch: the elements of a list are of one type, but 1 is Int, "
                  "\"a\" is String [write elements of one type, or a record `{ name: … }`]"));
  EXPECT_THAT(
      bound("[]", pay),
      ElementsAre(
          "rules.sync:3:40+2 error list-for-scalar: sync `A`: `?x` is list, but `amount` of Order/pay takes one "
          "Int [take it apart in where: `each(?x as { value: ?value })`]"));
  EXPECT_THAT(
      bound("[1, ?t]", pay),
      ElementsAre("rules.sync:3:40+2 error list-for-scalar: sync `A`: `?x` is list Int, but `amount` of Order/pay "
                  "takes one Int [take it apart in where: `each(?x as { value: ?value })`]"));
  EXPECT_THAT(
      bound("{ q: 1 }", pay),
      ElementsAre("rules.sync:3:40+2 error type-mismatch: `?x` is { q: Int }, but `amount` of Order/pay takes Int "
                  "[give it a value of type Int]"));
  EXPECT_THAT(
      bound("[{ item: \"a\", count: 1 }, { item: \"b\", count: ?t }]", "Order/place: [ customer: \"c\"; lines: ?x ]"),
      IsEmpty());
  EXPECT_THAT(bound("cond(?t > 1, \"slow\", \"fast\")", "Order/ship: [ order: ?o; priority: ?x ]"), IsEmpty());
  EXPECT_THAT(bound("cond(?t > 1, \"slow\", \"soon\")", "Order/ship: [ order: ?o; priority: ?x ]"),
              ElementsAre("rules.sync:3:43+2 error type-mismatch: `?x` is \"slow\" | \"soon\", but `priority` of "
                          "Order/ship takes \"slow\" | \"fast\" [give it a value of type \"slow\" | \"fast\"]"));
  EXPECT_THAT(with_where("filter(?t = [1, 2])"),
              ElementsAre("rules.sync:2:21+1 error type-mismatch: these are never equal: `?t` is Int, this is list Int "
                          "[compare values of one type]"));
}

TEST(CheckExpr, NoFunctionMakesASealedValueReadable) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync A when { Card/unlock: [] => ok[ token: ?k ] }\nthen { Card/hold: [ card: nameOf(?k) ] }")),
      ElementsAre("rules.sync:2:34+2 error sealed: `?k` is Sealed: no where, filter or template may use it [pass "
                  "it on in then, as the whole value of an argument]"));
}

TEST(CheckExpr, AFractionIsShownAsItIsWritten) {
  EXPECT_THAT(
      with_then("Order/pay: [ order: ?o; amount: 1.0 ]"),
      ElementsAre("rules.sync:2:40+3 error type-mismatch: `amount` of Order/pay takes Int, not 1.0 [write a value "
                  "of type Int]"));
}

TEST(CheckExpr, TheBranchesOfCondAreOfOneIdentity) {
  Kit kit = kit_of({kOrder, kCard},
                   "sync A when { Order/pay: [] => ok[ order: ?o ]  caused by Card/charge: [] => ok[ card: ?c ] }\n"
                   "where { bind(cond(?o = \"a\", ?o, ?c) as ?z) }\nthen { Card/hold: [ card: ?z ] }");
  kit.concepts[0].entry.params = {{{{7, 7}}, "O", "order-ref", ""}};
  kit.concepts[1].entry.params = {{{{8, 7}}, "C", "card-ref", ""}};
  EXPECT_THAT(told(kit),
              testing::Contains(testing::HasSubstr(
                  "rules.sync:2:33+2 warning alignment: the branches of `cond` are of one type, but `?o` is O of "
                  "Order, `?c` is C of Card")));
}

}  // namespace check_expr_test
}  // namespace sluice::lang
