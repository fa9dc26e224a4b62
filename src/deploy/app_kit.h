// The kits that an app brings with it: concepts that its components serve, and syncs between them. The engine that runs
// them is the one that runs Sluice's own kit, so each has a namespace, its environment and its name: the concept Cart
// of the kit shop in local is `Local_Shop_Cart` there. Its syncs act unchecked, so they may name nothing but the kit's
// own concepts and Timer: a kit is checked alone, without the concepts of `deploy`.
//
// What a component serves is an effect or a query of its program, which also keeps the concept's state: a `where`
// cannot query it, nothing is answered by syncs, and guards, which bind every flow, are refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::deploy {

inline constexpr size_t kMaxAppKitBytes = 1 << 20;  // of all its files

struct AppConcept {
  std::string name;
  std::string text;
  bool operator==(const AppConcept&) const = default;
};
BOOST_DESCRIBE_STRUCT(AppConcept, (), (name, text))

// A sync with all that it needs to be registered.
struct AppRule {
  std::string name;
  bool integration = false;
  std::string text;                  // in canonical form
  std::vector<AppConcept> concepts;  // that it names
  bool operator==(const AppRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(AppRule, (), (name, integration, text, concepts))

struct AppKit {
  std::string name;
  std::string version;
  std::vector<AppRule> rules;  // those that are active
};

// Where the file of an override is among the kit's: its path begins at the manifest's folder, not at the kit's.
std::string kept_override(const std::string& path);

struct ReadAppKit {
  std::optional<AppKit> kit;
  std::vector<std::string> faults;  // shop/orders.sync:3:5: …
};

// The files are by their paths below `folder`, which is what messages call it. `overrides` names other files for syncs,
// as `deploy.yaml` does.
ReadAppKit read_app_kit(const std::string& folder, const std::map<std::string, std::string>& files,
                        const std::map<std::string, std::string>& overrides);

// What a rule is, in one hash: its text and its concepts'.
std::string digest_of(const AppRule& rule);

// Local_Shop of the kit `shop` in `local`.
std::string namespace_of(const std::string& environment, const std::string& kit);

// The text of a rule under its names in the engine; `names` are those of its concepts there.
std::string text_in_engine(const AppRule& rule, const std::string& name,
                           const std::map<std::string, std::string>& names);

}  // namespace sluice::deploy
