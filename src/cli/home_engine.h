// The engine on the home's store, for as long as a command runs: that of the `sluice serve` that has the store, if one
// runs, else one in this process. What the latter has not done by then is in the store, and the next one goes on with
// it. It is the one way to the engine for every command that changes something, and the same either way.
//
//   auto home = HomeEngine::start(context, loaded, kit, folder);
//   auto started = (*home)->engine().start({.action = …, .input = …, .caller = (*home)->caller(), .key = …});
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

#include "api/door.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/ulid.h"
#include "cli/context.h"
#include "cli/home_store.h"
#include "cli/loaded_concepts.h"
#include "cli/observing.h"
#include "crypto/ed25519.h"
#include "engine/audit.h"
#include "engine/engine.h"
#include "store/blob_store.h"

namespace sluice::cli {

// Flows in which something can still happen without anybody's doing: what runs, and what waits for time.
Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot);

class HomeEngine {
 public:
  enum class Where : uint8_t { anywhere, here };
  // `context` and `loaded` must outlive it. `folder` is the kit's; the store keeps it for those who explain flows. A
  // `sluice serve` that runs another kit is a `conflict`; so is any for who needs the engine here.
  static Result<std::unique_ptr<HomeEngine>> start(Context& context, const LoadedConcepts& loaded,
                                                   std::shared_ptr<const lang::CheckedKit> kit,
                                                   const std::string& folder, Where where = Where::anywhere);
  // The same where the kit is only checked if the engine is to run here: the other process has done that.
  using MakeKit = std::function<Result<std::shared_ptr<const lang::CheckedKit>>()>;
  static Result<std::unique_ptr<HomeEngine>> start(Context& context, const LoadedConcepts& loaded,
                                                   const MakeKit& make_kit, const std::string& folder,
                                                   Where where = Where::anywhere);
  // The same for an operator's decision, of the person who called: it is taken before anything goes on. One that cannot
  // be taken is the error. `position` is that of its step.
  static Result<std::unique_ptr<HomeEngine>> start(Context& context, const LoadedConcepts& loaded,
                                                   std::shared_ptr<const lang::CheckedKit> kit,
                                                   const std::string& folder, engine::Decision decision,
                                                   uint64_t& position);
  api::Door& engine() { return *door_; }
  // The engine in this process; null: it runs in a `sluice serve`.
  engine::Engine* here() { return engine_.get(); }
  store::Store& store() { return *home_->store; }
  const Clock& clock() const { return clock_; }
  const engine::Caller& caller() const { return caller_; }
  const crypto::PrivateKey& operator_key() const { return *operator_key_; }
  const std::string& owner() const { return home_->owner; }
  bool may(const engine::Caller& who) const { return who.name == home_->owner || who.name == kObserverName; }

  // The idempotency key of a command's calls: the one that was given, else a new one, with which it can be repeated if
  // nobody knows how it ended. One that is given and empty is a `usage` error. `part` tells several calls apart.
  Result<std::string> key_of(const Given& given, std::string_view part = "");
  // What is said if nobody knows whether a call was heard: the command line that repeats it under its key.
  Error unheard(const Error& error, const Given& given) const;
  // The flows that were under way before the engine was started here.
  const std::vector<Ulid>& found_under_way() const { return found_under_way_; }
  // What a person is told who no longer waits for a flow that is not done, or for whom it could not go on.
  Error stopped_early(const Ulid& flow, const std::string& kit) const;
  Error kept_for_now(const Error& trouble, const Ulid& flow, const std::string& kit) const;
  // What is said if the process that runs the engine has ended meanwhile.
  Error broke_off(const Error& error, const Ulid& flow, const Given& given) const;
  // The same where it is not done, in a sentence.
  std::string goes_on(const std::string& kit) const;

 private:
  HomeEngine() = default;
  Result<void> open_heads(Output& output);
  Result<void> start_here(Context& context, const LoadedConcepts& loaded,
                          const std::shared_ptr<const lang::CheckedKit>& kit, const Home& home,
                          const std::string& folder);
  Result<void> start_there(Context& context, const std::string& folder);
  Result<void> look_for_flows();
  static Result<std::unique_ptr<HomeEngine>> start(Context& context, const LoadedConcepts& loaded,
                                                   const MakeKit& make_kit, const std::string& folder, Where where,
                                                   std::optional<engine::Decision> first);

  RealClock clock_;
  RealRandom random_;
  UlidSource ids_{clock_, random_};
  std::unique_ptr<HomeStore> home_;
  std::optional<store::BlobStore> blobs_;
  std::optional<engine::HeadLog> heads_;
  std::optional<crypto::PrivateKey> operator_key_;
  engine::Caller caller_;
  std::string key_;                        // of the last call
  std::optional<engine::Decision> first_;  // what is decided before anything goes on
  std::optional<Result<uint64_t>> decided_;
  std::vector<Ulid> found_under_way_;
  std::unique_ptr<engine::Engine> engine_;  // after what it uses, so that it ends before
  std::unique_ptr<Observing> observing_;    // which uses it
  std::unique_ptr<api::Door> door_;
};

}  // namespace sluice::cli
