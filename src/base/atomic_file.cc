// The order of the steps is the whole point: contents are synced before the rename shows them, and the folder after.
#include "base/atomic_file.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kUnfinishedSuffix = ".unfinished";
constexpr size_t kMaxStemBytes = 200;  // leaves room for the rest of the name within the 255 bytes of a component
constexpr int kMaxNames = 1'000;
constexpr size_t kReadStepBytes = 64 * 1024;

struct Unfinished {
  std::string path;
  std::unique_ptr<File> file;
};

// Names count up until one is free: exclusive creation settles races between threads and processes, and steps over
// what crashed writers left.
Result<Unfinished> create_beside(Disk& disk, const std::string& path) {
  const std::string stem =
      folder_of(path) + "/." + name_of(path).substr(0, kMaxStemBytes) + "." + std::to_string(::getpid()) + ".";
  for (int n = 0;; ++n) {
    std::string candidate = stem + std::to_string(n) + std::string(kUnfinishedSuffix);
    auto file = disk.open(candidate, {.write = true, .create = true, .exclusive = true, .mode = 0600});
    if (file) return Unfinished{std::move(candidate), *std::move(file)};
    if (file.error().code != Code::conflict || n == kMaxNames) return file.error();
  }
}

Result<void> fill(File& file, std::string_view bytes, uint32_t mode) {
  if (auto written = file.write_at(0, bytes); !written) return written;
  if (auto changed = file.chmod(mode); !changed) return changed;
  return file.sync(SyncWhat::all);
}

Error about(const std::string& path, Error error) {
  error.message = "cannot write " + path + ": " + error.message;
  return error;
}

}  // namespace

Result<void> write_atomically(Disk& disk, const std::string& path, std::string_view bytes, uint32_t mode) {
  if (std::string name = name_of(path); name.empty() || name == "." || name == "..") {
    return Error{.code = Code::invalid,
                 .message = "cannot write '" + path + "': it does not name a file",
                 .next = "give the path of a file"};
  }
  auto unfinished = create_beside(disk, path);
  if (!unfinished) return about(path, unfinished.error());
  auto done = fill(*unfinished->file, bytes, mode);
  unfinished->file.reset();
  if (done) done = disk.rename(unfinished->path, path);
  if (!done) {
    // Its own failure adds nothing to the first one; remove_unfinished_writes finds what stays.
    (void)disk.remove(unfinished->path);
    return about(path, done.error());
  }
  if (auto synced = disk.sync_folder(folder_of(path)); !synced) {
    Error error = synced.error();
    error.message = "wrote " + path + ", but a power cut may bring back its old contents: " + error.message;
    return error;
  }
  return {};
}

Result<size_t> remove_unfinished_writes(Disk& disk, const std::string& folder) {
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  size_t removed = 0;
  for (const FolderEntry& entry : *entries) {
    bool ours = entry.kind == FileKind::file && entry.name.starts_with('.') && entry.name.ends_with(kUnfinishedSuffix);
    if (!ours) continue;
    if (auto done = disk.remove(folder + "/" + entry.name); !done) return done.error();
    ++removed;
  }
  return removed;
}

Result<std::string> read_file(Disk& disk, const std::string& path, size_t max_bytes) {
  auto file = disk.open(path, {});
  if (!file) return file.error();
  auto size = (*file)->size();
  if (!size) return size.error();
  const Error too_large{
      .code = Code::limit,
      .message = "cannot read " + path + ": it is larger than " + std::to_string(max_bytes) + " bytes",
      .next = "check that it is the right file"};
  if (*size > max_bytes) return too_large;
  // The size is a first guess: files in /proc say 0, and a file may grow while it is read. Those in /proc/sys must be
  // read at once: they have nothing behind an offset.
  std::string bytes;
  size_t step = std::min<uint64_t>(*size > 0 ? *size : kReadStepBytes, max_bytes) + 1;
  for (;;) {
    size_t had = bytes.size();
    bytes.resize(had + step);
    auto got = (*file)->read_at(had, std::span(bytes).subspan(had));
    if (!got) return got.error();
    bytes.resize(had + *got);
    if (bytes.size() > max_bytes) return too_large;
    if (*got < step) return bytes;
    step = kReadStepBytes;
  }
}

}  // namespace sluice
