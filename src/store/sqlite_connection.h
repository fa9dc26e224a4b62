// A connection to a SQLite database through a SqliteVfs, with its prepared statements, and SQLite's failures as Errors.
//
//   auto statement = connection.prepared(kGetState);
//   statement->bind(rel).bind(key);
//   auto row = statement->step();
//
// Statements are kept with the connection and lent out; one that is lent is prepared anew for the next who asks, so
// readings may nest. One thread at a time; statements must not outlive their connection, nor it its vfs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/ulid.h"
#include "store/sqlite_vfs.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::store {

class Connection;

// Strings and ids are bound and read as blobs. Bound strings must live until the statement has run.
class Statement {
 public:
  Statement(Connection& connection, const char* sql, sqlite3_stmt* statement)
      : connection_(&connection), sql_(sql), statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  // The next parameter, in the order of the question marks.
  Statement& bind(int64_t value);
  Statement& bind(uint64_t value);
  Statement& bind(std::string_view bytes);
  Statement& bind(const Ulid& id);

  // Whether there is a row (a further one).
  Result<bool> step();
  // Runs it for its effect; then it can be bound and run again.
  Result<void> run();

  int64_t integer(int column) const;
  uint64_t count(int column) const { return static_cast<uint64_t>(integer(column)); }
  std::string bytes(int column) const;  // NULL is empty
  Ulid id(int column) const;

 private:
  static constexpr size_t kMaxParameters = 8;

  Connection* connection_;
  const char* sql_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  std::array<std::array<char, 16>, kMaxParameters> ids_{};
};

class Connection {
 public:
  enum class Access { read_write, create };

  static Result<std::unique_ptr<Connection>> open(const SqliteVfs& vfs, const std::string& path, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> execute(const std::string& sql);
  // The one integer that a query returns.
  Result<int64_t> query_integer(const char* sql);
  Result<Statement> prepared(const char* sql);

  // What went wrong in the last call: SQLite's code as an Error that says what the disk said.
  Error error(int sqlite_code) const;
  sqlite3* raw() { return connection_; }
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  Connection(const SqliteVfs& vfs, std::string path) : vfs_(vfs), path_(std::move(path)) {}

  const SqliteVfs& vfs_;
  std::string path_;
  sqlite3* connection_ = nullptr;
  std::unordered_map<const char*, std::vector<sqlite3_stmt*>> idle_;  // by the address of the SQL, a constant
};

}  // namespace sluice::store
