// Plans in the engine, on a store in a file: 100,000 nodes stored, and 10,000 that do nothing executed.
#include "bench/plan_run_bench.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "crypto/sha256.h"
#include "deploy/bundle_shelf.h"
#include "deploy/deploy_kit.h"
#include "deploy/plan_draft.h"
#include "deploy_plan.gen.h"
#include "deployment.gen.h"
#include "engine/engine.h"
#include "env.gen.h"
#include "lang/check/check.h"
#include "revision.gen.h"
#include "store/sqlite_store.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace {

// A kind of node that nothing else answers.
constexpr std::string_view kNothing = R"(
sync NodeOfNothing [eager]
  when { DeployPlan/run: [ kind: "register-sync" ] => requested as ?n }
  then { answer ?n => ok[] }
)";

std::shared_ptr<const lang::CheckedKit> kit_with_nodes_of_nothing() {
  lang::Checked checked =
      lang::check(lang::load_kit(std::string(kKitFolder), [](const std::string& path) -> Result<std::string> {
        auto text = read_kit_file(path);
        if (text && path.ends_with("syncs/plan.sync")) *text += kNothing;
        return text;
      }));
  return std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
}

// The kit's handlers, with plans whose manifest is their draft.
std::vector<lang::ConceptBinding> handlers() {
  std::vector<lang::ConceptBinding> all;
  for (const lang::ConceptBinding* each : concepts()) all.push_back(*each);
  auto plans = std::ranges::find(all, "DeployPlan", &lang::ConceptBinding::name);
  auto plan = std::ranges::find(plans->actions, "plan", &lang::ActionBinding::name);
  plan->perform = [](const json::value& work, lang::Attempt&) -> Result<lang::PerformedAction> {
    return lang::PerformedAction(
        lang::Completion{"ok", {{"plan", ""}, {"graph", work.at("manifest")}, {"estimatedDuration", 0}}});
  };
  return all;
}

}  // namespace

plan::Graph nodes_of_nothing(size_t count) {
  plan::GraphMaker maker;
  for (size_t i = 0; i < count; ++i) {
    maker.add(plan::NodeKind::register_sync, "n" + std::to_string(i));
    for (size_t back : {size_t{70}, size_t{310}}) {
      if (i >= back) maker.edge(static_cast<uint32_t>(i - back), static_cast<uint32_t>(i));
    }
  }
  return *std::move(maker).finish().graph;
}

PlanTimes run_plan(const plan::Graph& graph, bool execute) {
  const bench::Folder folder(std::filesystem::temp_directory_path().string());
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  auto store = store::SqliteStore::open(disk, folder.path("store.db")).value();
  (void)store->commit(
      {.state = {{"Env", "local", 1, 0, write(to_json(env::EnvRecord{.name = "local", .generation = 1}))}}});
  const auto bindings = handlers();
  std::vector<const lang::ConceptBinding*> all;
  for (const lang::ConceptBinding& each : bindings) all.push_back(&each);
  lang::Tools tools;
  auto engine = engine::Engine::start({.store = store.get(),
                                       .clock = &clock,
                                       .random = &random,
                                       .tools = &tools,
                                       .concepts = all,
                                       .fatal = [](const std::string&) { std::abort(); }},
                                      kit_with_nodes_of_nothing())
                    .value();
  const std::string draft =
      write(to_json(PlanDraft{.app = "bench", .version = "1", .strategy = "immediate", .graph = plan::to_json(graph)}));
  PlanTimes times;
  double began = bench::wall_s();
  auto planned = engine->invoke({.action = "DeployPlan/plan",
                                 .input = {{"manifest", draft}, {"environment", "local"}},
                                 .caller = {.name = "bench"}});
  times.stored_s = bench::wall_s() - began;
  if (!planned || planned->end.variant != "ok") std::abort();
  if (!execute) return times;
  began = bench::wall_s();
  auto done = engine->invoke({.action = "DeployPlan/execute",
                              .input = {{"plan", planned->end.fields.at("plan")}},
                              .caller = {.name = "bench"}});
  times.executed_s = bench::wall_s() - began;
  if (!done || done->end.variant != "ok") std::abort();
  return times;
}

double plan_unchanged_s(size_t components) {
  const bench::Folder folder(std::filesystem::temp_directory_path().string());
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  auto store = store::SqliteStore::open(disk, folder.path("store.db")).value();
  store::Batch batch;
  auto put = [&](const char* relation, const std::string& key, const json::value& value) {
    batch.state.push_back({relation, key, 1, 0, write(value)});
  };
  auto put_element = [&](const char* relation, const std::string& key, size_t number, const json::value& value) {
    put(relation, lang::child_key(key, lang::rows::number_key(static_cast<int64_t>(number))), value);
  };
  put("Env", "local", to_json(env::EnvRecord{.name = "local", .generation = 1}));
  put_element("Env.packs", "local", 0,
              to_json(env::EnvPack{.slot = "deployer", .kind = "sluice.deployer.local-process@1.0.0"}));
  const std::string before = "dp-2026-01-01-001";
  put("DeployPlan", before,
      to_json(deploy_plan::DeployPlanRecord{.suiteName = "bench",
                                            .kitVersion = "1",
                                            .environment = "local",
                                            .currentPhase = deploy_plan::DeployPlanCurrentPhase::complete,
                                            .number = 1}));
  std::string manifest = "app: {name: bench, version: '1'}\ncomponents:\n";
  json::array bundles;
  for (size_t i = 0; i < components; ++i) {
    const std::string name = "c" + std::to_string(i), deployment = "d" + std::to_string(i),
                      revision = "r" + std::to_string(i);
    const std::string digest = crypto::to_string(crypto::sha256(name));
    put("Deployment", deployment,
        to_json(deployment::DeploymentRecord{
            .environment = "local", .bundle = name, .customer = "local-dev", .route = {.pathPrefixes = {"/" + name}}}));
    put("Revision", revision,
        to_json(revision::RevisionRecord{.deployment = deployment,
                                         .environment = "local",
                                         .bundle = name,
                                         .sequence = 1,
                                         .version = "1",
                                         .bundleDigest = digest,
                                         .treeDigest = digest,
                                         .config = R"({"non_secret":{},"runtime_refs":{}})",
                                         .lifecycle = revision::RevisionLifecycle::ready}));
    put("Traffic", deployment, to_json(traffic::TrafficRecord{.generation = 1}));
    put_element("Traffic.entries", deployment, 0,
                to_json(traffic::TrafficEntry{.revision = revision, .weightBps = 10'000}));
    put_element("DeployPlan.components", before, i,
                to_json(deploy_plan::DeployPlanComponent{.component = name,
                                                         .archive = digest,
                                                         .settings = "{}",
                                                         .runtimeRefs = "{}",
                                                         .pathPrefixes = {"/" + name},
                                                         .deployment = deployment,
                                                         .revision = revision,
                                                         .version = "1"}));
    manifest += "  " + name + ": {folder: ./" + name + ", routes: [{path: /" + name + "}]}\n";
    bundles.push_back(json::object{{"component", name}, {"archive", digest}, {"signature", ""}});
  }
  (void)store->commit(batch);
  BundleShelf shelf(disk, folder.path("shelf"));
  lang::Tools tools;
  tools.add(shelf);
  auto engine = engine::Engine::start({.store = store.get(),
                                       .clock = &clock,
                                       .random = &random,
                                       .tools = &tools,
                                       .concepts = concepts(),
                                       .fatal = [](const std::string&) { std::abort(); }},
                                      kit_with_nodes_of_nothing())
                    .value();
  return bench::median_s(
      [&] {
        auto planned =
            engine->invoke({.action = "DeployPlan/plan",
                            .input = {{"manifest", manifest}, {"environment", "local"}, {"bundles", bundles}},
                            .caller = {.name = "bench"}});
        if (!planned || planned->end.variant != "ok") std::abort();
        const json::value graph = parse_json(std::string(planned->end.fields.at("graph").as_string())).value().root;
        if (!graph.at("nodes").as_array().empty()) std::abort();
      },
      bench::kRounds);
}

}  // namespace sluice::deploy
