// Texts are taken apart once; values are put together without looking at what was put in.
#include "render/component/scope.h"

#include <algorithm>

namespace sluice::component {
namespace {

Error refuse(std::string message, std::string path = "") {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

std::string pointer_member(const std::string& pointer, std::string_view name) {
  std::string text;
  text.reserve(pointer.size() + 1 + name.size());
  text.append(pointer).push_back('/');
  for (const char each : name) {
    if (each == '~' || each == '/') {
      text += each == '~' ? "~0" : "~1";
    } else {
      text += each;
    }
  }
  return text;
}

bool has_expression(std::string_view text) { return text.find("${") != std::string_view::npos; }

// Where the expression that begins behind `${` at `begin` ends: at its brace, beyond those within it and in quotes.
// npos if it does not end; `nested` if another one begins within it.
size_t end_of(std::string_view text, size_t begin, bool& nested) {
  int depth = 0;
  char quote = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    const char each = text[at];
    if (quote) {
      if (each == '\\') {
        ++at;
      } else if (each == quote) {
        quote = 0;
      }
      continue;
    }
    if (each == '"' || each == '\'') quote = each;
    if (each == '$' && at + 1 < text.size() && text[at + 1] == '{') nested = true;
    if (each == '{') ++depth;
    if (each == '}' && depth-- == 0) return at;
  }
  return std::string_view::npos;
}

struct Part {
  std::string_view text;
  bool expression = false;
};

Result<std::vector<Part>> parts_of(std::string_view text) {
  std::vector<Part> parts;
  size_t literal = 0;
  for (size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at)) {
    bool nested = false;
    const size_t end = end_of(text, at + 2, nested);
    if (end == std::string_view::npos) break;  // no expression: it stays as it is
    if (nested) return refuse("an expression ${…} stands within another one; write its text without ${ and }");
    if (at > literal) parts.push_back({text.substr(literal, at - literal)});
    parts.push_back({text.substr(at + 2, end - at - 2), true});
    literal = at = end + 1;
  }
  if (literal < text.size()) parts.push_back({text.substr(literal)});
  return parts;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\n\r").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\n\r").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

Result<std::string> inserted_text(const cel::Value& value) {
  switch (value.kind) {
    case cel::Kind::string:
      return std::string(value.text);
    case cel::Kind::integer:
      return std::to_string(value.integer);
    case cel::Kind::unsigned_integer:
      return std::to_string(value.unsigned_integer);
    case cel::Kind::real:
      return cel::text_of(value.real);
    case cel::Kind::boolean:
      return std::string(value.boolean ? "true" : "false");
    default: {
      auto made = cel::to_json(value);
      if (!made) return made.error();
      return made->is_string() ? std::string(made->as_string()) : json::serialize(*made);
    }
  }
}

}  // namespace

Scope::Scope(const Scope& outer, int) : environment_(outer.zones_), zones_(outer.zones_) {
  for (size_t index = 0; index < outer.values_.size(); ++index) {
    set(outer.declared_[index].first, outer.values_[index], outer.declared_[index].second);
  }
}

void Scope::set(const std::string& name, const json::value& value, const cel::Type* type) {
  set(name, cel::from_json(value, arena_), type);
}

void Scope::set(const std::string& name, const cel::Value& value, const cel::Type* type) {
  environment_.declare(name, type);
  declared_.emplace_back(name, type);
  values_.push_back(value);
}

Result<const cel::Program*> Scope::program(std::string_view expression) {
  auto& known = programs_[std::string(expression)];
  if (!known) {
    auto compiled = cel::compile(expression, environment_);
    if (!compiled) {
      auto error = compiled.error();
      error.message = "${" + std::string(trimmed(expression)) + "}: " + error.message;
      error.position.reset();
      return error;
    }
    known = std::make_unique<cel::Program>(std::move(*compiled));
  }
  return known.get();
}

Result<cel::Value> Scope::run(const cel::Program& program) {
  const auto value = program.run(values_, arena_);
  if (value.failed())
    return refuse("${" + std::string(trimmed(program.text())) + "}: " + std::string(value.fault->text));
  return value;
}

Result<const cel::Program*> Scope::only_program(std::string_view text) {
  auto parts = parts_of(trimmed(text));
  if (!parts) return parts.error();
  if (parts->size() != 1 || !parts->front().expression)
    return refuse("expected one expression, ${…}, and nothing beside it");
  return program(parts->front().text);
}

Result<cel::Value> Scope::value_of(std::string_view text, bool& traced) {
  traced = false;
  if (!has_expression(text)) return arena_.string(std::string(text));
  auto parts = parts_of(text);
  if (!parts) return parts.error();
  const bool has_spaces = trimmed(text).size() < text.size();
  const auto whole = has_spaces ? parts_of(trimmed(text)) : parts;
  if (whole->size() == 1 && whole->front().expression) {
    traced = true;
    auto compiled = program(whole->front().text);
    if (!compiled) return compiled.error();
    return run(**compiled);
  }
  std::string made;
  for (const auto& part : *parts) {
    if (!part.expression) {
      made += part.text;
      continue;
    }
    traced = true;
    auto compiled = program(part.text);
    if (!compiled) return compiled.error();
    auto value = run(**compiled);
    if (!value) return value;
    if (value->is(cel::Kind::omitted)) return refuse("oc_omit() stands for a whole value, not for a part of a text");
    auto put = inserted_text(*value);
    if (!put) return put.error();
    made += *put;
  }
  return arena_.string(made);
}

Result<std::string> Scope::text(std::string_view text) {
  bool traced = false;
  auto value = value_of(text, traced);
  if (!value) return value.error();
  return inserted_text(*value);
}

Result<bool> Scope::holds(std::string_view text) {
  auto compiled = only_program(text);
  if (!compiled) return compiled.error();
  auto value = run(**compiled);
  if (!value) return value.error();
  if (!value->is(cel::Kind::boolean)) {
    return refuse(std::string(text) + " must give a bool, and gives " + std::string(cel::name_of(value->kind)));
  }
  return value->boolean;
}

Result<std::vector<Scope::Turn>> Scope::turns(std::string_view text) {
  auto compiled = only_program(text);
  if (!compiled) return compiled.error();
  auto value = run(**compiled);
  if (!value) return value.error();
  const auto& type = (*compiled)->type();
  std::vector<Turn> all;
  if (value->is(cel::Kind::list)) {
    const auto* item = type.kind == cel::TypeKind::list ? type.inner[0] : types().dynamic();
    for (const auto& each : value->list->items) all.push_back({each, item});
    return all;
  }
  if (!value->is(cel::Kind::map)) {
    return refuse(std::string(text) + " must give a list or a map, and gives " +
                  std::string(cel::name_of(value->kind)));
  }
  std::vector<cel::Entry> entries(value->map->entries.begin(), value->map->entries.end());
  std::sort(entries.begin(), entries.end(), [](const cel::Entry& left, const cel::Entry& right) {
    return cel::compare(left.key, right.key).value_or(0) < 0;
  });
  for (const auto& entry : entries) {
    all.push_back({arena_.map({{cel::Value::string("key"), entry.key}, {cel::Value::string("value"), entry.value}}),
                   types().dynamic()});
  }
  return all;
}

Result<json::value> Scope::fill(const json::value& template_, const Trace& trace) {
  json::value made;
  auto kept = fill(template_, "", "", made, trace);
  if (!kept) return kept.error();
  if (!*kept) return refuse("oc_omit() leaves nothing here");
  return made;
}

// False: the value is left out.
Result<bool> Scope::fill(const json::value& template_, const std::string& from, const std::string& to,
                         json::value& made, const Trace& trace) {
  const auto located = [&](Error error, const std::string& place) {
    if (error.path.empty()) error.path = place;
    return error;
  };
  if (const auto* object = template_.if_object()) {
    json::object filled;
    for (const auto& [key, inner] : *object) {
      const auto inner_from = pointer_member(from, key);
      json::value value;
      if (!has_expression(key)) {
        auto kept = fill(inner, inner_from, pointer_member(to, key), value, trace);
        if (!kept) return kept;
        if (*kept) filled[key] = std::move(value);
        continue;
      }
      bool traced = false;
      auto name = value_of(key, traced);
      if (!name) return located(name.error(), inner_from);
      if (name->is(cel::Kind::omitted)) continue;
      if (!name->is(cel::Kind::string)) {
        return refuse(
            "the key " + std::string(key) + " must give a string, and gives " + std::string(cel::name_of(name->kind)),
            inner_from);
      }
      auto kept = fill(inner, inner_from, pointer_member(to, name->text), value, trace);
      if (!kept) return kept;
      if (*kept) filled[name->text] = std::move(value);
    }
    made = std::move(filled);
    return true;
  }
  if (const auto* items = template_.if_array()) {
    json::array filled;
    for (size_t index = 0; index < items->size(); ++index) {
      json::value value;
      auto kept = fill((*items)[index], from + "/" + std::to_string(index), to + "/" + std::to_string(filled.size()),
                       value, trace);
      if (!kept) return kept;
      if (*kept) filled.push_back(std::move(value));
    }
    made = std::move(filled);
    return true;
  }
  if (const auto* text = template_.if_string(); text != nullptr && has_expression(*text)) {
    bool traced = false;
    auto value = value_of(*text, traced);
    if (!value) return located(value.error(), from);
    if (value->is(cel::Kind::omitted)) return false;
    auto converted = cel::to_json(*value);
    if (!converted) return located(converted.error(), from);
    if (traced && trace) trace(from, to, *text);
    made = std::move(*converted);
    return true;
  }
  made = template_;
  return true;
}

// ------------------------------------------------------------------------------------------------------------ check

void Scope::check(const json::value& template_, const std::function<void(Error)>& fault) {
  check(template_, "", fault);
}

void Scope::check(const json::value& template_, const std::string& at, const std::function<void(Error)>& fault) {
  if (const auto* object = template_.if_object()) {
    for (const auto& [key, inner] : *object) {
      check_text(key, true, pointer_member(at, key), fault);
      check(inner, pointer_member(at, key), fault);
    }
  } else if (const auto* items = template_.if_array()) {
    for (size_t index = 0; index < items->size(); ++index) {
      check((*items)[index], at + "/" + std::to_string(index), fault);
    }
  } else if (const auto* text = template_.if_string()) {
    check_text(*text, false, at, fault);
  }
}

void Scope::check_text(std::string_view text, bool is_key, const std::string& at,
                       const std::function<void(Error)>& fault) {
  const auto located = [&](Error error) {
    error.path = at;
    fault(std::move(error));
  };
  auto parts = parts_of(text);
  if (!parts) return located(parts.error());
  const auto whole = parts_of(trimmed(text));
  for (const auto& part : *parts) {
    if (!part.expression) continue;
    auto compiled = program(part.text);
    if (!compiled) {
      located(compiled.error());
      continue;
    }
    const auto kind = (*compiled)->type().kind;
    const bool stands_alone = whole->size() == 1;
    if (is_key && stands_alone && kind != cel::TypeKind::string && kind != cel::TypeKind::dynamic) {
      located(refuse("the key " + std::string(text) + " must give a string, and gives " +
                     cel::to_string((*compiled)->type())));
    }
  }
}

Result<const cel::Type*> Scope::type_of(std::string_view text) {
  auto compiled = only_program(text);
  if (!compiled) return compiled.error();
  return &(*compiled)->type();
}

const cel::Type* Scope::type_of_turn(const cel::Type& type) {
  switch (type.kind) {
    case cel::TypeKind::list:
      return type.inner[0];
    case cel::TypeKind::map:
    case cel::TypeKind::object:
    case cel::TypeKind::dynamic:
      return types().dynamic();
    default:
      return nullptr;
  }
}

Result<std::vector<std::string>> expressions_of(std::string_view text) {
  auto parts = parts_of(text);
  if (!parts) return parts.error();
  std::vector<std::string> found;
  for (const auto& part : *parts) {
    if (part.expression) found.emplace_back(part.text);
  }
  return found;
}

}  // namespace sluice::component
