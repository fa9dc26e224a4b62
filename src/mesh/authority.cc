// A key is never written over: a lost one cannot be made again, and one that is there may be somebody's.
#include "mesh/authority.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "crypto/base64.h"
#include "crypto/key_file.h"

namespace sluice::mesh {
namespace {

constexpr int64_t kDay_ms = 24LL * 3600 * 1000;
constexpr size_t kMaxCert = 1 << 20;

std::string key_path(const std::string& plane, const std::string& name) {
  return "keys/" + plane + "s/" + name + ".key";
}

Result<void> store(Disk& disk, const std::string& folder, const std::string& cert, const std::string& key,
                   const crypto::MadeCertificate& made) {
  for (const std::string& each : {cert, key}) {
    if (auto there = make_folders(disk, folder_of(folder + "/" + each), each == key ? 0700 : 0755); !there)
      return there;
  }
  // The key first: a certificate without its key would look as if it were kept elsewhere.
  if (auto kept = write_atomically(disk, folder + "/" + key, made.key_pem.reveal(), 0600); !kept) return kept;
  return write_atomically(disk, folder + "/" + cert, made.chain_pem, 0644);
}

Result<crypto::MadeCertificate> read_ca(Disk& disk, const std::string& folder, const Model& model) {
  auto cert = read_file(disk, folder + "/" + model.ca_cert, kMaxCert);
  if (!cert) return cert.error();
  auto key = crypto::load_private_key(disk, folder + "/keys/ca.key");
  if (!key) return key.error();
  return crypto::MadeCertificate{.chain_pem = *std::move(cert), .key_pem = key->to_pem()};
}

}  // namespace

Result<void> make_folders(Disk& disk, const std::string& path, uint32_t mode) {
  auto there = disk.exists(path);
  if (!there) return there.error();
  if (*there) return {};
  if (const std::string above = folder_of(path); above != path) {
    if (auto made = make_folders(disk, above, mode); !made) return made;
  }
  auto made = disk.make_folder(path, mode);
  if (!made && made.error().code == Code::conflict) return {};
  return made;
}

Result<std::vector<std::string>> make_authority(Disk& disk, const std::string& folder, const Model& model,
                                                int64_t now_ms) {
  std::vector<std::string> written;
  auto has_ca = disk.exists(folder + "/" + model.ca_cert);
  if (!has_ca) return has_ca.error();
  if (!*has_ca) {
    auto made = crypto::make_certificate({.name = model.trust_domain + " CA",
                                          .is_ca = true,
                                          .until_ms = now_ms + model.ca_days * kDay_ms,
                                          .ed25519 = true},
                                         nullptr, now_ms);
    if (!made) return made.error();
    if (auto kept = store(disk, folder, model.ca_cert, "keys/ca.key", *made); !kept) return kept.error();
    written.insert(written.end(), {model.ca_cert, "keys/ca.key"});
  }
  std::optional<crypto::MadeCertificate> ca;
  for (const bool ctrl : {false, true}) {
    const std::string plane = ctrl ? "control-plane" : "management-plane";
    for (const SignerModel& signer : ctrl ? model.ctrl_signers : model.mgmt_signers) {
      auto there = disk.exists(folder + "/" + signer.cert);
      if (!there) return there.error();
      if (*there) continue;
      if (!ca) {
        auto read = read_ca(disk, folder, model);
        if (!read) return read.error();
        ca = *std::move(read);
      }
      auto made = crypto::make_certificate({.name = signer.name,
                                            .until_ms = now_ms + (ctrl ? model.ctrl_days : model.mgmt_days) * kDay_ms,
                                            .uri = model.id(plane, signer.name),
                                            .ed25519 = true,
                                            .signs_only = true},
                                           &*ca, now_ms);
      if (!made) return made.error();
      if (auto kept = store(disk, folder, signer.cert, key_path(plane, signer.name), *made); !kept) return kept.error();
      written.insert(written.end(), {signer.cert, key_path(plane, signer.name)});
    }
  }
  return written;
}

ReadSigner signers_in(Disk& disk, const std::string& folder, const std::string& ca_cert, int64_t now_ms) {
  return [&disk, folder, ca_cert, now_ms](const std::string& cert, const SpiffeId& id) -> Result<KeyText> {
    auto text = read_file(disk, folder + "/" + cert, kMaxCert);
    if (!text)
      return Error{
          .code = Code::not_found, .message = "there is no certificate " + cert, .next = "sluice mesh ca " + folder};
    auto facts = crypto::read_certificates(*text);
    if (!facts) return facts.error();
    if (facts->front().uris != std::vector<std::string>{id})
      return Error{.code = Code::invalid, .message = "the certificate " + cert + " is not of " + id};
    if (facts->front().ed25519.empty())
      return Error{.code = Code::invalid, .message = "the certificate " + cert + " has no Ed25519 key"};
    auto ca = read_file(disk, folder + "/" + ca_cert, kMaxCert);
    if (!ca) return ca.error();
    if (auto held = crypto::verify_chain(*text, *ca, "", now_ms); !held)
      return Error{.code = Code::verification_failed, .message = cert + ": " + held.error().message};
    return KeyText(crypto::to_base64(facts->front().ed25519));
  };
}

ReadSigner signers_to_be() {
  return [](const std::string&, const SpiffeId&) -> Result<KeyText> {
    return KeyText(crypto::to_base64(crypto::PrivateKey::generate().public_key().raw()));
  };
}

Result<crypto::PrivateKey> signer_key(Disk& disk, const std::string& folder, const std::string& plane,
                                      const std::string& name) {
  return crypto::load_private_key(disk, folder + "/" + key_path(plane, name));
}

Trust trust_of(const Model& model) {
  Trust trust{.trust_domain = model.trust_domain,
              .mgmt_threshold = model.mgmt_threshold,
              .ctrl_threshold = model.ctrl_threshold};
  for (const SignerModel& each : model.mgmt_signers)
    trust.mgmt_signers.push_back({model.id("management-plane", each.name), *each.key});
  for (const SignerModel& each : model.ctrl_signers)
    trust.ctrl_signers.push_back({model.id("control-plane", each.name), *each.key});
  return trust;
}

Result<std::map<std::string, std::string>> issue_identities(Disk& disk, const std::string& folder, const Model& model,
                                                            const std::vector<SpiffeId>& principals, int64_t now_ms) {
  auto ca = read_ca(disk, folder, model);
  if (!ca) return ca.error();
  std::map<std::string, std::string> files = {{"ca.crt", ca->chain_pem}};
  for (const SpiffeId& each : principals) {
    std::vector<std::string> hosts;
    if (each.kind() == "service") {
      const std::string node(each.node());
      hosts.push_back(std::string(each.name()) + (node.empty() ? "" : "." + node) + "." + model.trust_domain + ".rete");
    }
    auto made = crypto::make_certificate({.name = std::string(each.name()),
                                          .names = std::move(hosts),
                                          .until_ms = now_ms + model.leaf_days * kDay_ms,
                                          .uri = each,
                                          .ed25519 = true},
                                         &*ca, now_ms);
    if (!made) return made.error();
    const std::string file = "certs/" + std::string(each.kind()) +
                             (each.node().empty() ? "" : "." + std::string(each.node())) + "." +
                             std::string(each.name());
    files[file + ".crt"] = made->chain_pem;
    files[file + ".key"] = made->key_pem.reveal();
  }
  return files;
}

}  // namespace sluice::mesh
