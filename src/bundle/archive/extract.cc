// Folders and files as they come, symlinks last, then one rename.
#include "bundle/archive/extract.h"

#include <vector>

#include "base/jail.h"
#include "bundle/archive/unfinished.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

class Extraction {
 public:
  Extraction(Disk& disk, ArchiveReader& archive, std::string folder)
      : disk_(disk), archive_(archive), folder_(std::move(folder)), jail_(disk, folder_) {}

  Result<Tree> run() {
    for (;;) {
      auto entry = archive_.next();
      if (!entry) return entry.error();
      if (!*entry) break;
      if (auto done = take(**entry); !done) return done.error();
    }
    for (const ArchiveEntry& link : symlinks_) {
      if (auto made = make_folders(folder_of_entry(link.path)); !made) return made.error();
      if (auto made = disk_.symlink(link.target, folder_ + "/" + link.path); !made) return made.error();
    }
    return std::move(tree_);
  }

 private:
  static std::string folder_of_entry(const std::string& path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }

  Result<void> take(const ArchiveEntry& entry) {
    TreeEntry made{.path = entry.path, .kind = entry.kind, .mode = entry.mode, .target = entry.target};
    switch (entry.kind) {
      case EntryKind::dir:
        if (auto folder = make_folders(entry.path); !folder) return folder;
        break;
      case EntryKind::symlink:
        symlinks_.push_back(entry);
        break;
      case EntryKind::file:
        if (auto file = write_file(entry, made); !file) return file;
        break;
    }
    tree_.add(std::move(made));
    return {};
  }

  // The folder and those above it that are not there yet. The tree knows which are.
  Result<void> make_folders(const std::string& path) {
    if (path.empty() || path == last_folder_ || tree_.find(path) != nullptr) return {};
    for (size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
      std::string folder = path.substr(0, slash);
      if (tree_.find(folder) == nullptr) {
        if (auto made = jail_.make_folder(folder, 0700); !made) return made;
        if (auto changed = disk_.chmod(folder_ + "/" + folder, kFolderMode); !changed) return changed;
        tree_.add({.path = folder, .kind = EntryKind::dir, .mode = kFolderMode});
      }
      if (slash == std::string::npos) break;
    }
    last_folder_ = path;
    return {};
  }

  Result<void> write_file(const ArchiveEntry& entry, TreeEntry& made) {
    if (auto folder = make_folders(folder_of_entry(entry.path)); !folder) return folder;
    auto file = jail_.open(entry.path, {.read = false, .write = true, .create = true, .exclusive = true, .mode = 0600});
    if (!file) return file.error();
    for (;;) {
      auto piece = archive_.read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      hash_.update(*piece);
      if (auto written = (*file)->write_at(made.size, *piece); !written) return written;
      made.size += piece->size();
    }
    made.sha256 = crypto::to_hex(hash_.finish());
    return (*file)->chmod(entry.mode);
  }

  Disk& disk_;
  ArchiveReader& archive_;
  std::string folder_;
  Jail jail_;
  Tree tree_;
  std::string last_folder_;
  std::vector<ArchiveEntry> symlinks_;
  crypto::Sha256Stream hash_;
};

Error is_there(const std::string& into) {
  return {.code = Code::conflict,
          .message = "cannot unpack into " + into + ": it is there already",
          .next = "remove it, or choose another folder"};
}

Result<void> put_in_place(Disk& disk, const std::string& folder, const std::string& into) {
  if (auto changed = disk.chmod(folder, kFolderMode); !changed) return changed;
  auto renamed = disk.rename(folder, into);
  // Somebody else was faster.
  if (!renamed && disk.stat(into, FollowLinks::no)) return is_there(into);
  return renamed;
}

}  // namespace

Result<Tree> extract(Disk& disk, ArchiveReader& archive, const std::string& into,
                     const std::optional<TreeDigest>& expected) {
  auto there = disk.stat(into, FollowLinks::no);
  if (there || there.error().code != Code::not_found) {
    if (!there) return there.error();
    return is_there(into);
  }
  auto folder = make_folder_beside(disk, into);
  if (!folder && folder.error().code == Code::not_found) {
    return Error{.code = Code::not_found,
                 .message = "cannot unpack into " + into + ": there is no folder " + folder_of(into)};
  }
  if (!folder) return folder.error();
  auto tree = Extraction(disk, archive, *folder).run();
  if (tree && expected && tree->digest() != *expected) {
    tree = Error{.code = Code::verification_failed,
                 .message = "the archive's tree digest is " + tree->digest() + ", not " + *expected};
  }
  if (tree) {
    if (auto placed = put_in_place(disk, *folder, into); !placed) tree = placed.error();
  }
  // Its own failure adds nothing to the first one.
  if (!tree) (void)remove_tree(disk, *folder);
  return tree;
}

}  // namespace sluice::bundle
