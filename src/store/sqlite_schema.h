// The tables of a SQLite store, how a new file gets them and how an older file gets today's. docs/internals/store.md
// describes them.
//
// The file's header carries the application id "SLCE" and the schema's version, so a file that is not a store, or is
// one of a newer Sluice, is known before anything touches it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "store/sqlite_connection.h"
#include "store/store_format.h"

namespace sluice::store {

constexpr uint32_t kApplicationId = 0x534c4345;  // "SLCE"

struct Schema {
  std::string create;                   // makes the tables of version 1
  std::vector<std::string> migrations;  // the first leads from version 1 to 2, the next to 3 …

  int version() const { return static_cast<int>(migrations.size()) + 1; }
};

const Schema& current_schema();

// Whether the schema knows this version of the store at path; else `invalid`.
Result<void> check_version(const std::string& path, int64_t version, const Schema& schema);

// The version of the store at path, none if there is no file. Reads the header alone and changes nothing. `invalid`
// for a file that is not a store, or is one of a version that the schema does not know.
Result<std::optional<int>> stored_version(Disk& disk, const std::string& path, const Schema& schema);

// Makes an empty store at path. It is there whole or not at all: it is built beside and renamed. Removes what an
// earlier attempt has left.
Result<void> create_database(Disk& disk, const std::string& path, const Schema& schema);

// Brings the tables from an older version to the schema's in one transaction, and keeps the note.
Result<void> migrate(Connection& connection, int from, const Schema& schema, const UpgradeNote& note);

// The note of the last migration; none if the store was made in this version.
Result<std::optional<UpgradeNote>> last_migration(Connection& connection);

// Copies what the connection sees now to a new file, which is there whole or not at all, and durable. Replaces what
// is at the path.
Result<void> copy_database(Disk& disk, Connection& from, const std::string& path);

}  // namespace sluice::store
