// Both ways.
#include "host/problem.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "base/terminal.h"
#include "engine/rules/next_steps.h"

namespace sluice::host {
namespace {

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string next_in(const json::object& object) {
  const json::value* next = object.if_contains("next");
  if (next == nullptr || !next->is_array()) return text_in(object, "next");
  return next->get_array().empty() ? "" : engine::next_text(next->get_array()[0]);
}

uint32_t number_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return 0;
  return value->is_uint64() ? static_cast<uint32_t>(value->get_uint64())
                            : (value->is_int64() ? static_cast<uint32_t>(value->get_int64()) : 0);
}

}  // namespace

json::object problem(const Error& error) {
  json::object object{{"type", problem_type(error.code)},
                      {"title", std::string(entry(error.code).meaning)},
                      {"status", http_status(error.code)},
                      {"detail", printable(error.message, true)},
                      {"code", std::string(code_name(error.code))}};
  if (!error.next.empty()) object["next"] = printable(error.next, true);
  if (!error.path.empty()) object["path"] = printable(error.path);
  if (error.position) {
    json::object position;
    if (!error.position->file.empty()) position["file"] = printable(error.position->file);
    position["line"] = error.position->line;
    position["column"] = error.position->column;
    object["position"] = std::move(position);
  }
  return object;
}

Error error_in(const json::value& problem) {
  const json::object* object = problem.if_object();
  auto code = object != nullptr ? code_named(text_in(*object, "code")) : std::nullopt;
  if (!code || *code == Code::ok) {
    return {.code = Code::failed, .message = "the server said something unknown: " + write(problem).substr(0, 200)};
  }
  Error error{
      .code = *code, .message = text_in(*object, "detail"), .next = next_in(*object), .path = text_in(*object, "path")};
  const json::value* position = object->if_contains("position");
  if (position != nullptr && position->is_object()) {
    const json::object& at = position->get_object();
    error.position = Position{text_in(at, "file"), number_in(at, "line"), number_in(at, "column")};
  }
  return error;
}

}  // namespace sluice::host
