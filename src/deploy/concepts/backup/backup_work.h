// What Backup's effects work on, as it is journaled between begin and perform.
#pragma once

#include "backup.gen.h"

namespace sluice::deploy::backup {

struct CreateWork {
  std::string folder;
  std::string recipient;
};
BOOST_DESCRIBE_STRUCT(CreateWork, (), (folder, recipient))

struct ListWork {
  int64_t position = 0;
};
BOOST_DESCRIBE_STRUCT(ListWork, (), (position))

struct VerifyWork {
  std::string backup;
  std::string folder;
};
BOOST_DESCRIBE_STRUCT(VerifyWork, (), (backup, folder))

struct DrillWork {
  std::string backup;
  std::string folder;
};
BOOST_DESCRIBE_STRUCT(DrillWork, (), (backup, folder))

struct RemoveWork {
  std::string backup;
  std::string folder;
};
BOOST_DESCRIBE_STRUCT(RemoveWork, (), (backup, folder))

// What keep and keepDays do not need.
struct PruneWork {
  std::string place;
  std::string base;  // the oldest that is kept; empty: nothing is outdated
  std::vector<std::string> backups, folders;
};
BOOST_DESCRIBE_STRUCT(PruneWork, (), (place, base, backups, folders))

}  // namespace sluice::deploy::backup
