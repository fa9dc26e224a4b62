// Sync sets that come back from the store.
#include "engine/kept_set.h"

#include <gtest/gtest.h>

#include "lang/testing_kit.h"
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
