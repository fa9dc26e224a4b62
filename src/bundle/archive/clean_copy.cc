// Symlinks are made last, so that no file is written through one.
#include "bundle/archive/clean_copy.h"

#include <set>

#include "base/jail.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

namespace {

constexpr size_t kCopyBytes = 256 * 1024;

class CleanCopy {
 public:
  CleanCopy(Disk& disk, const std::string& from, const std::string& to)
      : disk_(disk), from_(from), to_(to), source_(disk, from), target_(disk, to), buffer_(kCopyBytes, '\0') {}

  Result<void> run(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (auto taken = take(path); !taken) return taken;
    }
    for (const auto& [path, link] : links_) {
      if (auto made = disk_.symlink(link, to_ + "/" + path); !made) return made;
    }
    return {};
  }

 private:
  Result<void> take(const std::string& path) {
    auto stat = disk_.stat(from_ + "/" + path, FollowLinks::no);
    if (!stat) return stat.error();
    if (stat->kind == FileKind::folder) return make_folders(path);
    if (size_t slash = path.rfind('/'); slash != std::string::npos) {
      if (auto made = make_folders(path.substr(0, slash)); !made) return made;
    }
    if (stat->kind == FileKind::symlink) {
      auto link = disk_.read_link(from_ + "/" + path);
      if (!link) return link.error();
      links_.emplace_back(path, *link);
      return {};
    }
    return copy_file(path, (stat->mode & 0100) != 0 ? kExecutableMode : kFileMode);
  }

  Result<void> make_folders(const std::string& path) {
    for (size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
      std::string folder = path.substr(0, slash);
      if (made_.insert(folder).second) {
        if (auto made = target_.make_folder(folder, 0700); !made) return made;
        if (auto changed = disk_.chmod(to_ + "/" + folder, kFolderMode); !changed) return changed;
      }
      if (slash == std::string::npos) return {};
    }
  }

  Result<void> copy_file(const std::string& path, uint32_t mode) {
    auto in = source_.open(path, {.follow = false});
    if (!in) return in.error();
    auto out = target_.open(path, {.read = false, .write = true, .create = true, .exclusive = true});
    if (!out) return out.error();
    for (uint64_t at = 0;;) {
      auto got = (*in)->read_at(at, buffer_);
      if (!got) return got.error();
      if (auto written = (*out)->write_at(at, std::string_view(buffer_).substr(0, *got)); !written) return written;
      at += *got;
      if (*got < buffer_.size()) return (*out)->chmod(mode);
    }
  }

  Disk& disk_;
  std::string from_;
  std::string to_;
  Jail source_;
  Jail target_;
  std::string buffer_;
  std::set<std::string> made_;
  std::vector<std::pair<std::string, std::string>> links_;  // path and target
};

}  // namespace

Result<void> copy_chosen(Disk& disk, const std::string& from, const std::vector<std::string>& paths,
                         const std::string& to) {
  return CleanCopy(disk, from, to).run(paths);
}

}  // namespace sluice::bundle
