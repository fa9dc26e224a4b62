// What runs, as a tree: environment, deployment, revision, replica. It is read from the store, from the routers and
// from the replicas' own files; nothing is made or changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "base/tree.h"
#include "cli/context.h"
#include "deploy/views/clock.h"
#include "host/home.h"

namespace sluice::cli {

struct StatusTree {
  json::array data;  // the environments in which something is deployed
  std::vector<TreeLine> lines;
  std::optional<deploy::views::ClockTrouble> clock;

  std::string render(const Terminal& terminal) const;
};

// Empty where nothing has run.
Result<StatusTree> status_tree(Context& context, const host::Home& home);

}  // namespace sluice::cli
