// What a router on another machine reads besides its table: the certificates of the home with their keys, and what
// authorities are to be answered. They are carried whole and signed, as orders are; the router keeps them in its own
// home, where its worker reads them.
//
//   auto packed = pack_files(disk, home, {.token = 3, .version = …}, key);     // at the control plane
//   auto kept = keep_files(disk, home, *packed, trusted, now_ms);              // at the router
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "host/home.h"

namespace sluice::host {

inline constexpr std::string_view kFilesType = "application/vnd.sluice.router-files+json";

// Which of two is newer: the one of the later lease, then that of the higher version.
struct FilesVersion {
  int64_t token = 0;  // of the lease under which they were sent; 0: none
  int64_t version = 0;
  auto operator<=>(const FilesVersion&) const = default;
};
BOOST_DESCRIBE_STRUCT(FilesVersion, (), (token, version))

struct CarriedFiles {
  std::string text;    // JSON: the folder that they are of, certificates, challenges
  std::string digest;  // changes when they do
};
Result<CarriedFiles> read_files(Disk& disk, const Home& home);
Result<std::string> sign_files(const CarriedFiles& files, const FilesVersion& version, const crypto::PrivateKey& key);

// What is kept from then on; the folder of the control plane that they are of. Errors change nothing:
// `verification_failed`, and `conflict` for files that are older than those that are kept.
struct KeptFiles {
  std::string folder;
  std::vector<std::string> left_out;  // why a certificate was
};
Result<KeptFiles> keep_files(Disk& disk, const Home& home, std::string_view carried,
                             std::span<const crypto::PublicKey> trusted, int64_t now_ms);
// Those that this home has taken last.
FilesVersion files_taken(Disk& disk, const Home& home);

}  // namespace sluice::host
