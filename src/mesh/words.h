// The scalars of the mesh: names, identities, addresses, keys. Each is a string that cannot be wrong once it was read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::mesh {

// Of a node, a vertex, a link, an adapter: a DNS label in small letters.
struct Name : std::string {
  Name() = default;
  explicit Name(std::string text) : std::string(std::move(text)) {}
};

// "spiffe://acme/service/api". Six kinds: user, service (of the mesh, or of a node), node, vertex, and the two that
// sign: management-plane, control-plane.
struct SpiffeId : std::string {
  SpiffeId() = default;
  explicit SpiffeId(std::string text) : std::string(std::move(text)) {}

  std::string_view domain() const;
  std::string_view kind() const;
  std::string_view node() const;  // of a vertex or a service of one node; empty for the others
  std::string_view name() const;  // the last part
};

// "10.0.0.5:5544", "[fd00::5]:5544", "alpha.example:5544".
struct HostPort : std::string {
  HostPort() = default;
  explicit HostPort(std::string text) : std::string(std::move(text)) {}

  std::string_view host() const;  // without brackets
  std::string_view port() const { return std::string_view(*this).substr(rfind(':') + 1); }
};

// Of a file or a socket: absolute, or relative to the folder of the set. It has no part `..`.
struct FilePath : std::string {
  FilePath() = default;
  explicit FilePath(std::string text) : std::string(std::move(text)) {}
};

struct UtcTime : std::string {
  UtcTime() = default;
  explicit UtcTime(std::string text) : std::string(std::move(text)) {}

  int64_t ms() const;
};

// The base64 text of 32 bytes (a key) and of 64 (a signature).
struct KeyText : std::string {
  KeyText() = default;
  explicit KeyText(std::string text) : std::string(std::move(text)) {}

  std::string bytes() const;
};
struct SignatureText : std::string {
  SignatureText() = default;
  explicit SignatureText(std::string text) : std::string(std::move(text)) {}

  std::string bytes() const;
};

// "1.0": an artifact's schema.
struct SchemaVersion {
  uint32_t major = 1;
  uint32_t minor = 0;

  auto operator<=>(const SchemaVersion&) const = default;
};
std::string to_string(const SchemaVersion& version);

bool is_name(std::string_view text);
bool is_trust_domain(std::string_view text);

}  // namespace sluice::mesh

namespace sluice {

template <>
struct JsonScalar<mesh::Name> {
  static constexpr std::string_view kExpected = "a name (small letters, digits, hyphens; at most 63)";
  static constexpr std::string_view kPattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";
  static Result<mesh::Name> parse(std::string_view text);
  static std::string print(const mesh::Name& name) { return name; }
};
template <>
struct JsonScalar<mesh::SpiffeId> {
  static constexpr std::string_view kExpected = "a SPIFFE ID";
  static constexpr std::string_view kPattern =
      "^spiffe://[a-z0-9._-]+/((user|service|node|management-plane|control-plane)/[a-z0-9-]+|"
      "(service|vertex)/[a-z0-9-]+/[a-z0-9-]+)$";
  static Result<mesh::SpiffeId> parse(std::string_view text);
  static std::string print(const mesh::SpiffeId& id) { return id; }
};
template <>
struct JsonScalar<mesh::HostPort> {
  static constexpr std::string_view kExpected = "an address with a port";
  static constexpr std::string_view kPattern = "^(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$";
  static Result<mesh::HostPort> parse(std::string_view text);
  static std::string print(const mesh::HostPort& address) { return address; }
};
template <>
struct JsonScalar<mesh::FilePath> {
  static constexpr std::string_view kExpected = "a path";
  static constexpr std::string_view kPattern = "";
  static Result<mesh::FilePath> parse(std::string_view text);
  static std::string print(const mesh::FilePath& path) { return path; }
};
template <>
struct JsonScalar<mesh::UtcTime> {
  static constexpr std::string_view kExpected = "a time in UTC (RFC 3339)";
  static constexpr std::string_view kPattern =
      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z$";
  static Result<mesh::UtcTime> parse(std::string_view text);
  static std::string print(const mesh::UtcTime& time) { return time; }
};
template <>
struct JsonScalar<mesh::KeyText> {
  static constexpr std::string_view kExpected = "an Ed25519 public key (32 bytes in base64)";
  static constexpr std::string_view kPattern = "^[A-Za-z0-9+/]{43}=$";
  static Result<mesh::KeyText> parse(std::string_view text);
  static std::string print(const mesh::KeyText& key) { return key; }
};
template <>
struct JsonScalar<mesh::SignatureText> {
  static constexpr std::string_view kExpected = "an Ed25519 signature (64 bytes in base64)";
  static constexpr std::string_view kPattern = "^[A-Za-z0-9+/]{86}==$";
  static Result<mesh::SignatureText> parse(std::string_view text);
  static std::string print(const mesh::SignatureText& signature) { return signature; }
};
template <>
struct JsonScalar<mesh::SchemaVersion> {
  static constexpr std::string_view kExpected = "a schema version such as \"1.0\"";
  static constexpr std::string_view kPattern = "^(0|[1-9][0-9]{0,3})\\.(0|[1-9][0-9]{0,3})$";
  static Result<mesh::SchemaVersion> parse(std::string_view text);
  static std::string print(const mesh::SchemaVersion& version) { return mesh::to_string(version); }
};

}  // namespace sluice
