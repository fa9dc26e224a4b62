// What the lines of a where say.
#include "lang/syntax/where_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/syntax/testing_rules.h"

namespace sluice::lang {
namespace where_parser_test {

using testing::ElementsAre;

TEST(WhereParser, AnActionInAWhereBecomesALatestPattern) {
  SyncFile clef =
      parsed_rules("sync A when { X/a: [] => ok } where { Z/q: [ k: ?k ] => [ v: ?v ] } then { Y/b: [ v: ?v ] }");
  SyncFile ours =
      parsed_rules("sync A when { X/a: [] => ok latest Z/q: [ k: ?k ] => [ v: ?v ] } then { Y/b: [ v: ?v ] }");
  EXPECT_EQ(clef, ours);
  EXPECT_EQ(sync_of(clef).when[1].link, Pattern::Link::latest);
  EXPECT_TRUE(sync_of(clef).where.empty());
}

TEST(WhereParser, ReadsEveryConditionOfAWhere) {
  SyncFile file = parsed_rules(R"(sync A
  when { X/a: [] => ok[ list: ?l ] }
  where {
    Rollout: { ?r plan: ?p; status: "open" as ?s; criteria.maxErrorRate: ?m }
    Rollout.steps: { ?r weight: 5 }
    no Freeze: { environment: ?env }
    filter(?p.strategy != "immediate" and not ?m > 0.5)
    guard(isOpen(?p))
    any(?a = 1; ?a in [2, 3]; ?a not in ?l)
    bind(uuid() as ?id)
    each(?l as { node: ?n, kind: "x" })
  }
  then { Y/b: [] })");
  const auto& where = sync_of(file).where;
  using Kind = Condition::Kind;
  std::vector<Kind> kinds;
  for (const auto& condition : where) kinds.push_back(condition.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::query, Kind::query, Kind::no, Kind::filter, Kind::filter, Kind::any, Kind::bind,
                                 Kind::each));
  EXPECT_EQ(where[0].query.key->text, "r");
  EXPECT_EQ(where[0].query.fields[1].as->text, "s");
  EXPECT_EQ(where[0].query.fields[2].field, "criteria.maxErrorRate");
  EXPECT_EQ(where[1].query.relation->text, "steps");
  EXPECT_EQ(where[3].exprs[0].op, Expr::Op::all);
  EXPECT_EQ(where[3].exprs[0].args[0].op, Expr::Op::not_equal);
  EXPECT_EQ(where[3].exprs[0].args[1].op, Expr::Op::negation);
  EXPECT_EQ(where[5].exprs[2].op, Expr::Op::not_in);
  EXPECT_EQ(where[6].name, "id");
  EXPECT_EQ(where[7].fields[0].match.name, "n");
}

TEST(WhereParser, RefusesForEach) {
  EXPECT_THAT(faults_of_rules("sync A\n when { X/a: [] => ok[ l: ?l ] }\n then { for each ?x in ?l { Y/b: [] } }\n"),
              ElementsAre("3:9 `for each` is not part of the language | write `each(?list as { field: ?v })` in "
                          "`where`: `then` runs once for each row"));
}

TEST(WhereParser, ABareConditionIsToldHowToBeWritten) {
  EXPECT_THAT(faults_of_rules("sync A when { B/c: [] => ok[ n: ?n ] }\nwhere { ?n > 3 }\nthen { B/c: [] }"),
              ElementsAre("2:9 a condition stands in `filter(…)` | write `filter(?n > 3)`"));
}

}  // namespace where_parser_test
}  // namespace sluice::lang
