// Public keys as people hand them to a command: PEM, one key or several in a file.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::cli {

// All of them, one after the other; `invalid` if there is none.
Result<std::vector<crypto::PublicKey>> public_keys_in(Disk& disk, const std::string& path);

}  // namespace sluice::cli
