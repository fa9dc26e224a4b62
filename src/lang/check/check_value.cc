// Values in fixtures and steps: what type is wanted, and what is given.
#include <algorithm>

#include "lang/check/invariant_walk.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;
using Op = Expr::Op;

}  // namespace

// A field of a scenario's fixture, as `field`, `fixture.field` or `$fixture.field`.
const Expr* InvariantWalk::named_value(const Expr& expr) const {
  if (expr.op == Op::variable) {
    auto found = named_values_.find(expr.name);
    return found == named_values_.end() ? nullptr : found->second;
  }
  bool path = expr.op == Op::path && expr.args[0].op == Op::variable;
  if (!path && expr.op != Op::fixture) return nullptr;
  auto own = named_.find(path ? expr.args[0].name : expr.name);
  if (own == named_.end()) return nullptr;
  auto given = std::ranges::find(own->second->input, path ? expr.name : expr.keys.at(0), &Argument::name);
  return given == own->second->input.end() ? nullptr : &given->value;
}

void InvariantWalk::value(const Expr& expr, TypeId type, const std::string& what, bool binds) {
  const Types& types = symbols_.types;
  if (expr.op == Op::variable || expr.op == Op::path) {
    if (const Expr* named = named_value(expr)) return value(*named, type, what, false);
  }
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
      if (known == said_.variables.end()) {
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
    case Op::record:
      record(expr, type, what, binds);
      return;
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

void InvariantWalk::record(const Expr& expr, TypeId type, const std::string& what, bool binds) {
  const Types& types = symbols_.types;
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
}

void InvariantWalk::tell_incomplete(const Expr& record, TypeId type, const std::string& what) {
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
TypeId InvariantWalk::fixture_field(const Expr& expr, TypeId type, const std::string& what) {
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
    report_.error({file_, expr.at, expr.name.size() + 1}, "unknown-fixture", "there is no fixture " + quoted(expr.name),
                  did_you_mean(expr.name, names_of(fixtures_)));
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

}  // namespace sluice::lang
