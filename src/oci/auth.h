// How a registry is told who asks: challenges of WWW-Authenticate, and the files in which people keep their logins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"

namespace sluice::oci {

struct Login {
  std::string user;
  std::string password;

  bool operator==(const Login&) const = default;
};

// "user:password", as a secret keeps it. Errors do not repeat the text.
Result<Login> parse_login(std::string_view text);
std::string to_string(const Login& login);

struct Challenge {
  bool bearer = false;  // else Basic
  std::string realm;    // where a token is to be had
  std::string service;
  std::string scope;
};
// The first challenge of a header that is Bearer or Basic; nothing if there is none.
std::optional<Challenge> parse_challenge(std::string_view header);

// Whether a password for the registry at `host` may be sent to a token server at `realm`: it is at the same host or in
// the same domain (auth.docker.io for registry-1.docker.io), and is asked over TLS unless both are on the loopback.
bool may_login_at(const std::string& host, const std::string& realm);

// The login for a host in the file that REGISTRY_AUTH_FILE names, else in Docker's config.json (DOCKER_CONFIG, else
// ~/.docker). Nothing if there is no such file or no such host in it.
Result<std::optional<Login>> login_of_file(Disk& disk, const Variables& variables, const std::string& host);
// The same from the text of such a file.
Result<std::optional<Login>> login_in(std::string_view text, const std::string& file, const std::string& host);

}  // namespace sluice::oci
