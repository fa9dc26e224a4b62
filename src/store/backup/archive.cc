// A segment has the files that changed since the last one besides its batches: looked at after the batches were
// committed, so whatever they name is there.
#include "store/backup/archive.h"

#include <chrono>

#include "base/thread_name.h"
#include "base/ulid.h"

namespace sluice::store {
namespace {

constexpr int64_t kBehind_ms = 500;  // how long batches are gathered
constexpr int64_t kAgain_ms = 1'000;
constexpr size_t kSegmentBytes = 4 << 20;
constexpr int64_t kSurelyOlder_ms = 600'000;  // clocks differ, and a file may get its name long after its bytes

}  // namespace

Archive::Archive(ArchiveParts parts, ArchiveOrder order)
    : parts_(std::move(parts)), order_(std::move(order)), thread_([this] { run(); }) {}

Archive::~Archive() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  parts_.store.wake();
  thread_.join();
  if (ready_) {
    const auto left = parts_.store.take(0, kSegmentBytes);
    if (!left.empty()) (void)write(left);
  }
}

ArchiveStatus Archive::status() const {
  const std::lock_guard guard(mutex_);
  return status_;
}

void Archive::run() {
  name_this_thread("archive");
  while (true) {
    Result<void> done;
    if (!ready_ || parts_.store.overrun()) done = prepare();
    if (done) {
      auto batches = parts_.store.take(kBehind_ms, kSegmentBytes);
      if (!batches.empty()) done = write(batches);
    }
    std::unique_lock lock(mutex_);
    status_.trouble = done ? "" : to_string(done.error());
    // Whoever has just committed is likely to commit more.
    ended_.wait_for(lock, std::chrono::milliseconds(done ? kBehind_ms : kAgain_ms), [&] { return ending_; });
    if (ending_) return;
  }
}

// Goes on behind the newest segment of this store's line, or begins with a backup.
Result<void> Archive::prepare() {
  ready_ = false;
  std::string line;
  bool known_here = false;
  {
    auto snapshot = parts_.store.read();
    if (!snapshot) return snapshot.error();
    auto known = (*snapshot)->meta(kArchiveLine);
    if (!known) return known.error();
    auto place = (*snapshot)->meta(kArchiveFolder);
    if (!place) return place.error();
    known_here = !known->value_or("").empty() && *place == order_.folder;
    RealClock clock;
    line = known_here ? **known : to_string(UlidSource(clock, parts_.random).next());
  }
  const std::string signer = parts_.signer.public_key().key_id();
  auto backups = backups_in(parts_.disk, order_.folder);
  if (!backups) return backups.error();
  std::optional<uint64_t> archived;
  ArchiveStatus reached = status();
  for (const KnownBackup& each : *backups) {
    if (each.manifest.line != line || !read_backup(parts_.disk, each.folder, signer)) continue;
    auto segments = segments_after(parts_.disk, order_.folder, line, each.manifest.batch, signer);
    if (!segments && segments.error().code == Code::verification_failed) continue;  // another backup is needed
    if (!segments) return segments.error();
    archived = segments->empty() ? each.manifest.batch : segments->back().manifest.to;
    reached.position = segments->empty() ? each.manifest.position : segments->back().manifest.position;
    reached.at_ms = segments->empty() ? each.manifest.at_ms : segments->back().manifest.at_ms;
  }
  // A disk that is not mounted must not be taken for an empty folder, and a backup written beneath it.
  if (known_here && backups->empty()) return lost();
  auto goes_on = parts_.store.begin(line, archived.value_or(0), order_.folder);
  if (!goes_on) return goes_on.error();
  if (!archived || !*goes_on) {
    auto snapshot = parts_.store.read();
    if (!snapshot) return snapshot.error();
    if (auto made = parts_.disk.make_folder(order_.folder, 0700); !made && made.error().code != Code::conflict) {
      return made;
    }
    RealClock clock;
    const std::string id = to_string(UlidSource(clock, parts_.random).next());
    auto made = write_backup(maker(), **snapshot, order_.folder + "/" + id,
                             {.id = id, .at_ms = parts_.clock.wall_ms(), .token = parts_.token});
    if (!made) return made.error();
    reached.position = made->position;
    reached.at_ms = made->at_ms;
    ++reached.made;
    goes_on = parts_.store.begin(line, made->batch, order_.folder);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return Error{.message = "more was committed than the archive keeps while the backup was made"};
  }
  for (const std::string& each : {order_.folder + "/segments", segments_folder(order_.folder, line)}) {
    if (auto there = parts_.disk.make_folder(each, 0700); !there && there.error().code != Code::conflict) return there;
  }
  line_ = line;
  position_before_ = reached.position;
  // What is older than what is archived is archived, too.
  auto files = files_of_home(parts_.disk, parts_.home);
  if (!files) return files.error();
  known_ = *std::move(files);
  std::erase_if(known_, [&](const auto& each) {
    return each.second.mtime_ns / 1'000'000 > reached.at_ms - kSurelyOlder_ms || !each.second.target.empty();
  });
  ready_ = true;
  const std::lock_guard guard(mutex_);
  status_ = reached;
  return {};
}

Error Archive::lost() const {
  return {.code = Code::unavailable,
          .message = order_.folder + " has lost what was archived there",
          .next = "mount it again, or begin anew there with sluice backup create"};
}

Result<void> Archive::write(const std::vector<ArchivingStore::Archived>& batches) {
  auto there = parts_.disk.exists(segments_folder(order_.folder, line_));
  if (!there) return there.error();
  if (!*there) {
    ready_ = false;
    return lost();
  }
  auto now = files_of_home(parts_.disk, parts_.home);
  if (!now) return now.error();
  SegmentManifest manifest{.line = line_,
                           .from = batches.front().number,
                           .to = batches.back().number,
                           .position_before = position_before_,
                           .position = batches.back().position,
                           .at_ms = batches.back().at_ms};
  auto written =
      write_segment(maker(), order_.folder, manifest, [&](FrameWriter& to, const crypto::Aead& key) -> Result<void> {
        for (const auto& [name, mark] : *now) {
          auto known = known_.find(name);
          if (known != known_.end() && known->second == mark) continue;
          if (auto put = write_file(parts_.disk, parts_.home, name, key, parts_.random, to); !put) return put.error();
        }
        for (const auto& [name, unused] : known_) {
          if (now->contains(name)) continue;
          if (auto put = write_removal(name, to); !put) return put;
        }
        for (const auto& each : batches) {
          if (auto put = to.put(each.frame); !put) return put;
        }
        return {};
      });
  if (!written) return written;
  known_ = *std::move(now);
  position_before_ = manifest.position;
  parts_.store.archived(manifest.to);
  const std::lock_guard guard(mutex_);
  status_.position = manifest.position;
  status_.at_ms = manifest.at_ms;
  return {};
}

}  // namespace sluice::store
