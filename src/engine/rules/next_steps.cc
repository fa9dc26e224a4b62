// Compiled once a kit; a variant without next steps costs one look at an empty list.
#include "engine/rules/next_steps.h"

#include <algorithm>
#include <boost/json.hpp>

#include "engine/journal/value.h"

namespace sluice::engine {
namespace {

// The names that an expression reads, each once.
void gather_names(const lang::Expr& expr, std::vector<std::string>& names) {
  if (expr.op == lang::Expr::Op::variable && std::ranges::find(names, expr.name) == names.end()) {
    names.push_back(expr.name);
  }
  for (const lang::Expr& part : expr.args) gather_names(part, names);
}

}  // namespace

std::vector<CompiledNext> compile_next(const std::vector<lang::Next>& source, Slots& slots) {
  std::vector<CompiledNext> steps;
  for (const lang::Next& each : source) {
    CompiledNext next{.view = each.view.text, .arguments = compile_arguments(each.arguments, slots)};
    if (!each.action.text.empty()) next.action = each.concept_.text + "/" + each.action.text;
    if (each.text) next.text.emplace(*each.text, slots);
    if (each.condition) next.condition.emplace(*each.condition, slots);
    steps.push_back(std::move(next));
  }
  return steps;
}

json::array next_steps(const std::vector<CompiledNext>& steps, const Bindings& bindings, const Moment& moment) {
  json::array found;
  for (const CompiledNext& each : steps) {
    if (each.condition && !each.condition->holds(bindings, moment)) continue;
    if (each.text) {
      found.push_back(json::object{{"text", text_of(each.text->evaluate(bindings, moment))}});
      continue;
    }
    json::object input = evaluate(each.arguments, bindings, moment);
    json::object step;
    if (!each.action.empty()) step["action"] = each.action;
    if (!each.view.empty()) step["view"] = each.view;
    if (!each.action.empty() || !input.empty()) step["input"] = std::move(input);
    found.push_back(std::move(step));
  }
  return found;
}

NextSteps::NextSteps(const lang::CheckedKit& kit) {
  for (const lang::ConceptSymbol& owner : kit.symbols().concepts) {
    auto& actions = variants_.emplace_back();
    for (const lang::ActionSymbol& action : owner.actions) {
      auto& variants = actions.emplace_back();
      for (const lang::Variant& variant : action.source->variants) {
        OfVariant& one = variants.emplace_back();
        for (const lang::Next& next : variant.next) {
          for (const lang::Argument& each : next.arguments) gather_names(each.value, one.names);
          if (next.text) gather_names(*next.text, one.names);
          if (next.condition) gather_names(*next.condition, one.names);
        }
        Slots slots;
        for (const std::string& name : one.names) slots.slot(name);
        one.steps = compile_next(variant.next, slots);
      }
    }
  }
}

json::array NextSteps::of(lang::ActionRef action, size_t variant, const json::object& input, const json::object& fields,
                          int64_t now_ms) const {
  const OfVariant& one = variants_[action.concept_][action.action][variant];
  if (one.steps.empty()) return {};
  Bindings bindings;
  for (const std::string& name : one.names) {
    const json::value* value = member(fields, name);
    if (value == nullptr) value = member(input, name);
    bindings.push_back(value == nullptr ? Value(json::value()) : Value(*value));
  }
  return next_steps(one.steps, bindings, {now_ms, id_source(now_ms, "next")});
}

std::string next_text(const json::value& step) {
  const json::object* object = step.if_object();
  if (object == nullptr) return "";
  auto text = [&](const char* name) {
    const json::value* value = object->if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  };
  if (std::string sentence = text("text"); !sentence.empty()) return sentence;
  std::string words = text("action").empty() ? "view " + text("view") : text("action");
  const json::value* input = object->if_contains("input");
  if (input == nullptr || !input->is_object()) return words;
  for (const auto& [name, value] : input->get_object()) {
    words += " " + std::string(name) + "=" + text_of(value);
  }
  return words;
}

std::optional<json::object> read_next_text(std::string_view text) {
  auto word = [&text] {
    const size_t end = std::min(text.find(' '), text.size());
    std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
  };
  auto is_name = [](std::string_view name, std::string_view more) {
    return !name.empty() && std::ranges::all_of(name, [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string_view::npos;
    });
  };
  json::object step;
  std::string_view first = word();
  const size_t slash = first.find('/');
  if (first == "view") {
    first = word();
    if (!is_name(first, "-./")) return std::nullopt;
    step["view"] = first;
  } else {
    if (slash == std::string_view::npos || !is_name(first.substr(0, slash), "") ||
        !is_name(first.substr(slash + 1), "") || std::isupper(static_cast<unsigned char>(first[0])) == 0) {
      return std::nullopt;
    }
    step["action"] = first;
  }
  json::object input;
  while (!text.empty()) {
    std::string_view argument = word();
    const size_t equals = argument.find('=');
    if (equals == std::string_view::npos || !is_name(argument.substr(0, equals), "")) return std::nullopt;
    input[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  if (!input.empty()) step["input"] = std::move(input);
  return step;
}

}  // namespace sluice::engine
