// The engine on the home's store, in this process. What it has not done when it ends is in the store, and the next one
// goes on with it.
//
//   auto home = HomeEngine::start(opening, kit, folder);      // `conflict`: a `sluice serve` has the store
//   auto started = (*home)->engine().start({.action = …, .input = …, .caller = (*home)->caller()});
//
// Observers of the kit's concepts look at the world once before anything is called, and then every second.
//
// The caller is the OS user; the home's owner is admin, everybody else is denied. If nobody can know any more what is
// on the disk, or a handler hangs, the process that runs the engine ends with one line that says so.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/ulid.h"
#include "crypto/ed25519.h"
#include "engine/engine.h"
#include "engine/journal/audit.h"
#include "host/authority.h"
#include "host/engine_door.h"
#include "host/home_backups.h"
#include "host/home_store.h"
#include "host/lease_keeper.h"
#include "host/loaded_concepts.h"
#include "host/observing.h"
#include "store/blob_store.h"

namespace sluice::host {

class HomeEngine {
 public:
  // What the opening refers to must outlive it. `folder` is the kit's; the store keeps it for those who explain flows.
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening,
                                                   const std::shared_ptr<const lang::CheckedKit>& kit,
                                                   const std::string& folder);
  // The same for an operator's decision, of the person who called: it is taken before anything goes on. One that cannot
  // be taken is the error. `position` is that of its step.
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening,
                                                   const std::shared_ptr<const lang::CheckedKit>& kit,
                                                   const std::string& folder, engine::Decision decision,
                                                   uint64_t& position);
  engine::Engine& engine() { return *engine_; }
  store::Store& store() { return *home_->store; }
  // The store, if it is in PostgreSQL.
  store::postgres::PostgresStore* postgres() { return home_->postgres; }
  const std::string& peer_token() const { return home_->peer_token; }
  store::BlobStore& blobs() { return *blobs_; }
  store::BlobStore& uploads() { return *uploads_; }
  // What a Door to it is made of.
  DoorParts door_parts(const Opening& opening);
  const Clock& clock() const { return clock_; }
  const engine::Caller& caller() const { return caller_; }
  const crypto::PrivateKey& operator_key() const { return *operator_key_; }
  const std::string& owner() const { return home_->owner; }
  Authority& authority() { return *authority_; }
  bool may(const engine::Caller& who) const { return who.name == home_->owner || who.name == kObserverName; }

  // The flows that were under way before the engine was started.
  const std::vector<Ulid>& found_under_way() const { return found_under_way_; }

 private:
  HomeEngine() = default;
  Result<void> open_heads(Narrator& narrator);
  Result<void> start_engine(const Opening& opening, const std::shared_ptr<const lang::CheckedKit>& kit,
                            const std::string& folder);
  Result<void> look_for_flows();
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening,
                                                   const std::shared_ptr<const lang::CheckedKit>& kit,
                                                   const std::string& folder, std::optional<engine::Decision> first);

  RealClock clock_;
  RealRandom random_;
  std::unique_ptr<HomeStore> home_;
  store::ArchivingStore* archiving_ = nullptr;  // the store in it
  std::unique_ptr<LeaseKeeper> lease_;          // of a store in PostgreSQL, until the engine has ended
  std::optional<store::BlobStore> blobs_;
  std::optional<store::BlobStore> uploads_;
  std::optional<engine::HeadLog> heads_;
  std::optional<crypto::PrivateKey> operator_key_;
  engine::Caller caller_;
  std::optional<engine::Decision> first_;  // what is decided before anything goes on
  std::optional<Result<uint64_t>> decided_;
  std::vector<Ulid> found_under_way_;
  std::unique_ptr<Authority> authority_;
  std::unique_ptr<HomeBackups::Attached> backups_;  // until the engine has ended
  std::unique_ptr<engine::Engine> engine_;          // after what it uses, so that it ends before
  std::unique_ptr<Observing> observing_;            // which uses it
};

}  // namespace sluice::host
