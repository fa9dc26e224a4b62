// PartialUploads keeps bytes that come in several requests, until all of them are there: for bundles that are too large
// for one request over a line that breaks. What a caller has sent of a digest is a file; where it ends, the next piece
// begins. It survives a restart, and goes after a day.
//
//   auto at = partial.offset(caller, digest);                  // 0: nothing is there
//   auto now = partial.add(caller, digest, *at, next_piece);   // `conflict`: it ends elsewhere
//
// Nobody sees what another caller has sent. Any thread may ask.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/sha256.h"

namespace sluice::host {

class PartialUploads {
 public:
  // The folder is made when something is kept; the one that holds it, too.
  PartialUploads(Disk& disk, std::string folder, const Clock& clock)
      : disk_(disk), folder_(std::move(folder)), clock_(clock) {}

  Result<uint64_t> offset(const std::string& caller, const crypto::Sha256& digest) const;
  // Until `next` says that there is no more; how far it came. What came before an error stays.
  Result<uint64_t> add(const std::string& caller, const crypto::Sha256& digest, uint64_t offset,
                       const std::function<Result<bool>(std::string& piece)>& next);
  Result<std::unique_ptr<File>> open(const std::string& caller, const crypto::Sha256& digest) const;
  Result<void> remove(const std::string& caller, const crypto::Sha256& digest);

 private:
  std::string path_of(const std::string& caller, const crypto::Sha256& digest) const;
  Result<void> make_room();

  Disk& disk_;
  std::string folder_;
  const Clock& clock_;
};

}  // namespace sluice::host
