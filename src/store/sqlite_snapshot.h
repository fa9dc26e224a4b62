// A Snapshot of a SQLite store: a connection in a read transaction.
#pragma once

#include <functional>
#include <memory>

#include "store/sqlite_connection.h"
#include "store/store.h"

namespace sluice::store {

// Begins a read transaction on the connection, which goes to give_back when the snapshot ends: with true if it can be
// used again.
Result<std::unique_ptr<Snapshot>> open_snapshot(
    std::unique_ptr<Connection> connection,
    std::function<void(std::unique_ptr<Connection> connection, bool reusable)> give_back);

// The flow as the connection sees it, also within a transaction that writes.
Result<std::optional<FlowRow>> read_flow(Connection& connection, const Ulid& id);

// Seq of the newest step.
Result<uint64_t> read_position(Connection& connection);

}  // namespace sluice::store
