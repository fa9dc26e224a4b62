// Evaluates the conditions of invariants: expressions over variables and over one concept's rows.
//
// A name is a variable if it is bound; else a field of the state: `set D` is the list of its keys, a field of a row the
// list of its values, a list or set all of its elements, a field of the whole its value. `x.field` is a record's field
// or, for a key x, the field of its row, or its list. `count(x)` is the size of a list. A field that is not there is
// null.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/document.h"
#include "lang/check/relations.h"
#include "lang/run/rows.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

using Variables = std::map<std::string, json::value>;

// An expression that has no value here: an unbound name, a comparison of a number with a text.
class EvaluationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Evaluator {
 public:
  // All must outlive it.
  Evaluator(const Concept& spec, const std::vector<Relation>& relations, const Rows& rows)
      : spec_(spec), relations_(relations), rows_(rows) {}

  // Throw EvaluationError.
  json::value value(const Expr& expr, const Variables& variables) const;
  bool holds(const Expr& condition, const Variables& variables) const;

 private:
  json::value state_field(const std::string& name) const;
  json::value field_of(const json::value& base, const std::string& name) const;
  json::value call(const Expr& expr, const Variables& variables) const;
  bool quantified(const Expr& expr, const Variables& variables) const;
  json::array rows_with(const std::string& relation, const std::string& prefix) const;

  const Concept& spec_;
  const std::vector<Relation>& relations_;
  const Rows& rows_;
};

}  // namespace sluice::lang
