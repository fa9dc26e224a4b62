// The Door to an engine in this process, for one caller: made for a command that runs the engine itself, and for each
// request of the API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "host/door.h"
#include "host/loaded_concepts.h"
#include "lang/check/check.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

// All must outlive the door.
struct DoorParts {
  engine::Engine* engine = nullptr;
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  const LoadedConcepts* concepts = nullptr;
  const Clock* clock = nullptr;
  std::shared_ptr<const lang::CheckedKit> kit;
};

class EngineDoor final : public Door {
 public:
  EngineDoor(DoorParts parts, std::string caller) : parts_(std::move(parts)), caller_(std::move(caller)) {}

  Result<Answer> call(const Call& call, const Waiting& waiting = {}) override;
  Result<Answer> answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting = {}) override;
  Result<ViewAnswer> view(const std::string& name, const json::object& query = {}) override;
  Result<uint64_t> decide(engine::Decision decision) override;
  Result<void> follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                      const std::function<bool()>& stop) override;

 private:
  Result<Answer> ask(const Call& call, const lang::ActionSymbol& action);
  Result<Answer> try_out(const Call& call);
  Result<Answer> await(const Ulid& flow, const std::string& action, WaitFor wait, const Waiting& waiting);

  DoorParts parts_;
  std::string caller_;
};

// "Concept/action" among those of a kit that can be called; `not_found` names the one that was probably meant.
Result<const lang::ActionSymbol*> callable(const lang::CheckedKit& kit, const std::string& action);

// What a view says to a caller, read from the store alone.
Result<ViewAnswer> read_view(store::Store& store, store::BlobStore* blobs, const LoadedConcepts& concepts,
                             int64_t now_ms, const std::string& name, const json::object& query);

}  // namespace sluice::host
