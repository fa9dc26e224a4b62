// The power is cut at every disk operation of a run with eight flows, and sometimes again soon after: after each
// restart every flow ends as it does without the cut, no effect runs under two ids, and the journal's chain holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "base/json.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"
#include "engine/journal/audit.h"
#include "engine/testing_machine.h"
#include "store/sqlite_store.h"

namespace sluice::engine {
namespace power_cut_test {

const std::string kJob = R"(concept Job [J] {
  state {
    jobs: set J
    phase: J -> String
  }
  actions {
    action run(job: J) {
      runs: answered
      -> ok(job: J)
      -> broken(job: J)
    }
    action mark(job: J, phase: String) {
      -> ok(job: J)
    }
    action build(job: J) {
      runs: effect
      retry: safe
      reversal: clean
      -> ok(job: J)
    }
    action clean(job: J) {
      runs: effect
      retry: safe
      -> ok(job: J)
    }
    action tell(job: J) {
      -> ok(job: J)
      -> busy(job: J)
    }
  }
}
)";

const std::string kRules = R"(
sync Start when { Job/run: [ job: ?j ] => requested } then { Job/mark: [ job: ?j; phase: "begun" ] }
sync Build when { Job/mark: [ job: ?j; phase: "begun" ] => ok[] } then { Job/build: [ job: ?j ] }
sync Rest when { Job/build: [ job: ?j ] => ok[] } then { Timer/wait: [ name: "rest"; seconds: 5 ] }
sync Done when { Timer/wait: [] => ok[] caused by Job/run: [ job: ?j ] => requested as ?r }
          then { Job/mark: [ job: ?j; phase: "done" ] answer ?r => ok[ job: ?j ] }
sync Tell [eventual retry(busy)] when { Job/run: [ job: ?j ] => ok[] } then { Job/tell: [ job: ?j ] }
)";

constexpr int kFlows = 8;

// A run on a disk, as far as it gets. Effects note the ids under which they ran.
class EightFlows {
 public:
  EightFlows() : world_({kJob}, kRules) {
    world_.on("Job/mark").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      rows.put("Job", std::string(ask.at("job").as_string()), json::object{{"phase", ask.at("phase")}});
      return {"ok", {{"job", ask.at("job")}}};
    };
    world_.on("Job/build").perform = [this](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
      built[std::string(work.at("job").as_string())].insert(attempt.id());
      return lang::Completion{"ok", work.as_object()};
    };
    world_.on("Job/tell").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      std::string key = "told " + std::string(ask.at("job").as_string());
      bool first = !rows.get("Job", key);
      rows.put("Job", key, json::object{{"phase", "told"}});
      return {first ? "busy" : "ok", ask};
    };
  }

  // False: the disk stopped.
  bool open(Disk& disk) {
    auto opened = store::SqliteStore::open(disk, "/store.db", {.checkpoint_in_background = false});
    if (!opened) return false;
    store_ = std::shared_ptr<store::SqliteStore>(std::move(*opened));
    world_.store = store_;
    return world_.try_restart();
  }

  bool go() {
    for (int n = next_; n < kFlows; ++n) {
      Call call{.action = "Job/run", .input = {{"job", "j" + std::to_string(n)}}, .key = "k" + std::to_string(n)};
      bool acknowledged = false;
      call.on_start = [&](const Result<Ulid>& flow) { acknowledged = flow.has_value(); };
      world_.machine().call(std::move(call));
      if (!world_.machine().turn()) return false;
      if (acknowledged) next_ = n + 1;
    }
    for (int i = 0; i < 10'000; ++i) {
      auto turned = world_.machine().turn();
      if (!turned) return false;
      if (*turned || world_.queue.run()) continue;
      if (world_.machine().open_flows() == 0) break;
      auto due_ms = world_.machine().next_due_ms();
      if (!due_ms) break;
      world_.clock.advance_ms(std::max<int64_t>(*due_ms - world_.clock.wall_ms(), 1));
    }
    return store_->checkpoint().has_value();
  }

  void close() {
    world_.stop();
    world_.store.reset();
    store_.reset();
  }

  // How everything ended, whatever the ids and the order.
  std::multiset<std::string> ends() {
    std::multiset<std::string> ends;
    for (const Step& step : world_.steps()) {
      if (step.end && step.kind != Step::Kind::late) {
        ends.insert(step.action + " => " + step.end->variant + " " +
                    write(step.end->fields.contains("at") ? json::object{} : step.end->fields));
      }
    }
    return ends;
  }

  World& world() { return world_; }

  std::map<std::string, std::set<std::string>> built;

 private:
  World world_;
  std::shared_ptr<store::SqliteStore> store_;
  int next_ = 0;
};

TEST(PowerCut, AtEveryDiskOperationChangesNothingInTheEnd) {
  std::multiset<std::string> expected;
  uint64_t operations = 0;
  {
    VolatileDisk under;
    FaultyDisk disk(under);
    EightFlows run;
    ASSERT_TRUE(run.open(disk));
    ASSERT_TRUE(run.go());
    expected = run.ends();
    EXPECT_EQ(run.world().machine().open_flows(), 0U);
    run.close();
    operations = disk.operations();
  }
  ASSERT_EQ(expected.size(), kFlows * 7U);

  std::map<DiskOperation, int> struck;
  for (uint64_t n = 1; n <= operations; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    EightFlows run;
    {
      FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
      (void)(run.open(disk) && run.go());
      run.close();
      if (!disk.struck()) break;
      ++struck[*disk.struck()];
    }
    SeededRandom random(n);
    under.crash_keeping_some(random);
    if (n % 2 == 0) {  // and once more while it gets up again
      FaultyDisk disk(under, {.kind = FaultKind::stop, .at = 1 + n / 2 % 50});
      (void)(run.open(disk) && run.go());
      run.close();
      under.crash_keeping_some(random);
    }
    ASSERT_TRUE(run.open(under));
    ASSERT_TRUE(run.go());
    EXPECT_EQ(run.ends(), expected);
    EXPECT_EQ(run.world().machine().open_flows(), 0U);
    for (const auto& [job, ids] : run.built) EXPECT_EQ(ids.size(), 1U) << job;
    auto snapshot = run.world().store->read();
    ASSERT_TRUE(snapshot);
    auto report = verify(**snapshot, {}, {});
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->fault) << report->fault->what;
    snapshot->reset();
    run.close();
    if (HasFailure()) break;
  }
  std::string kinds;
  for (const auto& [kind, count] : struck) {
    kinds += std::string(operation_name(kind)) + " " + std::to_string(count) + ", ";
  }
  RecordProperty("struck", kinds);
  std::cout << "power cuts by operation: " << kinds.substr(0, kinds.size() - 2) << "\n";
  EXPECT_THAT(struck, testing::AllOf(testing::Contains(testing::Key(DiskOperation::open)),
                                     testing::Contains(testing::Key(DiskOperation::read)),
                                     testing::Contains(testing::Key(DiskOperation::write)),
                                     testing::Contains(testing::Key(DiskOperation::truncate)),
                                     testing::Contains(testing::Key(DiskOperation::rename)),
                                     testing::Contains(testing::Key(DiskOperation::remove)),
                                     testing::Contains(testing::Key(DiskOperation::sync)),
                                     testing::Contains(testing::Key(DiskOperation::stat)),
                                     testing::Contains(testing::Key(DiskOperation::lock)),
                                     testing::Contains(testing::Key(DiskOperation::sync_folder))));
}

}  // namespace power_cut_test
}  // namespace sluice::engine
