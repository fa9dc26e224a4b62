// What a deploy manifest meets: the environment, what runs of each component, and what the last plan left there. From
// it the draft of a plan is made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/bundle_shelf.h"
#include "deploy/plan_draft.h"
#include "deploy/views/states.h"
#include "lang/run/handler.h"
#include "plan/app_manifest.h"

namespace sluice::deploy::views {

struct GivenBundle {
  std::string component;
  std::string archive;
  std::string signature;
  std::optional<int64_t> spec_version;
};

struct PlanOrder {
  std::string manifest;
  std::string environment;
  std::string file;
  std::vector<GivenBundle> bundles;
  std::map<std::string, std::string> kits = {};  // files of those with a path, as JSON
  std::map<std::string, std::string> variables = {};
  std::vector<std::string> only = {};  // components; all if it is empty
  std::string kit = {};                // only its components; an app's name stands for all of them
  std::string destroy = {};            // the app that is removed: there is no manifest then
};

struct DraftedPlan {
  std::optional<PlanDraft> draft;  // or one of these, which say why there is none
  std::vector<std::string> faults, missing, cycle, mismatches;
  std::string no_environment;
};

DraftedPlan draft_plan(const lang::Snapshot& snapshot, BundleShelf& shelf, const PlanOrder& order);

}  // namespace sluice::deploy::views
