// Fixtures and invariants of a concept: the actions, variants and fields that they name, the types of what they give,
// and their variables.
//
// A variable of an invariant is bound where it first stands in a step; free ones of `after` come from fixtures. In a
// step of `then` an argument must be known by then. A condition may name variables, state fields and, in a contract,
// the action's arguments and the variant's fields. A scenario's fixtures name values: each of its fields is a variable,
// and `$fixture.field` is the same.
#include <algorithm>
#include <span>

#include "base/nearest.h"
#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;
using Op = Expr::Op;

// All fixtures of a concept by name, with their action.
using Fixtures = std::unordered_map<std::string, std::pair<const Fixture*, const ActionSymbol*>>;

std::vector<std::string> names_of(const Fixtures& fixtures) {
  std::vector<std::string> names;
  for (const auto& [name, place] : fixtures) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

class InvariantWalk {
 public:
  InvariantWalk(const ConceptSymbol& owner, const Symbols& symbols, const Fixtures& fixtures, Report& report)
      : owner_(owner), symbols_(symbols), fixtures_(fixtures), report_(report), file_(owner.source->file) {}

  void fixture(const Fixture& fixture, const ActionSymbol& action) {
    arguments(fixture.input, action.params, action.name, "argument",
              [&](const Expr& value, TypeId type, const std::string& what) { this->value(value, type, what, false); });
    std::vector<std::string> unknown, missing;
    for (const Argument& each : fixture.input) {
      if (!find_field(action.params, each.name)) unknown.push_back(each.name);
    }
    for (const FieldSymbol& param : action.params) {
      bool given = std::ranges::any_of(fixture.input, [&](const Argument& each) { return each.name == param.name; });
      if (!given && symbols_.types[param.type].kind != Kind::option) missing.push_back(param.name);
    }
    for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
      report_.error(
          report_.word(file_, fixture.at, fixture.name), "missing-argument",
          "fixture " + quoted(fixture.name) + " lacks the argument " + quoted(name) + " of " + quoted(action.name),
          "add " + quoted(name + ": …"));
    }
    for (const Name& name : fixture.after) {
      if (fixtures_.contains(name.text)) continue;
      report_.error(place_of(file_, name), "unknown-fixture", "there is no fixture " + quoted(name.text),
                    did_you_mean(name.text, names_of(fixtures_)));
    }
    variant(fixture.at, action, fixture.variant);
  }

  void invariant(const Invariant& tree) {
    for (const Invariant::Given& given : tree.given) {
      TypeId many = type_of(given.in, true);
      variables_[given.variable] = symbols_.types.element(many);
      if (given.where) type_of(*given.where, false);
    }
    for (const Fixture& fixture : tree.fixtures) {
      for (const Argument& argument : fixture.input) {
        value(argument.value, kUnknownType, quoted(argument.name) + " of " + quoted(fixture.name), false);
        variables_[argument.name] = kUnknownType;
        named_values_[argument.name] = &argument.value;
      }
      variables_[fixture.name] = kUnknownType;
      named_[fixture.name] = &fixture;
    }
    anchor(tree.settlement);
    for (const Step& each : tree.before) step(each, true);
    for (const Step& each : tree.after) step(each, true);
    for (const Step& each : tree.then) step(each, false);
    for (const Expr& condition : tree.conditions) type_of(condition, false);
    if (tree.kind == Invariant::Kind::contract) contract(tree);
  }

 private:
  const VariantSymbol* variant(const At& at, const ActionSymbol& action, const std::string& name) {
    if (auto found = find_variant(action, name)) return &action.variants[*found];
    report_.error(report_.word(file_, at, name), "unknown-variant",
                  quoted(action.name) + " has no variant " + quoted(name),
                  did_you_mean(name, names_of(action.variants)));
    return nullptr;
  }

  const ActionSymbol* action(const At& at, const std::string& name) {
    auto found = std::ranges::find(owner_.actions, name, &ActionSymbol::name);
    if (found != owner_.actions.end()) return &*found;
    report_.error(report_.word(file_, at, name), "unknown-action",
                  quoted(owner_.name) + " has no action " + quoted(name), did_you_mean(name, names_of(owner_.actions)));
    return nullptr;
  }

  template <typename Visit>
  void arguments(const std::vector<Argument>& given, const std::vector<FieldSymbol>& fields, const std::string& title,
                 const std::string& what, const Visit& visit) {
    for (const Argument& argument : given) {
      auto field = find_field(fields, argument.name);
      if (!field) {
        report_.error({file_, argument.at, argument.name.size()}, "unknown-field",
                      quoted(title) + " has no " + what + " " + quoted(argument.name),
                      did_you_mean(argument.name, names_of(fields)));
      }
      visit(argument.value, field ? fields[*field].type : kUnknownType, quoted(argument.name) + " of " + title);
    }
  }

  void step(const Step& tree, bool setup) {
    if (tree.condition) {
      type_of(*tree.condition, false);
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
    const VariantSymbol* outcome = variant(tree.at, *asked, tree.variant);
    static const std::vector<FieldSymbol> kNone;
    if (outcome == nullptr) return;
    arguments(tree.output, outcome->fields, asked->name + " -> " + outcome->name, "field",
              [&](const Expr& given, TypeId type, const std::string& what) { value(given, type, what, true); });
  }

  // A value that is given for a field. A variable that is not known yet is bound if it may be.
  void value(const Expr& expr, TypeId type, const std::string& what, bool binds) {
    const Types& types = symbols_.types;
    switch (expr.op) {
      case Op::wildcard:
        return;
      case Op::literal:
        // In a test the text is what the harness seals.
        if (types[types.present(type)].kind == Kind::sealed && expr.value.is_string()) return;
        if (types.literal_fits(expr.value, type) != Fit::yes) {
          report_.error(place(expr), "type-mismatch",
                        what + " is " + types.name(type) + ", not " + literal_text(expr.value),
                        types.literal_form(expr.value, type));
        }
        return;
      case Op::variable: {
        auto known = variables_.find(expr.name);
        if (auto named = named_values_.find(expr.name); named != named_values_.end()) {
          value(*named->second, type, what, false);
        } else if (known == variables_.end()) {
          if (!binds) unbound(expr);
          variables_[expr.name] = types.present(type);
        } else if (types.comparable(known->second, type) == Fit::no) {
          report_.error(
              place(expr), "type-mismatch",
              quoted(expr.name) + " is " + types.name(known->second) + ", but " + what + " is " + types.name(type),
              "give one of them another name");
        }
        return;
      }
      case Op::list: {
        Kind kind = types[types.present(type)].kind;
        if (kind != Kind::unknown && kind != Kind::list && kind != Kind::set) {
          report_.error(place(expr), "list-for-scalar", what + " is " + types.name(type) + ", not a list",
                        "write one value, without the brackets");
          return;
        }
        for (const Expr& part : expr.args) value(part, types.element(type), "an element of " + what, binds);
        return;
      }
      case Op::record: {
        Kind kind = types[types.present(type)].kind;
        if (kind == Kind::mapping) return;
        if (kind != Kind::unknown && kind != Kind::record) {
          report_.error(place(expr), "type-mismatch", what + " is " + types.name(type) + ", not a record",
                        "write a value of type " + types.name(type));
          return;
        }
        for (size_t i = 0; i < expr.keys.size(); ++i) {
          auto field = types.field(type, expr.keys[i]);
          if (!field) {
            report_.error(place(expr.args[i]), "unknown-field",
                          what + " is " + types.name(type) + ", without a field " + quoted(expr.keys[i]),
                          did_you_mean(expr.keys[i], types[types.present(type)].names));
          }
          value(expr.args[i], field.value_or(kUnknownType), quoted(expr.keys[i]) + " of " + what, binds);
        }
        return;
      }
      case Op::fixture:
        fixture_field(expr, type, what);
        return;
      default:
        type_of(expr, binds);
    }
  }

  // `$fixture.field`, where something of this type is wanted: of a scenario's own, or of an action's.
  void fixture_field(const Expr& expr, TypeId type, const std::string& what) {
    const Types& types = symbols_.types;
    const std::string& name = expr.keys.at(0);
    Place whole{file_, expr.at, expr.name.size() + name.size() + 2};
    if (auto own = named_.find(expr.name); own != named_.end()) {
      // What its own values take from a fixture of that name is an action's: while they are looked at, it is not there.
      auto hidden = named_.extract(own);
      auto given = std::ranges::find(hidden.mapped()->input, name, &Argument::name);
      if (given != hidden.mapped()->input.end()) {
        value(given->value, type, what, false);
      } else {
        std::vector<std::string> fields;
        for (const Argument& each : hidden.mapped()->input) fields.push_back(each.name);
        report_.error(whole, "unknown-field", "the fixture " + quoted(expr.name) + " has no field " + quoted(name),
                      did_you_mean(name, fields));
      }
      named_.insert(std::move(hidden));
      return;
    }
    auto found = fixtures_.find(expr.name);
    if (found == fixtures_.end()) {
      report_.error({file_, expr.at, expr.name.size() + 1}, "unknown-fixture",
                    "there is no fixture " + quoted(expr.name), did_you_mean(expr.name, names_of(fixtures_)));
      return;
    }
    const auto& [fixture, action] = found->second;
    auto outcome = find_variant(*action, fixture->variant);
    if (!outcome) return;
    const auto& fields = action->variants[*outcome].fields;
    auto field = find_field(fields, name);
    auto param = find_field(action->params, name);
    if (!field && !param) {
      report_.error(whole, "unknown-field",
                    quoted(action->name + " -> " + fixture->variant) + " has no field " + quoted(name),
                    did_you_mean(name, names_of(fields)));
      return;
    }
    TypeId given = field ? fields[*field].type : action->params[*param].type;
    if (types.assignable(types.present(given), type) == Fit::no) {
      report_.error(whole, "type-mismatch", what + " is " + types.name(type) + ", but this is " + types.name(given),
                    "take another field, or write a value");
    }
  }

  // `Parcel/deliver` or `deliver`: one of the concept's own actions.
  void anchor(const Invariant::Settlement& settlement) {
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

  // A variable has no `?` here.
  Place place(const Expr& expr) const {
    return expr.op == Op::variable ? Place{file_, expr.at, expr.name.size()} : place_of(file_, expr);
  }

  void unbound(const Expr& expr) {
    std::vector<std::string> known;
    for (const auto& [name, type] : variables_) known.push_back(name);
    for (const StateField& each : owner_.source->state) known.push_back(each.name);
    std::ranges::sort(known);
    // One or two letters are near to all others.
    auto near = expr.name.size() < 3 ? std::nullopt : nearest(expr.name, std::span<const std::string>(known));
    report_.error(place(expr), "unbound-variable",
                  quoted(expr.name) + " is neither bound by a step before it nor a field of the state",
                  near ? "did you mean " + quoted(*near) + "?"
                       : "bind it in a step of `after`: its arguments may be free, its outcome gives values");
  }

  // The type of a name in a condition: a variable, or a component of the state.
  TypeId name_type(const Expr& expr, bool binds) {
    if (auto known = variables_.find(expr.name); known != variables_.end()) return known->second;
    bool state =
        std::ranges::any_of(owner_.source->state, [&](const StateField& each) { return each.name == expr.name; });
    if (state) return kUnknownType;
    bool parameter =
        std::ranges::any_of(owner_.source->params, [&](const Name& each) { return each.text == expr.name; });
    if (parameter) return kUnknownType;
    if (!binds) unbound(expr);
    variables_[expr.name] = kUnknownType;
    return kUnknownType;
  }

  TypeId type_of(const Expr& expr, bool binds) {
    const Types& types = symbols_.types;
    switch (expr.op) {
      case Op::literal:
        return Types::of_literal(expr.value);
      case Op::variable:
        return name_type(expr, binds);
      case Op::path: {
        TypeId base = type_of(expr.args.at(0), binds);
        if (auto field = types.field(base, expr.name)) return *field;
        if (types[base].kind != Kind::parameter) return kUnknownType;
        for (const RelationSymbol& relation : owner_.relations) {
          if (relation.key != base) continue;
          if (relation.name == expr.name) return kUnknownType;
          if (auto field = find_field(relation.fields, expr.name); field && relation.name.empty()) {
            return relation.fields[*field].type;
          }
        }
        return kUnknownType;
      }
      case Op::equal:
      case Op::not_equal:
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal: {
        const Expr& left = expr.args.at(0);
        const Expr& right = expr.args.at(1);
        TypeId a = type_of(left, binds), b = type_of(right, binds);
        Fit fit = right.op == Op::literal && left.op != Op::literal   ? types.literal_compares(right.value, a)
                  : left.op == Op::literal && right.op != Op::literal ? types.literal_compares(left.value, b)
                                                                      : types.comparable(a, b);
        if (fit == Fit::no && a != Types::of(Kind::null) && b != Types::of(Kind::null)) {
          bool ordered = expr.op != Op::equal && expr.op != Op::not_equal;
          report_.error(place(right), "type-mismatch",
                        (ordered ? "these have no order: one is " : "these are never equal: one is ") + types.name(a) +
                            ", the other " + types.name(b),
                        "compare values of one type");
        }
        return Types::of(Kind::boolean);
      }
      case Op::forall:
      case Op::exists: {
        TypeId many = type_of(expr.args.at(0), binds);
        auto shadowed = variables_.find(expr.name);
        std::optional<TypeId> before = shadowed == variables_.end() ? std::nullopt : std::optional(shadowed->second);
        variables_[expr.name] = types.element(many);
        for (size_t i = 1; i < expr.args.size(); ++i) type_of(expr.args[i], false);
        variables_.erase(expr.name);
        if (before) variables_[expr.name] = *before;
        return Types::of(Kind::boolean);
      }
      case Op::fixture:
        fixture_field(expr, kUnknownType, {});
        return kUnknownType;
      default:
        for (const Expr& arg : expr.args) type_of(arg, binds);
        return kUnknownType;
    }
  }

  void contract(const Invariant& tree) {
    const ActionSymbol* asked = action(tree.at, tree.action);
    if (asked == nullptr) return;
    for (const Invariant::Clause& clause : tree.clauses) {
      variables_.clear();
      for (const FieldSymbol& param : asked->params) variables_[param.name] = symbols_.types.present(param.type);
      if (!clause.variant.empty()) {
        const VariantSymbol* outcome = variant(clause.at, *asked, clause.variant);
        if (outcome == nullptr) continue;
        for (const FieldSymbol& field : outcome->fields) variables_[field.name] = symbols_.types.present(field.type);
      } else if (!clause.requires_) {
        for (const VariantSymbol& each : asked->variants) {
          for (const FieldSymbol& field : each.fields) variables_.try_emplace(field.name, kUnknownType);
        }
      }
      type_of(clause.condition, false);
    }
  }

  const ConceptSymbol& owner_;
  const Symbols& symbols_;
  const Fixtures& fixtures_;
  Report& report_;
  const std::string& file_;
  std::unordered_map<std::string, TypeId> variables_;
  // A scenario's fixtures, and what their fields are.
  std::unordered_map<std::string, const Fixture*> named_;
  std::unordered_map<std::string, const Expr*> named_values_;
};

// The first of each name.
Fixtures fixtures_of(const ConceptSymbol& owner) {
  Fixtures all;
  for (const ActionSymbol& action : owner.actions) {
    for (const Fixture& fixture : action.source->fixtures) all.try_emplace(fixture.name, &fixture, &action);
  }
  return all;
}

}  // namespace

void check_fixtures(const ConceptSymbol& owner, const Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  for (const ActionSymbol& action : owner.actions) {
    for (const Fixture& fixture : action.source->fixtures) {
      const Fixture* first = all.at(fixture.name).first;
      if (first != &fixture) {
        report.error(report.word(owner.source->file, fixture.at, fixture.name), "duplicate",
                     "a second fixture " + quoted(fixture.name),
                     "rename one; the first is at line " + std::to_string(first->at.line));
      }
      InvariantWalk(owner, symbols, all, report).fixture(fixture, action);
    }
  }
}

void check_invariants(const ConceptSymbol& owner, const Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  for (const Invariant& invariant : owner.source->invariants) {
    InvariantWalk(owner, symbols, all, report).invariant(invariant);
  }
}

}  // namespace sluice::lang
