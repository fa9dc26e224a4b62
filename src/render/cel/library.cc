// Signatures are read once, when the library is made.
#include "render/cel/library.h"

#include <algorithm>
#include <cassert>

namespace sluice::cel {
namespace {

bool fits(TypeKind type, Kind value) {
  switch (type) {
    case TypeKind::null:
      return value == Kind::null;
    case TypeKind::boolean:
      return value == Kind::boolean;
    case TypeKind::integer:
      return value == Kind::integer;
    case TypeKind::unsigned_integer:
      return value == Kind::unsigned_integer;
    case TypeKind::real:
      return value == Kind::real;
    case TypeKind::string:
      return value == Kind::string;
    case TypeKind::bytes:
      return value == Kind::bytes;
    case TypeKind::timestamp:
      return value == Kind::timestamp;
    case TypeKind::duration:
      return value == Kind::duration;
    case TypeKind::type:
      return value == Kind::type;
    case TypeKind::list:
      return value == Kind::list;
    case TypeKind::map:
    case TypeKind::object:
      return value == Kind::map;
    case TypeKind::optional:
      return value == Kind::optional;
    default:
      return true;
  }
}

// "_+_" as people write it.
std::string_view plain(std::string_view name) {
  if (name == "@in") return "in";
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// What stands between the outermost parentheses that begin `text`; they are taken.
std::string_view take_parentheses(std::string_view& text) {
  assert(text.starts_with('('));
  int depth = 0;
  size_t end = 0;
  do {
    if (text[end] == '(') ++depth;
    if (text[end] == ')') --depth;
    ++end;
  } while (depth > 0);
  const auto inner = text.substr(1, end - 2);
  text.remove_prefix(end);
  return inner;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t index = 0; index <= text.size(); ++index) {
    if (index < text.size() && text[index] == '(') ++depth;
    if (index < text.size() && text[index] == ')') --depth;
    if (index < text.size() && (text[index] != ',' || depth > 0)) continue;
    if (index > begin) parts.push_back(text.substr(begin, index - begin));
    begin = index + 1;
  }
  return parts;
}

}  // namespace

bool Overload::takes(std::span<const Value> values) const {
  if (values.size() != parameters.size()) return false;
  for (size_t index = 0; index < values.size(); ++index) {
    if (!fits(parameters[index]->kind, values[index].kind)) return false;
  }
  return true;
}

std::string no_overload(std::string_view name, std::span<const Value> given) {
  std::string text = "no '" + std::string(plain(name)) + "' takes (";
  for (size_t index = 0; index < given.size(); ++index) {
    text += (index == 0 ? "" : ", ") + std::string(name_of(given[index].kind));
  }
  return text + ")";
}

void Library::add(std::string_view signature, Native native) {
  std::map<std::string, const Type*> parameters;
  Overload overload{.native = native};
  const auto type_of = [&](std::string_view text) {
    auto type = pool_.parse(text, parameters);
    assert(type && "a signature that cannot be read");
    return *type;
  };
  auto rest = signature;
  if (rest.starts_with('(')) {
    overload.receiver = true;
    overload.parameters.push_back(type_of(take_parentheses(rest)));
    rest.remove_prefix(1);  // the dot
  }
  const auto name = rest.substr(0, rest.find('('));
  rest.remove_prefix(name.size());
  for (const auto each : split(take_parentheses(rest))) overload.parameters.push_back(type_of(each));
  overload.result = type_of(rest.substr(rest.find("->") + 2));
  auto& function = functions_[std::string(name)];
  function.name = name;
  function.overloads.push_back(std::move(overload));
}

void Library::add(std::span<const Declared> declared) {
  for (const auto& each : declared) add(each.signature, each.native);
}

const Function* Library::find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

const Library& standard_library() {
  static const Library library = [] {
    Library made;
    add_ordering(made);
    add_template_functions(made);
    for (const auto part : {operators(), conversions(), text_functions(), format_functions(), math_functions(),
                            time_functions(), collection_functions(), optional_functions(), template_functions()}) {
      made.add(part);
    }
    return made;
  }();
  return library;
}

}  // namespace sluice::cel
