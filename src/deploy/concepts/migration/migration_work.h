// What Migration's effect works on, as it is journaled between begin and perform.
#pragma once

#include "migration.gen.h"

namespace sluice::deploy::migration {

struct StepWork {
  std::string migration;
  std::string goal;
  std::string deployment;
  std::string source;    // the archive of the revision
  std::string settings;  // `migrations:` of its bundle, as JSON
  std::optional<lang::Sealed> address;
  int64_t moves = 0;  // how much was done to the database when this was begun
};
BOOST_DESCRIBE_STRUCT(StepWork, (), (migration, goal, deployment, source, settings, address, moves))

// What a step saw of the database when it ended.
struct Seen {
  std::string database;   // its id; empty as long as it belongs to nobody
  std::string phase;      // of the migration that is furthest behind
  int64_t version = 0;    // the newest that is expanded
  int64_t newest = 0;     // the newest that the revision brings
  int64_t removed = 0;    // the newest whose old side is gone
  int64_t contracts = 0;  // the newest of the revision that removes something
  int64_t copied = 0;
  int64_t total = 0;
  int64_t failed = 0;
  int64_t moves = 0;
  std::vector<std::string> errors;
};
BOOST_DESCRIBE_STRUCT(Seen, (),
                      (database, phase, version, newest, removed, contracts, copied, total, failed, moves, errors))

}  // namespace sluice::deploy::migration
