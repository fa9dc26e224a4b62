// Every concept of the kit with what it works with.
#include "cli/program.h"

#include <csignal>
#include <iostream>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "cli/all_commands.h"
#include "cli/app.h"
#include "crypto/key_file.h"
#include "deploy/app_kit_shelf.h"
#include "deploy/backup_means.h"
#include "deploy/backup_watch.h"
#include "deploy/build_bundle.h"
#include "deploy/bundle_shelf.h"
#include "deploy/certificate_shelf.h"
#include "deploy/cluster_rights.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/cookie_keys.h"
#include "deploy/credential_watch.h"
#include "deploy/deploy_kit.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/judge_watch.h"
#include "deploy/live_probe.h"
#include "deploy/local_means.h"
#include "deploy/migrate_means.h"
#include "deploy/pack_keeper.h"
#include "deploy/promotion/git_watch.h"
#include "deploy/promotion/pin_watch.h"
#include "deploy/promotion/release_means.h"
#include "deploy/providers/certificate/acme/acme_issuer.h"
#include "deploy/providers/runtime/k8s/cluster_pods.h"
#include "deploy/providers/runtime/k8s/k8s_watch.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_watch.h"
#include "deploy/providers/secret/store/backup_keys.h"
#include "deploy/providers/secret/store/sealed_store.h"
#include "deploy/providers/secret/store/store_safe.h"
#include "deploy/providers/secret/vault/vault_client.h"
#include "deploy/registry_bundles.h"
#include "deploy/revenue_policy.h"
#include "deploy/router_fleet.h"
#include "deploy/router_watch.h"
#include "deploy/rules_pack.h"
#include "deploy/secret_watch.h"
#include "deploy/series_watch.h"
#include "deploy/start_bounds.h"
#include "deploy/stored_data.h"
#include "deploy/telemetry_backends.h"
#include "deploy/webhook_outlet.h"
#include "host/home.h"
#include "host/home_backups.h"
#include "host/link/link_agent.h"
#include "host/loaded_concepts.h"
#include "host/pack_concepts.h"
#include "host/served_concepts.h"
#include "process/build_place.h"
#include "process/core_dumps.h"
#include "process/replica_exec.h"
#include "process/supervisor.h"
#include "router/worker_order.h"
#include "store/mirrored_disk.h"

namespace sluice::cli {

int run_program(int count, char** words, const AddConcepts& add) {
  if (auto code = process::supervise(count, words, deploy::may_start)) return *code;
  if (auto code = process::exec_in_replica(count, words)) return *code;
  process::forbid_core_dumps();
  // A file that may not grow is an error like a full disk, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  const Variables variables = process_variables();
  RealDisk real_disk;
  if (auto code = router::serve_as_worker(count, words, real_disk)) return *code;
  if (auto code = host::serve_as_link(count, words, real_disk)) return *code;
  store::MirroredDisk disk(real_disk);
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  loaded.tools.add(disk);
  if (add) add(loaded, disk, variables);
  // A home that cannot be found is an error of the commands that need one.
  const auto home = host::find_home(disk, variables);
  RealClock clock;
  process::RealRunner runner(clock);
  deploy::artifact::ArtifactBuilder builder(
      disk, runner,
      {.home = home ? home->root().string() : "",
       .environment = deploy::build_environment(variables),
       .version_of = [&](const std::string& name) { return deploy::artifact::version_of_tool(disk, name, variables); },
       .has_build_place = [&](const std::string& work) { return process::has_build_place(runner, work); }});
  loaded.tools.add(builder);
  const std::string runtime = home ? (home->root() / "runtime").string() : "";
  RealRandom random;
  // By this name, so that replicas are supervised by the very program that started them, also if it was replaced.
  process::Replicas replicas(disk, clock, random, {.folder = runtime + "/replicas", .supervisor = {"/proc/self/exe"}});
  deploy::local_runtime::LocalImages images(disk, clock, random,
                                            {.folder = runtime + "/images", .variables = variables});
  deploy::local_runtime::LocalHost host(disk, replicas,
                                        {.home = home ? home->root().string() : "",
                                         .bundles = runtime + "/bundles",
                                         .storage = runtime + "/storage",
                                         .bounds = deploy::start_bounds_folder(variables),
                                         .images = &images});
  deploy::StoredData stored(runtime + "/storage");
  loaded.tools.add(stored);
  deploy::secret_store::SealedStore secrets(disk, random, runner,
                                            {.folder = home ? (home->root() / "secrets").string() : "",
                                             .keys = home ? (home->root() / "keys").string() : ""});
  loaded.tools.add(secrets);
  deploy::MigrateMeans migrate_means(disk, random, runner, deploy::secret_store::backup_keys(secrets, random),
                                     {.id = home ? (home->root() / "sluice-id").string() : "",
                                      .backups = home ? (home->root() / "backups").string() : ""});
  loaded.tools.add(migrate_means);
  Variables given = variables;
  loaded.tools.add(given);
  deploy::ValueVersions value_versions(disk, random,
                                       home ? (home->root() / "keys" / "secret-versions.key").string() : "");
  loaded.tools.add(value_versions);
  deploy::vault_provider::VaultClient vault(disk, clock, random, variables);
  loaded.tools.add(vault);
  deploy::executor::ClusterMeans cluster({.disk = disk,
                                          .clock = clock,
                                          .random = random,
                                          .runner = runner,
                                          .variables = variables,
                                          .home = home ? home->root().string() : "",
                                          .safe = deploy::secret_store::safe_of(secrets, disk)});
  loaded.tools.add(cluster);
  deploy::SecretWatch secret_watch(disk, clock,
                                   {{"env", deploy::newest_variable(variables, value_versions)},
                                    {"dotenv", deploy::newest_in_file(disk, value_versions)},
                                    {"vault",
                                     [&](const std::string& environment, const std::string& name,
                                         const deploy::PackAnswer& answer) -> Result<std::optional<std::string>> {
                                       auto settings = deploy::vault_provider::vault_settings(environment, answer);
                                       if (!settings) return settings.error();
                                       return vault.newest(*settings, name);
                                     }}});
  loaded.observers.push_back(&secret_watch);
  loaded.first_action = deploy::kFirstAction;
  loaded.tools.add(host);
  loaded.tools.add(replicas);
  deploy::local_runtime::LocalWatch watch(replicas, clock);
  loaded.observers.push_back(&watch);
  deploy::k8s_runtime::ClusterPods pods(disk, clock, runner, variables);
  loaded.tools.add<deploy::k8s_runtime::PodHost>(pods);
  deploy::ClusterRights rights = deploy::k8s_runtime::rights_of(pods);
  loaded.tools.add(rights);
  deploy::CredentialWatch credential_watch(clock);
  loaded.observers.push_back(&credential_watch);
  deploy::k8s_runtime::K8sWatch pod_watch(pods, clock);
  loaded.observers.push_back(&pod_watch);
  deploy::BundleShelf shelf(disk, home ? (home->root() / "blobs" / "bundles").string() : "");
  loaded.tools.add(shelf);
  deploy::BundleRegistry registry(clock, variables, shelf);
  loaded.tools.add(registry);
  deploy::ReleaseMeans releases(disk, clock, variables, home ? home->root().string() : "");
  loaded.tools.add(releases.sources());
  deploy::GitWatch git_watch(clock, releases.sources());
  loaded.observers.push_back(&git_watch);
  deploy::PinWatch pin_drift_watch(clock, deploy::live_in(cluster));
  loaded.observers.push_back(&pin_drift_watch);
  loaded.tools.add<Disk>(disk);
  // The operator's key is made with the store, before any effect can ask for it.
  const auto operator_key = [&] {
    return crypto::load_private_key(disk, home ? (home->root() / "keys" / "operator.pem").string() : "");
  };
  deploy::PolicySeal seal(operator_key);
  loaded.tools.add(seal);
  deploy::RulesPacks rules(disk, home ? (home->root() / "rules").string() : "", operator_key);
  loaded.tools.add(rules);
  loaded.tools.add<Clock>(clock);
  deploy::RouterFleet fleet(disk, home ? (home->root() / "router").string() : "", operator_key);
  loaded.tools.add(fleet);
  deploy::CookieKeys cookie_keys(disk, clock, random, home ? (home->root() / "keys" / "cookies.json").string() : "");
  loaded.tools.add(cookie_keys);
  host::HomeBackups backups(disk, clock, random);
  loaded.tools.add(backups);
  loaded.tools.add<deploy::BackupMeans>(backups);
  deploy::BackupWatch backup_watch(backups);
  loaded.observers.push_back(&backup_watch);
  deploy::CertificateShelf certificates(disk, home ? home->root().string() : "");
  loaded.tools.add(certificates);
  deploy::AcmeIssuer acme_issuer;
  loaded.tools.add(acme_issuer);
  deploy::RouterWatch router_watch(fleet);
  loaded.observers.push_back(&router_watch);
  const std::string backend_keys = home ? (home->root() / "keys" / "backends").string() : "";
  deploy::MarkerOutlet marker_outlet(disk, clock, variables, backend_keys);
  loaded.tools.add(marker_outlet);
  deploy::WebhookOutlet webhook_outlet(disk, clock, random,
                                       home ? (home->root() / "keys" / "webhooks.key").string() : "", variables);
  loaded.tools.add(webhook_outlet);
  deploy::LiveProbe live_probe(fleet, clock, operator_key);
  loaded.tools.add(live_probe);
  pack::PackShelf pack_shelf(disk, home ? home->root().string() : "");
  host::PackConcepts packs(pack_shelf, disk, clock, variables);
  const deploy::MetricsReader metrics(disk, clock, variables, &packs, backend_keys);
  deploy::SeriesWatch series_watch(fleet, clock);
  loaded.observers.push_back(&series_watch);
  loaded.tools.add(series_watch);
  deploy::JudgeWatch judge_watch(fleet, metrics, disk, clock, home ? (home->root() / "judge").string() : "",
                                 &series_watch);
  loaded.observers.push_back(&judge_watch);
  loaded.tools.add(judge_watch);
  deploy::AppKitShelf app_kits(disk, home ? home->root().string() : "");
  loaded.tools.add(app_kits);
  deploy::PackKeeper pack_keeper(disk, pack_shelf, [&](const pack::Pack& pack) {
    auto fits = host::fits_the_kit(pack);
    return fits ? app_kits.load() : fits;
  });
  loaded.tools.add(pack_keeper);
  deploy::LocalMeans means{
      .disk = &disk,
      .home = home ? home->root().string() : "",
      .has_user_namespaces = [&] { return process::has_build_place(runner, home ? home->root().string() : ""); },
      .port_range = deploy::views::port_range};
  loaded.tools.add(means);
  loaded.packs = &packs;
  host::ServedConcepts served(app_kits, clock);
  loaded.observers.push_back(&served);
  packs.with(served);
  loaded.tools.add<deploy::PackHealth>(packs);
  Process process{.in = std::cin,
                  .out = std::cout,
                  .err = std::cerr,
                  .disk = disk,
                  .variables = variables,
                  .terminal = [&](int fd, bool no_color) { return detect_terminal(fd, variables, no_color); },
                  .concepts = &loaded};
  const std::vector<std::string> line(words + std::min(count, 1), words + count);
  return run(line, all_commands(), process);
}

}  // namespace sluice::cli
