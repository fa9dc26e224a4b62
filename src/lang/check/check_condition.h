// The types of what invariants say: conditions over variables and over one concept's state, as lang/run/evaluate.h
// works them out. For the checker's own files only.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lang/check/check_parts.h"

namespace sluice::lang {

class ConditionTypes {
 public:
  ConditionTypes(const ConceptSymbol& owner, Symbols& symbols, Report& report)
      : owner_(owner), types_(symbols.types), report_(report), file_(owner.source->file) {}

  std::unordered_map<std::string, TypeId> variables;
  std::function<TypeId(const Expr&)> fixture;  // tells the type of `$fixture.field`
  // The value that a name, a path or a `$fixture.field` stands for, if a scenario's own fixture says it.
  std::function<const Expr*(const Expr&)> named;

  // Told if it cannot be true or false.
  void must_hold(const Expr& condition);
  // `binds`: a name that is not known is a variable of its own.
  TypeId type_of(const Expr& expr, bool binds);
  void unbound(const Expr& name);
  // A variable has no `?` here.
  Place place(const Expr& expr) const;

 private:
  // The literal that is meant by the name of one, else the expression itself: a literal is more pliant than its type.
  const Expr& meant(const Expr& expr) const;
  TypeId name_type(const Expr& expr, bool binds);
  std::optional<TypeId> state_type(const std::string& name);
  // The field `name` of a value: a record's, or that of the row whose key it is.
  TypeId field_type(const Expr& base, bool binds, const std::string& name, const Place& place);
  std::vector<std::pair<std::string, TypeId>> fields_of(TypeId key);
  TypeId call(const Expr& expr, bool binds);
  void compare(const Expr& expr, bool binds);
  // The elements of what must be a list.
  TypeId element_of(const Expr& many, bool binds, std::string_view what);
  std::string shown(const Expr& expr, TypeId type) const;

  const ConceptSymbol& owner_;
  Types& types_;
  Report& report_;
  const std::string& file_;
  std::unordered_set<std::string> quantified_;  // variables of the forall and exists around
};

}  // namespace sluice::lang
