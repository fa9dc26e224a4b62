// One pass over the tree into one string. Members are sorted on a stack that all objects share, so that an object costs
// no allocation of its own.
#include "base/canonical_json.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_place.h"
#include "base/json_text.h"

namespace sluice {
namespace {

constexpr size_t kMaxDepth = 1000;
constexpr int64_t kMaxSafeInteger = int64_t{1} << 53;  // up to here doubles and integers are the same

// The order of UTF-16 code units is the order of UTF-8's bytes but for one case: code points past U+FFFF, whose
// surrogates D800–DFFF come before E000–FFFF. In UTF-8 the former begin with F0 to F4, the latter with EE or EF, and no
// other byte is as large; so moving these two past F4 gives bytes that sort as the code units do.
unsigned char sort_byte(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

// A member with the beginning of its key as a number that sorts alike: most comparisons need nothing else.
struct SortedMember {
  explicit SortedMember(const json::key_value_pair& pair) : member(&pair) {
    std::string_view key = view(pair.key());
    size_t size = std::min(key.size(), sizeof prefix);
    for (size_t i = 0; i < size; ++i) prefix = prefix << 8 | sort_byte(key[i]);
    if (size > 0) prefix <<= 8 * (sizeof prefix - size);
  }

  bool operator<(const SortedMember& other) const {
    if (prefix != other.prefix) return prefix < other.prefix;
    std::string_view a = view(member->key());
    std::string_view b = view(other.member->key());
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](char x, char y) { return sort_byte(x) < sort_byte(y); });
  }

  uint64_t prefix = 0;
  const json::key_value_pair* member;
};

class CanonicalWriter {
 public:
  // False stops the walk; `error` then says why.
  bool append(const json::value& value, const Place& place, size_t depth) {
    switch (value.kind()) {
      case json::kind::null:
        out.append("null");
        return true;
      case json::kind::bool_:
        out.append(value.get_bool() ? "true" : "false");
        return true;
      case json::kind::int64:
        return append_integer(value.get_int64(), place);
      case json::kind::uint64:
        return append_integer(value.get_uint64(), place);
      case json::kind::double_:
        return append_double(value.get_double(), place);
      case json::kind::string:
        return append_string(view(value.get_string()), place);
      case json::kind::array:
        return depth < kMaxDepth ? append_array(value.get_array(), place, depth) : refuse_depth(place);
      case json::kind::object:
        return depth < kMaxDepth ? append_object(value.get_object(), place, depth) : refuse_depth(place);
    }
    return false;
  }

  TextBuffer out;
  std::optional<Error> error;

 private:
  bool append_array(const json::array& array, const Place& place, size_t depth) {
    out.append('[');
    for (size_t i = 0; i < array.size(); ++i) {
      if (i > 0) out.append(',');
      if (!append(array[i], place.element(i), depth + 1)) return false;
    }
    out.append(']');
    return true;
  }

  bool append_object(const json::object& object, const Place& place, size_t depth) {
    size_t first = members_.size();
    for (const auto& member : object) members_.emplace_back(member);
    std::sort(members_.begin() + static_cast<ptrdiff_t>(first), members_.end());
    out.append('{');
    for (size_t i = first; i < first + object.size(); ++i) {
      const json::key_value_pair& member = *members_[i].member;
      Place inner = place.member(view(member.key()));
      if (i > first) out.append(',');
      if (!append_string(view(member.key()), inner)) return false;
      out.append(':');
      if (!append(member.value(), inner, depth + 1)) return false;
    }
    out.append('}');
    members_.erase(members_.begin() + static_cast<ptrdiff_t>(first), members_.end());
    return true;
  }

  bool append_string(std::string_view text, const Place& place) {
    return append_json_string(out, text) || refuse("a string that is not valid UTF-8 has no canonical form", place);
  }

  bool append_double(double number, const Place& place) {
    if (!std::isfinite(number)) {
      return refuse(std::isnan(number) ? "NaN has no canonical form" : "an infinite number has no canonical form",
                    place);
    }
    append_json_number(out, number);
    return true;
  }

  // A large integer passes if a double holds it exactly, or if it is what that double's canonical text reads back as:
  // 2^60 is 1152921504606847000 in ECMAScript, and so is that integer.
  template <class Integer>
  bool append_integer(Integer number, const Place& place) {
    std::array<char, 24> buffer;
    auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    std::string_view digits(buffer.data(), static_cast<size_t>(done.ptr - buffer.data()));
    if (std::cmp_less_equal(number, kMaxSafeInteger) && std::cmp_greater_equal(number, -kMaxSafeInteger)) {
      out.append(digits);
      return true;
    }
    size_t start = out.size();
    append_json_number(out, static_cast<double>(number));
    if (digits == out.view().substr(start) || is_exact(number)) return true;
    return refuse("the integer " + std::string(digits) + " has no canonical form, a double cannot hold it exactly",
                  place);
  }

  template <class Integer>
  static bool is_exact(Integer number) {
    // The largest integers round up to 2^63 or 2^64, which do not fit back.
    auto nearest = static_cast<double>(number);
    return nearest < std::ldexp(1.0, std::is_signed_v<Integer> ? 63 : 64) && static_cast<Integer>(nearest) == number;
  }

  bool refuse_depth(const Place& place) {
    refuse("arrays and objects are nested deeper than " + std::to_string(kMaxDepth) + " levels", place);
    error->code = Code::limit;
    error->next = "nest less deeply";
    return false;
  }

  bool refuse(std::string message, const Place& place) {
    error = Error{.code = Code::invalid, .message = std::move(message), .path = place.pointer()};
    return false;
  }

  std::vector<SortedMember> members_;  // of the objects that are open
};

}  // namespace

Result<std::string> canonical(const json::value& value) {
  CanonicalWriter writer;
  if (!writer.append(value, Place(), 0)) return *std::move(writer.error);
  return std::string(writer.out.view());
}

}  // namespace sluice
