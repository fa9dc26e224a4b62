// A provider needs its concept, its handlers and one line in suite.yaml: the kit `deploy` with a toy behind Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/clock.h"
#include "base/random.h"
#include "base/testing_source.h"
#include "deploy/deploy_kit.h"
#include "engine/engine.h"
#include "lang/check/check.h"
#include "store/memory_store.h"
#include "toy_runtime.gen.h"

namespace sluice::toy {
namespace toy_runtime_test {

constexpr std::string_view kLine = "  ToyRuntime: { spec: ./toy_runtime.concept }\n";

// The kit's files; suite.yaml with one line more.
Result<std::string> read(const std::string& path) {
  if (path.ends_with("toy_runtime.concept")) {
    std::ifstream file(std::string(kSourceDir) + "/tests/lang/toy/toy_runtime.concept");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  auto text = deploy::read_kit_file(path);
  if (text && path.ends_with("suite.yaml")) text->insert(text->find("\nsyncs:") + 1, std::string(kLine) + "\n");
  return text;
}

class Toy : public testing::Test {
 protected:
  Toy() {
    lang::Checked checked = lang::check(lang::load_kit(std::string(deploy::kKitFolder), read));
    std::string told;
    for (const lang::Diagnostic& each : checked.diagnostics) {
      // The toy waits for nothing, so what goes round through it would never rest; a real provider has effects.
      if (each.rule != "cycle") told += each.file + ": " + each.text + "\n";
    }
    if (!checked.kit) throw std::runtime_error(told);
    EXPECT_EQ(told, "");
    std::vector<const lang::ConceptBinding*> concepts = deploy::concepts();
    concepts.push_back(&toy_runtime::toy_runtime_binding());
    auto started = engine::Engine::start({.store = &store,
                                          .clock = &clock,
                                          .random = &random,
                                          .tools = &tools,
                                          .concepts = concepts,
                                          .fatal = [](const std::string& why) { throw std::runtime_error(why); }},
                                         std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
    if (!started) throw std::runtime_error(to_string(started.error()));
    engine = *std::move(started);
  }

  engine::End run(const std::string& action, const json::object& input) {
    auto outcome = engine->invoke({.action = action, .input = input, .caller = {.name = "test"}});
    if (!outcome) throw std::runtime_error(to_string(outcome.error()));
    return outcome->end;
  }
  std::string provision(const std::string& config) {
    engine::End end = run("Runtime/provision", {{"concept", "shop"}, {"runtimeType", "toy"}, {"config", config}});
    EXPECT_EQ(end.variant, "ok");
    return std::string(end.fields.at("instance").as_string());
  }

  RealClock clock;
  RealRandom random;
  lang::Tools tools;
  store::MemoryStore store;
  std::unique_ptr<engine::Engine> engine;
};

TEST_F(Toy, IsRoutedAndAnswered) {
  std::string instance = provision("small");
  engine::End deployed = run("Runtime/deploy", {{"instance", instance}, {"artifact", "/bundle"}, {"version", "2"}});
  EXPECT_EQ(deployed.variant, "ok");
  EXPECT_EQ(deployed.fields.at("endpoint"), "http://toy.example");
  EXPECT_EQ(run("Runtime/healthCheck", {{"instance", instance}}).variant, "ok");
  EXPECT_EQ(run("Runtime/destroy", {{"instance", instance}}).variant, "ok");
}

TEST_F(Toy, FailsInTheWordsOfRuntime) {
  engine::End end = run("Runtime/provision", {{"concept", "shop"}, {"runtimeType", "toy"}, {"config", "huge"}});
  EXPECT_EQ(end.variant, "provisionFailed");
  EXPECT_EQ(end.fields.at("reason"), "there is no room for huge");
  std::string instance = provision("small");
  engine::End torn = run("Runtime/deploy", {{"instance", instance}, {"artifact", "/bundle"}, {"version", "thin"}});
  EXPECT_EQ(torn.variant, "deployFailed");
  EXPECT_EQ(torn.fields.at("reason"), "it is too thin");
}

}  // namespace toy_runtime_test
}  // namespace sluice::toy
