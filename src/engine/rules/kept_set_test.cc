// Sync sets that come back from the store.
#include "engine/rules/kept_set.h"

#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace kept_set_test {

const std::string kTask = "concept Task [T] { actions { action add(n: Int) { -> ok(n: Int) } } }";
const std::string kAgain = "sync Again when { Task/add: [ n: 1 ] => ok[] } then { Task/add: [ n: 2 ] }";

std::shared_ptr<const SyncSet> compiled(const std::string& rules) {
  lang::Checked checked = lang::check(lang::kit_of({kTask}, rules));
  return *SyncSet::compile(std::make_shared<const lang::CheckedKit>(std::move(*checked.kit)));
}

TEST(KeptSet, IsWhatItWasWhateverTheKitSaysNow) {
  store::MemoryStore store;
  auto old = compiled(kAgain);
  ASSERT_TRUE(store.commit({.sync_sets = {{old->hash(), old->text()}}}));
  auto back = kept_set(**store.read(), old->hash(), lang::kit_of({kTask}, ""));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ((*back)->hash(), old->hash());
}

TEST(KeptSet, TheStoreKnowsWhereItsKitWas) {
  store::MemoryStore store;
  auto remember = [&](const std::string& hash, const std::string& folder) {
    auto row = remember_kit(**store.read(), hash, folder);
    ASSERT_TRUE(row && *row);
    ASSERT_TRUE(store.commit({.meta = {**row}}));
  };
  auto kit = [&](const std::string& hash) { return *kit_of_set(**store.read(), hash); };
  EXPECT_EQ(kit("a"), "");
  ASSERT_TRUE(store.commit({.sync_sets = {{"a", "sync …"}, {"b", "sync …"}}}));
  remember("a", "/kits/a");
  remember("b", "/kits/b");
  EXPECT_EQ(kit("a"), "/kits/a");
  EXPECT_EQ(*remember_kit(**store.read(), "b", "/kits/b"), std::nullopt);
  remember("b", "/elsewhere");
  EXPECT_EQ(kit("b"), "/elsewhere");
  // Of a set that is not kept any more nothing is kept.
  ASSERT_TRUE(store.forget(0, {"a"}));
  remember("c", "/kits/c");
  EXPECT_EQ(kit("a"), "");
  EXPECT_EQ(kit("b"), "/elsewhere");
}

TEST(KeptSet, MustFitTheConcepts) {
  store::MemoryStore store;
  auto old = compiled(kAgain);
  ASSERT_TRUE(store.commit({.sync_sets = {{old->hash(), old->text()}}}));
  auto other = lang::kit_of({"concept Task [T] { actions { action remove() { -> ok } } }"}, "");
  auto back = kept_set(**store.read(), old->hash(), other);
  ASSERT_FALSE(back);
  EXPECT_TRUE(back.error().message.starts_with("its sync set does not fit the loaded concepts: "))
      << back.error().message;
  EXPECT_EQ(kept_set(**store.read(), "abc", other).error().code, Code::not_found);
}

}  // namespace kept_set_test
}  // namespace sluice::engine
