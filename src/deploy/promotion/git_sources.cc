// The view git-sources: how the last commit of each branch went, and which pins are not what it says.
#include "deploy/views/releases.h"
#include "deploy/views/states.h"
#include "git_source.gen.h"
#include "pin.gen.h"

namespace sluice::deploy::views {
namespace {

std::optional<OutOfSyncPin> out_of_sync(const States& states, const std::string& pin, const std::string& says) {
  const pin::PinId id(pin);
  const auto record = states.pin().get(id);
  OutOfSyncPin found{.pin = pin, .says = says, .is = record ? record->release : ""};
  if (found.is == says) return std::nullopt;
  for (const auto& each : states.pin().rejected(id)) {
    if (each.value.release == says) found.rejected = each.value.reason;
  }
  return found;
}

// "shop/prod is shop-1, and the branch says shop-2, which was rejected: …"
std::string sentence(const OutOfSyncPin& pin) {
  return pin.pin + " is " + (pin.is.empty() ? "not there" : pin.is) + ", and the branch says " + pin.says +
         (pin.rejected.empty() ? "" : ", which was rejected: " + pin.rejected);
}

}  // namespace

Result<std::vector<GitSourceDocument>> read_git_sources(const lang::Reading& reading, const GitSourcesQuery&) {
  const States states(reading.rows);
  std::vector<GitSourceDocument> all;
  for (const auto& each : states.git_source().all()) {
    const auto& record = each.record;
    GitSourceDocument document{.source = each.id.text(),
                               .url = record.url,
                               .branch = record.branch,
                               .path = record.path,
                               .prune = record.prune,
                               .status = boost::describe::enum_to_string(record.status, ""),
                               .commit = record.commit,
                               .applied = record.applied,
                               .message = record.message,
                               .by = record.by};
    if (record.lookedAt) document.looked_at = *record.lookedAt;
    for (const auto& object : states.git_source().objects(each.id)) {
      if (object.value.kind != "ReleasePin") continue;
      if (auto pin = out_of_sync(states, object.value.name, object.value.release)) {
        document.out_of_sync.push_back(*std::move(pin));
      }
    }
    if (record.status == git_source::GitSourceStatus::synced && !document.out_of_sync.empty()) {
      document.status = "OutOfSync";
      for (const auto& pin : document.out_of_sync) {
        document.message += (document.message.empty() ? "" : "; ") + sentence(pin);
      }
    }
    all.push_back(std::move(document));
  }
  return all;
}

}  // namespace sluice::deploy::views
