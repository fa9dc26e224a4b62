// The kinds of text that a bundle.yaml holds, each checked when it is read, so that what has been read cannot be wrong.
// Each has its pattern in the JSON Schema of the manifest.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_fields.h"

namespace sluice::bundle {

// A bundle's name, and the names inside a manifest: small letters, digits and hyphens, as in host names.
struct Name {
  std::string text;
  auto operator<=>(const Name&) const = default;
};

struct Version {
  std::string text;
  auto operator<=>(const Version&) const = default;
};

// The name of an environment variable or of a secret.
struct VariableName {
  std::string text;
  auto operator<=>(const VariableName&) const = default;
};

// A path of a URL, from "/".
struct UrlPath {
  std::string text;
  auto operator<=>(const UrlPath&) const = default;
};

// A host name, or "*." and one.
struct HostName {
  std::string text;
  auto operator<=>(const HostName&) const = default;
};

// A glob or a path relative to the bundle's folder, which it does not leave.
struct InnerPath {
  std::string text;
  auto operator<=>(const InnerPath&) const = default;
};

// The name of a header or of a cookie, a token of HTTP.
struct HeaderName {
  std::string text;
  auto operator<=>(const HeaderName&) const = default;
};

// A length of time as base/duration.h writes it.
struct Duration {
  std::chrono::milliseconds length{0};
  auto operator<=>(const Duration&) const = default;
};

// A number of bytes with a unit: 512KB, 256MB, 2GB, by the thousand and twenty-four.
struct ByteCount {
  uint64_t bytes = 0;
  auto operator<=>(const ByteCount&) const = default;
};

// "sha256:" and 64 hex digits.
struct FindingHash {
  std::string text;
  auto operator<=>(const FindingHash&) const = default;
};

}  // namespace sluice::bundle

namespace sluice {

template <>
struct JsonScalar<bundle::Name> {
  static constexpr std::string_view kExpected = "a name of small letters, digits and hyphens";
  static constexpr std::string_view kPattern = "^[a-z][a-z0-9-]{0,61}[a-z0-9]$|^[a-z]$";
  static Result<bundle::Name> parse(std::string_view text);
  static std::string print(const bundle::Name& name) { return name.text; }
};

template <>
struct JsonScalar<bundle::Version> {
  static constexpr std::string_view kExpected = "a version in quotes, such as \"1.2.0\"";
  static constexpr std::string_view kPattern = "^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$";
  static Result<bundle::Version> parse(std::string_view text);
  static std::string print(const bundle::Version& version) { return version.text; }
};

template <>
struct JsonScalar<bundle::VariableName> {
  static constexpr std::string_view kExpected = "a variable's name of letters, digits and underscores";
  static constexpr std::string_view kPattern = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
  static Result<bundle::VariableName> parse(std::string_view text);
  static std::string print(const bundle::VariableName& name) { return name.text; }
};

template <>
struct JsonScalar<bundle::UrlPath> {
  static constexpr std::string_view kExpected = "a path that begins with \"/\"";
  static constexpr std::string_view kPattern = "^/[!-~]*$";
  static Result<bundle::UrlPath> parse(std::string_view text);
  static std::string print(const bundle::UrlPath& path) { return path.text; }
};

template <>
struct JsonScalar<bundle::HostName> {
  static constexpr std::string_view kExpected = "a host name, such as shop.example or *.shop.example";
  static constexpr std::string_view kPattern =
      "^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$";
  static Result<bundle::HostName> parse(std::string_view text);
  static std::string print(const bundle::HostName& host) { return host.text; }
};

template <>
struct JsonScalar<bundle::InnerPath> {
  static constexpr std::string_view kExpected = "a path inside the bundle's folder";
  static constexpr std::string_view kPattern = "^[^/]";
  static Result<bundle::InnerPath> parse(std::string_view text);
  static std::string print(const bundle::InnerPath& path) { return path.text; }
};

template <>
struct JsonScalar<bundle::HeaderName> {
  static constexpr std::string_view kExpected = "the name of a header or of a cookie";
  static constexpr std::string_view kPattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$";
  static Result<bundle::HeaderName> parse(std::string_view text);
  static std::string print(const bundle::HeaderName& name) { return name.text; }
};

template <>
struct JsonScalar<bundle::Duration> {
  static constexpr std::string_view kExpected = "a duration, such as 30s or 1m30s";
  static constexpr std::string_view kPattern = "^([0-9]+(d|h|m|s|ms))+$";
  static Result<bundle::Duration> parse(std::string_view text);
  static std::string print(const bundle::Duration& duration);
};

template <>
struct JsonScalar<bundle::ByteCount> {
  static constexpr std::string_view kExpected = "a number of bytes with a unit, such as 256MB";
  static constexpr std::string_view kPattern = "^[1-9][0-9]*(KB|MB|GB|TB)$";
  static Result<bundle::ByteCount> parse(std::string_view text);
  static std::string print(const bundle::ByteCount& count);
};

template <>
struct JsonScalar<bundle::FindingHash> {
  static constexpr std::string_view kExpected = "the hash of a finding, as the secrets doctor prints it";
  static constexpr std::string_view kPattern = "^sha256:[0-9a-f]{64}$";
  static Result<bundle::FindingHash> parse(std::string_view text);
  static std::string print(const bundle::FindingHash& hash) { return hash.text; }
};

}  // namespace sluice
