// Private keys as files: PEM (PKCS#8), mode 0600, ours alone.
//
// A key is loaded only if nobody else can have read or replaced it: a plain file that belongs to us or to root, closed
// to group and others, reached without a symlink in any component of its path. Errors name the command that repairs
// it. A key is stored whole or not at all, and never over another one: a lost key cannot be made again.
#pragma once

#include <cstdint>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::crypto {

// The user whose files we may trust, besides root's: the effective one.
uint32_t current_user();

Result<PrivateKey> load_private_key(Disk& disk, const std::string& path, uint32_t user = current_user());

// Durable when it returns. Fails with `conflict` if there is anything at `path`; the folder must be there. A crash may
// leave a file PATH.KEYID beside it, also 0600, which nothing reads.
Result<void> store_private_key(Disk& disk, const std::string& path, const PrivateKey& key);

}  // namespace sluice::crypto
