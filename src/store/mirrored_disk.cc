// What is kept is the truth: a home that comes back gets it. Files are renamed here only once they are kept, so a crash
// leaves the newer one there.
#include "store/mirrored_disk.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::store {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20U;
constexpr uint32_t kHomeFolderMode = 0700;
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::string_view kHeads = "store/audit.heads";
constexpr std::array<std::string_view, 11> kFolders = {"keys",  "secrets",  "rules", "blobs", "artifacts", "kits",
                                                       "packs", "app-kits", "acme",  "ca",    "tls"};
constexpr std::array<std::string_view, 5> kSealedFolders = {"keys/", "secrets/", "acme/", "ca/", "tls/"};
constexpr uint32_t kLinkMode = 0120000;  // of a symbolic link, whose one part is its target
// Of this machine and of the person who uses it.
constexpr std::array<std::string_view, 3> kOwn = {"keys/cluster.key", "keys/contexts.json", "keys/contexts.lock"};

bool is_sealed(const std::string& name) {
  if (name == kHeads) return true;
  return std::ranges::any_of(kSealedFolders, [&](std::string_view each) { return name.starts_with(each); });
}

// Links stay within their folder.
bool leads_out(const std::string& target) {
  return target.starts_with('/') || ("/" + target + "/").find("/../") != std::string::npos;
}

// "blobs/ab/cdef…", "blobs/uploads/ab/cdef…": what is named by its digest does not change.
bool is_named_by_content(const std::string& name) {
  constexpr size_t kShardDigits = 2, kRestDigits = 62;
  const size_t slash = name.rfind('/');
  if (!name.starts_with("blobs/") || slash == std::string::npos || name.size() - slash - 1 != kRestDigits) return false;
  const std::string shard = sluice::name_of(name.substr(0, slash));
  return shard.size() == kShardDigits && crypto::from_hex(shard + name.substr(slash + 1)).has_value();
}

}  // namespace

bool MirroredDisk::is_mirrored(const std::string& name) {
  if (name == kHeads) return true;
  if (std::ranges::find(kOwn, name) != kOwn.end()) return false;
  if (name.find(kUnfinished) != std::string::npos || name.starts_with("blobs/uploads/partial")) return false;
  if (name.starts_with("tls/.challenges/")) return false;  // of an order that is under way here
  return std::ranges::any_of(kFolders, [&](std::string_view folder) {
    return name.size() > folder.size() && name.starts_with(folder) && name[folder.size()] == '/';
  });
}

struct MirroredDisk::Mirror {
  Mirror(Disk& disk, KeptFiles& kept, std::string folder, crypto::Aead sealing)
      : below(disk), files(kept), home(std::move(folder)), aead(std::move(sealing)), digests(aead.key().reveal()) {}

  Disk& below;
  KeptFiles& files;
  std::string home;
  crypto::Aead aead;
  crypto::Hmac digests;
  RealRandom random;
  std::mutex changing;  // what is kept and what lies in the home change together

  // From the home on; empty if it is not mirrored.
  std::string name_of(const std::string& path) const {
    if (path.size() <= home.size() + 1 || !path.starts_with(home) || path[home.size()] != '/') return "";
    std::string name = path.substr(home.size() + 1);
    return is_mirrored(name) ? name : "";
  }

  // Bound to its place, so that rows cannot be exchanged for each other.
  std::string digest_of(const std::string& name, size_t part, std::string_view bytes) const {
    const crypto::Sha256 digest = crypto::sha256(bytes);
    const crypto::Mac mac =
        digests.mac(bound_to(name, part, std::string(reinterpret_cast<const char*>(digest.data()), digest.size())));
    return {reinterpret_cast<const char*>(mac.data()), mac.size()};
  }

  static std::string bound_to(const std::string& name, size_t part, const std::string& digest) {
    return name + '\0' + std::to_string(part) + '\0' + digest;
  }

  static Result<std::string> read_part(File& file, size_t part) {
    std::string bytes(kPartBytes, '\0');
    auto got = file.read_at(part * kPartBytes, bytes);
    if (!got) return got.error();
    bytes.resize(*got);
    return bytes;
  }

  // As it lies at this path.
  Result<KeptFile> describe(const std::string& name, File& file) const {
    auto stat = file.stat();
    if (!stat) return stat.error();
    KeptFile made{.name = name, .mode = stat->mode, .size = 0};
    while (true) {
      auto bytes = read_part(file, made.parts.size());
      if (!bytes) return bytes.error();
      if (bytes->empty()) return made;
      made.size += bytes->size();
      made.parts.push_back(digest_of(name, made.parts.size(), *bytes));
    }
  }

  Result<void> keep_link(const std::string& name, const std::string& path) {
    auto target = below.read_link(path);
    if (!target) return target.error();
    const std::string digest = digest_of(name, 0, *target);
    return files.keep({.name = name, .mode = kLinkMode, .size = target->size(), .parts = {digest}},
                      [&](size_t) -> Result<std::string> {
                        if (!is_sealed(name)) return *target;
                        return aead.seal(*target, bound_to(name, 0, digest), random);
                      });
  }

  // Keeps what lies at `path` under this name.
  Result<void> keep(const std::string& name, const std::string& path) {
    auto stat = below.stat(path, FollowLinks::no);
    if (stat && stat->kind == FileKind::symlink) return keep_link(name, path);
    auto file = below.open(path, {.follow = false});
    if (!file) return file.error();
    auto described = describe(name, **file);
    if (!described) return described.error();
    return files.keep(*described, [&](size_t part) -> Result<std::string> {
      auto bytes = read_part(**file, part);
      if (!bytes) return bytes;
      if (digest_of(name, part, *bytes) != described->parts[part]) {
        return Error{.code = Code::conflict, .message = path + " was changed while it was kept"};
      }
      if (!is_sealed(name)) return bytes;
      return aead.seal(*bytes, bound_to(name, part, described->parts[part]), random);
    });
  }

  Error damaged(const std::string& name) const {
    return {.code = Code::verification_failed,
            .message = "the file " + name + " is not as this cluster kept it",
            .next = "the rows of the store were changed: restore it from a backup"};
  }

  Result<std::string> fetch(const KeptFile& file, size_t part) {
    auto bytes = files.part(file.name, part, file.parts[part]);
    if (!bytes) return bytes;
    std::string plain;
    if (is_sealed(file.name)) {
      auto opened = aead.open(*bytes, bound_to(file.name, part, file.parts[part]));
      if (!opened) return damaged(file.name);
      plain = std::string(opened->reveal());
    } else {
      plain = *std::move(bytes);
    }
    if (digest_of(file.name, part, plain) != file.parts[part]) return damaged(file.name);
    return plain;
  }

  Result<void> make_folders(const std::string& name) {
    for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      const std::string folder = home + "/" + name.substr(0, at);
      auto made = below.make_folder(folder, kHomeFolderMode);
      if (!made && made.error().code != Code::conflict) return made;
      if (made) {
        if (auto synced = below.sync_folder(folder_of(folder)); !synced) return synced;
      }
    }
    return {};
  }

  // Whether the home has it already.
  Result<bool> is_here(const KeptFile& kept) {
    const std::string path = home + "/" + kept.name;
    auto stat = below.stat(path, FollowLinks::no);
    if (!stat && stat.error().code == Code::not_found) return false;
    if (!stat) return stat.error();
    if (kept.mode == kLinkMode && stat->kind == FileKind::symlink) {
      auto target = below.read_link(path);
      return target && kept.parts.size() == 1 && digest_of(kept.name, 0, *target) == kept.parts.front();
    }
    if (kept.mode == kLinkMode || stat->kind != FileKind::file || stat->size != kept.size) return false;
    if (is_named_by_content(kept.name)) return true;
    auto file = below.open(path, {.follow = false});
    if (!file) return file.error();
    auto here = describe(kept.name, **file);
    if (!here) return here.error();
    return here->parts == kept.parts;
  }

  Result<void> bring(const KeptFile& kept) {
    // Rows are written by whoever has the database, so their names are not trusted.
    const std::string& name = kept.name;
    if (!is_mirrored(name) || name.find("//") != std::string::npos ||
        ("/" + name + "/").find("/../") != std::string::npos) {
      return damaged(name);
    }
    const std::string path = home + "/" + name;
    if (kept.gone) {
      auto removed = below.remove(path);
      return !removed && removed.error().code != Code::not_found ? removed : Result<void>();
    }
    auto here = is_here(kept);
    if (!here) return here.error();
    if (*here) return {};
    if (auto made = make_folders(kept.name); !made) return made;
    const std::string unfinished = path + std::string(kUnfinished);
    auto left = below.remove(unfinished);
    if (!left && left.error().code != Code::not_found) return left;
    if (kept.mode == kLinkMode) {
      auto target = kept.parts.size() == 1 ? fetch(kept, 0) : Result<std::string>(damaged(name));
      if (!target) return target.error();
      if (leads_out(*target)) return damaged(name);
      if (auto made = below.symlink(*target, unfinished); !made) return made;
    } else {
      auto file = below.open(unfinished, {.write = true, .create = true, .exclusive = true, .mode = 0600});
      if (!file) return file.error();
      for (size_t part = 0; part < kept.parts.size(); ++part) {
        auto bytes = fetch(kept, part);
        if (!bytes) return bytes.error();
        if (auto written = (*file)->write_at(part * kPartBytes, *bytes); !written) return written;
      }
      if (auto changed = (*file)->chmod(kept.mode); !changed) return changed;
      if (auto synced = (*file)->sync(SyncWhat::all); !synced) return synced;
    }
    if (auto named = below.rename(unfinished, path); !named) return named;
    return below.sync_folder(folder_of(path));
  }

  // Keeps what only the home has.
  Result<void> keep_all(const std::string& folder, const std::set<std::string>& known) {
    auto entries = below.list(home + "/" + folder);
    if (!entries && entries.error().code == Code::not_found) return {};
    if (!entries) return entries.error();
    for (const FolderEntry& each : *entries) {
      const std::string name = folder + "/" + each.name;
      if (each.kind == FileKind::folder) {
        if (auto kept = keep_all(name, known); !kept) return kept;
      }
      const bool is_kept = each.kind == FileKind::file || each.kind == FileKind::symlink;
      if (!is_kept || !is_mirrored(name) || known.contains(name)) continue;
      if (auto kept = keep(name, home + "/" + name); !kept) return kept;
    }
    return {};
  }
};

// A file that is kept whenever it is synced.
class MirroredDisk::Synced final : public File {
 public:
  Synced(std::unique_ptr<File> below, std::shared_ptr<Mirror> mirror, std::string name, std::string path)
      : below_(std::move(below)), mirror_(std::move(mirror)), name_(std::move(name)), path_(std::move(path)) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override { return below_->read_at(offset, into); }
  Result<void> write_at(uint64_t offset, std::string_view bytes) override { return below_->write_at(offset, bytes); }
  Result<void> truncate(uint64_t size) override { return below_->truncate(size); }
  Result<void> sync(SyncWhat what) override {
    const std::lock_guard guard(mirror_->changing);
    if (auto synced = below_->sync(what); !synced) return synced;
    return mirror_->keep(name_, path_);
  }
  Result<FileStat> stat() override { return below_->stat(); }
  Result<void> chmod(uint32_t mode) override { return below_->chmod(mode); }
  Result<bool> lock(FileLock kind) override { return below_->lock(kind); }

 private:
  std::unique_ptr<File> below_;
  std::shared_ptr<Mirror> mirror_;
  std::string name_, path_;
};

std::shared_ptr<MirroredDisk::Mirror> MirroredDisk::mirror() const {
  const std::lock_guard guard(mutex_);
  return mirror_;
}

bool MirroredDisk::attached() const { return mirror() != nullptr; }

void MirroredDisk::detach() {
  const std::lock_guard guard(mutex_);
  mirror_.reset();
}

Result<uint64_t> MirroredDisk::bring(KeptFiles& files, const std::string& home, const crypto::SecretBuffer& key,
                                     uint64_t after) {
  auto aead = crypto::Aead::with_key(key.clone());
  if (!aead) return aead.error();
  Mirror mirror(below_, files, home, *std::move(aead));
  auto kept = files.changed_after(after);
  if (!kept) return kept.error();
  for (const KeptFile& each : *kept) {
    if (auto brought = mirror.bring(each); !brought) return brought.error();
    after = std::max(after, each.version);
  }
  return after;
}

Result<void> MirroredDisk::attach(KeptFiles& files, const std::string& home, const crypto::SecretBuffer& key) {
  auto aead = crypto::Aead::with_key(key.clone());
  if (!aead) return aead.error();
  auto made = std::make_shared<Mirror>(below_, files, home, *std::move(aead));
  auto kept = files.changed_after(0);
  if (!kept) return kept.error();
  std::set<std::string> known;
  for (const KeptFile& each : *kept) {
    known.insert(each.name);
    if (auto brought = made->bring(each); !brought) return brought;
  }
  for (const std::string_view folder : kFolders) {
    if (auto all = made->keep_all(std::string(folder), known); !all) return all;
  }
  const std::string heads = home + "/" + std::string(kHeads);
  if (!known.contains(std::string(kHeads))) {
    auto there = below_.exists(heads);
    if (!there) return there.error();
    if (auto done = *there ? made->keep(std::string(kHeads), heads) : Result<void>(); !done) return done;
  }
  const std::lock_guard guard(mutex_);
  mirror_ = std::move(made);
  return {};
}

Result<std::unique_ptr<File>> MirroredDisk::open(const std::string& path, const OpenFlags& flags) {
  auto file = below_.open(path, flags);
  if (!file || !flags.write) return file;
  auto to = mirror();
  const std::string name = to ? to->name_of(path) : "";
  if (name.empty()) return file;
  return std::unique_ptr<File>(std::make_unique<Synced>(*std::move(file), std::move(to), name, path));
}

Result<void> MirroredDisk::rename(const std::string& from, const std::string& to) {
  auto mirrored = mirror();
  if (!mirrored) return below_.rename(from, to);
  const std::string old_name = mirrored->name_of(from), name = mirrored->name_of(to);
  std::unique_lock guard(mirrored->changing, std::defer_lock);
  if (!old_name.empty() || !name.empty()) guard.lock();
  auto stat = below_.stat(from, FollowLinks::no);
  const bool is_file = stat && (stat->kind == FileKind::file || stat->kind == FileKind::symlink);
  if (is_file && !name.empty()) {
    if (auto kept = mirrored->keep(name, from); !kept) return kept;
  }
  if (auto renamed = below_.rename(from, to); !renamed) return renamed;
  if (stat && stat->kind == FileKind::folder && to.starts_with(mirrored->home + "/")) {
    if (auto kept = mirrored->keep_all(to.substr(mirrored->home.size() + 1), {}); !kept) return kept;
  }
  return old_name.empty() || !is_file ? Result<void>() : mirrored->files.drop(old_name);
}

Result<void> MirroredDisk::remove(const std::string& path) {
  auto mirrored = mirror();
  const std::string name = mirrored ? mirrored->name_of(path) : "";
  std::unique_lock<std::mutex> guard;
  if (!name.empty()) {
    guard = std::unique_lock(mirrored->changing);
    if (auto there = below_.stat(path, FollowLinks::no); !there) return there.error();
    if (auto dropped = mirrored->files.drop(name); !dropped) return dropped;
  }
  return below_.remove(path);
}

Result<void> MirroredDisk::link(const std::string& from, const std::string& to) {
  if (auto linked = below_.link(from, to); !linked) return linked;
  auto mirrored = mirror();
  const std::string name = mirrored ? mirrored->name_of(to) : "";
  return name.empty() ? Result<void>() : mirrored->keep(name, to);
}

Result<void> MirroredDisk::symlink(const std::string& target, const std::string& path) {
  if (auto made = below_.symlink(target, path); !made) return made;
  auto mirrored = mirror();
  const std::string name = mirrored ? mirrored->name_of(path) : "";
  return name.empty() ? Result<void>() : mirrored->keep(name, path);
}

Result<void> MirroredDisk::chmod(const std::string& path, uint32_t mode) {
  if (auto changed = below_.chmod(path, mode); !changed) return changed;
  auto mirrored = mirror();
  const std::string name = mirrored ? mirrored->name_of(path) : "";
  return name.empty() ? Result<void>() : mirrored->keep(name, path);
}

}  // namespace sluice::store
