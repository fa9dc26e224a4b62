// The public keys of the trust root, for what else they may have signed than bundles; and all of it.
#pragma once

#include <vector>

#include "bundle/trust/trust_root.h"
#include "crypto/ed25519.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// All that sign for every bundle and were not revoked, those that have expired too: what they signed, they signed.
std::vector<crypto::PublicKey> trusted_keys(const lang::Snapshot& snapshot);
// Whose signatures count, and for what; empty if that cannot be read.
bundle::TrustRoot trust_root_in(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
