// Segments are verified before the first row is written, so a damaged one leaves the store empty.
#include "store/backup/restore.h"

#include <map>

#include "base/clock.h"
#include "store/backup/home_files.h"
#include "store/backup/row_bytes.h"

namespace sluice::store {
namespace {

bool is_beyond(const RestoreMoment& moment, uint64_t position, int64_t at_ms) {
  return (moment.position && position > *moment.position) || (moment.at_ms && at_ms > *moment.at_ms);
}

struct ArchivedBatch {
  uint64_t number = 0;
  int64_t at_ms = 0;
  uint64_t position = 0;
  Batch batch;
};

Error damaged(const KnownSegment& segment) {
  return {.code = Code::verification_failed,
          .message = "the segment " + segment.path + " is damaged",
          .next = "restore a moment before it: --at " + std::to_string(segment.manifest.position_before)};
}

Error missing(const RestoreFrom& from, const std::string& line, uint64_t batch, uint64_t position) {
  return {.code = Code::verification_failed,
          .message = "nothing is archived right behind position " + std::to_string(position) +
                     ": the segment of batch " + std::to_string(batch + 1) + " is missing in " +
                     segments_folder(from.folder, line),
          .next = "restore a moment before it: --at " + std::to_string(position)};
}

std::string frames_of(const KnownSegment& segment) {
  return segment.path.substr(0, segment.path.size() - std::string_view(".json").size());
}

// The segments behind the backup that are whole. Up to the moment all must be there; of those beyond it, which can only
// tell what was revoked later, the damaged ones are named.
Result<std::vector<KnownSegment>> whole_segments(const RestoreFrom& from, const KnownBackup& backup,
                                                 const RestoreMoment& moment, std::vector<std::string>& unread) {
  const BackupManifest& manifest = backup.manifest;
  auto segments = segments_after(from.disk, from.folder, manifest.line, manifest.batch, from.signer, &unread);
  if (!segments) return segments.error();
  std::vector<KnownSegment> whole;
  uint64_t batch = manifest.batch, position = manifest.position;
  bool reached = moment.position && position >= *moment.position;
  for (KnownSegment& each : *segments) {
    if (!reached && each.manifest.from > batch + 1) return missing(from, manifest.line, batch, position);
    auto same = check_frames(from.disk, frames_of(each), each.manifest.frames);
    if (!same && same.error().code != Code::verification_failed && same.error().code != Code::not_found) {
      return same.error();
    }
    if (!same && !reached) return damaged(each);
    batch = each.manifest.to;
    position = each.manifest.position;
    reached = reached || (moment.position && position >= *moment.position) ||
              (moment.at_ms && each.manifest.at_ms > *moment.at_ms);
    if (same) {
      whole.push_back(std::move(each));
    } else {
      unread.push_back(each.path);
    }
  }
  // Whoever wants the newest moment is told that it is not the newest.
  if (!reached && !unread.empty()) return missing(from, manifest.line, batch, position);
  return whole;
}

// 'B' number time position batch; see archiving_store.cc.
Result<ArchivedBatch> batch_of(std::string_view frame, const KnownSegment& segment) {
  ByteReader reader(frame.substr(1));
  ArchivedBatch archived{.number = reader.number()};
  archived.at_ms = static_cast<int64_t>(reader.number());
  archived.position = reader.number();
  auto batch = batch_in(reader.text());
  if (reader.failed() || !batch) return damaged(segment);
  archived.batch = *std::move(batch);
  return archived;
}

}  // namespace

Result<KnownBackup> choose_backup(Disk& disk, const std::string& folder, const std::string& signer,
                                  const RestoreMoment& moment) {
  auto all = backups_in(disk, folder);
  if (!all) return all.error();
  std::optional<Error> unbelieved;
  std::optional<BackupManifest> oldest;
  for (auto each = all->rbegin(); each != all->rend(); ++each) {
    if (auto verified = read_backup(disk, each->folder, signer); !verified) {
      unbelieved = verified.error();
      continue;
    }
    if (!is_beyond(moment, each->manifest.position, each->manifest.at_ms)) return *each;
    oldest = each->manifest;
  }
  if (oldest) {
    return Error{.code = Code::not_found,
                 .message = "no backup there is as old as that: the oldest was made at position " +
                            std::to_string(oldest->position) + ", " + utc_text(oldest->at_ms),
                 .next = "--at " + std::to_string(oldest->position) + ", or a later moment"};
  }
  if (unbelieved) return *unbelieved;
  // Says why the only ones that are there cannot be read.
  if (auto readable = backups_in(disk, folder, true); !readable) return readable.error();
  return Error{.code = Code::not_found,
               .message = "there is no backup in " + folder,
               .next = "name the folder that has the backups as folders of their own"};
}

Result<Restored> restore(const RestoreFrom& from, const KnownBackup& backup, const RestoreMoment& moment, Store& store,
                         const std::function<void(const JournalRow&)>& later) {
  Disk& disk = from.disk;
  if (auto whole = check_backup(disk, backup.folder, backup.manifest, &from.key); !whole) return whole.error();
  Restored restored{
      .position = backup.manifest.position, .at_ms = backup.manifest.at_ms, .known_to = backup.manifest.position};
  auto segments = whole_segments(from, backup, moment, restored.unread);
  if (!segments) return segments.error();
  if (auto loaded = load_files(disk, backup.folder, backup.manifest, from.home, from.key); !loaded) {
    return loaded.error();
  }
  if (auto loaded = load_rows(disk, backup.folder, backup.manifest, store); !loaded) return loaded.error();
  bool beyond = false;
  uint64_t number = backup.manifest.batch;
  for (const KnownSegment& segment : *segments) {
    auto key = open_key(segment.manifest.key,
                        "segment " + segment.manifest.line + " " + std::to_string(segment.manifest.from), from.key);
    if (!key) return key.error();
    auto reader = FrameReader::open(disk, frames_of(segment));
    if (!reader) return reader.error();
    const bool begins_beyond = beyond;
    while (true) {
      auto frame = (*reader)->next();
      if (!frame) return frame.error();
      if (!*frame) break;
      if (is_file_frame(**frame)) {
        // Of a segment that is beyond in part the files are taken, too: content that is named by its digest is needed,
        // and a key that is too new opens nothing that is there.
        auto taken = take_file(disk, begins_beyond ? "" : from.home, **frame, **reader, &*key);
        if (!taken) return taken.error();
        continue;
      }
      auto archived = batch_of(**frame, segment);
      if (!archived) return archived.error();
      if (archived->number <= number) continue;
      number = archived->number;
      restored.known_to = std::max(restored.known_to, archived->position);
      beyond = beyond || is_beyond(moment, archived->position, archived->at_ms);
      if (beyond) {
        for (const JournalRow& row : archived->batch.journal) later(row);
        continue;
      }
      if (auto done = store.commit(archived->batch); !done) return done.error();
      restored.position = archived->position;
      restored.at_ms = archived->at_ms;
    }
    if (!begins_beyond) ++restored.segments;
  }
  return restored;
}

Result<std::vector<KnownBackup>> later_backups(const RestoreFrom& from, const KnownBackup& restored_from,
                                               const Restored& restored) {
  auto all = backups_in(from.disk, from.folder);
  if (!all) return all.error();
  std::map<std::string, KnownBackup> newest;  // by line
  for (const KnownBackup& each : *all) {
    if (!read_backup(from.disk, each.folder, from.signer)) continue;  // another control plane's
    if (each.manifest.line == restored_from.manifest.line && each.manifest.position <= restored.known_to) continue;
    auto [at, is_new] = newest.emplace(each.manifest.line, each);
    if (!is_new && each.manifest.position >= at->second.manifest.position) at->second = each;
  }
  std::vector<KnownBackup> found;
  for (auto& [unused, each] : newest) found.push_back(std::move(each));
  return found;
}

Result<void> read_segments(const RestoreFrom& from, const KnownBackup& backup, Restored& restored,
                           const std::function<void(const JournalRow&)>& later) {
  auto segments = segments_after(from.disk, from.folder, backup.manifest.line, backup.manifest.batch, from.signer,
                                 &restored.unread);
  if (!segments) return segments.error();
  for (const KnownSegment& segment : *segments) {
    if (!check_frames(from.disk, frames_of(segment), segment.manifest.frames)) {
      restored.unread.push_back(segment.path);
      continue;
    }
    auto reader = FrameReader::open(from.disk, frames_of(segment));
    if (!reader) return reader.error();
    while (true) {
      auto frame = (*reader)->next();
      if (!frame) return frame.error();
      if (!*frame) break;
      if (is_file_frame(**frame)) {
        if (auto taken = take_file(from.disk, "", **frame, **reader, nullptr); !taken) return taken;
        continue;
      }
      auto archived = batch_of(**frame, segment);
      if (!archived) return archived.error();
      restored.known_to = std::max(restored.known_to, archived->position);
      for (const JournalRow& row : archived->batch.journal) {
        if (row.seq > restored.position) later(row);
      }
    }
  }
  return {};
}

}  // namespace sluice::store
