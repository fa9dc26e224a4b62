// The sidecar of an archive: the file ARCHIVE.sig.json beside it, which travels with it and says in a DSSE envelope
// what the archive is (bundle/trust/statement.h), signed. Whether its signatures count is the trust root's to say
// (bundle/trust/trust_root.h); nothing in a sidecar may be believed before.
//
//   auto sidecar = sign_statement(statement, keys);
//   write_sidecar(disk, sidecar_path("shop.sqfs"), *sidecar);
//   auto text = read_sidecar(disk, sidecar_path("shop.sqfs"));   // nothing: there is none
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/trust/statement.h"
#include "crypto/dsse.h"
#include "crypto/ed25519.h"

namespace sluice::bundle {

inline constexpr size_t kMaxSidecarBytes = 2 << 20;

std::string sidecar_path(std::string_view archive);

// One signature of each key, in their order.
Result<crypto::Envelope> sign_statement(const Statement& statement, std::span<const crypto::PrivateKey> keys);

// Adds one more, of the same payload: what a group with a threshold needs. Signing twice with one key changes nothing,
// and mends that key's signature if it did not hold.
Result<void> add_signature(crypto::Envelope& sidecar, const crypto::PrivateKey& key);

// The text of the file: the envelope in one line.
std::string write_sidecar_text(const crypto::Envelope& sidecar);
Result<void> write_sidecar(Disk& disk, const std::string& path, const crypto::Envelope& sidecar);

// The text as it lies there, for TrustRoot's verify; nothing if there is no such file.
Result<std::optional<std::string>> read_sidecar(Disk& disk, const std::string& path);

// Strict: what crypto::parse_envelope refuses, another payload type, and a signature that does not name its key by the
// 32 hex digits of a key id are errors. Nothing is verified by it.
Result<crypto::Envelope> parse_sidecar(std::string_view text, std::string file = "");

}  // namespace sluice::bundle
