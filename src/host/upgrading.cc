// Backup and drill are those of a running control plane, on the older store.
#include "host/upgrading.h"

#include <array>

#include "base/random.h"
#include "base/ulid.h"
#include "crypto/key_file.h"
#include "crypto/recipient.h"
#include "deploy/backup_retention.h"
#include "host/home_backups.h"
#include "host/home_store.h"
#include "host/lease_keeper.h"
#include "host/moment.h"
#include "host/postgres_home.h"
#include "store/backup/archiving_store.h"

namespace sluice::host {
namespace {

// Where the backup goes: the order, or what the control plane was told.
Result<UpgradeOrder> completed(UpgradeOrder order, HomeStore& home, const Opening& opening, const Clock& clock) {
  auto moment = Moment::of(*home.store, nullptr, opening.concepts.tools, clock.wall_ms());
  if (!moment) return moment.error();
  const deploy::BackupPlace configured = deploy::backup_place((*moment)->reading().rows);
  if (order.folder.empty()) order.folder = configured.folder;
  if (order.recipient.empty()) order.recipient = configured.recipient;
  if (!order.folder.empty() && !order.recipient.empty()) return order;
  return Error{.code = Code::usage,
               .message = "a store is upgraded behind a backup, and nothing says where that goes; nothing was changed",
               .next =
                   "sluice backup key --out backup.key, then sluice store upgrade --to backups --recipient "
                   "backup.key.pub"};
}

Result<HomeBackups::Made> proven_backup(const Opening& opening, HomeStore& home, store::ArchivingStore& store,
                                        const Clock& clock, const UpgradeOrder& order, const std::string& id) {
  auto key = crypto::load_private_key(home.disk, home.operator_key_path);
  if (!key) return key.error();
  RealRandom random;
  HomeBackups backups(home.disk, clock, random);
  auto attached = backups.attach({.store = &store,
                                  .home = opening.home.root().string(),
                                  .signer = &*key,
                                  .token = home.postgres != nullptr ? home.postgres->token() : 0});
  auto made = backups.create(order.folder, id, order.recipient);
  if (!made) return made.error();
  if (auto drilled = backups.drill(order.folder + "/" + id); !drilled) {
    Error error = drilled.error();
    error.message = "the backup before the upgrade does not hold, so nothing was changed: " + error.message;
    return error;
  }
  return made;
}

}  // namespace

Result<UpgradeReport> upgrade_store(const Opening& opening, Clock& clock, const UpgradeOrder& order) {
  auto opened = open_home_store(opening, clock, {.older = store::OlderFormat::kept});
  if (!opened) return opened.error();
  if (!*opened) return nothing_has_run();
  HomeStore& home = **opened;
  std::unique_ptr<LeaseKeeper> lease;
  if (home.postgres != nullptr) {
    lease = std::make_unique<LeaseKeeper>(leased(*home.postgres), opening.disk, opening.home, [](const Error&) {});
  }
  UpgradeReport report{.from = home.format->format(), .to = home.format->newest_format()};
  if (report.from == report.to) {
    auto last = home.format->last_upgrade();
    if (!last) return last.error();
    if (*last) {
      report.backup = (*last)->backup;
      report.at_ms = (*last)->at_ms;
    }
    return report;
  }
  auto place = completed(order, home, opening, clock);
  if (!place) return place.error();
  std::array<uint8_t, Ulid::kRandomBytes> random;
  RealRandom().fill(random);
  const std::string id = to_string(Ulid::from(clock.wall_ms(), random));
  auto archiving = std::make_unique<store::ArchivingStore>(std::move(home.store), clock);
  store::ArchivingStore& store = *archiving;
  home.store = std::move(archiving);
  auto made = proven_backup(opening, home, store, clock, *place, id);
  if (!made) return made.error();
  report.backup = place->folder + "/" + id;
  report.signer = made->signer;
  report.position = made->position;
  report.at_ms = clock.wall_ms();
  if (auto done = home.format->upgrade({.at_ms = report.at_ms, .backup = report.backup}); !done) return done.error();
  return report;
}

}  // namespace sluice::host
