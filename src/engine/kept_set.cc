// The text of a set is its syncs in canonical form; guards are always those of the newest kit.
#include "engine/kept_set.h"

#include "lang/sync_parser.h"

namespace sluice::engine {

Result<std::shared_ptr<const SyncSet>> kept_set(store::Snapshot& snapshot, const std::string& hash, lang::Kit kit) {
  auto text = snapshot.sync_set(hash);
  if (!text) return text.error();
  if (!*text) return Error{.code = Code::not_found, .message = "its sync set " + hash + " is not in the store"};
  lang::Diagnostics found;
  auto file = lang::parse_sync(**text, "sync set " + hash.substr(0, 12), found);
  if (!file) return Error{.code = Code::invalid, .message = "its sync set " + hash + " cannot be read any more"};
  kit.syncs.clear();
  kit.guards.clear();
  for (auto& rule : file->rules) {
    if (auto* sync = std::get_if<lang::Sync>(&rule)) {
      kit.syncs.push_back(
          {.tree = std::move(*sync), .tier = lang::Tier::required, .alias = "", .kit = "", .inactive = ""});
    }
  }
  lang::Checked checked = lang::check(std::move(kit));
  if (!checked.kit) {
    std::string why = "its sync set does not fit the loaded concepts";
    for (const lang::Diagnostic& each : checked.diagnostics) {
      if (each.severity != lang::Diagnostic::Severity::error) continue;
      why += ": " + each.text;
      break;
    }
    return Error{.code = Code::invalid, .message = why, .next = "sluice flow move FLOW --to current"};
  }
  return SyncSet::compile(std::make_shared<const lang::CheckedKit>(std::move(*checked.kit)));
}

}  // namespace sluice::engine
