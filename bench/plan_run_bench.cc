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
#include "deploy/deploy_kit.h"
#include "deploy/plan_draft.h"
#include "engine/engine.h"
#include "env.gen.h"
#include "lang/check/check.h"
#include "store/sqlite_store.h"

namespace sluice::deploy {
namespace {

// A kind of node that nothing else answers.
constexpr std::string_view kNothing = R"(
sync NodeOfNothing [eager]
  when { DeployPlan/run: [ kind: "external-dependency-check" ] => requested as ?n }
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
    maker.add(plan::NodeKind::external_dependency_check, "n" + std::to_string(i));
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
  auto store = store::SqliteStore::open(disk, folder.path() + "/store.db").value();
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

}  // namespace sluice::deploy
