// Rows in memory as a snapshot of all concepts, for tests of views.
#pragma once

#include <string>
#include <string_view>

#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "lang/run/memory_rows.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy {

class RowsInMemory final : public lang::Snapshot {
 public:
  const lang::Rows& rows_of(std::string_view) const override { return rows; }

  void environment(const std::string& id, const env::EnvRecord& record) {
    env::State(rows).put(env::EnvId(id), record);
  }
  std::string deployment(const std::string& id, const std::string& customer = "acme") {
    deployment::State(rows).put(deployment::DeploymentId(id), {.environment = "local",
                                                               .bundle = "shop",
                                                               .customer = customer,
                                                               .route = {.hosts = {customer + ".example"}},
                                                               .policyVersion = 1});
    return id;
  }
  std::string revision(const std::string& id, const std::string& deployment, int64_t sequence,
                       revision::RevisionLifecycle lifecycle = revision::RevisionLifecycle::ready) {
    revision::State(rows).put(revision::RevisionId(id), {.deployment = deployment,
                                                         .environment = "local",
                                                         .bundle = "shop",
                                                         .sequence = sequence,
                                                         .lifecycle = lifecycle,
                                                         .endpoint = "http://" + id});
    return id;
  }
  // What its bundle says of requests.
  void serving(const std::string& id, const revision::RevisionServing& serving, const std::string& page = "") {
    revision::State state(rows);
    state.edit(revision::RevisionId(id), [&](revision::RevisionRecord& record) { record.serving = serving; });
    if (!page.empty()) state.paused_pages(revision::RevisionId(id)).push({.type = "text/plain", .text = page});
  }
  void split(const std::string& deployment, const std::vector<traffic::TrafficEntry>& entries) {
    traffic::State state(rows);
    state.put(traffic::TrafficId(deployment), {.generation = 7, .updatedBy = "ann"});
    state.entries(traffic::TrafficId(deployment)).assign(entries);
  }

  mutable lang::MemoryRows rows;
};

}  // namespace sluice::deploy
