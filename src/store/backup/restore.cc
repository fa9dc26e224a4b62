// Segments are verified before the first row is written, so a damaged one leaves the store empty.
#include "store/backup/restore.h"

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
  auto all = backups_in(disk, folder, true);
  if (!all) return all.error();
  for (auto each = all->rbegin(); each != all->rend(); ++each) {
    if (is_beyond(moment, each->manifest.position, each->manifest.at_ms)) continue;
    if (auto verified = read_backup(disk, each->folder, signer); !verified) return verified.error();
    return *each;
  }
  return Error{.code = Code::not_found,
               .message = all->empty() ? "there is no backup in " + folder : "no backup there is as old as that",
               .next = "sluice backup list --from FOLDER"};
}

Result<Restored> restore(const RestoreFrom& from, const KnownBackup& backup, const RestoreMoment& moment, Store& store,
                         const std::function<void(const JournalRow&)>& later) {
  Disk& disk = from.disk;
  if (auto whole = check_backup(disk, backup.folder, backup.manifest, &from.key); !whole) return whole.error();
  auto segments = segments_after(disk, from.folder, backup.manifest.line, backup.manifest.batch, from.signer);
  if (!segments) return segments.error();
  for (const KnownSegment& each : *segments) {
    const std::string frames = each.path.substr(0, each.path.size() - std::string_view(".json").size());
    if (auto same = check_frames(disk, frames, each.manifest.frames); !same) {
      return same.error().code == Code::verification_failed ? damaged(each) : same.error();
    }
  }
  if (auto loaded = load_files(disk, backup.folder, backup.manifest, from.home, from.key); !loaded) {
    return loaded.error();
  }
  if (auto loaded = load_rows(disk, backup.folder, backup.manifest, store); !loaded) return loaded.error();
  Restored restored{
      .position = backup.manifest.position, .at_ms = backup.manifest.at_ms, .known_to = backup.manifest.position};
  bool beyond = false;
  uint64_t number = backup.manifest.batch;
  for (const KnownSegment& segment : *segments) {
    auto key = open_key(segment.manifest.key,
                        "segment " + segment.manifest.line + " " + std::to_string(segment.manifest.from), from.key);
    if (!key) return key.error();
    auto reader = FrameReader::open(disk, segment.path.substr(0, segment.path.size() - 5));
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
      if (archived->number != number + 1) return damaged(segment);
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

}  // namespace sluice::store
