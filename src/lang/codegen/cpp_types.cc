// Types become text here; the names of records and unions are claimed on first use.
#include "lang/codegen/cpp_types.h"

#include <algorithm>
#include <unordered_set>

#include "lang/check/relations.h"
#include "lang/codegen/cpp_names.h"

namespace sluice::lang {
namespace {

Error at(const Concept& spec, const Type& type, std::string message, std::string next) {
  return {.code = Code::invalid,
          .message = std::move(message),
          .next = std::move(next),
          .position = Position{.file = spec.file, .line = type.at.line, .column = type.at.column}};
}

std::string primitive(std::string_view name) {
  if (name == "Int") return "int64_t";
  if (name == "Float") return "double";
  if (name == "Bool") return "bool";
  if (name == "Bytes" || name == "DateTime" || name == "Request" || name == "Sealed") {
    return "lang::" + std::string(name);
  }
  return "std::string";  // String, ID
}

constexpr std::string_view kGeneratedShape = "generated";  // the shape of a name that is no record or union

}  // namespace

std::string cpp_members(const std::vector<CppMember>& members, size_t indent) {
  std::string text;
  for (const CppMember& member : members) {
    text += std::string(indent, ' ') + member.type + " " + member.name + member.initial + ";\n";
  }
  return text;
}

std::string cpp_describe(const std::string& type, const std::vector<CppMember>& members) {
  std::string text = "BOOST_DESCRIBE_STRUCT(" + type + ", (), (";
  for (const CppMember& member : members) text += (&member == &members.front() ? "" : ", ") + member.name;
  return text + "))\n";
}

std::string shape_text(const Type& type) {
  std::string text = std::to_string(static_cast<int>(type.kind)) + type.name + "(";
  for (const Type& inner : type.inner) text += shape_text(inner) + ",";
  for (const FieldDecl& field : type.fields) text += field.name + ":" + shape_text(field.type[0]) + ",";
  for (const std::string& literal : type.literals) text += cpp_string(literal) + ",";
  return text + ")";
}

CppTypes::CppTypes(const Concept& spec) : spec_(spec), prefix_(type_word(spec.name)) {
  for (const char* fixed : {"State", "Effect"}) shapes_[fixed] = kGeneratedShape;
  handlers_ = take(prefix_, "Concept");
  for (const Name& param : spec.params) {
    if (!ids_.contains(param.text)) ids_[param.text] = take(id_name(param.text), "", {"Owner"});
  }
  const StateRelations state = read_state(spec);
  for (const Relation& relation : state.relations) {
    if (relation.kind != Relation::Kind::rows) continue;
    if (relation.domain.empty()) {
      rows_[""].record = take(prefix_ + "Whole", "");
      continue;
    }
    bool first = !spec.params.empty() && spec.params[0].text == relation.domain;
    std::string name = prefix_ + (first ? "" : type_word(relation.domain));
    rows_[relation.domain] = {.record = take(name + "Record", ""), .found = take(name + "Found", "")};
  }
  for (const Action& action : spec.actions) {
    if (actions_.contains(action.name)) continue;
    std::vector<std::string> also;
    if (action.runs == Runs::effect) also.emplace_back("Work");
    actions_[action.name] = take(type_word(action.name), "Action", also);
  }
}

std::string CppTypes::take(const std::string& word, const std::string& more, const std::vector<std::string>& also) {
  std::string name = type_name(word);
  auto is_free = [&] {
    bool free = !shapes_.contains(name);
    for (const std::string& ending : also) free = free && !shapes_.contains(name + ending);
    return free;
  };
  if (!is_free()) name = type_name(word + more);
  std::string base = name;
  for (int count = 2; !is_free(); count++) name = base + std::to_string(count);
  shapes_[name] = kGeneratedShape;
  for (const std::string& ending : also) shapes_[name + ending] = kGeneratedShape;
  return name;
}

std::string CppTypes::id_name(const std::string& param) const {
  if (param.size() > 1) return type_word(param) + (param.ends_with("Id") ? "" : "Id");
  // A single letter says nothing: the first is the concept's own identity.
  for (const Name& other : spec_.params) {
    if (other.text.size() == 1) return prefix_ + (other.text == param ? "" : type_word(param)) + "Id";
  }
  return prefix_ + type_word(param) + "Id";
}

std::string CppTypes::key_of(const std::string& domain) const {
  return is_type_parameter(spec_, domain) ? id_of(domain) : "std::string";
}

std::string CppTypes::ids() const {
  std::string text;
  for (const Name& param : spec_.params) {
    const std::string& id = id_of(param.text);
    text += "using " + id + " = lang::Id<struct " + id + "Owner>;\n";
  }
  return text;
}

Result<CppMember> CppTypes::member(const FieldDecl& field, const std::string& owner) {
  const Type& type = field.type[0];
  bool is_option = type.kind == Type::Kind::option;
  auto inner = of(is_option ? type.inner[0] : type, field.name, owner);
  if (!inner) return inner.error();
  CppMember member{.type = is_option ? "std::optional<" + *inner + ">" : *inner, .name = member_name(field.name)};
  if (is_option) return member;
  if (type.kind == Type::Kind::literals || type.kind == Type::Kind::names) member.initial = "{}";
  if (member.type == "int64_t" || member.type == "double") member.initial = " = 0";
  if (member.type == "bool") member.initial = " = false";
  return member;
}

Result<std::vector<CppMember>> CppTypes::members(const std::vector<FieldDecl>& fields, const std::string& owner) {
  std::vector<CppMember> all;
  for (const FieldDecl& field : fields) {
    auto one = member(field, owner);
    if (!one) return one.error();
    all.push_back(*std::move(one));
  }
  return all;
}

Result<std::string> CppTypes::of(const Type& type, const std::string& field, const std::string& owner) {
  switch (type.kind) {
    case Type::Kind::primitive:
      return primitive(type.name);
    case Type::Kind::named:
      if (is_type_parameter(spec_, type.name)) return id_of(type.name);
      return at(spec_, type, "\"" + type.name + "\" is neither a primitive type nor a type parameter of " + spec_.name,
                "declare it as a type parameter");
    case Type::Kind::list:
    case Type::Kind::set: {
      auto element = element_of(type.inner[0], field, owner);
      if (!element) return element.error();
      return "std::vector<" + *element + ">";
    }
    case Type::Kind::option:
      return at(spec_, type, "only a field can be an option; here it is part of another type",
                "make it a field of a record: `{ value: option … }`");
    case Type::Kind::record:
      return record(type, type_word(field), owner);
    case Type::Kind::names:
    case Type::Kind::literals:
      return literals(type, field, owner);
    case Type::Kind::mapping: {
      const Type& key = type.inner[0];
      if (key.kind != Type::Kind::named && key.name != "String" && key.name != "ID") {
        return at(spec_, key, "a map inside a field maps from a type parameter, String or ID",
                  "write `String -> …`, or make it a list of records");
      }
      auto value = of(type.inner[1], field, owner);
      if (!value) return value.error();
      return "std::map<std::string, " + *value + ">";
    }
  }
  return at(spec_, type, "this type has no C++ type", "write another type");
}

Result<std::string> CppTypes::element_of(const Type& element, const std::string& field, const std::string& owner) {
  return element.kind == Type::Kind::record ? record(element, singular(field), owner) : of(element, field, owner);
}

std::string CppTypes::claim(const std::string& base, const std::string& owner, const std::string& shape, bool& known) {
  std::string name = type_name(base);
  std::string longer = type_name(prefix_ + owner + base.substr(prefix_.size()));
  for (int round = 0;; round++) {
    if (round > 0) name = longer + (round > 1 ? std::to_string(round) : "");
    auto [found, added] = shapes_.emplace(name, shape);
    known = !added;
    if (added || found->second == shape) return name;
  }
}

Result<std::string> CppTypes::record(const Type& type, const std::string& base, const std::string& owner) {
  bool known = false;
  std::string name = claim(prefix_ + base, owner, shape_text(type), known);
  if (known) return name;
  auto fields = members(type.fields, owner + base);
  if (!fields) return fields.error();
  records_ += "\nstruct " + name + " {\n" + cpp_members(*fields, 2) + "\n  auto operator<=>(const " + name +
              "&) const = default;\n};\n" + cpp_describe(name, *fields);
  return name;
}

std::string CppTypes::literals(const Type& type, const std::string& field, const std::string& owner) {
  bool known = false;
  std::string name = claim(prefix_ + type_word(field), owner, shape_text(type), known);
  if (known) return name;
  bool plain = type.literals.size() <= kMaxFields && std::ranges::all_of(type.literals, is_identifier);
  Mapped mapped{.type = name};
  std::unordered_set<std::string> taken;
  for (const std::string& literal : type.literals) {
    std::string candidate = plain ? member_name(literal) : function_name(literal.empty() ? "none" : literal);
    while (!taken.insert(candidate).second) candidate += "_";
    mapped.names.emplace_back(candidate, literal);
  }
  std::string list;
  for (const auto& [text, literal] : mapped.names) list += (list.empty() ? "" : ", ") + text;
  enumerations_ += "\nenum class " + name + " { " + list + " };\n";
  if (plain) {
    enumerations_ += "BOOST_DESCRIBE_ENUM(" + name + ", " + list + ")\n";
  } else {
    mapped_.push_back(std::move(mapped));
  }
  return name;
}

std::string CppTypes::scalars(const std::string& ns) const {
  std::string text;
  for (const Mapped& mapped : mapped_) {
    std::string type = ns + "::" + mapped.type;
    std::string expected = "one of";
    std::string parse;
    std::string print;
    for (const auto& [name, literal] : mapped.names) {
      expected += (parse.empty() ? " " : ", ") + literal;
      parse += "    if (text == " + cpp_string(literal) + ") return " + type + "::" + name + ";\n";
      print += "      case " + type + "::" + name + ":\n        return " + cpp_string(literal) + ";\n";
    }
    text += "\ntemplate <>\nstruct JsonScalar<" + type + "> {\n";
    text += "  static constexpr std::string_view kExpected = " + cpp_string(expected) + ";\n";
    text += "  static constexpr std::string_view kPattern = \"\";\n";
    text += "  static Result<" + type + "> parse(std::string_view text) {\n" + parse;
    text += "    return Error{.code = Code::invalid, .message = \"expected \" + std::string(kExpected)};\n  }\n";
    text += "  static std::string print(" + type + " value) {\n    switch (value) {\n" + print +
            "    }\n    return {};\n  }\n};\n";
  }
  return text;
}

}  // namespace sluice::lang
