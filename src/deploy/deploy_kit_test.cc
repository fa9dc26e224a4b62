// The kit in the program is the one in the sources, has no faults, and has a handler for everything.
#include "deploy/deploy_kit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_source.h"
#include "lang/check/check.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::deploy {
namespace deploy_kit_test {

TEST(DeployKit, IsTheOneInTheSources) {
  std::set<std::string> expected, found;
  RealDisk disk;
  const std::filesystem::path folder = std::string(kSourceDir) + "/src/deploy";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string extension = entry.path().extension().string();
    if (extension != ".concept" && extension != ".sync" && extension != ".yaml") continue;
    std::string path = entry.path().lexically_relative(folder).string();
    expected.insert(path);
    EXPECT_EQ(read_kit_file(std::string(kKitFolder) + "/" + path).value(),
              read_file(disk, entry.path().string(), 1 << 20).value());
  }
  for (const KitFile& file : kit_files()) found.insert(std::string(file.path));
  EXPECT_EQ(found, expected);
  EXPECT_EQ(read_kit_file("built-in:deploy/none").error().message, "there is no built-in:deploy/none");
  EXPECT_EQ(read_kit_file("built-in:deploy").error().code, Code::not_found);
}

TEST(DeployKit, HasNoFaultsAndAHandlerForEveryAction) {
  lang::Checked checked =
      lang::check(lang::load_kit(std::string(kKitFolder), [](const std::string& path) { return read_kit_file(path); }));
  for (const lang::Diagnostic& each : checked.diagnostics) ADD_FAILURE() << each.file << ": " << each.text;
  ASSERT_TRUE(checked.kit);
  EXPECT_EQ(checked.kit->kit().suite.name, kKitName);
  ASSERT_EQ(checked.kit->symbols().concepts.size(), concepts().size() + lang::engine_concepts().size());
  for (const lang::ConceptBinding* binding : concepts()) {
    auto symbol = checked.kit->symbols().find_concept(binding->name);
    ASSERT_TRUE(symbol) << binding->name;
    for (const auto& action : checked.kit->symbols().concepts[*symbol].actions) {
      EXPECT_NE(binding->action(action.name), nullptr) << action.name;
    }
  }
}

// Flows go on under the rules that they began with: those of earlier versions must fit the concepts of this one.
TEST(DeployKit, TheRulesOfAnEarlierVersionStillFit) {
  RealDisk disk;
  std::string text = read_file(disk, std::string(kSourceDir) + "/tests/lang/deploy_0.sync", 1 << 20).value();
  lang::Diagnostics found;
  auto rules = lang::parse_sync(text, "deploy_0.sync", found);
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->rules.size(), 73U);
  lang::Kit kit = lang::load_kit(std::string(kKitFolder), [](const std::string& path) { return read_kit_file(path); });
  kit.derives = false;
  kit.syncs.clear();
  for (auto& each : rules->rules) kit.syncs.push_back({.tree = std::get<lang::Sync>(each)});
  for (const lang::Diagnostic& each : lang::check(std::move(kit)).diagnostics) {
    if (each.severity == lang::Diagnostic::Severity::error) ADD_FAILURE() << each.file << ": " << each.text;
  }
}

// What keeps what another concept has found out, is a part of something larger, or does a provider's work.
TEST(DeployKit, SaysWhatOnlySyncsCall) {
  lang::Checked checked =
      lang::check(lang::load_kit(std::string(kKitFolder), [](const std::string& path) { return read_kit_file(path); }));
  ASSERT_TRUE(checked.kit);
  std::string found;
  for (const lang::ConceptSymbol& each : checked.kit->symbols().concepts) {
    for (const lang::ActionSymbol& action : each.actions) {
      if (action.callers == lang::Callers::syncs) found += each.name + "/" + action.name + " ";
    }
  }
  EXPECT_EQ(
      found,
      "Access/noteUse Session/open Session/noteUse Session/endOf Webhook/notify Webhook/deliver "
      "Webhook/noteSeen Approval/ask Approval/announce Approval/conclude Backup/note Backup/noteTrouble "
      "Backup/restored Runtime/size Runtime/renew "
      "Runtime/reload "
      "Runtime/makeStorage Runtime/unmakeStorage Runtime/forgetStorage Runtime/observed Runtime/stored "
      "Runtime/moved Env/takeBack Env/awaitTurn Env/plan Env/seek Env/step Credentials/issue Credentials/publish "
      "Credentials/keep Credentials/check Credentials/forget Config/correct Config/resolve Config/absorb "
      "Config/forget Deployment/beginScale Deployment/checkRoutes Deployment/hold Deployment/take "
      "Deployment/serve Deployment/takeBack Deployment/nextBack Deployment/nameStorage Deployment/returnName "
      "Deployment/read Deployment/awaitTurn Deployment/prepare Deployment/route Deployment/proveRoutes "
      "Deployment/acknowledge Deployment/giveUp Revision/compare Revision/pick Revision/retire "
      "Revision/reviveNext Revision/endNext Revision/fetch Revision/inspect Revision/examine Revision/wants "
      "Revision/holdSecrets Revision/compareSecrets "
      "Revision/entrust Revision/fail Revision/standIn Revision/move Revision/tidy Revision/free "
      "Revision/forget Migration/attend Migration/stall Migration/prepare Migration/pursue Migration/step "
      "Traffic/move Traffic/findBack Traffic/named Traffic/look Traffic/drop Traffic/forget "
      "Router/drain "
      "Rollout/run Rollout/awaitTurn Rollout/prepare Rollout/size Rollout/judge Rollout/watch Rollout/recede "
      "Rollout/returned Rollout/shrink Rollout/resize Rollout/fail Rollout/close Rollout/nextBack "
      "Rollout/drop Rollout/forget Telemetry/adopt Telemetry/analyze Health/sendThrough Health/tryInvariant "
      "Health/suspect "
      "Health/expect Health/found Health/forget DeployPlan/withhold DeployPlan/awaitTurn DeployPlan/start "
      "DeployPlan/run DeployPlan/undoNext DeployPlan/undo DeployPlan/register DeployPlan/restore "
      "DeployPlan/raise DeployPlan/evidence "
      "DeployPlan/promotable Usage/warmed Usage/cooled Cluster/keep Cluster/prepare Cluster/apply Cluster/ready "
      "Cluster/prune Cluster/settle Definition/read Definition/keep Definition/undo Release/compose Release/cut "
      "Release/put "
      "Release/drop Pipeline/put Settings/put Pin/assess Pin/move Pin/render Pin/witness Pin/drifted Pin/arrive "
      "Pin/note "
      "GitSource/leave GitSource/fetch Secret/resolve "
      "Secret/expect Secret/renew "
      "Secret/stalled Secret/gather Secret/collect Secret/combine Registry/prove Registry/keep "
      "Registry/forget Registry/locate Registry/fetch SecretStore/fetch SecretStore/head SecretStore/put "
      "SecretStore/rotate SecretStore/remove SecretStore/rekey EnvProvider/fetch EnvProvider/head "
      "DotenvProvider/fetch DotenvProvider/head VaultProvider/fetch VaultProvider/head VaultProvider/put "
      "VaultProvider/remove LocalCa/issue LocalCa/renew Acme/issue Acme/renew LocalRuntime/provision "
      "LocalRuntime/deploy "
      "LocalRuntime/rollback "
      "LocalRuntime/scale LocalRuntime/renew LocalRuntime/reload LocalRuntime/release LocalRuntime/destroy "
      "LocalRuntime/makeStorage LocalRuntime/unmakeStorage LocalRuntime/forgetStorage "
      "LocalRuntime/forgetImages LocalRuntime/check LocalCredentials/inspect LocalCredentials/advise "
      "K8sRuntime/provision K8sRuntime/deploy K8sRuntime/rollback K8sRuntime/scale K8sRuntime/renew K8sRuntime/tidy "
      "K8sRuntime/destroy K8sRuntime/check K8sRuntime/entrust K8sCredentials/inspect K8sCredentials/issue ");
}

}  // namespace deploy_kit_test
}  // namespace sluice::deploy
