// A certificate says who; the file says with which key, so that one that was removed, or whose name was given to
// another machine, is nobody any more.
#include "host/link/joined_routers.h"

#include <algorithm>
#include <cctype>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/ulid.h"
#include "base/utc_time.h"
#include "crypto/signing_request.h"

namespace sluice::host {
namespace {

constexpr size_t kMostRouterFile = size_t{16} << 20U;
constexpr size_t kMostMachineName = 253;
constexpr size_t kLongestRouterName = 40;
constexpr int64_t kRouterAuthority_ms = int64_t{3650} * 24 * 3'600'000;
constexpr std::string_view kRouterIdentity = "spiffe://sluice/router/";

Error not_joined(const std::string& why) {
  return {.code = Code::denied,
          .message = why,
          .next = "sluice router token at the control plane, then sluice router join URL --token T in an empty home"};
}

}  // namespace

bool is_router_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestRouterName && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

std::string router_identity(std::string_view name) { return std::string(kRouterIdentity) + std::string(name); }

Result<JoinedRouterFile> JoinedRouters::read() const {
  auto text = read_file(disk_, path("routers.json"), kMostRouterFile);
  if (!text && text.error().code == Code::not_found) return JoinedRouterFile();
  if (!text) return text.error();
  auto document = parse_json(*text, path("routers.json"));
  if (!document) return document.error();
  return sluice::read<JoinedRouterFile>(*document);
}

Result<void> JoinedRouters::write(const JoinedRouterFile& file) {
  return write_atomically(disk_, path("routers.json"), sluice::write(::sluice::to_json(file)) + "\n", 0600);
}

Result<std::vector<JoinedRouter>> JoinedRouters::list() const {
  const std::lock_guard guard(mutex_);
  auto file = read();
  if (!file) return file.error();
  return std::move(file->routers);
}

Result<std::string> JoinedRouters::authority() const {
  auto chain = read_file(disk_, path("router-ca.pem"), crypto::kMaxChainBytes);
  if (!chain && chain.error().code == Code::not_found) return std::string();
  return chain;
}

Result<std::string> JoinedRouters::ensure_authority(int64_t now_ms) {
  const std::lock_guard guard(mutex_);
  auto made = signer(now_ms);
  if (!made) return made.error();
  return std::move(made->chain_pem);
}

Result<crypto::MadeCertificate> JoinedRouters::signer(int64_t now_ms) {
  auto chain = authority();
  if (!chain) return chain.error();
  if (!chain->empty()) {
    auto key = read_file(disk_, path("router-ca.key"), crypto::kMaxChainBytes);
    if (!key) return key.error();
    crypto::MadeCertificate known{.chain_pem = *std::move(chain), .key_pem = crypto::SecretBuffer::copy_of(*key)};
    crypto::wipe(*key);
    return known;
  }
  if (auto keys = home_.folder("keys"); !keys) return keys.error();
  auto made = crypto::make_certificate(
      {.name = "Sluice routers", .is_ca = true, .until_ms = now_ms + kRouterAuthority_ms}, nullptr, now_ms);
  if (!made) return made.error();
  // The certificate last: while it is missing, both are made anew.
  if (auto kept = write_atomically(disk_, path("router-ca.key"), made->key_pem.reveal(), 0600); !kept) {
    return kept.error();
  }
  if (auto kept = write_atomically(disk_, path("router-ca.pem"), made->chain_pem, 0600); !kept) return kept.error();
  return made;
}

Result<std::string> JoinedRouters::certify(const std::string& name, std::string_view request, int64_t now_ms) {
  auto authority = signer(now_ms);
  if (!authority) return authority.error();
  return crypto::certify_request(
      request, {.name = "router " + name, .until_ms = now_ms + kRouterCertificate_ms, .uri = router_identity(name)},
      *authority, now_ms);
}

Result<std::string> JoinedRouters::join(const Ask& ask, int64_t now_ms) {
  if (!is_router_name(ask.name) || ask.name == "main") {
    return Error{.code = Code::invalid,
                 .message = "'" + ask.name + "' is no name for a router on another machine",
                 .next = "at most 40 letters, digits, - and _, but not main, which is the control plane's own: --name"};
  }
  if (!Ulid::parse(ask.router)) return Error{.code = Code::invalid, .message = "the router's id is no ULID"};
  if (ask.machine.size() > kMostMachineName) {
    return Error{.code = Code::invalid, .message = "the machine's name is longer than 253 bytes"};
  }
  const std::lock_guard guard(mutex_);
  auto file = read();
  if (!file) return file.error();
  const bool known = std::ranges::any_of(
      file->routers, [&](const JoinedRouter& each) { return each.name == ask.name || each.router == ask.router; });
  auto local = disk_.exists((home_.root() / "router" / ask.name / "lock").string());
  if (known || (local && *local)) {
    return Error{.code = Code::conflict,
                 .message = "there is a router " + ask.name + " already; nothing was changed",
                 .next = "choose another --name, or sluice router remove " + ask.name};
  }
  auto key = crypto::key_in_request(ask.request);
  if (!key) return key.error();
  auto chain = certify(ask.name, ask.request, now_ms);
  if (!chain) return chain.error();
  file->routers.push_back({.name = ask.name,
                           .router = ask.router,
                           .environment = ask.environment,
                           .machine = ask.machine,
                           .key = *std::move(key),
                           .joined_ms = now_ms,
                           .until_ms = now_ms + kRouterCertificate_ms});
  if (auto written = write(*file); !written) return written.error();
  return chain;
}

Result<JoinedRouter> JoinedRouters::owner_of(std::string_view chain_pem, int64_t at_ms) const {
  auto roots = authority();
  if (!roots) return roots.error();
  auto facts = crypto::read_certificates(chain_pem);
  if (!facts) return facts.error();
  if (roots->empty() || !crypto::verify_chain(chain_pem, *roots, "", at_ms)) {
    return not_joined("this certificate is not signed by the authority for this control plane's routers");
  }
  auto key = crypto::key_in_certificate(chain_pem);
  if (!key) return key.error();
  auto file = read();
  if (!file) return file.error();
  auto found = std::ranges::find(file->routers, *key, &JoinedRouter::key);
  if (found == file->routers.end()) return not_joined("the router with this certificate was removed here");
  return std::move(*found);
}

Result<JoinedRouter> JoinedRouters::known_by(std::string_view chain_pem, std::string_view name, int64_t now_ms) const {
  const std::lock_guard guard(mutex_);
  auto owner = owner_of(chain_pem, now_ms);
  if (!owner || owner->name == name) return owner;
  return Error{.code = Code::denied,
               .message = "this certificate is of the router " + owner->name + ", and not of " + std::string(name)};
}

Result<std::string> JoinedRouters::renew(std::string_view chain_pem, std::string_view request, int64_t now_ms) {
  const std::lock_guard guard(mutex_);
  auto facts = crypto::read_certificates(chain_pem);
  if (!facts) return facts.error();
  const int64_t until_ms = facts->front().until_ms;
  if (now_ms > until_ms + kRenewableAfterEnd_ms) {
    return not_joined("this certificate ended at " + utc_text(until_ms) + ", more than 30 days ago");
  }
  auto owner = owner_of(chain_pem, std::min(now_ms, until_ms - 1'000));
  if (!owner) return owner.error();
  auto key = crypto::key_in_request(request);
  if (!key) return key.error();
  if (*key != owner->key) {
    return Error{.code = Code::denied,
                 .message = "the request is signed with another key than the certificate of the router " + owner->name};
  }
  auto chain = certify(owner->name, request, now_ms);
  if (!chain) return chain.error();
  auto file = read();
  if (!file) return file.error();
  auto found = std::ranges::find(file->routers, owner->key, &JoinedRouter::key);
  found->until_ms = now_ms + kRouterCertificate_ms;
  if (auto written = write(*file); !written) return written.error();
  return chain;
}

Result<JoinedRouter> JoinedRouters::remove(const std::string& name) {
  const std::lock_guard guard(mutex_);
  auto file = read();
  if (!file) return file.error();
  auto found = std::ranges::find(file->routers, name, &JoinedRouter::name);
  if (found == file->routers.end()) {
    return Error{.code = Code::not_found, .message = "no router " + name + " has joined", .next = "sluice router list"};
  }
  JoinedRouter removed = std::move(*found);
  file->routers.erase(found);
  if (auto written = write(*file); !written) return written.error();
  return removed;
}

}  // namespace sluice::host
