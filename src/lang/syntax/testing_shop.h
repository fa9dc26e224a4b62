// A shop, as a kit whose files are in memory, for tests of the loader.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/check/testing_kit.h"
#include "lang/syntax/kit.h"

namespace sluice::lang {

using Files = std::map<std::string, std::string>;

// Loads the kit in the folder k.
Kit load_files(const Files& files, const KitOptions& options = {});

// What loading found, a line each.
std::vector<std::string> found_in(const Kit& kit);
// "Alias = Name tier: why it is inactive"
std::vector<std::string> syncs_of(const Kit& kit);

// What the suite is made of.
inline const std::string kHead = "kit: { name: shop, version: 1.0.0 }\n";
inline const std::string kConcepts =
    "concepts:\n  Order: { spec: ./order.concept }\n  Card: { spec: ./card.concept, optional: true }\n";
inline const std::string kSyncs =
    "syncs:\n  required:\n    - { path: ./a.sync, sync: Keep }\n  recommended:\n    - { path: ./a.sync, sync: Usual, "
    "name: Habit }\n"
    "  integration:\n    - { path: ./pay.sync }\n";

// `more` stands at the suite's end.
Files shop(const std::string& more = "");

}  // namespace sluice::lang
