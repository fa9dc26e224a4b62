// Snapshot on PostgreSQL: a transaction that reads one moment.
#pragma once

#include <functional>
#include <memory>

#include "store/postgres_connection.h"
#include "store/store.h"

namespace sluice::store::postgres {

// `give_back` gets the connection at the snapshot's end, and whether it can be used again.
Result<std::unique_ptr<Snapshot>> open_postgres_snapshot(
    std::unique_ptr<PostgresConnection> connection,
    std::function<void(std::unique_ptr<PostgresConnection>, bool)> give_back);

Result<std::optional<FlowRow>> read_postgres_flow(PostgresConnection& connection, const Ulid& id);

std::string bytes_of(const Ulid& id);

}  // namespace sluice::store::postgres
