// Expressions of rules: what type they have, what may be given where, and what may be compared.
#include <algorithm>
#include <array>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;
using Op = Expr::Op;

struct Function {
  std::string_view name;
  size_t least, most;
  std::string_view usage;
};
constexpr size_t kAny = 1000;
constexpr std::array kFunctions = {
    Function{"uuid", 0, 0, "uuid()"}, Function{"now", 0, 0, "now()"}, Function{"concat", 1, kAny, "concat(a, b)"},
    Function{"cond", 3, 3, "cond(condition, then, else)"}, Function{"nameOf", 1, 1, "nameOf(x)"}};

bool is_null(const Expr& expr) { return expr.op == Op::literal && expr.value.is_null(); }

bool is_many(Kind kind) { return kind == Kind::list || kind == Kind::set; }

bool is_choice(const Expr& expr) { return expr.op == Op::call && expr.name == "cond" && expr.args.size() == 3; }

std::string shown(const Expr& expr, const std::string& type) {
  if (expr.op == Op::variable) return quoted("?" + expr.name) + " is " + type;
  if (expr.op == Op::literal) return literal_text(expr.value) + " is " + type;
  return "this is " + type;
}

}  // namespace

TypeId type_of_parts(Types& types, const Expr& expr, const std::function<TypeId(const Expr&)>& type_of,
                     const std::function<void(const Expr&, TypeId, const Expr&, TypeId)>& apart) {
  auto is_text = [](const Expr& part) { return part.op == Op::literal && part.value.is_string(); };
  if (expr.op == Op::record) {
    Shape shape{.kind = Kind::record, .names = expr.keys};
    for (const Expr& part : expr.args) {
      shape.inner.push_back(is_text(part) ? types.texts({std::string(part.value.get_string())}) : type_of(part));
    }
    return types.add(std::move(shape));
  }
  // All texts at once: a union that grows by one text at a time would cost the square of their number.
  std::vector<std::string> texts;
  for (const Expr& part : expr.args) {
    if (is_text(part)) texts.emplace_back(part.value.get_string());
  }
  TypeId all_texts = texts.empty() ? kUnknownType : types.texts(std::move(texts));
  const Expr* first = nullptr;
  TypeId element = kUnknownType;
  bool told = false;
  for (const Expr& part : expr.args) {
    TypeId type = is_text(part) ? all_texts : type_of(part);
    auto both = first == nullptr ? std::optional(type) : types.join(element, type);
    if (!both && !told) {
      auto plain = [&](const Expr& each, TypeId known) {
        return each.op == Op::literal ? Types::of_literal(each.value) : known;
      };
      apart(*first, plain(*first, element), part, plain(part, type));
      told = true;
    }
    if (first == nullptr) first = &part;
    element = both.value_or(kUnknownType);
  }
  return told ? kUnknownType : types.list_of(element);
}

Fit compared(const Types& types, const Expr& left, TypeId left_type, const Expr& right, TypeId right_type) {
  bool left_literal = left.op == Op::literal, right_literal = right.op == Op::literal;
  if (left_literal && !right_literal) return types.literal_compares(left.value, right_type);
  if (right_literal && !left_literal) return types.literal_compares(right.value, left_type);
  return types.comparable(left_type, right_type);
}

TypeId Rule::type_of(const Expr& expr, In in, TypeId wanted, std::string_view field) {
  switch (expr.op) {
    case Op::literal:
      return Types::of_literal(expr.value);
    case Op::variable:
      return variable(expr.name, place_of(file, expr), in, wanted, field);
    case Op::wildcard:
      report.error(place_of(file, expr), "bad-value", "`_` is no value: it only matches",
                   "write a value, or a variable that is bound");
      return kUnknownType;
    case Op::path:
      return path(expr, in);
    case Op::call:
      return call(expr, in);
    case Op::text:
      // A template may not show what is Sealed. In a hole a name has no `?`.
      for (const Expr& hole : expr.args) {
        const Expr* root = &hole;
        while (root->op == Op::path) root = &root->args[0];
        variable(root->name, {file, root->at, root->name.size()}, In::where, kUnknownType, {});
        if (hole.op == Op::path) type_of(hole, In::where);
      }
      return Types::of(Kind::string);
    case Op::list:
    case Op::record:
      once_each_key(expr);
      return type_of_parts(
          types, expr, [&](const Expr& part) { return type_of(part, in); },
          [&](const Expr& first, TypeId one, const Expr& part, TypeId other) {
            report.error(place_of(file, part), "type-mismatch",
                         "the elements of a list are of one type, but " + shown(first, types.name(one)) + ", " +
                             shown(part, types.name(other)),
                         "write elements of one type, or a record `{ name: … }`");
          });
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::in:
    case Op::not_in:
      compare(expr, in);
      return Types::of(Kind::boolean);
    case Op::all:
    case Op::any:
    case Op::negation:
      for (const Expr& part : expr.args) must_hold(part);
      return Types::of(Kind::boolean);
    case Op::forall:
    case Op::exists:
    case Op::fixture:
      report.error(place_of(file, expr), "bad-value", "this belongs to a concept's invariants, not to a rule",
                   "select rows in where, and compare their fields in `filter(…)`");
      return kUnknownType;
  }
  return kUnknownType;
}

TypeId Rule::variable(const std::string& name, const Place& place, In in, TypeId wanted, std::string_view field) {
  if (!is_bound(name)) {
    unbound(place, name, wanted, field);
    return kUnknownType;
  }
  TypeId type = variable_type(name);
  if (in == In::where && types.holds_sealed(type)) {
    report.error(place, "sealed", quoted("?" + name) + " is Sealed: no where, filter or template may use it",
                 "pass it on in then, as the whole value of an argument");
    return kUnknownType;
  }
  return type;
}

Place Rule::place_of_field(const Expr& path) const {
  const Expr& base = path.args[0];
  At after = base.at;
  if (base.op == Op::variable) after.column += static_cast<uint32_t>(base.name.size()) + 1;
  if (base.op == Op::path) {
    Place place = place_of_field(base);
    after = place.at;
    after.column += static_cast<uint32_t>(place.length);
  }
  return report.word(file, after, path.name);
}

TypeId Rule::path(const Expr& expr, In in) {
  if (expr.args.empty()) return kUnknownType;
  TypeId whole = type_of(expr.args[0], in);
  TypeId base = types.present(whole);
  // What is not there has no field either.
  if (auto field = types.field(base, expr.name)) return base == whole ? *field : types.option_of(types.present(*field));
  const Shape& shape = types[base];
  std::string hint = "use the value as it is, or take the field from a pattern or a row";
  if (shape.kind == Kind::parameter && expr.args[0].op == Op::variable) {
    hint = "bind it where the row is read: " +
           quoted(shape.owner + ": { ?" + expr.args[0].name + " " + expr.name + ": ?" + expr.name + " }");
  } else if (shape.kind == Kind::record) {
    hint = did_you_mean(expr.name, shape.names);
  }
  report.error(place_of_field(expr), "unknown-field",
               shown(expr.args[0], types.name(base)) + ", without a field " + quoted(expr.name), hint);
  return kUnknownType;
}

TypeId Rule::call(const Expr& expr, In in) {
  auto function = std::ranges::find(kFunctions, expr.name, &Function::name);
  if (function == kFunctions.end()) {
    std::vector<std::string> names;
    for (const Function& each : kFunctions) names.emplace_back(each.name);
    report.error({file, expr.at, expr.name.size()}, "unknown-function", "there is no function " + quoted(expr.name),
                 did_you_mean(expr.name, names));
    for (const Expr& arg : expr.args) type_of(arg, in);
    return kUnknownType;
  }
  if (expr.args.size() < function->least || expr.args.size() > function->most) {
    report.error({file, expr.at, expr.name.size()}, "unknown-function",
                 quoted(expr.name) + " takes " + std::to_string(function->least) + " arguments, not " +
                     std::to_string(expr.args.size()),
                 "write " + quoted(function->usage));
  }
  if (is_choice(expr)) return branches(expr, in);
  for (const Expr& arg : expr.args) type_of(arg, In::where);  // what is made of it would show what is Sealed
  if (expr.name == "now") return Types::of(Kind::date_time);
  return expr.name == "cond" ? kUnknownType : Types::of(Kind::string);
}

TypeId Rule::type_of_named(const Expr& expr, In in) {
  if (expr.op != Op::literal || !expr.value.is_string()) return type_of(expr, in);
  return types.texts({std::string(expr.value.get_string())});
}

// After `filter(?x != null)` there is an ?x.
void Rule::narrow(const Expr& condition) {
  if (condition.op == Op::all) {
    for (const Expr& part : condition.args) narrow(part);
  }
  if (condition.op != Op::not_equal || condition.args.size() != 2) return;
  const Expr& left = condition.args[0];
  const Expr& right = condition.args[1];
  const Expr& named = is_null(left) ? right : left;
  auto found = bound_.find(named.name);
  if (named.op != Op::variable || !(is_null(left) || is_null(right)) || found == bound_.end()) return;
  TypeId& type = variables[found->second.variable].type;
  type = types.present(type);
}

// The type of `cond(c, a, b)` where no type is wanted: one for which both may be given.
TypeId Rule::branches(const Expr& expr, In in) {
  must_hold(expr.args[0]);
  const Expr& first = expr.args[1];
  const Expr& second = expr.args[2];
  TypeId one = type_of(first, in);
  TypeId other = type_of(second, in);
  auto takes = [&](const Expr& to, TypeId type, const Expr& from) {
    return from.op == Op::literal && to.op != Op::literal && types.literal_fits(from.value, type) == Fit::yes;
  };
  if (takes(first, one, second)) return one;
  if (takes(second, other, first)) return other;
  if (auto both = types.join(type_of_named(first, in), type_of_named(second, in))) {
    if (types.comparable(one, other) == Fit::misaligned) {
      report.misaligned(place_of(file, second), "the branches of `cond` are of one type, but " +
                                                    shown(first, types.name(one)) + ", " +
                                                    shown(second, types.name(other)));
    }
    return *both;
  }
  report.error(place_of(file, second), "type-mismatch",
               "the branches of `cond` are of one type, but " + shown(first, types.name(one)) + ", " +
                   shown(second, types.name(other)),
               "give both the same type");
  return kUnknownType;
}

void Rule::must_hold(const Expr& expr) {
  TypeId type = type_of(expr, In::where);
  if (types.comparable(type, Types::of(Kind::boolean)) == Fit::no) {
    report.error(place_of(file, expr), "type-mismatch",
                 "a condition is true or false, but " + shown(expr, types.name(type)),
                 "compare it with a value: `… = …`");
  }
}

void Rule::compare(const Expr& expr, In in) {
  if (expr.args.size() < 2) return;
  const Expr& left = expr.args[0];
  const Expr& right = expr.args[1];
  bool membership = expr.op == Op::in || expr.op == Op::not_in;
  TypeId left_type = type_of(left, in);
  if (membership && (right.op == Op::list || right.op == Op::record)) {
    for (const Expr& each : right.args) {
      Expr pair{.at = each.at, .op = Op::equal, .args = {left, each}};
      compare(pair, in);
    }
    return;
  }
  TypeId right_type = type_of(right, in);
  if (membership) {
    Kind kind = types[types.present(right_type)].kind;
    if (kind != Kind::unknown && !is_many(kind)) {
      report.error(place_of(file, right), "type-mismatch",
                   "`in` needs a list or a set, but " + shown(right, types.name(right_type)),
                   "write `=` to compare with one value");
      return;
    }
    right_type = types.element(right_type);
  }
  Fit fit = compared(types, left, left_type, right, right_type);
  const Expr& place = left.op == Op::literal && right.op != Op::literal ? left : right;
  bool ordered = expr.op != Op::equal && expr.op != Op::not_equal && !membership;
  if (fit == Fit::no) {
    std::string hint = "compare values of one type";
    if (place.op == Op::literal) hint = types.literal_form(place.value, &place == &left ? right_type : left_type);
    if (is_null(place)) hint = "leave it out: what a pattern or a query has bound is there";
    report.error(place_of(file, place), "type-mismatch",
                 (ordered ? "these have no order: " : "these are never equal: ") + shown(left, types.name(left_type)) +
                     ", " + shown(right, types.name(right_type)),
                 hint);
    return;
  }
  if (fit == Fit::misaligned) {
    report.misaligned(place_of(file, place),
                      shown(left, types.name(left_type)) + ", " + shown(right, types.name(right_type)));
  }
  if (ordered && !types.has_order(left.op == Op::literal ? right_type : left_type)) {
    report.error(place_of(file, place), "type-mismatch", "values of type " + types.name(left_type) + " have no order",
                 "compare with `=` or `!=`");
  }
}

void Rule::give(const Expr& value, TypeId to, const std::string& what, std::string_view field) {
  const Shape& target = types[types.present(to)];
  if (value.op == Op::literal) {
    if (types.literal_fits(value.value, to) == Fit::yes) return;
    report.error(place_of(file, value), "type-mismatch",
                 what + " takes " + types.name(to) + ", not " + literal_text(value.value),
                 types.literal_form(value.value, to));
    return;
  }
  if (is_choice(value)) {
    must_hold(value.args[0]);
    give(value.args[1], to, what, field);
    give(value.args[2], to, what, field);
    return;
  }
  if (value.op == Op::list) {
    if (target.kind != Kind::unknown && !is_many(target.kind)) {
      report.error(place_of(file, value), "list-for-scalar", what + " takes " + types.name(to) + ", not a list",
                   "write one value, without the brackets");
      return;
    }
    for (const Expr& part : value.args) give(part, types.element(to), "an element of " + what, field);
    return;
  }
  if (value.op == Op::record) {
    once_each_key(value);
    if (target.kind == Kind::unknown) {
      for (const Expr& part : value.args) type_of(part, In::then);
      return;
    }
    if (target.kind != Kind::record) {
      report.error(place_of(file, value), "type-mismatch", what + " takes " + types.name(to) + ", not a record",
                   "write a value of type " + types.name(to));
      return;
    }
    std::vector<std::string> unknown;
    for (size_t i = 0; i < value.keys.size(); ++i) {
      auto inner = types.field(to, value.keys[i]);
      if (!inner) unknown.push_back(value.keys[i]);
      if (!inner) {
        report.error(place_of(file, value.args[i]), "unknown-field",
                     what + " is " + types.name(to) + ", without a field " + quoted(value.keys[i]),
                     did_you_mean(value.keys[i], target.names));
      }
      give(value.args[i], inner.value_or(kUnknownType), quoted(value.keys[i]) + " of " + what, value.keys[i]);
    }
    std::vector<std::string> missing;
    for (size_t i = 0; i < target.names.size(); ++i) {
      bool given = std::ranges::find(value.keys, target.names[i]) != value.keys.end();
      if (!given && types[target.inner[i]].kind != Kind::option) missing.push_back(target.names[i]);
    }
    for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
      report.error(place_of(file, value), "missing-argument", what + " lacks its field " + quoted(name),
                   "add " + quoted(name + ": …"));
    }
    return;
  }
  TypeId type = type_of(value, In::then, to, field);
  bool only_option = types[type].kind == Kind::option && types.assignable(types.present(type), to) != Fit::no;
  switch (types.assignable(type, to)) {
    case Fit::yes:
      return;
    case Fit::misaligned:
      report.misaligned(place_of(file, value),
                        shown(value, types.name(type)) + ", but " + what + " takes " + types.name(types.present(to)));
      return;
    case Fit::no:
      if (is_many(types[type].kind) && !is_many(target.kind)) {
        std::string element =
            types[types.element(type)].kind == Kind::record ? types[types.element(type)].names[0] : "value";
        report.error(place_of(file, value), "list-for-scalar",
                     label + ": " + shown(value, types.name(type)) + ", but " + what + " takes one " + types.name(to),
                     value.op == Op::variable ? "take it apart in where: " + quoted("each(?" + value.name + " as { " +
                                                                                    element + ": ?" + element + " })")
                                              : "give one value");
        return;
      }
      report.error(place_of(file, value), "type-mismatch",
                   shown(value, types.name(type)) + ", but " + what + " takes " + types.name(to),
                   only_option ? "name it with `bind(… as ?x)` and keep it with `filter(?x != null)` in where"
                               : "give it a value of type " + types.name(to));
  }
}

}  // namespace sluice::lang
