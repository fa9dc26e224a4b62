// Backup counts and names; BackupMeans writes and reads.
#include <algorithm>

#include "base/terminal.h"
#include "crypto/recipient.h"
#include "deploy/backup_means.h"
#include "deploy/backup_retention.h"
#include "deploy/concepts/backup/backup_work.h"

namespace sluice::deploy::backup {
namespace {

constexpr int64_t kMostBackups = 256;

int64_t limit_of(const BackupWhole& whole) { return whole.limit > 0 ? whole.limit : kMostBackups; }

// What is wrong with a place and a recipient; empty: nothing.
std::string fault_of(const std::string& folder, const std::string& recipient) {
  if (!folder.starts_with('/')) return "'" + printable(folder) + "' is no absolute path of the control plane's machine";
  auto known = crypto::check_recipient(recipient);
  return known ? "" : "'" + printable(recipient) + "' is no recipient: " + known.error().message;
}

std::string none_such(const BackupId& id) { return "there is no backup " + printable(id.text()); }

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr ? end->message : "";
}

std::optional<BackupId> newest_in(const State& state) {
  std::optional<std::pair<int64_t, BackupId>> newest;
  for (const auto& [id, record] : state.all()) {
    if (!newest || record.madeAt.ms >= newest->first) newest = {record.madeAt.ms, id};
  }
  return newest ? std::optional(newest->second) : std::nullopt;
}

int64_t count_in(const State& state) {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& each : state.all()) ++count;
  return count;
}

template <class Ok>
Ok proven(const std::string& id, const BackupMeans::Proven& found) {
  return Ok{.backup = BackupId(id),
            .position = static_cast<int64_t>(found.position),
            .records = static_cast<int64_t>(found.records),
            .rows = static_cast<int64_t>(found.rows),
            .files = static_cast<int64_t>(found.files)};
}

}  // namespace

Configure::Result Backup::configure(const Configure& ask, State& state) {
  BackupWhole whole = state.whole();
  if (!ask.folder.empty()) {
    if (std::string fault = fault_of(ask.folder, ask.recipient); !fault.empty()) {
      return Configure::Invalid{.message = std::move(fault)};
    }
  }
  if (ask.limit && *ask.limit < 1) return Configure::Invalid{.message = "the limit is at least 1"};
  if (ask.keep.value_or(0) < 0 || ask.keepDays.value_or(0) < 0) {
    return Configure::Invalid{.message = "keep and keepDays are at least 0, which keeps everything"};
  }
  // Another folder has other backups, and says nothing yet of what may be removed there.
  const bool moved = whole.place != ask.folder;
  whole.place = ask.folder;
  whole.recipient = ask.recipient;
  if (ask.limit) whole.limit = *ask.limit;
  if (ask.keep || moved) whole.keep = ask.keep.value_or(0);
  if (ask.keepDays || moved) whole.keepDays = ask.keepDays.value_or(0);
  state.put_whole(whole);
  return Configure::Ok{.folder = whole.place,
                       .recipient = whole.recipient,
                       .limit = limit_of(whole),
                       .keep = whole.keep,
                       .keepDays = whole.keepDays};
}

Create::Begun Backup::begin_create(const Create& ask, State& state) {
  const BackupWhole whole = state.whole();
  CreateWork work{.folder = ask.folder.value_or(whole.place), .recipient = ask.recipient.value_or(whole.recipient)};
  if (work.folder.empty() || work.recipient.empty()) {
    return Create::Result(Create::Invalid{.message = "neither this call nor Backup/configure says the folder and the "
                                                     "recipient of backups"});
  }
  if (std::string fault = fault_of(work.folder, work.recipient); !fault.empty()) {
    return Create::Result(Create::Invalid{.message = std::move(fault)});
  }
  const int64_t limit = limit_of(whole);
  if (count_in(state) >= limit) {
    return Create::Result(Create::Full{
        .limit = limit, .message = "there are " + std::to_string(limit) + " backups, which is the limit; remove one"});
  }
  return work;
}

Create::Performed Backup::perform_create(const CreateWork& work, Effect& effect) {
  auto made = effect.tool<BackupMeans>().create(work.folder, effect.id(), work.recipient);
  if (!made) return Create::Failed{.message = to_string(made.error())};
  return Create::Ok{.backup = BackupId(effect.id()),
                    .folder = work.folder + "/" + effect.id(),
                    .position = static_cast<int64_t>(made->position),
                    .bytes = static_cast<int64_t>(made->bytes),
                    .signer = made->signer,
                    .contents = made->contents};
}

Create::Outcome Backup::finish_create(const Create&, const Create::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Create::Ok>(&outcome)) {
    state.put(ok->backup, {.folder = ok->folder,
                           .position = ok->position,
                           .madeAt = state.now(),
                           .bytes = ok->bytes,
                           .signer = ok->signer,
                           .contents = ok->contents});
  }
  if (ended_of(outcome) != Create::Ended::engine) return outcome;
  return Create::Failed{.message = reason_of(outcome)};
}

List::Begun Backup::begin_list(const List&, State&) { return ListWork{}; }

List::Performed Backup::perform_list(const ListWork&, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Backup"));
  const State state(rows);
  auto& means = effect.tool<BackupMeans>();
  const BackupWhole whole = state.whole();
  const auto archived = means.archived();
  List::Ok ok{.folder = whole.place,
              .recipient = whole.recipient,
              .limit = limit_of(whole),
              .keep = whole.keep,
              .keepDays = whole.keepDays,
              .archived = static_cast<int64_t>(archived.position),
              .behind = archived.behind_s,
              .trouble = archived.trouble,
              .drilledAt = whole.drilledAt,
              .drilled = whole.drilled,
              .drillProblem = whole.drillProblem};
  if (const auto kept = backups_in_place(state); !kept.empty()) {
    ok.since = kept.front().position;
    ok.sinceAt = lang::DateTime{kept.front().made_ms};
  }
  for (const auto& [id, record] : state.all()) {
    ok.backups.push_back({.backup = id.text(),
                          .folder = record.folder,
                          .position = record.position,
                          .madeAt = record.madeAt,
                          .bytes = record.bytes,
                          .signer = record.signer,
                          .contents = record.contents,
                          .present = means.is_there(record.folder)});
  }
  std::ranges::sort(ok.backups, {}, [](const auto& each) { return std::pair(each.madeAt.ms, each.backup); });
  return ok;
}

List::Outcome Backup::finish_list(const List&, const List::Outcome& outcome, State&) {
  if (ended_of(outcome) != List::Ended::engine) return outcome;
  return List::Failed{.message = reason_of(outcome)};
}

Verify::Begun Backup::begin_verify(const Verify& ask, State& state) {
  auto record = state.get(ask.backup);
  if (!record) return Verify::Result(Verify::NotFound{.backup = ask.backup, .message = none_such(ask.backup)});
  return VerifyWork{.backup = ask.backup.text(), .folder = record->folder};
}

Verify::Performed Backup::perform_verify(const VerifyWork& work, Effect& effect) {
  auto found = effect.tool<BackupMeans>().verify(work.folder);
  if (found) return proven<Verify::Ok>(work.backup, *found);
  const BackupId id(work.backup);
  if (found.error().code == Code::not_found) return Verify::NotFound{.backup = id, .message = found.error().message};
  if (found.error().code == Code::verification_failed || found.error().code == Code::invalid) {
    return Verify::Damaged{.backup = id, .message = found.error().message};
  }
  return Verify::Failed{.backup = id, .message = to_string(found.error())};
}

Verify::Outcome Backup::finish_verify(const Verify& ask, const Verify::Outcome& outcome, State&) {
  if (ended_of(outcome) != Verify::Ended::engine) return outcome;
  return Verify::Failed{.backup = ask.backup, .message = reason_of(outcome)};
}

Drill::Begun Backup::begin_drill(const Drill&, State& state) {
  const auto newest = newest_in(state);
  if (!newest) return Drill::Result(Drill::NotFound{.message = "there is no backup to be tried"});
  return DrillWork{.backup = newest->text(), .folder = state.get(*newest)->folder};
}

Drill::Performed Backup::perform_drill(const DrillWork& work, Effect& effect) {
  auto found = effect.tool<BackupMeans>().drill(work.folder);
  if (found) return proven<Drill::Ok>(work.backup, *found);
  if (found.error().code == Code::not_found || found.error().code == Code::verification_failed ||
      found.error().code == Code::invalid) {
    return Drill::Damaged{.backup = BackupId(work.backup), .message = found.error().message};
  }
  return Drill::Failed{.message = to_string(found.error())};
}

Drill::Outcome Backup::finish_drill(const Drill&, const Drill::Outcome& outcome, State& state) {
  BackupWhole whole = state.whole();
  if (const auto* ok = get_if<Drill::Ok>(&outcome)) {
    whole.drilledAt = state.now();
    whole.drilled = ok->backup.text();
    whole.drillProblem = "";
    state.put_whole(whole);
  } else if (const auto* damaged = get_if<Drill::Damaged>(&outcome)) {
    whole.drillProblem = damaged->message;
    state.put_whole(whole);
  }
  if (ended_of(outcome) != Drill::Ended::engine) return outcome;
  return Drill::Failed{.message = reason_of(outcome)};
}

Remove::Begun Backup::begin_remove(const Remove& ask, State& state) {
  auto record = state.get(ask.backup);
  if (!record) return Remove::Result(Remove::NotFound{.backup = ask.backup, .message = none_such(ask.backup)});
  if (const auto all = backups_in_place(state); !all.empty() && all.back().id == ask.backup.text()) {
    return Remove::Result(
        Remove::Needed{.backup = ask.backup,
                       .message = "the archive goes on from this backup, the newest one; make another one first"});
  }
  return RemoveWork{.backup = ask.backup.text(), .folder = record->folder};
}

Remove::Performed Backup::perform_remove(const RemoveWork& work, Effect& effect) {
  auto removed = effect.tool<BackupMeans>().remove(work.folder);
  if (!removed) return Remove::Failed{.backup = BackupId(work.backup), .message = to_string(removed.error())};
  return Remove::Ok{.backup = BackupId(work.backup)};
}

Remove::Outcome Backup::finish_remove(const Remove& ask, const Remove::Outcome& outcome, State& state) {
  if (get_if<Remove::Ok>(&outcome) != nullptr) state.erase(ask.backup);
  if (ended_of(outcome) != Remove::Ended::engine) return outcome;
  return Remove::Failed{.backup = ask.backup, .message = reason_of(outcome)};
}

Prune::Begun Backup::begin_prune(const Prune&, State& state) {
  PruneWork work{.place = state.whole().place};
  if (work.place.empty()) return Prune::Result(Prune::Ok{});
  for (const KeptBackup& each : outdated(state, state.now().ms)) {
    work.backups.push_back(each.id);
    work.folders.push_back(each.folder);
  }
  if (!work.backups.empty()) work.base = backups_in_place(state)[work.backups.size()].folder;
  return work;
}

Prune::Performed Backup::perform_prune(const PruneWork& work, Effect& effect) {
  auto& means = effect.tool<BackupMeans>();
  if (!work.base.empty() && !means.is_there(work.base)) {
    return Prune::Failed{.message = "nothing was removed: " + work.base + ", which would be the oldest, is not there"};
  }
  for (const std::string& each : work.folders) {
    if (auto removed = means.remove(each); !removed) return Prune::Failed{.message = to_string(removed.error())};
  }
  auto pruned = means.prune(work.place);
  if (!pruned) return Prune::Failed{.message = to_string(pruned.error())};
  return Prune::Ok{.removed = work.backups, .segments = static_cast<int64_t>(*pruned)};
}

Prune::Outcome Backup::finish_prune(const Prune&, const Prune::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Prune::Ok>(&outcome)) {
    for (const std::string& each : ok->removed) state.erase(BackupId(each));
  }
  if (ended_of(outcome) != Prune::Ended::engine) return outcome;
  return Prune::Failed{.message = reason_of(outcome)};
}

Note::Result Backup::note(const Note& ask, State& state) {
  if (!state.has(ask.backup)) {
    state.put(ask.backup, {.folder = ask.folder,
                           .position = ask.position,
                           .madeAt = ask.madeAt,
                           .bytes = ask.bytes,
                           .signer = ask.signer,
                           .contents = ask.contents});
  }
  return Note::Ok{.backup = ask.backup};
}

NoteTrouble::Result Backup::note_trouble(const NoteTrouble& ask, State& state) {
  BackupWhole whole = state.whole();
  whole.trouble = ask.message;
  whole.troubleAt = ask.message.empty() ? std::nullopt : std::optional(state.now());
  state.put_whole(whole);
  return NoteTrouble::Ok{.message = ask.message};
}

Restored::Result Backup::restored(const Restored& ask, State& state) {
  BackupRestore item{
      .backup = ask.backup, .position = ask.position, .knownTo = ask.knownTo, .at = state.now(), .open = ask.open};
  state.restores().push(item);
  return Restored::Ok{.position = ask.position};
}

}  // namespace sluice::deploy::backup
