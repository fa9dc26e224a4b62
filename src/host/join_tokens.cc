// A token that was used stays in the file until it would have expired, so that whoever sends it again hears why it is
// refused.
#include "host/join_tokens.h"

#include <algorithm>
#include <array>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/utc_time.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"

namespace sluice::host {
namespace {

constexpr size_t kJoinSecretBytes = 32;
constexpr size_t kMostTokenBytes = size_t{1} << 20U;
constexpr std::ptrdiff_t kMostTokens = 100;  // that nobody has used
constexpr int64_t kLives_ms = 3'600'000;

}  // namespace

std::string fingerprint_in(const std::string& token) {
  const size_t dot = token.find('.');
  return dot == std::string::npos ? "" : token.substr(dot + 1);
}

std::string JoinTokens::path() const {
  const char* file = joins_ == JoinsAs::router ? "router-tokens.json" : "join-tokens.json";
  return (home_.root() / "keys" / file).string();
}

Result<JoinTokenFile> JoinTokens::read() {
  auto text = read_file(disk_, path(), kMostTokenBytes);
  if (!text && text.error().code == Code::not_found) return JoinTokenFile();
  if (!text) return text.error();
  auto document = parse_json(*text, path());
  if (!document) return document.error();
  auto file = sluice::read<JoinTokenFile>(*document);
  if (file)
    std::erase_if(file->tokens, [&](const JoinToken& each) { return each.expires_ms + kLives_ms < clock_.wall_ms(); });
  return file;
}

Result<void> JoinTokens::write(const JoinTokenFile& file) {
  return write_atomically(disk_, path(), sluice::write(::sluice::to_json(file)) + "\n", 0600);
}

Result<MadeJoinToken> JoinTokens::make(const std::string& fingerprint, std::optional<std::string> environment) {
  const std::lock_guard guard(mutex_);
  auto file = read();
  if (!file) return file.error();
  if (std::ranges::count(file->tokens, false, &JoinToken::used) >= kMostTokens) {
    return Error{.code = Code::limit,
                 .message = "there are " + std::to_string(kMostTokens) + " tokens that have not been used",
                 .next = "use one of them, or wait an hour"};
  }
  std::array<uint8_t, kJoinSecretBytes> random;
  RealRandom().fill(random);
  MadeJoinToken made{.token = (joins_ == JoinsAs::router ? "slr_" : "slj_") +
                              crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()},
                                                crypto::Base64::url_unpadded),
                     .expires_ms = clock_.wall_ms() + kLives_ms};
  if (!fingerprint.empty()) made.token += "." + fingerprint;
  file->tokens.push_back({.digest = crypto::to_string(crypto::sha256(made.token)),
                          .expires_ms = made.expires_ms,
                          .environment = std::move(environment)});
  if (auto written = write(*file); !written) return written.error();
  return made;
}

Result<JoinToken> JoinTokens::take(const std::string& token) {
  const std::lock_guard guard(mutex_);
  auto file = read();
  if (!file) return file.error();
  const auto refused = [&](const std::string& why) {
    const std::string noun = joins_ == JoinsAs::router ? "router" : "replicas";
    return Error{.code = Code::denied, .message = why, .next = "make another one: sluice " + noun + " token"};
  };
  auto found = std::ranges::find(file->tokens, crypto::to_string(crypto::sha256(token)), &JoinToken::digest);
  if (found == file->tokens.end()) return refused("this token is not one of this cluster's");
  if (found->used) return refused("this token was used already, and is good once");
  if (found->expires_ms <= clock_.wall_ms()) return refused("this token expired at " + utc_text(found->expires_ms));
  found->used = true;
  if (auto written = write(*file); !written) return written.error();
  return *found;
}

}  // namespace sluice::host
