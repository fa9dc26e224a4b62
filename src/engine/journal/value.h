// JSON values as rules compare them: equal means the same value, not the same spelling. Numbers are compared by what
// they are worth (1 equals 1.0), lists element by element, records member by member in any order.
//
// The order is total and agrees with equality: null, false, true, numbers, strings byte by byte, lists, records (as
// lists of their members by name). Depth is bounded by the readers that made the values.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"

namespace sluice::engine {

using Value = std::optional<json::value>;  // none: not there

std::strong_ordering order(const json::value& a, const json::value& b);
std::strong_ordering order(const Value& a, const Value& b);  // what is not there comes first
bool equal(const json::value& a, const json::value& b);
// Equal values have equal hashes.
size_t hash_of(const json::value& value);
size_t hash_of(const json::object& object);  // as that of a value that is this object
size_t combine(size_t seed, size_t hash);

// A member of an object; null is as good as none, as an option that is empty may be written either way.
const json::value* member(const json::object& object, std::string_view name);
// The same along a path with dots.
const json::value* member_at(const json::object& object, std::string_view path);

// As a template shows it: a string without quotes, anything else as JSON, nothing for what is not there.
std::string text_of(const Value& value);

// About how many bytes a value has as text; stops counting beyond `most`.
size_t text_bytes(const json::value& value, size_t most);
size_t text_bytes(const json::object& object, size_t most);
// Whether all its strings and names are UTF-8. What is not cannot be journaled as it is.
bool is_utf8(const json::value& value);
bool is_utf8(const json::object& object);
// "its result has more than 8 MB; …"
std::string too_large(const std::string& what, size_t most);

}  // namespace sluice::engine
