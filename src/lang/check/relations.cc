// One pass over the state: each component finds or makes the rows of its domain, then becomes a field or a child.
#include "lang/check/relations.h"

#include <algorithm>
#include <unordered_set>

namespace sluice::lang {
namespace {

bool is_key(const Concept& spec, const Type& type) {
  return (type.kind == Type::Kind::named && is_type_parameter(spec, type.name)) ||
         (type.kind == Type::Kind::primitive && (type.name == "String" || type.name == "ID"));
}

class StateReader {
 public:
  explicit StateReader(const Concept& spec) : spec_(spec) {}

  void add(const StateField& component) {
    if (!names_.insert(component.name).second) {
      refuse(component, "the state has two fields `" + component.name + "`; names are unique in a concept");
      return;
    }
    const Type& type = component.type;
    if (const StateField* other = keyed_by_other_text(component)) {
      refuse(component, "`" + component.name + "` is keyed by " + type.inner[0].name + " and `" + other->name +
                            "` by " + other->type.inner[0].name +
                            "; both are text, so the rows could not be told apart: key both by the same");
      return;
    }
    if (type.kind == Type::Kind::set && is_key(spec_, type.inner[0])) {
      add_existence(component);
    } else if (type.kind != Type::Kind::mapping) {
      add_to("", component, type);
    } else if (is_key(spec_, type.inner[0])) {
      add_to(type.inner[0].name, component, type.inner[1]);
    } else {
      refuse(component, "`" + component.name +
                            "` maps from something that cannot be a key; a domain is a type parameter, String or ID");
    }
  }

  StateRelations take() {
    StateRelations all{.relations = std::move(rows_), .unkept = std::move(unkept_)};
    std::move(children_.begin(), children_.end(), std::back_inserter(all.relations));
    return all;
  }

 private:
  void refuse(const StateField& component, std::string why) { unkept_.push_back({&component, std::move(why)}); }

  // A component of this concept whose domain is the other of String and ID.
  const StateField* keyed_by_other_text(const StateField& component) {
    const Type& type = component.type;
    bool keyed = type.kind == Type::Kind::mapping || type.kind == Type::Kind::set;
    if (!keyed || !is_key(spec_, type.inner[0]) || type.inner[0].kind != Type::Kind::primitive) return nullptr;
    if (keyed_by_text_ == nullptr) keyed_by_text_ = &component;
    return keyed_by_text_->type.inner[0].name == type.inner[0].name ? nullptr : keyed_by_text_;
  }

  void add_existence(const StateField& component) {
    const std::string& domain = component.type.inner[0].name;
    if (std::find(existence_.begin(), existence_.end(), domain) != existence_.end()) {
      refuse(component, "`" + component.name + "` is a second set of " + domain +
                            "; a set is the existence of its rows: write `" + component.name + ": " + domain +
                            " -> Bool`");
      return;
    }
    existence_.push_back(domain);
    rows_of(domain);
  }

  void add_to(const std::string& domain, const StateField& component, const Type& type) {
    if (type.kind == Type::Kind::list || type.kind == Type::Kind::set) {
      rows_of(domain);
      children_.push_back({.kind = type.kind == Type::Kind::list ? Relation::Kind::list : Relation::Kind::set,
                           .name = spec_.name + "." + component.name,
                           .domain = domain,
                           .field = component.name,
                           .element = {type.inner[0]}});
      return;
    }
    rows_of(domain).fields.push_back({.at = component.at, .name = component.name, .type = {type}});
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
  std::unordered_set<std::string_view> names_;
  const StateField* keyed_by_text_ = nullptr;
  std::vector<std::string> existence_;
  std::vector<Relation> rows_;
  std::vector<Relation> children_;
  std::vector<UnkeptComponent> unkept_;
};

}  // namespace

bool is_type_parameter(const Concept& spec, std::string_view name) {
  return std::any_of(spec.params.begin(), spec.params.end(), [&](const Name& param) { return param.text == name; });
}

StateRelations read_state(const Concept& spec) {
  StateReader reader(spec);
  for (const StateField& component : spec.state) reader.add(component);
  return reader.take();
}

Result<std::vector<Relation>> relations_of(const Concept& spec) {
  StateRelations state = read_state(spec);
  if (state.unkept.empty()) return std::move(state.relations);
  const auto& [component, why] = state.unkept.front();
  return Error{.code = Code::invalid,
               .message = why,
               .position = Position{.file = spec.file, .line = component->at.line, .column = component->at.column}};
}

}  // namespace sluice::lang
