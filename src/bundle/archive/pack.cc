// Files are read once: each piece is hashed, shown to the watcher and handed to the writer.
#include "bundle/archive/pack.h"

#include <algorithm>
#include <memory>

#include "base/jail.h"
#include "base/json_text.h"
#include "bundle/archive/squash_writer.h"
#include "bundle/archive/unfinished.h"
#include "bundle/trust/verify.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

constexpr size_t kReadBytes = 256 * 1024;

class Packing {
 public:
  // Without a writer only the tree is made.
  Packing(Disk& disk, const std::string& root, const PackOptions& options, SquashWriter* writer)
      : disk_(disk),
        root_(root),
        called_(options.called.empty() ? root : options.called),
        jail_(disk, root),
        options_(options),
        writer_(writer),
        rules_(called_, 0, options.limits),
        buffer_(kReadBytes, '\0') {}

  Result<Tree> run(std::vector<std::string> paths) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    for (const std::string& path : paths) {
      if (auto taken = take(path); !taken) return taken.error();
    }
    if (auto sound = rules_.finish(); !sound) return sound.error();
    if (options_.watcher != nullptr) {
      if (auto agreed = options_.watcher->finish(); !agreed) return agreed.error();
    }
    return std::move(tree_);
  }

 private:
  Result<void> take(const std::string& path) {
    auto stat = disk_.stat(root_ + "/" + path, FollowLinks::no);
    if (!stat) return stat.error();
    RawEntry raw{.path = path, .executable = (stat->mode & 0100) != 0, .size = stat->size};
    switch (stat->kind) {
      case FileKind::file:
        break;
      case FileKind::folder:
        raw.kind = RawEntry::Kind::dir;
        break;
      case FileKind::symlink: {
        auto target = disk_.read_link(root_ + "/" + path);
        if (!target) return target.error();
        raw.kind = RawEntry::Kind::symlink;
        raw.target = *target;
        break;
      }
      case FileKind::other:
        raw.kind = RawEntry::Kind::device;
    }
    auto entry = rules_.admit(raw);
    if (!entry) return entry.error();
    if (!*entry) return {};
    if (options_.watcher != nullptr) {
      if (auto seen = options_.watcher->entry((*entry)->path, (*entry)->target); !seen) return seen;
    }
    TreeEntry made{.path = (*entry)->path, .kind = (*entry)->kind, .mode = (*entry)->mode, .target = (*entry)->target};
    if (made.kind == EntryKind::file) {
      if (auto read = read_file(made, stat->size); !read) return read;
    }
    tree_.add(std::move(made));
    return {};
  }

  // Through the jail: a folder above may have become a symlink since the walk.
  Result<void> read_file(TreeEntry& made, uint64_t size) {
    auto file = jail_.open(made.path, {.follow = false});
    if (!file) return file.error();
    if (auto begun = begin(made.path); !begun) return begun;
    for (;;) {
      auto got = (*file)->read_at(made.size, buffer_);
      if (!got) return got.error();
      std::string_view piece(buffer_.data(), *got);
      if (auto shown = show(made.path, piece); !shown) return shown;
      made.size += *got;
      if (*got < buffer_.size()) break;
    }
    if (made.size != size) {
      return Error{.code = Code::conflict,
                   .message = called_ + ": " + json_quoted(made.path) + ": it changed while it was packed",
                   .next = "pack again when nothing writes to the folder"};
    }
    made.sha256 = crypto::to_hex(hash_.finish());
    if (options_.watcher != nullptr) {
      if (auto ended = options_.watcher->end_file(); !ended) return ended;
    }
    return writer_ == nullptr ? Result<void>() : writer_->end_file();
  }

  Result<void> begin(const std::string& path) {
    if (options_.watcher != nullptr) {
      if (auto begun = options_.watcher->begin_file(path); !begun) return begun;
    }
    return writer_ == nullptr ? Result<void>() : writer_->begin_file(path);
  }

  Result<void> show(const std::string& path, std::string_view piece) {
    if (piece.empty()) return {};
    if (auto counted = rules_.count_bytes(path, piece.size()); !counted) return counted;
    hash_.update(piece);
    if (options_.watcher != nullptr) {
      if (auto seen = options_.watcher->content(piece); !seen) return seen;
    }
    return writer_ == nullptr ? Result<void>() : writer_->append(piece);
  }

  Disk& disk_;
  std::string root_, called_;
  Jail jail_;
  PackOptions options_;
  SquashWriter* writer_;
  EntryRules rules_;
  std::string buffer_;
  crypto::Sha256Stream hash_;
  Tree tree_;
};

Result<Packed> write_archive(Disk& disk, const std::string& root, std::vector<std::string> paths, File& file,
                             const PackOptions& options) {
  auto writer = SquashWriter::begin(file, options.workers);
  if (!writer) return writer.error();
  auto tree = Packing(disk, root, options, writer->get()).run(std::move(paths));
  if (!tree) return tree.error();
  if (auto finished = (*writer)->finish(*tree); !finished) return finished.error();
  auto digest = sha256_of_file(file);
  if (!digest) return digest.error();
  auto size = file.size();
  if (!size) return size.error();
  // What could not be opened again is not made.
  if (tree->total_bytes() > most_by_ratio(*size, options.limits)) {
    return Error{.code = Code::limit,
                 .message = (options.called.empty() ? root : options.called) + ": its contents are more than " +
                            std::to_string(options.limits.max_ratio) +
                            " times the archive's size, which every reader takes for a bomb",
                 .next = "leave out, or compress, the files that are nearly all the same bytes"};
  }
  if (auto changed = file.chmod(0644); !changed) return changed.error();
  if (auto synced = file.sync(SyncWhat::all); !synced) return synced.error();
  Packed packed{.tree = *std::move(tree), .archive_sha256 = *digest, .archive_bytes = *size};
  packed.tree_digest = packed.tree.digest();
  return packed;
}

}  // namespace

Result<Packed> pack(Disk& disk, const std::string& root, std::vector<std::string> paths, const std::string& out,
                    const PackOptions& options) {
  auto unfinished = create_file_beside(disk, out);
  if (!unfinished) return unfinished.error();
  auto packed = write_archive(disk, root, std::move(paths), *unfinished->file, options);
  unfinished->file.reset();
  if (packed) {
    if (auto renamed = disk.rename(unfinished->path, out); !renamed) packed = renamed.error();
  }
  if (!packed) {
    // Its own failure adds nothing to the first one.
    (void)disk.remove(unfinished->path);
    return packed;
  }
  if (auto synced = disk.sync_folder(folder_of(out)); !synced) return synced.error();
  return packed;
}

Result<Tree> tree_of_folder(Disk& disk, const std::string& root, std::vector<std::string> paths,
                            const PackOptions& options) {
  return Packing(disk, root, options, nullptr).run(std::move(paths));
}

}  // namespace sluice::bundle
