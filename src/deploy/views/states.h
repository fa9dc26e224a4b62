// The concepts' states as a view reads them: all of one committed moment, none of them to be written.
#pragma once

#include "config.gen.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "lang/run/handler.h"
#include "local_runtime.gen.h"
#include "revision.gen.h"
#include "router.gen.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {

class States {
 public:
  // `snapshot` must outlive it.
  explicit States(const lang::Snapshot& snapshot)
      : env_rows_(snapshot.rows_of("Env")),
        config_rows_(snapshot.rows_of("Config")),
        deployment_rows_(snapshot.rows_of("Deployment")),
        revision_rows_(snapshot.rows_of("Revision")),
        traffic_rows_(snapshot.rows_of("Traffic")),
        runtime_rows_(snapshot.rows_of("Runtime")),
        local_rows_(snapshot.rows_of("LocalRuntime")),
        router_rows_(snapshot.rows_of("Router")) {}

  const env::State& env() const { return env_; }
  const config::State& config() const { return config_; }
  const deployment::State& deployment() const { return deployment_; }
  const revision::State& revision() const { return revision_; }
  const traffic::State& traffic() const { return traffic_; }
  const runtime::State& runtime() const { return runtime_; }
  const local_runtime::State& local_runtime() const { return local_; }
  const router::State& router() const { return router_; }

 private:
  lang::ReadOnlyRows env_rows_, config_rows_, deployment_rows_, revision_rows_, traffic_rows_;
  lang::ReadOnlyRows runtime_rows_, local_rows_, router_rows_;
  const env::State env_{env_rows_};
  const config::State config_{config_rows_};
  const deployment::State deployment_{deployment_rows_};
  const revision::State revision_{revision_rows_};
  const traffic::State traffic_{traffic_rows_};
  const runtime::State runtime_{runtime_rows_};
  const local_runtime::State local_{local_rows_};
  const router::State router_{router_rows_};
};

}  // namespace sluice::deploy::views
