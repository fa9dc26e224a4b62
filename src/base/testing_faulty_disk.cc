// One gate counts all operations and decides which go wrong; the rest only asks it first.
#include "base/testing_faulty_disk.h"

#include <mutex>
#include <utility>

namespace sluice {

std::string_view operation_name(DiskOperation operation) {
  switch (operation) {
    case DiskOperation::open:
      return "open";
    case DiskOperation::read:
      return "read";
    case DiskOperation::write:
      return "write";
    case DiskOperation::truncate:
      return "truncate";
    case DiskOperation::sync:
      return "sync";
    case DiskOperation::stat:
      return "stat";
    case DiskOperation::chmod:
      return "chmod";
    case DiskOperation::lock:
      return "lock";
    case DiskOperation::rename:
      return "rename";
    case DiskOperation::remove:
      return "remove";
    case DiskOperation::link:
      return "link";
    case DiskOperation::symlink:
      return "symlink";
    case DiskOperation::read_link:
      return "read_link";
    case DiskOperation::make_folder:
      return "make_folder";
    case DiskOperation::remove_folder:
      return "remove_folder";
    case DiskOperation::list:
      return "list";
    case DiskOperation::sync_folder:
      return "sync_folder";
  }
  return "unknown";
}

class FaultyDisk::Gate {
 public:
  explicit Gate(Fault fault) : fault_(std::move(fault)) {}

  // The error that the operation must return instead of being done; nothing to let it through. For a write, torn says
  // whether its first half is written all the same.
  std::optional<Error> refuse(DiskOperation operation, const std::string& path, bool* torn = nullptr) {
    if (fault_.before) fault_.before(operation);
    std::lock_guard guard(mutex_);
    ++operations_[operation];
    ++total_;
    if (struck_) {
      if (fault_.kind != FaultKind::stop) return std::nullopt;
      return error(operation, path, "the disk has stopped");
    }
    if (fault_.only && *fault_.only != operation) return std::nullopt;
    if (++candidates_ != fault_.at) return std::nullopt;
    struck_ = operation;
    if (torn != nullptr) *torn = fault_.kind != FaultKind::fail;
    return error(operation, path, "fault at operation " + std::to_string(total_));
  }

  uint64_t total() const {
    std::lock_guard guard(mutex_);
    return total_;
  }
  std::map<DiskOperation, uint64_t> by_kind() const {
    std::lock_guard guard(mutex_);
    return operations_;
  }
  std::optional<DiskOperation> struck() const {
    std::lock_guard guard(mutex_);
    return struck_;
  }

 private:
  Error error(DiskOperation operation, const std::string& path, const std::string& why) const {
    return {.code = fault_.code,
            .message = "cannot " + std::string(operation_name(operation)) + " " + path + ": " + why};
  }

  const Fault fault_;
  mutable std::mutex mutex_;
  std::map<DiskOperation, uint64_t> operations_;
  uint64_t total_ = 0;
  uint64_t candidates_ = 0;
  std::optional<DiskOperation> struck_;
};

class FaultyDisk::FaultyFile final : public File {
 public:
  FaultyFile(Gate& gate, std::unique_ptr<File> under, std::string path)
      : gate_(gate), under_(std::move(under)), path_(std::move(path)) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    if (auto refused = gate_.refuse(DiskOperation::read, path_)) return *refused;
    return under_->read_at(offset, into);
  }
  Result<void> write_at(uint64_t offset, std::string_view bytes) override {
    bool torn = false;
    auto refused = gate_.refuse(DiskOperation::write, path_, &torn);
    if (!refused) return under_->write_at(offset, bytes);
    if (torn) (void)under_->write_at(offset, bytes.substr(0, bytes.size() / 2));
    return *refused;
  }
  Result<void> truncate(uint64_t size) override {
    if (auto refused = gate_.refuse(DiskOperation::truncate, path_)) return *refused;
    return under_->truncate(size);
  }
  Result<void> sync(SyncWhat what) override {
    if (auto refused = gate_.refuse(DiskOperation::sync, path_)) return *refused;
    return under_->sync(what);
  }
  Result<FileStat> stat() override {
    if (auto refused = gate_.refuse(DiskOperation::stat, path_)) return *refused;
    return under_->stat();
  }
  Result<void> chmod(uint32_t mode) override {
    if (auto refused = gate_.refuse(DiskOperation::chmod, path_)) return *refused;
    return under_->chmod(mode);
  }
  Result<bool> lock(FileLock kind) override {
    if (auto refused = gate_.refuse(DiskOperation::lock, path_)) return *refused;
    return under_->lock(kind);
  }

 private:
  Gate& gate_;
  std::unique_ptr<File> under_;
  std::string path_;
};

FaultyDisk::FaultyDisk(Disk& under, Fault fault) : under_(under), gate_(std::make_unique<Gate>(std::move(fault))) {}
FaultyDisk::~FaultyDisk() = default;

uint64_t FaultyDisk::operations() const { return gate_->total(); }
std::map<DiskOperation, uint64_t> FaultyDisk::operations_by_kind() const { return gate_->by_kind(); }
std::optional<DiskOperation> FaultyDisk::struck() const { return gate_->struck(); }

Result<std::unique_ptr<File>> FaultyDisk::open(const std::string& path, const OpenFlags& flags) {
  if (auto refused = gate_->refuse(DiskOperation::open, path)) return *refused;
  auto file = under_.open(path, flags);
  if (!file) return file;
  return std::unique_ptr<File>(new FaultyFile(*gate_, *std::move(file), path));
}

Result<std::unique_ptr<File>> FaultyDisk::open_beneath(const std::string& root, const std::string& relative,
                                                       const OpenFlags& flags) {
  const std::string path = root + "/" + relative;
  if (auto refused = gate_->refuse(DiskOperation::open, path)) return *refused;
  auto file = under_.open_beneath(root, relative, flags);
  if (!file) return file;
  return std::unique_ptr<File>(new FaultyFile(*gate_, *std::move(file), path));
}

Result<void> FaultyDisk::make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) {
  if (auto refused = gate_->refuse(DiskOperation::make_folder, root + "/" + relative)) return *refused;
  return under_.make_folder_beneath(root, relative, mode);
}

Result<void> FaultyDisk::rename(const std::string& from, const std::string& to) {
  if (auto refused = gate_->refuse(DiskOperation::rename, from + " to " + to)) return *refused;
  return under_.rename(from, to);
}

Result<void> FaultyDisk::remove(const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::remove, path)) return *refused;
  return under_.remove(path);
}

Result<void> FaultyDisk::link(const std::string& from, const std::string& to) {
  if (auto refused = gate_->refuse(DiskOperation::link, from + " to " + to)) return *refused;
  return under_.link(from, to);
}

Result<void> FaultyDisk::symlink(const std::string& target, const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::symlink, path)) return *refused;
  return under_.symlink(target, path);
}

Result<std::string> FaultyDisk::read_link(const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::read_link, path)) return *refused;
  return under_.read_link(path);
}

Result<void> FaultyDisk::make_folder(const std::string& path, uint32_t mode) {
  if (auto refused = gate_->refuse(DiskOperation::make_folder, path)) return *refused;
  return under_.make_folder(path, mode);
}

Result<void> FaultyDisk::remove_folder(const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::remove_folder, path)) return *refused;
  return under_.remove_folder(path);
}

Result<std::vector<FolderEntry>> FaultyDisk::list(const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::list, path)) return *refused;
  return under_.list(path);
}

Result<FileStat> FaultyDisk::stat(const std::string& path, FollowLinks follow) {
  if (auto refused = gate_->refuse(DiskOperation::stat, path)) return *refused;
  return under_.stat(path, follow);
}

Result<void> FaultyDisk::chmod(const std::string& path, uint32_t mode) {
  if (auto refused = gate_->refuse(DiskOperation::chmod, path)) return *refused;
  return under_.chmod(path, mode);
}

Result<void> FaultyDisk::sync_folder(const std::string& path) {
  if (auto refused = gate_->refuse(DiskOperation::sync_folder, path)) return *refused;
  return under_.sync_folder(path);
}

}  // namespace sluice
