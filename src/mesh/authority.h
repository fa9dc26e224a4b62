// The keys of a mesh: its CA, the signers of its planes, and the certificates of its principals. All of them are
// Ed25519 and live beside the sources: certificates in certs/, keys in keys/, which only their owner can read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "crypto/x509.h"
#include "mesh/facade.h"
#include "mesh/signature.h"

namespace sluice::mesh {

// A folder and all above it.
Result<void> make_folders(Disk& disk, const std::string& path, uint32_t mode);

// What of the CA and the signers is not there yet is made: the names of the files, from the folder.
Result<std::vector<std::string>> make_authority(Disk& disk, const std::string& folder, const Model& model,
                                                int64_t now_ms);

// A signer's key by its certificate, which must be of that identity and signed by the mesh's CA.
ReadSigner signers_in(Disk& disk, const std::string& folder, const std::string& ca_cert, int64_t now_ms);
// The same before there are certificates: every signer has some key.
ReadSigner signers_to_be();

// The private key of a signer, "management-plane" or "control-plane"; `not_found` if it is not kept here.
Result<crypto::PrivateKey> signer_key(Disk& disk, const std::string& folder, const std::string& plane,
                                      const std::string& name);

// Whom the nodes of this mesh trust.
Trust trust_of(const Model& model);

// New certificates and keys of all principals that a node serves, by the names that its artifacts give them:
// certs/node.alpha.crt, certs/node.alpha.key, and ca.crt. A service's is also of the host NAME.DOMAIN.rete.
Result<std::map<std::string, std::string>> issue_identities(Disk& disk, const std::string& folder, const Model& model,
                                                            const std::vector<SpiffeId>& principals, int64_t now_ms);

}  // namespace sluice::mesh
