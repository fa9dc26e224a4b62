// A query's handler reads one moment of its concept; so does a view.
#include "deploy/views/queries.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "lang/run/binding.h"

namespace sluice::deploy {
// What the build registers (cmake/kit.cmake).
namespace trust {
const lang::ConceptBinding& trust_binding();
}
namespace artifact {
const lang::ConceptBinding& artifact_binding();
}
namespace usage {
const lang::ConceptBinding& usage_binding();
}

namespace views {
namespace {

template <class Query>
Result<typename Query::Ok> answer_of(const lang::Reading& reading, const lang::ConceptBinding& concept_binding,
                                     const json::object& input = {}) {
  const lang::ActionBinding* query = concept_binding.action(Query::kAction);
  auto done = query->query(input, reading.rows.rows_of(concept_binding.name));
  if (!done) return done.error();
  return sluice::read<typename Query::Ok>(json::value(done->fields));
}

Result<trust::List::Ok> read_trust(const lang::Reading& reading, const trust::List&) {
  return answer_of<trust::List>(reading, trust::trust_binding());
}

Result<trust::Export::Ok> read_trust_root(const lang::Reading& reading, const trust::Export&) {
  return answer_of<trust::Export>(reading, trust::trust_binding());
}

using Artifacts = decltype(artifact::List::Ok::artifacts);

Result<Artifacts> read_artifacts(const lang::Reading& reading, const ArtifactsQuery& query) {
  auto listed = answer_of<artifact::List>(reading, artifact::artifact_binding());
  if (!listed) return listed.error();
  std::erase_if(listed->artifacts, [&](const auto& each) {
    return !query.name.empty() && std::ranges::find(each.names, query.name) == each.names.end();
  });
  return std::move(listed->artifacts);
}

using Shares = std::vector<std::pair<std::string, int64_t>>;  // parties and basis points

// Who shares in what a deployment earns, as it is now; of one that was removed nobody knows.
Shares shares_of(const States& states, const std::string& deployment) {
  Shares shares;
  auto record = states.deployment().get(deployment::DeploymentId(deployment));
  if (!record) return {{"unknown", 10'000}};
  for (const auto& each : record->revenueShare.parties) shares.emplace_back(each.partyId, each.basisPoints);
  return shares;
}

// The parts of a number, which add up to it: what is left after rounding down goes to the first parties.
std::vector<int64_t> parts_of(int64_t number, const Shares& shares) {
  std::vector<int64_t> parts;
  int64_t left = number;
  for (const auto& each : shares) {
    parts.push_back(number / 10'000 * each.second + number % 10'000 * each.second / 10'000);
    left -= parts.back();
  }
  for (size_t i = 0; left > 0 && !parts.empty(); i = (i + 1) % parts.size(), --left) parts[i]++;
  return parts;
}

Result<std::vector<UsedSum>> read_usage(const lang::Reading& reading, const UsageQuery& query) {
  json::object times;
  if (query.since) times["since"] = to_json(*query.since);
  if (query.until) times["until"] = to_json(*query.until);
  auto shown = answer_of<usage::Show>(reading, usage::usage_binding(), times);
  if (!shown) return shown.error();
  const States states(reading.rows);
  auto wants = [&](UsedBy key) { return query.by.empty() || std::ranges::find(query.by, key) != query.by.end(); };
  std::map<std::vector<std::string>, UsedSum> sums;
  for (const usage::UsageRevision& each : shown->revisions) {
    UsedSum keys;
    std::vector<std::string> group;
    auto take = [&](UsedBy key, std::optional<std::string>& into, const std::string& text) {
      if (!wants(key)) return;
      into = text;
      group.push_back(text);
    };
    take(UsedBy::environment, keys.environment, each.environment);
    take(UsedBy::deployment, keys.deployment, each.deployment);
    take(UsedBy::bundle, keys.bundle, each.bundle);
    take(UsedBy::revision, keys.revision, each.revision.text());
    take(UsedBy::customer, keys.customer, each.customer);
    take(UsedBy::tenant, keys.tenant, each.tenant);
    take(UsedBy::team, keys.team, each.team);
    const Shares shares = query.revenue ? shares_of(states, each.deployment) : Shares{{"", 10'000}};
    const auto requests = parts_of(each.requests, shares), bytes_in = parts_of(each.bytesIn, shares),
               bytes_out = parts_of(each.bytesOut, shares), warm = parts_of(each.warmSeconds, shares);
    for (size_t i = 0; i < shares.size(); ++i) {
      auto own = group;
      own.push_back(shares[i].first);
      UsedSum& sum = sums.try_emplace(std::move(own), keys).first->second;
      if (query.revenue) sum.party = shares[i].first;
      sum.requests += requests[i];
      sum.bytes_in += bytes_in[i];
      sum.bytes_out += bytes_out[i];
      sum.warm_seconds += warm[i];
    }
  }
  std::vector<UsedSum> used;
  for (auto& [group, sum] : sums) used.push_back(std::move(sum));
  return used;
}

Result<std::vector<usage::UsageUnkeptItem>> read_unkept(const lang::Reading& reading, const usage::Show&) {
  auto shown = answer_of<usage::Show>(reading, usage::usage_binding());
  if (!shown) return shown.error();
  return std::move(shown->unkept);
}

}  // namespace

std::vector<lang::View> query_views() {
  return {lang::make_view("trust", "Whose signatures count, and for what", read_trust),
          lang::make_view("trust-root", "The trust root as a document to hand on", read_trust_root),
          lang::make_view("artifacts", "What was built and is kept", read_artifacts),
          lang::make_view("usage", "Requests, bytes and warm seconds", read_usage),
          lang::make_view("usage-unkept", "Counts that a router has in memory alone, or has lost", read_unkept)};
}

}  // namespace views
}  // namespace sluice::deploy
