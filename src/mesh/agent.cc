// Reaching a config server over the set in force confirms it, and only then is a newer one looked at: so there is never
// a doubt which of two sets did not work.
#include "mesh/agent.h"

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "http/outgoing.h"
#include "mesh/enrolment.h"

namespace sluice::mesh {
namespace agent {

struct Served {
  std::vector<json::value> artifacts;
  std::optional<std::vector<json::value>> chain;
};
BOOST_DESCRIBE_STRUCT(Served, (), (artifacts, chain))

Result<std::vector<Artifact>> artifacts_in(Disk& disk, const std::string& folder) {
  auto there = disk.exists(folder);
  if (!there) return there.error();
  if (!*there) return std::vector<Artifact>();
  return read_artifacts(disk, folder);
}

}  // namespace agent

Result<Fetched> parse_served(std::string_view text) {
  auto document = parse_json(text, "", {.max_depth = 40, .max_bytes = kMaxServedBytes, .max_nodes = 4'000'000});
  if (!document) return document.error();
  auto served = read<agent::Served>(*document);
  if (!served) return served.error();
  Fetched fetched{.news = true};
  auto artifacts = parse_all(served->artifacts);
  if (!artifacts) return artifacts.error();
  fetched.artifacts = *std::move(artifacts);
  if (!served->chain) return fetched;
  auto chain = parse_all(*served->chain);
  if (!chain) return chain.error();
  fetched.chain = *std::move(chain);
  return fetched;
}

Result<Fetched> FolderSource::fetch(const NodeState& state) {
  Fetched fetched{.news = true};
  const std::string node = folder_ + "/" + state.node;
  for (const char* plane : {"/mgmt", "/ctrl"}) {
    auto some = agent::artifacts_in(disk_, node + plane);
    if (!some) return some.error();
    for (Artifact& each : *some) fetched.artifacts.push_back(std::move(each));
  }
  auto chain = agent::artifacts_in(disk_, node + "/chain");
  if (!chain) return chain.error();
  fetched.chain = *std::move(chain);
  std::ranges::sort(fetched.chain, {}, [](const Artifact& each) { return each.envelope.version; });
  return fetched;
}

Result<Fetched> DirectSource::fetch(const NodeState& state) {
  const std::string& domain = state.marks.trust.trust_domain;
  const auto file = [&](const std::string& name) { return read_file(disk_, identity_folder_ + "/" + name, 1 << 20); };
  auto ca = file("ca.crt");
  if (!ca) return ca.error();
  auto cert = file("certs/node." + state.node + ".crt");
  if (!cert) return cert.error();
  auto key = file("certs/node." + state.node + ".key");
  if (!key) return key.error();
  http::Outgoing outgoing({.tls = {.roots_pem = *ca,
                                   .chain_pem = *cert,
                                   .key_pem = *key,
                                   .server_name = "config-server." + domain + ".rete"}},
                          clock_);
  Fetched all;
  for (const bool ctrl : {false, true}) {
    uint64_t have = state.marks.mgmt.version;
    if (ctrl) {
      have = 0;
      for (const auto& [vertex, mark] : state.marks.ctrl) have = std::max(have, mark.version);
    }
    auto answer = outgoing.send(
        {.url = url_ + "/artifact/" + (ctrl ? "ctrl" : "mgmt") + "/" + state.node + "?have=" + std::to_string(have),
         .timeout_ms = 30'000,
         .most_bytes = kMaxServedBytes});
    if (!answer) return answer.error();
    if (answer->status == 304) continue;
    if (answer->status == 404 && ctrl) continue;
    if (answer->status != 200)
      return Error{.code = Code::unavailable,
                   .message = "the config server answered " + std::to_string(answer->status)};
    auto fetched = parse_served(answer->body);
    if (!fetched) return fetched.error();
    all.news = true;
    for (Artifact& each : fetched->artifacts) all.artifacts.push_back(std::move(each));
    for (Artifact& each : fetched->chain) all.chain.push_back(std::move(each));
  }
  return all;
}

Result<std::optional<SyncOutcome>> enforce_deadline(NodeStore& store, const Clock& clock) {
  const auto left = store.left_ms(clock.wall_ms());
  if (!left || *left > 0) return std::optional<SyncOutcome>();
  auto back = store.roll_back("nobody confirmed it in time");
  if (!back) return back.error();
  return std::optional<SyncOutcome>(SyncOutcome{Synced::taken_back, *std::move(back)});
}

Result<SyncOutcome> sync(NodeStore& store, ConfigSource& source, const Clock& clock, int64_t confirm_within_ms) {
  auto overdue = enforce_deadline(store, clock);
  if (!overdue) return overdue.error();
  if (*overdue) return **std::move(overdue);
  auto fetched = source.fetch(store.state());
  if (!fetched) {
    if (auto noted = store.note_trouble(fetched.error().message); !noted) return noted.error();
    return fetched.error();
  }
  SyncOutcome outcome;
  if (source.proves_the_set()) {
    if (store.state().pending) {
      if (auto confirmed = store.confirm(); !confirmed) return confirmed.error();
      outcome.what = Synced::confirmed;
    }
    if (auto noted = store.note_reached(clock.wall_ms()); !noted) return noted.error();
  }
  if (!fetched->news) {
    if (auto noted = store.note_trouble(""); !noted) return noted.error();
    return outcome;
  }
  // A config server sends the plane that is news; the other one is what is in force.
  auto active = store.active_set();
  if (!active) return active.error();
  std::vector<Artifact> artifacts = std::move(fetched->artifacts);
  for (const bool ctrl : {false, true}) {
    if (std::ranges::any_of(artifacts, [&](const Artifact& each) { return each.is_ctrl() == ctrl; })) continue;
    for (const Artifact& each : active->artifacts) {
      if (each.is_ctrl() == ctrl) artifacts.push_back(each);
    }
  }
  auto change = store.accept(fetched->chain, std::move(artifacts), clock.wall_ms(), confirm_within_ms);
  if (!change) return change.error();
  if (change->changed) outcome = {Synced::changed, *std::move(change)};
  return outcome;
}

}  // namespace sluice::mesh
