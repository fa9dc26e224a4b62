// A folder a pair, and a link to it that is replaced.
#include "deploy/certificate_shelf.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "crypto/identity.h"
#include "router/control_client.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxCertificateFile = 1 << 20;
constexpr size_t kMaxCertificateId = 200;
constexpr int64_t kAuthorityLife_ms = int64_t{3650} * 86'400'000;

Result<void> make_certificate_folder(Disk& disk, const std::string& path) {
  auto made = disk.make_folder(path, 0700);
  if (!made && made.error().code != Code::conflict) return made;
  return {};
}

std::string member_text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

bool is_ip(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

}  // namespace

bool is_local_name(std::string_view name) {
  if (name == "::1") return true;
  if (name.starts_with("127.") && is_ip(std::string(name))) return true;
  return std::ranges::any_of(kLocalDomains, [&](std::string_view domain) {
    return name == domain ||
           (name.size() > domain.size() && name.ends_with(domain) && name[name.size() - domain.size() - 1] == '.');
  });
}

bool is_certificate_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxCertificateId && text.front() != '.' &&
         std::ranges::all_of(text,
                             [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_certificate_name(std::string_view text) {
  if (is_ip(std::string(text))) return true;
  if (text.starts_with("*.")) text.remove_prefix(2);
  if (text.empty() || text.size() > 253 || text.front() == '.' || text.back() == '.') return false;
  return text.find("..") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '.'; });
}

Result<std::string> CertificateShelf::target_of(const std::string& id) const {
  auto there = disk_.stat(folder_ + "/" + id, FollowLinks::no);
  if (!there && there.error().code == Code::not_found) return std::string();
  if (!there) return there.error();
  if (there->kind == FileKind::symlink) return disk_.read_link(folder_ + "/" + id);
  return Error{.code = Code::conflict,
               .message = folder_ + "/" + id + " is a folder that Sluice has not made",
               .next = "move it away, or choose another name"};
}

Result<void> CertificateShelf::point(const std::string& id, const std::string& target) {
  const std::string fresh = folder_ + "/.kept/link-" + id;
  if (auto old = disk_.remove(fresh); !old && old.error().code != Code::not_found) return old;
  if (auto made = disk_.symlink(target, fresh); !made) return made;
  if (auto moved = disk_.rename(fresh, folder_ + "/" + id); !moved) return moved;
  return disk_.sync_folder(folder_);
}

void CertificateShelf::forget(const std::string& target) {
  if (!target.starts_with(".kept/")) return;
  const std::string folder = folder_ + "/" + target;
  for (const char* file : {"/chain.pem", "/key.pem"}) (void)disk_.remove(folder + file);
  (void)disk_.remove_folder(folder);
}

Result<CertificateShelf::Kept> CertificateShelf::keep(const std::string& id, std::string_view chain_pem,
                                                      std::string_view key_pem, int64_t now_ms) {
  auto identity = crypto::Identity::read(chain_pem, key_pem);
  if (!identity) return identity.error();
  Kept kept{.facts = (*identity)->facts(), .id = id};
  if (kept.facts.until_ms <= now_ms) {
    return Error{.code = Code::invalid, .message = "the certificate has expired on " + utc_text(kept.facts.until_ms)};
  }
  if (kept.facts.from_ms > now_ms) {
    return Error{.code = Code::invalid,
                 .message = "the certificate holds only from " + utc_text(kept.facts.from_ms) + " on"};
  }
  for (const std::string& each : {folder_, folder_ + "/.kept"}) {
    if (auto made = make_certificate_folder(disk_, each); !made) return made.error();
  }
  auto before = target_of(id);
  if (!before) return before.error();
  kept.before = *std::move(before);
  const std::string target = ".kept/" + id + "." + kept.facts.fingerprint.substr(kept.facts.fingerprint.find(':') + 1);
  if (auto made = make_certificate_folder(disk_, folder_ + "/" + target); !made) return made.error();
  for (const auto& [file, bytes] : {std::pair{"/key.pem", key_pem}, {"/chain.pem", chain_pem}}) {
    auto written = write_atomically(disk_, folder_ + "/" + target + file, bytes, 0600);
    if (!written) return written.error();
  }
  if (auto pointed = point(id, target); !pointed) return pointed.error();
  if (kept.before == target) kept.before.clear();  // the same one again
  return kept;
}

Result<void> CertificateShelf::restore(const Kept& kept) {
  auto now = target_of(kept.id);
  if (!now) return now.error();
  if (kept.before.empty()) return remove(kept.id);
  if (auto pointed = point(kept.id, kept.before); !pointed) return pointed;
  forget(*now);
  return {};
}

void CertificateShelf::settle(const Kept& kept) {
  auto target = target_of(kept.id);
  auto all = disk_.list(folder_ + "/.kept");
  if (!target || !all) return;
  constexpr size_t kHexOfDigest = 64;
  for (const FolderEntry& each : *all) {
    const bool its_own = each.name.size() == kept.id.size() + 1 + kHexOfDigest && each.name.starts_with(kept.id + ".");
    if (its_own && ".kept/" + each.name != *target) forget(".kept/" + each.name);
  }
}

Result<void> CertificateShelf::remove(const std::string& id) {
  auto target = target_of(id);
  if (!target) return target.error();
  if (target->empty()) return {};
  if (auto removed = disk_.remove(folder_ + "/" + id); !removed) return removed;
  forget(*target);
  return disk_.sync_folder(folder_);
}

Result<std::string> CertificateShelf::chain_of(const std::string& id) const {
  return read_file(disk_, folder_ + "/" + id + "/chain.pem", kMaxCertificateFile);
}

Result<crypto::CertificateFacts> CertificateShelf::look(const std::string& id) const {
  auto chain = chain_of(id);
  if (!chain) return chain.error();
  auto key = read_file(disk_, folder_ + "/" + id + "/key.pem", kMaxCertificateFile);
  if (!key) return key.error();
  auto identity = crypto::Identity::read(*chain, *key);
  crypto::wipe(*key);
  if (!identity) return identity.error();
  return (*identity)->facts();
}

CertificateShelf::Told CertificateShelf::tell(const std::string& id, const std::string& fingerprint,
                                              const std::vector<RouterFleet::Member>& members) const {
  Told told;
  for (const RouterFleet::Member& each : members) {
    auto client = ::sluice::router::ControlClient::connect(each.control, kRouterLease_ms);
    auto answer = client ? client->ask({{"op", "certificates"}}) : Result<json::object>(client.error());
    if (!answer) {
      told.silent.push_back(each.name);
      continue;
    }
    // One that reads another folder, or shows none at all, has no say.
    if (member_text(*answer, "folder") != folder_ || fingerprint.empty()) continue;
    bool shows = false;
    std::string reason = "the router " + each.name + " does not show it";
    for (const json::value& one : answer->at("certificates").as_array()) {
      const json::object& shown = one.as_object();
      if (member_text(shown, "certificate") != id) continue;
      shows = member_text(shown, "fingerprint") == fingerprint;
      if (const std::string why = member_text(shown, "error"); !why.empty()) {
        reason = "the router " + each.name + " does not show it: " + why;
      }
    }
    if (shows) {
      told.showing.push_back(each.name);
    } else if (!told.refused) {
      told.refused = reason;
    }
  }
  return told;
}

Result<void> CertificateShelf::show_proofs(const std::vector<Proof>& proofs,
                                           const std::vector<RouterFleet::Member>& members) const {
  const std::string folder = folder_ + "/.challenges";
  for (const std::string& each : {folder_, folder}) {
    if (auto made = make_certificate_folder(disk_, each); !made) return made;
  }
  for (const Proof& each : proofs) {
    const json::object file{
        {"kind", each.kind}, {"name", each.name}, {"token", each.token}, {"key_authorization", each.key_authorization}};
    auto written = write_atomically(disk_, folder + "/" + each.token + ".json", write(file) + "\n", 0600);
    if (!written) return written;
  }
  bool any = false;
  for (const RouterFleet::Member& each : members) {
    auto client = ::sluice::router::ControlClient::connect(each.control, kRouterLease_ms);
    auto answer = client ? client->ask({{"op", "certificates"}}) : Result<json::object>(client.error());
    if (!answer || member_text(*answer, "challenges_folder") != folder) continue;
    const json::array& tokens = answer->at("challenges").as_array();
    for (const Proof& proof : proofs) {
      if (std::ranges::find(tokens, json::value(proof.token)) != tokens.end()) continue;
      return Error{.code = Code::failed, .message = "the router " + each.name + " does not read what is to be proved"};
    }
    any = true;
  }
  if (any) return {};
  return Error{.code = Code::failed,
               .message = "no router of this home runs that could answer the authority",
               .next = "start a router"};
}

void CertificateShelf::hide_proofs(const std::vector<Proof>& proofs,
                                   const std::vector<RouterFleet::Member>& members) const {
  for (const Proof& each : proofs) (void)disk_.remove(folder_ + "/.challenges/" + each.token + ".json");
  (void)tell("", "", members);
}

Result<crypto::MadeCertificate> CertificateShelf::authority(const std::string& maker, int64_t now_ms) {
  std::lock_guard lock(mutex_);
  auto chain = read_file(disk_, authority_ + "/chain.pem", kMaxCertificateFile);
  if (!chain && chain.error().code != Code::not_found) return chain.error();
  if (chain) {
    auto key = read_file(disk_, authority_ + "/key.pem", kMaxCertificateFile);
    if (!key) return key.error();
    crypto::MadeCertificate known{.chain_pem = *std::move(chain), .key_pem = crypto::SecretBuffer::copy_of(*key)};
    crypto::wipe(*key);
    return known;
  }
  crypto::CertificateOrder order{
      .name = "Sluice local CA of " + maker, .is_ca = true, .until_ms = now_ms + kAuthorityLife_ms};
  for (std::string_view each : kLocalDomains) order.constrained_to.emplace_back(each);
  auto made = crypto::make_certificate(order, nullptr, now_ms);
  if (!made) return made.error();
  if (auto folder = make_certificate_folder(disk_, authority_); !folder) return folder.error();
  // The key first: a certificate stands for a whole pair.
  for (const auto& [file, bytes] : {std::pair<const char*, std::string_view>{"/key.pem", made->key_pem.reveal()},
                                    {"/chain.pem", made->chain_pem}}) {
    if (auto written = write_atomically(disk_, authority_ + file, bytes, 0600); !written) return written.error();
  }
  return made;
}

}  // namespace sluice::deploy
