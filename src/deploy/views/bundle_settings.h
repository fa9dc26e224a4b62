// What holds of a bundle's settings in an environment, out of several concepts' state: its questions, as its revisions
// remember them, the environment's answers, the deployment's own, and what was found out. Concepts read it, too, so
// nothing here names a row of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document.h"
#include "deploy/pack_config.h"
#include "deploy/views/states.h"
#include "lang/run/handler.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

// The environment's answers to what the bundle asks, by question.
json::object environment_answers(const lang::Snapshot& snapshot, const std::string& environment,
                                 const std::string& bundle);
json::object environment_answers(const States& states, const std::string& environment, const std::string& bundle);

// What the newest revision of the bundle in the environment asks; nothing if none was staged there.
std::optional<Asks> asks_of_bundle(const lang::Snapshot& snapshot, const std::string& environment,
                                   const std::string& bundle);

// What a runtime:// reference stands for; nothing if that was not found out.
std::optional<std::string> found_by(const lang::Snapshot& snapshot, const std::string& reference);

// The settings of a deployment: those of the revision with most traffic (without traffic, of the newest one), and those
// that hold now.
struct HeldSettings {
  std::string revision;
  int64_t sequence = 0;
  std::string wanted;  // a revision with the settings that hold now: this one, or another; empty if there is none
  int64_t wanted_sequence = 0;
  std::string problem;            // why the settings that hold now cannot be used; empty if they can
  std::optional<PackConfig> now;  // nothing if there is a problem, or an earlier version of Sluice has staged it
  std::optional<Asks> asks;
};
// Nothing if the deployment has no revision.
std::optional<HeldSettings> settings_of(const lang::Snapshot& snapshot, const std::string& deployment);

// ------------------------------------------------------------------------------------------------------- the view

struct SettingsQuery {
  std::string environment;
  std::string deployment;  // an id or its beginning; or
  std::string bundle;      // with
  std::string customer;    // perhaps; all deployments of the environment if nothing is named
  static constexpr std::string_view kDefaulted[] = {"deployment", "bundle", "customer"};
};
BOOST_DESCRIBE_STRUCT(SettingsQuery, (), (environment, deployment, bundle, customer))

// Who says what a setting is: the operator, who sets things up, the deployer, the bundle itself; secrets are by
// reference.
enum class SettingOwner { host, setup, runtime, bundle, secrets };
BOOST_DESCRIBE_ENUM(SettingOwner, host, setup, runtime, bundle, secrets)

struct SettingView {
  std::string name;
  json::value value;    // that holds now; null if there is none
  json::value running;  // that the revision has; null if it has none, or has it not from here
  SettingOwner owner = SettingOwner::bundle;
  std::string from;  // "answer of local for shop"
};
BOOST_DESCRIBE_STRUCT(SettingView, (), (name, value, running, owner, from))

struct DeploymentSettings {
  std::string deployment_id;
  std::string bundle;
  std::string customer;
  std::string revision;           // "shop@2", the one with most traffic
  bool pending = false;           // no revision has the settings that hold now
  OrNull<std::string> staged_as;  // another revision that has them
  OrNull<std::string> problem;    // why they cannot be used
  std::vector<SettingView> settings;
};
BOOST_DESCRIBE_STRUCT(DeploymentSettings, (),
                      (deployment_id, bundle, customer, revision, pending, staged_as, problem, settings))

struct QuestionsQuery {
  std::string environment;
  std::string bundle;
};
BOOST_DESCRIBE_STRUCT(QuestionsQuery, (), (environment, bundle))

// What a bundle that was staged in an environment asks, and the environment's answers.
struct BundleQuestions {
  std::string bundle;
  std::vector<bundle::Question> questions;
  json::value answers;  // an object by question
};
BOOST_DESCRIBE_STRUCT(BundleQuestions, (), (bundle, questions, answers))

Result<std::vector<DeploymentSettings>> read_settings(const lang::Reading& reading, const SettingsQuery& query);

std::vector<lang::View> settings_views();

}  // namespace sluice::deploy::views
