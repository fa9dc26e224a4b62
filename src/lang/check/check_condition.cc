// A walk over the expression; depth is that of the parsed tree.
#include "lang/check/check_condition.h"

#include <algorithm>
#include <span>

#include "base/nearest.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;
using Op = Expr::Op;

bool is_text(Kind kind) {
  return kind == Kind::parameter || kind == Kind::id || kind == Kind::string || kind == Kind::literals;
}

// Where the last name of `a.b.c` stands; a path is written in one piece.
uint32_t width_of(const Expr& path) {
  uint32_t own = static_cast<uint32_t>(path.name.size());
  return path.op == Op::path ? width_of(path.args[0]) + 1 + own : own;
}

}  // namespace

Place ConditionTypes::place(const Expr& expr) const {
  if (expr.op == Op::variable || expr.op == Op::path) return {file_, expr.at, width_of(expr)};
  return place_of(file_, expr);
}

std::string ConditionTypes::shown(const Expr& expr, TypeId type) const {
  if (expr.op == Op::variable) return quoted(expr.name) + " is " + types_.name(type);
  if (expr.op == Op::literal) return literal_text(expr.value) + " is " + types_.name(type);
  return "this is " + types_.name(type);
}

void ConditionTypes::unbound(const Expr& expr) {
  std::vector<std::string> known;
  for (const auto& [name, type] : variables) known.push_back(name);
  for (const StateField& each : owner_.source->state) known.push_back(each.name);
  std::ranges::sort(known);
  // One or two letters are near to all others.
  auto near = expr.name.size() < 3 ? std::nullopt : nearest(expr.name, std::span<const std::string>(known));
  report_.error(place(expr), "unbound-variable",
                quoted(expr.name) + " is neither bound by a step before it nor a field of the state",
                near ? "did you mean " + quoted(*near) + "?"
                     : "bind it in a step of `after`: its arguments may be free, its outcome gives values");
}

void ConditionTypes::must_hold(const Expr& condition) {
  TypeId type = type_of(condition, false);
  if (types_.comparable(type, Types::of(Kind::boolean)) != Fit::no) return;
  report_.error(place(condition), "type-mismatch", "a condition is true or false, but " + shown(condition, type),
                "compare it with a value: `… = …`");
}

// Of a component of the state: the keys of a set, the values of a field in all rows, all elements of a list.
std::optional<TypeId> ConditionTypes::state_type(const std::string& name) {
  auto component = std::ranges::find(owner_.source->state, name, &StateField::name);
  if (component == owner_.source->state.end()) return std::nullopt;
  for (const RelationSymbol& rows : owner_.relations) {
    if (rows.name == name) return types_.list_of(rows.element);
    if (!rows.name.empty()) continue;
    const Shape& key = types_[rows.key];
    std::string domain = key.kind == Kind::parameter ? key.name : types_.name(rows.key);
    bool keys = component->type.kind == Type::Kind::set && rows.keyed && component->type.inner[0].name == domain;
    if (keys) return types_.list_of(rows.key);
    if (auto field = find_field(rows.fields, name)) {
      return rows.keyed ? types_.list_of(rows.fields[*field].type) : rows.fields[*field].type;
    }
  }
  return kUnknownType;  // a component that cannot be kept, which is told
}

const Expr& ConditionTypes::meant(const Expr& expr) const {
  const Expr* root = &expr;
  while (root->op == Op::path) root = &root->args[0];
  bool own = root->op == Op::variable && quantified_.contains(root->name);
  const Expr* value = named && !own ? named(expr) : nullptr;
  return value != nullptr && value->op == Op::literal ? *value : expr;
}

TypeId ConditionTypes::name_type(const Expr& expr, bool binds) {
  if (auto known = variables.find(expr.name); known != variables.end()) return known->second;
  if (auto state = state_type(expr.name)) return *state;
  if (!binds) unbound(expr);
  variables[expr.name] = kUnknownType;
  return kUnknownType;
}

std::vector<std::pair<std::string, TypeId>> ConditionTypes::fields_of(TypeId key) {
  std::vector<std::pair<std::string, TypeId>> found;
  for (const RelationSymbol& rows : owner_.relations) {
    // A text may be the key of any row.
    bool other = types_[key].kind == Kind::parameter && rows.key != key;
    if (!rows.keyed || other) continue;
    if (!rows.name.empty()) found.emplace_back(rows.name, types_.list_of(rows.element));
    for (const FieldSymbol& field : rows.fields) {
      if (rows.name.empty()) found.emplace_back(field.name, field.type);
    }
  }
  return found;
}

TypeId ConditionTypes::field_type(const Expr& base, bool binds, const std::string& name, const Place& place) {
  TypeId whole = type_of(base, binds);
  TypeId type = types_.present(whole);
  Kind kind = types_[type].kind;
  if (kind == Kind::unknown || kind == Kind::null) return kUnknownType;
  std::vector<std::string> names = types_[type].kind == Kind::record ? types_[type].names : std::vector<std::string>{};
  if (auto field = types_.field(type, name)) {
    return whole == type ? *field : types_.option_of(types_.present(*field));
  }
  if (is_text(kind)) {
    for (const auto& [field, of] : fields_of(type)) {
      if (field == name) return of;
      names.push_back(field);
    }
  }
  report_.error(place, "unknown-field", shown(base, type) + ", without a field " + quoted(name),
                did_you_mean(name, names));
  return kUnknownType;
}

TypeId ConditionTypes::element_of(const Expr& many, bool binds, std::string_view what) {
  TypeId type = type_of(many, binds);
  Kind kind = types_[types_.present(type)].kind;
  if (kind != Kind::unknown && kind != Kind::list && kind != Kind::set) {
    report_.error(place(many), "type-mismatch", std::string(what) + " needs a list or a set, but " + shown(many, type),
                  "name a list, or a set of the state");
  }
  return types_.element(type);
}

TypeId ConditionTypes::call(const Expr& expr, bool binds) {
  Place name{file_, expr.at, expr.name.size()};
  auto takes = [&](size_t count, std::string_view usage) {
    if (expr.args.size() == count) return true;
    report_.error(
        name, "unknown-function",
        quoted(expr.name) + " takes " + std::to_string(count) + " arguments, not " + std::to_string(expr.args.size()),
        "write " + quoted(usage));
    return false;
  };
  if (expr.name == "count") {
    if (takes(1, "count(list)")) element_of(expr.args[0], binds, "count");
    return Types::of(Kind::integer);
  }
  if (expr.name == "now") {
    takes(0, "now()");
    return Types::of(Kind::date_time);
  }
  if (expr.name == "concat") {
    for (const Expr& part : expr.args) {
      TypeId type = type_of(part, binds);
      if (!types_.holds_sealed(type)) continue;
      report_.error(place(part), "sealed", shown(part, type) + ": what is made of it would show it", "leave it out");
    }
    return Types::of(Kind::string);
  }
  // `status(p)` is `p.status`.
  bool named =
      std::ranges::any_of(owner_.source->state, [&](const StateField& each) { return each.name == expr.name; });
  if (named && expr.args.size() == 1) return field_type(expr.args[0], binds, expr.name, name);
  std::vector<std::string> known = {"count", "now", "concat"};
  for (const StateField& each : owner_.source->state) known.push_back(each.name);
  report_.error(name, "unknown-function", "there is no function and no field " + quoted(expr.name),
                did_you_mean(expr.name, known));
  for (const Expr& arg : expr.args) type_of(arg, binds);
  return kUnknownType;
}

void ConditionTypes::compare(const Expr& expr, bool binds) {
  const Expr& left = meant(expr.args.at(0));
  const Expr& right = meant(expr.args.at(1));
  const Expr& right_as_written = expr.args[1];
  // Told at `place`, where `one` meets `other`. A text is shown as it is where a union is that it is none of.
  auto never = [&](std::string_view how, const Expr& place, const Expr& one, TypeId a, const Expr& other, TypeId b) {
    auto said = [&](const Expr& each, TypeId type, TypeId against) {
      bool of_union = types_[types_.present(against)].kind == Kind::literals;
      bool text = each.op == Op::literal && each.value.is_string();
      return text && of_union ? literal_text(each.value) : types_.name(type);
    };
    std::string hint = "compare values of one type";
    if (other.op == Op::literal && types_[types_.present(a)].kind == Kind::literals)
      hint = types_.literal_form(other.value, a);
    if (one.op == Op::literal && types_[types_.present(b)].kind == Kind::literals)
      hint = types_.literal_form(one.value, b);
    report_.error(this->place(place), "type-mismatch",
                  std::string(how) + ": one is " + said(one, a, b) + ", the other " + said(other, b, a), hint);
  };
  TypeId a = type_of(expr.args[0], binds);
  if (expr.op == Op::in || expr.op == Op::not_in) {
    if (right.op == Op::list || right.op == Op::record) {
      for (const Expr& each : right.args) {
        TypeId b = type_of(each, binds);
        const Expr& one = meant(each);
        if (compared(types_, left, a, one, b) == Fit::no) never("these are never equal", each, left, a, one, b);
      }
      return;
    }
    TypeId b = element_of(right_as_written, binds, "`in`");
    if (b != kUnknownType && compared(types_, left, a, right, b) == Fit::no)
      never("these are never equal", right_as_written, left, a, right, b);
    return;
  }
  TypeId b = type_of(right_as_written, binds);
  bool null = a == Types::of(Kind::null) || b == Types::of(Kind::null);  // what is not there is null
  bool ordered = expr.op != Op::equal && expr.op != Op::not_equal;
  if (!null && compared(types_, left, a, right, b) == Fit::no) {
    never(ordered ? "these have no order" : "these are never equal", right_as_written, left, a, right, b);
  } else if (ordered && (null || !types_.has_order(left.op == Op::literal ? b : a))) {
    report_.error(place(right_as_written), "type-mismatch", "values of type " + types_.name(a) + " have no order",
                  "compare with `=` or `!=`");
  }
}

TypeId ConditionTypes::type_of(const Expr& expr, bool binds) {
  if (const Expr& value = meant(expr); &value != &expr) return Types::of_literal(value.value);
  switch (expr.op) {
    case Op::literal:
      return Types::of_literal(expr.value);
    case Op::variable:
      return name_type(expr, binds);
    case Op::path: {
      At at = expr.at;
      at.column += width_of(expr) - static_cast<uint32_t>(expr.name.size());
      bool plain = expr.args.at(0).op == Op::variable || expr.args[0].op == Op::path;
      return field_type(expr.args[0], binds, expr.name,
                        plain ? Place{file_, at, expr.name.size()} : report_.word(file_, expr.at, expr.name));
    }
    case Op::list:
    case Op::record:
      return type_of_parts(
          types_, expr, [&](const Expr& part) { return type_of(part, binds); },
          [&](const Expr& first, TypeId one, const Expr& part, TypeId other) {
            report_.error(
                place(part), "type-mismatch",
                "the elements of a list are of one type, but " + shown(first, one) + ", " + shown(part, other),
                "write elements of one type");
          });
    case Op::call:
      return call(expr, binds);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::in:
    case Op::not_in:
      compare(expr, binds);
      return Types::of(Kind::boolean);
    case Op::all:
    case Op::any:
    case Op::negation:
      for (const Expr& part : expr.args) must_hold(part);
      return Types::of(Kind::boolean);
    case Op::forall:
    case Op::exists: {
      TypeId element = element_of(expr.args.at(0), binds, expr.op == Op::forall ? "forall" : "exists");
      auto shadowed = variables.find(expr.name);
      std::optional<TypeId> before = shadowed == variables.end() ? std::nullopt : std::optional(shadowed->second);
      variables[expr.name] = element;
      bool outermost = quantified_.insert(expr.name).second;
      for (size_t i = 1; i < expr.args.size(); ++i) must_hold(expr.args[i]);
      if (outermost) quantified_.erase(expr.name);
      variables.erase(expr.name);
      if (before) variables[expr.name] = *before;
      return Types::of(Kind::boolean);
    }
    case Op::fixture:
      return fixture(expr);
    case Op::wildcard:
    case Op::text:
      report_.error(place(expr), "bad-value", "this is no value: it only matches", "write a value, or a name");
      return kUnknownType;
  }
  return kUnknownType;
}

}  // namespace sluice::lang
