// AppKitShelf keeps the syncs of apps' kits that the engine is to run, in the home, one file a sync:
//
//   app-kits/Local_Shop_Reserve.json   sluice.app-rule.v1
//
// A sync that was taken out stays there without its text: flows that began under it go on, also after a restart, and
// its concepts stay loaded for them. A concept whose text has changed is another one in the engine,
// `Local_Shop_Cart_2`.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "deploy/app_kit.h"

namespace sluice::deploy {

struct KeptConcept {
  std::string name;  // in the engine
  std::string own;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(KeptConcept, (), (name, own, text))

struct KeptRule {
  std::string schema = "sluice.app-rule.v1";
  std::string environment;
  std::string app;
  std::string kit;
  std::string rule;
  std::string name;                   // in the engine
  std::string text;                   // there; empty: it is not active
  std::vector<KeptConcept> concepts;  // all that it has ever named
};
BOOST_DESCRIBE_STRUCT(KeptRule, (), (schema, environment, app, kit, rule, name, text, concepts))

class AppKitShelf {
 public:
  // Loads what is kept into the engine that runs, and returns once it runs.
  using Load = std::function<Result<void>()>;

  AppKitShelf(Disk& disk, std::string home) : disk_(disk), home_(std::move(home)) {}

  // All of it, by name; what cannot be read is told of and left out.
  std::vector<KeptRule> all(const std::function<void(const std::string&)>& told) const;

  // Makes the engine run this rule of a kit, or none of that name any more: its name in the engine. `unavailable`: no
  // engine runs yet. What it refuses is not kept.
  Result<std::string> put(const KeptRule& whose, const std::optional<AppRule>& rule);

  void load_with(Load load);
  // Has the engine that runs take over what the home keeps by now; without one there is nothing to do.
  Result<void> load();

 private:
  Disk& disk_;
  const std::string home_;
  std::mutex mutex_;
  Load load_;
};

}  // namespace sluice::deploy
