// A file has changed if its time, its size or its inode has: whoever renews a certificate replaces it.
#include "host/certificates.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "crypto/x509.h"

namespace sluice::host {
namespace {

constexpr int64_t kDay_ms = int64_t{24} * 60 * 60 * 1000;
constexpr int64_t kAuthority_ms = 3650 * kDay_ms;
constexpr int64_t kLeaf_ms = 90 * kDay_ms;
constexpr int64_t kRenewBefore_ms = 30 * kDay_ms;
constexpr int64_t kLookAtFiles_ns = 1'000'000'000;

Result<std::string> text_of_file(Disk& disk, const std::string& path) {
  return read_file(disk, path, crypto::kMaxChainBytes);
}

}  // namespace

Result<std::unique_ptr<Certificates>> Certificates::load(Disk& disk, const Home& home, const Clock& clock,
                                                         CertificateOrders orders) {
  if (orders.cert_file.empty() != orders.key_file.empty()) {
    return Error{.code = Code::usage, .message = "--tls-cert and --tls-key belong together"};
  }
  if (orders.own && !orders.cert_file.empty()) {
    return Error{.code = Code::usage, .message = "a certificate comes from files or from --tls-own, not from both"};
  }
  std::unique_ptr<Certificates> made(new Certificates(disk, home, clock, std::move(orders)));
  made->stamp_ = made->stamp();
  if (auto read = made->read_again(); !read) return read.error();
  return made;
}

std::shared_ptr<const http::ServerTls> Certificates::now() const {
  std::lock_guard lock(mutex_);
  return shown_;
}

std::string Certificates::stamp() const {
  std::string text;
  for (const std::string& path : {orders_.cert_file, orders_.key_file, orders_.client_ca_file, router_authority()}) {
    if (path.empty()) continue;
    auto stat = disk_.stat(path, FollowLinks::yes);
    text += stat ? std::to_string(stat->mtime_ns) + " " + std::to_string(stat->size) + " " +
                       std::to_string(stat->inode) + "\n"
                 : "missing\n";
  }
  return text;
}

std::string Certificates::router_authority() const { return (home_.root() / "keys" / "router-ca.pem").string(); }

Result<void> Certificates::read_again() {
  auto certificate = orders_.own ? from_authority() : from_files();
  if (!certificate) return certificate.error();
  if (!orders_.client_ca_file.empty()) {
    auto roots = text_of_file(disk_, orders_.client_ca_file);
    if (!roots) return roots.error();
    certificate->client_roots_pem = *std::move(roots);
  }
  // Routers on other machines show theirs.
  if (auto roots = text_of_file(disk_, router_authority())) certificate->client_roots_pem += "\n" + *roots;
  auto shown = http::ServerTls::make(*certificate);
  if (!shown) return shown.error();
  std::lock_guard lock(mutex_);
  shown_ = *std::move(shown);
  return {};
}

Result<http::ServerCertificate> Certificates::from_files() {
  auto chain = text_of_file(disk_, orders_.cert_file);
  if (!chain) return chain.error();
  auto key = text_of_file(disk_, orders_.key_file);
  if (!key) return key.error();
  return http::ServerCertificate{.chain_pem = *std::move(chain), .key_pem = *std::move(key)};
}

Result<http::ServerCertificate> Certificates::from_authority() {
  const int64_t now_ms = clock_.wall_ms();
  auto keys = home_.folder("keys");
  if (!keys) return keys.error();
  const std::string chain_file = (*keys / "tls-ca.pem").string(), key_file = (*keys / "tls-ca.key").string();
  auto chain = text_of_file(disk_, chain_file);
  if (!chain && chain.error().code != Code::not_found) return chain.error();
  crypto::MadeCertificate authority;
  if (chain) {
    auto key = text_of_file(disk_, key_file);
    if (!key) return key.error();
    authority.chain_pem = *std::move(chain);
    authority.key_pem = crypto::SecretBuffer::copy_of(*key);
  } else {
    auto made = crypto::make_certificate({.name = "Sluice home", .is_ca = true, .until_ms = now_ms + kAuthority_ms},
                                         nullptr, now_ms);
    if (!made) return made.error();
    authority = *std::move(made);
    // The certificate last: while it is missing, both are made anew.
    if (auto kept = write_atomically(disk_, key_file, authority.key_pem.reveal(), 0600); !kept) return kept.error();
    if (auto kept = write_atomically(disk_, chain_file, authority.chain_pem, 0600); !kept) return kept.error();
  }
  auto facts = crypto::read_certificates(authority.chain_pem);
  if (!facts) return facts.error();
  fingerprint_ = facts->front().fingerprint;
  auto leaf = crypto::make_certificate({.names = orders_.names, .until_ms = now_ms + kLeaf_ms}, &authority, now_ms);
  if (!leaf) return leaf.error();
  renew_ms_ = now_ms + kLeaf_ms - kRenewBefore_ms;
  return http::ServerCertificate{.chain_pem = leaf->chain_pem, .key_pem = std::string(leaf->key_pem.reveal())};
}

std::optional<std::string> Certificates::look(bool at_once) {
  const int64_t now_ns = clock_.monotonic_ns();
  if (!at_once && now_ns - looked_ns_ < kLookAtFiles_ns) return std::nullopt;
  looked_ns_ = now_ns;
  const std::string found = stamp();
  const bool due = orders_.own && clock_.wall_ms() >= renew_ms_;
  if (!at_once && !due && found == stamp_) return std::nullopt;
  stamp_ = found;
  if (auto read = read_again(); !read) {
    return "the certificate was not read again, and the one before stays: " + read.error().message;
  }
  return "new connections see the certificate as it is now";
}

}  // namespace sluice::host
