// A walk over the expression; depth is that of the parsed tree, which the parser bounds.
#include "lang/run/evaluate.h"

#include <algorithm>
#include <boost/json.hpp>
#include <compare>

namespace sluice::lang {
namespace {

using Op = Expr::Op;

bool is_number(const json::value& value) { return value.is_number(); }

std::partial_ordering compare(const json::value& left, const json::value& right) {
  if (left.is_int64() && right.is_int64()) return left.get_int64() <=> right.get_int64();
  if (is_number(left) && is_number(right)) return left.to_number<double>() <=> right.to_number<double>();
  if (left.is_string() && right.is_string()) {
    return std::string_view(left.get_string()) <=> std::string_view(right.get_string());
  }
  throw EvaluationError("cannot compare " + json::serialize(left) + " with " + json::serialize(right));
}

bool equal(const json::value& left, const json::value& right) {
  if (is_number(left) && is_number(right)) return compare(left, right) == std::partial_ordering::equivalent;
  return left == right;
}

// What a field of the whole is before it is first written; as in C++.
json::value unwritten(const Type& type) {
  if (type.kind != Type::Kind::primitive) return nullptr;
  if (type.name == "Int") return 0;
  if (type.name == "Float") return 0.0;
  if (type.name == "Bool") return false;
  return "";
}

bool contains(const json::value& all, const json::value& one) {
  if (!all.is_array()) throw EvaluationError(json::serialize(all) + " is not a list");
  return std::any_of(all.get_array().begin(), all.get_array().end(),
                     [&](const json::value& element) { return equal(element, one); });
}

}  // namespace

bool Evaluator::holds(const Expr& condition, const Variables& variables) const {
  json::value result = value(condition, variables);
  if (!result.is_bool()) throw EvaluationError("a condition is true or false, not " + json::serialize(result));
  return result.get_bool();
}

json::value Evaluator::value(const Expr& expr, const Variables& variables) const {
  auto arg = [&](size_t i) { return value(expr.args.at(i), variables); };
  auto each_holds = [&](const Expr& part) { return holds(part, variables); };
  switch (expr.op) {
    case Op::literal:
      return expr.value;
    case Op::variable: {
      auto found = variables.find(expr.name);
      return found == variables.end() ? state_field(expr.name) : found->second;
    }
    case Op::path:
      return field_of(arg(0), expr.name);
    case Op::list: {
      json::array list;
      for (size_t i = 0; i < expr.args.size(); i++) list.push_back(arg(i));
      return list;
    }
    case Op::record: {
      json::object record;
      for (size_t i = 0; i < expr.args.size(); i++) record[expr.keys.at(i)] = arg(i);
      return record;
    }
    case Op::call:
      return call(expr, variables);
    case Op::equal:
      return equal(arg(0), arg(1));
    case Op::not_equal:
      return !equal(arg(0), arg(1));
    case Op::less:
      return std::is_lt(compare(arg(0), arg(1)));
    case Op::less_equal:
      return std::is_lteq(compare(arg(0), arg(1)));
    case Op::greater:
      return std::is_gt(compare(arg(0), arg(1)));
    case Op::greater_equal:
      return std::is_gteq(compare(arg(0), arg(1)));
    case Op::in:
      return contains(arg(1), arg(0));
    case Op::not_in:
      return !contains(arg(1), arg(0));
    case Op::all:
      return std::all_of(expr.args.begin(), expr.args.end(), each_holds);
    case Op::any:
      return std::any_of(expr.args.begin(), expr.args.end(), each_holds);
    case Op::negation:
      return !holds(expr.args.at(0), variables);
    case Op::forall:
    case Op::exists:
      return quantified(expr, variables);
    case Op::wildcard:
    case Op::text:
    case Op::fixture:
      break;
  }
  throw EvaluationError("this expression has no value in an invariant");
}

bool Evaluator::quantified(const Expr& expr, const Variables& variables) const {
  json::value all = value(expr.args.at(0), variables);
  if (!all.is_array()) throw EvaluationError(json::serialize(all) + " is not a list");
  Variables inner = variables;
  for (const json::value& element : all.get_array()) {
    inner[expr.name] = element;
    if (expr.args.size() > 2 && !holds(expr.args[1], inner)) continue;
    if (holds(expr.args.back(), inner) != (expr.op == Op::forall)) return expr.op == Op::exists;
  }
  return expr.op == Op::forall;
}

json::value Evaluator::call(const Expr& expr, const Variables& variables) const {
  if (expr.name == "count" && expr.args.size() == 1) {
    json::value all = value(expr.args[0], variables);
    if (!all.is_array()) throw EvaluationError(json::serialize(all) + " is not a list");
    return static_cast<int64_t>(all.get_array().size());
  }
  if (expr.name == "now" && expr.args.empty()) return json::string(to_text(rows_.now()));
  if (expr.name == "concat") {
    json::string text;
    for (const Expr& part : expr.args) {
      json::value piece = value(part, variables);
      // As in a rule: text without its quotes, nothing for what is not there, all else as JSON.
      if (piece.is_null()) continue;
      text.append(piece.is_string() ? piece.get_string() : json::string(json::serialize(piece)));
    }
    return text;
  }
  // `status(p)` is `p.status`.
  if (expr.args.size() == 1) return field_of(value(expr.args[0], variables), expr.name);
  throw EvaluationError("unknown function " + expr.name);
}

json::array Evaluator::rows_with(const std::string& relation, const std::string& prefix) const {
  json::array values;
  for (Row& row : rows_.scan(relation, prefix, {}, SIZE_MAX)) values.push_back(std::move(row.value));
  return values;
}

json::value Evaluator::state_field(const std::string& name) const {
  for (const StateField& component : spec_.state) {
    if (component.name != name || component.type.kind != Type::Kind::set) continue;
    for (const Relation& relation : relations_) {
      if (relation.kind != Relation::Kind::rows || relation.domain != component.type.inner[0].name) continue;
      json::array keys;
      for (const Row& row : rows_.scan(relation.name, "", {}, SIZE_MAX)) keys.emplace_back(json::string(row.key));
      return keys;
    }
  }
  for (const Relation& relation : relations_) {
    if (relation.kind != Relation::Kind::rows) {
      if (relation.field == name) return rows_with(relation.name, "");
      continue;
    }
    for (const FieldDecl& field : relation.fields) {
      if (field.name != name) continue;
      json::array values;
      for (const json::value& row : rows_with(relation.name, "")) values.push_back(field_of(row, name));
      if (!relation.domain.empty()) return values;
      return values.empty() ? unwritten(field.type[0]) : values[0];
    }
  }
  throw EvaluationError("\"" + name + "\" is neither a variable nor a field of the state");
}

json::value Evaluator::field_of(const json::value& base, const std::string& name) const {
  if (base.is_object()) {
    const json::value* found = base.get_object().if_contains(name);
    return found ? *found : json::value();
  }
  if (!base.is_string()) throw EvaluationError(json::serialize(base) + " has no field \"" + name + "\"");
  std::string key(base.get_string());
  for (const Relation& relation : relations_) {
    if (relation.kind != Relation::Kind::rows && relation.field == name) {
      return rows_with(relation.name, child_key(key));
    }
    for (const FieldDecl& field : relation.fields) {
      if (relation.kind != Relation::Kind::rows || field.name != name) continue;
      auto row = rows_.get(relation.name, key);
      return row ? field_of(*row, name) : json::value();
    }
  }
  throw EvaluationError("the state has no field \"" + name + "\"");
}

}  // namespace sluice::lang
