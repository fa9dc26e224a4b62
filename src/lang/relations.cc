// One pass over the state: each component finds or makes the rows of its domain, then becomes a field or a child.
#include "lang/relations.h"

#include <algorithm>

namespace sluice::lang {
namespace {

Error at(const Concept& spec, const At& mark, std::string message) {
  return {.code = Code::invalid,
          .message = std::move(message),
          .position = Position{.file = spec.file, .line = mark.line, .column = mark.column}};
}

bool is_key(const Concept& spec, const Type& type) {
  return (type.kind == Type::Kind::named && is_type_parameter(spec, type.name)) ||
         (type.kind == Type::Kind::primitive && (type.name == "String" || type.name == "ID"));
}

class StateReader {
 public:
  explicit StateReader(const Concept& spec) : spec_(spec) {}

  Result<void> add(const StateField& component) {
    if (std::find(names_.begin(), names_.end(), component.name) != names_.end()) {
      return at(spec_, component.at,
                "the state has two fields \"" + component.name + "\"; names are unique in a concept");
    }
    names_.push_back(component.name);
    const Type& type = component.type;
    if (type.kind == Type::Kind::set && is_key(spec_, type.inner[0])) return add_existence(component);
    if (type.kind != Type::Kind::mapping) return add_to("", component, type);
    if (!is_key(spec_, type.inner[0])) {
      return at(spec_, component.at,
                "\"" + component.name +
                    "\" maps from something that cannot be a key; a domain is a type parameter, "
                    "String or ID");
    }
    return add_to(type.inner[0].name, component, type.inner[1]);
  }

  std::vector<Relation> take() {
    std::vector<Relation> all = std::move(rows_);
    std::move(children_.begin(), children_.end(), std::back_inserter(all));
    return all;
  }

 private:
  Result<void> add_existence(const StateField& component) {
    const std::string& domain = component.type.inner[0].name;
    if (std::find(existence_.begin(), existence_.end(), domain) != existence_.end()) {
      return at(spec_, component.at,
                "\"" + component.name + "\" is a second set of " + domain +
                    "; a set is the existence of its rows: write `" + component.name + ": " + domain + " -> Bool`");
    }
    existence_.push_back(domain);
    rows_of(domain);
    return {};
  }

  Result<void> add_to(const std::string& domain, const StateField& component, const Type& type) {
    if (type.kind == Type::Kind::list || type.kind == Type::Kind::set) {
      rows_of(domain);
      children_.push_back({.kind = type.kind == Type::Kind::list ? Relation::Kind::list : Relation::Kind::set,
                           .name = spec_.name + "." + component.name,
                           .domain = domain,
                           .field = component.name,
                           .element = {type.inner[0]}});
      return {};
    }
    rows_of(domain).fields.push_back({.at = component.at, .name = component.name, .type = {type}});
    return {};
  }

  Relation& rows_of(const std::string& domain) {
    for (Relation& relation : rows_) {
      if (relation.domain == domain) return relation;
    }
    bool first_parameter = !spec_.params.empty() && spec_.params[0].text == domain;
    return rows_.emplace_back(
        Relation{.name = first_parameter ? spec_.name : spec_.name + "[" + domain + "]", .domain = domain});
  }

  const Concept& spec_;
  std::vector<std::string> names_;
  std::vector<std::string> existence_;
  std::vector<Relation> rows_;
  std::vector<Relation> children_;
};

}  // namespace

bool is_type_parameter(const Concept& spec, std::string_view name) {
  return std::any_of(spec.params.begin(), spec.params.end(), [&](const Name& param) { return param.text == name; });
}

Result<std::vector<Relation>> relations_of(const Concept& spec) {
  StateReader reader(spec);
  for (const StateField& component : spec.state) {
    if (auto added = reader.add(component); !added) return added.error();
  }
  return reader.take();
}

}  // namespace sluice::lang
