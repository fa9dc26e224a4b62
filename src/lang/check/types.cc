// The table and its relations. Depth of recursion is that of the types as written, which the parser limits.
#include "lang/check/types.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>

#include "base/nearest.h"
#include "lang/run/values.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

constexpr std::array<std::string_view, 11> kPlainNames = {"unknown", "null",     "String", "Int",     "Float", "Bool",
                                                          "Bytes",   "DateTime", "ID",     "Request", "Sealed"};

bool is_plain(Kind kind) { return static_cast<size_t>(kind) < kPlainNames.size(); }

// Ids and text, which the language does not tell apart by value.
bool is_opaque(Kind kind) { return kind == Kind::parameter || kind == Kind::id; }

Fit worse(Fit a, Fit b) { return std::max(a, b); }

}  // namespace

Types::Types() {
  for (size_t kind = 0; kind < kPlainNames.size(); ++kind) add({.kind = static_cast<Kind>(kind)});
}

TypeId Types::add(Shape shape) {
  std::string key = std::to_string(static_cast<int>(shape.kind));
  auto with = [&key](const std::string& part) { key += ' ' + std::to_string(part.size()) + ':' + part; };
  with(shape.owner);
  with(shape.name);
  with(shape.tag);
  for (TypeId inner : shape.inner) key += ' ' + std::to_string(inner);
  for (const std::string& name : shape.names) with(name);
  auto [place, fresh] = by_text_.try_emplace(std::move(key), static_cast<TypeId>(shapes_.size()));
  if (fresh) shapes_.push_back(std::move(shape));
  return place->second;
}

TypeId Types::option_of(TypeId inner) { return add({.kind = Kind::option, .inner = {inner}}); }
TypeId Types::list_of(TypeId inner) { return add({.kind = Kind::list, .inner = {inner}}); }

TypeId Types::texts(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  std::unordered_set<std::string_view> seen;
  for (const std::string& text : texts) {
    if (seen.insert(text).second) once.push_back(text);
  }
  if (once.size() > kMaxTexts) return of(Kind::string);
  return add({.kind = Kind::literals, .names = std::move(once)});
}

std::optional<TypeId> Types::join(TypeId a, TypeId b) {
  const Shape& one = shapes_[a];
  const Shape& other = shapes_[b];
  if (a == b || one.kind == Kind::unknown) return a;
  if (other.kind == Kind::unknown) return b;
  if (one.kind == Kind::null || other.kind == Kind::null) return option_of(present(one.kind == Kind::null ? b : a));
  if (one.kind == Kind::option || other.kind == Kind::option) {
    auto inner = join(present(a), present(b));
    return inner ? std::optional(option_of(*inner)) : std::nullopt;
  }
  if (assignable(a, b) != Fit::no) return b;
  if (assignable(b, a) != Fit::no) return a;
  if (one.kind != other.kind) return std::nullopt;
  switch (one.kind) {
    case Kind::literals: {
      std::vector<std::string> both = one.names;
      both.insert(both.end(), other.names.begin(), other.names.end());
      return texts(std::move(both));
    }
    case Kind::list:
    case Kind::set: {
      auto inner = join(one.inner[0], other.inner[0]);
      return inner ? std::optional(add({.kind = one.kind, .inner = {*inner}})) : std::nullopt;
    }
    case Kind::record: {
      Shape both{.kind = Kind::record};
      for (size_t i = 0; i < one.names.size(); ++i) {
        auto there = field(b, one.names[i]);
        auto inner = there ? join(one.inner[i], *there) : option_of(present(one.inner[i]));
        if (!inner) return std::nullopt;
        both.names.push_back(one.names[i]);
        both.inner.push_back(*inner);
      }
      for (size_t i = 0; i < other.names.size(); ++i) {
        if (field(a, other.names[i])) continue;
        both.names.push_back(other.names[i]);
        both.inner.push_back(option_of(present(other.inner[i])));
      }
      return add(std::move(both));
    }
    default:
      return std::nullopt;
  }
}

bool Types::has_order(TypeId id) const {
  switch (shapes_[present(id)].kind) {
    case Kind::unknown:
    case Kind::integer:
    case Kind::floating:
    case Kind::string:
    case Kind::date_time:
    case Kind::parameter:
    case Kind::id:
      return true;
    default:
      return false;
  }
}

TypeId Types::present(TypeId id) const {
  while (shapes_[id].kind == Kind::option) id = shapes_[id].inner[0];
  return id;
}

TypeId Types::element(TypeId id) const {
  const Shape& shape = shapes_[present(id)];
  return shape.kind == Kind::list || shape.kind == Kind::set ? shape.inner[0] : kUnknownType;
}

std::optional<TypeId> Types::field(TypeId record, std::string_view name) const {
  const Shape& shape = shapes_[present(record)];
  if (shape.kind == Kind::unknown) return kUnknownType;
  if (shape.kind != Kind::record) return std::nullopt;
  auto found = std::ranges::find(shape.names, name);
  if (found == shape.names.end()) return std::nullopt;
  return shape.inner[static_cast<size_t>(found - shape.names.begin())];
}

bool Types::holds_sealed(TypeId id) const {
  const Shape& shape = shapes_[id];
  return shape.kind == Kind::sealed ||
         std::ranges::any_of(shape.inner, [this](TypeId inner) { return holds_sealed(inner); });
}

Fit Types::assignable(TypeId from, TypeId to) const {
  if (from == to) return Fit::yes;
  const Shape& source = shapes_[from];
  const Shape& target = shapes_[to];
  if (source.kind == Kind::unknown || target.kind == Kind::unknown) return Fit::yes;
  if (target.kind == Kind::option) {
    if (source.kind == Kind::null) return Fit::yes;
    return assignable(source.kind == Kind::option ? source.inner[0] : from, target.inner[0]);
  }
  if (source.kind == Kind::parameter && target.kind == Kind::parameter) {
    bool apart = !source.tag.empty() && !target.tag.empty() && source.tag != target.tag;
    return apart ? Fit::misaligned : Fit::yes;
  }
  auto textual = [](Kind kind) { return is_opaque(kind) || kind == Kind::string; };
  if (textual(source.kind) && textual(target.kind)) return Fit::yes;
  if (source.kind == Kind::integer && target.kind == Kind::floating) return Fit::yes;
  if (source.kind == Kind::literals) {
    if (textual(target.kind)) return Fit::yes;
    if (target.kind != Kind::literals) return Fit::no;
    bool all = std::ranges::all_of(source.names, [&](const std::string& name) {
      return std::ranges::find(target.names, name) != target.names.end();
    });
    return all ? Fit::yes : Fit::no;
  }
  if (source.kind != target.kind) return Fit::no;
  switch (source.kind) {
    case Kind::list:
    case Kind::set:
      return assignable(source.inner[0], target.inner[0]);
    case Kind::mapping:
      return worse(assignable(source.inner[0], target.inner[0]), assignable(source.inner[1], target.inner[1]));
    case Kind::record: {
      Fit fit = Fit::yes;
      for (size_t i = 0; i < target.names.size(); ++i) {
        auto given = field(from, target.names[i]);
        if (given) {
          fit = worse(fit, assignable(*given, target.inner[i]));
        } else if (shapes_[target.inner[i]].kind != Kind::option) {
          return Fit::no;
        }
      }
      for (const std::string& name : source.names) {
        if (!field(to, name)) return Fit::no;
      }
      return fit;
    }
    default:
      return Fit::no;
  }
}

Fit Types::comparable(TypeId a, TypeId b) const {
  a = present(a);
  b = present(b);
  const Shape& left = shapes_[a];
  const Shape& right = shapes_[b];
  if (left.kind == Kind::literals && right.kind == Kind::literals) {
    bool share = std::ranges::any_of(
        left.names, [&](const std::string& name) { return std::ranges::find(right.names, name) != right.names.end(); });
    return share ? Fit::yes : Fit::no;
  }
  return std::min(assignable(a, b), assignable(b, a));
}

Fit Types::literal_fits(const json::value& value, TypeId to) const {
  const Shape& target = shapes_[to];
  switch (target.kind) {
    case Kind::unknown:
      return Fit::yes;
    case Kind::option:
      return value.is_null() ? Fit::yes : literal_fits(value, target.inner[0]);
    case Kind::string:
    case Kind::parameter:
    case Kind::id:
      return value.is_string() ? Fit::yes : Fit::no;
    case Kind::bytes:
      return value.is_string() && parse_base64(value.get_string()) ? Fit::yes : Fit::no;
    case Kind::date_time:
      return value.is_string() && parse_date_time(value.get_string()) ? Fit::yes : Fit::no;
    case Kind::integer:
      return value.is_int64() || value.is_uint64() ? Fit::yes : Fit::no;
    case Kind::floating:
      return value.is_number() ? Fit::yes : Fit::no;
    case Kind::boolean:
      return value.is_bool() ? Fit::yes : Fit::no;
    case Kind::literals: {
      if (!value.is_string()) return Fit::no;
      std::string_view text(value.get_string().data(), value.get_string().size());
      return std::ranges::find(target.names, text) != target.names.end() ? Fit::yes : Fit::no;
    }
    default:
      return Fit::no;
  }
}

std::string Types::literal_form(const json::value& value, TypeId to) const {
  if (literal_fits(value, to) == Fit::yes) return {};
  switch (value.is_string() ? shapes_[present(to)].kind : Kind::unknown) {
    case Kind::bytes:
      return "write base64 text with its padding";
    case Kind::date_time:
      return "write a UTC time such as \"2030-01-31T12:00:00.000Z\"";
    case Kind::literals:
      if (auto near =
              nearest(std::string_view(value.get_string()), std::span<const std::string>(shapes_[present(to)].names)))
        return "did you mean \"" + *near + "\"?";
      break;
    default:
      break;
  }
  return "write a value of type " + name(to);
}

Fit Types::literal_compares(const json::value& value, TypeId to) const {
  if (value.is_null()) {
    Kind kind = shapes_[to].kind;
    return kind == Kind::option || kind == Kind::null || kind == Kind::unknown ? Fit::yes : Fit::no;
  }
  to = present(to);
  Kind kind = shapes_[to].kind;
  bool numbers = value.is_number() && (kind == Kind::integer || kind == Kind::floating);
  return numbers ? Fit::yes : literal_fits(value, to);
}

TypeId Types::of_literal(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return of(Kind::null);
    case json::kind::bool_:
      return of(Kind::boolean);
    case json::kind::int64:
    case json::kind::uint64:
      return of(Kind::integer);
    case json::kind::double_:
      return of(Kind::floating);
    case json::kind::string:
      return of(Kind::string);
    default:
      return kUnknownType;
  }
}

std::string Types::name(TypeId id) const {
  const Shape& shape = shapes_[id];
  if (is_plain(shape.kind)) return std::string(kPlainNames[static_cast<size_t>(shape.kind)]);
  std::string text;
  switch (shape.kind) {
    case Kind::parameter:
      return shape.name + " of " + shape.owner;
    case Kind::option:
      return "option " + name(shape.inner[0]);
    case Kind::list:
    case Kind::set:
      // Of an empty list nobody knows what it could hold.
      text = shape.kind == Kind::list ? "list" : "set";
      return shape.inner[0] == kUnknownType ? text : text + " " + name(shape.inner[0]);
    case Kind::mapping:
      return name(shape.inner[0]) + " -> " + name(shape.inner[1]);
    case Kind::literals:
      for (const std::string& literal : shape.names) text += (text.empty() ? "" : " | ") + quote(literal);
      return text;
    default:
      for (size_t i = 0; i < shape.names.size(); ++i) {
        text += (i == 0 ? " " : ", ") + shape.names[i] + ": " + name(shape.inner[i]);
      }
      return "{" + text + " }";
  }
}

}  // namespace sluice::lang
