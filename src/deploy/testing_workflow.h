// The fixture of tests of whole workflows: the kit on an engine in memory, with the environments local and prod.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <set>
#include <string>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "deploy/testing_kit_engine.h"
#include "deploy/testing_up.h"
#include "env.gen.h"

namespace sluice::deploy {

class WorkflowTest : public testing::Test {
 protected:
  WorkflowTest() {
    kit.tools() = world.tools();
    for (const char* name : {"local", "prod"}) {
      kit.put("Env", name,
              to_json(env::EnvRecord{.name = name,
                                     .generation = 1,
                                     .runtimeType = "local",
                                     .secretsType = "store",
                                     .retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5}}));
      kit.put_element("Env.packs", name, 0,
                      to_json(env::EnvPack{.slot = "deployer", .kind = "sluice.deployer.local-process@1.0.0"}));
    }
  }

  engine::End up(const std::string& archive, json::object more = {}) {
    json::object input{{"environment", "local"}, {"archive", archive}};
    for (const auto& each : more) input[each.key()] = each.value();
    return kit.run("Deployment/up", input);
  }
  static std::string text(const engine::End& end, const char* field) {
    return std::string(end.fields.at(field).as_string());
  }
  // "1=100% 2=0%" of the answer's entries, by sequence.
  std::string entries_of(const engine::End& end) {
    std::string all;
    for (const json::value& each : end.fields.at("entries").as_array()) {
      all += (all.empty() ? "" : " ") + write(revision(std::string(each.at("revision").as_string())).at("sequence")) +
             "=" + write(each.at("weightBps"));
    }
    return all;
  }
  json::value revision(const std::string& id) { return kit.row("Revision", id); }
  std::string lifecycle(const engine::End& end) {
    return std::string(revision(text(end, "revision")).at("lifecycle").as_string());
  }
  json::value deployment(const engine::End& end) { return kit.row("Deployment", text(end, "deployment")); }
  // What it was staged with.
  json::value settings(const engine::End& end) {
    return parse_json(std::string(revision(text(end, "revision")).at("config").as_string())).value().root;
  }

  // The open analysis of a revision that was not seen before.
  std::string analysis(const std::string& revision) {
    std::string found;
    EXPECT_TRUE(eventually([&] {
      for (const auto& [key, row] : kit.rows("Telemetry[A]")) {
        if (row.at("subject") == json::value(revision) && !seen.contains(key)) found = key;
      }
      return !found.empty();
    })) << "no analysis of "
        << revision;
    seen.insert(found);
    return found;
  }
  void say(const std::string& id, const std::string& verdict, const std::string& reason = "worse") {
    engine::End end = kit.run("Telemetry/report", {{"analysis", id},
                                                   {"verdict", verdict},
                                                   {"reason", reason},
                                                   {"errorRate", 0.0},
                                                   {"latencyP99", 1},
                                                   {"sampleSize", 1'000},
                                                   {"samplesNeeded", 10},
                                                   {"endpoint", "main"}});
    EXPECT_EQ(end.variant, "ok");
  }
  std::set<std::string> seen;  // analyses that were answered

  TestingFolder folder;
  UpTools world{folder.path()};
  std::function<void()> before_deploy = [] {};
  KitEngine kit{concepts_with_files_for_programs(folder.path(), [this] { before_deploy(); })};
};

}  // namespace sluice::deploy
