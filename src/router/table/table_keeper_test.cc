// Generations: what is obeyed, what is refused, and what is found again after a start.
#include "router/table/table_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
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

// One that led, was paused and wakes may have an order for a generation that nobody else has given yet.
TEST_F(Keeper, ObeysNobodyWhoLeadsNoLonger) {
  const auto under = [&](int64_t token, int64_t generation) {
    TableDocument table = testing_table({testing_deployment()});
    table.generation = generation;
    std::string bytes = write(to_json(table));
    return KeptOrder{*sign_order({.environment = "test", .generation = generation, .token = token}, bytes, key), bytes};
  };
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, under(4, 5))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, under(5, 6))), "");
  EXPECT_EQ(refusal(keeper.obey(OrderOp::load, under(4, 7))),
            "conflict: the control plane that gave this order leads no longer: its token is 4, and 5 was seen");
  StateFiles kept(disk, "/r");
  TableKeeper again(
      "R1", {key.public_key()}, compiler, kept, [](const Table*) {}, [](const Table*) { return false; });
  EXPECT_EQ(again.begin(), "");
  EXPECT_EQ(again.generation(), 6);
  EXPECT_EQ(refusal(again.obey(OrderOp::load, under(4, 7))),
            "conflict: the control plane that gave this order leads no longer: its token is 4, and 5 was seen");
  EXPECT_EQ(refusal(again.obey(OrderOp::load, under(5, 7))), "");
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

// ---------------------------------------------------------------------------------------------------------- bounds

// A router whose operator has signed what it may serve. Whoever has the control plane's key signs all orders here.
class BoundKeeper : public Keeper {
 protected:
  BoundKeeper() {
    put_bounds(1, {"shop.example"});
    EXPECT_TRUE(bounds.begin());
  }
  void put_bounds(int64_t version, std::vector<std::string> hosts, std::optional<std::string> expires = {}) {
    BoundsDocument document{.environment = "test",
                            .version = version,
                            .expires_at = std::move(expires),
                            .deployments = {{.bundles = {{.type = "enum", .members = {{"shop"}}}},
                                             .hosts = {{.type = "enum", .members = std::move(hosts)}},
                                             .prefixes = {{.type = "any"}},
                                             .revisions = {{.type = "any"}},
                                             .upstreams = {{.type = "cidr", .network = "10.0.0.0/8"}}}}};
    ASSERT_TRUE(write_atomically(disk, "/bounds", sign_bounds(document, operators_key).value(), 0644));
  }
  KeptOrder order(int64_t generation, TableDocument table) {
    table.generation = generation;
    std::string bytes = write(to_json(table));
    return {*sign_order({.environment = "test", .generation = generation}, bytes, key), bytes};
  }
  KeptOrder patch(int64_t from, const DeploymentDocument& deployment) {
    std::string bytes = write(to_json(PatchDocument{.deployment = deployment}));
    return {
        *sign_order({.op = OrderOp::patch, .environment = "test", .generation = from + 1, .from = from}, bytes, key),
        bytes};
  }
  static DeploymentDocument at(const std::string& id, const std::string& host, const std::string& upstream) {
    DeploymentDocument deployment = testing_deployment();
    deployment.id = id;
    deployment.routes.hosts = {host};
    deployment.revisions[0].replicas = {{upstream}};
    return deployment;
  }

  ManualClock clock{1'790'000'000'000};
  crypto::PrivateKey operators_key = crypto::PrivateKey::generate();
  BoundsKeeper bounds{disk, clock, "/bounds", {operators_key.public_key()}, "/r"};
  TableKeeper bound{
      "R1", {key.public_key()}, compiler, state, [](const Table*) {}, [](const Table*) { return false; }, &bounds};
};

TEST_F(BoundKeeper, AStolenOrderKeyAddsNoRouteAndNoUpstream) {
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(1, testing_table({at("d1", "shop.example", "tcp:10.0.0.1:80")})))),
            "");
  TableDocument evil =
      testing_table({at("d1", "shop.example", "tcp:198.51.100.7:80"), at("d2", "bank.example", "tcp:10.0.0.1:80"),
                     at("d3", "shop.example", "tcp:10.0.0.9:80")});
  evil.deployments[2].bundle = "blog";
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(2, evil))), "");
  EXPECT_EQ(bound.table()->quarantined.size(), 3U);
  EXPECT_EQ(bound.table()->named("d2"), nullptr);
  EXPECT_EQ(bound.table()->named("d3"), nullptr);
  ASSERT_NE(bound.table()->named("d1"), nullptr) << "it goes on as it was";
  EXPECT_EQ(refusal(bound.obey(OrderOp::patch, patch(2, at("d4", "bank.example", "tcp:10.0.0.1:80")))), "");
  EXPECT_EQ(bound.table()->named("d4"), nullptr);
  EXPECT_EQ(bound.table()->quarantined.size(), 4U);
  evil.trusted_proxies = {"0.0.0.0/0"};
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(4, evil))),
            "denied: the trusted proxy 0.0.0.0/0 goes beyond the operator's bounds; nothing of the order is obeyed");
  EXPECT_EQ(bound.generation(), 3);
}

TEST_F(BoundKeeper, NarrowerBoundsAreAppliedToAllByTheNextLoad) {
  const TableDocument table = testing_table({at("d1", "shop.example", "tcp:10.0.0.1:80")});
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(1, table))), "");
  put_bounds(2, {"other.example"});
  EXPECT_EQ(refusal(bound.obey(OrderOp::patch, patch(1, at("d2", "other.example", "tcp:10.0.0.1:80")))),
            "conflict needs load: the operator's bounds have changed since the last load");
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(2, table))), "");
  EXPECT_EQ(bound.table()->named("d1"), nullptr) << "what was known of it is beyond them, too";
}

TEST_F(BoundKeeper, AfterExpiryTheTableStaysAndIsFoundAgain) {
  put_bounds(2, {"shop.example"}, utc_text(clock.wall_ms() + 1000));
  EXPECT_EQ(refusal(bound.obey(OrderOp::load, order(1, testing_table({at("d1", "shop.example", "tcp:10.0.0.1:80")})))),
            "");
  clock.advance_ms(2000);
  EXPECT_THAT(refusal(bound.obey(OrderOp::load, order(2, testing_table({})))),
              testing::HasSubstr("denied: the operator's bounds expired at"));
  EXPECT_NE(bound.table()->named("d1"), nullptr);
  StateFiles again(disk, "/r");
  BoundsKeeper later_bounds(disk, clock, "/bounds", {operators_key.public_key()}, "/r");
  ASSERT_TRUE(later_bounds.begin());
  TableKeeper later(
      "R1", {key.public_key()}, compiler, again, [](const Table*) {}, [](const Table*) { return false; },
      &later_bounds);
  EXPECT_EQ(later.begin(), "");
  EXPECT_EQ(later.generation(), 1);
}

TEST_F(BoundKeeper, ATableFileIsBoundToo) {
  const std::string text = write(to_json(testing_table({at("d1", "bank.example", "tcp:10.0.0.1:80")})));
  ASSERT_TRUE(bound.load_unsigned(text, "table.json"));
  EXPECT_EQ(bound.table()->named("d1"), nullptr);
}

}  // namespace table_keeper_test
}  // namespace sluice::router
