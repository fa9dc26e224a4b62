// PostgresStore is the Store in a PostgreSQL database, in its schema `sluice`.
//
//   auto store = PostgresStore::open(clock, "postgresql://sluice@/sluice?host=/run/postgresql");
//
// A batch is one transaction and one round trip. Whoever opens the store raises a token, and each batch compares it in
// its own transaction: one who opened it before, and was paused or cut off, can write nothing any more. A commit whose
// answer was lost is looked up by its number, never guessed; while that cannot be done, the call waits, and after
// `patience_s` the store is broken.
//
// Refused is a server that can lose what it has acknowledged: with fsync or full_page_writes off.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace sluice::store::postgres {

struct PostgresOptions {
  int patience_s = 30;  // for the answer that was lost
};

class PostgresStore final : public Store {
 public:
  // Makes the tables if there are none. `invalid` for a format of a newer Sluice and for a server that is not durable,
  // `unavailable` if libpq or the server is away.
  static Result<std::unique_ptr<PostgresStore>> open(Clock& clock, const std::string& address,
                                                     PostgresOptions options = {});
  ~PostgresStore() override;

  Result<void> commit(const Batch& batch) override;
  Result<std::unique_ptr<Snapshot>> read() override;
  Result<void> pack(const std::vector<PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  // Refused: PostgreSQL's own tools do it.
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override;

 private:
  struct State;
  explicit PostgresStore(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sluice::store::postgres
