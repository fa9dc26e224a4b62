// Secrets that are known by the name that they are given to, in assignments (`db_password = "…"`), in elements of XML,
// in Dockerfiles, and in pairs of `name` and `value`. Used by bundle/secrets/content_scanner.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::bundle {

// An assignment: a name and the value that it gets.
struct Assignment {
  std::string_view name;
  std::string_view value;
  bool quoted = false;
  bool at_line_start = false;
};

// The name before the sign at `sign`, '=' or ':', and the value behind it. Nothing if there is no name, or no value.
std::optional<Assignment> assignment_at(std::string_view text, size_t sign);
// The content of the element whose tag ends with the '>' at `close`: `<password>…</password>`, `<string
// name="token">…`.
std::optional<Assignment> element_at(std::string_view text, size_t close);
// The line of a Dockerfile that begins at `line`: `ENV DB_PASSWORD …`.
std::optional<Assignment> docker_env_at(std::string_view text, size_t line);
// What a value is called if its own name, which begins at `at`, is no more than "value": `name: DB_PASSWORD` before
// `value: …`, in YAML, JSON or XML; empty if nothing is.
std::string_view name_of_value(std::string_view text, std::string_view own_name, size_t at);

// Whether the name is one that secrets have: db_password, API_TOKEN, clientSecret.
bool names_a_secret(std::string_view name);
// Whether it is the name of something that people think up rather than make: a password, a passphrase.
bool names_a_password(std::string_view name);
// Whether a value is a stand-in: ${PASSWORD}, <your token>, changeme, xxxxxxxx.
bool is_placeholder(std::string_view value);
// Whether a value looks like something that was made to be hard to guess.
bool looks_random(std::string_view value);
// Whether a value of a few letters looks like a password that somebody thought up: small letters, capitals or signs,
// and digits.
bool looks_thought_up(std::string_view value);
// Whether letters of base64 are a name and a password, as in HTTP's Basic scheme and in Docker's settings.
bool is_login(std::string_view letters);

}  // namespace sluice::bundle
