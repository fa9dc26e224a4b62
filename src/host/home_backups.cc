// What is made and read stands in store/backup; the journal is verified by the engine's own audit.
#include "host/home_backups.h"

#include <array>

#include "engine/journal/audit.h"
#include "store/backup/backup.h"
#include "store/scratch_store.h"

namespace sluice::host {
namespace {

deploy::BackupMeans::Made told(const store::BackupManifest& manifest, const std::string& signer) {
  return {.position = manifest.position,
          .at_ms = manifest.at_ms,
          .bytes = manifest.rows.bytes + manifest.files.bytes,
          .signer = signer,
          .contents = manifest.rows.contents};
}

}  // namespace

std::unique_ptr<HomeBackups::Attached> HomeBackups::attach(const Of& of) {
  const std::lock_guard guard(mutex_);
  of_ = of;
  return std::make_unique<Attached>(*this);
}

void HomeBackups::detach() {
  std::unique_ptr<store::Archive> ended;
  {
    const std::lock_guard guard(mutex_);
    ended = std::move(archive_);
  }
  ended.reset();  // writes what waits
  const std::lock_guard guard(mutex_);
  of_ = {};
}

Result<HomeBackups::Of> HomeBackups::what() const {
  const std::lock_guard guard(mutex_);
  if (of_.store == nullptr) return Error{.code = Code::unavailable, .message = "no store is open here"};
  return of_;
}

Result<HomeBackups::Made> HomeBackups::create(const std::string& folder, const std::string& id,
                                              const std::string& recipient) {
  auto of = what();
  if (!of) return of.error();
  if (auto made = disk_.make_folder(folder, 0700); !made && made.error().code != Code::conflict) return made.error();
  const std::string place = folder + "/" + id;
  const std::string signer = of->signer->public_key().key_id();
  if (auto before = store::read_backup(disk_, place, signer)) return told(*before, signer);
  auto snapshot = of->store->read();
  if (!snapshot) return snapshot.error();
  auto made = store::write_backup({disk_, random_, of->home, *of->signer, recipient}, **snapshot, place,
                                  {.id = id, .at_ms = clock_.wall_ms(), .token = of->token});
  if (!made) return made.error();
  return told(*made, signer);
}

Result<HomeBackups::Proven> HomeBackups::verify(const std::string& folder) {
  auto of = what();
  if (!of) return of.error();
  auto manifest = store::read_backup(disk_, folder, of->signer->public_key().key_id());
  if (!manifest) return manifest.error();
  auto whole = store::check_backup(disk_, folder, *manifest, nullptr);
  if (!whole) return whole.error();
  return Proven{.position = manifest->position, .records = whole->records, .rows = whole->rows, .files = whole->files};
}

Result<HomeBackups::Proven> HomeBackups::drill(const std::string& folder) {
  auto proven = verify(folder);
  if (!proven) return proven;
  auto of = what();
  if (!of) return of.error();
  auto manifest = store::read_backup(disk_, folder, of->signer->public_key().key_id());
  if (!manifest) return manifest.error();
  store::ScratchStore scratch(disk_, of->home + "/store/drill.db");
  auto store = scratch.open();
  if (!store) return store.error();
  if (auto loaded = store::load_rows(disk_, folder, *manifest, **store); !loaded) return loaded.error();
  auto heads = engine::read_heads(disk_, of->home + "/store/audit.heads");
  if (!heads) return heads.error();
  std::erase_if(heads->heads, [&](const auto& each) { return each.head.seq > manifest->position; });
  auto snapshot = (*store)->read();
  if (!snapshot) return snapshot.error();
  const std::array<crypto::PublicKey, 1> trusted{of->signer->public_key()};
  auto report = engine::verify(**snapshot, heads->heads, trusted);
  if (!report) return report.error();
  if (report->holds()) return proven;
  const std::string what = report->fault            ? report->fault->what
                           : !report->state.empty() ? report->state.front().relation + " " + report->state.front().key +
                                                          ": " + report->state.front().what
                                                    : "signed heads of its journal are missing";
  return Error{.code = Code::verification_failed, .message = "what was restored from it does not hold: " + what};
}

Result<void> HomeBackups::remove(const std::string& folder) {
  for (const char* each : {"/manifest.json", "/operator.pub", "/rows", "/files"}) {
    auto removed = disk_.remove(folder + each);
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  auto removed = disk_.remove_folder(folder);
  if (!removed && removed.error().code != Code::not_found) return removed;
  auto synced = disk_.sync_folder(folder_of(folder));
  if (!synced && synced.error().code == Code::not_found) return {};
  if (!synced) return synced;
  auto pruned = prune(folder_of(folder));
  return pruned ? Result<void>() : Result<void>(pruned.error());
}

Result<uint64_t> HomeBackups::prune(const std::string& place) { return store::prune_segments(disk_, place); }

Result<std::vector<HomeBackups::Found>> HomeBackups::found(const std::string& place) {
  auto of = what();
  if (!of) return of.error();
  const std::string signer = of->signer->public_key().key_id();
  auto backups = store::backups_in(disk_, place);
  if (!backups) return backups.error();
  std::vector<Found> all;
  for (const store::KnownBackup& each : *backups) {
    if (!store::read_backup(disk_, each.folder, signer)) continue;
    all.push_back({.id = each.manifest.id, .folder = each.folder, .made = told(each.manifest, signer)});
  }
  return all;
}

bool HomeBackups::is_there(const std::string& folder) {
  auto there = disk_.exists(folder + "/manifest.json");
  return there && *there;
}

void HomeBackups::archive(const std::string& folder, const std::string& recipient) {
  std::unique_ptr<store::Archive> ended;
  {
    const std::lock_guard guard(mutex_);
    if (of_.store == nullptr) return;
    ended = std::move(archive_);
  }
  ended.reset();
  const std::lock_guard guard(mutex_);
  if (folder.empty()) {
    (void)of_.store->end();  // if that fails, the store archives for nobody until the next one begins
    return;
  }
  archive_ = std::make_unique<store::Archive>(store::ArchiveParts{.store = *of_.store,
                                                                  .disk = disk_,
                                                                  .clock = clock_,
                                                                  .random = random_,
                                                                  .home = of_.home,
                                                                  .signer = *of_.signer,
                                                                  .token = of_.token},
                                              store::ArchiveOrder{.folder = folder, .recipient = recipient});
}

HomeBackups::Archived HomeBackups::archived() {
  const std::lock_guard guard(mutex_);
  if (!archive_ || of_.store == nullptr) return {};
  const auto status = archive_->status();
  const int64_t since_ms = of_.store->waiting_since_ms();
  const int64_t behind_ms = since_ms == 0 ? 0 : clock_.wall_ms() - since_ms;
  return {.position = status.position, .behind_s = behind_ms / 1'000, .trouble = status.trouble, .made = status.made};
}

}  // namespace sluice::host
