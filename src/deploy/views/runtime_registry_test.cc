// What a provider reads of Runtime.
#include "deploy/views/runtime_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "runtime.gen.h"

namespace sluice::deploy::views {
namespace runtime_registry_test {

using testing::ElementsAre;

TEST(RuntimeRegistry, KnowsWhereReplicasAre) {
  RowsInMemory rows;
  runtime::State state(rows.rows);
  const runtime::RuntimeId instance("i1");
  EXPECT_EQ(known_replicas(rows, "i1"), std::nullopt);
  state.put(instance, {.concept_ = "r1"});
  EXPECT_THAT(*known_replicas(rows, "i1"), ElementsAre());
  state.replicas(instance).push({.name = "s.1.0", .endpoint = "http://127.0.0.1:9001"});
  EXPECT_THAT(*known_replicas(rows, "i1"), ElementsAre(KnownReplica{"s.1.0", "http://127.0.0.1:9001"}));
}

TEST(RuntimeRegistry, KnowsWhatATypeHasStored) {
  RowsInMemory rows;
  runtime::State state(rows.rows);
  state.storages().push({.storage = "d-1", .runtimeType = "local"});
  state.storages().push({.storage = "d-2", .runtimeType = "other"});
  EXPECT_THAT(known_storages(rows, "local"), ElementsAre("d-1"));
}

}  // namespace runtime_registry_test
}  // namespace sluice::deploy::views
