// Assignability binds type parameters as it goes, and takes its bindings back where it fails.
#include "render/cel/type.h"

#include <algorithm>

#include "base/ascii.h"

namespace sluice::cel {
namespace {

struct Named {
  std::string_view name;
  TypeKind kind;
  size_t inner;
};

constexpr Named kNamed[] = {
    {"dyn", TypeKind::dynamic, 0},
    {"null", TypeKind::null, 0},
    {"bool", TypeKind::boolean, 0},
    {"int", TypeKind::integer, 0},
    {"uint", TypeKind::unsigned_integer, 0},
    {"double", TypeKind::real, 0},
    {"string", TypeKind::string, 0},
    {"bytes", TypeKind::bytes, 0},
    {"timestamp", TypeKind::timestamp, 0},
    {"duration", TypeKind::duration, 0},
    {"type", TypeKind::type, 1},
    {"list", TypeKind::list, 1},
    {"map", TypeKind::map, 2},
    {"optional_type", TypeKind::optional, 1},
};

std::string_view name_of(TypeKind kind) {
  for (const auto& each : kNamed) {
    if (each.kind == kind) return each.name;
  }
  return kind == TypeKind::object ? "map" : "";
}

// An object is a map from strings to anything.
bool map_like(const Type& type) { return type.kind == TypeKind::map || type.kind == TypeKind::object; }

// Null may stand where a value of these would: they have no zero of their own.
bool takes_null(const Type& type) {
  return type.kind == TypeKind::null || type.kind == TypeKind::timestamp || type.kind == TypeKind::duration ||
         type.kind == TypeKind::optional || type.kind == TypeKind::opaque;
}

bool at_least_as_general(const Type& left, const Type& right) {
  if (left.kind == TypeKind::dynamic || left.kind == TypeKind::parameter) return true;
  if (right.kind == TypeKind::dynamic || right.kind == TypeKind::parameter) return false;
  if (left.kind != right.kind) return right.kind == TypeKind::null && takes_null(left);
  if (left.name != right.name || left.inner.size() != right.inner.size()) return false;
  for (size_t index = 0; index < left.inner.size(); ++index) {
    if (!at_least_as_general(*left.inner[index], *right.inner[index])) return false;
  }
  return true;
}

Error no_type(std::string_view text) {
  return {.code = Code::invalid, .message = "'" + std::string(text) + "' is no type"};
}

void trim(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

class TypeText {
 public:
  TypeText(TypePool& pool, std::map<std::string, const Type*>& parameters) : pool_(pool), parameters_(parameters) {}

  const Type* take(std::string_view& text) {
    trim(text);
    const auto end = std::find_if_not(text.begin(), text.end(), [](char each) {
      return is_letter(each) || is_digit(each) || each == '_' || each == '.';
    });
    const std::string name(text.begin(), end);
    text.remove_prefix(name.size());
    if (name.empty()) return nullptr;
    Type type{.kind = TypeKind::opaque, .name = name};
    if (text.starts_with('(')) {
      do {
        text.remove_prefix(1);
        const Type* inner = take(text);
        if (!inner) return nullptr;
        type.inner.push_back(inner);
        trim(text);
      } while (text.starts_with(','));
      if (!text.starts_with(')')) return nullptr;
      text.remove_prefix(1);
    }
    if (type.inner.empty() && name.size() == 1 && is_upper(name[0])) return parameter(name);
    for (const auto& each : kNamed) {
      if (each.name != name) continue;
      if (type.inner.empty() && each.inner > 0) return pool_.basic(each.kind);
      if (type.inner.size() != each.inner) return nullptr;
      if (each.inner == 0) return pool_.basic(each.kind);
      type.kind = each.kind;
      type.name.clear();
      return pool_.make(std::move(type));
    }
    return pool_.make(std::move(type));
  }

 private:
  const Type* parameter(const std::string& name) {
    auto& known = parameters_[name];
    if (!known) known = pool_.parameter(name);
    return known;
  }

  TypePool& pool_;
  std::map<std::string, const Type*>& parameters_;
};

std::vector<Type> basic_types() {
  std::vector<Type> all(static_cast<size_t>(TypeKind::parameter) + 1);
  for (size_t index = 0; index < all.size(); ++index) all[index].kind = static_cast<TypeKind>(index);
  const Type* anything = &all[static_cast<size_t>(TypeKind::dynamic)];
  for (const auto& each : kNamed) all[static_cast<size_t>(each.kind)].inner.assign(each.inner, anything);
  return all;
}

}  // namespace

TypePool::TypePool() {
  static const std::vector<Type> kBasic = basic_types();
  basic_ = kBasic.data();
}

const Type* TypePool::make(Type type) {
  made_.push_back(std::make_unique<Type>(std::move(type)));
  return made_.back().get();
}

Result<const Type*> TypePool::parse(std::string_view text, std::map<std::string, const Type*>& parameters) {
  auto rest = text;
  const Type* type = TypeText(*this, parameters).take(rest);
  trim(rest);
  if (!type || !rest.empty()) return no_type(text);
  return type;
}

std::string to_string(const Type& type) {
  if (type.kind == TypeKind::object) {
    std::string text = "{";
    for (const auto& [name, field] : type.fields) {
      text += (text.size() > 1 ? ", " : "") + name + ": " + to_string(*field);
    }
    return text + "}";
  }
  std::string text = type.name.empty() ? std::string(name_of(type.kind)) : type.name;
  for (size_t index = 0; index < type.inner.size(); ++index) {
    text += (index == 0 ? "(" : ", ") + to_string(*type.inner[index]);
  }
  return type.inner.empty() ? text : text + ")";
}

std::string runtime_name(const Type& type) {
  switch (type.kind) {
    case TypeKind::null:
      return "null_type";
    case TypeKind::timestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::duration:
      return "google.protobuf.Duration";
    default:
      return type.name.empty() ? std::string(name_of(type.kind)) : type.name;
  }
}

bool same_runtime_type(const Type& left, const Type& right) {
  return (map_like(left) && map_like(right)) || (left.kind == right.kind && left.name == right.name);
}

const Type* runtime_type(Kind kind) {
  static const TypePool pool;
  switch (kind) {
    case Kind::null:
      return pool.basic(TypeKind::null);
    case Kind::boolean:
      return pool.basic(TypeKind::boolean);
    case Kind::integer:
      return pool.basic(TypeKind::integer);
    case Kind::unsigned_integer:
      return pool.basic(TypeKind::unsigned_integer);
    case Kind::real:
      return pool.basic(TypeKind::real);
    case Kind::string:
      return pool.basic(TypeKind::string);
    case Kind::bytes:
      return pool.basic(TypeKind::bytes);
    case Kind::list:
      return pool.basic(TypeKind::list);
    case Kind::map:
      return pool.basic(TypeKind::map);
    case Kind::type:
      return pool.basic(TypeKind::type);
    case Kind::timestamp:
      return pool.basic(TypeKind::timestamp);
    case Kind::duration:
      return pool.basic(TypeKind::duration);
    case Kind::optional:
      return pool.basic(TypeKind::optional);
    default:
      return pool.dynamic();
  }
}

const Type* Bindings::known(const Type* type) const {
  while (type->kind == TypeKind::parameter) {
    const auto found = bound_.find(type);
    if (found == bound_.end()) break;
    type = found->second;
  }
  return type;
}

bool Bindings::mentions(const Type* type, const Type* parameter) const {
  type = known(type);
  if (type == parameter) return true;
  return std::any_of(type->inner.begin(), type->inner.end(),
                     [&](const Type* inner) { return mentions(inner, parameter); });
}

bool Bindings::bind(const Type* parameter, const Type* to) {
  if (parameter == to) return true;
  if (mentions(to, parameter)) return false;
  bound_[parameter] = to;
  return true;
}

bool Bindings::try_assign(const Type* wanted, const Type* given) {
  // A parameter that stands for something already may become more general: that of [dyn(1), 1] is dyn.
  for (const auto& [parameter, other] : {std::pair{given, wanted}, {wanted, given}}) {
    if (parameter->kind != TypeKind::parameter) continue;
    const auto found = bound_.find(parameter);
    if (found == bound_.end()) {
      if (parameter == known(other)) return true;
      if (bind(parameter, other)) return true;
      continue;
    }
    const Type* stands_for = found->second;
    if (!try_assign(stands_for, other)) return false;
    const Type* wider = at_least_as_general(*stands_for, *other) ? stands_for : other;
    if (wider != stands_for && !mentions(wider, parameter)) bound_[parameter] = wider;
    return true;
  }
  if (wanted->kind == TypeKind::parameter || given->kind == TypeKind::parameter) return false;
  if (wanted->kind == TypeKind::dynamic || given->kind == TypeKind::dynamic) return true;
  if (given->kind == TypeKind::null) return takes_null(*wanted);
  if (wanted->kind == TypeKind::null) return takes_null(*given);
  if (wanted->kind == TypeKind::object || given->kind == TypeKind::object) {
    if (!map_like(*wanted) || !map_like(*given)) return false;
    const Type& map = wanted->kind == TypeKind::map ? *wanted : *given;
    if (map.kind == TypeKind::object) return true;
    const auto key = known(map.inner[0])->kind;
    return key == TypeKind::string || key == TypeKind::dynamic || key == TypeKind::parameter;
  }
  if (wanted->kind != given->kind || wanted->name != given->name) return false;
  if (wanted->kind == TypeKind::type) return true;
  if (wanted->inner.size() != given->inner.size()) return false;
  for (size_t index = 0; index < wanted->inner.size(); ++index) {
    if (!try_assign(wanted->inner[index], given->inner[index])) return false;
  }
  return true;
}

bool Bindings::assignable(const Type* wanted, const Type* given) {
  auto before = bound_;
  if (try_assign(wanted, given)) return true;
  bound_ = std::move(before);
  return false;
}

bool Bindings::assignable(const std::vector<const Type*>& wanted, const std::vector<const Type*>& given) {
  if (wanted.size() != given.size()) return false;
  auto before = bound_;
  for (size_t index = 0; index < wanted.size(); ++index) {
    if (try_assign(wanted[index], given[index])) continue;
    bound_ = std::move(before);
    return false;
  }
  return true;
}

const Type* Bindings::join(const Type* left, const Type* right, const TypePool& pool) {
  if (!assignable(left, right)) return pool.dynamic();
  return at_least_as_general(*left, *right) ? left : right;
}

const Type* Bindings::resolve(const Type* type, TypePool& pool, bool whole) const {
  type = known(type);
  if (type->kind == TypeKind::parameter) return whole ? pool.dynamic() : type;
  if (type->inner.empty()) return type;
  Type made{.kind = type->kind, .name = type->name};
  for (const Type* inner : type->inner) made.inner.push_back(resolve(inner, pool, whole));
  if (made.inner == type->inner) return type;
  return pool.make(std::move(made));
}

}  // namespace sluice::cel
