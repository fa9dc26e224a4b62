// The Door to an engine in this process, for one caller: made for a command that runs the engine itself, and for each
// request of the API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "crypto/sha256.h"
#include "engine/engine.h"
#include "host/authority.h"
#include "host/door.h"
#include "host/loaded_concepts.h"
#include "host/moment.h"
#include "host/replica_logs.h"
#include "host/visible_store.h"
#include "lang/check/check.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

// All must outlive the door.
struct DoorParts {
  engine::Engine* engine = nullptr;
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  store::BlobStore* uploads = nullptr;  // what callers put
  const LoadedConcepts* concepts = nullptr;
  const Clock* clock = nullptr;
  Disk* disk = nullptr;
  const Home* home = nullptr;
  std::shared_ptr<const lang::CheckedKit> kit;
  const Authority* authority = nullptr;  // null: nothing is hidden from the caller
};

class EngineDoor final : public Door {
 public:
  EngineDoor(DoorParts parts, engine::Caller caller);

  Result<Answer> call(const Call& call, const Waiting& waiting = {}) override;
  Result<Answer> answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting = {}) override;
  Result<ViewAnswer> view(const std::string& name, const json::object& query = {}) override;
  Result<Decided> decide(engine::Decision decision, const Waiting& waiting = {}) override;
  // Waits for what follows from a decision that was taken when the engine started.
  Result<Decided> decided(const Ulid& flow, uint64_t position, const Waiting& waiting);
  Result<void> follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                      const std::function<bool()>& stop) override;
  Result<std::string> put(File& file, const std::string& reason) override;
  // The same of bytes that come piece by piece, which must have this digest. `next` is false at their end.
  Result<void> put(const crypto::Sha256& digest, const std::function<Result<bool>(std::string& piece)>& next,
                   const std::string& reason);
  Result<void> read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) override;
  // The same without a thread that waits; the door must outlive it, and has one at a time.
  Result<std::unique_ptr<LogReading>> open_logs(const LogAsk& ask);
  Result<int> exec(const ExecAsk& ask, const ExecEnds& ends) override;
  // Which replica the caller may run the command in. The journal says who did.
  Result<std::string> enter(const ExecAsk& ask);

 private:
  // The store as the caller may see it.
  store::Store& seen() { return visible_ ? *visible_ : *parts_.store; }
  Result<Answer> ask(const Call& call, const lang::ActionSymbol& action);
  Result<Answer> try_out(const Call& call);
  Result<Answer> ask_others(const Call& call, const lang::ActionSymbol& action, const Authority::Needed& needed);
  Result<void> check_reason(const std::string& action, const json::object& input, const std::string& reason) const;
  Result<Answer> await(const Ulid& flow, const std::string& action, WaitFor wait, const Waiting& waiting);

  DoorParts parts_;
  engine::Caller who_for(const std::string& reason) const;

  engine::Caller caller_;
  std::unique_ptr<VisibleStore> visible_;  // null: all of it
  std::unique_ptr<EngineDoor> whole_;      // that sees all, to look up where replicas belong
};

// "Concept/action" among those of a kit that can be called; `not_found` names the one that was probably meant.
Result<const lang::ActionSymbol*> callable(const lang::CheckedKit& kit, const std::string& action);

// What a view says to a caller, read from the store alone.
Result<ViewAnswer> read_view(store::Store& store, store::BlobStore* blobs, const LoadedConcepts& concepts,
                             const Beside& beside, const std::string& name, const json::object& query);

}  // namespace sluice::host
