// How far the pull of a revision's image has come, in a file of the home while it goes on, for those who wait for it.
//
//   tell_pull(disk, folder, revision, {.image = "registry.example/team/shop:1.4", .done_bytes = 12, .all_bytes = 80});
//   auto now = pull_of(disk, folder, revision);   // nothing if none is under way
//
// The file is no promise: one that a killed process left is written anew by the next attempt, and nothing is decided by
// it. So it is not synced, and an error is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/disk.h"
#include "base/json_fields.h"

namespace sluice::deploy {

struct PullTold {
  std::string image;
  uint64_t done_bytes = 0;
  uint64_t all_bytes = 0;  // 0: it is not known yet

  bool operator==(const PullTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(PullTold, (), (image, done_bytes, all_bytes))

// `folder` is that of a home's images.
void tell_pull(Disk& disk, const std::string& folder, const std::string& revision, const PullTold& told);
void forget_pull(Disk& disk, const std::string& folder, const std::string& revision);
std::optional<PullTold> pull_of(Disk& disk, const std::string& folder, const std::string& revision);

// "pulling registry.example/team/shop:1.4: 12.0 of 80.5 MB"
std::string to_text(const PullTold& told);

}  // namespace sluice::deploy
