// Comparison, hashing and printing of JSON values.
#include "engine/journal/value.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <functional>

#include "base/utf8.h"

namespace sluice::engine {
namespace {

enum class Rank { null, no, yes, number, string, array, object };

Rank rank(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return Rank::null;
    case json::kind::bool_:
      return value.get_bool() ? Rank::yes : Rank::no;
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return Rank::number;
    case json::kind::string:
      return Rank::string;
    case json::kind::array:
      return Rank::array;
    case json::kind::object:
      return Rank::object;
  }
  return Rank::null;
}

// Every number in one of three forms, such that equal ones have the same: negative integer, other integer, fraction.
struct Number {
  enum class Form { negative, integer, fraction };
  Form form = Form::integer;
  int64_t negative = 0;
  uint64_t integer = 0;
  double fraction = 0;

  explicit Number(const json::value& value) {
    if (value.is_uint64()) {
      integer = value.get_uint64();
    } else if (value.is_int64()) {
      set(value.get_int64());
    } else {
      double number = value.get_double();
      constexpr double kTwo63 = 9223372036854775808.0;
      const bool whole = std::trunc(number) == number;
      if (whole && number >= -kTwo63 && number < kTwo63) {
        set(static_cast<int64_t>(number));
      } else if (whole && number >= 0 && number < 2 * kTwo63) {
        integer = static_cast<uint64_t>(number);
      } else {
        set_fraction(number);
      }
    }
  }

  void set(int64_t number) {
    if (number < 0) {
      form = Form::negative;
      negative = number;
    } else {
      integer = static_cast<uint64_t>(number);
    }
  }
  void set_fraction(double number) {
    form = Form::fraction;
    fraction = number;
  }
};

std::strong_ordering order_doubles(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  return a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

// `fraction` is no integer of 64 bits, so it never equals one: below, between or above.
std::strong_ordering order_with_fraction(const Number& number, double fraction) {
  if (number.form == Number::Form::negative) {
    if (fraction >= 0) return std::strong_ordering::less;
    if (fraction < -9223372036854775808.0) return std::strong_ordering::greater;
    // number < fraction, if it is at most the integer below.
    return number.negative <= static_cast<int64_t>(std::floor(fraction)) ? std::strong_ordering::less
                                                                         : std::strong_ordering::greater;
  }
  if (fraction < 0) return std::strong_ordering::greater;
  if (fraction >= 18446744073709551616.0) return std::strong_ordering::less;
  return number.integer <= static_cast<uint64_t>(std::floor(fraction)) ? std::strong_ordering::less
                                                                       : std::strong_ordering::greater;
}

std::strong_ordering order_numbers(const Number& a, const Number& b) {
  using Form = Number::Form;
  if (a.form == Form::fraction && b.form == Form::fraction) return order_doubles(a.fraction, b.fraction);
  if (b.form == Form::fraction) return order_with_fraction(a, b.fraction);
  // NOLINTNEXTLINE(modernize-use-nullptr): it is no pointer
  if (a.form == Form::fraction) return 0 <=> order_with_fraction(b, a.fraction);
  if (a.form != b.form) return a.form <=> b.form;
  return a.form == Form::negative ? a.negative <=> b.negative : a.integer <=> b.integer;
}

std::strong_ordering order_text(std::string_view a, std::string_view b) { return a.compare(b) <=> 0; }

std::vector<const json::key_value_pair*> by_name(const json::object& object) {
  std::vector<const json::key_value_pair*> members;
  members.reserve(object.size());
  for (const auto& each : object) members.push_back(&each);
  std::ranges::sort(members, {}, [](const json::key_value_pair* each) { return std::string_view(each->key()); });
  return members;
}

std::strong_ordering order_objects(const json::object& a, const json::object& b) {
  auto left = by_name(a), right = by_name(b);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (auto found = order_text(left[i]->key(), right[i]->key()); std::is_neq(found)) return found;
    if (auto found = order(left[i]->value(), right[i]->value()); std::is_neq(found)) return found;
  }
  return left.size() <=> right.size();
}

}  // namespace

std::strong_ordering order(const json::value& a, const json::value& b) {
  Rank left = rank(a), right = rank(b);
  if (left != right) return left <=> right;
  switch (left) {
    case Rank::null:
    case Rank::no:
    case Rank::yes:
      return std::strong_ordering::equal;
    case Rank::number:
      return order_numbers(Number(a), Number(b));
    case Rank::string:
      return order_text(a.get_string(), b.get_string());
    case Rank::array: {
      const json::array &one = a.get_array(), &other = b.get_array();
      for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
        if (auto found = order(one[i], other[i]); std::is_neq(found)) return found;
      }
      return one.size() <=> other.size();
    }
    case Rank::object:
      return order_objects(a.get_object(), b.get_object());
  }
  return std::strong_ordering::equal;
}

std::strong_ordering order(const Value& a, const Value& b) {
  if (!a || !b) return a.has_value() <=> b.has_value();
  return order(*a, *b);
}

bool equal(const json::value& a, const json::value& b) {
  if (a.is_string() && b.is_string()) return a.get_string() == b.get_string();
  if (!a.is_object() || !b.is_object()) return std::is_eq(order(a, b));
  const json::object &one = a.get_object(), &other = b.get_object();
  if (one.size() != other.size()) return false;
  return std::ranges::all_of(one, [&](const json::key_value_pair& each) {
    const json::value* found = other.if_contains(each.key());
    return found != nullptr && equal(each.value(), *found);
  });
}

size_t combine(size_t seed, size_t hash) { return (seed ^ hash) * 0x9e3779b97f4a7c15 + (seed >> 29); }

size_t hash_of(const json::value& value) {
  size_t seed = static_cast<size_t>(rank(value)) + 1;
  switch (rank(value)) {
    case Rank::null:
    case Rank::no:
    case Rank::yes:
      return combine(seed, 0);
    case Rank::number: {
      Number number(value);
      seed = combine(seed, static_cast<size_t>(number.form));
      if (number.form == Number::Form::fraction) return combine(seed, std::hash<double>()(number.fraction));
      bool negative = number.form == Number::Form::negative;
      return combine(seed, negative ? static_cast<uint64_t>(number.negative) : number.integer);
    }
    case Rank::string:
      return combine(seed, std::hash<std::string_view>()(value.get_string()));
    case Rank::array:
      for (const json::value& each : value.get_array()) seed = combine(seed, hash_of(each));
      return seed;
    case Rank::object:
      return hash_of(value.get_object());
  }
  return seed;
}

size_t hash_of(const json::object& object) {
  size_t sum = 0;  // members in any order
  for (const auto& each : object) {
    sum += combine(std::hash<std::string_view>()(each.key()), hash_of(each.value()));
  }
  return combine(static_cast<size_t>(Rank::object) + 1, sum);
}

const json::value* member(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const json::value* member_at(const json::object& object, std::string_view path) {
  const json::object* inside = &object;
  while (true) {
    size_t dot = path.find('.');
    const json::value* found = member(*inside, path.substr(0, dot));
    if (found == nullptr || dot == std::string_view::npos) return found;
    inside = found->if_object();
    if (inside == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

std::string text_of(const Value& value) {
  if (!value || value->is_null()) return "";
  if (value->is_string()) return std::string(value->get_string());
  return json::serialize(*value);
}

size_t text_bytes(const json::value& value, size_t most) {
  if (const auto* text = value.if_string()) return text->size() + 2;
  size_t size = 8;
  if (const auto* array = value.if_array()) {
    for (const json::value& each : *array) {
      if (size > most) break;
      size += text_bytes(each, most);
    }
  }
  if (const auto* object = value.if_object()) return text_bytes(*object, most);
  return size;
}

size_t text_bytes(const json::object& object, size_t most) {
  size_t size = 8;
  for (const auto& each : object) {
    if (size > most) break;
    size += each.key().size() + text_bytes(each.value(), most);
  }
  return size;
}

bool is_utf8(const json::value& value) {
  if (const auto* text = value.if_string()) return valid_utf8(std::string_view(text->data(), text->size()));
  if (const auto* array = value.if_array()) {
    return std::ranges::all_of(*array, [](const json::value& each) { return is_utf8(each); });
  }
  const auto* object = value.if_object();
  return object == nullptr || is_utf8(*object);
}

bool is_utf8(const json::object& object) {
  return std::ranges::all_of(object, [](const json::key_value_pair& member) {
    return valid_utf8(std::string_view(member.key().data(), member.key().size())) && is_utf8(member.value());
  });
}

std::string too_large(const std::string& what, size_t most) {
  return what + " has more than " + std::to_string(most >> 20U) +
         " MB; what is large belongs into a blob, with its digest in its place";
}

}  // namespace sluice::engine
