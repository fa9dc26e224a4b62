// Every reader here is strict: one spelling for one thing, because these texts are keys.
#include "mesh/words.h"

#include <arpa/inet.h>

#include <array>
#include <vector>

#include "base/ascii.h"
#include "base/utc_time.h"
#include "crypto/base64.h"
#include "crypto/ed25519.h"

namespace sluice::mesh {
namespace {

constexpr std::string_view kScheme = "spiffe://";

Error no(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

// What follows the trust domain.
std::string_view path_of(std::string_view id) {
  id.remove_prefix(kScheme.size());
  return id.substr(id.find('/') + 1);
}

bool is_number(std::string_view text, uint32_t most, uint32_t& value) {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text.front() == '0')) return false;
  value = 0;
  for (char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  return value <= most;
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 253 || host.front() == '.' || host.back() == '.') return false;
  bool numeric = true;
  for (char c : host) {
    if (!is_letter(c) && !is_digit(c) && c != '-' && c != '.') return false;
    numeric = numeric && (is_digit(c) || c == '.');
  }
  std::array<unsigned char, 4> bytes{};
  return !numeric || inet_pton(AF_INET, std::string(host).c_str(), bytes.data()) == 1;
}

}  // namespace

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  for (char c : text) {
    if (!is_lower(c) && !is_digit(c) && c != '-') return false;
  }
  return true;
}

bool is_trust_domain(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  for (char c : text) {
    if (!is_lower(c) && !is_digit(c) && c != '-' && c != '.' && c != '_') return false;
  }
  return true;
}

std::string_view SpiffeId::domain() const {
  std::string_view text(*this);
  text.remove_prefix(kScheme.size());
  return text.substr(0, text.find('/'));
}
std::string_view SpiffeId::kind() const {
  const std::string_view path = path_of(*this);
  return path.substr(0, path.find('/'));
}
std::string_view SpiffeId::node() const {
  std::string_view path = path_of(*this);
  const size_t first = path.find('/');
  const size_t last = path.rfind('/');
  return first == last ? std::string_view() : path.substr(first + 1, last - first - 1);
}
std::string_view SpiffeId::name() const { return std::string_view(*this).substr(rfind('/') + 1); }

std::string_view HostPort::host() const {
  std::string_view host = std::string_view(*this).substr(0, rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

int64_t UtcTime::ms() const { return parse_utc(*this).value(); }
std::string KeyText::bytes() const { return crypto::from_base64(*this).value(); }
std::string SignatureText::bytes() const { return crypto::from_base64(*this).value(); }

std::string to_string(const SchemaVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

}  // namespace sluice::mesh

namespace sluice {

using namespace mesh;

Result<Name> JsonScalar<Name>::parse(std::string_view text) {
  if (!is_name(text)) return mesh::no("this is not a name: small letters, digits and hyphens, at most 63");
  return Name(std::string(text));
}

Result<SpiffeId> JsonScalar<SpiffeId>::parse(std::string_view text) {
  const auto wrong = [] {
    return mesh::no(
        "this is not an identity: spiffe://DOMAIN/KIND/NAME, or with a node spiffe://DOMAIN/KIND/NODE/NAME");
  };
  if (!text.starts_with(mesh::kScheme)) return wrong();
  const std::vector<std::string_view> parts = mesh::parts_of(text.substr(mesh::kScheme.size()));
  if (parts.size() < 3 || parts.size() > 4 || !is_trust_domain(parts[0])) return wrong();
  const std::string_view kind = parts[1];
  const bool alone =
      kind == "user" || kind == "service" || kind == "node" || kind == "management-plane" || kind == "control-plane";
  const bool of_node = kind == "service" || kind == "vertex";
  if (parts.size() == 3 ? !alone : !of_node) return wrong();
  for (size_t i = 2; i < parts.size(); ++i) {
    if (!is_name(parts[i])) return wrong();
  }
  return SpiffeId(std::string(text));
}

Result<HostPort> JsonScalar<HostPort>::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == std::string_view::npos || !mesh::is_number(text.substr(colon + 1), 65535, port) || port == 0) {
    return mesh::no("this is not an address with a port from 1 to 65535");
  }
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    std::array<unsigned char, 16> bytes{};
    if (!host.ends_with(']') ||
        inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), bytes.data()) != 1) {
      return mesh::no("what stands in brackets is not an IPv6 address");
    }
  } else if (!mesh::is_host(host)) {
    return mesh::no("what stands before the port is neither an address nor a host");
  }
  return HostPort(std::string(text));
}

Result<FilePath> JsonScalar<FilePath>::parse(std::string_view text) {
  if (text.empty() || text.size() > 4096) return mesh::no("this is not a path");
  for (std::string_view part : mesh::parts_of(text)) {
    if (part == "..") return mesh::no("a path has no part `..`");
  }
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) return mesh::no("a path has no control characters");
  }
  return FilePath(std::string(text));
}

Result<UtcTime> JsonScalar<UtcTime>::parse(std::string_view text) {
  auto ms = parse_utc(text);
  if (!ms) return ms.error();
  return UtcTime(std::string(text));
}

Result<KeyText> JsonScalar<KeyText>::parse(std::string_view text) {
  auto bytes = crypto::from_base64(text);
  if (!bytes) return bytes.error();
  auto key = crypto::PublicKey::from_raw(*bytes);
  if (!key) return key.error();
  return KeyText(std::string(text));
}

Result<SignatureText> JsonScalar<SignatureText>::parse(std::string_view text) {
  auto bytes = crypto::from_base64(text);
  if (!bytes) return bytes.error();
  if (bytes->size() != 64) return mesh::no("a signature has 64 bytes");
  return SignatureText(std::string(text));
}

Result<SchemaVersion> JsonScalar<SchemaVersion>::parse(std::string_view text) {
  SchemaVersion version;
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || !mesh::is_number(text.substr(0, dot), 9999, version.major) ||
      !mesh::is_number(text.substr(dot + 1), 9999, version.minor)) {
    return mesh::no("a schema version is MAJOR.MINOR");
  }
  return version;
}

}  // namespace sluice
