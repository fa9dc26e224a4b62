// Resolved types: what a type in a `.concept` means once its names are known, and what may be given where.
//
// Types are interned in one table per kit, so that a type is a number and equal types are the same number.
//
// What may be given for what (assignable):
//   a type                   for itself; an unknown type, which stands for an error already told, for everything
//   a type parameter, ID     for String, and String for them: parameters are opaque ids
//   a parameter              for another one; if the suite tags both and the tags differ, they are misaligned
//   Int                      for Float
//   T                        for option T
//   "a" | "b"                for String, for a parameter, and for a union that has both
//   list, set, record        element by element, field by field; an option field may be left out of a record
// Nothing else. A literal is more pliant than its type: a string may stand for a DateTime or Bytes, and for a union
// that has it (see literal_fits).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

using TypeId = uint32_t;

struct Shape {
  enum class Kind {
    unknown,
    null,
    string,
    integer,
    floating,
    boolean,
    bytes,
    date_time,
    id,
    request,
    sealed,
    parameter,  // name, owner, tag
    option,     // inner[0]
    list,       // inner[0]
    set,        // inner[0]
    record,     // names[i]: inner[i]
    literals,   // names
    mapping,    // inner[0] -> inner[1]
  };
  Kind kind = Kind::unknown;
  std::string name;   // parameter
  std::string owner;  // parameter: its concept
  std::string tag;    // parameter: `as` of the suite, may be empty
  std::vector<std::string> names;
  std::vector<TypeId> inner;
};

enum class Fit { yes, misaligned, no };

class Types {
 public:
  // A union may have so many texts: what looks one up goes through all of them.
  static constexpr size_t kMaxTexts = 1000;

  Types();

  TypeId add(Shape shape);
  const Shape& operator[](TypeId id) const { return shapes_[id]; }

  static TypeId of(Shape::Kind kind) { return static_cast<TypeId>(kind); }  // a kind without parts
  TypeId option_of(TypeId inner);
  TypeId list_of(TypeId inner);
  // The union of these texts; String if there are too many.
  TypeId texts(const std::vector<std::string>& texts);

  // The narrowest type for which values of both may be given, as of the elements of a list or of what several actions
  // have under one name. With null it is an option. Nothing if there is none.
  std::optional<TypeId> join(TypeId a, TypeId b);

  // The type inside options: what a variable holds that a pattern has bound, as it matches only what is there.
  TypeId present(TypeId id) const;
  // The type of a list's or a set's element; unknown if it is neither.
  TypeId element(TypeId id) const;
  // The type of a record's field; nothing if it is no record or has no such field.
  std::optional<TypeId> field(TypeId record, std::string_view name) const;
  bool holds_sealed(TypeId id) const;

  Fit assignable(TypeId from, TypeId to) const;
  // Whether values of these types may be compared or joined: one can be given for the other.
  Fit comparable(TypeId a, TypeId b) const;
  Fit literal_fits(const json::value& value, TypeId to) const;
  // How a text must be written to be one of this type, when it is a text and is not: "write a UTC time such as …".
  std::string literal_form(const json::value& value, TypeId to) const;
  // The same for a comparison, where any two numbers may stand.
  Fit literal_compares(const json::value& value, TypeId to) const;
  // Whether `<` has a meaning.
  bool has_order(TypeId id) const;
  static TypeId of_literal(const json::value& value);

  // As a person would write it: `list String`, `R of Rollout`, `{ node: String, kind: String }`.
  std::string name(TypeId id) const;

 private:
  std::deque<Shape> shapes_;  // a Shape stays where it is when others are added
  std::map<std::string, TypeId> by_text_;
};

inline constexpr TypeId kUnknownType = 0;

}  // namespace sluice::lang
