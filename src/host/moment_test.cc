// The list of views, and reading one.
#include "host/moment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "engine/transaction.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace moment_test {

TEST(Moments, AViewIsReadFromAnEmptyStoreToo) {
  store::MemoryStore store;
  const lang::Tools tools;
  auto moment = Moment::of(store, nullptr, tools, 1'000);
  ASSERT_TRUE(moment) << to_string(moment.error());
  EXPECT_EQ((*moment)->position(), 0);
  auto view = find_view("environments");
  ASSERT_TRUE(view) << to_string(view.error());
  EXPECT_EQ(write((*view)->read((*moment)->reading(), {}).value()), "[]");
}

TEST(Moments, ViewsAreSortedAndEachHasItsSchemas) {
  EXPECT_TRUE(std::ranges::is_sorted(all_views(), {}, &HostView::name));
  for (const HostView& each : all_views()) {
    EXPECT_TRUE(each.query_schema().is_object()) << each.name;
    EXPECT_EQ(each.schema().at("title"), json::value(each.summary)) << each.name;
  }
  EXPECT_EQ(find_view("trafic").error().message, "there is no view trafic; did you mean traffic?");
}

TEST(Moments, WhatCannotBeReadIsLeftForTheNextTime) {
  int done = 0;
  EXPECT_TRUE(if_readable([&] { ++done; }));
  EXPECT_FALSE(if_readable([&] { throw engine::UnreadableStore(Error{.message = "the wire is cut"}); }));
  EXPECT_EQ(done, 1);
}

}  // namespace moment_test
}  // namespace sluice::host
