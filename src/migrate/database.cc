// What both databases share.
#include "migrate/database.h"

namespace sluice::migrate {

Result<void> Database::run(const std::string& sql, const Row& given) {
  auto rows = query(sql, given);
  if (!rows) return std::move(rows).error();
  return {};
}

Result<Value> Database::value(const std::string& sql, const Row& given) {
  auto rows = query(sql, given);
  if (!rows) return std::move(rows).error();
  if (rows->empty() || rows->front().empty()) return Value();
  return rows->front().front();
}

Result<void> Database::each_row(const std::string& sql, const std::function<void(const Row&)>& seen) {
  auto rows = query(sql);
  if (!rows) return rows.error();
  for (const Row& row : *rows) seen(row);
  return {};
}

Result<Transaction> Transaction::begin(Database& database) {
  auto begun = database.run(database.engine() == Engine::sqlite ? "BEGIN IMMEDIATE" : "BEGIN");
  if (!begun) return begun.error();
  return Transaction(database);
}

Result<void> Transaction::commit() {
  auto done = database_->run("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->run("ROLLBACK");
}

}  // namespace sluice::migrate
