// From a manifest and a situation to nodes.
#include "plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::plan {
namespace planner_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Planning : public testing::Test {
 protected:
  Planned plan(const std::string& text) {
    parsed = parse_app_manifest("app: {name: a, version: '1'}\n" + text, "app.deploy.yaml", {.environment = "local"});
    EXPECT_TRUE(parsed.manifest) << (parsed.faults.empty() ? "" : to_string(parsed.faults[0]));
    auto resolved = resolve_overlays(parsed.document, "local");
    return make_plan(resolved.resolved->manifest, parsed.document, situation);
  }
  void offer(const std::string& name, const std::string& version = "1") {
    situation.offered[name] = {.bundle = name, .version = version, .tree = "sha256:" + name + version};
  }
  void run(const std::string& name, const std::string& version = "1") {
    situation.running[name] = {
        .deployment = "d", .revision = "r", .version = version, .tree = "sha256:" + name + version};
  }
  static std::vector<std::string> nodes(const Planned& planned) {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < planned.graph.size(); ++i) {
      all.push_back(std::to_string(planned.graph.nodes[i].wave) + " " + planned.graph.id(i));
    }
    return all;
  }

  ParsedManifest parsed;
  Situation situation{.environment = "local", .packs = {{"deployer", "sluice.deployer.local-process@1.0.0"}}};
};

TEST_F(Planning, AComponentNeedsWhatItNeedsToServe) {
  offer("api");
  offer("web");
  EXPECT_THAT(nodes(plan("components: {api: {folder: a}, web: {folder: w, needs: [api]}}")),
              ElementsAre("0 deploy-concept/api", "1 configure-transport/api", "2 traffic-split/api",
                          "3 deploy-concept/web", "4 configure-transport/web", "5 traffic-split/web"));
}

TEST_F(Planning, WhatDoesNotChangeHasNoNodes) {
  offer("api");
  run("api");
  auto planned = plan("components: {api: {folder: a}}");
  EXPECT_THAT(nodes(planned), IsEmpty());
  EXPECT_EQ(planned.changes[0].sign, ChangeSign::keep);
  planned = plan("components: {api: {folder: a, settings: {COLOUR: red}}}");
  EXPECT_THAT(planned.changes[0].fields, ElementsAre(FieldChange{"settings.COLOUR", "", "\"red\""}));
  EXPECT_EQ(planned.graph.size(), 3U);
  planned = plan("components: {api: {folder: a, routes: [{path: /api}]}}");
  EXPECT_THAT(nodes(planned), ElementsAre("0 configure-transport/api", "1 traffic-split/api"));
}

TEST_F(Planning, ReplicasAndHealthAreCompared) {
  offer("api");
  auto fields = [&](const std::string& more) {
    auto planned = plan("components: {api: {folder: a" + more + "}}");
    EXPECT_EQ(planned.graph.size(), planned.changes[0].fields.empty() ? 0U : 3U)
        << "another number is another revision";
    return planned.changes[0].fields;
  };
  run("api");
  EXPECT_THAT(fields(", replicas: 3, health: {path: /ready}"),
              ElementsAre(FieldChange{"replicas", "as its bundle says", "3"},
                          FieldChange{"health", "as its bundle says", R"({"path":"/ready"})"}));
  situation.running["api"].replicas = 3;
  EXPECT_THAT(fields(", replicas: 3"), IsEmpty());
  EXPECT_THAT(fields(""), ElementsAre(FieldChange{"replicas", "3", "as its bundle says"}));
  situation.running["api"].scaled = 5;
  EXPECT_THAT(fields(", replicas: 3"), ElementsAre(FieldChange{"replicas", "5", "3"})) << "somebody has scaled it";
  situation.running["api"].replicas.reset();
  EXPECT_THAT(fields(""), IsEmpty()) << "a manifest that says nothing of it leaves it to sluice scale";
}

TEST_F(Planning, VersionsOfSecretsComeAlongAndChangeNothingAlone) {
  auto fields = [&] {
    const Planned planned = plan("components: {api: {folder: a}}");
    std::vector<std::string> all;
    for (const FieldChange& each : planned.changes.at(0).fields) {
      all.push_back(each.name + ": " + each.before + " > " + each.after);
    }
    return all;
  };
  offer("api");
  situation.offered["api"].secrets = {{"KEY", "version 2"}, {"TOKEN", std::string(kMissingSecret)}};
  situation.offered["api"].migrations = {{"0001_init", "expands with 1 statement"}};
  EXPECT_THAT(fields(), ElementsAre("version:  > 1", "bundle:  > sha256:api1", "secrets.KEY:  > version 2",
                                    "secrets.TOKEN:  > missing", "migrations.0001_init:  > expands with 1 statement"));
  run("api");
  situation.running["api"].secrets = {{"KEY", "version 1"}, {"TOKEN", std::string(kMissingSecret)}};
  EXPECT_THAT(fields(), IsEmpty());
  run("api", "0");
  situation.offered["api"].migrations.clear();
  situation.running["api"].secrets = {{"KEY", "version 1"}};
  situation.offered["api"].secrets = {{"KEY", "version 2"}};
  EXPECT_THAT(fields(),
              ElementsAre("version: 0 > 1", "bundle: sha256:api0 > sha256:api1", "secrets.KEY: version 1 > version 2"));
}

TEST_F(Planning, OnlyWhatIsWanted) {
  offer("api", "2");
  offer("web", "2");
  run("api");
  run("web");
  situation.only = {"web"};
  auto planned = plan("components: {api: {folder: a}, web: {folder: w, needs: [api]}}");
  EXPECT_THAT(nodes(planned), ElementsAre("0 deploy-concept/web", "1 configure-transport/web", "2 traffic-split/web"));
}

TEST_F(Planning, WhatLeavesGoesLastAndInReverse) {
  offer("web");
  situation.leaving = {{.component = "db", .deployment = "d1"},
                       {.component = "api", .deployment = "d2", .needs = {"db"}}};
  EXPECT_THAT(nodes(plan("components: {web: {folder: w}}")),
              ElementsAre("0 deploy-concept/web", "1 configure-transport/web", "2 traffic-split/web",
                          "3 remove-concept/api", "4 remove-concept/db"));
}

TEST_F(Planning, ACycleIsTold) {
  offer("a");
  offer("b");
  EXPECT_THAT(plan("components: {a: {folder: a, needs: [b]}, b: {folder: b, needs: [a]}}").cycle,
              testing::Contains("deploy-concept/a"));
}

TEST_F(Planning, EachMissingProviderIsNamedWithItsLine) {
  offer("web");
  EXPECT_THAT(
      plan(R"(runtimes:
  cloud: {type: ecs-fargate, storage: postgres}
components:
  web: {folder: w}
  other: {image: registry.example/other}
infrastructure:
  iac: {provider: pulumi}
)")
          .missing,
      ElementsAre("app.deploy.yaml:3:11: the runtime ecs-fargate is served by no pack: the slot deployer of local "
                  "has sluice.deployer.local-process@1.0.0",
                  "app.deploy.yaml:3:30: the storage postgres is served by no pack; there is local",
                  "app.deploy.yaml:8:9: the iac provider pulumi is served by no pack: nothing is bound to the slot "
                  "iac of local",
                  "app.deploy.yaml:6:3: there is no bundle of other"));
}

TEST_F(Planning, AMissingProviderThatAnOverlayNamesHasItsLine) {
  offer("web");
  EXPECT_THAT(plan(R"(runtimes:
  cloud: {type: local}
components:
  web: {folder: w}
environments:
  base: {secrets: {provider: aws-sm}}
  local: {extends: base, overrides: {runtimes: {cloud: {type: ecs-fargate}}}}
)")
                  .missing,
              ElementsAre(HasSubstr("app.deploy.yaml:8:57: the runtime ecs-fargate is served by no pack"),
                          HasSubstr("app.deploy.yaml:7:20: the secrets provider aws-sm is served by no pack")));
}

TEST_F(Planning, NothingIsDeployedWhereNothingDeploys) {
  offer("api");
  situation.packs.clear();
  EXPECT_THAT(plan("components: {api: {folder: a}}").missing,
              ElementsAre("app.deploy.yaml:2:14: api cannot run: nothing is bound to the slot deployer of local"));
  run("api");
  EXPECT_THAT(plan("components: {api: {folder: a}}").missing, IsEmpty()) << "what does not change runs already";
}

TEST_F(Planning, StorageIsMadeBeforeTheRevision) {
  offer("web");
  situation.offered["web"].storages = {"data"};
  situation.deployed = {{"mail", "2.0.0"}};
  EXPECT_THAT(nodes(plan("kits: [{name: mail}]\ncomponents: {web: {folder: w}}\n")),
              ElementsAre("0 external-dependency-check/mail", "1 provision-storage/web", "2 deploy-concept/web",
                          "3 configure-transport/web", "4 traffic-split/web"));
}

TEST_F(Planning, AnImageIsPlannedLikeAnyBundle) {
  offer("web");
  EXPECT_THAT(nodes(plan("components: {web: {image: 'registry.example/web:1'}}\n")),
              ElementsAre("0 deploy-concept/web", "1 configure-transport/web", "2 traffic-split/web"));
}

TEST_F(Planning, AKitOfOthersIsCheckedFirst) {
  offer("web");
  situation.deployed = {{"mail", "2.0.0"}};
  EXPECT_THAT(nodes(plan("kits: [{name: mail, version: 2.0.0}]\ncomponents: {web: {folder: w}}\n")),
              ElementsAre("0 external-dependency-check/mail", "1 deploy-concept/web", "2 configure-transport/web",
                          "3 traffic-split/web"));
  EXPECT_THAT(plan("kits: [{name: mail, version: 2.1.0}, {name: search}]\ncomponents: {web: {folder: w}}\n").missing,
              ElementsAre("app.deploy.yaml:2:21: the kit mail is needed in version 2.1.0, and local has 2.0.0",
                          "app.deploy.yaml:2:38: no plan has brought the kit search to local"));
  run("web");
  EXPECT_THAT(nodes(plan("kits: [{name: mail}]\ncomponents: {web: {folder: w}}\n")), IsEmpty());
}

TEST_F(Planning, WhatIsSaidOfTelemetryIsAChangeWithoutNodes) {
  const std::string text =
      "observability:\n  provider: otlp\n  endpoint: http://otel.example\n  samplingRate: 0.5\n"
      "  deployMarkers: {backends: [{type: datadog, apiKey: '${DD_API_KEY}'}]}\n"
      "  tracing: {propagation: none, conceptSpans: false, syncSpans: false}\n";
  auto planned = plan(text);
  EXPECT_THAT(planned.missing, IsEmpty());
  EXPECT_THAT(nodes(planned), IsEmpty());
  ASSERT_EQ(planned.changes.size(), 1U);
  EXPECT_EQ(planned.changes[0].sign, ChangeSign::create);
  EXPECT_EQ(planned.changes[0].component, "observability");
  EXPECT_THAT(planned.changes[0].fields,
              ElementsAre(FieldChange{"datadog", "", "https://api.datadoghq.com, key env:DD_API_KEY"},
                          FieldChange{"otlp", "",
                                      "http://otel.example, sampling 0.5, propagation none, no spans of actions, no "
                                      "spans of syncs"}));
  situation.observed = planned.observed;
  EXPECT_THAT(plan(text).changes, IsEmpty());
  planned = plan("observability: {endpoint: 'http://otel.example', deployMarkers: {enabled: false}}\n");
  EXPECT_EQ(planned.changes[0].sign, ChangeSign::change);
  EXPECT_FALSE(planned.observed[0].markers);
  planned = plan("");
  EXPECT_EQ(planned.changes[0].sign, ChangeSign::remove);
  EXPECT_THAT(planned.observed, IsEmpty());
}

TEST_F(Planning, TelemetryThatNobodyCanSendIsRefused) {
  auto refused = [&](const std::string& said) { return plan("observability: {" + said + "}\n").missing; };
  EXPECT_THAT(refused("provider: stdout"), ElementsAre(HasSubstr("is served by no pack")));
  EXPECT_THAT(refused("samplingRate: 1"),
              ElementsAre("app.deploy.yaml:2:1: it says how to trace, and no endpoint to send to"));
  const std::string endpoint = "endpoint: 'http://otel.example', ";
  EXPECT_THAT(refused("endpoint: otel.example"),
              ElementsAre(HasSubstr("an endpoint is an http:// or https:// URL, not otel.example")));
  EXPECT_THAT(refused(endpoint + "tracing: {storageSpans: true}"),
              ElementsAre(HasSubstr("no spans of what a storage")));
  EXPECT_THAT(refused(endpoint + "tracing: {propagation: b3}"), ElementsAre(HasSubstr("there is no propagation b3")));
  auto backend = [&](const std::string& said) { return refused("deployMarkers: {backends: [{" + said + "}]}"); };
  EXPECT_THAT(backend("type: fax"), ElementsAre(HasSubstr("there is no backend fax")));
  EXPECT_THAT(backend("type: grafana"), ElementsAre(HasSubstr("the backend grafana has no endpoint")));
  EXPECT_THAT(backend("type: datadog, apiKey: secret"), ElementsAre(HasSubstr("a key is never written down")));
  EXPECT_THAT(backend("type: datadog}, {type: datadog"), ElementsAre(HasSubstr("another endpoint for datadog")));
}

TEST_F(Planning, TransportsMustReachEachOther) {
  offer("a");
  offer("b");
  auto with = [&](const std::string& one, const std::string& other) {
    return plan("components: {a: {folder: a, transport: " + one + "}, b: {folder: b, transport: " + other +
                ", needs: [a]}}")
        .mismatches;
  };
  EXPECT_THAT(with("tcp", "http"), ElementsAre(HasSubstr("b speaks http and needs a, which speaks tcp")));
  EXPECT_THAT(with("stdio", "http"), IsEmpty());
  EXPECT_THAT(with("unix", "http2"), IsEmpty());
}

TEST_F(Planning, SyncsWaitForTheirConcepts) {
  offer("Theme");
  situation.kits = {
      {.name = "cms",
       .rules = {{.name = "Title", .concepts = {"Theme"}, .digest = "1"},
                 {.name = "Mail", .integration = true, .concepts = {"Theme"}, .external = "mail", .digest = "2"},
                 {.name = "Old", .digest = "3"}},
       .active = {{"Gone", "9"}, {"Old", "3"}}}};
  EXPECT_THAT(nodes(plan("concepts: {Theme: {folder: t}}")),
              ElementsAre("0 deploy-concept/Theme", "0 register-sync/cms.Gone", "0 external-dependency-check/mail",
                          "1 configure-transport/Theme", "2 traffic-split/Theme", "3 register-sync/cms.Title",
                          "3 register-integration/cms.Mail"));
  situation.only = {"Theme"};
  EXPECT_THAT(nodes(plan("concepts: {Theme: {folder: t}}")),
              ElementsAre("0 deploy-concept/Theme", "1 configure-transport/Theme", "2 traffic-split/Theme"));
}

}  // namespace planner_test
}  // namespace sluice::plan
