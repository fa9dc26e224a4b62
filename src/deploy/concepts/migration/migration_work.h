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
  std::optional<int64_t> at;  // adopt: up to which number
  bool takeOver = false;
  std::string into;    // restore: a file of the storage, or a database
  std::string backup;  // restore: which
  std::string environment;
  bool backedUp = false;  // for whoever asks for this
  int64_t moves = 0;      // how much was done to the database when this was begun
};
BOOST_DESCRIBE_STRUCT(StepWork, (),
                      (migration, goal, deployment, source, settings, address, at, takeOver, into, backup, environment,
                       backedUp, moves))

// What a step saw of the database when it ended.
struct Seen {
  std::string database;   // its id; empty as long as it belongs to nobody
  std::string phase;      // of the migration that is furthest behind
  int64_t version = 0;    // the newest that is expanded
  int64_t newest = 0;     // the newest that the revision brings
  int64_t removed = 0;    // the newest whose old side is gone
  int64_t contracts = 0;  // the newest of the revision that removes something
  int64_t copied = 0;
  int64_t looked_at = 0;
  int64_t took_ms = 0;
  int64_t total = 0;
  int64_t failed = 0;
  int64_t moves = 0;
  std::vector<std::string> errors;
  std::string backup;  // that this step has made
};
BOOST_DESCRIBE_STRUCT(Seen, (),
                      (database, phase, version, newest, removed, contracts, copied, looked_at, took_ms, total, failed,
                       moves, errors, backup))

}  // namespace sluice::deploy::migration
