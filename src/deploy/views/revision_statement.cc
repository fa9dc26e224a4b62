// Nothing of it is believed here.
#include "deploy/views/revision_statement.h"

#include "deploy/views/states.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

std::string statement_of(const lang::Snapshot& snapshot, const std::string& revision) {
  auto record = States(snapshot).revision().get(revision::RevisionId(revision));
  return record ? record->sidecar : "";
}

}  // namespace sluice::deploy::views
