// People read and compare it, so it is printed with a line for each field.
#include "bundle/manifest/image_lock.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"

namespace sluice::bundle {
namespace {

constexpr std::string_view kDigest = "sha256:";
constexpr size_t kDigestSize = 7 + 64;

bool is_digest(std::string_view text) {
  auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kDigestSize && text.starts_with(kDigest) &&
         std::ranges::all_of(text.substr(kDigest.size()), is_hex);
}

}  // namespace

Result<ImageLock> parse_image_lock(std::string_view text, const std::string& file) {
  auto document = parse_json(text, file);
  if (!document) return document.error();
  auto lock = read<ImageLock>(*document);
  if (!lock) return lock;
  auto refuse = [&](const std::string& path, const std::string& message) {
    return Error{.code = Code::invalid,
                 .message = file + ": " + message,
                 .next = "sluice bundles build --update-image writes it anew",
                 .path = path};
  };
  if (lock->schema != kImageLockSchema) return refuse("/schema", "expected " + std::string(kImageLockSchema));
  if (!is_digest(lock->digest)) return refuse("/digest", "expected a digest, sha256:…");
  for (const auto& [platform, digest] : lock->platforms) {
    if (!is_digest(digest)) return refuse("/platforms", platform + " has no digest, sha256:…");
  }
  return lock;
}

std::string print_image_lock(const ImageLock& lock) {
  auto quoted = [](const std::string& text) { return write(json::value(text)); };
  std::string text = "{\n  \"schema\": " + quoted(lock.schema) + ",\n  \"reference\": " + quoted(lock.reference) +
                     ",\n  \"digest\": " + quoted(lock.digest) + ",\n  \"platforms\": {";
  for (const auto& [platform, digest] : lock.platforms) {
    text += (text.ends_with('{') ? "\n    " : ",\n    ") + quoted(platform) + ": " + quoted(digest);
  }
  return text + "\n  }\n}\n";
}

}  // namespace sluice::bundle
