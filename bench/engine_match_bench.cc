// Matching: with 1,000 syncs loaded, a record in a flow of 10,000 costs little more than one in an empty flow.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/bench.h"
#include "engine/rules/sync_set.h"
#include "lang/check/testing_kit.h"

namespace sluice::bench {
namespace {

using engine::Record;
using engine::RecordRef;
using engine::SyncSet;

constexpr size_t kConcepts = 20, kActions = 10, kSyncs = 1'000, kHeld = 10'000, kBatch = 200;

// Every sync joins two neighbouring actions on a key; five syncs begin with each action.
std::shared_ptr<const SyncSet> thousand_syncs() {
  std::vector<std::string> concepts;
  std::string rules;
  for (size_t c = 0; c < kConcepts; ++c) {
    std::string text = "concept K" + std::to_string(c) + " [T] {\n  actions {\n";
    for (size_t a = 0; a < kActions; ++a) {
      text += "    action a" + std::to_string(a) + "(k: String) {\n      -> ok\n    }\n";
    }
    concepts.push_back(text + "  }\n}\n");
  }
  for (size_t s = 0; s < kSyncs; ++s) {
    std::string owner = "K" + std::to_string(s % kConcepts);
    size_t action = s / kConcepts % kActions;
    auto pattern = [&](size_t a) { return owner + "/a" + std::to_string(a % kActions) + ": [ k: ?k ] => ok[]  "; };
    rules += "sync S" + std::to_string(s) + " when { " + pattern(action) + pattern(action + 1) + "} then { " + owner +
             "/a0: [ k: ?k ] }\n";
  }
  auto checked = lang::check(lang::kit_of(concepts, rules));
  if (!checked.kit) std::abort();
  auto set = SyncSet::compile(std::make_shared<const lang::CheckedKit>(std::move(*checked.kit)));
  if (!set) std::abort();
  return *set;
}

RecordRef record(size_t n, const std::string& key) {
  Record made{.invocation = Ulid::from(static_cast<int64_t>(n), std::array<uint8_t, Ulid::kRandomBytes>{}),
              .action = {n % kConcepts, n / kConcepts % kActions},
              .variant = 0,
              .seq = n};
  made.input["k"] = key;
  return std::make_shared<const Record>(std::move(made));
}

}  // namespace

void match_bench(Report& report) {
  std::shared_ptr<const SyncSet> set;
  report.note("engine: compile 1,000 syncs, with parse and check", median_s([&] { set = thousand_syncs(); }, 3) * 1e3,
              "ms");
  std::vector<RecordRef> fresh, partners;
  for (size_t i = 0; i < kBatch; ++i) fresh.push_back(record(kHeld + i, "new" + std::to_string(i)));
  auto full = set->new_memory();
  for (size_t i = 0; i < kHeld; ++i) full->add(record(i, "key" + std::to_string(i)));
  auto add_all = [&](SyncSet::Memory& memory) {
    for (const RecordRef& each : fresh) keep(memory.add(each));
  };
  auto times = medians_s({[&] {
                            auto memory = set->new_memory();
                            add_all(*memory);
                          },
                          [&] { add_all(*full); }});
  report.note("engine: a record in an empty flow", times[0] / kBatch * 1e6, "us");
  report.note("engine: a record in a flow of 10,000", times[1] / kBatch * 1e6, "us");
  report.at_most("engine: the second by the first", times[1] / times[0], 2, "times");
}

}  // namespace sluice::bench
