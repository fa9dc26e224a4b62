// Backups of a migrated database: each under a key of its own, which is kept with the environment's secrets. And
// rehearsals, which need the same programs.
#pragma once

#include <string>

#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migration.gen.h"

namespace sluice::deploy::migration {

// Makes a backup and proves it: its name, by which it can be restored. An effect that is repeated makes the same one.
Result<std::string> make_backup(Effect& effect, const std::string& environment, sluice::migrate::Database& database,
                                const std::string& address);

// Restores it into a SQLite file, or, with an address, into a database beside it; either must not be there.
Result<void> restore_backup(Effect& effect, const std::string& environment, const std::string& name,
                            const std::string& address, const std::string& into);

// All phases on a scratch copy of the schema, contractions only if they are asked for.
Result<void> rehearse(Effect& effect, sluice::migrate::Database& database,
                      const sluice::migrate::Migrations& migrations, const std::string& address, bool contracts);

}  // namespace sluice::deploy::migration
