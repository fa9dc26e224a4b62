// What an action would end in if it were called now, on committed state: its guards judge and its handler runs in a
// transaction that is never committed. No record is made, and no sync follows. An action that opens (an effect, or one
// that is answered) and could open counts as `ok`: nobody knows what comes of it before it is done.
//
//   auto end = dry_run({.store = store, …}, "Env/destroy", {{"environment", "prod"}});
//   if (end->variant != "ok") …      // and nothing was changed
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/journal/step.h"
#include "engine/transaction.h"
#include "lang/check/check.h"
#include "lang/run/binding.h"

namespace sluice::engine {

struct DryRunParts {
  store::Store& store;
  store::BlobStore* blobs = nullptr;
  IndexedFields indexed;  // fields that the store can look up
  std::shared_ptr<const lang::CheckedKit> kit;
  std::vector<const lang::ConceptBinding*> concepts;
  int64_t now_ms = 0;
};

struct DryEnd {
  End end;
  Code code = Code::ok;
};

// An error: there is no such action, its arguments do not fit, or the store cannot be read.
Result<DryEnd> dry_run(DryRunParts parts, const std::string& action, const json::object& input);

}  // namespace sluice::engine
