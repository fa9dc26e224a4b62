// A file is put under its name only once it is whole.
#include "store/backup/home_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "crypto/sha256.h"
#include "store/backup/row_bytes.h"

namespace sluice::store {
namespace {

constexpr size_t kFilePartBytes = size_t{1} << 20;
constexpr uint32_t kRestoredFolderMode = 0700;
constexpr std::string_view kUnfinishedFile = ".unfinished";
constexpr std::string_view kHeadsFile = "store/audit.heads";
constexpr std::array<std::string_view, 12> kBackedUpFolders = {
    "acme", "app-kits", "artifacts", "blobs", "ca", "keys", "kits", "mesh", "packs", "rules", "secrets", "tls"};
constexpr std::array<std::string_view, 2> kFiles = {kHeadsFile, "sluice-id"};
// Of this machine, of its store, and of the person who uses it.
constexpr std::array<std::string_view, 5> kNotBackedUp = {
    "keys/cluster.key", "keys/contexts.json", "keys/contexts.lock", "keys/join-tokens.json", "keys/router-tokens.json"};
constexpr std::array<std::string_view, 6> kSealed = {"acme/", "ca/", "keys/", "mesh/", "secrets/", "tls/"};

bool is_backed_up(const std::string& name) {
  if (std::ranges::find(kNotBackedUp, name) != kNotBackedUp.end()) return false;
  return name.find(kUnfinishedFile) == std::string::npos && !name.starts_with("blobs/uploads/partial");
}

// That the name is one of those that a backup has, and stays in the home.
bool is_good(const std::string& name) {
  if (!is_backed_up(name) || name.find("//") != std::string::npos || name.find('\0') != std::string::npos) return false;
  if (("/" + name + "/").find("/../") != std::string::npos) return false;
  if (std::ranges::find(kFiles, name) != kFiles.end()) return true;
  return std::ranges::any_of(kBackedUpFolders, [&](std::string_view folder) {
    return name.size() > folder.size() + 1 && name.starts_with(folder) && name[folder.size()] == '/';
  });
}

// Links stay within their folder.
bool leads_elsewhere(const std::string& target) {
  return target.starts_with('/') || ("/" + target + "/").find("/../") != std::string::npos;
}

Error damaged_file(const std::string& name) {
  return {.code = Code::verification_failed,
          .message = "the file " + name + " of this backup is damaged",
          .next = "take another backup: sluice backup list"};
}

Result<void> add(Disk& disk, const std::string& home, const std::string& name, FileKind kind, FileMarks& to) {
  if (!is_backed_up(name)) return {};
  auto stat = disk.stat(home + "/" + name, FollowLinks::no);
  if (!stat && stat.error().code == Code::not_found) return {};
  if (!stat) return stat.error();
  FileMark mark{.size = stat->size, .mtime_ns = stat->mtime_ns, .inode = stat->inode, .mode = stat->mode};
  if (kind == FileKind::symlink) {
    auto target = disk.read_link(home + "/" + name);
    if (!target) return target.error();
    if (leads_elsewhere(*target)) return {};  // to something that is not the home's
    mark = {.target = *std::move(target)};
  }
  to[name] = std::move(mark);
  return {};
}

Result<void> add_folder(Disk& disk, const std::string& home, const std::string& folder, FileMarks& to) {
  auto entries = disk.list(home + "/" + folder);
  if (!entries && entries.error().code == Code::not_found) return {};
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string name = folder + "/" + each.name;
    if (each.kind == FileKind::other) continue;
    auto done = each.kind == FileKind::folder ? add_folder(disk, home, name, to) : add(disk, home, name, each.kind, to);
    if (!done) return done;
  }
  return {};
}

std::string bound_to(const std::string& name, uint64_t part) { return name + '\0' + std::to_string(part); }

Result<void> make_folders(Disk& disk, const std::string& home, const std::string& name) {
  for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    auto made = disk.make_folder(home + "/" + name.substr(0, at), kRestoredFolderMode);
    if (!made && made.error().code != Code::conflict) return made;
  }
  return {};
}

Result<void> clear_place(Disk& disk, const std::string& path) {
  auto removed = disk.remove(path);
  return !removed && removed.error().code != Code::not_found ? removed : Result<void>();
}

}  // namespace

bool is_sealed_in_backup(const std::string& name) {
  return name == "sluice-id" ||
         std::ranges::any_of(kSealed, [&](std::string_view each) { return name.starts_with(each); });
}

Result<FileMarks> files_of_home(Disk& disk, const std::string& home) {
  FileMarks all;
  for (const std::string_view each : kFiles) {
    if (auto added = add(disk, home, std::string(each), FileKind::file, all); !added) return added.error();
  }
  for (const std::string_view each : kBackedUpFolders) {
    if (auto added = add_folder(disk, home, std::string(each), all); !added) return added.error();
  }
  return all;
}

// 'F' name mode parts, then the parts; 'Y' name target; 'D' name.
Result<bool> write_file(Disk& disk, const std::string& home, const std::string& name, const crypto::Aead& key,
                        Random& random, FrameWriter& to) {
  const std::string path = home + "/" + name;
  auto stat = disk.stat(path, FollowLinks::no);
  if (!stat && stat.error().code == Code::not_found) return false;
  if (!stat) return stat.error();
  ByteWriter head;
  if (stat->kind == FileKind::symlink) {
    auto target = disk.read_link(path);
    if (!target) return target.error();
    head.bytes = "Y";
    head.text(name);
    head.text(*target);
    if (auto put = to.put(head.bytes); !put) return put.error();
    return true;
  }
  auto file = disk.open(path, {.follow = false});
  if (!file && file.error().code == Code::not_found) return false;
  if (!file) return file.error();
  auto size = (*file)->size();
  if (!size) return size.error();
  // As long as it is now: what is appended meanwhile is of the next backup.
  const uint64_t parts = (*size + kFilePartBytes - 1) / kFilePartBytes;
  head.bytes = "F";
  head.text(name);
  head.number(stat->mode);
  head.number(*size);
  head.number(parts);
  if (auto put = to.put(head.bytes); !put) return put.error();
  for (uint64_t part = 0; part < parts; ++part) {
    std::string bytes(std::min<uint64_t>(kFilePartBytes, *size - part * kFilePartBytes), '\0');
    auto got = (*file)->read_at(part * kFilePartBytes, bytes);
    if (!got) return got.error();
    if (*got < bytes.size()) {
      return Error{.code = Code::conflict, .message = path + " was shortened while it was read"};
    }
    if (is_sealed_in_backup(name)) {
      auto sealed = key.seal(bytes, bound_to(name, part), random);
      crypto::wipe(bytes);
      if (!sealed) return sealed.error();
      bytes = *std::move(sealed);
    }
    if (auto put = to.put(bytes); !put) return put.error();
  }
  return true;
}

Result<void> write_removal(const std::string& name, FrameWriter& to) {
  ByteWriter head;
  head.bytes = "D";
  head.text(name);
  return to.put(head.bytes);
}

bool is_file_frame(std::string_view frame) {
  return frame.starts_with('F') || frame.starts_with('Y') || frame.starts_with('D');
}

Result<void> take_file(Disk& disk, const std::string& home, std::string_view frame, FrameReader& from,
                       const crypto::Aead* key) {
  ByteReader head(frame.substr(1));
  const std::string name = head.text();
  if (head.failed() || !is_good(name)) return damaged_file(name);
  const std::string path = home + "/" + name;
  if (frame.starts_with('D')) return home.empty() ? Result<void>() : clear_place(disk, path);
  if (!home.empty()) {
    if (auto made = make_folders(disk, home, name); !made) return made;
  }
  if (frame.starts_with('Y')) {
    const std::string target = head.text();
    if (head.failed() || leads_elsewhere(target)) return damaged_file(name);
    if (home.empty()) return {};
    if (auto cleared = clear_place(disk, path); !cleared) return cleared;
    return disk.symlink(target, path);
  }
  const auto mode = static_cast<uint32_t>(head.number() & 0777);
  uint64_t left = head.number();
  const uint64_t parts = head.number();
  if (head.failed()) return damaged_file(name);
  std::unique_ptr<File> file;
  const std::string unfinished = path + std::string(kUnfinishedFile);
  if (!home.empty()) {
    if (auto cleared = clear_place(disk, unfinished); !cleared) return cleared;
    auto opened = disk.open(unfinished, {.write = true, .create = true, .exclusive = true, .mode = 0600});
    if (!opened) return opened.error();
    file = *std::move(opened);
  }
  for (uint64_t part = 0; part < parts; ++part) {
    auto bytes = from.next();
    if (!bytes) return bytes.error();
    if (!*bytes) return damaged_file(name);
    std::string plain = *std::move(*bytes);
    if (is_sealed_in_backup(name)) {
      if (key == nullptr) continue;
      auto opened = key->open(plain, bound_to(name, part));
      if (!opened) return damaged_file(name);
      plain = std::string(opened->reveal());
    }
    const bool fits = plain.size() <= left;
    left -= std::min<uint64_t>(left, plain.size());
    auto written = file ? file->write_at(part * kFilePartBytes, plain) : Result<void>();
    if (is_sealed_in_backup(name)) crypto::wipe(plain);
    if (!written) return written;
    if (!fits) return damaged_file(name);
  }
  if (!file) return {};
  if (left > 0) return damaged_file(name);
  if (auto changed = file->chmod(mode); !changed) return changed;
  if (auto synced = file->sync(SyncWhat::all); !synced) return synced;
  file.reset();
  if (auto named = disk.rename(unfinished, path); !named) return named;
  return disk.sync_folder(folder_of(path));
}

}  // namespace sluice::store
