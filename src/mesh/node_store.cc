// The order that everything rests on: set durable, state durable, symlink. The state names the set, so a crash before
// the symlink is ended by the next open, and one before the state leaves only a folder that nobody names.
#include "mesh/node_store.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "mesh/authority.h"

namespace sluice::mesh {
namespace node_store {

constexpr size_t kMaxState = 16 << 20;
constexpr size_t kMaxRejections = 20;

std::string set_name(const ArtifactSet& set, const Marks& marks) {
  std::string name = "v" + std::to_string(set.version()) + "-" + marks.mgmt.digest.substr(7, 8);
  for (const Artifact& each : set.artifacts) {
    if (each.is_ctrl()) name += "-" + std::string(each.envelope.name) + std::to_string(each.envelope.version);
  }
  return name;
}

std::string mgmt_digest(const Marks& marks) {
  std::string all = marks.mgmt.digest;
  for (const auto& [vertex, mark] : marks.ctrl) all += " " + vertex + "@" + mark.digest;
  return all;
}

Result<void> remove_tree(Disk& disk, const std::string& folder) {
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string path = folder + "/" + each.name;
    if (auto gone = each.kind == FileKind::folder ? remove_tree(disk, path) : disk.remove(path); !gone) return gone;
  }
  return disk.remove_folder(folder);
}

Result<void> sync_tree(Disk& disk, const std::string& folder) {
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    if (each.kind != FileKind::folder) continue;
    if (auto synced = sync_tree(disk, folder + "/" + each.name); !synced) return synced;
  }
  return disk.sync_folder(folder);
}

// Makes the folder and those above it, so that they survive a power cut.
Result<void> make_durable_folder(Disk& disk, const std::string& root, const std::string& below, uint32_t mode) {
  if (auto made = make_folders(disk, root + "/" + below, mode); !made) return made;
  std::string at = root;
  for (size_t slash = 0; slash != std::string::npos;) {
    if (auto synced = disk.sync_folder(at); !synced) return synced;
    slash = below.find('/', slash + 1);
    at = root + "/" + below.substr(0, slash);
  }
  return {};
}

Accepted difference(const ArtifactSet* before, const ArtifactSet& after) {
  Accepted change{.changed = true};
  const auto text = [](const Artifact* artifact) {
    return artifact == nullptr ? std::string() : write(json::value(artifact->tree.at("payload")));
  };
  for (const SupervisedVertex& each : after.agent().vertices) {
    if (before == nullptr || text(before->vertex(each.name)) != text(after.vertex(each.name)) ||
        text(before->ctrl(each.name)) != text(after.ctrl(each.name)))
      change.vertices.push_back(each.name);
  }
  if (before == nullptr) return change;
  for (const SupervisedVertex& each : before->agent().vertices) {
    if (after.vertex(each.name) == nullptr) change.gone.push_back(each.name);
  }
  return change;
}

}  // namespace node_store

bool was_taken_back(const NodeState& state) {
  const std::string newest = node_store::mgmt_digest(state.marks);
  return std::ranges::any_of(state.rejected, [&](const Rejection& each) { return each.digest == newest; });
}

Result<void> NodeStore::keep(NodeState state) {
  if (auto kept = write_atomically(*disk_, state_file(), write_pretty(to_json(state)), 0600); !kept) return kept;
  state_ = std::move(state);
  return {};
}

Result<void> NodeStore::stage(const ArtifactSet& set, const std::string& name) {
  const std::string place = sets_folder() + "/" + name;
  auto there = disk_->exists(place);
  if (!there) return there.error();
  if (*there) return {};  // it is complete, as only a whole one gets this name
  const std::string partial = place + ".partial";
  if (auto left = disk_->exists(partial); !left) {
    return left.error();
  } else if (*left) {
    if (auto gone = node_store::remove_tree(*disk_, partial); !gone) return gone.error();
  }
  for (const Artifact& each : set.artifacts) {
    const std::string path = partial + "/" + set_path(each);
    if (auto made = make_folders(*disk_, folder_of(path), 0755); !made) return made.error();
    if (auto kept = write_atomically(*disk_, path, each.text, 0644); !kept) return kept.error();
  }
  const std::string identity = "../../../identity/" + scope_;
  for (const auto& [link, target] : {std::pair<std::string, std::string>{"ca.crt", identity + "/ca.crt"},
                                     {"certs", identity + "/certs"},
                                     {"run", "../../../run/" + scope_},
                                     {"state", "../../../state/" + scope_}}) {
    if (auto linked = disk_->symlink(target, partial + "/" + link); !linked) return linked.error();
  }
  if (auto synced = node_store::sync_tree(*disk_, partial); !synced) return synced.error();
  if (auto renamed = disk_->rename(partial, place); !renamed) return renamed.error();
  return disk_->sync_folder(sets_folder());
}

Result<void> NodeStore::flip() {
  const std::string target = "../sets/" + scope_ + "/" + state_.active;
  auto now = disk_->read_link(active_folder());
  if (now && *now == target) return {};
  const std::string fresh = active_folder() + ".new";
  if (auto gone = disk_->remove(fresh); !gone && gone.error().code != Code::not_found) return gone;
  if (auto linked = disk_->symlink(target, fresh); !linked) return linked;
  if (auto renamed = disk_->rename(fresh, active_folder()); !renamed) return renamed;
  return disk_->sync_folder(root_ + "/retes");
}

// Sets that nobody can come back to, and what a crash left of one.
Result<void> NodeStore::sweep() {
  auto entries = disk_->list(sets_folder());
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    if (each.name == state_.active || (state_.pending && each.name == state_.pending->previous)) continue;
    if (auto gone = node_store::remove_tree(*disk_, sets_folder() + "/" + each.name); !gone) return gone;
  }
  return {};
}

Result<NodeStore> NodeStore::enrol(Disk& disk, const std::string& root, const std::string& scope,
                                   const std::string& node, const Trust& trust,
                                   const std::map<std::string, std::string>& identity, std::vector<Artifact> artifacts,
                                   int64_t now_ms) {
  NodeStore store(disk, root, scope);
  if (!is_name(scope))
    return Error{.code = Code::invalid, .message = "a scope is a name: small letters, digits and hyphens"};
  auto there = disk.exists(store.state_file());
  if (!there) return there.error();
  if (*there) {
    return Error{.code = Code::conflict,
                 .message = "this node is in the mesh " + scope + " already",
                 .next = "remove " + root + "/state/" + scope + " to begin anew; old artifacts would pass again then"};
  }
  store.state_ = {.node = node, .marks = {.trust = trust}};
  for (const std::string& each :
       {std::string("retes"), "sets/" + scope, "identity/" + scope + "/certs", "state/" + scope, "run/" + scope}) {
    if (auto made = node_store::make_durable_folder(
            disk, root, each, each.starts_with("identity") || each.starts_with("state") ? 0700 : 0755);
        !made)
      return made.error();
  }
  for (const auto& [name, text] : identity) {
    if (name != "ca.crt" && (!name.starts_with("certs/") || name.find("..") != std::string::npos ||
                             name.find('/', 6) != std::string::npos)) {
      return Error{.code = Code::invalid, .message = "an identity is ca.crt or certs/NAME, not " + name};
    }
    if (auto kept =
            write_atomically(disk, store.identity_folder() + "/" + name, text, name.ends_with(".key") ? 0600 : 0644);
        !kept)
      return kept.error();
  }
  auto set = assemble(std::move(artifacts), node);
  if (!set) return set.error();
  NodeState state = store.state_;
  auto judged = judge(*set, state.marks, now_ms);
  if (!judged) return judged.error();
  state.marks = *judged;
  auto done = store.switch_to(nullptr, *set, std::move(state));
  if (!done) return done.error();
  return store;
}

Result<NodeStore> NodeStore::open(Disk& disk, const std::string& root, const std::string& scope) {
  NodeStore store(disk, root, scope);
  auto text = read_file(disk, store.state_file(), node_store::kMaxState);
  if (!text) {
    if (text.error().code != Code::not_found) return text.error();
    return Error{.code = Code::not_found,
                 .message = "this node is not in the mesh " + scope,
                 .next = "sluice mesh agent enrol BUNDLE"};
  }
  auto document = parse_json(*text, store.state_file());
  if (!document) return document.error();
  auto state = read<NodeState>(*document);
  if (!state) return state.error();
  store.state_ = *std::move(state);
  if (auto flipped = store.flip(); !flipped) return flipped.error();
  if (auto swept = store.sweep(); !swept) return swept.error();
  return store;
}

Result<ArtifactSet> NodeStore::active_set() const {
  std::vector<Artifact> artifacts;
  for (const char* plane : {"/mgmt", "/ctrl"}) {
    const std::string folder = sets_folder() + "/" + state_.active + plane;
    auto there = disk_->exists(folder);
    if (!there) return there.error();
    if (!*there) continue;
    auto some = read_artifacts(*disk_, folder);
    if (!some) return some.error();
    for (Artifact& each : *some) artifacts.push_back(std::move(each));
  }
  return assemble(std::move(artifacts), state_.node);
}

Result<Accepted> NodeStore::switch_to(const ArtifactSet* before, const ArtifactSet& after, NodeState state) {
  state.active = node_store::set_name(after, state.marks);
  state.trouble.clear();
  if (auto staged = stage(after, state.active); !staged) return staged.error();
  if (auto kept = keep(std::move(state)); !kept) return kept.error();
  if (auto flipped = flip(); !flipped) return flipped.error();
  if (auto swept = sweep(); !swept) return swept.error();
  return node_store::difference(before, after);
}

Result<Accepted> NodeStore::accept(const std::vector<Artifact>& chain, std::vector<Artifact> artifacts, int64_t now_ms,
                                   int64_t confirm_within_ms) {
  const auto refuse = [&](const Error& error) -> Error {
    // That it cannot be written down changes nothing about what is in force.
    if (auto noted = note_trouble(error.message); !noted) return error;
    return error;
  };
  auto set = assemble(std::move(artifacts), state_.node);
  if (!set) return refuse(set.error());
  auto followed = follow(chain, state_.node, state_.marks, now_ms);
  if (!followed) return refuse(followed.error());
  if (!chain.empty() && set->version() < chain.back().envelope.version) {
    return refuse(
        {.code = Code::conflict,
         .message = "version " + std::to_string(set->version()) + " is older than the signers that came with it"});
  }
  auto judged = judge(*set, *followed, now_ms);
  if (!judged) return refuse(judged.error());
  const std::string name = node_store::set_name(*set, *judged);
  for (const Rejection& each : state_.rejected) {
    if (each.digest == node_store::mgmt_digest(*judged)) {
      return refuse({.code = Code::rolled_back,
                     .message = "version " + std::to_string(each.version) + " was taken back before: " + each.reason,
                     .next = "publish a newer version"});
    }
  }
  if (name == state_.active) {
    if (!state_.trouble.empty()) {
      if (auto noted = note_trouble(""); !noted) return noted.error();
    }
    return Accepted();
  }
  auto before = active_set();
  if (!before) return refuse(before.error());
  NodeState state = state_;
  state.marks = *judged;
  // What is not confirmed yet cannot be gone back to: the one before it can.
  const std::string previous = state.pending ? state.pending->previous : state.active;
  state.pending.reset();
  deadline_ns_.reset();
  if (confirm_within_ms > 0) state.pending = PendingConfirm{previous, now_ms + confirm_within_ms, confirm_within_ms};
  return switch_to(&*before, *set, std::move(state));
}

Result<void> NodeStore::confirm() {
  if (!state_.pending) return {};
  NodeState state = state_;
  state.pending.reset();
  if (auto kept = keep(std::move(state)); !kept) return kept;
  return sweep();
}

Result<Accepted> NodeStore::roll_back(const std::string& reason) {
  if (!state_.pending)
    return Error{.code = Code::conflict, .message = "there is nothing to take back: the set in force is confirmed"};
  auto before = active_set();
  if (!before) return before.error();
  NodeState state = state_;
  state.rejected.push_back({state.marks.mgmt.version, node_store::mgmt_digest(state.marks), reason});
  if (state.rejected.size() > node_store::kMaxRejections) state.rejected.erase(state.rejected.begin());
  state.active = state.pending->previous;
  state.pending.reset();
  state.trouble = "version " + std::to_string(state.marks.mgmt.version) + " was taken back: " + reason;
  if (auto kept = keep(std::move(state)); !kept) return kept.error();
  if (auto flipped = flip(); !flipped) return flipped.error();
  auto after = active_set();
  if (!after) return after.error();
  if (auto swept = sweep(); !swept) return swept.error();
  return node_store::difference(&*before, *after);
}

std::optional<int64_t> NodeStore::left_ms(const Clock& clock) {
  constexpr int64_t kMs_ns = 1'000'000;
  if (!state_.pending) {
    deadline_ns_.reset();
    return std::nullopt;
  }
  if (!deadline_ns_) {
    const PendingConfirm& pending = *state_.pending;
    const int64_t left = std::clamp<int64_t>(pending.until_ms - clock.wall_ms(), 0, pending.within_ms);
    deadline_ns_ = clock.monotonic_ns() + left * kMs_ns;
  }
  return std::max<int64_t>(0, (*deadline_ns_ - clock.monotonic_ns()) / kMs_ns);
}

std::string NodeStore::standing_trouble(int64_t now_ms) const {
  const std::string newest = node_store::mgmt_digest(state_.marks);
  for (const Rejection& each : state_.rejected) {
    if (each.digest == newest) return "version " + std::to_string(each.version) + " was taken back: " + each.reason;
  }
  auto set = active_set();
  if (!set) return set.error().message;
  for (const Artifact& each : set->artifacts) {
    if (each.envelope.expires_at && each.envelope.expires_at->ms() <= now_ms)
      return "the set in force expired at " + *each.envelope.expires_at +
             ", and there is nothing newer; it stays in force";
  }
  return "";
}

Result<void> NodeStore::note_trouble(const std::string& trouble) {
  if (state_.trouble == trouble) return {};
  NodeState state = state_;
  state.trouble = trouble;
  return keep(std::move(state));
}

Result<void> NodeStore::note_reached(int64_t now_ms) {
  NodeState state = state_;
  state.checked_ms = now_ms;
  return keep(std::move(state));
}

}  // namespace sluice::mesh
