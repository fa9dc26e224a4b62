// The text of a set is its syncs in canonical form; guards are always those of the newest kit.
#include "engine/rules/kept_set.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "engine/transaction.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::engine {
namespace {

constexpr const char* kKitsMeta = "kits";  // folders of kits by the hash of their sync set, as JSON

Result<json::object> kits_in(store::Snapshot& snapshot) {
  auto text = snapshot.meta(kKitsMeta);
  if (!text) return text.error();
  if (!*text) return json::object();
  auto kits = parse_stored(**text, "the list of kits");
  if (!kits) return kits.error();
  return kits->is_object() ? kits->get_object() : json::object();
}

}  // namespace

Result<std::string> kit_of_set(store::Snapshot& snapshot, const std::string& hash) {
  auto kits = kits_in(snapshot);
  if (!kits) return kits.error();
  const json::value* folder = kits->if_contains(hash);
  return folder != nullptr && folder->is_string() ? std::string(folder->get_string()) : "";
}

Result<std::optional<std::pair<std::string, std::string>>> remember_kit(store::Snapshot& snapshot,
                                                                        const std::string& hash,
                                                                        const std::string& folder) {
  using Row = std::optional<std::pair<std::string, std::string>>;
  auto kits = kits_in(snapshot);
  if (!kits) return kits.error();
  if (const json::value* known = kits->if_contains(hash); known != nullptr && *known == json::value(folder)) {
    return Row();
  }
  json::object kept;
  for (const auto& [set, where] : *kits) {
    auto text = snapshot.sync_set(set);
    if (!text) return text.error();
    if (*text) kept[set] = where;
  }
  kept[hash] = folder;
  return Row({kKitsMeta, write(kept)});
}

Result<std::shared_ptr<const SyncSet>> kept_set(store::Snapshot& snapshot, const std::string& hash, lang::Kit kit) {
  auto text = snapshot.sync_set(hash);
  if (!text) return text.error();
  if (!*text) return Error{.code = Code::not_found, .message = "its sync set " + hash + " is not in the store"};
  lang::Diagnostics found;
  auto file = lang::parse_sync(**text, "sync set " + hash.substr(0, 12), found);
  if (!file) return Error{.code = Code::invalid, .message = "its sync set " + hash + " cannot be read any more"};
  kit.derives = false;
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
