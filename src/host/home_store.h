// The home's store as one process opens it: $SLUICE_HOME/store/store.db, with the signed heads beside it.
//
//   auto opened = open_home_store(opening, clock, MakeStore::no);
//   if (!opened) return opened.error();
//   if (!*opened) …                        // nothing has run here yet
//   auto snapshot = (*opened)->store->read();
//
// One process at a time holds it. If that is a `sluice serve`, the others go through its socket, run/sluice.sock
// (host/home_door.h), and opening it here is a `conflict`. Else those who only read take a copy in memory, and those
// who write wait as long as the opening allows, and after a second they say for whom; run/store.lock names the holder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/lock_file.h"
#include "base/result.h"
#include "host/home.h"
#include "host/opening.h"
#include "store/mirrored_disk.h"
#include "store/overlay_disk.h"
#include "store/postgres_store.h"
#include "store/store.h"

namespace sluice::host {

// While it lives, the files of the home that must not be lost are kept in the store as well.
class Mirrored {
 public:
  explicit Mirrored(store::MirroredDisk& disk) : disk_(disk) {}
  ~Mirrored() { disk_.detach(); }
  Mirrored(const Mirrored&) = delete;
  Mirrored& operator=(const Mirrored&) = delete;

 private:
  store::MirroredDisk& disk_;
};

// In the store's meta data: the folder of the kit that ran last.
inline constexpr std::string_view kKitMeta = "kit";

struct HomeStore {
  Disk& disk;
  std::string heads_path;         // store/audit.heads
  std::string operator_key_path;  // keys/operator.pem
  std::optional<LockFile> lock;
  // If the home cannot be written, or another process has the store: nothing is written, and there is no lock.
  std::unique_ptr<store::OverlayDisk> overlay;
  std::unique_ptr<store::Store> store;
  store::StoreFormat* format = nullptr;                // of the store
  std::string owner;                                   // of the home, as a caller: "uid:1000"
  store::postgres::PostgresStore* postgres = nullptr;  // the store, if it is in PostgreSQL
  std::unique_ptr<Mirrored> mirrored;                  // likewise
  std::string peer_token;                              // likewise: by which other replicas call as the owner
};

// Where a `sluice serve` of this home listens.
std::string socket_of(const Home& home);

// Who has called this program: the person, not whom it acts for.
std::string calling_user();

enum class MakeStore { no, yes };

struct StoreAccess {
  MakeStore make = MakeStore::no;
  bool only_read = false;  // where nothing can be written it is opened all the same; what would be is forgotten
  bool as_copy = false;    // with only_read: the owner does not wait for another process, but reads a copy
  store::OlderFormat older = store::OlderFormat::refused;
};

// Null if there is no store and none is to be made. Fails with `conflict` if another process holds it for too long.
Result<std::unique_ptr<HomeStore>> open_home_store(const Opening& opening, Clock& clock, const StoreAccess& access);
inline Result<std::unique_ptr<HomeStore>> open_home_store(const Opening& opening, Clock& clock, MakeStore make) {
  return open_home_store(opening, clock, StoreAccess{.make = make});
}

// The same for a command that reads, also in a home that cannot be written. The home's owner may; everybody else is
// denied, and the journal says so. Who compares it with a file beside it, which may be newer than a copy, asks for
// none.
Result<std::unique_ptr<HomeStore>> open_for_reading(const Opening& opening, Clock& clock, bool as_copy = true);

// The folder of the kit whose syncs a flow goes on under; of one that the store does not know, the kit that ran last.
// Empty if none has run.
Result<std::string> kit_of_flow(store::Snapshot& snapshot, const std::string& sync_set);

// What somebody else than the owner is told.
Error may_not_run(const Opening& opening);
// What a command says that needs something to have run.
Error nothing_has_run();

}  // namespace sluice::host
