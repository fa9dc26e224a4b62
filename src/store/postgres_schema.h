// The tables of a store in PostgreSQL.
#pragma once

#include "base/result.h"
#include "store/postgres_connection.h"

namespace sluice::store::postgres {

// Makes them if there are none; `invalid` if they are of another format.
Result<void> prepare_postgres(PostgresConnection& connection);

}  // namespace sluice::store::postgres
