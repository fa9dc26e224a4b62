// Fixtures and invariants of a concept: the actions, variants and fields that they name, the types of what they give,
// and their variables.
//
// A variable of an invariant is bound where it first stands in a step; free ones of `after` come from fixtures. In a
// step of `then` an argument must be known by then. A condition may name variables, state fields and, in a contract,
// the action's arguments and the variant's fields. A scenario's fixtures name values: each of its fields is a variable,
// and `$fixture.field` is the same.
#include <algorithm>

#include "lang/check_condition.h"
#include "lang/graph.h"

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
  InvariantWalk(const ConceptSymbol& owner, Symbols& symbols, const Fixtures& fixtures, Report& report)
      : owner_(owner),
        symbols_(symbols),
        fixtures_(fixtures),
        report_(report),
        file_(owner.source->file),
        said_(owner, symbols, report) {
    said_.fixture = [this](const Expr& expr) { return fixture_field(expr, kUnknownType, {}); };
  }

  void fixture(const Fixture& fixture, const ActionSymbol& action) {
    arguments(fixture.input, action.params, action.name, "argument",
              [&](const Expr& value, TypeId type, const std::string& what) { this->value(value, type, what, false); });
    tell_missing(fixture.input, action, {fixture.at, fixture.name}, "fixture " + quoted(fixture.name));
    for (const Argument& argument : fixture.input) tell_not_run(argument.value, fixture);
    for (const Name& name : fixture.after) {
      if (fixtures_.contains(name.text)) continue;
      report_.error(place_of(file_, name), "unknown-fixture", "there is no fixture " + quoted(name.text),
                    did_you_mean(name.text, names_of(fixtures_)));
    }
    variant(fixture.at, action, fixture.variant);
  }

  void invariant(const Invariant& tree) {
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

 private:
  void tell_missing(const std::vector<Argument>& input, const ActionSymbol& action, const Name& at,
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

  // A fixture takes values of those that have run before it.
  void tell_not_run(const Expr& value, const Fixture& fixture) {
    for (const Expr& part : value.args) tell_not_run(part, fixture);
    if (value.op != Op::fixture || !fixtures_.contains(value.name)) return;
    std::unordered_set<std::string> seen;
    std::vector<const Fixture*> queue = {&fixture};
    for (size_t at = 0; at < queue.size(); ++at) {
      for (const Name& before : queue[at]->after) {
        if (before.text == value.name) return;
        auto found = fixtures_.find(before.text);
        if (found != fixtures_.end() && seen.insert(before.text).second) queue.push_back(found->second.first);
      }
    }
    bool own = value.name == fixture.name;
    report_.error({file_, value.at, value.name.size() + 1}, "unknown-fixture",
                  own ? quoted(value.name) + " takes a value of itself"
                      : quoted(value.name) + " has not run when " + quoted(fixture.name) + " does",
                  own ? "write the value" : "write " + quoted("after " + value.name) + " behind the fixture");
  }

  // What `given x in …` goes through: a list, or what fixtures give to arguments of that name.
  TypeId given_type(const Invariant::Given& given) {
    bool known =
        given.in.op != Op::variable || said_.variables.contains(given.in.name) ||
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
    bool argument = std::ranges::any_of(owner_.actions, [&](const ActionSymbol& action) {
      return find_field(action.params, given.in.name).has_value();
    });
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
  void add_variable(const std::string& name, TypeId type) {
    auto [known, fresh] = said_.variables.try_emplace(name, symbols_.types.present(type));
    if (!fresh) known->second = symbols_.types.join(known->second, symbols_.types.present(type)).value_or(kUnknownType);
  }

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

  void step(const Step& tree, bool setup) {
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
          report_.error(said_.place(expr), "type-mismatch",
                        what + " is " + types.name(type) + ", not " + literal_text(expr.value),
                        types.literal_form(expr.value, type));
        }
        return;
      case Op::variable: {
        auto known = said_.variables.find(expr.name);
        if (auto named = named_values_.find(expr.name); named != named_values_.end()) {
          value(*named->second, type, what, false);
        } else if (known == said_.variables.end()) {
          if (!binds) said_.unbound(expr);
          said_.variables[expr.name] = types.present(type);
        } else if (types.comparable(known->second, type) == Fit::no) {
          report_.error(
              said_.place(expr), "type-mismatch",
              quoted(expr.name) + " is " + types.name(known->second) + ", but " + what + " is " + types.name(type),
              "give one of them another name");
        }
        return;
      }
      case Op::list: {
        Kind kind = types[types.present(type)].kind;
        if (kind != Kind::unknown && kind != Kind::list && kind != Kind::set) {
          report_.error(said_.place(expr), "list-for-scalar", what + " is " + types.name(type) + ", not a list",
                        "write one value, without the brackets");
          return;
        }
        for (const Expr& part : expr.args) value(part, types.element(type), "an element of " + what, binds);
        return;
      }
      case Op::record: {
        Kind kind = types[types.present(type)].kind;
        if (kind == Kind::mapping) {
          TypeId each = types[types.present(type)].inner[1];
          for (size_t i = 0; i < expr.args.size(); ++i)
            value(expr.args[i], each, quoted(expr.keys[i]) + " of " + what, binds);
          return;
        }
        if (kind != Kind::unknown && kind != Kind::record) {
          report_.error(said_.place(expr), "type-mismatch", what + " is " + types.name(type) + ", not a record",
                        "write a value of type " + types.name(type));
          return;
        }
        for (size_t i = 0; i < expr.keys.size(); ++i) {
          auto field = types.field(type, expr.keys[i]);
          if (!field) {
            report_.error(said_.place(expr.args[i]), "unknown-field",
                          what + " is " + types.name(type) + ", without a field " + quoted(expr.keys[i]),
                          did_you_mean(expr.keys[i], types[types.present(type)].names));
          }
          value(expr.args[i], field.value_or(kUnknownType), quoted(expr.keys[i]) + " of " + what, binds);
        }
        tell_incomplete(expr, type, what);
        return;
      }
      case Op::fixture:
        fixture_field(expr, type, what);
        return;
      default: {
        TypeId given = said_.type_of(expr, binds);
        if (types.assignable(types.present(given), types.present(type)) == Fit::no) {
          report_.error(said_.place(expr), "type-mismatch",
                        what + " is " + types.name(type) + ", but this is " + types.name(given),
                        "give it a value of type " + types.name(type));
        }
      }
    }
  }

  void tell_incomplete(const Expr& record, TypeId type, const std::string& what) {
    const Shape& shape = symbols_.types[symbols_.types.present(type)];
    std::vector<std::string> unknown, missing;
    for (const std::string& key : record.keys) {
      if (std::ranges::find(shape.names, key) == shape.names.end()) unknown.push_back(key);
    }
    for (size_t i = 0; i < shape.names.size(); ++i) {
      bool given = std::ranges::find(record.keys, shape.names[i]) != record.keys.end();
      if (!given && symbols_.types[shape.inner[i]].kind != Kind::option) missing.push_back(shape.names[i]);
    }
    for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
      report_.error(said_.place(record), "missing-argument", what + " lacks its field " + quoted(name),
                    "add " + quoted(name + ": …"));
    }
  }

  // `$fixture.field`, where something of this type is wanted: of a scenario's own, or of an action's. Its type.
  TypeId fixture_field(const Expr& expr, TypeId type, const std::string& what) {
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
      return kUnknownType;
    }
    auto found = fixtures_.find(expr.name);
    if (found == fixtures_.end()) {
      report_.error({file_, expr.at, expr.name.size() + 1}, "unknown-fixture",
                    "there is no fixture " + quoted(expr.name), did_you_mean(expr.name, names_of(fixtures_)));
      return kUnknownType;
    }
    const auto& [fixture, action] = found->second;
    auto outcome = find_variant(*action, fixture->variant);
    if (!outcome) return kUnknownType;
    const auto& fields = action->variants[*outcome].fields;
    auto field = find_field(fields, name);
    auto param = find_field(action->params, name);
    if (!field && !param) {
      report_.error(whole, "unknown-field",
                    quoted(action->name + " -> " + fixture->variant) + " has no field " + quoted(name),
                    did_you_mean(name, names_of(fields)));
      return kUnknownType;
    }
    TypeId given = field ? fields[*field].type : action->params[*param].type;
    if (types.assignable(types.present(given), type) == Fit::no) {
      report_.error(whole, "type-mismatch", what + " is " + types.name(type) + ", but this is " + types.name(given),
                    "take another field, or write a value");
    }
    return types.present(given);
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

  void contract(const Invariant& tree) {
    const ActionSymbol* asked = action(tree.at, tree.action);
    if (asked == nullptr) return;
    for (const Invariant::Clause& clause : tree.clauses) {
      said_.variables.clear();
      for (const FieldSymbol& param : asked->params) said_.variables[param.name] = symbols_.types.present(param.type);
      if (!clause.variant.empty()) {
        const VariantSymbol* outcome = variant(clause.at, *asked, clause.variant);
        if (outcome == nullptr) continue;
        for (const FieldSymbol& field : outcome->fields)
          said_.variables[field.name] = symbols_.types.present(field.type);
      } else if (!clause.requires_) {
        for (const VariantSymbol& each : asked->variants) {
          for (const FieldSymbol& field : each.fields) add_variable(field.name, field.type);
        }
      }
      said_.must_hold(clause.condition);
    }
  }

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

// The first of each name.
Fixtures fixtures_of(const ConceptSymbol& owner) {
  Fixtures all;
  for (const ActionSymbol& action : owner.actions) {
    for (const Fixture& fixture : action.source->fixtures) all.try_emplace(fixture.name, &fixture, &action);
  }
  return all;
}

// Fixtures that run after one another in a circle never run.
void tell_circles(const Fixtures& all, const std::string& file, Report& report) {
  std::vector<const Fixture*> fixtures;
  for (const auto& [name, place] : all) fixtures.push_back(place.first);
  std::ranges::sort(fixtures, {}, [](const Fixture* each) { return std::pair(each->at.line, each->at.column); });
  std::unordered_map<std::string, uint32_t> numbers;
  for (uint32_t i = 0; i < fixtures.size(); ++i) numbers[fixtures[i]->name] = i;
  Graph graph(fixtures.size());
  for (uint32_t i = 0; i < fixtures.size(); ++i) {
    for (const Name& before : fixtures[i]->after) {
      if (auto found = numbers.find(before.text); found != numbers.end()) graph[i].push_back(found->second);
    }
  }
  Parts parts = parts_of(graph, std::vector<bool>(graph.size()));
  std::unordered_set<size_t> told;
  for (uint32_t i = 0; i < fixtures.size(); ++i) {
    for (const Name& before : fixtures[i]->after) {
      auto found = numbers.find(before.text);
      if (found == numbers.end() || parts.of[found->second] != parts.of[i] || !told.insert(parts.of[i]).second)
        continue;
      report.error(place_of(file, before), "fixture-circle",
                   found->second == i ? "fixture " + quoted(before.text) + " runs after itself"
                                      : "fixtures " + quoted(fixtures[i]->name) + " and " + quoted(before.text) +
                                            " run after one another, so neither does",
                   "take out one `after`");
    }
  }
}

}  // namespace

void check_fixtures(const ConceptSymbol& owner, Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  tell_circles(all, owner.source->file, report);
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

void check_invariants(const ConceptSymbol& owner, Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  for (const Invariant& invariant : owner.source->invariants) {
    InvariantWalk(owner, symbols, all, report).invariant(invariant);
  }
}

}  // namespace sluice::lang
