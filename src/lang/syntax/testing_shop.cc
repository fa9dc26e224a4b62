// The files of the shop, and what is said of them.
#include "lang/syntax/testing_shop.h"

namespace sluice::lang {

Kit load_files(const Files& files, const KitOptions& options) {
  return load_kit(
      "k",
      [&](const std::string& path) -> Result<std::string> {
        auto found = files.find(path);
        if (found == files.end()) return Error{.code = Code::not_found, .message = "cannot open " + path};
        return found->second;
      },
      options);
}

std::vector<std::string> found_in(const Kit& kit) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : kit.found.all()) lines.push_back(line_of(each));
  return lines;
}

std::vector<std::string> syncs_of(const Kit& kit) {
  std::vector<std::string> lines;
  for (const KitSync& each : kit.syncs) {
    lines.push_back(each.alias + " = " + each.tree.name.text + " " + std::string(tier_name(each.tier)) +
                    (each.active() ? "" : ": " + each.inactive));
  }
  return lines;
}

Files shop(const std::string& more) {
  return {
      {"k/suite.yaml", kHead + kConcepts + kSyncs + more},
      {"k/order.concept", kOrder},
      {"k/card.concept", kCard},
      {"k/a.sync",
       "sync Keep when { Order/place: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] }\n"
       "sync Usual when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"fast\" ] "
       "}\n"},
      {"k/pay.sync",
       "sync Charge when { Order/pay: [ order: ?o; amount: ?a ] => requested } then { Card/charge: [ order: ?o; "
       "amount: ?a ] }\n"},
      {"k/mine.sync",
       "sync Mine when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] "
       "}\n"}};
}

}  // namespace sluice::lang
