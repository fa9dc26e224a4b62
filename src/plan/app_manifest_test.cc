// The deploy manifest: the whole of what it can say, every fault at once, overlays.
#include "plan/app_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "plan/planner.h"

namespace sluice::plan {
namespace app_manifest_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// As the design of the manifest has it, word for word.
constexpr std::string_view kWhole = R"(app:
  name: my-app
  version: 2.1.0

# ─── EXISTING ───────────────────────────────────────
kits:
  - name: content-management
    path: ./kits/content-management
    overrides:
      DefaultTitleField: ./syncs/custom-title.sync

runtimes:
  server:
    type: ecs-fargate
    engine: true
    storage: postgres

concepts:
  Theme:
    runtime: server
    storage: postgres
    query: lite

# ─── NEW: ENVIRONMENTS ─────────────────────────────
environments:
  base:
    runtimes:
      server:
        type: ecs-fargate
        cpu: 256
        memory: 512
    observability:
      endpoint: ${OTEL_ENDPOINT}
      samplingRate: 0.1

  staging:
    extends: base
    overrides:
      runtimes:
        server:
          cpu: 256
          memory: 256
      observability:
        samplingRate: 1.0       # capture everything in staging
    secrets:
      provider: dotenv
      path: .env.staging

  production:
    extends: base
    overrides:
      runtimes:
        server:
          cpu: 1024
          memory: 2048
          minInstances: 2
    secrets:
      provider: aws-sm
      prefix: /myapp/prod/

# ─── NEW: ROLLOUT STRATEGY ─────────────────────────
rollout:
  strategy: canary
  steps:
    - weight: 5
      pause: 300               # 5 min at 5% traffic
    - weight: 25
      pause: 600               # 10 min at 25%
    - weight: 50
      pause: 900               # 15 min at 50%
    - weight: 100
  analysis:
    interval: 60               # check every 60s
    maxErrorRate: 0.01         # abort if >1% errors
    maxLatencyP99: 500         # abort if p99 >500ms
  autoRollback: true

# ─── NEW: INFRASTRUCTURE PROVIDER ──────────────────
infrastructure:
  iac:
    provider: pulumi           # or terraform, cloudformation
    stateBackend: s3://my-bucket/pulumi-state
  gitops:
    controller: argocd         # or flux, or omit for direct deploy
    repo: git@github.com:myorg/deploy-manifests.git
    path: environments/${environment}

# ─── NEW: OBSERVABILITY ────────────────────────────
observability:
  provider: otlp
  endpoint: ${OTEL_ENDPOINT}
  samplingRate: 0.1
  deployMarkers:
    enabled: true
    backends:
      - type: datadog
        apiKey: ${DD_API_KEY}
      - type: grafana
        endpoint: ${GRAFANA_ENDPOINT}
  tracing:
    propagation: w3c           # W3C TraceContext headers
    conceptSpans: true         # auto-span per action invocation
    syncSpans: true            # auto-span per sync evaluation
    storageSpans: false        # opt-in: span per storage operation

# ─── NEW: MIGRATION POLICY ─────────────────────────
migrations:
  autoExpand: true             # automatically expand schema on version bump
  autoMigrate: true            # automatically migrate data
  autoContract: false          # require manual trigger for contraction
  backupBefore: true           # snapshot storage before migration
)";

ParsedManifest parsed(std::string_view text, std::map<std::string, std::string> variables = {}) {
  return parse_app_manifest(
      text, "app.deploy.yaml",
      {.environment = "staging", .variable = [variables](const std::string& name) -> std::optional<std::string> {
         auto found = variables.find(name);
         if (found == variables.end()) return std::nullopt;
         return found->second;
       }});
}

std::vector<std::string> told(const ParsedManifest& manifest) {
  std::vector<std::string> all;
  for (const Error& each : manifest.faults) all.push_back(to_string(each));
  return all;
}

TEST(AppManifest, TheWholeOfItParses) {
  auto whole = parsed(kWhole, {{"OTEL_ENDPOINT", "http://otel.example:4317"},
                               {"DD_API_KEY", "hidden"},
                               {"GRAFANA_ENDPOINT", "http://grafana.example"}});
  ASSERT_THAT(told(whole), IsEmpty());
  const AppManifest& manifest = *whole.manifest;
  EXPECT_EQ(manifest.rollout->steps.size(), 4U);
  EXPECT_EQ(manifest.infrastructure->gitops->path, "environments/staging");
  EXPECT_EQ(manifest.observability->endpoint, "http://otel.example:4317");
  EXPECT_EQ(manifest.observability->deployMarkers->backends[0].apiKey, "${DD_API_KEY}") << "secrets stay references";
  EXPECT_EQ(whole.used, (std::map<std::string, std::string>{{"GRAFANA_ENDPOINT", "http://grafana.example"},
                                                            {"OTEL_ENDPOINT", "http://otel.example:4317"}}));
}

TEST(AppManifest, ItsPlanNamesEachMissingProviderWithItsLine) {
  auto whole = parsed(kWhole, {{"OTEL_ENDPOINT", "o"}, {"DD_API_KEY", "d"}, {"GRAFANA_ENDPOINT", "g"}});
  auto resolved = resolve_overlays(whole.document, "production");
  ASSERT_TRUE(resolved.resolved);
  const Situation local{.environment = "production", .packs = {{"deployer", "sluice.deployer.local-process@1.0.0"}}};
  EXPECT_THAT(
      make_plan(resolved.resolved->manifest, whole.document, local).missing,
      ElementsAre(HasSubstr("app.deploy.yaml:14:5: the runtime ecs-fargate is served by no pack: the slot deployer"),
                  HasSubstr(":16:5: the storage postgres is served by no pack"),
                  HasSubstr(":81:5: the iac provider pulumi is served by no pack: nothing is bound to the slot"),
                  HasSubstr(":84:5: the gitops controller argocd is served by no pack"),
                  HasSubstr(":58:7: the secrets provider aws-sm is served by no pack"),
                  HasSubstr(":91:3: an endpoint is an http:// or https:// URL"),
                  HasSubstr(":98:9: an endpoint is an http:// or https:// URL"),
                  HasSubstr(":21:5: the storage postgres is served by no pack"),
                  HasSubstr(":19:3: nothing says what Theme is made of (folder, bundle, image)")));
}

TEST(AppManifest, EveryUnsetVariableIsNamedAtOnce) {
  EXPECT_THAT(
      told(parsed(kWhole)),
      ElementsAre("app.deploy.yaml:33:7: /environments/base/observability/endpoint: ${OTEL_ENDPOINT} is not set",
                  "app.deploy.yaml:91:3: /observability/endpoint: ${OTEL_ENDPOINT} is not set",
                  "app.deploy.yaml:97:9: /observability/deployMarkers/backends/0/apiKey: ${DD_API_KEY} is not set",
                  "app.deploy.yaml:99:9: /observability/deployMarkers/backends/1/endpoint: ${GRAFANA_ENDPOINT} "
                  "is not set"));
}

TEST(AppManifest, TellsEveryFaultAtItsPlace) {
  EXPECT_THAT(told(parsed(R"(app: {name: shop}
kits:
  - {name: a, path: ./a, colour: red}
  - {path: ./b}
components:
  web: {folder: ./web, prot: 1, replicas: many}
  api: {needs: [db]}
rollout: {strategy: sideways}
)")),
              ElementsAre("app.deploy.yaml:1:1: /app/version: missing field, expected a string",
                          HasSubstr(":3:26: /kits/0/colour: unknown field"),
                          HasSubstr(":4:5: /kits/1/name: missing field, expected a string"),
                          HasSubstr(":6:24: /components/web/prot: unknown field"),
                          HasSubstr(":6:33: /components/web/replicas: expected an integer")));
}

TEST(AppManifest, TellsEveryBrokenRule) {
  EXPECT_THAT(told(parsed(R"(app: {name: shop, version: "1"}
components:
  web: {folder: ./web, bundle: x.bundle, needs: [db], runtime: cloud}
  api: {routes: [{path: api}], folder: ./api}
rollout: {strategy: sideways, steps: [{weight: 50}, {weight: 20}]}
)")),
              ElementsAre(HasSubstr(":3:3: /components/web: only one of"),
                          HasSubstr("/components/web/needs/0: there is no component db"),
                          HasSubstr("/components/web/runtime: there is no runtime cloud"),
                          HasSubstr("/components/api/routes/0/path: a path begins with /"),
                          HasSubstr("/rollout/strategy: expected canary"),
                          HasSubstr("/rollout/steps/1/weight: a step's weight is above")));
}

TEST(AppManifest, RollingHasABatchAndNoSteps) {
  auto rollout = [](const std::string& text) {
    return told(
        parsed("app: {name: shop, version: \"1\"}\ncomponents: {web: {folder: ./web}}\nrollout: " + text + "\n"));
  };
  EXPECT_THAT(rollout("{strategy: rolling, batch: 2, pause: 30}"), ElementsAre());
  EXPECT_THAT(rollout("{strategy: rolling, steps: [{weight: 50}]}"),
              ElementsAre(HasSubstr("/rollout/steps: rolling makes its steps of the replicas")));
  EXPECT_THAT(rollout("{strategy: rolling, batch: 0}"), ElementsAre(HasSubstr("/rollout/batch: from 1 to 1000")));
  EXPECT_THAT(rollout("{strategy: canary, batch: 2, pause: 3}"),
              ElementsAre(HasSubstr("/rollout/batch: a batch is of rolling alone"),
                          HasSubstr("/rollout/pause: a pause of all steps is of rolling alone")));
}

TEST(AppManifest, RefusesWhatIsTooLarge) {
  EXPECT_THAT(told(parsed(std::string(kMaxManifestBytes + 1, '#'))), ElementsAre(HasSubstr("a manifest has at most")));
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += std::string(i == 0 ? "*" : ", *") + static_cast<char>(c - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(told(parsed(bomb)), SizeIs(1));
}

TEST(AppManifest, OverlaysAreLaidOverWhatTheyExtend) {
  auto whole = parsed(kWhole, {{"OTEL_ENDPOINT", "o"}, {"DD_API_KEY", "d"}, {"GRAFANA_ENDPOINT", "g"}});
  auto staging = resolve_overlays(whole.document, "staging"),
       production = resolve_overlays(whole.document, "production");
  ASSERT_TRUE(staging.resolved && production.resolved);
  const Runtime& small = staging.resolved->manifest.runtimes.at("server");
  EXPECT_EQ(small.memory, 256U);
  EXPECT_EQ(small.storage, "postgres");
  EXPECT_EQ(staging.resolved->manifest.observability->samplingRate, 1.0);
  EXPECT_EQ(staging.resolved->manifest.secrets->provider, "dotenv");
  EXPECT_EQ(production.resolved->manifest.runtimes.at("server").minInstances, 2U);
  EXPECT_THAT(
      differences(*staging.resolved, "staging", *production.resolved, "production"),
      testing::Contains("/runtimes/server/memory  staging: 256 (environments/staging/overrides), production: 2048 "
                        "(environments/production/overrides)"));
}

ResolveOutcome resolved(const std::string& environments) {
  auto manifest = parsed("app: {name: a, version: '1'}\nruntimes: {server: {cpu: 1}}\nenvironments:\n" + environments);
  EXPECT_THAT(told(manifest), IsEmpty());
  return resolve_overlays(manifest.document, "prod");
}

TEST(AppManifest, ResolvingRefusesWhatCannotBe) {
  EXPECT_EQ(resolved("  prod: {extends: base}\n").unresolved->fault, ResolveFault::missing_base);
  EXPECT_THAT(resolved("  prod: {extends: a}\n  a: {extends: prod}\n").unresolved->details,
              ElementsAre("prod extends a extends prod"));
  std::string deep = "  prod: {extends: e1}\n";
  for (int i = 1; i < 9; ++i) deep += "  e" + std::to_string(i) + ": {extends: e" + std::to_string(i + 1) + "}\n";
  EXPECT_THAT(resolved(deep + "  e9: {}\n").unresolved->details, ElementsAre(HasSubstr("more than 8")));
  auto twice =
      resolved("  prod: {runtimes: {server: {cpu: 2}}, overrides: {runtimes: {server: {cpu: 3}}}}\n").unresolved;
  EXPECT_EQ(twice->fault, ResolveFault::conflicting);
  EXPECT_THAT(twice->details, ElementsAre("/runtimes/server/cpu: environments/prod/runtimes/server/cpu says 2, "
                                          "environments/prod/overrides/runtimes/server/cpu says 3"));
}

TEST(AppManifest, ItsTemplateParses) {
  auto manifest = parsed(app_manifest_template("shop", {{"web", "./web"}}));
  ASSERT_THAT(told(manifest), IsEmpty());
  EXPECT_EQ(manifest.manifest->components.at("web").folder, "./web");
}

}  // namespace app_manifest_test
}  // namespace sluice::plan
