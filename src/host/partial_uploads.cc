// The name of a file is of whom it is and what is to come of it; its size is the offset.
#include "host/partial_uploads.h"

namespace sluice::host {
namespace {

constexpr int64_t kKept_ns = int64_t{24} * 60 * 60 * 1'000'000'000;
constexpr size_t kMostPartial = 64;

}  // namespace

std::string PartialUploads::path_of(const std::string& caller, const crypto::Sha256& digest) const {
  constexpr size_t kScheme = 7;  // "sha256:"
  return folder_ + "/" + crypto::to_string(crypto::sha256(caller + "\n" + crypto::to_string(digest))).substr(kScheme);
}

Result<uint64_t> PartialUploads::offset(const std::string& caller, const crypto::Sha256& digest) const {
  auto stat = disk_.stat(path_of(caller, digest), FollowLinks::no);
  if (stat) return stat->size;
  if (stat.error().code == Code::not_found) return uint64_t{0};
  return stat.error();
}

// What nobody has gone on with for a day goes; so many at once are enough for everybody.
Result<void> PartialUploads::make_room() {
  for (const std::string& each : {folder_of(folder_), folder_}) {
    auto made = disk_.make_folder(each, 0700);
    if (!made && made.error().code != Code::conflict) return made;
  }
  auto there = disk_.list(folder_);
  if (!there) return there.error();
  size_t left = 0;
  for (const FolderEntry& each : *there) {
    const std::string path = folder_ + "/" + each.name;
    auto stat = disk_.stat(path, FollowLinks::no);
    const bool old = stat && clock_.wall_ms() * 1'000'000 - stat->mtime_ns > kKept_ns;
    if (old && disk_.remove(path)) continue;
    ++left;
  }
  if (left < kMostPartial) return {};
  return Error{.code = Code::limit,
               .message = "there are " + std::to_string(left) + " uploads that are not whole; this one was not begun",
               .next = "go on with one of them, or wait a day"};
}

Result<uint64_t> PartialUploads::add(const std::string& caller, const crypto::Sha256& digest, uint64_t offset,
                                     const std::function<Result<bool>(std::string& piece)>& next) {
  const std::string path = path_of(caller, digest);
  if (auto there = disk_.exists(path); there && !*there) {
    if (auto room = make_room(); !room) return room.error();
  }
  auto file = disk_.open(path, {.write = true, .create = true, .follow = false});
  if (!file) return file.error();
  auto mine = (*file)->lock(FileLock::exclusive);
  if (!mine) return mine.error();
  if (!*mine) return Error{.code = Code::conflict, .message = "another request is sending these bytes"};
  auto size = (*file)->size();
  if (!size) return size.error();
  if (*size != offset) {
    return Error{.code = Code::conflict,
                 .message = "the upload is at " + std::to_string(*size) + ", not at " + std::to_string(offset),
                 .next = "ask with HEAD where it is, and go on from there"};
  }
  std::string piece;
  while (true) {
    auto more = next(piece);
    if (!more) return more.error();
    if (!*more) break;
    if (auto written = (*file)->write_at(offset, piece); !written) {
      (void)(*file)->truncate(offset);  // half a piece would be taken for a whole one
      return written.error();
    }
    offset += piece.size();
  }
  return offset;
}

Result<std::unique_ptr<File>> PartialUploads::open(const std::string& caller, const crypto::Sha256& digest) const {
  return disk_.open(path_of(caller, digest), {.follow = false});
}

Result<void> PartialUploads::remove(const std::string& caller, const crypto::Sha256& digest) {
  auto removed = disk_.remove(path_of(caller, digest));
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

}  // namespace sluice::host
