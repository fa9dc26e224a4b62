// Which files of a folder go into its bundle: those that a glob of `include` covers, less what .sluiceignore names,
// less the deny list, less bundles that were built there before (a file with its sidecar). bundle.yaml itself always
// does.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/entry_rules.h"

namespace sluice::bundle {

struct Skipped {
  std::string path;         // a folder stands for all that is in it, with "/" at its end
  std::string reason;       // ".sluiceignore:3", "an environment file", "not included", "a FIFO, socket or device"
  bool secret = false;      // it holds secrets by its name
  bool is_special = false;  // a FIFO, socket or device

  bool operator==(const Skipped&) const = default;
};

struct Selection {
  std::vector<std::string> chosen;  // paths relative to the folder, sorted: files, symlinks, and folders that are empty
  std::vector<Skipped> skipped;     // sorted by path
};

// Walks the folder without following symlinks. .sluiceignore is read from the folder itself alone. Refused: more
// entries or deeper folders than the limits allow.
Result<Selection> select(Disk& disk, const std::string& folder, const std::vector<std::string>& include = {"**"},
                         const ArchiveLimits& limits = {});

}  // namespace sluice::bundle
