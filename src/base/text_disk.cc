// Folders are the beginnings of paths.
#include "base/text_disk.h"

#include <algorithm>
#include <cerrno>

namespace sluice {
namespace text_disk {

Error read_only(std::string_view action, std::string_view path) { return error_from(EROFS, action, path); }

class TextFile final : public File {
 public:
  TextFile(std::string path, const std::string& text) : path_(std::move(path)), text_(text) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    if (offset >= text_.size()) return size_t{0};
    return text_.copy(into.data(), into.size(), offset);
  }
  Result<FileStat> stat() override { return FileStat{.size = text_.size(), .mode = 0444, .links = 1}; }
  Result<bool> lock(FileLock) override { return true; }
  Result<void> sync(SyncWhat) override { return {}; }
  Result<void> write_at(uint64_t, std::string_view) override { return read_only("cannot write", path_); }
  Result<void> truncate(uint64_t) override { return read_only("cannot truncate", path_); }
  Result<void> chmod(uint32_t) override { return read_only("cannot change the mode of", path_); }

 private:
  std::string path_;
  const std::string& text_;
};

}  // namespace text_disk

using text_disk::read_only;

Result<std::unique_ptr<File>> TextDisk::open(const std::string& path, const OpenFlags& flags) {
  if (flags.write || flags.create || flags.truncate) return read_only("cannot write", path);
  auto found = texts_.find(path);
  if (found == texts_.end()) return error_from(ENOENT, "cannot open", path);
  return std::unique_ptr<File>(std::make_unique<text_disk::TextFile>(path, found->second));
}

Result<std::unique_ptr<File>> TextDisk::open_beneath(const std::string& root, const std::string& relative,
                                                     const OpenFlags& flags) {
  return open(root + "/" + relative, flags);  // there are no links, and no name leads upwards
}

Result<std::vector<FolderEntry>> TextDisk::list(const std::string& path) {
  const std::string below = path + "/";
  std::vector<FolderEntry> entries;
  for (auto each = texts_.lower_bound(below); each != texts_.end() && each->first.starts_with(below); ++each) {
    const size_t end = each->first.find('/', below.size());
    FolderEntry entry{.name = each->first.substr(below.size(), end - below.size()),
                      .kind = end == std::string::npos ? FileKind::file : FileKind::folder};
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(std::move(entry));
  }
  if (entries.empty()) return error_from(ENOENT, "cannot list", path);
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

Result<FileStat> TextDisk::stat(const std::string& path, FollowLinks) {
  if (auto found = texts_.find(path); found != texts_.end())
    return FileStat{.size = found->second.size(), .mode = 0444, .links = 1};
  auto below = texts_.lower_bound(path + "/");
  if (below == texts_.end() || !below->first.starts_with(path + "/")) return error_from(ENOENT, "cannot look at", path);
  return FileStat{.kind = FileKind::folder, .mode = 0555, .links = 1};
}

Result<void> TextDisk::make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) {
  return make_folder(root + "/" + relative, mode);
}
Result<void> TextDisk::rename(const std::string& from, const std::string&) { return read_only("cannot rename", from); }
Result<void> TextDisk::remove(const std::string& path) { return read_only("cannot remove", path); }
Result<void> TextDisk::link(const std::string&, const std::string& to) { return read_only("cannot link", to); }
Result<void> TextDisk::symlink(const std::string&, const std::string& path) { return read_only("cannot link", path); }
Result<std::string> TextDisk::read_link(const std::string& path) { return error_from(EINVAL, "cannot read", path); }
Result<void> TextDisk::make_folder(const std::string& path, uint32_t) { return read_only("cannot make", path); }
Result<void> TextDisk::remove_folder(const std::string& path) { return read_only("cannot remove", path); }
Result<void> TextDisk::chmod(const std::string& path, uint32_t) { return read_only("cannot change", path); }
Result<void> TextDisk::sync_folder(const std::string&) { return {}; }

}  // namespace sluice
