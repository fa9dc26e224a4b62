// What is written is kept by pages; the first write to one reads the rest of it from below.
#include "store/overlay_disk.h"

#include <algorithm>
#include <cerrno>

namespace sluice::store {
namespace {

constexpr uint64_t kPageBytes = 4096;

Error refused(std::string_view action, const std::string& path) { return error_from(EROFS, action, path); }

}  // namespace

class OverlayDisk::Layers {
 public:
  Layers(std::unique_ptr<File> below, uint64_t size) : below_(std::move(below)), below_size_(size), size_(size) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) {
    std::lock_guard guard(mutex_);
    if (offset >= size_) return size_t{0};
    into = into.first(std::min<uint64_t>(into.size(), size_ - offset));
    for (size_t done = 0; done < into.size();) {
      uint64_t at = offset + done;
      size_t within = at % kPageBytes;
      std::span<char> part = into.subspan(done, std::min<size_t>(kPageBytes - within, into.size() - done));
      if (auto page = pages_.find(at / kPageBytes); page != pages_.end()) {
        std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(within), part.size(), part.begin());
      } else if (auto read = read_below(at, part); !read) {
        return read.error();
      }
      done += part.size();
    }
    return into.size();
  }

  Result<void> write_at(uint64_t offset, std::string_view bytes) {
    std::lock_guard guard(mutex_);
    for (size_t done = 0; done < bytes.size();) {
      uint64_t at = offset + done;
      size_t within = at % kPageBytes;
      size_t length = std::min<size_t>(kPageBytes - within, bytes.size() - done);
      auto page = pages_.find(at / kPageBytes);
      if (page == pages_.end()) {
        std::string fresh(kPageBytes, '\0');
        if (auto read = read_below(at - within, fresh); !read) return read;
        page = pages_.emplace(at / kPageBytes, std::move(fresh)).first;
      }
      page->second.replace(within, length, bytes.substr(done, length));
      done += length;
    }
    size_ = std::max(size_, offset + bytes.size());
    return {};
  }

  void truncate(uint64_t size) {
    std::lock_guard guard(mutex_);
    pages_.erase(pages_.lower_bound((size + kPageBytes - 1) / kPageBytes), pages_.end());
    if (auto last = pages_.find(size / kPageBytes); last != pages_.end()) {
      std::fill(last->second.begin() + static_cast<std::ptrdiff_t>(size % kPageBytes), last->second.end(), '\0');
    }
    below_size_ = std::min(below_size_, size);
    size_ = size;
  }

  uint64_t size() {
    std::lock_guard guard(mutex_);
    return size_;
  }

 private:
  // Zeros where nothing is.
  Result<void> read_below(uint64_t offset, std::span<char> into) {
    std::ranges::fill(into, '\0');
    if (offset >= below_size_) return {};
    auto read = below_->read_at(offset, into.first(std::min<uint64_t>(into.size(), below_size_ - offset)));
    return read ? Result<void>() : Result<void>(read.error());
  }

  std::mutex mutex_;
  std::unique_ptr<File> below_;
  uint64_t below_size_;
  uint64_t size_;
  std::map<uint64_t, std::string> pages_;  // by number
};

namespace {

class OverlayFile final : public File {
 public:
  explicit OverlayFile(std::shared_ptr<OverlayDisk::Layers> layers) : layers_(std::move(layers)) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override { return layers_->read_at(offset, into); }
  Result<void> write_at(uint64_t offset, std::string_view bytes) override { return layers_->write_at(offset, bytes); }
  Result<void> truncate(uint64_t size) override {
    layers_->truncate(size);
    return {};
  }
  Result<void> sync(SyncWhat) override { return {}; }
  Result<FileStat> stat() override { return FileStat{.size = layers_->size(), .mode = 0600, .links = 1}; }
  Result<void> chmod(uint32_t) override { return {}; }
  Result<bool> lock(FileLock) override { return true; }

 private:
  std::shared_ptr<OverlayDisk::Layers> layers_;
};

}  // namespace

Result<std::unique_ptr<File>> OverlayDisk::open(const std::string& path, const OpenFlags& flags) {
  std::lock_guard guard(mutex_);
  auto known = files_.find(path);
  if (known == files_.end()) {
    auto below = below_.open(path, {.follow = flags.follow});
    if (!below && below.error().code != Code::not_found) return below.error();
    auto size = below ? (*below)->size() : Result<uint64_t>(uint64_t{0});
    if (!size) return size.error();
    known = files_.emplace(path, below ? std::make_shared<Layers>(*std::move(below), *size) : nullptr).first;
  }
  bool there = known->second != nullptr;
  if (there && flags.create && flags.exclusive) return error_from(EEXIST, "create", path);
  if (!there && !flags.create) return error_from(ENOENT, "open", path);
  if (!there) known->second = std::make_shared<Layers>(nullptr, 0);
  if (flags.truncate) known->second->truncate(0);
  return std::unique_ptr<File>(std::make_unique<OverlayFile>(known->second));
}

Result<std::unique_ptr<File>> OverlayDisk::open_beneath(const std::string& root, const std::string& relative,
                                                        const OpenFlags& flags) {
  if (flags.write) return refused("open", root + "/" + relative);
  return below_.open_beneath(root, relative, flags);
}

Result<void> OverlayDisk::make_folder_beneath(const std::string& root, const std::string& relative, uint32_t) {
  return refused("make", root + "/" + relative);
}

Result<void> OverlayDisk::rename(const std::string& from, const std::string&) { return refused("rename", from); }
Result<void> OverlayDisk::link(const std::string&, const std::string& to) { return refused("make", to); }
Result<void> OverlayDisk::symlink(const std::string&, const std::string& path) { return refused("make", path); }
Result<void> OverlayDisk::make_folder(const std::string& path, uint32_t) { return refused("make", path); }
Result<void> OverlayDisk::remove_folder(const std::string& path) { return refused("remove", path); }
Result<void> OverlayDisk::chmod(const std::string& path, uint32_t) { return refused("chmod", path); }

Result<void> OverlayDisk::remove(const std::string& path) {
  std::lock_guard guard(mutex_);
  files_[path] = nullptr;
  return {};
}

Result<FileStat> OverlayDisk::stat(const std::string& path, FollowLinks follow) {
  std::lock_guard guard(mutex_);
  auto known = files_.find(path);
  if (known == files_.end()) return below_.stat(path, follow);
  if (!known->second) return error_from(ENOENT, "stat", path);
  return FileStat{.size = known->second->size(), .mode = 0600, .links = 1};
}

}  // namespace sluice::store
