// The engine's worked examples on concepts that stand in for the real ones: a routed request, a rollout's steps,
// guards over what is written, and a plan whose nodes run in parallel and are undone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace worked_examples_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string text_at(const json::object& from, const char* name) { return std::string(from.at(name).as_string()); }

// ------------------------------------------------------------------------------------------- routed and answered

const std::string kRuntime = R"(concept Runtime [R] {
  state {
    runtimes: set R
    status: R -> String
    endpoint: R -> option String
  }
  actions {
    action provision(concept: String, runtimeType: String, config: String) {
      runs: answered
      reversal: destroy
      -> ok(instance: R, endpoint: String)
      -> alreadyProvisioned(instance: R)
      -> provisionFailed(concept: String, runtimeType: String, reason: String)
    }
    action destroy(instance: R) {
      -> ok
    }
  }
}
)";
const std::string kLocalRuntime = R"(concept LocalRuntime [L] {
  actions {
    action provision(concept: String, config: String) {
      runs: effect
      retry: probe
      -> ok(endpoint: String)
      -> portInUse(port: Int)
    }
  }
}
)";
const std::string kRouting = R"(
sync RouteToLocal [eager]
  when { Runtime/provision: [ concept: ?c; runtimeType: "local"; config: ?cfg ] => requested }
  then { LocalRuntime/provision: [ concept: ?c; config: ?cfg ] }
sync LocalProvisioned [eager]
  when { LocalRuntime/provision: [] => ok[ endpoint: ?e ]
         caused by Runtime/provision: [] => requested as ?ask }
  then { answer ?ask => ok[ endpoint: ?e ] }
sync LocalPortInUse [eager]
  when { LocalRuntime/provision: [] => portInUse[ port: ?port ]
         caused by Runtime/provision: [ concept: ?c; runtimeType: ?t ] => requested as ?ask }
  then { answer ?ask => provisionFailed[ concept: ?c; runtimeType: ?t; reason: "port {{port}} is in use" ] }
)";

class RoutedAndAnswered : public testing::Test {
 protected:
  RoutedAndAnswered() {
    world.on("Runtime/provision").begin = [](const json::object& ask, lang::Rows& rows) -> lang::BegunAction {
      std::string id = text_at(ask, "concept");
      if (rows.get("Runtime", id)) return lang::Completion{"alreadyProvisioned", {{"instance", id}}};
      rows.put("Runtime", id, json::object{{"status", "provisioning"}});
      return lang::Started{};
    };
    world.on("Runtime/provision").finish = [](const json::object& ask, const lang::Ending& ending,
                                              lang::Rows& rows) -> lang::Ending {
      std::string id = text_at(ask, "concept");
      if (const auto* end = std::get_if<lang::EngineEnd>(&ending)) {
        rows.put("Runtime", id, json::object{{"status", "failed"}});
        return lang::Completion{"provisionFailed",
                                {{"concept", id}, {"runtimeType", ask.at("runtimeType")}, {"reason", end->message}}};
      }
      auto completion = std::get<lang::Completion>(ending);
      if (completion.variant == "ok") {
        rows.put("Runtime", id, json::object{{"status", "ready"}, {"endpoint", completion.fields.at("endpoint")}});
        completion.fields["instance"] = id;
      } else {
        rows.put("Runtime", id, json::object{{"status", "failed"}});
      }
      return completion;
    };
    world.on("LocalRuntime/provision").perform = [this](const json::value&, lang::Attempt&) -> lang::PerformedAction {
      return performed();
    };
  }

  World world{{kRuntime, kLocalRuntime}, kRouting};
  std::function<lang::Completion()> performed = [] {
    return lang::Completion{"ok", {{"endpoint", "http://a.example"}}};
  };
  const std::string ask = R"({"concept":"C","runtimeType":"local","config":"x"})";
};

TEST_F(RoutedAndAnswered, TakesTwoCommits) {
  Ulid flow = world.start("Runtime/provision", ask);
  EXPECT_THAT(world.ends(), ElementsAre("begin Runtime/provision", "begin LocalRuntime/provision"));
  EXPECT_EQ(world.row("Runtime", "C"), R"({"status":"provisioning"})");
  world.queue.run();
  world.turn();
  EXPECT_THAT(world.ends(), ElementsAre("begin Runtime/provision", "begin LocalRuntime/provision",
                                        "finish LocalRuntime/provision => ok", "finish Runtime/provision => ok"));
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0]->end, (End{"ok", object(R"({"endpoint":"http://a.example","instance":"C"})"), false}));
  EXPECT_EQ(world.row("Runtime", "C"), R"({"status":"ready","endpoint":"http://a.example"})");
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.run("Runtime/provision", ask).end.variant, "alreadyProvisioned");
  EXPECT_EQ(world.ends().back(), "begin Runtime/provision => alreadyProvisioned");
}

TEST_F(RoutedAndAnswered, APortInUseIsTheRequestsFailure) {
  performed = [] { return lang::Completion{"portInUse", {{"port", 8080}}}; };
  EXPECT_EQ(world.run("Runtime/provision", ask).end,
            (End{"provisionFailed", object(R"({"concept":"C","runtimeType":"local","reason":"port 8080 is in use"})"),
                 false}));
}

TEST_F(RoutedAndAnswered, AFaultIsWhatNobodyAnswers) {
  performed = []() -> lang::Completion { throw std::runtime_error("no such binary"); };
  Outcome outcome = world.run("Runtime/provision", ask);
  EXPECT_EQ(outcome.end.variant, "provisionFailed");
  EXPECT_TRUE(outcome.end.maybe_done);
  EXPECT_EQ(outcome.end.fields["reason"],
            "nothing is left that could answer Runtime/provision; last was LocalRuntime/provision => engine.fault; "
            "nearest: LocalPortInUse waits for `LocalRuntime/provision: [] => portInUse[ port: ?port ]`, "
            "LocalProvisioned waits for `LocalRuntime/provision: [] => ok[ endpoint: ?e ]`");
  EXPECT_EQ(world.row("Runtime", "C"), R"({"status":"failed"})");
}

// --------------------------------------------------------------------------------------- a rollout step, exactly once

const std::string kRollout = R"(concept Rollout [R] {
  state {
    rollouts: set R
    deployment: R -> String
    status: R -> String
    step: R -> Int
    pauseSeconds: R -> Int
    kit: R -> String
    environment: R -> String
    concept: R -> String
    window: R -> Int
    criteria: R -> { maxErrors: Int }
    judging: R -> option Request
    running: R -> option Request
  }
  actions {
    action begin(deployment: String) {
      -> ok(rollout: R)
    }
    action run(rollout: R) {
      runs: answered outside
      -> ok
      -> aborted
    }
    action advance(rollout: R, step: option Int) {
      -> ok(rollout: R, step: Int, entries: list { revision: String, weight: Int })
      -> complete(rollout: R)
      -> stale
    }
    action judge(rollout: R, step: Int) {
      runs: answered
      -> ok
      -> unhealthy(reason: String)
      -> stale
    }
    action pause(rollout: R) {
      -> ok(rollout: R)
    }
    action resume(rollout: R) {
      -> ok(rollout: R, step: Int)
    }
    action abort(rollout: R) {
      -> ok(rollout: R, entries: list { revision: String, weight: Int })
    }
  }
}
)";
const std::string kTrafficAndMore[] = {R"(concept Traffic [D] {
  actions {
    action set(deployment: D, entries: list { revision: String, weight: Int }) {
      -> ok(generation: Int)
    }
  }
}
)",
                                       R"(concept Router [R] {
  actions {
    action publish(deployment: String, generation: Int) {
      runs: effect
      retry: safe
      -> ok
    }
  }
}
)",
                                       R"(concept Health [H] {
  actions {
    action checkKit(kit: String, environment: String) {
      runs: effect
      retry: safe
      -> ok
    }
  }
}
)",
                                       R"(concept Telemetry [T] {
  actions {
    action analyze(concept: String, window: Int, criteria: { maxErrors: Int }) {
      runs: effect
      retry: safe
      -> ok(healthy: Bool)
      -> insufficientData
    }
  }
}
)"};
const std::string kRolloutSyncs = R"(
sync RunRollout           when { Rollout/begin: [] => ok[ rollout: ?r ] }                  then { Rollout/run: [ rollout: ?r ]  Rollout/advance: [ rollout: ?r; step: 0 ] }
sync ShiftTraffic         when { Rollout/advance: [] => ok[ rollout: ?r; entries: ?e ] }   where { Rollout: { ?r deployment: ?d } }
                          then { Traffic/set: [ deployment: ?d; entries: ?e ] }
sync PublishTraffic       when { Traffic/set: [ deployment: ?d ] => ok[ generation: ?g ] } then { Router/publish: [ deployment: ?d; generation: ?g ] }
sync JudgeAfterPublish    when { Router/publish: [] => ok[]  caused by Rollout/advance: [] => ok[ rollout: ?r; step: ?s ] }
                          then { Rollout/judge: [ rollout: ?r; step: ?s ] }
sync JudgeAfterResume     when { Rollout/resume: [] => ok[ rollout: ?r; step: ?s ] }       then { Rollout/judge: [ rollout: ?r; step: ?s ] }
sync SoakStep             when { Rollout/judge: [ rollout: ?r ] => requested }             where { Rollout: { ?r pauseSeconds: ?p } }
                          then { Timer/wait: [ name: "soak"; seconds: ?p ] }
sync HealthCheckAfterStep when { Timer/wait: [ name: "soak" ] => ok[]  caused by Rollout/judge: [ rollout: ?r ] => requested }
                          where { Rollout: { ?r kit: ?k; environment: ?env } }             then { Health/checkKit: [ kit: ?k; environment: ?env ] }
sync AdvanceOnHealthy     when { Health/checkKit: [] => ok[]  caused by Rollout/judge: [ rollout: ?r ] => requested }
                          where { Rollout: { ?r concept: ?c; window: ?w; criteria: ?x } }  then { Telemetry/analyze: [ concept: ?c; window: ?w; criteria: ?x ] }
sync LookAgain            when { Telemetry/analyze: [] => insufficientData[]  caused by Rollout/judge: [] => requested }
                          then { Timer/wait: [ name: "soak"; seconds: 60 ] }
sync StepPassed           when { Telemetry/analyze: [] => ok[ healthy: true ]  caused by Rollout/judge: [] => requested as ?j }  then { answer ?j => ok[] }
sync AdvanceOnMetrics     when { Rollout/judge: [ rollout: ?r; step: ?s ] => ok[] }        then { Rollout/advance: [ rollout: ?r; step: ?s ] }
sync StopOnPause          when { Rollout/pause: [] => ok[ rollout: ?r ] }  where { Rollout: { ?r judging: ?j } }  then { answer ?j => stale[] }
sync StopOnAbort          when { Rollout/abort: [] => ok[ rollout: ?r ] }  where { Rollout: { ?r judging: ?j } }  then { answer ?j => stale[] }
sync ReturnTraffic        when { Rollout/abort: [] => ok[ rollout: ?r; entries: ?e ] }     where { Rollout: { ?r deployment: ?d } }
                          then { Traffic/set: [ deployment: ?d; entries: ?e ] }
sync Aborted              when { Router/publish: [] => ok[]  caused by Rollout/abort: [] => ok[ rollout: ?r ] }
                          where { Rollout: { ?r running: ?x } }                            then { answer ?x => aborted[] }
sync Complete             when { Rollout/advance: [] => complete[ rollout: ?r ] }          where { Rollout: { ?r running: ?x } }
                          then { answer ?x => ok[] }
)";

class ARollout : public testing::Test {
 protected:
  ARollout() {
    auto row = [](lang::Rows& rows) { return rows.get("Rollout", "r1")->as_object(); };
    auto change = [row](lang::Rows& rows, const char* name, json::value value) {
      json::object changed = row(rows);
      changed[name] = std::move(value);
      rows.put("Rollout", "r1", changed);
    };
    world.on("Rollout/begin").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      json::object made = object(R"({"status":"running","step":0,"pauseSeconds":30,"kit":"k","environment":"e",
                                     "concept":"c","window":60,"criteria":{"maxErrors":1}})");
      made["deployment"] = ask.at("deployment");
      rows.put("Rollout", "r1", made);
      return {"ok", {{"rollout", "r1"}}};
    };
    world.on("Rollout/run").begin = [change](const json::object&, lang::Rows& rows) -> lang::BegunAction {
      change(rows, "running", json::value(rows.request().text()));
      return lang::Started{};
    };
    world.on("Rollout/advance").act = [row, change](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      int64_t step = row(rows).at("step").as_int64();
      if (ask.contains("step") && ask.at("step").as_int64() != step) return {"stale", {}};
      if (step == 3) return {"complete", {{"rollout", "r1"}}};
      change(rows, "step", step + 1);
      return {"ok", {{"rollout", "r1"}, {"step", step + 1}, {"entries", json::array{}}}};
    };
    world.on("Rollout/judge").begin = [row, change](const json::object& ask, lang::Rows& rows) -> lang::BegunAction {
      json::object now = row(rows);
      if (now.at("status") != "running" || now.at("step") != ask.at("step") || now.contains("judging")) {
        return lang::Completion{"stale", {}};
      }
      change(rows, "judging", json::value(rows.request().text()));
      return lang::Started{};
    };
    world.on("Rollout/judge").finish = [row](const json::object&, const lang::Ending& ending,
                                             lang::Rows& rows) -> lang::Ending {
      json::object now = row(rows);
      now.erase("judging");
      rows.put("Rollout", "r1", now);
      return ending;
    };
    auto to = [row, change](const char* status) {
      return [row, change, status](const json::object&, lang::Rows& rows) -> lang::Completion {
        change(rows, "status", status);
        return {"ok", {{"rollout", "r1"}, {"step", row(rows).at("step")}, {"entries", json::array{}}}};
      };
    };
    world.on("Rollout/pause").act = to("paused");
    world.on("Rollout/resume").act = to("running");
    world.on("Rollout/abort").act = to("aborted");
    world.on("Traffic/set").act = [](const json::object&, lang::Rows&) {
      return lang::Completion{"ok", {{"generation", 1}}};
    };
    world.on("Telemetry/analyze").perform = [this](const json::value&, lang::Attempt&) -> lang::PerformedAction {
      if (little_data-- > 0) return lang::Completion{"insufficientData", {}};
      return lang::Completion{"ok", {{"healthy", true}}};
    };
  }

  size_t count(const std::string& line) {
    std::vector<std::string> ends = world.ends();
    return static_cast<size_t>(std::ranges::count(ends, line));
  }

  World world{{kRollout, kTrafficAndMore[0], kTrafficAndMore[1], kTrafficAndMore[2], kTrafficAndMore[3]},
              kRolloutSyncs};
  int little_data = 0;
  const std::string ask = R"({"rollout":"r1"})";
};

TEST_F(ARollout, TakesEachStepOnce) {
  little_data = 1;
  Ulid flow = world.start("Rollout/begin", R"({"deployment":"d"})");
  world.settle();
  EXPECT_EQ(world.status(flow), "waiting");
  for (int i = 0; i < 4; ++i) {
    world.pass(29);
    world.restart();
    world.pass(31);
  }
  EXPECT_EQ(count("finish Health/checkKit => ok"), 4U);  // one of the three steps looked twice
  EXPECT_EQ(count("finish Telemetry/analyze => ok"), 3U);
  EXPECT_EQ(count("act Rollout/advance => ok"), 3U);
  EXPECT_EQ(count("act Rollout/advance => complete"), 1U);
  EXPECT_EQ(count("finish Rollout/judge => ok"), 3U);
  EXPECT_EQ(count("finish Rollout/run => ok"), 1U);
  EXPECT_EQ(world.status(flow), "ok");
}

TEST_F(ARollout, AManualAdvanceInBetweenMakesTheStepStale) {
  world.start("Rollout/begin", R"({"deployment":"d"})");
  world.settle();
  world.run("Rollout/advance", ask);
  EXPECT_EQ(count("begin Rollout/judge => stale"), 1U);  // there is a judge already
  world.settle_in_time();
  EXPECT_EQ(count("act Rollout/advance => ok"), 2U);
  EXPECT_EQ(world.ends().back(), "act Rollout/advance => stale");
  EXPECT_EQ(count("finish Router/publish => ok"), 2U);
}

TEST_F(ARollout, PauseEndsTheSoakAndResumeGoesOnInTheOperatorsFlow) {
  Ulid flow = world.start("Rollout/begin", R"({"deployment":"d"})");
  world.settle();
  Ulid pausing = world.run("Rollout/pause", ask).flow;
  EXPECT_THAT(world.ends(), Contains("finish Rollout/judge => stale"));
  EXPECT_EQ(world.step_of("Rollout/judge").by, "answer:" + sluice::to_string(pausing));
  EXPECT_THAT(world.ends().back(), HasSubstr("finish Timer/wait => engine.cancelled"));
  EXPECT_EQ(world.status(flow), "waiting");
  EXPECT_EQ(world.status(pausing), "ok");
  world.settle_in_time();
  EXPECT_EQ(count("begin Health/checkKit"), 0U);

  world.restart();
  Ulid resuming = world.start("Rollout/resume", ask);
  world.settle();
  EXPECT_EQ(world.status(resuming), "waiting");
  EXPECT_EQ(world.step_of("Rollout/judge").flow, resuming);
  world.settle_in_time();
  EXPECT_EQ(count("act Rollout/advance => complete"), 1U);
  EXPECT_EQ(count("finish Telemetry/analyze => ok"), 3U);
  EXPECT_EQ(world.step_of("Rollout/run").flow, flow);
  EXPECT_EQ(world.ends().back(), "finish Rollout/run => ok");
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST_F(ARollout, AbortIsAnsweredOnceTheTrafficIsBack) {
  Ulid flow = world.start("Rollout/begin", R"({"deployment":"d"})");
  world.settle();
  world.start("Rollout/abort", ask);
  EXPECT_THAT(world.ends(), Contains("finish Rollout/judge => stale"));
  EXPECT_EQ(world.status(flow), "waiting");
  EXPECT_EQ(count("finish Rollout/run => aborted"), 0U);
  world.settle();
  EXPECT_EQ(count("finish Rollout/run => aborted"), 1U);
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(count("begin Health/checkKit"), 0U);
}

}  // namespace worked_examples_test
}  // namespace sluice::engine
