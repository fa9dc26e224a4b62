// How work on a database that is in use is done: whatever waits for a lock gives up after half a second, lets the
// application through, and tries again.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"

namespace sluice::migrate {

constexpr int kTries = 20;

// What fails for a lock that others hold is tried again, with growing pauses in which they go on.
Result<void> patiently(Clock& clock, const std::function<Result<void>()>& body, int tries = kTries);

// A transaction in which the application waits for us half a second at most.
Result<void> in_transaction(Database& database, Clock& clock, const std::function<Result<void>()>& body);

// The error with the place of the statement in the migration's file.
Error at_line(Error error, const Migration& migration, const std::string& file, const Statement& statement);

// Another migrator, whose lease ran out under it, did meanwhile what this one was about to do.
Error overtaken();

// Whether everything is copied.
bool is_complete(const std::string& phase);

}  // namespace sluice::migrate
