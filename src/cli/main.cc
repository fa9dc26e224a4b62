// The program: gives cli/ the command line and the concepts that it can run, and exits with what it says.
#include <csignal>
#include <iostream>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "cli/all_commands.h"
#include "cli/app.h"
#include "crypto/key_file.h"
#include "deploy/build_bundle.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/cookie_keys.h"
#include "deploy/deploy_kit.h"
#include "deploy/judge_watch.h"
#include "deploy/local_means.h"
#include "deploy/pack_keeper.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_watch.h"
#include "deploy/providers/secret/store/sealed_store.h"
#include "deploy/providers/secret/vault/vault_client.h"
#include "deploy/registry_bundles.h"
#include "deploy/revenue_policy.h"
#include "deploy/router_fleet.h"
#include "deploy/router_watch.h"
#include "deploy/rules_pack.h"
#include "deploy/secret_watch.h"
#include "deploy/stored_data.h"
#include "deploy/telemetry_backends.h"
#include "host/home.h"
#include "host/loaded_concepts.h"
#include "host/pack_concepts.h"
#include "orders/mailbox.h"
#include "orders/orders_kit.h"
#include "process/build_place.h"
#include "process/replica_exec.h"
#include "process/supervisor.h"

int main(int count, char** words) {
  if (auto code = sluice::process::supervise(count, words)) return *code;
  if (auto code = sluice::process::exec_in_replica(count, words)) return *code;
  // A file that may not grow is an error like a full disk, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  const sluice::Variables variables = sluice::process_variables();
  sluice::RealDisk disk;
  sluice::orders::Mailbox mailbox(disk, variables("ORDERS_MAILBOX").value_or(""));
  sluice::host::LoadedConcepts loaded{.concepts = sluice::orders::concepts()};
  for (const sluice::lang::ConceptBinding* each : sluice::deploy::concepts()) loaded.concepts.push_back(each);
  loaded.tools.add(mailbox);
  // A home that cannot be found is an error of the commands that need one.
  const auto home = sluice::host::find_home(disk, variables);
  sluice::RealClock clock;
  sluice::process::RealRunner runner(clock);
  sluice::deploy::artifact::ArtifactBuilder builder(
      disk, runner,
      {.home = home ? home->root().string() : "",
       .environment = sluice::deploy::build_environment(variables),
       .version_of =
           [&](const std::string& name) { return sluice::deploy::artifact::version_of_tool(disk, name, variables); },
       .has_build_place = [&](const std::string& work) { return sluice::process::has_build_place(runner, work); }});
  loaded.tools.add(builder);
  const std::string runtime = home ? (home->root() / "runtime").string() : "";
  sluice::RealRandom random;
  // By this name, so that replicas are supervised by the very program that started them, also if it was replaced.
  sluice::process::Replicas replicas(disk, clock, random,
                                     {.folder = runtime + "/replicas", .supervisor = {"/proc/self/exe"}});
  sluice::deploy::local_runtime::LocalImages images(disk, clock, random,
                                                    {.folder = runtime + "/images", .variables = variables});
  sluice::deploy::local_runtime::LocalHost host(disk, replicas,
                                                {.home = home ? home->root().string() : "",
                                                 .bundles = runtime + "/bundles",
                                                 .storage = runtime + "/storage",
                                                 .images = &images});
  sluice::deploy::StoredData stored(runtime + "/storage");
  loaded.tools.add(stored);
  sluice::deploy::secret_store::SealedStore secrets(disk, random, runner,
                                                    {.folder = home ? (home->root() / "secrets").string() : "",
                                                     .keys = home ? (home->root() / "keys").string() : ""});
  loaded.tools.add(secrets);
  sluice::Variables given = variables;
  loaded.tools.add(given);
  sluice::deploy::ValueVersions value_versions(disk, random,
                                               home ? (home->root() / "keys" / "secret-versions.key").string() : "");
  loaded.tools.add(value_versions);
  sluice::deploy::vault_provider::VaultClient vault(disk, clock, random, variables);
  loaded.tools.add(vault);
  sluice::deploy::SecretWatch secret_watch(
      disk, clock,
      {{"env", sluice::deploy::newest_variable(variables, value_versions)},
       {"dotenv", sluice::deploy::newest_in_file(disk, value_versions)},
       {"vault",
        [&](const std::string& environment, const std::string& name,
            const sluice::deploy::PackAnswer& answer) -> sluice::Result<std::optional<std::string>> {
          auto settings = sluice::deploy::vault_provider::vault_settings(environment, answer);
          if (!settings) return settings.error();
          return vault.newest(*settings, name);
        }}});
  loaded.observers.push_back(&secret_watch);
  loaded.first_action = sluice::deploy::kFirstAction;
  loaded.tools.add(host);
  loaded.tools.add(replicas);
  sluice::deploy::local_runtime::LocalWatch watch(replicas, clock);
  loaded.observers.push_back(&watch);
  sluice::deploy::BundleShelf shelf(disk, home ? (home->root() / "blobs" / "bundles").string() : "");
  loaded.tools.add(shelf);
  sluice::deploy::BundleRegistry registry(clock, variables, shelf);
  loaded.tools.add(registry);
  loaded.tools.add<sluice::Disk>(disk);
  // The operator's key is made with the store, before any effect can ask for it.
  const auto operator_key = [&] {
    return sluice::crypto::load_private_key(disk, home ? (home->root() / "keys" / "operator.pem").string() : "");
  };
  sluice::deploy::PolicySeal seal(operator_key);
  loaded.tools.add(seal);
  sluice::deploy::RulesPacks rules(disk, home ? (home->root() / "rules").string() : "", operator_key);
  loaded.tools.add(rules);
  loaded.tools.add<sluice::Clock>(clock);
  sluice::deploy::RouterFleet fleet(disk, home ? (home->root() / "router").string() : "", operator_key);
  loaded.tools.add(fleet);
  sluice::deploy::CookieKeys cookie_keys(disk, clock, random,
                                         home ? (home->root() / "keys" / "cookies.json").string() : "");
  loaded.tools.add(cookie_keys);
  sluice::deploy::RouterWatch router_watch(fleet);
  loaded.observers.push_back(&router_watch);
  sluice::deploy::MarkerOutlet marker_outlet(disk, clock, variables);
  loaded.tools.add(marker_outlet);
  const sluice::deploy::MetricsReader metrics(disk, clock, variables);
  sluice::deploy::JudgeWatch judge_watch(fleet, metrics, disk, clock, home ? (home->root() / "judge").string() : "");
  loaded.observers.push_back(&judge_watch);
  loaded.tools.add(judge_watch);
  sluice::pack::PackShelf pack_shelf(disk, home ? home->root().string() : "");
  sluice::deploy::PackKeeper pack_keeper(disk, pack_shelf, sluice::host::fits_the_kit);
  loaded.tools.add(pack_keeper);
  sluice::deploy::LocalMeans means{
      .disk = &disk,
      .home = home ? home->root().string() : "",
      .has_user_namespaces =
          [&] { return sluice::process::has_build_place(runner, home ? home->root().string() : ""); },
      .port_range = sluice::deploy::views::port_range};
  loaded.tools.add(means);
  sluice::host::PackConcepts packs(pack_shelf, disk, clock, variables);
  loaded.packs = &packs;
  loaded.tools.add<sluice::deploy::PackHealth>(packs);
  sluice::cli::Process process{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .disk = disk,
      .variables = variables,
      .terminal = [&](int fd, bool no_color) { return sluice::detect_terminal(fd, variables, no_color); },
      .concepts = &loaded};
  const std::vector<std::string> line(words + std::min(count, 1), words + count);
  return sluice::cli::run(line, sluice::cli::all_commands(), process);
}
