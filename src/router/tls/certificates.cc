// Of two certificates for one name and kind of key the one that holds for longer is shown.
#include "router/tls/certificates.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/clock.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxPem = 1 << 20;
constexpr std::string_view kDefaultFolder = "default";

Result<std::shared_ptr<const crypto::Identity>> read_pair(Disk& disk, const std::string& folder, int64_t now_ms) {
  auto certbot = disk.exists(folder + "/fullchain.pem");
  if (!certbot) return certbot.error();
  auto chain = read_file(disk, folder + (*certbot ? "/fullchain.pem" : "/chain.pem"), kMaxPem);
  if (!chain) return chain.error();
  auto key = read_file(disk, folder + (*certbot ? "/privkey.pem" : "/key.pem"), kMaxPem);
  if (!key) return key.error();
  auto identity = crypto::Identity::read(*chain, *key);
  if (!identity) return identity.error();
  const crypto::CertificateFacts& facts = (*identity)->facts();
  if (facts.until_ms <= now_ms) {
    return Error{.code = Code::invalid, .message = "the certificate has expired on " + utc_text(facts.until_ms)};
  }
  if (facts.from_ms > now_ms) {
    return Error{.code = Code::invalid,
                 .message = "the certificate holds only from " + utc_text(facts.from_ms) + " on"};
  }
  return identity;
}

void put(Shown& shown, const std::shared_ptr<const crypto::Identity>& identity) {
  auto& place = identity->is_rsa() ? shown.rsa : shown.other;
  if (!place || place->facts().until_ms < identity->facts().until_ms) place = identity;
}

std::string in_small_letters(std::string text) {
  for (char& c : text) {
    if (is_upper(c)) c = static_cast<char>(c | 0x20);
  }
  return text;
}

}  // namespace

std::string to_string(const LeftOut& left) {
  return "certificate " + left.folder + " is left out" + (left.before_stays ? ", and the one before stays: " : ": ") +
         left.why;
}

bool Shown::covers(std::string_view host) const { return (rsa && rsa->covers(host)) || (other && other->covers(host)); }

Result<std::shared_ptr<const Certificates>> Certificates::read(Disk& disk, const std::string& folder, int64_t now_ms,
                                                               const Certificates* before, std::vector<LeftOut>& left) {
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  auto set = std::make_shared<Certificates>();
  for (const FolderEntry& entry : *entries) {
    // certbot puts a README beside its folders.
    if (entry.kind != FileKind::folder && entry.kind != FileKind::symlink) continue;
    if (entry.name.starts_with('.')) continue;
    auto identity = read_pair(disk, folder + "/" + entry.name, now_ms);
    if (identity) {
      set->add({entry.name, *std::move(identity)});
      continue;
    }
    const Kept* known = nullptr;
    if (before != nullptr) {
      auto found = std::ranges::find(before->all_, entry.name, &Kept::folder);
      if (found != before->all_.end()) known = &*found;
    }
    left.push_back({entry.name, identity.error().message, known != nullptr});
    if (known != nullptr) set->add(*known);
  }
  return std::shared_ptr<const Certificates>(std::move(set));
}

void Certificates::add(Kept kept) {
  if (kept.folder == kDefaultFolder) put(default_, kept.identity);
  for (const std::string& name : kept.identity->facts().names) put(names_[in_small_letters(name)], kept.identity);
  all_.push_back(std::move(kept));
}

const Shown* Certificates::find(std::string_view name) const {
  auto found = names_.find(std::string(name));
  if (found != names_.end()) return &found->second;
  if (size_t dot = name.find('.'); dot != std::string_view::npos && dot > 0) {
    found = names_.find("*" + std::string(name.substr(dot)));
    if (found != names_.end()) return &found->second;
  }
  return by_default();
}

}  // namespace sluice::router
