// One rule a function.
#include "deploy/environment_rules.h"

#include <algorithm>

#include "base/ascii.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxEnvironmentName = 63;
constexpr int64_t kMostDaysKept = 36'500;
constexpr int64_t kMostStagedKept = 1000;

}  // namespace

bool is_environment_name(const std::string& text) {
  auto word = [](char c) { return is_lower(c) || is_digit(c); };
  return !text.empty() && text.size() <= kMaxEnvironmentName && word(text.front()) && word(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return word(c) || c == '-'; });
}

std::string fault_of_environment_name(const std::string& text) {
  return is_environment_name(text) ? "" : "an environment is named by 1 to 63 of a-z, 0-9 and -, with no - at an end";
}

std::string fault_of_archived_days(int64_t days) {
  return days < 0 || days > kMostDaysKept ? "archived revisions are kept for 0 to 36500 days" : "";
}

std::string fault_of_staged_count(int64_t count) {
  return count < 1 || count > kMostStagedKept ? "1 to 1000 staged revisions are kept" : "";
}

std::string fault_of_credentials(const std::string& environment, const std::string& reference) {
  const std::string own = "secret://" + environment + "/";
  return reference.empty() || reference.starts_with(own) ? "" : "credentials are referred to as " + own + "…";
}

}  // namespace sluice::deploy
