// The two closed lists, slots and built-in packs, and the grammar of descriptors.
#include "deploy/packs.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/terminal.h"

namespace sluice::deploy {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kSlots = {"deployer"sv, "secrets"sv,    "telemetry"sv, "sessions"sv,
                               "state"sv,    "revocation"sv, "iac"sv,       "gitops"sv};

constexpr std::array kBuiltIn = {
    BuiltInPack{"deployer", "sluice.deployer.local-process", "1"},
    BuiltInPack{"secrets", "sluice.secrets.store", "1"},
    BuiltInPack{"telemetry", "sluice.telemetry.stdout", "1"},
    BuiltInPack{"sessions", "sluice.sessions.memory", "1"},
    BuiltInPack{"sessions", kRedisSessions, "1"},
    BuiltInPack{"state", "sluice.state.memory", "1"},
};

constexpr std::array kDefaults = {
    DefaultPack{"deployer", "sluice.deployer.local-process@1.0.0"},
    DefaultPack{"secrets", "sluice.secrets.store@1.0.0"},
    DefaultPack{"telemetry", "sluice.telemetry.stdout@1.0.0"},
    DefaultPack{"sessions", "sluice.sessions.memory@1.0.0"},
    DefaultPack{"state", "sluice.state.memory@1.0.0"},
};

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
std::span<const BuiltInPack> built_in_packs() { return kBuiltIn; }
std::span<const DefaultPack> default_packs() { return kDefaults; }

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

const BuiltInPack* find_built_in(std::string_view path) {
  const auto* found = std::ranges::find(kBuiltIn, path, &BuiltInPack::path);
  return found == kBuiltIn.end() ? nullptr : found;
}

std::string runtime_type_of(const PackDescriptor& deployer) {
  if (deployer.path == "sluice.deployer.local-process") return "local";
  return deployer.path.substr(deployer.path.rfind('.') + 1);
}

}  // namespace sluice::deploy
