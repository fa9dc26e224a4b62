// Generations: what is obeyed, what is refused, and what is found again after a start.
#include "router/table/table_keeper.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_volatile_disk.h"
#include "base/testing_wait.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace table_keeper_test {

class Keeper : public testing::Test {
 protected:
  Keeper() { EXPECT_TRUE(disk.make_folder("/r", 0700)); }

  KeptOrder load_order(int64_t generation, const std::string& environment = "test", const std::string& router = "*") {
    TableDocument table = testing_table({testing_deployment()});
    table.environment = environment;
    table.generation = generation;
    std::string bytes = write(to_json(table));
    return {*sign_order({.environment = environment, .router = router, .generation = generation}, bytes, key), bytes};
  }
  KeptOrder patch_order(int64_t from, int64_t to, const std::string& id = "d1") {
    DeploymentDocument deployment = testing_deployment();
    deployment.id = id;
    deployment.routes.hosts = {id + ".example"};
    std::string bytes = write(to_json(PatchDocument{.deployment = deployment}));
    return {*sign_order({.op = OrderOp::patch, .environment = "test", .generation = to, .from = from}, bytes, key),
            bytes};
  }
  std::string refusal(const std::optional<Refusal>& refused) {
    if (!refused) return "";
    return std::string(code_name(refused->error.code)) + (refused->needs_load ? " needs load: " : ": ") +
           refused->error.message;
  }

  VolatileDisk disk;
  SeededRandom random{1};
  TableCompiler compiler{random, [](const SeriesName&) { return 0U; }};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::vector<const Table*> published;
  const Table* looked_at = nullptr;  // by a thread
  StateFiles state{disk, "/r"};
  TableKeeper keeper{"R1",
                     {key.public_key()},
                     compiler,
                     state,
                     [this](const Table* table) { published.push_back(table); },
                     [this](const Table* table) { return table == looked_at; }};
};

TEST_F(Keeper, ObeysALoadAndThePatchesThatFollow) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(5, 6, "d2"))), "");
  EXPECT_EQ(keeper.generation(), 6);
  EXPECT_EQ(published.size(), 2U);
  EXPECT_EQ(published.back(), keeper.table().get());
  EXPECT_NE(keeper.table()->named("d2"), nullptr);
}

TEST_F(Keeper, KeepsWhatAThreadMayStillLookAt) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  std::weak_ptr<const Table> first = keeper.table();
  looked_at = first.lock().get();
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(5, 6, "d2"))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(6, 7, "d3"))), "");
  keeper.tidy();
  EXPECT_FALSE(first.expired());
  std::weak_ptr<const Table> last = keeper.table();
  looked_at = nullptr;
  keeper.tidy();
  EXPECT_FALSE(last.expired());
  EXPECT_TRUE(eventually([&] { return first.expired(); }));
}

TEST_F(Keeper, AcknowledgesTheSameOrderAgainWithoutEffect) {
  KeptOrder load = load_order(5), patch = patch_order(5, 6);
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load)), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load)), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch)), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch)), "");
  EXPECT_EQ(published.size(), 2U);
}

TEST_F(Keeper, RefusesWhatDoesNotFollow) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(1, 2))), "conflict needs load: there is no table to patch");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(4))), "conflict: generation 5 holds, and 4 is not above it");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(6, 7))),
            "conflict needs load: generation 5 holds, and the patch goes from 6 to 7");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(5, 7))),
            "conflict needs load: generation 5 holds, and the patch goes from 5 to 7");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(6, "other"))),
            "denied: this router serves the environment test");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(6, "test", "R2"))),
            "denied: the order is for another router");
  KeptOrder changed = load_order(6);
  changed.bytes += " ";
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, changed)),
            "verification_failed: what came with the order is not what was signed");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, load_order(6))), "invalid: the order is for another operation");
  EXPECT_EQ(keeper.generation(), 5);
  EXPECT_EQ(published.size(), 1U);
}

TEST_F(Keeper, FindsAgainWhatItObeyed) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(5, 6, "d2"))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(6, 7, "d3"))), "");
  StateFiles again(disk, "/r");
  TableKeeper later(
      "R1", {key.public_key()}, compiler, again, [](const Table*) {}, [](const Table*) { return false; });
  EXPECT_EQ(later.begin(), "");
  EXPECT_EQ(later.generation(), 7);
  EXPECT_NE(later.table()->named("d3"), nullptr);
  EXPECT_EQ(refusal(later.obey(OrderOp::patch, patch_order(7, 8))), "");
}

TEST_F(Keeper, ObeysNothingOnDiskThatDoesNotVerify) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  crypto::PrivateKey other = crypto::PrivateKey::generate();
  StateFiles again(disk, "/r");
  TableKeeper later(
      "R1", {other.public_key()}, compiler, again, [](const Table*) {}, [](const Table*) { return false; });
  EXPECT_EQ(later.begin(), "the snapshot: the order is not signed by a key that this router trusts");
  EXPECT_EQ(later.table(), nullptr);
}

TEST_F(Keeper, KeepsWhatIsBeforeAPatchThatIsNotGood) {
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, load_order(5))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::patch, patch_order(5, 6))), "");
  ASSERT_TRUE(state.append_patch(patch_order(9, 10)));
  StateFiles again(disk, "/r");
  TableKeeper later(
      "R1", {key.public_key()}, compiler, again, [](const Table*) {}, [](const Table*) { return false; });
  EXPECT_EQ(later.begin(), "patch 2: generation 6 holds, and the patch goes from 9 to 10");
  EXPECT_EQ(later.generation(), 6);
  EXPECT_EQ(again.patches(), 1U);
}

TEST_F(Keeper, ObeysATableWithoutASignatureIfItIsToldTo) {
  TableDocument table = testing_table({testing_deployment()});
  ASSERT_TRUE(keeper.load_unsigned(write(to_json(table)), "t.json"));
  EXPECT_EQ(keeper.generation(), 1);
  EXPECT_FALSE(keeper.load_unsigned("{", "t.json"));
  EXPECT_EQ(keeper.generation(), 1);
}

}  // namespace table_keeper_test
}  // namespace sluice::router
