// Each kind of text and what is wrong with one that is not of it.
#include "bundle/manifest/manifest_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/duration.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "crypto/sha256.h"

namespace sluice {

namespace {

Error refuse(std::string_view text, std::string_view reason) {
  return {.code = Code::invalid, .message = json_quoted(text.substr(0, 100)) + " " + std::string(reason)};
}

// A part of a host name between dots.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

constexpr std::array<std::pair<std::string_view, int>, 4> kByteUnits = {
    {{"KB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}}};

}  // namespace

Result<bundle::Name> JsonScalar<bundle::Name>::parse(std::string_view text) {
  if (!is_label(text) || !is_lower(text.front())) {
    return refuse(text, "is not a name: small letters, digits and hyphens, a letter first, at most 63");
  }
  return bundle::Name{std::string(text)};
}

Result<bundle::Version> JsonScalar<bundle::Version>::parse(std::string_view text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '+' || c == '-' || c == '_'; };
  if (text.empty() || text.size() > 64 || !(is_letter(text.front()) || is_digit(text.front())) ||
      !std::all_of(text.begin(), text.end(), fits)) {
    return refuse(text, "is not a version: letters, digits and . + - _, at most 64");
  }
  return bundle::Version{std::string(text)};
}

Result<bundle::VariableName> JsonScalar<bundle::VariableName>::parse(std::string_view text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  if (text.empty() || text.size() > 128 || is_digit(text.front()) || !std::all_of(text.begin(), text.end(), fits)) {
    return refuse(text, "is not a variable's name: letters, digits and underscores, no digit first, at most 128");
  }
  return bundle::VariableName{std::string(text)};
}

Result<bundle::UrlPath> JsonScalar<bundle::UrlPath>::parse(std::string_view text) {
  auto fits = [](char c) { return c > ' ' && c < 0x7f; };
  if (!text.starts_with('/') || text.size() > 1024 || !std::all_of(text.begin(), text.end(), fits)) {
    return refuse(text, "is not a path: it begins with \"/\" and has neither blanks nor letters outside ASCII");
  }
  return bundle::UrlPath{std::string(text)};
}

Result<bundle::HostName> JsonScalar<bundle::HostName>::parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("*.")) rest.remove_prefix(2);
  bool sound = !rest.empty() && rest.size() <= 253;
  while (sound) {
    size_t dot = std::min(rest.find('.'), rest.size());
    sound = is_label(rest.substr(0, dot));
    if (dot == rest.size()) break;
    rest.remove_prefix(dot + 1);
  }
  if (!sound) return refuse(text, "is not a host name: parts of small letters, digits and hyphens with dots between");
  return bundle::HostName{std::string(text)};
}

Result<bundle::InnerPath> JsonScalar<bundle::InnerPath>::parse(std::string_view text) {
  bool up = false;
  for (std::string_view rest = text; !rest.empty();) {
    size_t slash = std::min(rest.find('/'), rest.size());
    up = up || rest.substr(0, slash) == "..";
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  if (text.empty() || text.size() > 1024 || text.front() == '/' || up || text.find('\0') != std::string_view::npos) {
    return refuse(text, "is not inside the bundle: a path has no \"/\" before it and no \"..\" in it");
  }
  return bundle::InnerPath{std::string(text)};
}

Result<bundle::HeaderName> JsonScalar<bundle::HeaderName>::parse(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  auto fits = [&](char c) { return is_letter(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos; };
  if (text.empty() || text.size() > 200 || !std::all_of(text.begin(), text.end(), fits)) {
    return refuse(text,
                  "is no name of a header or of a cookie: letters, digits and marks such as - and _, at most 200");
  }
  return bundle::HeaderName{std::string(text)};
}

Result<bundle::Duration> JsonScalar<bundle::Duration>::parse(std::string_view text) {
  auto length = parse_duration(text);
  if (!length) return length.error();
  return bundle::Duration{*length};
}

std::string JsonScalar<bundle::Duration>::print(const bundle::Duration& duration) {
  return print_duration(duration.length);
}

Result<bundle::ByteCount> JsonScalar<bundle::ByteCount>::parse(std::string_view text) {
  size_t digits = 0;
  uint64_t count = 0;
  while (digits < text.size() && is_digit(text[digits]) && digits < 10) {
    count = count * 10 + static_cast<uint64_t>(text[digits++] - '0');
  }
  for (const auto& [unit, bits] : kByteUnits) {
    if (count > 0 && text[0] != '0' && text.substr(digits) == unit && count <= uint64_t{1} << (60 - bits)) {
      return bundle::ByteCount{count << bits};
    }
  }
  return refuse(text, "is not a number of bytes: digits and KB, MB, GB or TB, such as 256MB");
}

std::string JsonScalar<bundle::ByteCount>::print(const bundle::ByteCount& count) {
  for (auto unit = kByteUnits.rbegin(); unit != kByteUnits.rend(); ++unit) {
    uint64_t size = uint64_t{1} << unit->second;
    if (count.bytes % size == 0 && count.bytes > 0)
      return std::to_string(count.bytes / size) + std::string(unit->first);
  }
  return std::to_string(count.bytes / 1024) + "KB";
}

Result<bundle::FindingHash> JsonScalar<bundle::FindingHash>::parse(std::string_view text) {
  auto digest = crypto::parse_sha256(text);
  if (!digest) return digest.error();
  return bundle::FindingHash{std::string(text)};
}

}  // namespace sluice
