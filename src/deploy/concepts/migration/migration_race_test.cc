// A contraction and an older revision that comes back at the same moment: one of them is refused, whoever is first.
#include <cstdlib>
#include <thread>

#include "deploy/concepts/migration/testing_migration.h"

namespace sluice::deploy::migration {
namespace migration_race_test {

class MigrationRaceTest : public MigrationTest {};

TEST_F(MigrationRaceTest, OneOfThemIsRefused) {
  // ./dev soak runs all of them; NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it meanwhile
  const int rounds = std::getenv("SLUICE_SOAK") != nullptr ? 1'000 : 30;
  auto files = kSecond;
  files["migrations/0002_name/contract.sql"] = "CREATE TABLE IF NOT EXISTS contracted(a);";
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  auto second = bring("2", files);
  ASSERT_EQ(second.variant, "ok") << write(second.fields);
  const std::string v1 = text(first, "revision"), v2 = text(second, "revision");
  const json::object back{{"deployment", text(first, "deployment")}, {"steps", 1}};
  int contracted = 0;
  for (int round = 0; round < rounds; ++round) {
    if (revision(v1).at("lifecycle") == "ready") {
      ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
    }
    if (revision(v1).at("lifecycle") != "staged") {
      ASSERT_EQ(kit.run("Revision/retry", {{"revision", v1}}).variant, "ok");
    }
    const bool shifts = round % 2 == 1;
    engine::End came;
    std::thread comes([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 7'919 % 20'000));
      came = shifts ? kit.run("Traffic/rollback", back) : kit.run("Revision/warm", {{"revision", v1}});
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 6'007 % 20'000));
    auto contract = act("contract", v2);
    comes.join();
    EXPECT_NE(contract.variant == "ok", came.variant == "ok")
        << round << ": " << contract.variant << write(contract.fields) << came.variant << write(came.fields);
    EXPECT_EQ(revision(v1).at("lifecycle") == "ready", came.variant == "ok") << round;
    contracted += contract.variant == "ok" ? 1 : 0;
    if (came.variant == "ok" && shifts) {
      ASSERT_EQ(kit.run("Traffic/forward", back).variant, "ok");
    }
    // As if nothing had been contracted: another database, which nobody has looked at yet.
    ask(first, "UPDATE _sluice_migration SET phase = 'migrated' WHERE number = 2");
    ask(first, "UPDATE _sluice_owner SET database_id = 'round-" + std::to_string(round) + "'");
    for (const std::string& each : {v1, v2}) ASSERT_NE(act("plan", each).variant, "incompatible");
  }
  EXPECT_GT(contracted, 0);
  EXPECT_LT(contracted, rounds);
}

}  // namespace migration_race_test
}  // namespace sluice::deploy::migration
