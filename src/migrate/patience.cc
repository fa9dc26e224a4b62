// Tries and pauses.
#include "migrate/patience.h"

#include <algorithm>

#include "migrate/ledger.h"

namespace sluice::migrate {
namespace {

constexpr int64_t kFirstPauseMs = 100;
constexpr int64_t kLongestPauseMs = 3'000;
constexpr const char* kLockTimeout = "SET LOCAL lock_timeout = '500ms'";

}  // namespace

Result<void> patiently(Clock& clock, const std::function<Result<void>()>& body, int tries) {
  int64_t pause_ms = kFirstPauseMs;
  for (int i = 1;; ++i) {
    auto done = body();
    if (done || done.error().code != Code::conflict) return done;
    if (i >= tries) {
      Error error = done.error();
      error.message = "others held a lock in all of " + std::to_string(tries) + " tries: " + error.message;
      error.next = "look which transaction is open for so long, end it, and go on";
      return error;
    }
    clock.sleep_ms(pause_ms);
    pause_ms = std::min(pause_ms * 7 / 5, kLongestPauseMs);
  }
}

Result<void> in_transaction(Database& database, Clock& clock, const std::function<Result<void>()>& body) {
  return patiently(clock, [&]() -> Result<void> {
    auto transaction = Transaction::begin(database);
    if (!transaction) return transaction.error();
    if (database.engine() == Engine::postgres) {
      auto set = database.run(kLockTimeout);
      if (!set) return set;
    }
    auto done = body();
    if (!done) return done;
    return transaction->commit();
  });
}

Error at_line(Error error, const Migration& migration, const std::string& file, const Statement& statement) {
  error.position = Position{migration.name + "/" + file, statement.line, 1};
  return error;
}

Error overtaken() {
  return {.code = Code::timeout,
          .message = "another migrator works on the database",
          .next = "try again when it has ended"};
}

bool is_complete(const std::string& phase) { return phase == kMigrated || phase == kContracted; }

}  // namespace sluice::migrate
