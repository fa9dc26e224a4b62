// For each relation of the state: its record, its functions in State, and what the binding says of it.
#include "lang/codegen/generate_state.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "lang/check/relations.h"
#include "lang/codegen/cpp_names.h"

namespace sluice::lang {
namespace {

// A field that rows can be looked up by.
struct Lookup {
  std::string path;    // `criteria.maxErrorRate`
  std::string method;  // `find_by_criteria_max_error_rate`
  std::string type;
};

bool can_look_up(const Type& type) {
  switch (type.kind) {
    case Type::Kind::primitive:
      return type.name != "Float" && type.name != "Bytes" && type.name != "Sealed";
    case Type::Kind::named:
    case Type::Kind::names:
    case Type::Kind::literals:
      return true;
    case Type::Kind::option:
      return can_look_up(type.inner[0]);
    default:
      return false;
  }
}

Result<void> add_lookups(const FieldDecl& field, const std::string& path, const std::string& owner, CppTypes& types,
                         std::vector<Lookup>& lookups) {
  const Type& type = field.type[0];
  const Type& inner = type.kind == Type::Kind::option ? type.inner[0] : type;
  std::string here = path.empty() ? field.name : path + "." + field.name;
  if (inner.kind == Type::Kind::record) {
    for (const FieldDecl& part : inner.fields) {
      if (auto added = add_lookups(part, here, owner + camel_case(field.name), types, lookups); !added) return added;
    }
    return {};
  }
  if (!can_look_up(type)) return {};
  auto text = types.of(inner, field.name, owner);
  if (!text) return text.error();
  lookups.push_back({.path = here, .method = "find_by_" + snake_case(here), .type = *text});
  return {};
}

// Whether `name` stands in the text as a word of its own.
bool mentions(std::string_view text, std::string_view name) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + cpp_string(name);
  return "{" + text + "}";
}

class StateGenerator {
 public:
  StateGenerator(const Concept& spec, CppTypes& types, const std::vector<std::string>& handlers)
      : spec_(spec), types_(types), handlers_(handlers) {}

  Result<StateText> generate() {
    auto relations = relations_of(spec_);
    if (!relations) return relations.error();
    for (const Relation& relation : *relations) {
      auto added = relation.kind == Relation::Kind::rows ? add_rows(relation, *relations) : add_child(relation);
      if (!added) return added.error();
    }
    std::string name = spec_.name;
    text_.declaration = "// The state of " + name +
                        ", as it stands inside one step. A const State reads alone.\nclass State {\n public:\n"
                        "  // `rows` must outlive it.\n"
                        "  explicit State(lang::Rows& rows) : rows_(rows) {}\n" +
                        declaration_ +
                        "\n  // The time of the step, and the invocation that runs.\n"
                        "  lang::DateTime now() const { return rows_.now(); }\n"
                        "  lang::Request request() const { return rows_.request(); }\n"
                        "  std::string new_id() { return rows_.new_id(); }\n"
                        "\n private:\n  lang::Rows& rows_;\n};\n";
    return std::move(text_);
  }

 private:
  // Declares a function of State and defines it with a body of one line.
  void add_function(const std::string& result, const std::string& signature, const std::string& body) {
    declaration_ += "  " + result + " " + signature + ";\n";
    text_.definition += "\n" + result + " State::" + signature + " {\n  " + body + "\n}\n";
  }

  // A function that has its name alone: two fields of different spelling may be one name as functions.
  std::string take(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  Result<void> add_rows(const Relation& relation, const std::vector<Relation>& all) {
    const std::string& record = types_.record_of(relation.domain);
    std::string key = types_.key_of(relation.domain);
    auto members = types_.members(relation.fields, "");
    if (!members) return members.error();
    std::string what = relation.domain.empty() ? "The one row of the concept as a whole."
                                               : "A row of " + relation.name + ", keyed by " + key + ".";
    text_.records += "\n// " + what + "\nstruct " + record + " {\n" + cpp_members(*members, 2) +
                     "\n  bool operator==(const " + record + "&) const = default;\n};\n" +
                     cpp_describe(record, *members);
    if (!relation.domain.empty()) {
      text_.records += "using " + types_.found_of(relation.domain) + " = lang::Entry<" + key + ", " + record + ">;\n";
    }
    std::vector<Lookup> lookups;
    for (const FieldDecl& field : relation.fields) {
      if (auto added = add_lookups(field, "", "", types_, lookups); !added) return added;
    }
    for (Lookup& lookup : lookups) lookup.method = take(lookup.method);
    add_relation(relation.name, relation.fields, relation.domain.empty() ? std::vector<Lookup>{} : lookups);
    std::string table = "lang::Table<" + key + ", " + record + ">(rows_, " + cpp_string(relation.name) + ")";
    declaration_ += "\n";
    if (relation.domain.empty()) {
      add_function(record, "whole() const",
                   "return " + table + ".get(std::string(lang::kWholeKey)).value_or(" + record + "{});");
      add_function("void", "put_whole(const " + record + "& record)",
                   table + ".put(std::string(lang::kWholeKey), record);");
      return {};
    }
    add_row_functions(relation, all, key, record, table);
    std::string found = "std::vector<" + types_.found_of(relation.domain) + ">";
    for (const Lookup& lookup : lookups) {
      add_function(found, lookup.method + "(const " + lookup.type + "& value) const",
                   "return " + table + ".find(" + cpp_string(lookup.path) + ", value);");
    }
    return {};
  }

  void add_row_functions(const Relation& relation, const std::vector<Relation>& all, const std::string& key,
                         const std::string& record, const std::string& table) {
    add_function("bool", "has(const " + key + "& id) const", "return " + table + ".has(id);");
    add_function("std::optional<" + record + ">", "get(const " + key + "& id) const", "return " + table + ".get(id);");
    if (key != "std::string") {
      add_function(key, "add(const " + record + "& record)", "return " + table + ".add(record);");
    }
    add_function("void", "put(const " + key + "& id, const " + record + "& record)", table + ".put(id, record);");
    declaration_ += "  // Calls change(" + record + "&) on the row and keeps what it left; false if there is none.\n";
    declaration_ += "  template <class Change>\n  bool edit(const " + key +
                    "& id, Change&& change) {\n    auto record = get(id);\n    if (!record) return false;\n"
                    "    change(*record);\n    put(id, *record);\n    return true;\n  }\n";
    std::string erase;
    for (const Relation& child : all) {
      if (child.kind == Relation::Kind::rows || child.domain != relation.domain) continue;
      erase += "lang::rows::erase_all(rows_, " + cpp_string(child.name) + ", lang::child_key(" + text_of_key(key) +
               "));\n  ";
    }
    add_function("bool", "erase(const " + key + "& id)", erase + "return " + table + ".erase(id);");
    std::string all_rows = first_domain_ ? "all" : take("all_" + snake_case(relation.domain));
    first_domain_ = false;
    add_function("lang::Entries<" + key + ", " + record + ">", all_rows + "() const", "return " + table + ".all();");
  }

  static std::string text_of_key(const std::string& key) { return key == "std::string" ? "id" : "id.text()"; }

  Result<void> add_child(const Relation& relation) {
    auto element = types_.element_of(relation.element[0], relation.field, "");
    if (!element) return element.error();
    add_relation(relation.name, relation.element[0].fields, {});
    std::string name = take(function_name(relation.field));
    std::string key = types_.key_of(relation.domain);
    std::string param = relation.domain.empty() ? "" : "const " + key + "& id";
    std::string value = relation.domain.empty() ? "lang::kWholeKey" : text_of_key(key);
    std::string kind = relation.kind == Relation::Kind::list ? "List" : "Set";
    std::string arguments = "(rows_, " + cpp_string(relation.name) + ", " + value + ")";
    declaration_ += "\n";
    std::string type = "lang::" + kind + "<" + *element + ">";
    std::string view = "lang::" + kind + "View<" + *element + ">";
    add_function(type, name + "(" + param + ")", "return " + type + arguments + ";");
    add_function(view, name + "(" + param + ") const", "return " + view + arguments + ";");
    return {};
  }

  void add_relation(const std::string& name, const std::vector<FieldDecl>& fields, const std::vector<Lookup>& lookups) {
    std::vector<std::string> names, used;
    for (const FieldDecl& field : fields) names.push_back(field.name);
    for (const Lookup& lookup : lookups) {
      bool is_used = std::any_of(handlers_.begin(), handlers_.end(),
                                 [&](const std::string& text) { return mentions(text, lookup.method); });
      if (is_used) used.push_back(lookup.path);
    }
    text_.relations += "          {.name = " + cpp_string(name) + ", .fields = " + quoted_list(names) +
                       ", .lookups = " + quoted_list(used) + "},\n";
  }

  const Concept& spec_;
  CppTypes& types_;
  const std::vector<std::string>& handlers_;
  StateText text_;
  std::string declaration_;
  bool first_domain_ = true;
  std::set<std::string> taken_{"has",   "get",       "add", "put",     "edit",   "erase",
                               "whole", "put_whole", "now", "request", "new_id", "all"};
};

}  // namespace

Result<StateText> generate_state(const Concept& spec, CppTypes& types, const std::vector<std::string>& handlers) {
  return StateGenerator(spec, types, handlers).generate();
}

}  // namespace sluice::lang
