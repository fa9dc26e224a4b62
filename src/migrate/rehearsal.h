// A rehearsal: all phases of what is still to be done, on a scratch copy of the schema without its rows. What cannot
// work is found before anything is changed.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migrate/scratch.h"

namespace sluice::migrate {

// What a copy of PostgreSQL's schema takes; SQLite's is in memory.
struct RehearsalTools {
  Disk& disk;
  Random& random;
  RunProgram run;
  std::string address;
  std::string file;  // of a dump, for a while
};

// An error has the place of the statement that fails; it is `denied` if no copy can be made, as without the right to
// make a database. Without `contracts` the old side stays.
Result<void> rehearse(Database& database, const Migrations& migrations, Clock& clock, const RehearsalTools& tools,
                      bool contracts = true);

}  // namespace sluice::migrate
