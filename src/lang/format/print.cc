// One text for each meaning: what parses equal prints equal.
#include "lang/format/print.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>

#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

using Op = Expr::Op;

bool is_name(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text[0]) || text.size() > kMaxIdentifier) return false;
  return std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string print_literal(const json::value& value) {
  if (value.is_string()) return quote(value.as_string());
  if (!value.is_double()) return json::serialize(value);
  std::array<char, 32> digits;
  auto [end, fault] = std::to_chars(digits.data(), digits.data() + digits.size(), value.as_double());
  std::string text(digits.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// A plain part of a template, before a hole: its last brace must not join those of the hole.
std::string print_part(std::string_view part, bool before_hole) {
  std::string quoted = quote(part);
  std::string inner = quoted.substr(1, quoted.size() - 2);
  if (before_hole && part.ends_with('{')) inner.insert(inner.size() - 1, 1, '\\');
  return inner;
}

std::string print_path(const Expr& expr) {
  return expr.op == Op::path ? print_path(expr.args[0]) + "." + expr.name : expr.name;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += std::string(separator) + kSoftBreak;
    text += item;
  }
  return text;
}

std::string enclose(std::string_view open, const std::string& items, std::string_view close) {
  if (items.empty()) return std::string(open) + std::string(close);
  return std::string(open) + " " + items + " " + std::string(close);
}

bool is_quantifier(const Expr& expr) { return expr.op == Op::forall || expr.op == Op::exists; }

std::string_view comparison_sign(Op op) {
  switch (op) {
    case Op::equal:
      return " = ";
    case Op::not_equal:
      return " != ";
    case Op::less:
      return " < ";
    case Op::less_equal:
      return " <= ";
    case Op::greater:
      return " > ";
    case Op::greater_equal:
      return " >= ";
    case Op::in:
      return " in ";
    case Op::not_in:
      return " not in ";
    default:
      return "";
  }
}

// An operand of `and`, `or` or `not`: what could swallow what follows stands in parentheses.
std::string print_operand(const Expr& expr, Dialect dialect) {
  bool loose = expr.op == Op::all || expr.op == Op::any || is_quantifier(expr);
  std::string text = print_condition(expr, dialect);
  return loose ? "(" + text + ")" : text;
}

std::string print_record(const Expr& expr, Dialect dialect) {
  std::vector<std::string> items;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const std::string& key = expr.keys[i];
    items.push_back((is_name(key) ? key : quote(key)) + ": " + print_value(expr.args[i], dialect));
  }
  return enclose("{", join(items, ","), "}");
}

std::string print_match(const Expr& match) {
  if (match.op == Op::variable) return "?" + match.name + (match.maybe ? "?" : "");
  if (match.op != Op::record) return print_value(match, Dialect::sync);
  std::vector<std::string> items;
  for (size_t i = 0; i < match.args.size(); ++i) items.push_back(match.keys[i] + ": " + print_match(match.args[i]));
  return enclose("{", join(items, ","), "}");
}

std::string print_fields(const std::vector<FieldPattern>& fields, std::string_view separator) {
  std::vector<std::string> items;
  for (const auto& field : fields) {
    items.push_back(field.field + ": " + print_match(field.match) + (field.as ? " as ?" + field.as->text : ""));
  }
  return join(items, separator);
}

std::string print_names(const std::vector<Name>& names, std::string_view separator) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : std::string(separator)) + name.text;
  return text;
}

}  // namespace

std::string print(const Type& type) {
  switch (type.kind) {
    case Type::Kind::set:
      return "set " + print(type.inner[0]);
    case Type::Kind::list:
      return "list " + print(type.inner[0]);
    case Type::Kind::option:
      return "option " + print(type.inner[0]);
    case Type::Kind::mapping:
      return print(type.inner[0]) + " -> " + print(type.inner[1]);
    case Type::Kind::record:
      return "{ " + print(type.fields) + " }";
    case Type::Kind::names:
    case Type::Kind::literals: {
      std::string text;
      for (const auto& literal : type.literals) {
        if (!text.empty()) text += std::string(" |") + kSoftBreak;
        text += type.kind == Type::Kind::names ? literal : quote(literal);
      }
      return type.kind == Type::Kind::names ? "{ " + text + " }" : text;
    }
    default:
      return type.name;
  }
}

std::string print(const std::vector<FieldDecl>& fields) {
  std::vector<std::string> items;
  for (const auto& field : fields) items.push_back(field.name + ": " + print(field.type[0]));
  return join(items, ",");
}

std::string print_value(const Expr& expr, Dialect dialect) {
  std::string sign = dialect == Dialect::sync ? "?" : "";
  switch (expr.op) {
    case Op::literal:
      return print_literal(expr.value);
    case Op::variable:
    case Op::path:
      return sign + print_path(expr);
    case Op::wildcard:
      return "_";
    case Op::record:
      return print_record(expr, dialect);
    case Op::fixture:
      return "$" + expr.name + "." + expr.keys[0];
    case Op::list:
    case Op::call: {
      std::vector<std::string> items;
      for (const auto& arg : expr.args) {
        items.push_back(expr.op == Op::call ? print_condition(arg, dialect) : print_value(arg, dialect));
      }
      return expr.op == Op::call ? expr.name + "(" + join(items, ",") + ")" : "[" + join(items, ",") + "]";
    }
    case Op::text: {
      std::string text = "\"";
      for (size_t i = 0; i < expr.parts.size(); ++i) {
        text += print_part(expr.parts[i], i < expr.args.size());
        if (i < expr.args.size()) text += "{{" + print_path(expr.args[i]) + "}}";
      }
      return text + "\"";
    }
    default:
      return "(" + print_condition(expr, dialect) + ")";
  }
}

std::string print_condition(const Expr& expr, Dialect dialect) {
  switch (expr.op) {
    case Op::all:
    case Op::any: {
      std::string text;
      for (const auto& arg : expr.args) {
        if (!text.empty()) text += kSoftBreak + std::string(expr.op == Op::all ? "and " : "or ");
        // `and` binds closer than `or`, so it needs no parentheses beneath it.
        bool closer = expr.op == Op::any && arg.op == Op::all;
        text += closer ? print_condition(arg, dialect) : print_operand(arg, dialect);
      }
      return text;
    }
    case Op::negation:
      return "not " + print_operand(expr.args[0], dialect);
    case Op::forall:
    case Op::exists: {
      std::string text = expr.op == Op::forall ? "forall " : "exists ";
      text += (dialect == Dialect::sync ? "?" : "") + expr.name + " in " + print_value(expr.args[0], dialect);
      if (expr.args.size() == 3) {
        const Expr& where = expr.args[1];
        text += " where " + (is_quantifier(where) ? print_operand(where, dialect) : print_condition(where, dialect));
      }
      return text + ":" + kSoftBreak + print_condition(expr.args.back(), dialect);
    }
    default:
      if (std::string_view sign = comparison_sign(expr.op); !sign.empty()) {
        return print_value(expr.args[0], dialect) + std::string(sign) + print_value(expr.args[1], dialect);
      }
      return print_value(expr, dialect);
  }
}

std::string print_step_condition(const Expr& expr) {
  const Expr* first = &expr;
  while (!comparison_sign(first->op).empty()) first = &first->args[0];
  std::string text = print_operand(expr, Dialect::invariant);
  // A call at the beginning would read as a step.
  return first->op == Op::call ? "(" + text + ")" : text;
}

std::string print(const std::vector<Argument>& arguments, Dialect dialect, std::string_view open,
                  std::string_view separator, std::string_view close) {
  std::vector<std::string> items;
  for (const auto& argument : arguments) items.push_back(argument.name + ": " + print_value(argument.value, dialect));
  if (open == "(") return "(" + join(items, separator) + ")";
  return enclose(open, join(items, separator), close);
}

std::string print(const Pattern& pattern, bool with_outcome) {
  std::string text = pattern.link == Pattern::Link::caused_by ? "caused by "
                     : pattern.link == Pattern::Link::latest  ? "latest "
                                                              : "";
  text +=
      pattern.concept_.text + "/" + pattern.action_text() + ": " + enclose("[", print_fields(pattern.input, ";"), "]");
  if (!with_outcome) return text;
  text += kStrongBreak + std::string("=> ");
  if (pattern.outcome == Pattern::Outcome::requested) {
    text += "requested";
  } else {
    if (pattern.outcome == Pattern::Outcome::engine) text += "engine.";
    if (pattern.outcome != Pattern::Outcome::any) text += pattern.variant_text();
    text += enclose("[", print_fields(pattern.output, ";"), "]");
  }
  if (pattern.as) text += " as ?" + pattern.as->text;
  return text;
}

std::string print(const Query& query) {
  std::string text = query.concept_.text + (query.relation ? "." + query.relation->text : "") + ": ";
  std::string fields = print_fields(query.fields, ";");
  if (query.key) fields = "?" + query.key->text + (fields.empty() ? "" : kSoftBreak + fields);
  return text + enclose("{", fields, "}");
}

std::string print(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::query:
      return print(condition.query);
    case Condition::Kind::no:
      return "no " + print(condition.query);
    case Condition::Kind::bind:
      return "bind(" + print_value(condition.exprs[0], Dialect::sync) + " as ?" + condition.name + ")";
    case Condition::Kind::each:
      return "each(" + print_value(condition.exprs[0], Dialect::sync) + " as " +
             enclose("{", print_fields(condition.fields, ","), "}") + ")";
    default: {
      std::vector<std::string> items;
      for (const auto& expr : condition.exprs) items.push_back(print_condition(expr, Dialect::sync));
      return (condition.kind == Condition::Kind::any ? "any(" : "filter(") + join(items, ";") + ")";
    }
  }
}

std::string print(const Effect& effect) {
  std::string arguments = print(effect.arguments, Dialect::sync, "[", ";", "]");
  if (effect.kind == Effect::Kind::answer) {
    return "answer ?" + effect.request->text + " => " + effect.variant.text + arguments;
  }
  std::string target = effect.concept_.text;
  if (!effect.candidates.empty()) target += " in {" + print_names(effect.candidates, ", ") + "}";
  return target + "/" + effect.action.text + ": " + arguments;
}

std::string print(const Step& step) {
  if (step.condition) return print_step_condition(*step.condition);
  std::string text = step.concept_.empty() ? step.action : step.concept_ + "/" + step.action;
  text += print(step.input, Dialect::invariant, "(", ",", ")") + " -> " + step.variant;
  return step.output.empty() ? text : text + print(step.output, Dialect::invariant, "(", ",", ")");
}

std::string print(const Next& next, Dialect dialect) {
  std::string text = "next: ";
  if (next.text) {
    text += print_value(*next.text, dialect);
  } else {
    text += next.view.text.empty() ? next.concept_.text + "/" + next.action.text : "view " + quote(next.view.text);
    if (!next.arguments.empty()) text += " " + print(next.arguments, dialect, "[", ";", "]");
  }
  return next.condition ? text + kSoftBreak + "if " + print_condition(*next.condition, dialect) : text;
}

std::string print(const ProvidedVariant& mapping) {
  std::string text = mapping.from.empty() ? "else" : print_names(mapping.from, ", ");
  if (!mapping.to) return text;
  text += " -> " + mapping.to->text;
  return mapping.fields.empty() ? text : text + print(mapping.fields, Dialect::field, "[", ";", "]");
}

std::string print(const Fixture& fixture) {
  std::string text = "fixture " + fixture.name + " " + print(fixture.input, Dialect::fixture, "{", ",", "}");
  if (!fixture.after.empty()) text += " after " + print_names(fixture.after, ", ");
  return fixture.variant == "ok" ? text : text + " -> " + fixture.variant;
}

}  // namespace sluice::lang
