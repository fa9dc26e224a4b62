// PackKeeper takes packs from outside into the home: it unpacks them, and refuses those whose concept would not fit the
// kit that runs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "pack/pack_shelf.h"

namespace sluice::deploy {

struct KeptPack {
  sluice::pack::Pack pack;
  std::optional<std::string> sidecar;  // the text beside what was given
};

class PackKeeper {
 public:
  // Whether a pack can be loaded beside what runs; its error says what is wrong with its concept. An engine that runs
  // has the concept afterwards.
  using Fits = std::function<Result<void>(const sluice::pack::Pack& pack)>;

  PackKeeper(Disk& disk, sluice::pack::PackShelf& shelf, Fits fits)
      : disk_(disk), shelf_(shelf), fits_(std::move(fits)) {}

  // A `conflict`, with the pack's kind as its path, if another pack is kept under the same kind. What is refused leaves
  // nothing behind.
  Result<KeptPack> keep(const std::string& source);
  Result<void> drop(const std::string& digest) { return shelf_.remove(digest); }

 private:
  Disk& disk_;
  sluice::pack::PackShelf& shelf_;
  Fits fits_;
};

}  // namespace sluice::deploy
