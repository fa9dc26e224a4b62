// A proof by TLS is a certificate that the router makes itself.
#include "router/tls/challenges.h"

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "crypto/sha256.h"
#include "crypto/x509.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxChallenge = 8 << 10;
constexpr int64_t kProofLife_ms = int64_t{7} * 86'400'000;

}  // namespace

std::shared_ptr<const Challenges> Challenges::read(Disk& disk, const std::string& folder, int64_t now_ms) {
  auto set = std::make_shared<Challenges>();
  auto entries = folder.empty() ? Result<std::vector<FolderEntry>>(std::vector<FolderEntry>()) : disk.list(folder);
  if (!entries) return set;
  for (const FolderEntry& entry : *entries) {
    if (entry.kind != FileKind::file || !entry.name.ends_with(".json")) continue;
    auto text = read_file(disk, folder + "/" + entry.name, kMaxChallenge);
    auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
    auto file = parsed ? sluice::read<ChallengeFile>(*parsed) : Result<ChallengeFile>(parsed.error());
    if (!file) continue;
    if (file->kind == "http-01") {
      set->answers_[file->token] = file->key_authorization;
    } else {
      const crypto::Sha256 digest = crypto::sha256(file->key_authorization);
      auto made =
          crypto::make_certificate({.names = {file->name},
                                    .until_ms = now_ms + kProofLife_ms,
                                    .acme_digest = {reinterpret_cast<const char*>(digest.data()), digest.size()}},
                                   nullptr, now_ms);
      if (!made) continue;
      auto identity = crypto::Identity::read(made->chain_pem, made->key_pem.reveal());
      if (!identity) continue;
      set->shown_[file->name] = Shown{.other = *std::move(identity)};
    }
    set->tokens_.push_back(file->token);
  }
  return set;
}

const std::string* Challenges::answer(std::string_view token) const {
  auto found = answers_.find(token);
  return found != answers_.end() ? &found->second : nullptr;
}

const Shown* Challenges::shown(std::string_view name) const {
  auto found = shown_.find(name);
  return found != shown_.end() ? &found->second : nullptr;
}

void ChallengeBoard::put(std::shared_ptr<const Challenges> challenges) {
  std::lock_guard lock(mutex_);
  any_.store(!challenges->tokens().empty(), std::memory_order_relaxed);
  challenges_ = std::move(challenges);
}

std::shared_ptr<const Challenges> ChallengeBoard::now() const {
  std::lock_guard lock(mutex_);
  return challenges_;
}

}  // namespace sluice::router
