// The home's store as one process opens it: $SLUICE_HOME/store/store.db, with the signed heads beside it.
//
//   auto opened = open_home_store(context, clock, MakeStore::no);
//   if (!opened) return opened.error();
//   if (!*opened) …                        // nothing has run here yet
//   auto snapshot = (*opened)->store->read();
//
// One process at a time holds it. The others wait as long as --lock-timeout says, and after a second they say for whom;
// run/store.lock names the holder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/lock_file.h"
#include "base/real_disk.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/context.h"
#include "store/sqlite_store.h"

namespace sluice::cli {

// Of every command that opens the store.
Option lock_timeout_option();

// In the store's meta data: the folder of the kit that ran last.
inline constexpr std::string_view kKitMeta = "kit";

struct HomeStore {
  RealDisk disk;
  std::string heads_path;         // store/audit.heads
  std::string operator_key_path;  // keys/operator.pem
  std::optional<LockFile> lock;
  std::unique_ptr<store::SqliteStore> store;
};

enum class MakeStore { no, yes };

// Null if there is no store and none is to be made. Fails with `conflict` if another process holds it for too long.
Result<std::unique_ptr<HomeStore>> open_home_store(const Context& context, Clock& clock, MakeStore make);

// What a command says that needs something to have run.
Error nothing_has_run();

}  // namespace sluice::cli
