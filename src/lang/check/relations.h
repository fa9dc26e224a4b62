// The relations in which a concept's state is kept, derived from its `state {}`:
//
//   `D -> scalar | option | record | map`  are the fields of one row keyed by D; `set D` is that row's existence
//   `D -> list T`, `D -> set T`            are child relations: elements of D's row, edited one by one
//   without a domain                       the same, of the one row that the concept has as a whole
//
// Names, as Rows (lang/run/rows.h) and the store use them: the rows of the concept's first type parameter are
// `Concept`, those of another domain `Concept[Domain]`, the one row of the whole `Concept[]`, a child relation
// `Concept.field`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

// The key of the one row of `Concept[]`.
constexpr std::string_view kWholeKey = "whole";

struct Relation {
  enum class Kind { rows, list, set };
  Kind kind = Kind::rows;
  std::string name;
  std::string domain;             // a type parameter, `String` or `ID`; empty: the concept as a whole
  std::vector<FieldDecl> fields;  // rows: its fields in the order of the state
  std::string field;              // list, set: the state field that it is
  std::vector<Type> element;      // list, set: exactly one
};

// A component that cannot be kept, and why.
struct UnkeptComponent {
  const StateField* component;
  std::string why;
};

struct StateRelations {
  std::vector<Relation> relations;  // rows before their children, domains in the order in which the state names them
  std::vector<UnkeptComponent> unkept;
};

StateRelations read_state(const Concept& spec);

// The same of a state of which everything can be kept; else an error that points at the first component that cannot.
Result<std::vector<Relation>> relations_of(const Concept& spec);

bool is_type_parameter(const Concept& spec, std::string_view name);

}  // namespace sluice::lang
