// Objects are looked at side by side. A dry run carries the label of the request that is on the live object, so that a
// new request alone makes no difference.
#include "deploy/executor/survey.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "kube/difference.h"

namespace sluice::deploy::executor {
namespace {

using kube::text_at;

bool makes_namespace(const std::vector<json::value>& objects, const std::string& name) {
  return std::ranges::any_of(objects, [&](const json::value& each) {
    return text_at(each, {"kind"}) == "Namespace" && text_at(each, {"metadata", "name"}) == name;
  });
}

bool makes_kind(const std::vector<json::value>& objects, const kube::ObjectRef& ref) {
  return std::ranges::any_of(objects, [&](const json::value& each) {
    return text_at(each, {"kind"}) == "CustomResourceDefinition" && text_at(each, {"spec", "group"}) == ref.group() &&
           text_at(each, {"spec", "names", "kind"}) == ref.kind;
  });
}

std::string owner_of(const json::value& live, const Request& request) {
  const std::string host = text_at(live, {"metadata", "labels", rendering::kHostLabel});
  const std::string instance = text_at(live, {"metadata", "labels", rendering::kInstanceLabel});
  const bool managed = text_at(live, {"metadata", "labels", rendering::kManagedBy}) == rendering::kManager;
  if (!managed || instance.empty() || (host == request.host && instance == request.instance)) return "";
  return "the instance " + instance + " of the host " + host;
}

std::string fields_in(const kube::Failure& failure) {
  std::string all;
  for (const kube::Failure::Cause& each : failure.causes) {
    all += (all.empty() ? "" : ", ") + each.field + " (" + each.message + ")";
  }
  return all.empty() ? failure.message : all;
}

// What is there of those kinds of which there are many objects, so that not each has to be asked for.
class Present {
 public:
  Present(kube::Client& client, const std::vector<Piece>& pieces) {
    std::map<Place, size_t> counts;
    for (const Piece& each : pieces) ++counts[{each.api_version, each.kind, each.name_space}];
    for (const auto& [place, count] : counts) {
      if (count < kMany) continue;
      const auto& [version, kind_name, name_space] = place;
      auto kind = client.kind_of(version, kind_name);
      if (!kind) continue;
      auto listed = client.list(*kind, {.name_space = name_space, .metadata_only = true, .most = kMostOthers + count});
      if (!listed) continue;  // each is asked for
      std::set<std::string>& names = names_[place];
      for (const json::value& each : listed->items) names.insert(text_at(each, {"metadata", "name"}));
    }
  }
  // False: it may be there.
  bool lacks(const kube::ObjectRef& ref) const {
    const auto found = names_.find({ref.api_version, ref.kind, ref.name_space});
    return found != names_.end() && !found->second.contains(ref.name);
  }

 private:
  using Place = std::tuple<std::string, std::string, std::string>;  // apiVersion, kind and namespace
  static constexpr size_t kMany = 16;
  static constexpr size_t kMostOthers = 2'000;

  std::map<Place, std::set<std::string>> names_;
};

// Whether a kind has namespaces the cluster knows best; before it was asked, all that are not known were given one.
void correct_scopes(kube::Client& client, std::vector<json::value>& objects) {
  std::map<std::pair<std::string, std::string>, bool> namespaced;
  for (json::value& each : objects) {
    const kube::ObjectRef ref = kube::ref_of(each);
    if (ref.name_space.empty()) continue;
    auto known = namespaced.find({ref.api_version, ref.kind});
    if (known == namespaced.end()) {
      auto kind = client.kind_of(ref.api_version, ref.kind);
      known = namespaced.emplace(std::pair(ref.api_version, ref.kind), !kind || kind->namespaced).first;
    }
    if (!known->second) each.at("metadata").as_object().erase("namespace");
  }
}

std::optional<Refusal> look(kube::Client& client, const Request& request, const Rendered& wanted, const TryOut& how,
                            const Present& present, const json::value& object, Seen& seen) {
  const kube::ObjectRef ref = seen.piece.ref();
  const auto failed = [&](std::string_view why, const std::string& message) {
    return Refusal{std::string(why), wanted.taint.redacted(to_string(ref) + ": " + message)};
  };
  seen.piece.action = "added";
  auto kind = client.kind_of(ref.api_version, ref.kind);
  if (!kind && kind.error().code == Code::not_found && makes_kind(wanted.objects, ref)) return std::nullopt;
  if (!kind) return failed("kubernetesFailed", to_string(kind.error()));
  if (!present.lacks(ref)) {
    auto live = client.get(ref);
    if (!live) return failed("kubernetesFailed", to_string(live.error()));
    if (live->failure && live->status != 404) return failed("kubernetesFailed", live->failure->message);
    if (!live->failure) seen.live = std::move(live->body);
  }
  json::value tried = object;
  if (!seen.live.is_null()) {
    seen.piece.uid = text_at(seen.live, {"metadata", "uid"});
    if (std::string owner = owner_of(seen.live, request); !owner.empty()) {
      return failed("fieldConflict", "it belongs to " + owner + "; nothing was changed");
    }
    const std::string last = text_at(seen.live, {"metadata", "labels", rendering::kRequestLabel});
    if (!last.empty()) tried.at("metadata").at("labels").as_object()[rendering::kRequestLabel] = last;
  } else if (!how.new_ones || makes_namespace(wanted.objects, ref.name_space)) {
    return std::nullopt;
  }
  auto after = client.apply(tried, {.manager = std::string(rendering::kManager), .force = how.force, .dry_run = true});
  if (!after) return failed("kubernetesFailed", to_string(after.error()));
  if (after->failure && after->failure->is_field_conflict()) {
    seen.piece.action = "modified";
    seen.conflict = wanted.taint.redacted(fields_in(*after->failure));
    return std::nullopt;
  }
  if (after->failure) return failed("kubernetesFailed", after->failure->message + "; nothing was changed");
  seen.after = std::move(after->body);
  if (seen.live.is_null()) return std::nullopt;
  seen.piece.action = kube::is_same(seen.live, seen.after, rendering::kManager) ? "unchanged" : "modified";
  return std::nullopt;
}

}  // namespace

Tried<std::vector<Seen>> surveyed(kube::Client& client, const Request& request, Rendered& wanted, const TryOut& how) {
  correct_scopes(client, wanted.objects);
  auto pieces = pieces_of(wanted.objects);
  if (!pieces) return pieces.refusal();
  std::vector<Seen> seen(pieces->size());
  std::vector<std::optional<Refusal>> refusals(pieces->size());
  const Present present(client, *pieces);
  kube::at_once(seen.size(), [&](size_t i) {
    seen[i].piece = std::move((*pieces)[i]);
    refusals[i] = look(client, request, wanted, how, present, wanted.objects[i], seen[i]);
  });
  for (const auto& each : refusals) {
    if (each) return *each;
  }
  return seen;
}

std::optional<Refusal> conflict_among(const std::vector<Seen>& seen) {
  for (const Seen& each : seen) {
    if (each.conflict.empty()) continue;
    return Refusal{"fieldConflict",
                   to_string(each.piece.ref()) + ": others own " + each.conflict + "; nothing was changed"};
  }
  return std::nullopt;
}

std::vector<Piece> superfluous(const kube::Inventory& inventory, const std::vector<Piece>& wanted,
                               const kube::Policy& policy) {
  std::set<kube::ObjectRef> refs;
  for (const Piece& each : wanted) refs.insert(each.ref());
  std::vector<Piece> all;
  for (const kube::Tracked& each : inventory.objects) {
    if (refs.contains(each.ref)) continue;
    Piece piece = piece_of(each.ref);
    piece.action = policy.prune.enabled ? "pruned" : "orphaned";
    piece.state = policy.prune.enabled ? "pending" : "";
    piece.uid = each.uid;
    if (!policy.prune.enabled) piece.message = "it is no longer wanted, and the policy removes nothing";
    all.push_back(std::move(piece));
  }
  return all;
}

std::string override_for(const kube::Policy& policy, const std::vector<Piece>& removed, size_t tracked) {
  kube::Pruned pruned{.removed = removed.size(), .tracked = tracked};
  for (const Piece& each : removed) pruned.kinds.push_back(each.kind);
  return kube::override_needed(policy.prune, pruned);
}

}  // namespace sluice::deploy::executor
