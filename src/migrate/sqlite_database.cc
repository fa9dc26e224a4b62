// A SQLite file of an application. Its journal mode and its other settings stay what the application made them.
#include <sqlite3.h>

#include <memory>
#include <string>

#include "migrate/database.h"

namespace sluice::migrate {
namespace {

// As long as a statement that writes waits for the application's own transaction; then the caller tries again. Nobody
// has to wait behind one that reads.
constexpr int kWriteTimeoutMs = 500;
constexpr int kReadTimeoutMs = 10'000;

class SqliteDatabase final : public Database {
 public:
  explicit SqliteDatabase(std::string path) : path_(std::move(path)) {}
  ~SqliteDatabase() override { sqlite3_close(connection_); }

  Result<void> open(bool create, bool follow = true) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (create ? SQLITE_OPEN_CREATE : 0) | (follow ? 0 : SQLITE_OPEN_NOFOLLOW);
    int code = sqlite3_open_v2(path_.c_str(), &connection_, flags, nullptr);
    if (code != SQLITE_OK) return error(code);
    // Views and triggers of the application may do what they did; a damaged file is found here.
    return run("SELECT count(*) FROM sqlite_schema");
  }

  Engine engine() const override { return Engine::sqlite; }
  sqlite3* connection() const { return connection_; }
  int64_t changed() const override { return changed_; }

  Result<Rows> query(const std::string& sql, const Row& given) override {
    sqlite3_stmt* prepared = nullptr;
    int code = prepare(sql, prepared);
    if (code != SQLITE_OK) return error(code);
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
    for (size_t i = 0; i < given.size(); ++i) {
      int place = sqlite3_bind_parameter_index(prepared, ("$" + std::to_string(i + 1)).c_str());
      if (place == 0) continue;
      if (given[i]) {
        sqlite3_bind_text(prepared, place, given[i]->data(), static_cast<int>(given[i]->size()), SQLITE_STATIC);
      } else {
        sqlite3_bind_null(prepared, place);
      }
    }
    Rows rows;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) rows.push_back(row_of(prepared));
    if (code != SQLITE_DONE) return error(code);
    changed_ = sqlite3_changes64(connection_);
    return rows;
  }

  Result<void> each_row(const std::string& sql, const std::function<void(const Row&)>& seen) override {
    sqlite3_stmt* prepared = nullptr;
    int code = prepare(sql, prepared);
    if (code != SQLITE_OK) return error(code);
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) seen(row_of(prepared));
    if (code != SQLITE_DONE) return error(code);
    return {};
  }

  Error error(int code) const {
    std::string said = connection_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection_);
    switch (code & 0xff) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return {.code = Code::conflict, .message = path_ + ": " + said};
      case SQLITE_FULL:
        return {.code = Code::limit,
                .message = "the disk is full: " + path_,
                .next = "make room; what was done so far stays done"};
      case SQLITE_CANTOPEN:
        return {.code = Code::unavailable, .message = path_ + ": " + said};
      case SQLITE_IOERR:
        return {.code = Code::unavailable, .message = path_ + ": " + said};
      case SQLITE_READONLY:
      case SQLITE_PERM:
      case SQLITE_AUTH:
        return {.code = Code::denied, .message = path_ + ": " + said};
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return {.code = Code::invalid, .message = path_ + " is damaged: " + said};
      default:
        return {.code = Code::failed, .message = said};
    }
  }

 private:
  int prepare(const std::string& sql, sqlite3_stmt*& prepared) {
    sqlite3_busy_timeout(connection_, kReadTimeoutMs);  // it reads the schema
    int code = sqlite3_prepare_v2(connection_, sql.c_str(), static_cast<int>(sql.size()), &prepared, nullptr);
    if (prepared != nullptr && sqlite3_stmt_readonly(prepared) == 0) sqlite3_busy_timeout(connection_, kWriteTimeoutMs);
    return code;
  }
  static Row row_of(sqlite3_stmt* statement) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      if (sqlite3_column_type(statement, i) == SQLITE_NULL) {
        row.emplace_back();
        continue;
      }
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      row.emplace_back(std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, i))));
    }
    return row;
  }

  std::string path_;
  sqlite3* connection_ = nullptr;
  int64_t changed_ = 0;
};

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, bool create, bool follow) {
  auto database = std::make_unique<SqliteDatabase>(path);
  auto opened = database->open(create, follow);
  if (!opened) return opened.error();
  return std::unique_ptr<Database>(std::move(database));
}

Result<void> copy_sqlite(Database& from, const std::string& into) {
  auto& source = dynamic_cast<SqliteDatabase&>(from);
  SqliteDatabase target(into);
  auto opened = target.open(true);
  if (!opened) return opened;
  sqlite3_backup* backup = sqlite3_backup_init(target.connection(), "main", source.connection(), "main");
  if (backup == nullptr) return target.error(sqlite3_errcode(target.connection()));
  int code = sqlite3_backup_step(backup, -1);
  int ended = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) return {};
  return target.error(ended == SQLITE_OK ? code : ended);
}

}  // namespace sluice::migrate
