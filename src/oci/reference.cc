// The grammar is that of the OCI distribution specification; the defaults are those that people know from Docker.
#include "oci/reference.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/terminal.h"
#include "crypto/sha256.h"
#include "http/outgoing.h"

namespace sluice::oci {
namespace {

constexpr std::string_view kScheme = "oci://";
constexpr std::string_view kHub = "docker.io";
constexpr size_t kMaxReference = 1024;
constexpr size_t kMaxRepository = 255;
constexpr size_t kMaxTag = 128;

bool is_small(char c) { return is_lower(c) || is_digit(c); }

// Words of small letters and digits, with one ".", one or two "_", or any number of "-" between them.
bool is_component(std::string_view text) {
  if (text.empty() || !is_small(text.front()) || !is_small(text.back())) return false;
  for (size_t at = 0; at < text.size();) {
    if (is_small(text[at])) {
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_not_of(text[at], at), text.size());
    const size_t length = end - at;
    const bool fits = text[at] == '.' ? length == 1 : text[at] == '_' ? length <= 2 : text[at] == '-';
    if (!fits || !is_small(text[end])) return false;
    at = end;
  }
  return true;
}

bool is_repository(std::string_view text) {
  if (text.empty() || text.size() > kMaxRepository) return false;
  while (true) {
    const size_t slash = text.find('/');
    if (!is_component(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_tag(std::string_view text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kMaxTag && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, fits);
}

// What stands before the first slash is a host if it cannot be a part of a repository's name.
bool names_host(std::string_view text) {
  return text == "localhost" || text.find_first_of(".:[") != std::string_view::npos ||
         std::ranges::any_of(text, is_upper);
}

}  // namespace

Result<std::string> parse_host(std::string_view text) {
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  auto url = http::parse_url("https://" + std::string(text));
  if (!url || !url->user.empty() || url->target != "/" || text.ends_with('/')) {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(text.substr(0, kMaxReference)) + "' is no registry's host",
                 .next = "write it as HOST or HOST:PORT, such as registry.example:5000"};
  }
  std::string host(text);
  std::ranges::transform(host, host.begin(), to_lower);
  return host;
}

Result<Reference> parse_reference(std::string_view text) {
  auto refuse = [&](const std::string& why) {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(text.substr(0, kMaxReference)) + "' names nothing in a registry: " + why,
                 .next = "write it as HOST/REPOSITORY:TAG, such as registry.example/team/shop:1.4"};
  };
  if (text.size() > kMaxReference) return refuse("it is longer than 1024 characters");
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  Reference reference{.host = std::string(kHub)};
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    if (!crypto::parse_sha256(rest.substr(at + 1))) return refuse("its digest is not sha256: and 64 hex digits");
    reference.digest = std::string(rest.substr(at + 1));
    rest = rest.substr(0, at);
  }
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos && names_host(rest.substr(0, slash))) {
    auto host = parse_host(rest.substr(0, slash));
    if (!host) return refuse("its host is none");
    reference.host = *std::move(host);
    rest.remove_prefix(slash + 1);
  }
  if (const size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    reference.tag = std::string(rest.substr(colon + 1));
    if (!is_tag(reference.tag)) return refuse("its tag has more than letters, digits, _, . and -");
    rest = rest.substr(0, colon);
  } else if (reference.digest.empty()) {
    reference.tag = "latest";
  }
  reference.repository = std::string(rest);
  if (reference.host == kHub && reference.repository.find('/') == std::string::npos) {
    reference.repository.insert(0, "library/");
  }
  if (!is_repository(reference.repository)) return refuse("its repository is not of small letters, digits and . _ - /");
  return reference;
}

std::string to_string(const Reference& reference) {
  return reference.host + "/" + reference.repository + (reference.tag.empty() ? "" : ":" + reference.tag) +
         (reference.digest.empty() ? "" : "@" + reference.digest);
}

bool is_loopback(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']')) == "[::1";
  const std::string_view name = host.substr(0, host.find(':'));
  if (name == "localhost") return true;
  return name.starts_with("127.") && std::ranges::count(name, '.') == 3 &&
         std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
}

std::string base_url(const std::string& host) {
  if (host == kHub) return "https://registry-1.docker.io";
  return (is_loopback(host) ? "http://" : "https://") + host;
}

}  // namespace sluice::oci
