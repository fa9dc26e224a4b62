// The few of SQLite's calls that Sluice makes.
#include "store/sqlite_connection.h"

#include <sqlite3.h>

#include <cassert>
#include <span>

namespace sluice::store {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

void put_big_endian(uint64_t value, char* out) {
  for (int i = 7; i >= 0; --i, value >>= 8) out[i] = static_cast<char>(value & 0xff);
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), sql_(other.sql_), statement_(std::exchange(other.statement_, nullptr)) {
  assert(other.bound_ == 0);
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  connection_->idle_[sql_].push_back(statement_);
}

Statement& Statement::bind(int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(uint64_t value) { return bind(static_cast<int64_t>(value)); }

Statement& Statement::bind(std::string_view bytes) {
  // A null pointer would bind NULL.
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(const Ulid& id) {
  auto& text = ids_[static_cast<size_t>(bound_)];
  put_big_endian(id.high(), text.data());
  put_big_endian(id.low(), text.data() + 8);
  return bind(std::string_view(text.data(), text.size()));
}

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->error(code);
}

Result<void> Statement::run() {
  auto row = step();
  assert(!row || !*row);
  sqlite3_reset(statement_);
  bound_ = 0;
  if (!row) return row.error();
  return {};
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

// Bytes that are no id, in a damaged file, give the id of zeros.
Ulid Statement::id(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr || sqlite3_column_bytes(statement_, column) != 16) return {};
  int64_t wall_ms = 0;
  for (int i = 0; i < 6; ++i) wall_ms = wall_ms << 8 | data[i];
  return Ulid::from(wall_ms, std::span<const uint8_t, Ulid::kRandomBytes>(data + 6, Ulid::kRandomBytes));
}

Result<std::unique_ptr<Connection>> Connection::open(const SqliteVfs& vfs, const std::string& path, Access access) {
  std::unique_ptr<Connection> opened(new Connection(vfs, path));
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (access == Access::create ? SQLITE_OPEN_CREATE : 0);
  int code = sqlite3_open_v2(path.c_str(), &opened->connection_, flags, vfs.name().c_str());
  if (code != SQLITE_OK) return opened->error(code);
  sqlite3_busy_timeout(opened->connection_, kBusyTimeoutMs);
  // Checkpoints are made by who opened it, when it says so; a file that turns out not to be ours stays as it is.
  sqlite3_db_config(opened->connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(opened->connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  auto set = opened->execute("PRAGMA temp_store = memory; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0");
  if (!set) return set.error();
  return opened;
}

Connection::~Connection() {
  for (auto& [sql, statements] : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close(connection_);
}

Result<void> Connection::execute(const std::string& sql) {
  int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<int64_t> Connection::query_integer(const char* sql) {
  auto statement = prepared(sql);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Result<Statement> Connection::prepared(const char* sql) {
  auto& idle = idle_[sql];
  if (!idle.empty()) {
    sqlite3_stmt* statement = idle.back();
    idle.pop_back();
    return Statement(*this, sql, statement);
  }
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(connection_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(*this, sql, statement);
}

Error Connection::error(int sqlite_code) const {
  if (auto broken = vfs_.broken()) return *broken;
  auto fault = vfs_.last_fault();
  std::string said = fault ? fault->message : std::string(sqlite3_errstr(sqlite_code));
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return {.code = Code::limit,
              .message = "the disk is full: " + said,
              .next = "make room; what was committed is kept, and work goes on when there is room again"};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return {.code = Code::failed, .message = said};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {.code = Code::invalid,
              .message = path_ + " is damaged: " + sqlite3_errstr(sqlite_code),
              .next = "keep the file as it is and restore the newest backup"};
    case SQLITE_TOOBIG:
      return {.code = Code::limit, .message = "a value is too large for the store (1 GB at most)"};
    default: {
      std::string detail = connection_ == nullptr ? sqlite3_errstr(sqlite_code) : sqlite3_errmsg(connection_);
      return {.code = Code::failed, .message = path_ + ": " + detail};
    }
  }
}

}  // namespace sluice::store
