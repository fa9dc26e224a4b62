// The tables of a store in PostgreSQL, how a new database gets them and how an older format gets today's.
#pragma once

#include <vector>

#include "base/result.h"
#include "store/postgres_connection.h"
#include "store/store_format.h"

namespace sluice::store::postgres {

// The format that this program works on.
int newest_postgres_format();

// Makes the tables if there are none, unless the store is only to be read: then that is `not_found`. Returns the
// format; `invalid` for a newer one, and for an older one that is refused.
Result<int> prepare_postgres(PostgresConnection& connection, bool make, OlderFormat older);

// The statements that lead from this format to the newest, in order.
std::vector<const char*> postgres_steps_from(int format);

}  // namespace sluice::store::postgres
