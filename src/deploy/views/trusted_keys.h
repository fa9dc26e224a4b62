// The public keys of the trust root, for what else they may have signed than bundles.
#pragma once

#include <vector>

#include "crypto/ed25519.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// All that sign for every bundle and were not revoked, those that have expired too: what they signed, they signed.
std::vector<crypto::PublicKey> trusted_keys(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
