// One fixture or invariant of a concept while it is walked: its variables, and what its names lead to. For the
// checker's own files only; check_fixture.cc, check_invariant.cc and check_value.cc have its parts.
//
// A variable of an invariant is bound where it first stands in a step; free ones of `after` come from fixtures. In a
// step of `then` an argument must be known by then. A condition may name variables, state fields and, in a contract,
// the action's arguments and the variant's fields. A scenario's fixtures name values: each of its fields is a variable,
// and `$fixture.field` is the same.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/check/check_condition.h"

namespace sluice::lang {

// All fixtures of a concept by name, with their action; the first of each name.
using Fixtures = std::unordered_map<std::string, std::pair<const Fixture*, const ActionSymbol*>>;
Fixtures fixtures_of(const ConceptSymbol& owner);
std::vector<std::string> names_of(const Fixtures& fixtures);

class InvariantWalk {
 public:
  InvariantWalk(const ConceptSymbol& owner, Symbols& symbols, const Fixtures& fixtures, Report& report)
      : owner_(owner),
        symbols_(symbols),
        fixtures_(fixtures),
        report_(report),
        file_(owner.source->file),
        said_(owner, symbols, report) {
    said_.fixture = [this](const Expr& expr) { return fixture_field(expr, kUnknownType, {}); };
    said_.named = [this](const Expr& expr) { return named_value(expr); };
  }

  void fixture(const Fixture& fixture, const ActionSymbol& action);
  void invariant(const Invariant& tree);

 private:
  using Visit = std::function<void(const Expr& value, TypeId type, const std::string& what)>;

  // What is given to an action, or what it ends in: each name once, and one that it has. `what`: "argument" or "field".
  void arguments(const std::vector<Argument>& given, const std::vector<FieldSymbol>& fields, const std::string& title,
                 const std::string& what, const Visit& visit);
  void tell_missing(const std::vector<Argument>& input, const ActionSymbol& action, const Name& at,
                    const std::string& who);
  void tell_not_run(const Expr& value, const Fixture& fixture);
  TypeId given_type(const Invariant::Given& given);
  void add_variable(const std::string& name, TypeId type);
  const VariantSymbol* variant(const At& at, const ActionSymbol& action, const std::string& name);
  const ActionSymbol* action(const At& at, const std::string& name);
  void step(const Step& tree, bool setup);
  void anchor(const Invariant::Settlement& settlement);
  void contract(const Invariant& tree);

  // A value that is given for a field. A variable that is not known yet is bound if it may be.
  void value(const Expr& expr, TypeId type, const std::string& what, bool binds);
  void record(const Expr& expr, TypeId type, const std::string& what, bool binds);
  void tell_incomplete(const Expr& record, TypeId type, const std::string& what);
  TypeId fixture_field(const Expr& expr, TypeId type, const std::string& what);
  const Expr* named_value(const Expr& expr) const;

  const ConceptSymbol& owner_;
  Symbols& symbols_;
  const Fixtures& fixtures_;
  Report& report_;
  const std::string& file_;
  ConditionTypes said_;
  // A scenario's fixtures, and what their fields are.
  std::unordered_map<std::string, const Fixture*> named_;
  std::unordered_map<std::string, const Expr*> named_values_;
};

}  // namespace sluice::lang
