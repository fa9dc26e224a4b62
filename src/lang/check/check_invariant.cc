// Invariants of a concept: the actions, variants and fields that they name, their variables and their conditions.
#include <algorithm>

#include "lang/check/invariant_walk.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;
using Op = Expr::Op;

}  // namespace

void InvariantWalk::invariant(const Invariant& tree) {
  for (const Invariant::Given& given : tree.given) {
    said_.variables[given.variable] = given_type(given);
    if (given.where) said_.must_hold(*given.where);
  }
  for (const Fixture& fixture : tree.fixtures) {
    for (const Argument& argument : fixture.input) {
      value(argument.value, kUnknownType, quoted(argument.name) + " of " + quoted(fixture.name), false);
      said_.variables[argument.name] = kUnknownType;
      named_values_[argument.name] = &argument.value;
    }
    said_.variables[fixture.name] = kUnknownType;
    named_[fixture.name] = &fixture;
  }
  anchor(tree.settlement);
  for (const Step& each : tree.before) step(each, true);
  for (const Step& each : tree.after) step(each, true);
  for (const Step& each : tree.then) step(each, false);
  for (const Expr& condition : tree.conditions) said_.must_hold(condition);
  if (tree.kind == Invariant::Kind::contract) contract(tree);
}

// What `given x in …` goes through: a list, or what fixtures give to arguments of that name.
TypeId InvariantWalk::given_type(const Invariant::Given& given) {
  bool known = given.in.op != Op::variable || said_.variables.contains(given.in.name) ||
               std::ranges::any_of(owner_.source->state, [&](const auto& each) { return each.name == given.in.name; });
  if (known) {
    TypeId many = said_.type_of(given.in, true);
    Kind kind = symbols_.types[symbols_.types.present(many)].kind;
    if (kind != Kind::unknown && kind != Kind::list && kind != Kind::set) {
      report_.error(said_.place(given.in), "type-mismatch",
                    quoted(given.variable) + " is given in a list, but this is " + symbols_.types.name(many),
                    "name a list, or a set of the state");
    }
    return symbols_.types.element(many);
  }
  bool argument = std::ranges::any_of(
      owner_.actions, [&](const ActionSymbol& action) { return find_field(action.params, given.in.name).has_value(); });
  if (!argument) {
    std::vector<std::string> names;
    for (const auto& each : owner_.source->state) names.push_back(each.name);
    report_.error(said_.place(given.in), "unbound-variable",
                  quoted(given.in.name) + " is neither a field of the state nor an argument",
                  did_you_mean(given.in.name, names));
  }
  std::optional<TypeId> type;
  for (const ActionSymbol& action : owner_.actions) {
    auto param = find_field(action.params, given.variable);
    if (!param) continue;
    type = symbols_.types.join(type.value_or(kUnknownType), symbols_.types.present(action.params[*param].type));
    if (!type) return kUnknownType;
  }
  return type.value_or(kUnknownType);
}

// A name for the fields of several variants.
void InvariantWalk::add_variable(const std::string& name, TypeId type) {
  auto [known, fresh] = said_.variables.try_emplace(name, symbols_.types.present(type));
  if (!fresh) known->second = symbols_.types.join(known->second, symbols_.types.present(type)).value_or(kUnknownType);
}

const VariantSymbol* InvariantWalk::variant(const At& at, const ActionSymbol& action, const std::string& name) {
  if (auto found = find_variant(action, name)) return &action.variants[*found];
  report_.error(report_.word(file_, at, name), "unknown-variant",
                quoted(action.name) + " has no variant " + quoted(name), did_you_mean(name, names_of(action.variants)));
  return nullptr;
}

const ActionSymbol* InvariantWalk::action(const At& at, const std::string& name) {
  auto found = std::ranges::find(owner_.actions, name, &ActionSymbol::name);
  if (found != owner_.actions.end()) return &*found;
  report_.error(report_.word(file_, at, name), "unknown-action", quoted(owner_.name) + " has no action " + quoted(name),
                did_you_mean(name, names_of(owner_.actions)));
  return nullptr;
}

void InvariantWalk::arguments(const std::vector<Argument>& given, const std::vector<FieldSymbol>& fields,
                              const std::string& title, const std::string& what, const Visit& visit) {
  std::unordered_set<std::string_view> seen;
  for (const Argument& argument : given) {
    if (!seen.insert(argument.name).second) {
      report_.error({file_, argument.at, argument.name.size()}, "duplicate",
                    "a second " + what + " " + quoted(argument.name), "keep one");
    }
    auto field = find_field(fields, argument.name);
    if (!field) {
      report_.error({file_, argument.at, argument.name.size()}, "unknown-field",
                    quoted(title) + " has no " + what + " " + quoted(argument.name),
                    did_you_mean(argument.name, names_of(fields)));
    }
    visit(argument.value, field ? fields[*field].type : kUnknownType, quoted(argument.name) + " of " + title);
  }
}

void InvariantWalk::tell_missing(const std::vector<Argument>& input, const ActionSymbol& action, const Name& at,
                                 const std::string& who) {
  std::vector<std::string> unknown, missing;
  for (const Argument& each : input) {
    if (!find_field(action.params, each.name)) unknown.push_back(each.name);
  }
  for (const FieldSymbol& param : action.params) {
    bool given = std::ranges::any_of(input, [&](const Argument& each) { return each.name == param.name; });
    if (!given && symbols_.types[param.type].kind != Kind::option) missing.push_back(param.name);
  }
  for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
    report_.error(report_.word(file_, at.at, at.text), "missing-argument",
                  who + " lacks the argument " + quoted(name) + " of " + quoted(action.name),
                  "add " + quoted(name + ": …"));
  }
}

void InvariantWalk::step(const Step& tree, bool setup) {
  if (tree.condition) {
    said_.must_hold(*tree.condition);
    return;
  }
  bool foreign = !tree.concept_.empty() && tree.concept_ != owner_.name;
  if (foreign) {
    report_.error(report_.word(file_, tree.at, tree.concept_), "foreign-step",
                  "an invariant of " + quoted(owner_.name) + " names " + quoted(tree.concept_ + "/" + tree.action) +
                      ", but a concept knows no other and is tested alone",
                  "leave the step out: what one concept does to another is a sync's");
  }
  const ActionSymbol* asked = foreign ? nullptr : action(tree.at, tree.action);
  if (asked == nullptr) {
    for (const auto* given : {&tree.input, &tree.output}) {
      for (const Argument& argument : *given) value(argument.value, kUnknownType, {}, true);
    }
    return;
  }
  arguments(tree.input, asked->params, asked->name, "argument",
            [&](const Expr& given, TypeId type, const std::string& what) { value(given, type, what, setup); });
  // What is left out of `after` is taken from a fixture.
  if (!setup) tell_missing(tree.input, *asked, {tree.at, tree.action}, "this step");
  const VariantSymbol* outcome = variant(tree.at, *asked, tree.variant);
  if (outcome == nullptr) return;
  arguments(tree.output, outcome->fields, asked->name + " -> " + outcome->name, "field",
            [&](const Expr& given, TypeId type, const std::string& what) { value(given, type, what, true); });
}

// `Parcel/deliver` or `deliver`: one of the concept's own actions.
void InvariantWalk::anchor(const Invariant::Settlement& settlement) {
  if (settlement.kind != "async-with-anchor") return;
  size_t slash = settlement.anchor.find('/');
  bool foreign = slash != std::string::npos && settlement.anchor.substr(0, slash) != owner_.name;
  std::string name = settlement.anchor.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!foreign && std::ranges::any_of(owner_.actions, [&](const auto& each) { return each.name == name; })) return;
  std::string hint = did_you_mean(name, names_of(owner_.actions));
  report_.error({file_, settlement.at.value_or(At{}), std::string_view("settlement").size()}, "unknown-action",
                "the anchor " + quoted(settlement.anchor) + " is no action of " + quoted(owner_.name),
                hint.empty() ? "name the action whose end the scenario waits for" : hint);
}

void InvariantWalk::contract(const Invariant& tree) {
  const ActionSymbol* asked = action(tree.at, tree.action);
  if (asked == nullptr) return;
  for (const Invariant::Clause& clause : tree.clauses) {
    said_.variables.clear();
    for (const FieldSymbol& param : asked->params) said_.variables[param.name] = symbols_.types.present(param.type);
    if (!clause.variant.empty()) {
      const VariantSymbol* outcome = variant(clause.at, *asked, clause.variant);
      if (outcome == nullptr) continue;
      for (const FieldSymbol& field : outcome->fields) said_.variables[field.name] = symbols_.types.present(field.type);
    } else if (!clause.requires_) {
      for (const VariantSymbol& each : asked->variants) {
        for (const FieldSymbol& field : each.fields) add_variable(field.name, field.type);
      }
    }
    said_.must_hold(clause.condition);
  }
}

void check_invariants(const ConceptSymbol& owner, Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  std::map<std::string, uint32_t> titles;
  for (const Invariant& invariant : owner.source->invariants) {
    bool titled = !invariant.name.empty() && invariant.kind != Invariant::Kind::contract;
    if (titled) {
      auto [first, fresh] = titles.try_emplace(invariant.name, invariant.at.line);
      if (!fresh) {
        report.error(report.word(owner.source->file, invariant.at, invariant.name), "duplicate",
                     "a second invariant " + quoted(invariant.name),
                     "rename or remove one; the first is at line " + std::to_string(first->second));
      }
    }
    InvariantWalk(owner, symbols, all, report).invariant(invariant);
  }
}

}  // namespace sluice::lang
