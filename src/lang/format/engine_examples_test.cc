// The engine's worked examples, as a deployment would write them: each parses without a diagnostic and has exactly
// one canonical form. They stand here as text, so that a change of the language shows in what it does to real rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/format/format.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::lang {
namespace engine_examples_test {

// Checks that `text` holds the rules `names`, without even a warning, and formats as `canonical`, which is final.
void expect_canonical(std::string_view text, const std::vector<std::string>& names, std::string_view canonical) {
  Diagnostics found;
  auto file = parse_sync(text, "example.sync", found);
  EXPECT_EQ(render(found, text), "");
  ASSERT_TRUE(file);
  std::vector<std::string> written;
  for (const auto& rule : file->rules) {
    written.push_back(std::visit([](const auto& one) { return one.name.text; }, rule));
  }
  EXPECT_EQ(written, names);
  EXPECT_EQ(format(*file), canonical);
  auto again = parse_sync(canonical, "canonical.sync", found);
  EXPECT_EQ(render(found, canonical), "");
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again == *file);
  EXPECT_EQ(format(*again), canonical);
}

TEST(EngineExamples, RoutedAndAnswered) {
  expect_canonical(R"(# The coordination concept asks; the provider's outcome answers.
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
)",
                   {"RouteToLocal", "LocalProvisioned", "LocalPortInUse"},
                   R"(# The coordination concept asks; the provider's outcome answers.
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
)");
}

TEST(EngineExamples, ARolloutStepExactlyOnce) {
  expect_canonical(
      R"(# One judge is open at a time, and its answer moves the rollout by one step.
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
sync StopJudging          when { Rollout/pause: [ rollout: ?r ] => ok[] }  where { Rollout: { ?r judging: ?j } }  then { answer ?j => stale[] }
)",
      {"RunRollout", "ShiftTraffic", "PublishTraffic", "JudgeAfterPublish", "JudgeAfterResume", "SoakStep",
       "HealthCheckAfterStep", "AdvanceOnHealthy", "LookAgain", "StepPassed", "AdvanceOnMetrics", "StopJudging"},
      R"(# One judge is open at a time, and its answer moves the rollout by one step.
sync RunRollout
  when { Rollout/begin: [] => ok[ rollout: ?r ] }
  then { Rollout/run: [ rollout: ?r ]
         Rollout/advance: [ rollout: ?r; step: 0 ] }
sync ShiftTraffic
  when { Rollout/advance: [] => ok[ rollout: ?r; entries: ?e ] }
  where { Rollout: { ?r deployment: ?d } }
  then { Traffic/set: [ deployment: ?d; entries: ?e ] }
sync PublishTraffic
  when { Traffic/set: [ deployment: ?d ] => ok[ generation: ?g ] }
  then { Router/publish: [ deployment: ?d; generation: ?g ] }
sync JudgeAfterPublish
  when { Router/publish: [] => ok[]
         caused by Rollout/advance: [] => ok[ rollout: ?r; step: ?s ] }
  then { Rollout/judge: [ rollout: ?r; step: ?s ] }
sync JudgeAfterResume
  when { Rollout/resume: [] => ok[ rollout: ?r; step: ?s ] }
  then { Rollout/judge: [ rollout: ?r; step: ?s ] }
sync SoakStep
  when { Rollout/judge: [ rollout: ?r ] => requested }
  where { Rollout: { ?r pauseSeconds: ?p } }
  then { Timer/wait: [ name: "soak"; seconds: ?p ] }
sync HealthCheckAfterStep
  when { Timer/wait: [ name: "soak" ] => ok[]
         caused by Rollout/judge: [ rollout: ?r ] => requested }
  where { Rollout: { ?r kit: ?k; environment: ?env } }
  then { Health/checkKit: [ kit: ?k; environment: ?env ] }
sync AdvanceOnHealthy
  when { Health/checkKit: [] => ok[]
         caused by Rollout/judge: [ rollout: ?r ] => requested }
  where { Rollout: { ?r concept: ?c; window: ?w; criteria: ?x } }
  then { Telemetry/analyze: [ concept: ?c; window: ?w; criteria: ?x ] }
sync LookAgain
  when { Telemetry/analyze: [] => insufficientData[]
         caused by Rollout/judge: [] => requested }
  then { Timer/wait: [ name: "soak"; seconds: 60 ] }
sync StepPassed
  when { Telemetry/analyze: [] => ok[ healthy: true ]
         caused by Rollout/judge: [] => requested as ?j }
  then { answer ?j => ok[] }
sync AdvanceOnMetrics
  when { Rollout/judge: [ rollout: ?r; step: ?s ] => ok[] }
  then { Rollout/advance: [ rollout: ?r; step: ?s ] }
sync StopJudging
  when { Rollout/pause: [ rollout: ?r ] => ok[] }
  where { Rollout: { ?r judging: ?j } }
  then { answer ?j => stale[] }
)");
}

TEST(EngineExamples, GuardsOverEntries) {
  expect_canonical(R"(guard OnlyReadyRevisionsGetTraffic
  over    { Traffic.entries: { ?d revision: ?v } }            # whichever action would write them
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v; message: "{{v}} is not a ready revision of {{d}}; next: sluice revisions warm {{v}}" ]
guard RoutedRevisionStays
  before { Revision/archive: [ revision: ?v ] }   require { no Traffic.entries: { revision: ?v } }   else inUse[ revision: ?v ]
guard OnlyReadyRevisionsAreSet
  before { Traffic/set: [ deployment: ?d; entries: ?es ] } where { each(?es as { revision: ?v }) }  # arguments alone
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } } else notReady[ revision: ?v ]
)",
                   {"OnlyReadyRevisionsGetTraffic", "RoutedRevisionStays", "OnlyReadyRevisionsAreSet"},
                   R"(guard OnlyReadyRevisionsGetTraffic
  over { Traffic.entries: { ?d revision: ?v } }  # whichever action would write them
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v;
      message: "{{v}} is not a ready revision of {{d}}; next: sluice revisions warm {{v}}" ]
guard RoutedRevisionStays
  before { Revision/archive: [ revision: ?v ] }
  require { no Traffic.entries: { revision: ?v } }
  else inUse[ revision: ?v ]
guard OnlyReadyRevisionsAreSet
  before { Traffic/set: [ deployment: ?d; entries: ?es ] }
  where { each(?es as { revision: ?v }) }  # arguments alone
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v ]
)");
}

TEST(EngineExamples, APlansNodesRunInParallel) {
  expect_canonical(
      R"(sync StartNodes   when { DeployPlan/execute: [ plan: ?p ] => requested }  where { DeployPlan.frontier: { ?p node: ?n; kind: ?k; target: ?t } }
                  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync NextNodes    when { DeployPlan/run: [ plan: ?p ] => ok[ ready: ?next ] }  where { each(?next as { node: ?n, kind: ?k, target: ?t }) }
                  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync DeployNode   when { DeployPlan/run: [ plan: ?p; kind: "deploy-concept"; target: ?c ] => requested }
                  where { DeployPlan.components: { ?p concept: ?c; instance: ?i; artifact: ?a; version: ?v } }
                  then { Runtime/deploy: [ instance: ?i; artifact: ?a; version: ?v ] }
sync NodeDeployed when { Runtime/deploy: [] => ok[]  caused by DeployPlan/run: [ kind: "deploy-concept" ] => requested as ?node }
                  then { answer ?node => ok[] }          # a failure answers failed; each kind of node has such a pair
sync PlanComplete when { DeployPlan/run: [] => ok[ phase: "complete" ]  caused by DeployPlan/execute: [] => requested as ?x }  then { answer ?x => ok[] }
sync PlanBroken   when { DeployPlan/run: [ plan: ?p ] => [ phase: "broken" ]  caused by DeployPlan/execute: [] => requested }
                  then { DeployPlan/rollback: [ plan: ?p ] }   # the end of the rollback answers execute
)",
      {"StartNodes", "NextNodes", "DeployNode", "NodeDeployed", "PlanComplete", "PlanBroken"},
      R"(sync StartNodes
  when { DeployPlan/execute: [ plan: ?p ] => requested }
  where { DeployPlan.frontier: { ?p node: ?n; kind: ?k; target: ?t } }
  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync NextNodes
  when { DeployPlan/run: [ plan: ?p ] => ok[ ready: ?next ] }
  where { each(?next as { node: ?n, kind: ?k, target: ?t }) }
  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync DeployNode
  when { DeployPlan/run: [ plan: ?p; kind: "deploy-concept"; target: ?c ] => requested }
  where { DeployPlan.components: { ?p concept: ?c; instance: ?i; artifact: ?a; version: ?v } }
  then { Runtime/deploy: [ instance: ?i; artifact: ?a; version: ?v ] }
sync NodeDeployed
  when { Runtime/deploy: [] => ok[]
         caused by DeployPlan/run: [ kind: "deploy-concept" ] => requested as ?node }
  then { answer ?node => ok[] }  # a failure answers failed; each kind of node has such a pair
sync PlanComplete
  when { DeployPlan/run: [] => ok[ phase: "complete" ]
         caused by DeployPlan/execute: [] => requested as ?x }
  then { answer ?x => ok[] }
sync PlanBroken
  when { DeployPlan/run: [ plan: ?p ] => [ phase: "broken" ]
         caused by DeployPlan/execute: [] => requested }
  then { DeployPlan/rollback: [ plan: ?p ] }  # the end of the rollback answers execute
)");
}

}  // namespace engine_examples_test
}  // namespace sluice::lang
