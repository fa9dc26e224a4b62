// The format that a store is kept in. A program works on one format alone: it refuses newer ones, and an older one is
// brought up by upgrade() and nothing else, so that nobody does it without a backup.
//
//   auto store = SqliteStore::open(disk, path, {.older = OlderFormat::kept});
//   if ((*store)->format() < (*store)->newest_format()) (*store)->upgrade({.at_ms = …, .backup = folder});
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace sluice::store {

// What is done with a store of an older format when it is opened.
enum class OlderFormat { refused, kept };

// When a store was brought up to a format, and the backup that was made before.
struct UpgradeNote {
  int64_t at_ms = 0;
  std::string backup;
};

class StoreFormat {
 public:
  virtual ~StoreFormat() = default;

  virtual int format() const = 0;
  virtual int newest_format() const = 0;
  // All steps from the one to the other in one transaction; a failure or a crash leaves the older one whole.
  virtual Result<void> upgrade(const UpgradeNote& note) = 0;
  // Of the last one; none: it was made in this format.
  virtual Result<std::optional<UpgradeNote>> last_upgrade() = 0;
};

// `what` names the store; nothing is said of how it is opened.
inline Error older_format(const std::string& what, int64_t format, int newest, const std::string& command) {
  return {.code = Code::invalid,
          .message = what + " has format " + std::to_string(format) + ", and this Sluice works on format " +
                     std::to_string(newest) + "; nothing was changed",
          .next = command};
}

}  // namespace sluice::store
