// Random kits and flows: the engine finds exactly the matches that the plainest reading of the rules gives, whatever
// the order in which records come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/testing_reference.h"

namespace sluice::engine {
namespace match_property_test {

std::vector<std::string> found_by_engine(const SyncSet& set, SyncSet::Memory& memory, const RecordRef& record) {
  std::vector<std::string> found;
  std::vector<std::pair<std::string, std::vector<RecordId>>> keys;
  for (const Match& match : memory.add(record)) {
    found.push_back(reference_text(set, match));
    keys.push_back({set.name(match.sync), {}});
    for (const RecordRef& each : match.records) keys.back().second.push_back(id_of(*each));
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  std::ranges::sort(found);
  return found;
}

TEST(MatchProperty, EngineAndReferenceFindTheSameMatches) {
  size_t matches = 0, joined = 0;
  for (uint64_t seed = 1; seed <= 1'500; ++seed) {
    Dice dice(seed);
    std::string rules = dice.rules(6);
    auto set = set_of(kSmallKit, rules);
    for (int flow = 0; flow < 2; ++flow) {
      std::vector<Node> nodes = dice.flow(*set, 12);
      Reference reference(set->kit(), nodes);
      std::vector<size_t> order(nodes.size());
      std::iota(order.begin(), order.end(), 0);
      if (flow == 1) dice.shuffle(order);
      auto memory = set->new_memory(), restored = set->new_memory();
      size_t cut = dice.below(nodes.size());
      for (size_t i = 0; i < order.size(); ++i) {
        std::vector<size_t> arrived(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        std::vector<std::string> expected;
        for (const lang::KitSync& sync : set->kit().kit().syncs) {
          for (std::string& each : reference.matches(sync.tree, arrived)) {
            expected.push_back(std::move(each));
            if (sync.tree.when.size() > 1) ++joined;
          }
        }
        std::ranges::sort(expected);
        const RecordRef& record = nodes[order[i]].record;
        ASSERT_EQ(found_by_engine(*set, *memory, record), expected) << "seed " << seed << "\n" << rules;
        if (i < cut) {
          restored->restore(record);
        } else {
          ASSERT_EQ(found_by_engine(*set, *restored, record), expected) << "restored, seed " << seed << "\n" << rules;
        }
        matches += expected.size();
      }
    }
  }
  // The dice must not have become so unlucky that nothing is tested.
  EXPECT_GT(matches, 10'000);
  EXPECT_GT(joined, 4'000);
}

TEST(MatchProperty, WithoutLatestTheMatchesDoNotDependOnTheOrder) {
  for (uint64_t seed = 5'001; seed <= 5'200; ++seed) {
    Dice dice(seed);
    std::string rules = dice.rules(6);
    if (rules.find("latest") != std::string::npos) continue;
    auto set = set_of(kSmallKit, rules);
    std::vector<Node> nodes = dice.flow(*set, 12);
    std::vector<std::string> first;
    for (int order = 0; order < 4; ++order) {
      std::vector<std::string> all;
      auto memory = set->new_memory();
      for (const Node& node : nodes) {
        for (std::string& each : found_by_engine(*set, *memory, node.record)) all.push_back(std::move(each));
      }
      std::ranges::sort(all);
      EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
      if (order == 0) first = all;
      ASSERT_EQ(all, first) << "seed " << seed << "\n" << rules;
      dice.shuffle(nodes);
    }
  }
}

}  // namespace match_property_test
}  // namespace sluice::engine
