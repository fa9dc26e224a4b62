// The engine on the home's store, in this process, for as long as a command runs. What it has not done by then is in
// the store, and the next one goes on with it.
//
//   auto home = HomeEngine::start(context, loaded, kit, folder);
//   auto flow = (*home)->engine().start({.action = …, .input = …, .caller = (*home)->caller()});
//
// Observers of the kit's concepts look at the world once before anything is called, and then every second.
//
// The caller is the OS user; the home's owner is admin, everybody else is denied. If nobody can know any more what is
// on the disk, or a handler hangs, the process ends with one line that says so.
#pragma once

#include <memory>
#include <optional>
#include <string>

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

// What is said when a flow cannot go on now because nothing can be committed.
Error kept_for_now(const Error& trouble, const Ulid& flow, const std::string& kit);

class HomeEngine {
 public:
  // `context` and `loaded` must outlive it. `folder` is the kit's; the store keeps it for those who explain flows.
  static Result<std::unique_ptr<HomeEngine>> start(Context& context, const LoadedConcepts& loaded,
                                                   std::shared_ptr<const lang::CheckedKit> kit,
                                                   const std::string& folder);
  engine::Engine& engine() { return *engine_; }
  store::Store& store() { return *home_->store; }
  const Clock& clock() const { return clock_; }
  const engine::Caller& caller() const { return caller_; }
  const crypto::PrivateKey& operator_key() const { return *operator_key_; }
  bool may(const engine::Caller& who) const { return who.name == home_->owner || who.name == kObserverName; }

 private:
  HomeEngine() = default;
  Result<void> open_heads(Output& output);

  RealClock clock_;
  RealRandom random_;
  UlidSource ids_{clock_, random_};
  std::unique_ptr<HomeStore> home_;
  std::optional<store::BlobStore> blobs_;
  std::optional<engine::HeadLog> heads_;
  std::optional<crypto::PrivateKey> operator_key_;
  engine::Caller caller_;
  std::unique_ptr<engine::Engine> engine_;  // almost the last, so that it ends before what it uses
  std::unique_ptr<Observing> observing_;    // which uses it
};

}  // namespace sluice::cli
