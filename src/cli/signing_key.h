// With whose key a command signs: the operator's, made when the home is first used, or the one in --key.
#pragma once

#include "cli/command.h"
#include "cli/context.h"
#include "crypto/ed25519.h"

namespace sluice::cli {

// Of every command that signs.
std::vector<Option> signing_options();

// In a new home the operator's key is trusted for `local`, and the person is told.
Result<crypto::PrivateKey> signing_key(Context& context);

}  // namespace sluice::cli
