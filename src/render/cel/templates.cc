// The oc_ functions, which templates of component types use.
#include <algorithm>

#include "base/ascii.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "render/cel/library.h"

namespace sluice::cel {
namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kLongestLabel = 63;
constexpr size_t kHashDigits = 8;

Value omit(const Call&) { return Value::omitted(); }

// Later maps win, key by key; keys keep the place where they stood first.
Value merge(const Call& call) {
  std::vector<Entry> entries;
  for (const auto& each : call.given) {
    if (!each.is(Kind::map)) return call.fault(no_overload("oc_merge", call.given));
    for (const auto& entry : each.map->entries) {
      const auto known =
          std::find_if(entries.begin(), entries.end(), [&](const Entry& other) { return equal(other.key, entry.key); });
      if (known == entries.end()) {
        entries.push_back(entry);
      } else {
        known->value = entry.value;
      }
    }
  }
  return call.arena.map(entries, call.offset);
}

Value hash(const Call& call) {
  uint32_t state = 2166136261u;  // FNV-1a
  for (const char each : call[0].text) state = (state ^ static_cast<unsigned char>(each)) * 16777619u;
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[state >> shift & 15];
  return call.string(text);
}

// Lower case, digits and dashes, with a letter or digit at both ends.
std::string sanitised(std::string_view text) {
  std::string made;
  for (const char each : text) {
    const char lower = to_lower(each);
    if (is_lower(lower) || is_digit(lower)) {
      made += lower;
    } else if (!made.empty() && made.back() != '-') {
      made += '-';
    }
  }
  while (made.ends_with('-')) made.pop_back();
  return made;
}

// The parts joined by dashes, and eight digits of the SHA-256 of what was given, so that two names that look the same
// after sanitising, or were cut, differ.
Value name(const Call& call, size_t longest) {
  std::string raw, shown;
  for (const auto& each : call.given) {
    if (!each.is(Kind::string))
      return call.fault("a name is made of strings, not of a " + std::string(name_of(each.kind)));
    if (&each != call.given.data()) raw += '-';
    raw += each.text;
  }
  shown = sanitised(raw).substr(0, longest - kHashDigits - 1);
  while (shown.ends_with('-')) shown.pop_back();
  if (!shown.empty()) shown += '-';
  return call.string(shown + crypto::to_hex(crypto::sha256(raw)).substr(0, kHashDigits));
}
Value generate_name(const Call& call) { return name(call, kLongestName); }
Value dns_label(const Call& call) { return name(call, kLongestLabel); }

constexpr Declared kTemplates[] = {
    {"oc_omit() -> dyn", omit},
    {"oc_hash(string) -> string", hash},
};

}  // namespace

std::span<const Declared> template_functions() { return kTemplates; }

void add_template_functions(Library& library) {
  std::string maps = "map(string, dyn)", texts = "string";
  for (int count = 1; count <= 10; ++count) {
    library.add("oc_merge(" + maps + ") -> map(string, dyn)", merge);
    library.add("oc_generate_name(" + texts + ") -> string", generate_name);
    library.add("oc_dns_label(" + texts + ") -> string", dns_label);
    maps += ", map(string, dyn)";
    texts += ", string";
  }
}

}  // namespace sluice::cel
