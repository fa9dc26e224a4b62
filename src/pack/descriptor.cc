// The closed list of slots, and the grammar of descriptors.
#include "pack/descriptor.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/terminal.h"

namespace sluice::pack {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kSlots = {"deployer"sv, "secrets"sv,    "telemetry"sv, "sessions"sv,
                               "state"sv,    "revocation"sv, "iac"sv,       "gitops"sv};

constexpr size_t kMaxDescriptor = 200;

// A part of a version: digits without a needless 0 before them.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 && std::ranges::all_of(text, is_digit) &&
         (text.size() == 1 || text.front() != '0');
}

bool is_version(std::string_view text) {
  if (size_t plus = text.find('+'); plus != std::string_view::npos) {
    if (plus + 1 == text.size()) return false;
    text = text.substr(0, plus);
  }
  if (size_t dash = text.find('-'); dash != std::string_view::npos) {
    auto word = [](char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '.' || c == '-'; };
    if (dash + 1 == text.size() || !std::ranges::all_of(text.substr(dash + 1), word)) return false;
    text = text.substr(0, dash);
  }
  size_t first = text.find('.'), second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return false;
  return is_number(text.substr(0, first)) && is_number(text.substr(first + 1, second - first - 1)) &&
         is_number(text.substr(second + 1));
}

Error no_descriptor(std::string_view text, const std::string& why) {
  return {.code = Code::invalid,
          .message = "'" + printable(text.substr(0, kMaxDescriptor)) + "' names no pack: " + why,
          .next = "a pack is named as sluice.deployer.local-process@1.0.0"};
}

}  // namespace

std::span<const std::string_view> slots() { return kSlots; }
bool is_slot(std::string_view name) { return std::ranges::find(kSlots, name) != kSlots.end(); }

Result<PackDescriptor> parse_descriptor(std::string_view text) {
  if (text.size() > kMaxDescriptor) return no_descriptor(text, "it is longer than 200 characters");
  size_t at = text.find('@');
  if (at == std::string_view::npos) return no_descriptor(text, "it has no @ and version");
  std::string_view path = text.substr(0, at), version = text.substr(at + 1);
  if (path.empty()) return no_descriptor(text, "there is nothing before the @");
  if (path.find('.') == std::string_view::npos) return no_descriptor(text, "its path has no dot");
  auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '.' || c == '-'; };
  if (!std::ranges::all_of(path, fits)) return no_descriptor(text, "its path has more than a-z, 0-9, . and -");
  if (path.front() == '.' || path.back() == '.' || path.find("..") != std::string_view::npos) {
    return no_descriptor(text, "a word of its path is empty");
  }
  if (!is_version(version)) return no_descriptor(text, "'" + printable(version) + "' is no version such as 1.0.0");
  return PackDescriptor{std::string(path), std::string(version)};
}

std::string to_string(const PackDescriptor& descriptor) { return descriptor.path + "@" + descriptor.version; }

std::string concept_name_of(const PackDescriptor& descriptor) {
  std::string name;
  bool begins = true;
  for (char c : descriptor.path) {
    if (c != '.') name += c == '-' ? '_' : begins && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '.';
  }
  if (is_digit(name.front()) || name.front() == '_') name.insert(0, "P");
  name += "_";
  for (char c : descriptor.version) name += is_digit(c) || is_lower(c) || is_upper(c) ? c : '_';
  return name;
}

}  // namespace sluice::pack
