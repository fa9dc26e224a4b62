// What the names of a kit lead to, once checked: concepts, actions, variants, fields and relations by number. The
// engine works with these numbers and never looks a name up again.
//
// Relations are those of lang/check/relations.h, by which the store is made. The elements of a child relation have T's
// fields if T is a record, else the one field `value`.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/code.h"
#include "lang/check/types.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

struct FieldSymbol {
  std::string name;
  TypeId type = kUnknownType;
  At at;
};

struct VariantSymbol {
  std::string name;
  std::vector<FieldSymbol> fields;
  std::optional<Code> code;
};

struct ReversalSymbol {
  size_t action = 0;             // in the same concept
  std::vector<size_t> variants;  // besides ok
};

struct ActionSymbol {
  const Action* source = nullptr;
  std::string name;
  Runs runs = Runs::pure;
  Callers callers = Callers::anyone;
  std::string right;  // empty: not said
  Impact impact = Impact::changes;
  std::vector<FieldSymbol> params;
  std::vector<VariantSymbol> variants;
  std::optional<ReversalSymbol> reversal;

  bool is_answered() const { return runs == Runs::answered || runs == Runs::answered_outside; }
};

struct RelationSymbol {
  std::string name;  // empty: rows; else the list or set field of a child relation
  bool keyed = true;
  TypeId key = kUnknownType;
  TypeId element = kUnknownType;  // of a child relation, as its list or set has it
  std::vector<FieldSymbol> fields;
  std::set<size_t> indexed;  // fields that a where or a guard looks rows up by
};

struct ConceptSymbol {
  const Concept* source = nullptr;
  std::string name;
  bool built_in = false;  // the engine's own: Timer, Flow
  std::vector<ActionSymbol> actions;
  std::vector<RelationSymbol> relations;
};

struct ActionRef {
  size_t concept_ = 0;
  size_t action = 0;

  auto operator<=>(const ActionRef&) const = default;
};

// All concepts of a kit, then the engine's own, then those from outside.
struct Symbols {
  Types types;
  std::vector<ConceptSymbol> concepts;
  std::unordered_map<std::string, size_t> by_name;

  std::optional<size_t> find_concept(std::string_view name) const;
  std::optional<size_t> find_action(size_t concept_, std::string_view name) const;
  std::optional<ActionRef> find_action(std::string_view name) const;  // "Concept/action"
  const ActionSymbol& action(ActionRef ref) const { return concepts[ref.concept_].actions[ref.action]; }
  std::string name(ActionRef ref) const { return concepts[ref.concept_].name + "/" + action(ref).name; }
};

std::optional<size_t> find_field(const std::vector<FieldSymbol>& fields, std::string_view name);
std::optional<size_t> find_variant(const ActionSymbol& action, std::string_view name);

// ------------------------------------------------------------------------------------------------- resolved rules

struct VariableSymbol {
  std::string name;
  TypeId type = kUnknownType;
};

// A Pattern. Concept and action are missing where the pattern has a variable there, the action in an alternation too.
struct PatternSymbol {
  std::optional<size_t> concept_, action;
  std::vector<size_t> actions;              // of an alternation
  std::vector<size_t> variants;             // declared variants that match
  std::vector<size_t> input;                // parameter of each Pattern::input
  std::vector<std::vector<size_t>> output;  // for each of `variants`: the field of each Pattern::output
  // Of a pattern that takes several actions: the records that it takes, requests without a variant.
  std::vector<std::pair<ActionRef, std::optional<size_t>>> open;

  std::optional<ActionRef> ref() const {
    if (!concept_ || !action) return std::nullopt;
    return ActionRef{*concept_, *action};
  }
  // The actions that it names; none if a variable stands for them.
  std::vector<ActionRef> bound() const {
    if (ref()) return {*ref()};
    std::vector<ActionRef> found;
    for (size_t each : actions) found.push_back({*concept_, each});
    return found;
  }
  // The actions whose requests it takes, if it takes any.
  std::vector<ActionRef> requests() const {
    if (ref()) return {*ref()};
    std::vector<ActionRef> found;
    for (const auto& [action, variant] : open) {
      if (!variant) found.push_back(action);
    }
    return found;
  }
};

// A Query, or the list of an `each` (which has no relation).
struct QuerySymbol {
  size_t concept_ = 0;
  size_t relation = 0;
  std::vector<size_t> fields;  // column of each Query::fields; the rest of its path is read inside the record
};

// One action that an Effect may start (there are several if the target is a variable) or answer (several if the
// request comes from state).
struct TargetSymbol {
  ActionRef action;
  size_t variant = 0;          // answer
  std::vector<size_t> fields;  // parameter, or field of the variant, of each Effect::arguments
};

struct SyncSymbol {
  size_t sync = 0;                                // in Kit::syncs
  std::vector<VariableSymbol> variables;          // in the order in which they are bound
  std::vector<PatternSymbol> when;                // one a pattern
  std::vector<std::optional<QuerySymbol>> where;  // one a condition; only queries have one
  std::vector<std::vector<TargetSymbol>> then;    // one list an effect
};

struct GuardSymbol {
  size_t guard = 0;  // in Kit::guards
  std::vector<VariableSymbol> variables;
  std::optional<PatternSymbol> before;
  std::optional<QuerySymbol> over;
  std::vector<std::optional<QuerySymbol>> where, require;
};

}  // namespace sluice::lang
