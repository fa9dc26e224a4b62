// What is to be done so that rendered objects are there: bring up a bundle, or send objects into a cluster.
//
// A type whose workloadType is bundle makes one object:
//
//   apiVersion: sluice.dev/v1
//   kind: BundleDeployment
//   spec:
//     bundle: ${build.image}                  # sha256:…, bytes that were put into the home
//     customer: acme                          # outside local
//     config: {greeting: hello}               # answers to what the bundle asks
//     secretRefs: {token: "secret://…"}       # answers that are secrets
//     replicas: 2
//     routes: {hosts: [shop.example], pathPrefixes: [/]}
//     rollout: {strategy: canary, steps: [10%, 50%]}
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "render/component/kinds.h"

namespace sluice::promote {

struct BundleRoutes {
  std::vector<std::string> hosts, pathPrefixes;
  static constexpr std::string_view kDefaulted[] = {"hosts", "pathPrefixes"};
};
BOOST_DESCRIBE_STRUCT(BundleRoutes, (), (hosts, pathPrefixes))

// How traffic comes to it where something else has traffic already.
struct BundleRollout {
  std::string strategy = "canary";
  std::vector<std::string> steps;  // "10%", "50%:5m", "50%:manual"
  json::value analysis;            // how strictly it is judged; null: as usual
  static constexpr std::string_view kDefaulted[] = {"strategy", "steps", "analysis"};
};
BOOST_DESCRIBE_STRUCT(BundleRollout, (), (strategy, steps, analysis))

struct BundleSpec {
  std::string bundle;
  std::string customer;
  json::value config = json::object{};
  std::map<std::string, std::string> secretRefs;
  std::optional<int64_t> replicas;
  std::optional<BundleRoutes> routes;
  std::optional<BundleRollout> rollout;
  static constexpr std::string_view kDefaulted[] = {"customer", "config", "secretRefs"};
};
BOOST_DESCRIBE_STRUCT(BundleSpec, (), (bundle, customer, config, secretRefs, replicas, routes, rollout))

struct Target {
  std::optional<BundleSpec> bundle;
  std::vector<json::value> objects;  // for a cluster, if there is no bundle
  std::string text;                  // canonical JSON of all objects
  std::string hash;                  // of it: "sha256:…"
};

// One BundleDeployment, or other objects alone.
Result<Target> target_of(const std::vector<json::value>& objects);

// Of the text of a target, as it was kept.
Result<Target> parse_target(const std::string& text);

}  // namespace sluice::promote
