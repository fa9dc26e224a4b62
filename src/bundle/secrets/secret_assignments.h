// Secrets that are known by the name that they are given to: `db_password = "…"`. Used by
// bundle/secrets/content_scanner.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::bundle {

// An assignment: the name before the sign at `sign`, '=' or ':', and the value behind it.
struct Assignment {
  std::string_view name;
  std::string_view value;
  bool quoted = false;
  bool at_line_start = false;
};

// Nothing if there is no name, or no value.
std::optional<Assignment> assignment_at(std::string_view text, size_t sign);

// Whether the name is one that secrets have: db_password, API_TOKEN, clientSecret.
bool names_a_secret(std::string_view name);
// Whether a value is a stand-in: ${PASSWORD}, <your token>, changeme, xxxxxxxx.
bool is_placeholder(std::string_view value);
// Whether a value looks like something that was made to be hard to guess.
bool looks_random(std::string_view value);

}  // namespace sluice::bundle
