// RFC 9110 challenges, as far as registries use them.
#include "oci/auth.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/json.h"
#include "crypto/base64.h"
#include "http/outgoing.h"
#include "oci/reference.h"

namespace sluice::oci {
namespace {

constexpr size_t kMaxLoginFile = 1 << 20;

bool is_token(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Reads a header from left to right.
struct Cursor {
  std::string_view rest;

  void skip_blanks() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  }
  std::string token() {
    const size_t end = static_cast<size_t>(std::ranges::find_if_not(rest, is_token) - rest.begin());
    std::string text(rest.substr(0, end));
    rest.remove_prefix(end);
    return text;
  }
  bool take(char c) {
    skip_blanks();
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  // A token, or a text in quotes.
  std::optional<std::string> value() {
    skip_blanks();
    if (!rest.starts_with('"')) return token();
    std::string text;
    for (size_t at = 1; at < rest.size(); ++at) {
      if (rest[at] == '"') {
        rest.remove_prefix(at + 1);
        return text;
      }
      if (rest[at] == '\\' && ++at == rest.size()) break;
      text += rest[at];
    }
    return std::nullopt;
  }
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

// The part of a name that one party has registered: "docker.io" of "registry-1.docker.io", "shop.co.example" where the
// second word is one that a country gives to many. An address is its own.
std::string_view domain_of(std::string_view name) {
  if (std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.' || c == ':'; })) return name;
  size_t dot = name.rfind('.');
  const size_t last = dot == std::string_view::npos ? 0 : name.size() - dot - 1;
  if (dot != std::string_view::npos && dot > 0) dot = name.rfind('.', dot - 1);
  const size_t second = dot == std::string_view::npos ? 0 : name.size() - last - 1 - (dot + 1);
  if (last == 2 && second > 0 && second <= 3 && dot > 0) dot = name.rfind('.', dot - 1);
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Hosts in these files may have a scheme and a path, as Docker Hub's has.
std::string plain_host(std::string_view key) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  const std::string host = lower(std::string(key.substr(0, key.find('/'))));
  return host == "index.docker.io" ? "docker.io" : host;
}

}  // namespace

Result<Login> parse_login(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Error{.code = Code::invalid, .message = "a login is USER:PASSWORD"};
  }
  return Login{.user = std::string(text.substr(0, colon)), .password = std::string(text.substr(colon + 1))};
}

std::string to_string(const Login& login) { return login.user + ":" + login.password; }

std::optional<Challenge> parse_challenge(std::string_view header) {
  Cursor cursor{header};
  while (true) {
    while (cursor.take(',')) {
    }
    const std::string scheme = lower(cursor.token());
    if (scheme.empty()) return std::nullopt;
    Challenge challenge{.bearer = scheme == "bearer"};
    for (bool first = true;; first = false) {
      const Cursor before = cursor;
      if (!first && !cursor.take(',')) break;
      cursor.skip_blanks();
      const std::string name = lower(cursor.token());
      if (name.empty() || !cursor.take('=')) {
        cursor = before;  // the next challenge begins here, or the header ends
        break;
      }
      auto value = cursor.value();
      if (!value) return std::nullopt;
      if (name == "realm") challenge.realm = *value;
      if (name == "service") challenge.service = *value;
      if (name == "scope") challenge.scope = *value;
    }
    if (challenge.bearer || scheme == "basic") return challenge;
    if (!cursor.take(',')) return std::nullopt;
  }
}

bool may_login_at(const std::string& host, const std::string& realm) {
  auto url = http::parse_url(realm);
  auto own = http::parse_url(base_url(host));
  if (!url || !own || (!url->tls && !(is_loopback(host) && is_loopback(url->host)))) return false;
  return lower(url->host) == lower(own->host) || (is_loopback(host) && is_loopback(url->host)) ||
         domain_of(lower(url->host)) == domain_of(lower(own->host));
}

Result<std::optional<Login>> login_in(std::string_view text, const std::string& file, const std::string& host) {
  using Found = std::optional<Login>;
  auto unreadable = [&](const std::string& why) { return Error{.code = Code::invalid, .message = file + ": " + why}; };
  auto document = parse_json_value(text);
  if (!document) return unreadable(document.error().message);
  const json::object* root = document->if_object();
  const json::value* auths = root != nullptr ? root->if_contains("auths") : nullptr;
  if (auths == nullptr || !auths->is_object()) return Found();
  for (const auto& [key, entry] : auths->get_object()) {
    if (plain_host(key) != host || !entry.is_object()) continue;
    const json::value* auth = entry.get_object().if_contains("auth");
    if (auth == nullptr || !auth->is_string()) continue;
    auto plain = crypto::from_base64(std::string_view(auth->get_string()));
    auto login = plain ? parse_login(*plain) : Result<Login>(plain.error());
    if (!login) return unreadable("the login for " + host + " is not USER:PASSWORD in base64");
    return Found(*std::move(login));
  }
  return Found();
}

Result<std::optional<Login>> login_of_file(Disk& disk, const Variables& variables, const std::string& host) {
  using Found = std::optional<Login>;
  std::string file = variables("REGISTRY_AUTH_FILE").value_or("");
  if (file.empty()) {
    std::string folder = variables("DOCKER_CONFIG").value_or("");
    if (folder.empty()) folder = variables("HOME").value_or("") + "/.docker";
    file = folder + "/config.json";
  }
  auto text = read_file(disk, file, kMaxLoginFile);
  if (!text && text.error().code == Code::not_found) return Found();
  if (!text) return text.error();
  return login_in(*text, file, host);
}

}  // namespace sluice::oci
