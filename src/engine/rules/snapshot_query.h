// Asks a query of a concept: a reading of committed state that leaves no record and needs no engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/transaction.h"
#include "lang/run/binding.h"
#include "store/store.h"

namespace sluice::engine {

// What the query reads.
struct QueriedState {
  std::unique_ptr<store::Snapshot> snapshot;
  store::BlobStore* blobs = nullptr;
  std::shared_ptr<const IndexedFields> indexed;  // fields that the store can look up; others are searched for
  int64_t now_ms = 0;
};

// The handler of a query by "Concept/action"; null if none of the concepts has one.
const lang::ActionBinding* find_query(const std::vector<const lang::ConceptBinding*>& concepts,
                                      const std::string& action);
Error no_such_query(const std::string& action);

Result<lang::Completion> run_query(const lang::ActionBinding& query, const std::string& action,
                                   const json::object& input, QueriedState state);

}  // namespace sluice::engine
