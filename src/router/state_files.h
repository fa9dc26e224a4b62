// What a router obeyed last, on its disk: a snapshot, and the patches since. Written as it came, signature and all, so
// that it is verified again before it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::router {

// An order as it came: its envelope, and the bytes that it is about.
struct KeptOrder {
  std::string envelope;
  std::string bytes;

  bool operator==(const KeptOrder&) const = default;
};

class StateFiles {
 public:
  StateFiles(Disk& disk, std::string folder);

  struct Read {
    std::optional<KeptOrder> snapshot;
    std::vector<KeptOrder> patches;
    std::string fault;  // why there are not more; empty if all were read
  };
  // What is there, as far as it is whole. Nothing is verified but the patches' hashes.
  Result<Read> read();

  // Whole and synced when it returns; patches of before are gone.
  Result<void> put_snapshot(const KeptOrder& order);
  // Not synced. After one that failed it refuses all others, which would not follow, until there is a snapshot.
  Result<void> append_patch(const KeptOrder& order);
  // Only so many of the patches that were read hold; the others are cut off.
  Result<void> keep_patches(size_t count);

  size_t patches() const { return ends_.size(); }
  uint64_t patch_bytes() const { return ends_.empty() ? 0 : ends_.back(); }
  bool wants_load() const;

 private:
  Result<File*> patches_file();

  Disk& disk_;
  std::string snapshot_;
  std::string patches_;
  std::unique_ptr<File> file_;
  std::vector<uint64_t> ends_;  // where each patch ends
  std::string missing_;         // why the patches end there, if they do not end with the last order
};

}  // namespace sluice::router
