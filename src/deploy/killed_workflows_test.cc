// A control plane that is killed in the middle of a workflow, at each sync of its store by number: one that is started
// again ends the call as it would have ended, with nobody asking again.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "base/ulid.h"
#include "deploy/deploy_kit.h"
#include "deploy/testing_up.h"
#include "engine/engine.h"
#include "engine/journal/step.h"
#include "env.gen.h"
#include "lang/check/check.h"
#include "store/sqlite_store.h"

namespace sluice::deploy {
namespace killed_workflows_test {

constexpr uint64_t kNever = ~uint64_t{0};

std::shared_ptr<const lang::CheckedKit> checked_kit() {
  static const auto kKit = [] {
    lang::Checked checked = lang::check(
        lang::load_kit(std::string(kKitFolder), [](const std::string& path) { return read_kit_file(path); }));
    return std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  }();
  return kKit;
}

struct Call {
  std::string action;
  json::object input;
  std::string ends_in = "ok";
};

// A home in a folder, whose control plane is a process of its own each time.
class KilledHome {
 public:
  explicit KilledHome(const std::string& folder) : folder_(folder), world_(folder) {
    (void)checked_kit();
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, path());
    store::Batch batch;
    auto put = [&](const std::string& relation, const std::string& key, const json::value& value) {
      batch.state.push_back({relation, key, 1, 0, write(value)});
    };
    for (const std::string name : {"local", "staging"}) {
      put("Env", name,
          to_json(env::EnvRecord{.name = name,
                                 .generation = 1,
                                 .runtimeType = "local",
                                 .secretsType = "store",
                                 .retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5}}));
      put("Env.packs", lang::child_key(name, lang::rows::number_key(0)),
          to_json(env::EnvPack{.slot = "deployer", .kind = "sluice.deployer.local-process@1.0.0"}));
    }
    EXPECT_TRUE((*store)->commit(batch));
  }

  UpTools& world() { return world_; }
  // What every open analysis of a rollout is answered with.
  void judge(const std::string& verdict) { verdict_ = verdict; }

  // Makes the calls in a process of its own, which ends before its fatal sync as if it was killed there. True if it
  // was.
  bool run(const std::vector<Call>& calls, uint64_t fatal = kNever) {
    const int code = in_child([&] {
      std::atomic<uint64_t> syncs = 0;
      RealDisk real;
      FaultyDisk disk(real, {.before = [&](DiskOperation operation) {
                        if (operation == DiskOperation::sync && ++syncs == fatal) std::_Exit(9);
                      }});
      with_engine(disk, [&](engine::Engine& engine, store::Store&) {
        for (const Call& each : calls) {
          auto outcome = engine.invoke({.action = each.action, .input = each.input, .caller = {.name = "test"}});
          if (!outcome || outcome->end.variant != each.ends_in) std::_Exit(5);
          if (!engine.wait(outcome->flow, engine::Engine::Until::all)) std::_Exit(6);
        }
      });
    });
    EXPECT_TRUE(code == 0 || code == 9) << code;
    return code == 9;
  }

  // Starts the control plane again, and waits until nothing is open any more.
  void recover() {
    const int code = in_child([&] {
      RealDisk disk;
      with_engine(disk, [&](engine::Engine& engine, store::Store& store) {
        std::vector<Ulid> open;
        auto snapshot = store.read();
        if (!snapshot) std::_Exit(7);
        (void)(*snapshot)->open_flows([&](const store::FlowRow& row) {
          open.push_back(row.id);
          return true;
        });
        for (const Ulid& each : open) {
          if (!engine.wait(each, engine::Engine::Until::all)) std::_Exit(6);
        }
      });
    });
    EXPECT_EQ(code, 0);
  }

  // All rows of a relation, by a text of each, in order.
  std::string rows(const std::string& relation, const std::function<std::string(const json::value&)>& text) {
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, path());
    auto snapshot = (*store)->read();
    std::vector<std::string> all;
    auto read = (*snapshot)->scan(relation, "", [&](const store::StateRow& row) {
      all.push_back(text(parse_json(row.value).value().root));
      return true;
    });
    EXPECT_TRUE(read);
    std::ranges::sort(all);
    std::string joined;
    for (const std::string& each : all) joined += (joined.empty() ? "" : ", ") + each;
    return joined;
  }

  std::string only_deployment() { return only_key("Deployment"); }
  std::string last_key(const std::string& relation) {
    std::string id;
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, path());
    auto snapshot = (*store)->read();
    auto read = (*snapshot)->scan(relation, "", [&](const store::StateRow& row) {
      id = row.key;
      return true;
    });
    EXPECT_TRUE(read);
    return id;
  }
  std::string only_key(const std::string& relation) {
    std::string id;
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, path());
    auto snapshot = (*store)->read();
    auto read = (*snapshot)->scan(relation, "", [&](const store::StateRow& row) {
      id = row.key;
      return false;
    });
    EXPECT_TRUE(read);
    return id;
  }

  // What people see: revisions with their states, shares, programs that run, and calls that are open.
  std::string summary() {
    auto text = [](const json::value& value) { return std::string(value.as_string()); };
    return "revisions: " +
           rows("Revision",
                [&](const json::value& row) { return write(row.at("sequence")) + " " + text(row.at("lifecycle")); }) +
           "; shares: " + rows("Traffic.entries", [&](const json::value& row) { return write(row.at("weightBps")); }) +
           "; splits: " + rows("Traffic.log", [&](const json::value& row) { return write(row.at("generation")); }) +
           "; deployments: " + rows("Deployment", [&](const json::value& row) { return text(row.at("bundle")); }) +
           "; plans: " + rows("DeployPlan", [&](const json::value& row) { return text(row.at("currentPhase")); }) +
           "; nodes: " + rows("DeployPlan[N]", [&](const json::value& row) { return text(row.at("status")); }) +
           "; pins: " +
           rows("Pin",
                [&](const json::value& row) {
                  return text(row.at("component")) + " in " + text(row.at("environment")) + " " +
                         text(row.at("release")) + " runs " + text(row.at("applied")) +
                         (row.at("ready").as_bool() ? "" : ", not ready");
                }) +
           "; changes: " + rows("Pin[C]", [](const json::value&) { return std::string("one"); }) +
           "; rollouts: " + rows("Rollout", [&](const json::value& row) { return text(row.at("status")); }) +
           "; markers: " + rows("Telemetry[M]", [&](const json::value& row) { return text(row.at("status")); }) +
           "; open: " + rows("Deployment[C]", [](const json::value&) { return std::string("one"); }) +
           "; running: " + std::to_string(world_.running().size());
  }

  // Whether routers were told of every scaling: the last publish began after the last of them had ended.
  bool told_of_scaling() {
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, path());
    auto snapshot = (*store)->read();
    uint64_t scaled = 0, published = 0;
    auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
      auto step = engine::read_step(row.record);
      EXPECT_TRUE(step);
      if (step->action == "Runtime/scale" && step->end && step->end->variant == "ok") scaled = row.seq;
      if (step->action == "Router/publish" && step->end) published = row.seq;
      return true;
    });
    EXPECT_TRUE(read);
    return published >= scaled;
  }

 private:
  std::string path() const { return folder_ + "/store.db"; }

  static int in_child(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void with_engine(Disk& disk, const std::function<void(engine::Engine&, store::Store&)>& use) {
    auto store = store::SqliteStore::open(disk, path());
    if (!store) std::_Exit(2);
    RealClock clock;
    RealRandom random;
    const auto bindings = trusting(concepts_with_files_for_programs(folder_));
    std::vector<const lang::ConceptBinding*> concepts;
    for (const lang::ConceptBinding& each : bindings) concepts.push_back(&each);
    auto engine = engine::Engine::start({.store = store->get(),
                                         .clock = &clock,
                                         .random = &random,
                                         .tools = &world_.tools(),
                                         .concepts = concepts,
                                         .fatal = [](const std::string&) { std::_Exit(3); }},
                                        checked_kit());
    if (!engine) std::_Exit(4);
    std::atomic<bool> over = verdict_.empty();
    std::thread judging([&] {
      while (!over) {
        answer_analyses(**engine, **store);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
    use(**engine, **store);
    over = true;
    judging.join();
  }

  void answer_analyses(engine::Engine& engine, store::Store& store) const {
    std::vector<std::string> open;
    auto snapshot = store.read();
    if (!snapshot) return;
    (void)(*snapshot)->scan("Telemetry[A]", "", [&](const store::StateRow& row) {
      // One without an end waits for bad news alone.
      const bool endless = parse_json(row.value).value().root.at("window") == json::value(-1);
      if (!endless || verdict_ == "unhealthy") open.push_back(row.key);
      return true;
    });
    for (const std::string& each : open) {
      (void)engine.invoke({.action = "Telemetry/report",
                           .input = {{"analysis", each},
                                     {"verdict", verdict_},
                                     {"reason", "said the test"},
                                     {"errorRate", 0.0},
                                     {"latencyP99", 1},
                                     {"sampleSize", 1},
                                     {"samplesNeeded", 0},
                                     {"endpoint", "main"}},
                           .caller = {.name = "test"}});
    }
  }

  const std::string folder_;
  UpTools world_;
  std::string verdict_;
};

// Runs the calls killed at each sync in turn, in a home that `before` has prepared, and expects that the end is always
// that of an undisturbed run, or, where nothing of the call was kept yet, what was before. Of a long one each
// `stride`th sync is taken. There must be `least` of them.
void expect_same_end(const std::function<std::vector<Call>(KilledHome&)>& before,
                     const std::function<std::vector<Call>(KilledHome&)>& calls, uint64_t stride = 1,
                     const std::function<void(const std::string& whole)>& tell_whole = {}, int least = 6) {
  TestingFolder folder;
  const std::string place = folder.path("home"), prepared = folder.path("prepared");
  std::filesystem::create_directory(place);
  KilledHome home(place);
  home.run(before(home));
  const std::string untouched = home.summary();
  const std::vector<Call> asked = calls(home);
  constexpr auto kAll = std::filesystem::copy_options::recursive;
  std::filesystem::copy(place, prepared, kAll);
  home.run(asked);
  const std::string whole = home.summary();
  ASSERT_NE(untouched, whole);
  if (tell_whole) tell_whole(whole);
  int killed = 0;
  bool resumed = false;
  for (uint64_t n = 1;; n += stride) {
    SCOPED_TRACE("sync " + std::to_string(n));
    std::filesystem::remove_all(place);
    std::filesystem::copy(prepared, place, kAll);
    if (!home.run(asked, n)) break;
    ++killed;
    home.recover();
    const std::string now = home.summary();
    if (now == whole) resumed = true;
    ASSERT_TRUE(home.told_of_scaling());
    ASSERT_TRUE(now == whole || (!resumed && now == untouched)) << now << "\ninstead of " << whole;
  }
  EXPECT_GE(killed, least);
  EXPECT_TRUE(resumed);
}

Call up(const std::string& archive) { return {"Deployment/up", {{"environment", "local"}, {"archive", archive}}}; }

TEST(KilledWorkflows, AnUpEndsAsWithoutTheKillAtEachStep) {
  expect_same_end(
      [](KilledHome& home) {
        return std::vector{up(home.world().put("shop", "1")), up(home.world().put("shop", "2"))};
      },
      [](KilledHome& home) { return std::vector{up(home.world().put("shop", "3"))}; });
}

TEST(KilledWorkflows, ADownEndsAsWithoutTheKillAtEachStep) {
  expect_same_end(
      [](KilledHome& home) {
        return std::vector{up(home.world().put("shop", "1")), up(home.world().put("shop", "2"))};
      },
      [](KilledHome& home) {
        return std::vector{Call{"Deployment/down", {{"deployment", home.only_deployment()}, {"deleteData", true}}}};
      });
}

TEST(KilledWorkflows, AnApplyEndsAsWithoutTheKillAtEachStep) {
  auto apply = [](KilledHome& home, const std::string& version) {
    const std::string document =
        "schema: sluice.environment.v1\nenvironment_id: local\nname: Mine\nhost_config: {region: eu}\nbundles:\n"
        "- {bundle_id: shop, customer_id: acme, bundle_source_uri: \"" +
        home.world().put("shop", version) + "\", route_binding: {path_prefixes: [/]}}\n";
    return Call{"Env/apply", {{"environment", "local"}, {"document", document}, {"prune", true}, {"wait", true}}};
  };
  expect_same_end(
      [](KilledHome& home) { return std::vector{up(home.world().put("notes", "1", "routes: [{path: /notes}]\n"))}; },
      [&](KilledHome& home) { return std::vector{apply(home, "2")}; });
}

// Publishing a scaling is a flow of its own: it outlives the kill, and neither the scaling nor a warm waits for it.
TEST(KilledWorkflows, AScalingEndsAsWithoutTheKillAtEachStep) {
  expect_same_end(
      [](KilledHome& home) { return std::vector{up(home.world().put("shop", "1"))}; },
      [](KilledHome& home) {
        return std::vector{Call{"Deployment/scale", {{"deployment", home.only_deployment()}, {"replicas", 3}}}};
      },
      1, {}, 4);
}

TEST(KilledWorkflows, AnUpOfWhatWasScaledEndsAsWithoutTheKillAtEachStep) {
  expect_same_end(
      [](KilledHome& home) {
        home.run({up(home.world().put("shop", "1"))});
        return std::vector{Call{"Deployment/scale", {{"deployment", home.only_deployment()}, {"replicas", 2}}}};
      },
      [](KilledHome& home) { return std::vector{up(home.world().put("shop", "2"))}; }, 3, {}, 3);
}

TEST(KilledWorkflows, APlanOfTwelveNodesEndsAsWithoutTheKill) {
  expect_same_end(
      [](KilledHome& home) {
        std::string manifest = "app: {name: diamond, version: 1.0.0}\ncomponents:\n";
        json::array bundles;
        for (const auto& [name, needs] : std::vector<std::pair<std::string, std::string>>{
                 {"store", ""}, {"cart", "store"}, {"list", "store"}, {"web", "cart, list"}}) {
          manifest += "  " + name + ": {folder: ./x, needs: [" + needs + "], routes: [{path: /" + name + "}]}\n";
          bundles.push_back(
              json::object{{"component", name}, {"archive", home.world().put(name, "1")}, {"signature", ""}});
        }
        return std::vector{Call{"DeployPlan/plan",
                                {{"manifest", manifest}, {"environment", "local"}, {"bundles", std::move(bundles)}}}};
      },
      [](KilledHome& home) {
        std::string plan = home.only_key("DeployPlan");
        return std::vector{Call{"DeployPlan/execute", {{"plan", plan}}}};
      },
      5);
}

// With two versions ready and the first one serving.
void expect_rollout_ends(const std::string& verdict, const json::object& wish, const std::string& ends_in) {
  std::string seen;
  expect_same_end(
      [](KilledHome& home) {
        Call second = up(home.world().put("shop", "2"));
        second.input["canaryBps"] = 100;
        return std::vector{up(home.world().put("shop", "1")), second};
      },
      [&](KilledHome& home) {
        home.judge(verdict);
        Call begin{"Rollout/begin", wish};
        begin.input["deployment"] = home.only_deployment();
        begin.input["revision"] = home.last_key("Revision");
        return std::vector{begin};
      },
      1, [&](const std::string& whole) { seen = whole; }, 3);  // steps of one moment share a sync
  EXPECT_NE(seen.find(ends_in), std::string::npos) << seen;
}

TEST(KilledWorkflows, ARolloutReaches100AsWithoutTheKill) {
  expect_rollout_ends("healthy", {{"steps", {"10%", "50%"}}, {"after", 1}, {"holdbackBps", 100}},
                      "rollouts: complete; markers: completed, started");
}

TEST(KilledWorkflows, ARolloutIsTakenBackAsWithoutTheKill) {
  expect_rollout_ends("unhealthy", {{"steps", {"10%", "50%"}}}, "rollouts: aborted; markers: rolledback, started");
}

TEST(KilledWorkflows, ARollingRolloutEndsAsWithoutTheKill) {
  expect_rollout_ends("healthy", {{"strategy", "rolling"}}, "rollouts: complete; markers: completed, started");
}

TEST(KilledWorkflows, ABlueGreenRolloutEndsAsWithoutTheKill) {
  expect_rollout_ends("healthy", {{"strategy", "blue-green"}, {"steps", {"0%:1s"}}},
                      "rollouts: complete; markers: completed, started");
}

constexpr const char* kComponents[] = {"cart", "shop", "stock"};

Call applied(const std::string& text) {
  return {"Definition/apply", {{"documents", json::array{{{"file", "all.yaml"}, {"text", text}}}}}};
}

std::string object_of(const std::string& kind, const std::string& name, const std::string& spec) {
  return "---\napiVersion: openchoreo.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + spec +
         "\n";
}

std::string component_at(const std::string& name, const std::string& path) {
  return object_of("Component", name, "{componentType: bundle/app, parameters: {path: " + path + "}}");
}

// Three components with a path each. Staging runs the first releases of them, local the second ones; that of stock has
// another path than before.
std::vector<Call> three_components(KilledHome& home) {
  std::string text =
      object_of("DeploymentPipeline", "main",
                "{promotionPaths: [{sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: staging}]}]}") +
      object_of("ComponentTypeDefinition", "app",
                "{workloadType: bundle, schema: {parameters: {path: string}}, resources: [{id: app, template: "
                "{apiVersion: sluice.dev/v1, kind: BundleDeployment, metadata: {name: \"${metadata.name}\"}, spec: "
                "{bundle: \"${build.image}\", customer: acme, routes: {pathPrefixes: [\"${parameters.path}\"]}}}}]}");
  for (const std::string name : kComponents) {
    text += component_at(name, "/" + name) + object_of("Workload", name, "{image: none}");
  }
  std::vector<Call> calls{applied(text)};
  for (const std::string version : {"1", "2"}) {
    json::array pins;
    for (const std::string name : kComponents) {
      calls.push_back(
          {"Release/create",
           {{"component", name}, {"name", name + "-" + version}, {"image", home.world().put(name, version)}}});
      pins.push_back(json::object{
          {"component", name}, {"environment", "local"}, {"release", name + "-" + version}, {"state", "Active"}});
    }
    calls.push_back({"Pin/set", {{"pins", std::move(pins)}, {"wait", true}}});
    if (version == "1") {
      calls.push_back({"Pin/promote", {{"components", json::array()}, {"fromEnv", "local"}, {"toEnv", "staging"}}});
      calls.push_back(applied(component_at("stock", "/late")));
    }
  }
  return calls;
}

std::vector<Call> promotion_that_ends_in(const std::string& variant) {
  return {{"Pin/promote", {{"components", json::array()}, {"fromEnv", "local"}, {"toEnv", "staging"}}, variant}};
}

constexpr const char* kAllMoved =
    "cart in staging cart-2 runs cart-2, shop in local shop-2 runs shop-2, shop in staging "
    "shop-2 runs shop-2, stock in local stock-2 runs stock-2, stock in staging stock-2 runs "
    "stock-2; changes: ;";
constexpr const char* kNoneMoved =
    "cart in staging cart-1 runs cart-1, shop in local shop-2 runs shop-2, shop in staging "
    "shop-1 runs shop-1, stock in local stock-2 runs stock-2, stock in staging stock-1 "
    "runs stock-1; changes: ;";

// Every step in soak, every third one otherwise.
const uint64_t kStride = std::getenv("SLUICE_SOAK") != nullptr ? 1 : 3;

TEST(KilledPromotions, OfThreeComponentsMoveAllOrNone) {
  std::string seen;
  expect_same_end(
      three_components, [](KilledHome&) { return promotion_that_ends_in("ok"); }, kStride,
      [&](const std::string& whole) { seen = whole; });
  EXPECT_NE(seen.find(kAllMoved), std::string::npos) << seen;
}

TEST(KilledPromotions, OfWhichOneCannotRunGoBackWhole) {
  std::string seen;
  expect_same_end(
      [](KilledHome& home) {
        auto calls = three_components(home);
        // There stock would take the cart's path, which shows when it is brought up.
        calls.push_back(applied(object_of("EnvSettings", "cart-staging",
                                          "{owner: {componentName: cart}, environment: staging, overrides: "
                                          "{path: /late}}")));
        return calls;
      },
      [](KilledHome&) { return promotion_that_ends_in("failed"); }, kStride,
      [&](const std::string& whole) { seen = whole; });
  EXPECT_NE(seen.find(kNoneMoved), std::string::npos) << seen;
}

// What was acknowledged before is never lost; what was under way ends in a named outcome, and can be done again.
TEST(KilledSecrets, LoseNothingThatWasKept) {
  const json::object named{{"environment", "local"}, {"provider", "store"}, {"name", "shop/TOKEN"}};
  auto with = [&](const std::string& value) {
    json::object input = named;
    input["value"] = value;
    return input;
  };
  const Call put{"Secret/put", with("one")}, rotate{"Secret/rotate", with("two")};
  const Call rekey{"Secret/rekey", {{"environment", "local"}, {"provider", "store"}}};
  auto version = [](const json::value& row) { return write(row.at("version")); };
  for (const Call& call : {put, rotate, rekey}) {
    for (uint64_t fatal = 1;; ++fatal) {
      TestingFolder folder;
      KilledHome home(folder.path());
      const bool first = call.action == put.action;
      if (!first) {
        ASSERT_FALSE(home.run({put}));
      }
      if (!home.run({call}, fatal)) break;
      home.recover();
      const std::string versions = home.rows("SecretStore.versions", version);
      if (!first) {
        ASSERT_EQ(home.world().value_of("shop/TOKEN", 1), "one") << call.action << fatal;
      }
      ASSERT_TRUE(versions.empty() ? first : versions == "1" || versions == "1, 2") << versions;
      if (versions == "1, 2") {
        ASSERT_EQ(home.world().value_of("shop/TOKEN", 2), "two") << fatal;
      }
      ASSERT_FALSE(home.run({call})) << "it can be done again";
      if (call.action == rekey.action) {
        ASSERT_FALSE(std::filesystem::exists(folder.path() + "/keys/secrets-local.1.key")) << fatal;
        ASSERT_EQ(home.world().value_of("shop/TOKEN", 1), "one") << fatal;
      }
    }
  }
}

}  // namespace killed_workflows_test
}  // namespace sluice::deploy
