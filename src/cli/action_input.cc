// Names and plain types are checked here, so that the error can speak of the command line; the rest is for the strict
// reader of the action's handler.
#include "cli/action_input.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "engine/caller_words.h"

namespace sluice::cli {
namespace {

using ShapeKind = lang::Shape::Kind;

bool is_optional(const lang::Types& types, lang::TypeId type) { return types[type].kind == ShapeKind::option; }

// What a value of the type must be in JSON; empty for text.
std::string_view wanted(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::integer:
      return "a whole number";
    case ShapeKind::floating:
      return "a number";
    case ShapeKind::boolean:
      return "true or false";
    case ShapeKind::list:
    case ShapeKind::set:
      return "a JSON list";
    case ShapeKind::record:
    case ShapeKind::mapping:
      return "a JSON object";
    default:
      return "";
  }
}

bool fits(ShapeKind kind, const json::value& value) {
  switch (kind) {
    case ShapeKind::integer:
      return value.is_int64();
    case ShapeKind::floating:
      return value.is_number();
    case ShapeKind::boolean:
      return value.is_bool();
    case ShapeKind::list:
    case ShapeKind::set:
      return value.is_array();
    case ShapeKind::record:
    case ShapeKind::mapping:
      return value.is_object();
    default:
      return value.is_string();
  }
}

// How a value of the type stands in a usage line.
std::string placeholder(const lang::Shape& shape) {
  if (shape.kind == ShapeKind::literals) {
    std::string text;
    for (const std::string& name : shape.names) text += (text.empty() ? "" : "|") + name;
    return text;
  }
  if (shape.kind == ShapeKind::boolean) return "true|false";
  if (shape.kind == ShapeKind::integer || shape.kind == ShapeKind::floating) return "NUMBER";
  return wanted(shape.kind).empty() ? "TEXT" : "JSON";
}

std::string next_for(const CalledAction& called) {
  std::string usage = called.usage();
  return called.command + " " + called.name() + (usage.empty() ? "" : " " + usage);
}

std::optional<Error> unknown_name(const CalledAction& called, std::string_view name) {
  std::vector<std::string> known;
  for (const lang::FieldSymbol& param : called.action().params) known.push_back(param.name);
  if (std::ranges::find(known, name) != known.end()) return std::nullopt;
  auto near = nearest(name, std::span<const std::string>(known));
  return Error{
      .code = Code::usage,
      .message = called.name() + " takes no " + printable(name) + (near ? "; did you mean " + *near + "?" : ""),
      .next = next_for(called)};
}

std::optional<Error> missing_names(const CalledAction& called, const json::object& input) {
  std::string missing;
  for (const lang::FieldSymbol& param : called.action().params) {
    if (input.contains(param.name) || is_optional(called.symbols.types, param.type)) continue;
    missing += (missing.empty() ? "" : ", ") + param.name;
  }
  if (missing.empty()) return std::nullopt;
  return Error{.code = Code::usage, .message = called.name() + " also needs " + missing, .next = next_for(called)};
}

// What is sealed everywhere else must not be where every program can read it.
Error on_command_line(const CalledAction& called, const std::string& name) {
  return {.code = Code::usage,
          .message = name +
                     " is a secret: a value on the command line can be read by every program, and stays in the "
                     "shell's history; nothing was changed",
          .next = "write the arguments into a file that only you can read: " + called.command + " " + called.name() +
                  " " + called.file_option + " FILE"};
}

}  // namespace

std::string CalledAction::usage() const {
  std::string text;
  for (const lang::FieldSymbol& param : action().params) {
    if (engine::is_filled_in(symbols, param)) continue;
    std::string one = param.name + "=" + placeholder(symbols.types[symbols.types.present(param.type)]);
    if (is_optional(symbols.types, param.type)) one = "[" + one + "]";
    text += (text.empty() ? "" : " ") + one;
  }
  return text;
}

Result<CalledAction> find_action(const lang::Symbols& symbols, std::string_view name) {
  std::vector<std::string> known;
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    if (symbols.concepts[c].built_in) continue;
    for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
      known.push_back(symbols.name({c, a}));
      if (known.back() == name) return CalledAction{symbols, {c, a}};
    }
  }
  auto near = nearest(name, std::span<const std::string>(known));
  return Error{.code = Code::not_found,
               .message = "the kit has no action " + printable(name) + (near ? "; did you mean " + *near + "?" : ""),
               .next = "sluice kit show"};
}

Result<json::value> typed_value(const lang::Types& types, const lang::FieldSymbol& field, const std::string& text) {
  ShapeKind kind = types[types.present(field.type)].kind;
  if (wanted(kind).empty()) return json::value(text);
  auto parsed = parse_json(text);
  if (parsed && fits(kind, parsed->root)) return std::move(parsed->root);
  return Error{.code = Code::usage,
               .message = field.name + " is " + std::string(wanted(kind)) + ", not '" +
                          truncate_to_width(printable(text), 60) + "'"};
}

Result<json::object> input_from_words(const CalledAction& called, std::span<const std::string> words, Whole whole) {
  json::object input;
  for (const std::string& word : words) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return Error{.code = Code::usage,
                   .message = "expected name=value, found '" + printable(word) + "'",
                   .next = next_for(called)};
    }
    std::string name = word.substr(0, equals);
    if (!valid_utf8(word)) {
      return Error{.code = Code::usage,
                   .message = "the value of '" + printable(name) + "' is not UTF-8: '" + printable(word) + "'",
                   .next = next_for(called)};
    }
    if (auto unknown = unknown_name(called, name)) return *unknown;
    if (input.contains(name)) {
      return Error{.code = Code::usage, .message = name + " is given twice", .next = next_for(called)};
    }
    const auto& params = called.action().params;
    const lang::FieldSymbol& param = *std::ranges::find(params, name, &lang::FieldSymbol::name);
    if (called.symbols.types[called.symbols.types.present(param.type)].kind == ShapeKind::sealed) {
      return on_command_line(called, name);
    }
    auto value = typed_value(called.symbols.types, param, word.substr(equals + 1));
    if (!value) {
      Error error = value.error();
      error.next = next_for(called);
      return error;
    }
    input[name] = *std::move(value);
  }
  if (whole == Whole::yes) {
    if (auto missing = missing_names(called, input)) return *missing;
  }
  return input;
}

Result<void> check_whole(const CalledAction& called, const json::object& input) {
  if (auto missing = missing_names(called, input)) return *missing;
  return {};
}

Result<json::object> input_from_text(const CalledAction& called, std::string_view text, const std::string& file) {
  auto parsed = parse_json(text, file);
  if (!parsed) return parsed.error();
  if (!parsed->root.is_object()) {
    return Error{.code = Code::invalid,
                 .message = "the input of " + called.name() + " is a JSON object with its arguments",
                 .next = next_for(called),
                 .position = parsed->position_of("")};
  }
  json::object& input = parsed->root.get_object();
  auto at_fault = [&](Error error, const std::string& pointer) {
    error.code = Code::invalid;
    error.position = parsed->position_of(pointer);
    return error;
  };
  for (const auto& member : input) {
    if (auto unknown = unknown_name(called, member.key())) {
      return at_fault(*unknown, "/" + std::string(member.key()));
    }
  }
  if (auto missing = missing_names(called, input)) return at_fault(*missing, "");
  for (const lang::FieldSymbol& param : called.action().params) {
    const json::value* value = input.if_contains(param.name);
    if (value == nullptr) continue;
    ShapeKind kind = called.symbols.types[called.symbols.types.present(param.type)].kind;
    if (fits(kind, *value)) continue;
    std::string_view is = wanted(kind);
    return at_fault({.message = param.name + " is " + (is.empty() ? "a text" : std::string(is)) + ", not " +
                                truncate_to_width(write(*value), 60),
                     .next = next_for(called)},
                    "/" + param.name);
  }
  return std::move(input);
}

}  // namespace sluice::cli
