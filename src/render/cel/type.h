// The types of CEL, and how two of them go together.
//
// Types are immutable and live in a TypePool. A parameter ("T") stands for one type that is not known yet; Bindings
// says what each stands for so far. A type with named fields describes a map whose keys a schema declares: the checker
// knows which fields there are, the evaluator sees a map.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "render/cel/value.h"

namespace sluice::cel {

enum class TypeKind : uint8_t {
  dynamic,
  null,
  boolean,
  integer,
  unsigned_integer,
  real,
  string,
  bytes,
  timestamp,
  duration,
  type,      // type(T)
  list,      // list(T)
  map,       // map(K, V)
  optional,  // optional_type(T)
  object,    // a map with declared fields
  opaque,    // somebody else's type with a name and parameters
  parameter,
};

struct Type {
  TypeKind kind = TypeKind::dynamic;
  std::string name;  // of an opaque type or a parameter
  std::vector<const Type*> inner;
  std::map<std::string, const Type*, std::less<>> fields;  // of an object
  const Type* other_fields = nullptr;                      // of an object that may have more: their type
};

class TypePool {
 public:
  TypePool();

  const Type* basic(TypeKind kind) const { return basic_ + static_cast<size_t>(kind); }
  const Type* dynamic() const { return basic(TypeKind::dynamic); }
  const Type* list(const Type* item) { return make({.kind = TypeKind::list, .inner = {item}}); }
  const Type* map(const Type* key, const Type* value) { return make({.kind = TypeKind::map, .inner = {key, value}}); }
  const Type* optional(const Type* value) { return make({.kind = TypeKind::optional, .inner = {value}}); }
  const Type* type(const Type* value) { return make({.kind = TypeKind::type, .inner = {value}}); }
  const Type* parameter(std::string name) { return make({.kind = TypeKind::parameter, .name = std::move(name)}); }
  const Type* make(Type type);

  // "map(string, list(T))", as to_string writes it: the form in which functions are declared. A single capital letter
  // is a parameter; within one text, or one `parameters`, a name is one parameter.
  Result<const Type*> parse(std::string_view text, std::map<std::string, const Type*>& parameters);

 private:
  const Type* basic_;  // those that every pool has
  std::vector<std::unique_ptr<Type>> made_;
};

std::string to_string(const Type& type);

// What type() says of a value, without what the list or map holds: "list".
std::string runtime_name(const Type& type);
bool same_runtime_type(const Type& left, const Type& right);

// The type of values of a kind, for type().
const Type* runtime_type(Kind kind);

// What parameters stand for while one expression is checked.
class Bindings {
 public:
  // Whether a value of type `given` can stand where `wanted` is; parameters are bound so that it can. Nothing is bound
  // if it cannot.
  bool assignable(const Type* wanted, const Type* given);
  bool assignable(const std::vector<const Type*>& wanted, const std::vector<const Type*>& given);

  // The type of a list of both: the more general of the two, or dyn if neither takes the other.
  const Type* join(const Type* left, const Type* right, const TypePool& pool);

  // The type with all that is known filled in; what stays unknown is dyn if `whole`.
  const Type* resolve(const Type* type, TypePool& pool, bool whole) const;

 private:
  bool try_assign(const Type* wanted, const Type* given);
  bool bind(const Type* parameter, const Type* to);
  bool mentions(const Type* type, const Type* parameter) const;
  const Type* known(const Type* type) const;

  std::unordered_map<const Type*, const Type*> bound_;
};

}  // namespace sluice::cel
