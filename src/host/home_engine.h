// The engine on the home's store, for as long as a command runs: that of the `sluice serve` that has the store, if one
// runs, else one in this process. What the latter has not done by then is in the store, and the next one goes on with
// it. It is the one way to the engine for every command that changes something, and the same either way.
//
//   auto home = HomeEngine::start(opening, kit, folder);
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
#include "engine/audit.h"
#include "engine/engine.h"
#include "host/engine_door.h"
#include "host/engine_link.h"
#include "host/home_store.h"
#include "host/loaded_concepts.h"
#include "host/observing.h"
#include "store/blob_store.h"

namespace sluice::host {

// Flows in which something can still happen without anybody's doing: what runs, and what waits for time.
Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot);

class HomeEngine {
 public:
  enum class Where : uint8_t { anywhere, here };
  // What the opening refers to must outlive it. `folder` is the kit's; the store keeps it for those who explain flows.
  // A `sluice serve` that runs another kit is a `conflict`; so is any for who needs the engine here.
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening, std::shared_ptr<const lang::CheckedKit> kit,
                                                   const std::string& folder, Where where = Where::anywhere);
  // The same where the kit is only checked if the engine is to run here: the other process has done that.
  using MakeKit = std::function<Result<std::shared_ptr<const lang::CheckedKit>>()>;
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening, const MakeKit& make_kit,
                                                   const std::string& folder, Where where = Where::anywhere);
  // The same for an operator's decision, of the person who called: it is taken before anything goes on. One that cannot
  // be taken is the error. `position` is that of its step.
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening, std::shared_ptr<const lang::CheckedKit> kit,
                                                   const std::string& folder, engine::Decision decision,
                                                   uint64_t& position);
  EngineLink& engine() { return *door_; }
  // The engine in this process; null: it runs in a `sluice serve`.
  engine::Engine* here() { return engine_.get(); }
  store::Store& store() { return *home_->store; }
  // Of an engine in this process.
  store::BlobStore& blobs() { return *blobs_; }
  // What a Door to the engine in this process is made of.
  DoorParts door_parts(const LoadedConcepts& concepts);
  const Clock& clock() const { return clock_; }
  const engine::Caller& caller() const { return caller_; }
  const crypto::PrivateKey& operator_key() const { return *operator_key_; }
  const std::string& owner() const { return home_->owner; }
  bool may(const engine::Caller& who) const { return who.name == home_->owner || who.name == kObserverName; }

  // A new idempotency key, which nobody has used.
  std::string new_key() { return to_string(ids_.next()); }
  // The flows that were under way before the engine was started here.
  const std::vector<Ulid>& found_under_way() const { return found_under_way_; }

 private:
  HomeEngine() = default;
  Result<void> open_heads(Narrator& narrator);
  Result<void> start_here(const Opening& opening, const std::shared_ptr<const lang::CheckedKit>& kit,
                          const std::string& folder);
  Result<void> start_there(const Opening& opening, const std::string& folder);
  Result<void> look_for_flows();
  static Result<std::unique_ptr<HomeEngine>> start(const Opening& opening, const MakeKit& make_kit,
                                                   const std::string& folder, Where where,
                                                   std::optional<engine::Decision> first);

  RealClock clock_;
  RealRandom random_;
  UlidSource ids_{clock_, random_};
  std::unique_ptr<HomeStore> home_;
  std::optional<store::BlobStore> blobs_;
  std::optional<engine::HeadLog> heads_;
  std::optional<crypto::PrivateKey> operator_key_;
  engine::Caller caller_;
  std::optional<engine::Decision> first_;  // what is decided before anything goes on
  std::optional<Result<uint64_t>> decided_;
  std::vector<Ulid> found_under_way_;
  std::shared_ptr<const lang::CheckedKit> kit_;  // that the engine here runs
  std::unique_ptr<engine::Engine> engine_;       // after what it uses, so that it ends before
  std::unique_ptr<Observing> observing_;         // which uses it
  std::unique_ptr<EngineLink> door_;
};

}  // namespace sluice::host
