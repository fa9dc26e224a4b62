// PostgresStore is the Store in a PostgreSQL database, in its schema `sluice`.
//
//   auto store = PostgresStore::open(clock, "postgresql://sluice@/sluice?host=/run/postgresql");
//
// A batch is one transaction and one round trip. Whoever opens the store raises a token, and each batch compares it in
// its own transaction: one who opened it before, and was paused or cut off, can write nothing any more. A commit whose
// answer was lost is looked up by its number, never guessed; while that cannot be done, the call waits, and after
// `patience_s` the store is broken.
//
// With a name it opens under a lease, which counts by the server's clock: it leads until the lease has lapsed, and
// renew() must be called in time. Whoever else opens meanwhile is refused. Without a name the store is taken over at
// once.
//
// Refused is a server that can lose what it has acknowledged: with fsync or full_page_writes off.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/kept_files.h"
#include "store/store.h"
#include "store/store_format.h"

namespace sluice::store::postgres {

struct PostgresOptions {
  int patience_s = 30;   // for the answer that was lost
  std::string name;      // of the replica that opens it; empty: without a lease
  std::string instance;  // of the replica's home, which may take its own lease again
  std::string url = {};  // where the replica can be reached
  int lease_s = 5;
  bool follow = false;  // nothing is taken over, and nothing can be written
  uint64_t seen = 0;    // the last batch that this home knows to be committed: a store with less is refused
  bool make = true;     // false: a database without a store is `not_found`
  OlderFormat older = OlderFormat::refused;
  std::string store_id = {};  // the store that this home belongs to; empty: any
  // Asked before anything is taken over, with the store's key check (empty: it has none yet).
  std::function<Result<void>(const std::string& key_check)> admit = {};
};

// Who leads.
struct Lease {
  std::string name, instance, url;
  int64_t token = 0;
  int64_t left_ms = 0;  // by the server's clock; not above 0: it has lapsed
};

// A replica that has opened the store, and when it was heard of last.
struct ReplicaRow {
  std::string name, url;
  int64_t silent_ms = 0;
  bool leads = false;
};

class PostgresStore final : public Store, public KeptFiles, public StoreFormat {
 public:
  // Makes the tables if there are none. `invalid` for another format than this program's, for a server that is not
  // durable and for one that has less than `seen`, `conflict` while another one leads, `unavailable` if libpq or the
  // server is away.
  static Result<std::unique_ptr<PostgresStore>> open(Clock& clock, const std::string& address,
                                                     PostgresOptions options = {});
  ~PostgresStore() override;

  Result<void> commit(const Batch& batch) override;
  Result<std::unique_ptr<Snapshot>> read() override;
  Result<void> pack(const std::vector<PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  // Refused: a file of rows is of SQLite alone; `sluice backup` copies any store.
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override;

  Result<void> keep(const KeptFile& file, const std::function<Result<std::string>(size_t part)>& bytes_of) override;
  Result<void> drop(const std::string& name) override;
  Result<std::vector<KeptFile>> changed_after(uint64_t version) override;
  Result<std::string> part(const std::string& name, size_t part, const std::string& digest) override;

  int format() const override;
  int newest_format() const override;
  Result<void> upgrade(const UpgradeNote& note) override;
  Result<std::optional<UpgradeNote>> last_upgrade() override;

  const std::string& id() const;        // of the store, 16 bytes
  const std::string& instance() const;  // as it was opened
  uint64_t batch() const;               // the last that is committed
  int64_t token() const;
  uint64_t bytes();  // that the store takes there; 0 if that cannot be told now
  // A value by which holders of the cluster's key know that it is the one. It stays once it is set.
  Result<void> set_key_check(const std::string& value);

  // The token of this store, and of whoever opens it next, is above this number. For a store that was restored.
  Result<void> raise_token(int64_t above);

  // Holds the lease for its whole time from now on. Where that cannot be done before it lapses, the store is broken.
  Result<void> renew();
  // From another thread than renew(): once the lease has lapsed, calls that still wait for the server are ended.
  void end_late_calls();
  // Gives the lease back, so that nobody has to wait for its end.
  void resign();
  // For a follower: says that it is there. A leader says so with renew().
  Result<void> say_here();
  // None: nobody has led ever.
  Result<std::optional<Lease>> lease();
  Result<std::vector<ReplicaRow>> replicas();
  // How long the lease is certain to be held, by this machine's steady clock; none: there is no lease.
  std::optional<int64_t> lease_left_ms() const;

 private:
  struct State;
  explicit PostgresStore(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sluice::store::postgres
